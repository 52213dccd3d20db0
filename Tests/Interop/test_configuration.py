"""Configuration as a file: plan, apply, drift and export, against a running server and its log."""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import yaml

from urd_process import BINARY, PATIENCE, Urd, together
from front_door import environment  # noqa: I001

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "configuration-file.md"


def setUpModule():
    global urd, desk
    urd = Urd()
    desk = tempfile.TemporaryDirectory(prefix="urd-configuration-", dir="/tmp")


def tearDownModule():
    desk.cleanup()
    urd.close()


def written(value, name="urd.yaml"):
    """The path of a file with a document; text stands as it is."""
    path = pathlib.Path(desk.name, name)
    path.write_text(value if isinstance(value, str) else yaml.safe_dump(value, sort_keys=False))
    return str(path)


def asked(*words, code=0, **more):
    done = urd.command(*words, **more)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def fresh(name):
    asked("realm", "create", "--realm", name, "--display-name", name)
    return name


def positions(realm):
    return int(urd.sql(f"select position from urd.realm_log where realm = '{realm}'"))


def clients(count, name="Client"):
    return {f"client-{number:03}": {
        "client_name": f"{name} {number}", "redirect_uris": [f"https://a{number}.example/in"],
        "grant_types": ["authorization_code", "refresh_token"], "scope": "openid email"}
        for number in range(count)}


class Files(unittest.TestCase):
    def test_a_plan_is_told_by_its_exit_code_and_what_is_applied_is_of_the_file(self):
        realm = fresh("words")
        path = written({"realms": {realm: {
            "settings": {"otp_lifetime": 300}, "clients": clients(1)}}})
        plan = asked("plan", path, code=2).stdout
        self.assertIn("Realm words: 1 to create, 1 to change.", plan)
        self.assertIn("otp_lifetime: 600 → 300", plan)
        self.assertIn("+ client client-000", plan)
        self.assertEqual(positions(realm), 1)
        refused = asked("apply", path, code=2)
        self.assertIn("give --yes", refused.stderr)
        self.assertEqual(positions(realm), 1)
        asked("apply", path, "--yes")
        digest = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        events = urd.api.call("GET", f"/api/admin/realms/{realm}/events?limit=200")[1]["items"][1:]
        self.assertEqual({event["actor"] for event in events}, {f"apply:{digest}"})
        self.assertEqual(len({event["correlation"] for event in events}), 1)
        self.assertEqual(events[-1]["data"]["file"], digest)
        self.assertIn("nothing to do", asked("plan", path).stdout)
        again = asked("apply", path, "--yes").stdout
        self.assertIn("nothing to do", again)
        self.assertEqual(positions(realm), 1 + len(events))

    def test_a_file_that_is_asked_for_wrongly_is_no_change(self):
        for words in [("plan",), ("plan", "/none.yaml"), ("plan", "--prun", "x"), ("drift",)]:
            self.assertEqual(urd.command(*words).returncode, 1, words)

    def test_an_error_names_line_and_nearest_name_and_changes_no_realm(self):
        one, two = fresh("first"), fresh("second")
        path = written(
            f"realms:\n  {one}:\n    settings: {{otp_lifetime: 300}}\n  {two}:\n"
            "    clients:\n      web:\n        redirct_uris: [https://a.example/]\n"
            "        app: nowhere\n")
        done = asked("apply", path, "--yes", code=1)
        self.assertIn(
            "unknown member `redirct_uris` at line 7: did you mean `redirect_uris`?", done.stderr)
        self.assertEqual((positions(one), positions(two)), (1, 1))

    def test_a_host_of_two_realms_changes_neither(self):
        one, two = fresh("host-one"), fresh("host-two")
        path = written(
            f"realms:\n  {one}:\n    hosts: [a.example, both.example]\n"
            f"  {two}:\n    hosts:\n      - both.example\n")
        for words in (("plan", path), ("apply", path, "--yes")):
            self.assertIn("`both.example` is a host of both realms, `host-one` and `host-two`, at line 6",
                          asked(*words, code=1).stderr)
        self.assertEqual((positions(one), positions(two)), (1, 1))

    def test_an_error_in_a_list_of_several_files_names_its_own(self):
        realm = fresh("lists")
        one = written(f"realms:\n  {realm}:\n    hosts: [a.lists.example, b.lists.example]\n", "one.yaml")
        two = written(f"realms:\n  {realm}:\n    hosts:\n      - c.lists.example\n      - No Host\n", "two.yaml")
        self.assertRegex(asked("plan", one, two, code=1).stderr, r"two\.yaml: .* at line 5")

    def test_a_secret_ends_with_its_line_and_an_empty_one_is_none(self):
        realm = fresh("line-ends")
        secret = os.urandom(12).hex()
        file = {"realms": {realm: {"providers": {"corp": {
            "name": "Corp", "issuer": "https://login.example.org", "client_id": "urd",
            "client_secret": "env:CORP_SECRET"}}}}}
        asked("apply", written(file), "--yes", CORP_SECRET=secret)
        for end, code in (("", 0), ("\n", 0), ("\r\n", 0), (" \n", 2)):
            place = written(secret + end, "corp.secret")
            file["realms"][realm]["providers"]["corp"]["client_secret"] = f"file:{place}"
            asked("plan", written(file), code=code)
        for empty in ("", "\n"):
            written(empty, "corp.secret")
            self.assertIn(f"nothing stands at `file:{place}` at line",
                          asked("plan", written(file), code=1).stderr)

    def test_secrets_stand_in_environment_and_files_and_are_told_nowhere(self):
        realm = fresh("secrets")
        secret = os.urandom(12).hex()
        place = written(secret + "\n", "gateway.secret")
        file = {"realms": {realm: {
            "providers": {"corp": {
                "name": "Corp", "issuer": "https://login.example.org", "client_id": "urd",
                "client_secret": "env:CORP_SECRET"}},
            "message_gateways": {"sms": {
                "kind": "webhook", "address": "https://sms.example.org/send",
                "secret": f"file:{place}"}}}}}
        path = written(file)
        told = asked("plan", path, code=1).stderr
        self.assertIn("nothing stands at `env:CORP_SECRET` at line", told)
        outputs = [
            asked("plan", path, code=2, CORP_SECRET=secret),
            asked("plan", path, "--json", code=2, CORP_SECRET=secret),
            asked("apply", path, "--yes", CORP_SECRET=secret),
            asked("plan", path, CORP_SECRET=secret),
        ]
        for done in outputs:
            self.assertNotIn(secret, done.stdout + done.stderr)
        self.assertIn("env:CORP_SECRET", outputs[0].stdout)
        changed = asked("plan", path, code=2, CORP_SECRET="another" + secret).stdout
        self.assertIn("~ provider corp", changed)
        file["realms"][realm]["providers"]["corp"]["client_secret"] = secret
        clear = asked("plan", written(file), code=1)
        self.assertIn("client_secret: env:NAME", clear.stderr)
        self.assertNotIn(secret, clear.stdout + clear.stderr)
        exported = asked("export-config", "--realm", realm).stdout
        self.assertNotIn(secret, exported)
        self.assertIn("env:SECRETS_PROVIDERS_CORP_CLIENT_SECRET", exported)
        log = urd.sql(f"select string_agg(data::text, ' ') from urd.event where realm = '{realm}'")
        self.assertNotIn(secret, log)

    def test_hostile_files_are_refused_with_a_sentence(self):
        bomb = "a: &a [x,x]\n" + "".join(
            f"{name}: &{name} [*{before},*{before}]\n" for before, name in zip("abcdefg", "bcdefgh"))
        for name, text, sentence in [
            ("bomb", bomb, "anchor"), ("twice", "realms: {}\nrealms: {}\n", "second time at line 2"),
            ("deep", "realms: " + "[" * 50_000, "deep"), ("empty", "", "empty"),
            ("list", "- a\n", "`realms` is missing"), ("binary", "\x00\x01", "line"),
            ("type", "realms: {acme: {clients: [a]}}", "under its name at line 1"),
            ("kind", "realms: {acme: {users: {}}}", "people and their data"),
            ("realm", "realms: {'No Realm': {}}", "cannot be the name"),
        ]:
            begun = time.monotonic()
            done = asked("plan", written(text, f"{name}.yaml"), code=1)
            self.assertIn(sentence, done.stderr, name)
            self.assertLess(time.monotonic() - begun, 10, name)
        huge = pathlib.Path(desk.name, "huge.yaml")
        with open(huge, "wb") as file:
            file.truncate(100 << 20)
        self.assertEqual(urd.command("plan", str(huge)).returncode, 1)

    def test_two_files_say_more_of_a_realm_and_nothing_twice(self):
        realm = fresh("pair")
        one = written({"realms": {realm: {"clients": clients(1)}}}, "one.yaml")
        two = written(json.dumps({"realms": {realm: {"apps": {"shop": {"name": "Shop"}}}}}), "two.json")
        plan = json.loads(asked("plan", one, two, "--json", code=2).stdout)
        self.assertEqual(
            [change["noun"] for change in plan["realms"][0]["changes"]], ["app", "client"])
        done = asked("plan", one, one.replace("one", "./one"), code=1)
        self.assertIn("stands twice: at line 4", done.stderr)

    def test_a_host_of_another_realm_is_refused_before_anything_is_applied(self):
        one, two = fresh("holder"), fresh("taker")
        asked("host", "assign", "--realm", one, "--host", "held.example")
        path = written({"realms": {two: {"hosts": ["held.example"], "clients": clients(1)}}})
        done = asked("apply", path, "--yes", code=1)
        self.assertIn("held.example", done.stderr)
        self.assertEqual(positions(two), 1)


class Drift(unittest.TestCase):
    def test_drift_names_who_changed_what_at_which_position(self):
        realm = fresh("drifting")
        path = written({"realms": {realm: {
            "settings": {"otp_lifetime": 300}, "clients": clients(2), "hosts": ["drift.example"]}}})
        asked("apply", path, "--yes")
        self.assertIn("nothing was changed", asked("drift", path).stdout)
        before = positions(realm)
        asked("realm", "set", realm, "--otp-lifetime", "301")
        asked("client", "delete", "client-001", "--realm", realm, "--yes")
        told = asked("drift", path, code=2).stdout
        self.assertIn("otp_lifetime: 301 → 300", told)
        self.assertRegex(told, rf"position {before + 1}, .*, operator:.*: realm.settings_changed")
        self.assertRegex(told, rf"position {before + 2}, .*, operator:.*: client.deleted")
        self.assertRegex(told, r"since apply:[0-9a-f]{12}… of operator:")
        asked("apply", path, "--yes")
        self.assertIn("nothing was changed", asked("drift", path).stdout)
        more = {**clients(2), **{"new": {"grant_types": ["client_credentials"]}}}
        waiting = asked("drift", written({"realms": {realm: {"clients": more}}})).stdout
        self.assertIn("not applied yet", waiting)


class Together(unittest.TestCase):
    def test_two_hundred_clients_are_applied_in_two_seconds_as_one_commit(self):
        realm = fresh("crowd")
        path = written({"realms": {realm: {"clients": clients(200)}}})
        begun = time.monotonic()
        asked("apply", path, "--yes")
        seconds = time.monotonic() - begun
        print(f"apply of 200 clients: {seconds:.2f} s", flush=True)
        commands = urd.sql(
            f"select count(distinct command) from urd.event where realm = '{realm}'")
        self.assertEqual(commands, "2")
        begun = time.monotonic()
        asked("apply", path, "--yes")
        print(f"plan of 200 clients without a change: {time.monotonic() - begun:.2f} s", flush=True)
        # A build for debugging takes several times as long.
        self.assertLess(seconds, 2 if "release" in str(BINARY.resolve()) else 20)

    def test_of_two_files_at_once_one_waits_or_hears_of_the_other(self):
        realm = fresh("race")
        paths = [written({"realms": {realm: {"clients": clients(40, name)}}}, f"{name}.yaml")
                 for name in ("left", "right")]
        for _ in range(3):
            results = together(2, lambda number: urd.command("apply", paths[number], "--yes"))
            codes = sorted(done.returncode for done in results)
            self.assertIn(codes, [[0, 0], [0, 1]], results)
            for done in results:
                if done.returncode:
                    self.assertRegex(done.stderr, r"apply:[0-9a-f]{64} of operator:")
            items = urd.api.call("GET", f"/api/admin/realms/{realm}/clients?limit=200")[1]["items"]
            names = {item["client_name"].split()[0] for item in items}
            self.assertEqual((len(items), len(names)), (40, 1), names)

    def test_an_apply_that_was_killed_is_completed_by_the_next(self):
        realm = fresh("killed")
        path = written({"realms": {realm: {"hosts": ["killed.example"], "clients": clients(60)}}})
        names = ("DATABASE_URL", "MASTER_KEY_FILE")
        settings = {f"URD_{name}": urd.values[f"URD_{name}"] for name in names}
        for hundredths in (5, 20, 40, 60, 80, 100, 130, 160):
            process = subprocess.Popen(
                [str(BINARY), "apply", path, "--yes"], env=environment(**settings),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(hundredths / 100)
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=PATIENCE)
            # All of the realm is there, or nothing. An apply that completes one without its hosts is on record too.
            registered = urd.sql("select count(*) from urd.event where type = 'client.registered' "
                                 f"and realm = '{realm}'")
            self.assertIn(registered, ("0", "60"))
            self.assertTrue(positions(realm) == 1 or positions(realm) >= 62, positions(realm))
        asked("apply", path, "--yes")
        self.assertIn("nothing to do", asked("plan", path).stdout)
        hosts = urd.api.call("GET", f"/api/admin/realms/{realm}/hosts")[1]["items"]
        self.assertEqual([item["host"] for item in hosts], ["killed.example"])


class Documents(unittest.TestCase):
    def test_the_example_of_the_page_is_applied_and_comes_back_from_an_export(self):
        text = DOCUMENT.read_text()
        example = re.search(r"```yaml\n(# urd\.yaml\n.*?)```", text, re.S)[1]
        path = written(example)
        variables = dict.fromkeys(re.findall(r"env:(\w+)", example), "generated" + os.urandom(8).hex())
        asked("apply", path, "--yes", **variables)
        self.assertIn("nothing to do", asked("plan", path, **variables).stdout)
        (realm,) = yaml.safe_load(example)["realms"]
        exported = written(asked("export-config", "--realm", realm).stdout, "exported.yaml")
        named = dict.fromkeys(
            re.findall(r"env:(\w+)", pathlib.Path(exported).read_text()), *set(variables.values()))
        self.assertIn("nothing to do", asked("plan", exported, "--prune", **named).stdout)

    def test_the_schema_that_is_served_is_the_one_that_is_printed_and_checks_the_example(self):
        import jsonschema

        printed = json.loads(asked("export-config", "--schema").stdout)
        status, served, _ = urd.api.call("GET", "/schemas/configuration")
        self.assertEqual((status, served), (200, printed))
        example = re.search(r"```yaml\n(# urd\.yaml\n.*?)```", DOCUMENT.read_text(), re.S)[1]
        check = jsonschema.Draft7Validator(printed)
        self.assertEqual(list(check.iter_errors(yaml.safe_load(example))), [])
        wrong = {"realms": {"acme": {"clients": {"web": {"redirct_uris": []}}}}}
        self.assertTrue(list(check.iter_errors(wrong)))


if __name__ == "__main__":
    unittest.main()
