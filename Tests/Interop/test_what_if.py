"""What-ifs over HTTP and on the command line, on the demo history: forty-odd policies against an oracle in Python that reads
nothing but an export of the log; makers that are killed; policies that are wrong."""

import http.client
import ipaddress
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import uuid

import policy_oracle
from phone import Phone
from urd_process import BINARY, PATIENCE, Urd, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
REALM = "history"
PATH = f"/api/admin/realms/{REALM}/what-if"
NAMES = ("DATABASE_URL", "DATABASE_OWNER_URL", "MASTER_KEY_FILE", "CHECKPOINT_DIRECTORY")


def setUpModule():
    global urd, log
    urd = Urd("--demo-history")
    try:
        furnish()
        log = list(enumerate(map(json.loads, urd.log(REALM)), 1))
    except BaseException:
        urd.close()
        raise


def tearDownModule():
    urd.close()


def call(method, path, body=None, expected=(200, 201, 202, 204), key=None, **headers):
    status, answer, _ = urd.api.call(method, path, body, key=key, **headers)
    assert status in (expected if isinstance(expected, tuple) else (expected,)), (
        method, path, status, answer)
    return answer


def settings():
    return {f"URD_{name}": urd.values[f"URD_{name}"] for name in NAMES}


def furnish():
    """What the demo history does not have: roles, places, second factors. Places are written into the log as it stands, some
    of them as only a parser can read them."""
    people = call("GET", f"/api/admin/realms/{REALM}/accounts?limit=60")["items"]
    for number, person in enumerate(people):
        path = f"/api/admin/realms/{REALM}/accounts/{person['id']}"
        if number % 20 == 19:
            call("POST", path + "/disable")
    # What is not sealed yet must not be touched: nobody would seal it.
    urd.sealed(REALM)
    signed_in = "realm = 'history' and type in ('session.opened', 'browser.opened')"
    urd.sql("update urd.event set data = (data::jsonb - 'asn' - 'country' - 'area')::json "
            f"where {signed_in}")
    urd.sql(
        "update urd.event set data = ('{\"asn\":' || (64500 + position % 3) || ',\"country\":\"' || "
        "(array['CH', 'DE', 'FR', 'US'])[1 + (position / 7) % 4] || '\",' || substr(data::text, 2))::json "
        f"where {signed_in} and position % 5 < 3")
    urd.sql("update urd.event set data = (data::jsonb || '{\"asn\": 64501, \"note\": \"a \\\\u0022 b\"}')::json "
            f"where {signed_in} and position % 5 = 3")
    # Roles and factors of some people, in the place of other events of theirs.
    urd.sql(
        "update urd.event set type = 'account.roles_changed', data = ('{\"roles\":{\"shop\":[\"' || "
        "(array['admin', 'reader'])[1 + position % 2] || '\"]}}')::json "
        f"where realm = '{REALM}' and type = 'account.registered' and position % 9 in (4, 5)")
    urd.sql(
        "update urd.event e set type = 'totp.confirmed', data = json_build_object('account', stream) "
        f"where realm = '{REALM}' and type = 'account.registered' and position % 9 = 0")


def ask(policy, expected=202, key=None, path=PATH, **more):
    body = {"policy": policy, **more}
    if expected == 202:
        # Two are made at once, and others of these tests may be on their way.
        return eventually(
            lambda: (lambda answer: answer.get("id") and answer)(
                call("POST", path, body, (202, 429), key=key)), "a place for a what-if")
    return call("POST", path, body, expected, key=key)


def ready(job, patience=120):
    found = []

    def look():
        found.append(call("GET", f"{PATH}/{job['id']}"))
        return found[-1]["state"] not in ("waiting", "running")

    eventually(look, "a what-if that is ready", patience=patience)
    return found[-1]


def raw(job):
    """The bytes of the result, as they come."""
    place = urllib.parse.urlsplit(urd.values["URD_URL"])
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
    try:
        connection.request("GET", f"{PATH}/{job['id']}/result",
                           headers={"Authorization": f"Bearer {urd.key}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def tried(policy, **more):
    job = ready(ask(policy, **more))
    assert job["state"] == "ready", job
    status, body = raw(job)
    assert status == 200, body
    return body


def line(*words, **more):
    return subprocess.run(
        [BINARY, *words], env={**os.environ, **settings(), "URD_REALM": REALM}, text=True,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=300, **more)


HOURS = {"from": "07:00", "to": "19:00"}
POLICIES = [
    {"require_second_factor": {"all": True}},
    {"require_second_factor": {"roles": ["admin"]}},
    {"require_second_factor": {"clients": ["shop"]}},
    {"require_second_factor": {"roles": ["reader", "raeder"], "clients": ["office", "offcie"]}},
    {"allow_methods": ["passkey", "urn:cocoar:passkey"]},
    {"allow_methods": ["email_code", "urn:cocoar:otp"]},
    {"countries": {"allow": ["CH"]}}, {"countries": {"deny": ["US", "FR"]}},
    {"networks": {"allow": ["AS64500", "AS64501"]}}, {"networks": {"deny": ["AS64502"]}},
    {"hours": HOURS}, {"hours": {**HOURS, "offset": "+05:30"}},
    {"hours": {"from": "19:00", "to": "07:00"}},
    {"hours": {"from": "22:00", "to": "09:30", "days": ["monday", "friday"], "offset": "-03:00"}},
    {"devices": {"known_for": "1d"}}, {"devices": {"known_for": "14d"}},
    {"session_lifetime": "1h"}, {"session_lifetime": "90m"}, {"idle_lifetime": "30m"},
    {"session_lifetime": "2h", "idle_lifetime": "45m"},
    {"max_sessions": 1}, {"max_sessions": 3}, {"max_sessions": 8},
    {"lock_after": {"n": 1, "minutes": 10}}, {"lock_after": {"n": 2, "minutes": 1}},
    {"lock_after": {"n": 20, "minutes": 60}},
    {"require_second_factor": {"all": True}, "lock_after": {"n": 3, "minutes": 15}},
    {"countries": {"allow": ["CH", "DE"]}, "hours": HOURS, "max_sessions": 5},
    {"allow_methods": ["passkey"], "devices": {"known_for": "2d"}, "idle_lifetime": "20m"},
]


class OracleTests(unittest.TestCase):
    maxDiff = 4000

    def agrees(self, policy, first=1, last=None, wanted=None, sources=(), **more):
        last = last or len(log)
        found = json.loads(tried(policy, **{"from": str(first), "to": str(last)}, **more))
        said = policy_oracle.Oracle(log, first, last, policy, wanted, sources).result()
        for name, value in said.items():
            self.assertEqual(found[name], value, (policy, name))
        self.assertEqual(set(found) - set(said) - {"filter"},
                         {"format", "realm", "from", "to", "policy"})
        return found

    def test_the_log_from_its_beginning(self):
        outcomes = set()
        for number, policy in enumerate(POLICIES):
            with self.subTest(policy=policy):
                # The oracle is slow: some policies meet the whole log, and all of them a third of it.
                is_whole = number % 8 == 0
                said = self.agrees(policy, last=None if is_whole else len(log) // 3)
                self.assertGreater(said["sign_ins"]["total"], 10_000 if is_whole else 3_000)
                for name, counts in said["rules"].items():
                    outcomes |= {(name, one) for one, count in counts.items() if count}
        # The policies are there to meet what can be met.
        for name in policy_oracle.RULES:
            met = {one for rule, one in outcomes if rule == name}
            self.assertGreaterEqual(len(met - {"total"}), 2, (name, met))

    def test_a_part_of_the_log_whose_past_is_not_known(self):
        first = len(log) // 2
        for policy in POLICIES:
            with self.subTest(policy=policy):
                self.agrees(policy, first, first + 15_000)

    def test_policies_at_random(self):
        numbers = random.Random(20261127)
        rules = {}
        for policy in POLICIES:
            for name, rule in policy.items():
                rules.setdefault(name, []).append(rule)
        for _ in range(12):
            names = numbers.sample(policy_oracle.RULES, numbers.randint(2, 6))
            policy = {name: numbers.choice(rules[name]) for name in names}
            first = numbers.choice([1, numbers.randint(2, len(log) - 1)])
            last = numbers.randint(first, len(log))
            with self.subTest(policy=policy, first=first, last=last):
                self.agrees(policy, first, last)

    def test_a_filter_picks_what_is_counted(self):
        wanted = {
            'client eq "shop"': lambda p, e: e["data"].get("client_id") == "shop",
            'type eq "browser.opened" and country eq "CH"':
                lambda p, e: e["type"] == "browser.opened" and e["data"].get("country") == "CH",
            "position gt 20000 and not (device eq \"iPhone\")":
                lambda p, e: p > 20_000 and e["data"].get("device") != "iPhone",
        }
        policy = {"require_second_factor": {"all": True}, "max_sessions": 2, "idle_lifetime": "30m"}
        for text, holds in wanted.items():
            with self.subTest(filter=text):
                said = self.agrees(policy, wanted=holds, filter=text)
                self.assertGreater(said["sign_ins"]["total"], 500)

    def test_a_filter_by_mail_or_address_opens_and_keeps_neither(self):
        policy = {"max_sessions": 2}
        opened = dict.fromkeys(
            event["data"]["account"] for _, event in reversed(log)
            if event["type"] == "session.opened" and event["data"].get("account"))
        for person in opened:
            known = call("GET", f"/api/admin/realms/{REALM}/accounts/{person}?open=true&reason=Incident")["person"]
            # Of some nothing is known: they have no address, or were erased.
            if known and known.get("email"):
                break
        mail = known["email"]
        logins = call("GET", f"/api/admin/realms/{REALM}/accounts/{person}/login-history"
                      "?open=true&open_reason=Incident&outcome=signed_in")["items"]
        address = logins[0]["address"]
        source = logins[0]["source"]
        for text, holds in (
                (f'mail eq "{mail}"', lambda p, e: e["data"].get("account") == person),
                (f'mail ne "{mail}" and position gt 60000',
                 lambda p, e: p > 60_000 and e["data"].get("account") != person),
                (f'address eq "{address}"', lambda p, e: e["data"].get("source") == source)):
            with self.subTest(filter=text):
                said = self.agrees(policy, wanted=holds, filter=text)
                self.assertGreater(said["sign_ins"]["total"], 0)
                self.assertNotIn(mail, json.dumps(said))
                self.assertNotIn(address, json.dumps(said))
                self.assertNotIn("mail", said["filter"])
        kept = urd.sql("select string_agg(w::text, ' ') from urd.what_if w")
        self.assertNotIn(mail, kept)
        self.assertNotIn(address, kept)

    def test_sign_ins_are_those_of_the_login_history(self):
        found = json.loads(tried({"hours": HOURS}))
        counted = int(urd.sql(
            f"select count(*) from urd.login_history where realm = '{REALM}' "
            "and outcome = 'signed_in'"))
        self.assertEqual(found["sign_ins"]["total"], counted)

    def test_an_address_is_asked_by_its_network(self):
        source = urd.sql(
            f"select source from urd.login_history where realm = '{REALM}' and source is not null "
            "group by source order by count(*) desc limit 1")
        mine = call("GET", f"/api/admin/realms/{REALM}/login-history?address=203.0.113.7")
        self.assertEqual(mine["items"], [])
        # Nothing of the demo history came from a real address: all came from elsewhere, or it is not known.
        said = json.loads(tried({"networks": {"deny": ["203.0.113.7"]}}))["sign_ins"]
        self.assertEqual(said["would_refuse"], 0)
        self.assertGreater(said["satisfied"], 0)
        self.assertNotEqual(source, "")

    def test_a_range_stands_for_all_of_its_networks(self):
        name, mail = urd.values["URD_REALM"], f"{uuid.uuid4().hex}@example.org"
        call("POST", urd.realm + "/accounts", {"email": mail, "confirmed": True})
        Phone(urd).sign_in(mail)
        (login,) = call("GET", urd.realm + "/login-history?open=true&open_reason=Incident"
                        f"&min_position={urd.head()}")["items"]
        address = ipaddress.ip_address(login["address"])
        here = ipaddress.ip_network((address, address.max_prefixlen - 8), strict=False)
        beside = ipaddress.ip_network((int(here[-1]) + 1, here.prefixlen))
        path = pathlib.Path(urd.folder, "networks.json")
        for written, listed in (([str(here)], True), ([str(beside)], False),
                                (["AS64500", str(beside), str(here)], True)):
            for rule in ("allow", "deny"):
                path.write_text(json.dumps({"networks": {rule: written}}))
                answer = urd.command("what-if", str(path), "--realm", name, "--json")
                self.assertEqual(answer.returncode, 0, answer.stderr)
                said = json.loads(answer.stdout)["sign_ins"]
                outcome = "satisfied" if listed == (rule == "allow") else "would_refuse"
                self.assertEqual((said["total"], said[outcome]), (1, 1), (written, rule, said))


class SameBytesTests(unittest.TestCase):
    def test_two_runs_and_another_process_have_the_same_bytes(self):
        policy = {"max_sessions": 2, "idle_lifetime": "30m", "lock_after": {"n": 2, "minutes": 30}}
        last = str(len(log))
        one = tried(policy, to=last)
        self.assertEqual(one, tried(policy, to=last))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "policy.json")
            pathlib.Path(path).write_text(json.dumps(policy, indent=2))
            # Nobody else makes it: the command does.
            answer = line("what-if", path, "--to", last, "--json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(answer.stdout.encode(), one + b"\n")
        self.assertEqual(one, json.dumps(
            json.loads(one), separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode())

    def test_an_empty_part_has_a_result(self):
        found = json.loads(tried({"hours": HOURS}, **{"from": "2001-01-01", "to": "2001-01-02"}))
        self.assertEqual((found["sign_ins"]["total"], found["days"]), (0, []))


class PolicyFaultTests(unittest.TestCase):
    def test_what_is_wrong_is_told_by_a_pointer(self):
        for policy, pointer, says in (
                ({"countris": {}}, "/countris", "did you mean countries?"),
                ({"countries": {"allow": ["CH", "Switzerland"]}}, "/countries/allow/1", "CH"),
                ({"lock_after": {"n": 0, "minutes": 5}}, "/lock_after/n", "from 1"),
                ({"hours": {"from": "07:00", "to": "19:00", "day": []}}, "/hours/day", "days"),
                ({"a/b": 1}, "/a~1b", "not known"),
                ({"networks": {"allow": ["10.0.0.0/8"]}}, "/networks/allow/0", "65536"),
                ({}, "", "must have one of"), ("none", "", "must be an object"), ([1], "", "must be an object")):
            with self.subTest(policy=policy):
                answer = ask(policy, expected=400)
                self.assertTrue(answer["type"].endswith("/invalid-policy"), answer)
                self.assertEqual(answer["pointer"], pointer)
                self.assertEqual(answer["field"], "policy" + pointer)
                self.assertIn(says, answer["detail"])

    def test_the_rest_of_the_question_is_checked(self):
        policy = {"hours": HOURS}
        ask("all", expected=400)
        call("POST", PATH, {}, 400)
        call("POST", PATH, {"policy": policy, "until": "now"}, 400)
        answer = ask(policy, expected=400, filter='clent eq "shop"')
        self.assertTrue(answer["type"].endswith("/invalid-filter"), answer)
        ask(policy, expected=400, filter='mail eq "nobody"')
        ask(policy, expected=400, filter='address eq "nowhere"')
        answer = ask(policy, expected=400, **{"from": "200", "to": "100"})
        self.assertEqual(answer["field"], "from")
        self.assertEqual(ask(policy, expected=409, to="99999999")["field"], "to")

    def test_the_command_line_says_where(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "policy.json")
            path.write_text('{"countries": {"alow": ["CH"]}}')
            answer = line("what-if", str(path))
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn("/countries/alow is not known here; did you mean allow?", answer.stderr)
            path.write_text('{"require_second_factor": {"clients": ["shop", "shpo"]}}')
            shown = line("what-if", str(path)).stdout
            self.assertIn("None of these sign-ins is of the client shpo.", shown)
            self.assertNotIn("of the client shop.", shown)
            path.write_text("{")
            self.assertIn("not JSON", line("what-if", str(path)).stderr)
            self.assertNotEqual(line("what-if", str(path) + ".none").returncode, 0)


class RightsTests(unittest.TestCase):
    def key(self, *permissions, realms=None):
        body = {"name": "limited"}
        if permissions:
            body["permissions"] = list(permissions)
        if realms:
            body["realms"] = realms
        return call("POST", "/api/admin/keys", body)["key"]

    def test_reading_the_log_is_enough_and_nothing_less_is(self):
        reader = self.key("events.read")
        job = ready(ask({"hours": HOURS}, key=reader))
        call("GET", f"{PATH}/{job['id']}/result", key=reader)
        ask({"hours": HOURS}, expected=403, key=self.key("audit.read"))
        call("GET", f"{PATH}/{job['id']}/result", expected=403, key=self.key("history.read"))

    def test_the_key_of_another_realm_asks_and_sees_nothing(self):
        other = self.key(realms=[urd.values["URD_REALM"]])
        job = ready(ask({"hours": HOURS}))
        ask({"hours": HOURS}, expected=403, key=other)
        for path in ("", "/result"):
            call("GET", f"{PATH}/{job['id']}{path}", expected=403, key=other)
            call("GET", f"{urd.realm}/what-if/{job['id']}{path}", expected=404, key=other)
        call("DELETE", f"{urd.realm}/what-if/{job['id']}", expected=404, key=other)

    def test_a_limited_key_cancels_what_is_its_own(self):
        reader, other = self.key("events.read"), self.key("events.read")
        job = ready(ask({"hours": HOURS}, key=reader))
        call("DELETE", f"{PATH}/{job['id']}", expected=403, key=other)
        call("DELETE", f"{PATH}/{job['id']}", expected=204, key=reader)


class LifeTests(unittest.TestCase):
    def test_a_cancelled_or_old_result_is_gone(self):
        job = ready(ask({"hours": HOURS}))
        call("DELETE", f"{PATH}/{job['id']}", expected=204)
        self.assertEqual(raw(job)[0], 410)
        job = ready(ask({"hours": HOURS}))
        urd.sql("update urd.what_if set finished_at = now() - interval '25 hours' "
                f"where id = '{job['id']}'")
        self.assertEqual(raw(job)[0], 410)

    def test_half_a_result_is_never_handed_out(self):
        job = ready(ask({"hours": HOURS}))
        for state in ("waiting", "running", "failed"):
            urd.sql(f"update urd.what_if set state = '{state}', lease_until = now() + interval '1 hour' "
                    f"where id = '{job['id']}'")
            self.assertEqual(raw(job)[0], 409, state)
        urd.sql(f"update urd.what_if set state = 'cancelled' where id = '{job['id']}'")

    def test_two_are_made_at_once_and_no_more(self):
        # Nobody goes on with what another node seems to be at.
        rows = ",".join(
            f"('{REALM}', gen_random_uuid(), 'running', 'system', '{{}}', 1, now(), "
            "now() + interval '1 minute')" for _ in range(2))
        urd.sql("insert into urd.what_if (realm, id, state, asker, question, epoch, asked_at, "
                f"lease_until) values {rows}")
        try:
            ask({"hours": HOURS}, expected=429)
        finally:
            urd.sql("delete from urd.what_if where asker = 'system'")
        ask({"hours": HOURS})

    def test_the_same_key_asks_once(self):
        body = {"policy": {"hours": HOURS}}
        one = call("POST", PATH, body, Idempotency_Key="what-1")
        self.assertEqual(call("POST", PATH, body, Idempotency_Key="what-1")["id"], one["id"])
        call("POST", PATH, {"policy": {"max_sessions": 1}}, 422, Idempotency_Key="what-1")
        ready(one)


class CrashTests(unittest.TestCase):
    POLICY = {"max_sessions": 2, "idle_lifetime": "30m", "devices": {"known_for": "3d"},
              "allow_methods": ["passkey", "email_code"]}

    def test_a_what_if_whose_maker_is_killed_is_gone_on_with_by_another(self):
        last = str(len(log))
        whole = tried(self.POLICY, to=last)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "policy.json")
            pathlib.Path(path).write_text(json.dumps(self.POLICY))
            os.kill(urd.pid, signal.SIGSTOP)
            try:
                # The command makes it in a process of its own: the server stands still.
                process = subprocess.Popen(
                    [BINARY, "what-if", path, "--to", last, "--json"], stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, **settings(), "URD_REALM": REALM})
                row = "from urd.what_if where state = 'running' and position > 0"
                kept = int(eventually(lambda: urd.sql(f"select position {row}"), "a kept state"))
                process.send_signal(signal.SIGKILL)
                output = process.communicate()[0]
            finally:
                os.kill(urd.pid, signal.SIGCONT)
        self.assertEqual(output, b"")
        found = urd.sql(f"select id, position {row}").split("|")
        self.assertGreaterEqual(int(found[1]), kept)
        self.assertLess(int(found[1]), len(log))
        self.assertEqual(raw({"id": found[0]})[0], 409)
        positions = []

        def look():
            state, position = urd.sql(
                f"select state, position from urd.what_if where id = '{found[0]}'").split("|")
            positions.append(int(position))
            return state not in ("waiting", "running")

        eventually(look, "a result that another made", patience=90)
        # It went on behind what was kept, and did not begin again.
        self.assertGreaterEqual(min(positions), kept)
        self.assertEqual(raw({"id": found[0]}), (200, whole))

    def test_a_position_without_its_state_is_nothing_to_go_on_from(self):
        policy, last = {"hours": HOURS}, len(log)
        job = ready(ask(policy, to=str(last)))
        whole = json.loads(raw(job)[1])
        urd.sql(
            "update urd.what_if set state = 'running', finished_at = null, result = null, "
            f"position = {last - 5_000}, progress = null, leased_by = gen_random_uuid(), "
            f"lease_until = now() - interval '1 second' where id = '{job['id']}'")
        self.assertEqual(ready(job)["state"], "ready")
        self.assertEqual(json.loads(raw(job)[1]), whole)

    def test_a_log_that_went_back_has_no_result(self):
        job = ready(ask({"hours": HOURS}))
        urd.sql("update urd.what_if set state = 'running', finished_at = null, result = null, "
                "question = jsonb_set(question, '{until}', '99999999'), "
                f"lease_until = now() - interval '1 second' where id = '{job['id']}'")
        job = ready(job)
        self.assertEqual((job["state"], job["fault"]), ("failed", "position_lost"))
        self.assertEqual(raw(job)[0], 409)


class PageTests(unittest.TestCase):
    """The commands of docs/analysts/what-if.md, run as they stand."""

    def test_every_command_of_the_page_works(self):
        page = (ROOT / "docs" / "analysts" / "what-if.md").read_text()
        blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
        self.assertGreaterEqual(len(blocks), 4)
        with tempfile.TemporaryDirectory(prefix="urd-page-", dir="/tmp") as desk:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(desk, ".build"))
            done = subprocess.run(
                ["bash", "-ec", "\n".join(blocks)], cwd=desk, text=True, timeout=300,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        for word in ("require_second_factor", "lock_after", "LOCKED OUT", "would have ended"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
