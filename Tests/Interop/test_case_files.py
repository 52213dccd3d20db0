"""Case files, made over HTTP and on the command line, and checked offline by verify_log.py: whole ones hold, and of each
that was tampered with the verifier tells the line."""

import base64
import hashlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stderr, redirect_stdout

import verify_log as v
from urd_process import PATIENCE, Urd, eventually

HERE = pathlib.Path(__file__).resolve().parent
REASON = "Incident 4711"


def setUpModule():
    global urd, world
    urd = Urd()
    world = World()


def tearDownModule():
    urd.close()


def call(method, path, body=None, expected=(200, 201, 202, 204), key=None, **headers):
    status, answer, _ = urd.api.call(method, path, body, key=key, **headers)
    assert status in (expected if isinstance(expected, tuple) else (expected,)), (
        method, path, status, answer)
    return answer


def raw(path, key=None):
    """The status and the bytes of an answer; no bytes where it broke off."""
    request = urd.api.request("GET", path, key=False).replace(
        b"\r\n\r\n", f"\r\nAuthorization: Bearer {key or urd.key}\r\n\r\n".encode(), 1)
    answer = urd.api.raw(request, patience=60)
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split(b" ")[1])
    if b"chunked" not in head.lower():
        return status, body
    whole, rest = b"", body
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if not size:
            return status, None
        length = int(size, 16)
        if length == 0:
            return status, whole
        whole, rest = whole + rest[:length], rest[length + 2:]


class World:
    """Two realms with people in them."""

    def __init__(self):
        self.other = "/api/admin/realms/elsewhere"
        call("POST", "/api/admin/realms", {"realm": "elsewhere", "display_name": "Elsewhere"})
        self.ann = self.person("ann")
        self.ben = self.person("ben")
        self.stranger = call("POST", self.other + "/accounts", {
            "email": "ann@example.org", "first_name": "Ann", "confirmed": True})["id"]
        self.keys = {
            realm: urd.command("log", "key", "--realm", realm).stdout.strip()
            for realm in (urd.values["URD_REALM"], "elsewhere")}
        self.key = self.keys[urd.values["URD_REALM"]]

    def person(self, name):
        id = call("POST", urd.realm + "/accounts", {
            "email": f"{name}@example.org", "first_name": name.title(), "confirmed": True})["id"]
        for turn in range(4):
            call("POST", f"{urd.realm}/accounts/{id}/{['disable', 'enable'][turn % 2]}")
        call("PATCH", f"{urd.realm}/accounts/{id}", {"first_name": name.upper()})
        return id


def ask(about, kind="account", realm=None, key=None, expected=202, **more):
    body = {"about": {"kind": kind, "id": about}, "reason": REASON, **more}
    path = (realm or urd.realm) + "/cases"
    if expected == 202:
        # Two are made at once, and others of these tests may be on their way.
        return eventually(
            lambda: (lambda answer: answer.get("id") and answer)(
                call("POST", path, body, (202, 429), key=key)), "a place for a case file")
    return call("POST", path, body, expected, key=key)


def ready(job, realm=None):
    path = f"{realm or urd.realm}/cases/{job['id']}"
    found = []

    def look():
        found.append(call("GET", path))
        return found[-1]["state"] not in ("waiting", "running")

    eventually(look, "a case file that is made")
    return found[-1]


def made(about, realm=None, **more):
    """The lines of a case file, and what is said of it."""
    job = ready(ask(about, realm=realm, **more), realm)
    assert job["state"] == "ready", job
    status, body = raw(f"{realm or urd.realm}/cases/{job['id']}/file")
    assert status == 200, (status, body)
    return body.splitlines(keepends=True), job


def trail(name):
    """The newest events of this name, up to where the log ends now."""
    query = f"type={name}&order=newest&limit=200&min_position={urd.head()}"
    return call("GET", f"{urd.realm}/audit-trail?{query}")["items"]


def verified(lines, key=None, export=None):
    """What the verifier says, and whether the file holds. A process of its own, without a network."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(b"".join(lines))
        file.flush()
        words = ["case", file.name, "--key", key or world.key]
        if export:
            words += ["--export", export]
        out, error = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(error):
            code = v.main(words)
        return code == 0, (out.getvalue() + error.getvalue()).strip()


def rehashed(lines):
    """The same with the hashes of its lines made anew, as one would who wants to hide a change."""
    chain, output = bytes(32), []
    for line in lines:
        body = b"{" + line[54:-1]
        chain = hashlib.sha256(chain + body).digest()
        told = base64.urlsafe_b64encode(chain).rstrip(b"=")
        output.append(b'{"hash":"' + told + b'",' + body[1:] + b"\n")
    return output


def forged(lines, index, change):
    """A line changed, and all hashes and the manifest's digest made anew: only the signature is not."""
    def written(line, members):
        members.pop("hash")
        text = json.dumps(members, separators=(",", ":"), sort_keys=True).encode()
        return b" " * 53 + b"," + text[1:] + b"\n"

    members = json.loads(lines[index])
    change(members)
    lines = rehashed([*lines[:index], written(lines[index], members), *lines[index + 1:]])
    last = json.loads(lines[-1])
    last["digest"] = lines[-2][9:52].decode()
    return rehashed([*lines[:-1], written(lines[-1], last)])


def kinds(lines):
    return [json.loads(line)["line"] for line in lines]


class WholeFileTests(unittest.TestCase):
    def test_a_case_file_holds_offline(self):
        lines, job = made(world.ann)
        holds, said = verified(lines)
        self.assertTrue(holds, said)
        self.assertIn(f"{job['records']} records", said)
        first, last = json.loads(lines[0]), json.loads(lines[-1])
        self.assertEqual(first["about"], {"kind": "account", "id": world.ann})
        self.assertEqual((first["reason"], last["opened"]), (REASON, 0))
        self.assertTrue(any("index" in limit for limit in first["limits"]))
        # Her own stream is there from its beginning.
        streams = [json.loads(line) for line in lines if b'"line":"stream"' in line]
        self.assertTrue(next(s for s in streams if s["stream"] == world.ann)["complete"])
        self.assertNotIn(b"ann@example.org", b"".join(lines))

    def test_what_is_issued_is_on_record_before(self):
        lines, job = made(world.ann, open=True)
        events = trail("case_file.issued")
        event = next(e for e in events if e["stream"] == job["id"])
        shown = call("GET", f"{urd.realm}/events/{event['position']}")
        self.assertEqual(shown["data"]["file_digest"], job["digest"])
        self.assertEqual(shown["data"]["file_digest"], json.loads(lines[-1])["digest"])
        self.assertEqual(shown["data"]["positions"], job["records"])
        opened = trail("personal_data.opened")
        disclosed = next(e for e in opened if e["position"] < event["position"])
        data = call("GET", f"{urd.realm}/events/{disclosed['position']}")["data"]
        self.assertEqual(data["reason"], REASON)
        self.assertIn(world.ann, data["accounts"])

    def test_opened_fields_are_those_that_were_sealed(self):
        lines, job = made(world.ann, open=True)
        opened = [json.loads(line) for line in lines if b'"line":"opened"' in line]
        self.assertEqual(len(opened), job["opened"])
        self.assertIn("ann@example.org", [line["fields"].get("email") for line in opened])
        for gcm in (v.aes_gcm, v.plain_aes_gcm):
            before, v.aes_gcm = v.aes_gcm, gcm
            try:
                holds, said = verified(lines)
            finally:
                v.aes_gcm = before
            self.assertTrue(holds, said)

    def test_the_same_file_comes_each_time(self):
        lines, job = made(world.ann, open=True)
        again = raw(f"{urd.realm}/cases/{job['id']}/file")[1]
        self.assertEqual(b"".join(lines), again)

    def test_a_complete_file_has_the_leaves_of_the_log(self):
        lines, job = made(world.ann, complete=True)
        self.assertIn("leaves", kinds(lines))
        with tempfile.NamedTemporaryFile() as export:
            answer = urd.command("log", "export", "--realm", urd.values["URD_REALM"])
            export.write(answer.stdout.encode())
            export.flush()
            holds, said = verified(lines, export=export.name)
        self.assertTrue(holds, said)
        # What is about other case files of hers is behind the position up to which was looked.
        self.assertIn("no other record of the export names it", said)

    def test_other_subjects_have_case_files(self):
        events = call("GET", f"{urd.realm}/events?limit=1000")["items"]
        client = next(e["stream"] for e in events if e["type"] == "client.registered")
        lines, _ = made(client, kind="client")
        holds, said = verified(lines)
        self.assertTrue(holds, said)

    def test_the_command_line_writes_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            out, page = os.path.join(folder, "a.jsonl"), os.path.join(folder, "a.html")
            answer = urd.command(
                "case", "account", "ann@example.org", "--realm", urd.values["URD_REALM"],
                "--reason", REASON, "--open", "--complete", "--out", out, "--html", page)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            lines = pathlib.Path(out).read_bytes().splitlines(keepends=True)
            holds, said = verified(lines)
            self.assertTrue(holds, said)
            self.assertEqual(sorted(os.listdir(folder)), ["a.html", "a.jsonl"])
            html = pathlib.Path(page).read_text()
            for line in lines:
                line = json.loads(line)
                if line["line"] == "record":
                    self.assertIn(line["hash"], html)
            # What it does not show comes before what it shows.
            self.assertLess(html.index("rests on the server"), html.index("account.registered"))


class TamperedFileTests(unittest.TestCase):
    def refused(self, lines, number=None, key=None):
        holds, said = verified(lines, key)
        self.assertFalse(holds, said)
        if number is not None:
            self.assertIn(f"line {number}:", said)
        return said

    def test_each_flipped_bit_is_told_with_its_line(self):
        lines, _ = made(world.ann, open=True, complete=True)
        seen = set()
        for index, line in enumerate(lines):
            kind = json.loads(line)["line"]
            # In the hash, in the middle, and near the end; one of a kind in full.
            places = range(8, len(line) - 1, 97) if kind not in seen else (20, len(line) // 2)
            seen.add(kind)
            for place in places:
                changed = bytearray(line)
                changed[place] ^= 1
                if changed[place] in b"\r\n":
                    continue
                with self.subTest(kind=kind, place=place):
                    self.refused([*lines[:index], bytes(changed), *lines[index + 1:]], index + 1)
        self.assertEqual(
            seen, {"case", "record", "related", "opened", "stream", "leaves", "manifest"})

    def test_each_left_out_or_repeated_line_is_told(self):
        lines, _ = made(world.ann, open=True, complete=True)
        for index in range(len(lines)):
            self.refused([*lines[:index], *lines[index + 1:]])
            self.refused([*lines[:index + 1], *lines[index:]], index + 2)
        # Where the line that follows cannot stand there, or begins with another hash, it is the one that is named.
        self.refused([*lines[:4], *lines[5:]], 5)

    def test_a_file_without_its_end_is_none(self):
        lines, _ = made(world.ann)
        self.assertIn("without its manifest", self.refused(lines[:-1], len(lines)))
        self.refused([*lines[:-1], lines[-1][:-20]], len(lines))
        self.refused([])

    def test_a_change_with_new_hashes_ends_at_the_signature(self):
        lines, _ = made(world.ann, open=True)
        # A reference that was added to a line about which the log says nothing itself.
        index = kinds(lines).index("related")
        changed = json.loads(lines[index])
        changed.pop("hash")
        changed["about"].append({"client": world.ben})
        text = json.dumps(changed, separators=(",", ":"), sort_keys=True).encode()
        forged = rehashed(
            [*lines[:index], b" " * 53 + b"," + text[1:] + b"\n", *lines[index + 1:]])
        said = self.refused(forged, len(lines))
        self.assertIn("digest", said)

    def test_a_change_with_new_hashes_and_a_new_digest_is_signed_by_nobody(self):
        lines, _ = made(world.ann)
        index = kinds(lines).index("related")
        said = self.refused(
            forged(lines, index, lambda line: line["about"].append({"client": world.ben})),
            len(lines))
        self.assertIn("signature is over another file", said)

    def test_the_realm_of_the_first_line_is_that_of_the_key(self):
        lines, _ = made(world.ann)
        said = self.refused(forged(lines, 0, lambda line: line.update(realm="elsewhere")), 1)
        self.assertIn("the case is of realm elsewhere", said)

    def test_leaves_of_another_log_are_refused(self):
        lines, _ = made(world.ann, complete=True)
        index = kinds(lines).index("leaves")
        positions = [json.loads(line)["position"] for line in lines if b'"line":"record"' in line]
        place = next(n for n in range(1, 100) if n not in positions) - 1

        def change(line):
            line["leaves"][place] = base64.b64encode(bytes(32)).decode()
        self.assertIn("do not have the signed root", self.refused(forged(lines, index, change)))

    def test_fields_that_were_sealed_anew_under_the_events_key_are_refused(self):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        lines, _ = made(world.ann, open=True)
        index = kinds(lines).index("opened")
        event = json.loads(json.loads(lines[index - 2])["record"])

        def change(line):
            key, nonce = v.unbase64url(line["key"]), bytes(12)
            line["fields"]["first_name"] = "Eve"
            place = (f"urd sealed/{event['realm']}/{event['stream']}/{event['version']}/"
                     f"{event['type']}").encode()
            sealed = AESGCM(v.expand(key, b"urd event encryption", 32)).encrypt(
                nonce, json.dumps(line["fields"]).encode(), place)
            sealed = v.expand(key, b"urd event commitment", 16) + nonce + sealed
            line["sealed"] = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
        said = self.refused(forged(lines, index, change), index + 1)
        self.assertIn("not those of the record", said)

    def test_a_left_out_record_with_new_hashes_is_missed_by_its_stream(self):
        lines, _ = made(world.ann)
        index = kinds(lines).index("record", 5)
        forged = rehashed([*lines[:index], *lines[index + 2:]])
        said = self.refused(forged)
        self.assertRegex(said, "line \\d+: .*not there|not told of")

    def test_a_record_with_the_proof_of_another_is_refused(self):
        lines, _ = made(world.ann)
        first, second = [i for i, kind in enumerate(kinds(lines)) if kind == "record"][:2]
        one, other = json.loads(lines[first]), json.loads(lines[second])
        one["path"] = other["path"]
        one.pop("hash")
        text = json.dumps(one, separators=(",", ":"), sort_keys=True).encode()
        forged = rehashed(
            [*lines[:first], b" " * 53 + b"," + text[1:] + b"\n", *lines[first + 1:]])
        self.assertIn("does not lead to the signed root", self.refused(forged, first + 1))

    def test_records_of_another_realm_are_refused(self):
        lines, _ = made(world.ann)
        others, _ = made(world.stranger, realm=world.other)
        holds, said = verified(others, world.keys["elsewhere"])
        self.assertTrue(holds, said)
        self.refused(others, 1)
        index = kinds(others).index("record")
        self.refused(rehashed([lines[0], others[index], *lines[2:]]), 2)

    def test_fields_of_another_event_are_refused(self):
        lines, _ = made(world.ann, open=True)
        one, other = [i for i, kind in enumerate(kinds(lines)) if kind == "opened"][:2]
        swapped = [*lines]
        swapped[one], swapped[other] = lines[other], lines[one]
        self.refused(rehashed(swapped), one + 1)
        members = json.loads(lines[one])
        members["fields"]["first_name"] = "Eve"
        members.pop("hash")
        text = json.dumps(members, separators=(",", ":"), sort_keys=True).encode()
        forged = rehashed([*lines[:one], b" " * 53 + b"," + text[1:] + b"\n", *lines[one + 1:]])
        self.assertIn("not those that were sealed", self.refused(forged, one + 1))


class RightsTests(unittest.TestCase):
    def key(self, *permissions, realms=None):
        body = {"name": "limited"}
        if permissions:
            body["permissions"] = list(permissions)
        if realms:
            body["realms"] = realms
        return call("POST", "/api/admin/keys", body)["key"]

    def test_opening_takes_the_right_to_open(self):
        reader = self.key("events.read")
        self.assertEqual(ask(world.ann, key=reader, expected=202)["open"], False)
        ask(world.ann, key=reader, expected=403, open=True)
        opener = self.key("events.read", "events.open")
        job = ready(ask(world.ann, key=opener, open=True))
        self.assertEqual(raw(f"{urd.realm}/cases/{job['id']}/file", opener)[0], 200)
        # Whoever has not asked is not given it.
        self.assertEqual(raw(f"{urd.realm}/cases/{job['id']}/file", reader)[0], 403)
        self.assertEqual(raw(f"{urd.realm}/cases/{job['id']}/file")[0], 403)
        call("DELETE", f"{urd.realm}/cases/{job['id']}", expected=403, key=reader)

    def test_keys_without_the_right_to_read_ask_for_nothing(self):
        ask(world.ann, key=self.key("audit.read"), expected=403)
        ask(world.ann, key=self.key(realms=["elsewhere"]), expected=403)

    def test_another_realm_has_no_such_case(self):
        job = ready(ask(world.ann))
        call("GET", f"{world.other}/cases/{job['id']}", expected=404)
        self.assertEqual(raw(f"{world.other}/cases/{job['id']}/file")[0], 404)
        call("DELETE", f"{world.other}/cases/{job['id']}", expected=404)
        ask(world.ann, realm=world.other, expected=404)

    def test_a_reason_is_needed(self):
        body = {"about": {"kind": "account", "id": world.ann}}
        call("POST", urd.realm + "/cases", body, 400)
        call("POST", urd.realm + "/cases", {**body, "reason": "abc"}, 400)


class LifeTests(unittest.TestCase):
    def test_a_cancelled_or_old_case_file_is_gone(self):
        job = ready(ask(world.ben))
        path = f"{urd.realm}/cases/{job['id']}"
        call("DELETE", path, expected=204)
        self.assertEqual(raw(path + "/file")[0], 410)
        job = ready(ask(world.ben))
        path = f"{urd.realm}/cases/{job['id']}"
        urd.sql("update urd.case_file set finished_at = now() - interval '25 hours' "
                f"where id = '{job['id']}'")
        self.assertEqual(raw(path + "/file")[0], 410)

    def test_what_was_erased_meanwhile_is_not_handed_out(self):
        gone = world.person("gone")
        job = ready(ask(gone, open=True))
        path = f"{urd.realm}/cases/{job['id']}/file"
        self.assertEqual(raw(path)[0], 200)
        call("POST", f"{urd.realm}/accounts/{gone}/erase")
        self.assertEqual(raw(path)[0], 410)
        lines, job = made(gone, open=True)
        self.assertEqual(job["opened"], 0)
        self.assertTrue(all(
            json.loads(line)["personal"] == "erased" for line in lines
            if b'"line":"opened"' in line))
        holds, said = verified(lines)
        self.assertTrue(holds, said)

    def test_a_file_that_became_another_one_ends_without_its_last_line(self):
        job = ready(ask(world.ben))
        urd.sql("update urd.case_file set chain = sha256('x') where id = '" + job["id"] + "'")
        status, body = raw(f"{urd.realm}/cases/{job['id']}/file")
        self.assertEqual(status, 200)
        self.assertTrue(body is None or b'"line":"manifest"' not in body)

    def test_two_are_made_at_once_and_no_more(self):
        # Nobody goes on with what another node seems to be at.
        rows = ",".join(
            f"('{urd.values['URD_REALM']}', gen_random_uuid(), 'running', 'system', '{{}}', 1, now(),"
            " now() + interval '1 minute')" for _ in range(2))
        urd.sql("insert into urd.case_file (realm, id, state, asker, question, epoch, asked_at, "
                f"lease_until) values {rows}")
        try:
            ask(world.ben, expected=429)
            ask(world.stranger, realm=world.other)
        finally:
            urd.sql("delete from urd.case_file where asker = 'system'")
        ask(world.ben)

    def test_the_same_key_asks_once(self):
        body = {"about": {"kind": "account", "id": world.ben}, "reason": REASON}
        one = call("POST", urd.realm + "/cases", body, Idempotency_Key="case-1")
        self.assertEqual(call("POST", urd.realm + "/cases", body, Idempotency_Key="case-1")["id"],
                         one["id"])
        call("POST", urd.realm + "/cases", {**body, "open": True}, 422, Idempotency_Key="case-1")


class CrashTests(unittest.TestCase):
    def test_a_case_file_whose_maker_is_killed_is_made_by_another(self):
        busy = world.person("killed")
        for turn in range(1200):
            call("POST", f"{urd.realm}/accounts/{busy}/{['disable', 'enable'][turn % 2]}")
        names = ("DATABASE_URL", "DATABASE_OWNER_URL", "MASTER_KEY_FILE", "CHECKPOINT_DIRECTORY")
        settings = {f"URD_{name}": urd.values[f"URD_{name}"] for name in names}
        about = f"question->>'id' = '{busy}'"
        with tempfile.TemporaryDirectory() as folder:
            # The command makes it in a process of its own.
            process = subprocess.Popen(
                [HERE.parents[1] / ".build/debug/urd", "case", "account", busy, "--open", "--realm",
                 urd.values["URD_REALM"], "--reason", REASON, "--out", os.path.join(folder, "a")],
                env={**os.environ, **settings}, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            eventually(lambda: urd.sql(
                f"select 1 from urd.case_file where {about} and state = 'running'"), "a maker")
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertEqual([name for name in os.listdir(folder) if name == "a"], [])
        found = eventually(
            lambda: urd.sql(
                f"select state, id, records from urd.case_file where {about} "
                "and state not in ('waiting', 'running')"),
            "a case file that is made by another", patience=60).split("|")
        self.assertEqual(found[0], "ready")
        self.assertGreater(int(found[2]), 1200)
        issued = trail("case_file.issued")
        self.assertEqual(sum(one["stream"] == found[1] for one in issued), 1)
        # It was asked for by the operator, and is theirs.
        self.assertEqual(raw(f"{urd.realm}/cases/{found[1]}/file")[0], 403)
        lines, job = made(busy, open=True, until=str(int(urd.sql(
            f"select question->>'until' from urd.case_file where {about} limit 1"))))
        self.assertEqual(job["records"], int(found[2]))
        holds, said = verified(lines)
        self.assertTrue(holds, said)

    def test_a_case_file_goes_on_behind_what_a_dead_node_kept(self):
        # Nothing is changed but that the row says that another node had made the first part and is gone.
        job = ready(ask(world.ann, open=True))
        where = f"where id = '{job['id']}'"
        first = raw(f"{urd.realm}/cases/{job['id']}/file")[1].splitlines(keepends=True)
        kept = kinds(first).index("record", 5)
        opened = kinds(first[:kept]).count("opened")
        records = kinds(first[:kept]).count("record")
        position = json.loads(first[kept - 2])["position"]
        chain = base64.urlsafe_b64decode(first[kept - 1][9:52] + b"=").hex()
        urd.sql(
            f"update urd.case_file set state = 'running', finished_at = null, position = {position}, "
            f"chain = '\\x{chain}', lines = {kept}, records = {records}, opened = {opened}, "
            f"leased_by = gen_random_uuid(), lease_until = now() - interval '1 second' {where}")
        again = ready(job)
        self.assertEqual((again["state"], again["digest"]), ("ready", job["digest"]))
        issued = trail("case_file.issued")
        self.assertEqual(sum(one["stream"] == job["id"] for one in issued), 1)


class PageTests(unittest.TestCase):
    """The commands of docs/analysts/case-files.md, run as they stand."""

    def test_every_command_of_the_page_works(self):
        root = HERE.parents[1]
        page = (root / "docs" / "analysts" / "case-files.md").read_text()
        blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
        self.assertEqual(len(blocks), 3)
        with tempfile.TemporaryDirectory(prefix="urd-page-", dir="/tmp") as desk:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk, ".dev"))
            os.symlink(root / ".build", os.path.join(desk, ".build"))
            os.symlink(root / "Tests", os.path.join(desk, "Tests"))
            result = subprocess.run(
                ["bash", "-ec", "\n".join(blocks)], cwd=desk, text=True, timeout=PATIENCE,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("no other record of the export names it", result.stdout)


class SpeedTests(unittest.TestCase):
    def test_a_thousand_records_are_made_and_checked_in_time(self):
        busy = world.person("busy")
        moves = [["disable", "enable"][turn % 2] for turn in range(1000)]
        for move in moves:
            call("POST", f"{urd.realm}/accounts/{busy}/{move}")
        began = time.monotonic()
        lines, job = made(busy, open=True)
        took = time.monotonic() - began
        self.assertGreaterEqual(job["records"], 1000)
        began = time.monotonic()
        holds, said = verified(lines)
        checked = time.monotonic() - began
        self.assertTrue(holds, said)
        print(f"\n{job['records']} records: made and read in {took:.2f} s, checked in "
              f"{checked:.2f} s", file=sys.stderr)
        # A build for debugging on a machine that does other things as well.
        self.assertLess(took, 60)
        self.assertLess(checked, 60)
        page = raw(f"{urd.realm}/cases/{job['id']}/file?form=page")
        self.assertEqual(page[0], 200)


if __name__ == "__main__":
    unittest.main()
