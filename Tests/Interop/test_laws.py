"""The laws of the log: each is broken once, and verify_laws.py names it and no other; Tests/LawTool, which holds logs against the
laws as `urd verify --laws` does, says the same of each log; docs/laws.md lists the same laws."""

import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import uuid

import verify_laws

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(verify_laws.__file__)
TOOL = pathlib.Path(os.environ.get("URD_LAW_TOOL", ROOT / ".build" / "debug" / "LawTool"))
START = 1_790_000_000


def name(text):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, text))


class Log:
    """An export, written by hand. What has a name here is a stream of that name."""

    def __init__(self):
        self.at, self.versions, self.lines, self.size = START, {}, [b'{"realm":"acme"}'], 0

    def add(self, type, stream, data=None, *, after=1, version=None, command=None, subject=None, sealed=False, at=None,
            actor="account"):
        self.at += after
        stream = name(stream)
        self.versions[stream] = version or self.versions.get(stream, 0) + 1
        self.size += 1
        record = {
            "at": int((at or self.at) * 1_000_000), "command": command or str(uuid.uuid4()), "data": data or {},
            "meta": {"actor": actor}, "realm": "acme", "revision": 1, "stream": stream, "type": type,
            "version": self.versions[stream]}
        if subject:
            record["subject"] = name(subject)
        if sealed:
            record["sealed"] = "x" * 43
        self.lines.append(json.dumps(record, separators=(",", ":")).encode())

    def seal(self, epoch=1, root=None):
        log = verify_laws.Laws()
        for line in self.lines:
            if b'"type"' in line:
                verify_laws.grow(log, line)
        note = ["acme.example/acme", str(self.size), base64.b64encode(root or verify_laws.root(log)).decode(),
                f"epoch {epoch}", "", "— acme signature", ""]
        self.lines.append(json.dumps({"checkpoint": "\n".join(note)}).encode())

    def read(self, first=1):
        return verify_laws.read(verify_laws.Laws(first), self.lines)

    def middle(self, first):
        """The export of the same log that begins at a position."""
        log = Log()
        events = [line for line in self.lines if b'"type"' in line]
        log.lines = [json.dumps({"realm": "acme", "first": first}).encode(), *events[first - 1:]]
        return log

    def opened(self, stream, **more):
        self.add("session.opened", stream, {
            "account": name("ann"), "amr": ["otp"], "client": name("app"), "client_id": "app", "expires_at": self.at + 9_000,
            "offline": True, "opened_at": self.at, "resources": [], "scope": ["openid"], "stamp": 0, **more})

    def browsed(self, stream, **more):
        self.add("browser.opened", stream, {
            "account": name("ann"), "amr": ["pwd"], "expires_at": self.at + 9_000, "stamp": 0, **more})


def lawful():
    """A log with a bit of everything, in which all laws are kept."""
    log = Log()
    log.add("realm.created", "realm", {"display_name": "Acme"})
    for key in ("old", "new"):
        log.add("signing_key.published", "keys", {"kid": key, "alg": "ES256", "jwk": {}})
    log.add("signing_key.activated", "keys", {"kid": "old"})
    log.add("client.registered", "app", {"client_id": "app"})
    log.add("client.registered", "phone", {"client_id": "phone"})
    log.add("mailbox.assigned", "ann@example.org", {"account": name("ann")})
    log.add("account.registered", "ann", {"mailbox": name("ann@example.org"), "confirmed": True, "origin": "code"})
    log.add("otp.issued", "ann@example.org", {"otp": name("code"), "account": name("ann"), "expires_at": log.at + 600})
    log.add("otp.refused", "ann@example.org", {"otp": name("code")})
    log.add("otp.redeemed", "ann@example.org", {"otp": name("code")})
    log.opened("session")
    log.add("session.refreshed", "session", {"generation": 1})
    log.add("session.refreshed", "session", {"generation": 2, "parent": 0})
    log.browsed("browser")
    log.opened("browsed", browser=name("browser"))
    log.browsed("replaced")
    log.add("browser.ended", "replaced", {"reason": "replaced"})
    log.browsed("again", line=name("replaced"))
    log.opened("of the line", browser=name("replaced"))
    log.opened("below", superiors=[name("session")], expires_at=log.at + 600)
    log.add("passkey.enrolled", "passkey", {"account": name("ann")})
    log.add("passkey.used", "passkey", {"counter": 1})
    log.add("passphrase.set", "passphrase", {"account": name("ann")})
    log.add("passphrase.used", "passphrase")
    log.add("totp.offered", "factor", {"account": name("ann")})
    log.add("totp.confirmed", "factor", {"account": name("ann"), "step": 5, "recovery_codes": ["a", "b"]})
    log.add("totp.used", "factor", {"step": 6})
    log.add("recovery_code.used", "factor", {"digest": "a"})
    log.add("invite.created", "invite", {"expires_at": log.at + 600})
    log.add("device.requested", "device", {"client": name("app"), "expires_at": log.at + 600})
    log.add("device.approved", "device", {"account": name("ann")})
    log.add("app_key.attested", "device key", {})
    log.add("app_key.used", "device key", {"counter": 7})
    log.add("client.certified", "phone", {"by": "app_attest"})
    log.add("subscription.created", "hook", {"kind": "webhook", "name": "hook"})
    log.add("finding.raised", "finding", {"positions": [3, 4]})
    log.add("host.assigned", "host", {"host": "acme.example", "realm": "acme"})
    log.add("identity.linked", "upstream", {"account": name("ann"), "provider": "one"})
    log.add("admin_key.created", "key", {"name": "Ada"})
    log.add("mail.begun", "mail", {"attempt": 1})
    log.add("consent.given", "consent", {"account": name("ann"), "client": name("app")})
    log.add("app_method.pin_set", "pin", {"account": name("ann")})
    log.add("ssf_stream.created", "signals", {})
    log.add("web_app.registered", "drive", {"name": "Drive"})
    log.add("notification.requested", "note", {"account": name("ann")})
    log.add("upstream_session.used", "provider session", {"account": name("ann")})
    log.seal()
    return log


SEEDS = {}


def breaks(number):
    def put(seed):
        SEEDS.setdefault(number, []).append(seed)
        return seed
    return put


def seed(number, *events):
    """Events that break one law: type, stream, data."""
    def add(log):
        for type, stream, *data in events:
            log.add(type, stream, *data)
    breaks(number)(add)


@breaks(1)
def _(log):
    log.seal(epoch=2)
    log.seal(epoch=1)


@breaks(2)
def _(log):
    log.add("session.refreshed", "session", {"generation": 2}, version=9)


@breaks(2)
def _(log):
    log.add("account.mailbox_confirmed", "a stream that nothing began")


seed(3, ("realm.disabled", "realm"), ("consent.given", "second", {"account": name("ann")}))
seed(4, ("mailbox.assigned", "ann@example.org", {"account": name("bob")}))
seed(4, ("mailbox.released", "ann@example.org", {"account": name("bob")}))
seed(5, ("otp.redeemed", "ann@example.org", {"otp": name("code")}))
seed(5, ("otp.redeemed", "ann@example.org", {"otp": name("no code")}))


@breaks(5)
def _(log):
    log.add("otp.issued", "bob@example.org", {"otp": name("second"), "expires_at": log.at + 600})
    for _ in range(3):
        log.add("otp.refused", "bob@example.org", {"otp": name("second")})
    log.add("otp.redeemed", "bob@example.org", {"otp": name("second")})


@breaks(5)
def _(log):
    log.add("otp.issued", "bob@example.org", {"otp": name("second"), "expires_at": log.at + 600})
    log.add("otp.redeemed", "bob@example.org", {"otp": name("second")}, after=700)


seed(6, ("invite.used", "invite"), ("invite.used", "invite"))
seed(6, ("invite.revoked", "invite"), ("invite.used", "invite"))
seed(6, ("device.redeemed", "device"), ("device.redeemed", "device"))
seed(6, ("device.approved", "device", {"account": name("ann")}))
seed(6, ("delegated_code.used", "token"), ("delegated_code.used", "token"))
seed(6, ("pushed_request.used", "request"), ("pushed_request.used", "request"))


@breaks(6)
def _(log):
    log.add("registration_token.created", "token", {"uses": 2, "expires_at": log.at + 600})
    for _ in range(3):
        log.add("registration_token.used", "token", {"client": name("app")})


@breaks(7)
def _(log):
    log.add("otp.issued", "ann@example.org", {
        "otp": name("second"), "account": name("ann"), "expires_at": log.at + 600})
    log.add("account.proofs_ended", "ann")
    log.add("otp.redeemed", "ann@example.org", {"otp": name("second")})


seed(8, ("session.ended", "session", {"reason": "revoked"}), ("session.refreshed", "session", {"generation": 2}))


@breaks(8)
def _(log):
    log.add("session.refreshed", "session", {"generation": 2}, after=10_000)


seed(9, ("session.refreshed", "session", {"generation": 4}))
seed(9, ("session.refreshed", "session", {"generation": 3, "parent": 1}))


@breaks(10)
def _(log):
    log.add("app.created", "shop", {"name": "Shop", "slug": "shop"})
    log.add("app.deleted", "shop")
    log.opened("second", app=name("shop"))


@breaks(12)
def _(log):
    log.add("account.stamp_rotated", "ann")
    log.add("session.refreshed", "session", {"generation": 3})


@breaks(12)
def _(log):
    log.add("account.mailbox_moved", "ann", {"left": name("old"), "mailbox": name("new")})
    log.add("session.refreshed", "session", {"generation": 3})


@breaks(12)
def _(log):
    log.add("account.access_removed", "ann", {"client": name("app"), "removals": 1})
    log.add("session.refreshed", "session", {"generation": 3})


for end in ("client.disabled", "client.deleted"):
    seed(13, (end, "app"), ("session.refreshed", "session", {"generation": 3}))
seed(13, ("client.deleted", "app"), ("client.enabled", "app"))


@breaks(14)
def _(log):
    log.add("browser.ended", "browser", {"reason": "signed_out"})
    log.opened("second", browser=name("browser"))


@breaks(14)
def _(log):
    log.add("browser.ended", "again", {"reason": "signed_out"})
    log.opened("second", browser=name("replaced"))


@breaks(14)
def _(log):
    log.add("session.ended", "session", {"reason": "revoked"})
    log.add("session.refreshed", "below", {"generation": 1})


@breaks(14)
def _(log):
    log.add("account.registered", "bob", {"mailbox": name("bob@example.org"), "confirmed": True})
    log.opened("second", browser=name("browser"), account=name("bob"))


seed(15, ("passkey.removed", "passkey"), ("passkey.used", "passkey", {"counter": 2}))
seed(17, ("totp.used", "factor", {"step": 6}))
seed(17, ("recovery_code.used", "factor", {"digest": "a"}))
seed(17, ("totp.removed", "factor"), ("recovery_code.used", "factor", {"digest": "b"}))
seed(19, ("passphrase.removed", "passphrase"), ("passphrase.used", "passphrase"))
seed(20, ("consent.withdrawn", "consent"), ("consent.withdrawn", "consent"))


@breaks(21)
def _(log):
    log.add("client.certification_revoked", "phone", {"reason": "revoked"})
    log.opened("flagship", client=name("phone"), scope=["*"])


seed(22, ("app_key.used", "device key", {"counter": 7}))


@breaks(23)
def _(log):
    log.opened("second", superiors=[name("below")])
    log.add("session.refreshed", "second", {"generation": 1}, after=700)


seed(24, ("signing_key.removed", "keys", {"kid": "new"}))
seed(24, ("signing_key.retired", "keys", {"kid": "old"}), ("signing_key.activated", "keys", {"kid": "old"}))


@breaks(25)
def _(log):
    log.add("admin_key.revoked", "key", actor="admin:" + name("key"))
    log.add("host.assigned", "second host", {"realm": "acme"}, actor="admin:" + name("key"))


seed(26, ("case_file.issued", "case", {"reason": " ", "positions": 3}))


@breaks(27)
def _(log):
    log.add("realm.subject_erased", "realm", {"subject": name("bob")})
    log.add("account.person_changed", "ann", subject="bob", sealed=True)


@breaks(28)
def _(log):
    log.add("account.deletion_scheduled", "ann", {"due": log.at + 600})
    log.add("host.released", "host", after=100_000)


seed(28, ("account.deleted", "ann", {"subjects": []}), ("account.enabled", "ann"))
seed(29, ("finding.raised", "second", {"positions": [4_000]}))
seed(29, ("finding.closed", "finding"), ("finding.escalated", "finding", {"position": 3}))
seed(30, ("mail.begun", "mail", {"attempt": 3}))
seed(31, ("subscription.deleted", "hook"), ("subscription.paused", "hook"))


@breaks(32)
def _(log):
    again = str(uuid.uuid4())
    log.add("host.assigned", "one", {"realm": "acme"}, command=again)
    log.add("host.assigned", "two", {"realm": "acme"})
    log.add("host.assigned", "three", {"realm": "acme"}, command=again)


@breaks(33)
def _(log):
    log.add("client.updated", "app", at=START)


seed(34, ("host.assigned", "host", {"realm": "other"}))
seed(35, ("identity.linked", "upstream", {"account": name("bob"), "provider": "one"}))
seed(36, ("case_file.issued", "case", {"reason": "why", "positions": 4_000}))
seed(37, ("log.loss_accepted", "loss", {"epoch": 2, "head": 4_000, "sealed": 46, "size": 50}))


@breaks(40)
def _(log):
    log.seal(root=bytes(32))


seed(41, ("app_method.pin_removed", "pin"), ("app_method.pin_used", "pin"))
seed(42, ("ssf_stream.deleted", "signals"), ("ssf_stream.changed", "signals"))
seed(43, ("web_app.removed", "drive"), ("web_app.updated", "drive"))
seed(44, ("notification.superseded", "note"), ("notification.pushed", "note", {"attempt": 1}))
seed(45, ("upstream_session.ended", "provider session"), ("upstream_session.used", "provider session"))


def told(logs):
    """What Tests/LawTool says of each log."""
    ran = subprocess.run(
        [TOOL], input=b"".join(line + b"\n" for log in logs for line in log.lines), capture_output=True, check=True)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def places(found):
    return {(one["law"], one["position"]) for one in found["violations"]}


class LawTests(unittest.TestCase):
    maxDiff = None

    def agree(self, found, other):
        """Both programs were asked the same, and answered the same."""
        self.assertEqual(places(found), places(other))
        self.assertEqual(found["checked"], {one["law"]: one["asked"] for one in other["laws"]})
        self.assertEqual(found["unknown"], {one["law"]: one["unknown"] for one in other["laws"] if one["unknown"]})
        self.assertEqual(found["broken"], [one["law"] for one in other["laws"] if one["broken"]])
        self.assertEqual((found["from"], found["to"]), (other["from"], other["to"]))

    def test_a_log_in_which_all_laws_are_kept_breaks_none(self):
        found = verify_laws.result(lawful().read())
        self.assertEqual(found["violations"], [])
        self.agree(found, *told([lawful()]))

    def test_every_law_is_broken_by_a_seed_and_named_alone_by_both_programs(self):
        self.assertEqual(set(SEEDS), set(verify_laws.Laws.table))
        numbers, logs = [], []
        for number, seeds in SEEDS.items():
            for broken in seeds:
                log = lawful()
                broken(log)
                numbers.append(number)
                logs.append(log)
        for number, log, other in zip(numbers, logs, told(logs), strict=True):
            with self.subTest(law=number, last=log.lines[-1]):
                found = verify_laws.result(log.read())
                self.assertEqual(found["broken"], [number], found["violations"])
                # At the events that were added, not before.
                self.assertGreaterEqual(found["violations"][0]["position"], lawful().size)
                self.agree(found, other)

    def test_a_log_that_begins_in_the_middle_leaves_unknown_what_hangs_on_the_past(self):
        log = lawful()
        log.add("session.refreshed", "session", {"generation": 3})
        log.add("account.stamp_rotated", "ann")
        log.opened("after the sign-out everywhere", stamp=1)
        log.add("client.updated", "phone")
        log.opened("flagship", client=name("phone"), scope=["*"], stamp=1)
        log.add("account.person_changed", "ann", subject="ann", sealed=True)
        firsts = range(2, log.size + 1)
        for first, other in zip(firsts, told([log.middle(first) for first in firsts]), strict=True):
            with self.subTest(first=first):
                found = verify_laws.result(log.middle(first).read(first))
                self.assertEqual(found["violations"], [])
                self.assertEqual(found["to"], log.size)
                self.agree(found, other)
        found = verify_laws.result(log.middle(20).read(20))
        for number in (2, 3, 8, 9, 12, 13, 27, 32, 33):
            self.assertGreater(found["unknown"][number], 0, number)

    def test_the_program_says_in_words_and_by_its_exit_code_what_it_found(self):
        log = lawful()
        for extra, code, said in (
            ([], 0, f"{len(SEEDS)} of {len(SEEDS)} laws hold"),
            (["session.ended", "session.refreshed"], 1, "law 8, position"),
        ):
            for type in extra:
                log.add(type, "session", {"generation": 2, "reason": "revoked"})
            ran = subprocess.run([sys.executable, "-B", PROGRAM, "-"], input=b"\n".join(log.lines), capture_output=True)
            self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
            self.assertIn(said, ran.stdout.decode())
        for nonsense in (b'{"realm":"acme"}\n[1, 2]\n', b"\x00\x01\n\n", b'{"realm":"acme"}\n{"type":"x"}\n',
                         b'{"realm":"acme"}\n{"checkpoint":7}\n'):
            ran = subprocess.run([sys.executable, "-B", PROGRAM, "-"], input=nonsense, capture_output=True)
            self.assertEqual(ran.returncode, 2, (nonsense, ran.stdout))

    def test_the_document_lists_each_law_and_each_event_that_no_law_reads(self):
        page = (ROOT / "docs" / "laws.md").read_text()
        listed = {int(number): types for number, types in re.findall(
            r"^\| (\d+) \|.*?\| ([^|]*) \| [^|]* \|$", page, re.M)}
        kept = {number: types for number, types in listed.items() if types.strip() != "–" or number in (1, 2, 32, 33, 40)}
        self.assertEqual({number for number in kept}, set(verify_laws.Laws.table))
        sentences = dict(re.findall(r"^\| (\d+) \| (.*?) \|", page, re.M))
        for one in told([lawful()])[0]["laws"]:
            self.assertEqual(one["sentence"], sentences[str(one["law"])])
            self.assertEqual(set(one["events"]), set(verify_laws.Laws.table[one["law"]]), f"law {one['law']}")
        for number, types in verify_laws.Laws.table.items():
            self.assertEqual(set(re.findall(r"`([a-z_.]+)`", listed[number])), set(types), f"law {number}")
        golden = (ROOT / "Tests" / "IdentityTests" / "golden" / "events.txt").read_text()
        types = set(re.findall(r"^([a-z_]+\.[a-z_]+) \d+ (?:services|audit|internal)", golden, re.M))
        unread = set(re.findall(r"`([a-z_.]+)`", page[page.index("## Events that no law reads"):]))
        self.assertEqual(unread, types - set(verify_laws.Laws.by_type))
        self.assertLessEqual(set(verify_laws.Laws.by_type), types)
        self.assertLessEqual(verify_laws.BEGINNINGS, types)
