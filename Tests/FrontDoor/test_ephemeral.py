"""`urd dev --ephemeral`: a server for an app's own tests, which is there at once, lets them move its clock, and leaves nothing."""

import datetime
import glob
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import unittest
import urllib.parse

from front_door import BINARY, PATIENCE, ROOT, FrontDoorCase, Server, environment, eventually, run, working_in

PASSPHRASE = "correct horse battery"


def ask(address, method, path, body=None, host=None, **headers):
    place = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=PATIENCE)
    try:
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {
            "Host": host or f"localhost:{place.port}",
            **({"Content-Type": "application/json"} if data else {}), **headers})
        answer = connection.getresponse()
        text = answer.read().decode()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text
    finally:
        connection.close()


class Ephemeral:
    """One run, as a test's fixture starts it: what it says on its first line is all that there is to know."""

    def __init__(self, *words, **more):
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [BINARY, "dev", "--ephemeral", "--json", *words], env=environment(**more),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors = []
        self.reader = threading.Thread(target=self.read_errors, daemon=True)
        self.reader.start()
        line = self.process.stdout.readline()
        self.seconds = time.monotonic() - self.begun
        assert line, (self.process.wait(PATIENCE), self.errors)
        self.values = json.loads(line)
        self.url, self.private = self.values["URD_URL"], self.values["URD_PRIVATE_URL"]
        self.folder = os.path.dirname(self.values["URD_MASTER_KEY_FILE"])

    def read_errors(self):
        self.errors.extend(self.process.stderr)

    def test(self, method, path, body=None):
        return ask(self.private, method, path, body)

    def admin(self, method, path, body=None):
        return ask(self.url, method, path, body,
                   Authorization="Bearer " + self.values["URD_ADMIN_KEY"])

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


class EphemeralCase(FrontDoorCase):
    def setUp(self):
        super().setUp()
        self.started = []
        self.cache = os.path.join(self.folder, "cache")

    def tearDown(self):
        for one in self.started:
            if one.process.returncode is None:
                one.end()
        super().tearDown()

    def begin(self, *words, **more):
        one = Ephemeral(*words, XDG_CACHE_HOME=self.cache, **more)
        self.started.append(one)
        return one


class Runs(EphemeralCase):
    def test_it_is_there_at_once_and_leaves_nothing(self):
        first = self.begin()
        kept = glob.glob(f"{self.cache}/urd/dev-*")
        self.assertEqual(len(kept), 1)
        self.assertTrue(first.folder.startswith("/dev/shm/") or first.errors, first.folder)
        self.assertEqual(first.end(), 0)
        self.assertFalse(os.path.exists(first.folder))
        second = self.begin()
        print(f"ready after {first.seconds:.1f} s the first time, and {second.seconds:.1f} s then", flush=True)
        self.assertLess(second.seconds, first.seconds)
        self.assertEqual(ask(second.private, "GET", "/health/ready")[0], 200)
        # Two at once have nothing in common.
        third = self.begin()
        self.assertNotEqual(second.folder, third.folder)
        self.assertNotEqual(second.url, third.url)
        second.admin("POST", "/api/admin/realms", {"realm": "mine", "display_name": "Mine"})
        self.assertEqual(second.admin("GET", "/api/admin/realms/mine")[0], 200)
        self.assertEqual(third.admin("GET", "/api/admin/realms/mine")[0], 404)
        for one in (second, third):
            self.assertEqual(one.end(signal.SIGINT), 0)
            self.assertFalse(os.path.exists(one.folder))
        self.assertEqual(glob.glob(f"{self.cache}/urd/*"), kept)

    def test_what_a_killed_run_leaves_goes_with_the_next_start(self):
        one = self.begin()
        one.process.kill()
        one.process.wait(PATIENCE)
        eventually(lambda: not working_in(one.folder), "PostgreSQL went with it")
        self.assertTrue(os.path.exists(one.folder))
        beside = self.begin()
        self.assertFalse(os.path.exists(one.folder))
        self.begin()
        self.assertTrue(os.path.exists(beside.folder))

    def test_a_first_start_that_is_ended_leaves_nothing_half_made(self):
        process = subprocess.Popen(
            [BINARY, "dev", "--ephemeral", "--json"], env=environment(XDG_CACHE_HOME=self.cache),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        mine = eventually(
            lambda: [path for path in glob.glob("/dev/shm/urd-ephemeral-*") + glob.glob("/tmp/urd-ephemeral-*")
                     if os.path.exists(path + "/lock")
                     and pathlib.Path(path, "lock").read_text().strip() == str(process.pid)
                     and working_in(path)],
            "its PostgreSQL runs")
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), -signal.SIGTERM)
        self.assertFalse(os.path.exists(mine[0]))
        self.assertEqual(glob.glob(f"{self.cache}/urd/dev-*"), [])

    def test_no_server_has_its_routes(self):
        one = self.begin()
        server = Server({name: one.values[name] for name in ("URD_DATABASE_URL", "URD_MASTER_KEY_FILE")}).ready()
        self.addCleanup(server.close)
        self.assertEqual(one.test("GET", "/test/clock")[0], 200)
        for address in (server.url, server.private_url, one.url):
            for method, path in (("GET", "/test/clock"), ("POST", "/test/clock"), ("POST", "/test/realms"),
                                 ("POST", "/test/people")):
                self.assertEqual(ask(address, method, path, {} if method == "POST" else None)[0], 404, path)
        usual = self.start().ready().values()
        self.assertEqual(ask(usual["URD_PRIVATE_URL"], "GET", "/test/clock")[0], 404)
        refused = run("serve", "--ephemeral")
        self.assertEqual(refused.returncode, 2, refused.stderr)

    def test_wrong_words_are_refused_with_a_sentence(self):
        people = os.path.join(self.folder, "people.json")
        for content, said in (("{", "people.json"), ('"x"', "people.json"), ('[{"first_name": "Ada"}]', "email"),
                              ('[{"email": "ada@example.org", "first_name": "a\\u0000"}]', "null character")):
            pathlib.Path(people).write_text(content)
            done = run("dev", "--ephemeral", "--people", people, XDG_CACHE_HOME=self.cache)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(said, done.stderr)
        self.assertEqual(run("dev", "--people", people, URD_DATA=self.data).returncode, 2)
        self.assertEqual(run("dev", "--ephemeral", "--fresh").returncode, 2)
        self.assertEqual(run("dev", "--ephemeral", "--data", "/tmp/x").returncode, 2)


class Tests(EphemeralCase):
    """What an app's tests do with it."""

    def setUp(self):
        super().setUp()
        people = os.path.join(self.folder, "people.json")
        pathlib.Path(people).write_text(json.dumps([
            {"email": "ada@example.org", "first_name": "Ada", "passphrase": PASSPHRASE},
            {"email": "bob@example.org", "enabled": False}]))
        self.one = self.begin("--people", people)

    def code(self, host, mail, client):
        status, answer = ask(self.one.url, "POST", "/api/account/native/otp/request", {"Email": mail}, host=host)
        self.assertEqual(status, 200, answer)
        status, letters = self.one.test("GET", "/inbox?wait=30&to=" + urllib.parse.quote(mail))
        self.assertEqual(status, 200)
        return re.search(r"\b(\d{6,8})\b", letters[0]["text"])[1]

    def redeem(self, host, mail, code, client):
        form = urllib.parse.urlencode(
            {"grant_type": "urn:cocoar:otp", "client_id": client, "username": mail, "otp_code": code})
        place = urllib.parse.urlsplit(self.one.url)
        connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=PATIENCE)
        try:
            connection.request("POST", "/connect/token", form, {
                "Host": host, "Content-Type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def test_a_code_lapses_when_the_clock_is_moved(self):
        status, realm = self.one.test("POST", "/test/realms", {})
        self.assertEqual(status, 201, realm)
        host = urllib.parse.urlsplit(realm["url"]).netloc
        mail, client = "carla@example.org", realm["native_client_id"]
        status, _ = self.redeem(host, mail, self.code(host, mail, client), client)
        self.assertEqual(status, 200)
        code = self.code(host, "dora@example.org", client)
        before = self.one.test("GET", "/test/clock")[1]["at"]
        status, after = self.one.test("POST", "/test/clock", {"seconds": 3600})
        self.assertEqual(status, 200)
        moved = [datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (before, after["at"])]
        self.assertGreaterEqual((moved[1] - moved[0]).total_seconds(), 3600)
        self.assertEqual(self.redeem(host, "dora@example.org", code, client)[0], 400)
        # It goes on from there, and what is on record has its time.
        status, _ = self.redeem(host, "dora@example.org", self.code(host, "dora@example.org", client), client)
        self.assertEqual(status, 200)
        status, events = self.one.admin("GET", f"/api/admin/realms/{realm['realm']}/events?limit=1000")
        self.assertEqual(status, 200)
        self.assertGreaterEqual(max(event["at"] for event in events["items"]), after["at"][:16])
        status, moved = self.one.test("POST", "/test/clock", {"at": "2031-01-01T00:00:00Z"})
        self.assertEqual((status, moved["at"][:10]), (200, "2031-01-01"))
        for wrong in ({"seconds": -1}, {"at": "2001-01-01T00:00:00Z"}, {"at": "soon, very soon indeed"},
                      {"seconds": 10 ** 12}):
            self.assertEqual(self.one.test("POST", "/test/clock", wrong)[0], 400, wrong)

    def test_people_of_a_file_are_there(self):
        status, found = self.one.admin("GET", "/api/admin/realms/demo/accounts?limit=100")
        self.assertEqual(status, 200)
        states = [account["enabled"] for account in found["items"]]
        self.assertIn(False, states)
        status, answer = self.one.test("POST", "/test/realms", {
            "realm": "acme", "settings": {"login_passphrase": True}})
        self.assertEqual(status, 201, answer)
        status, added = self.one.test("POST", "/test/people", {
            "realm": "acme", "people": [{"email": "eve@example.org", "passphrase": PASSPHRASE}]})
        self.assertEqual((status, added["items"][0]["status"]), (200, "imported"), added)
        self.assertEqual(self.one.test("POST", "/test/people", {"people": [{"first_name": "x"}]})[0], 400)
        self.assertEqual(self.one.test("POST", "/test/realms", {"realm": "acme"})[0], 409)
        misspelt = self.one.test("POST", "/test/realms", {"settings": {"login_pasphrase": True}})
        self.assertEqual((misspelt[0], misspelt[1]["field"]), (400, "settings/login_pasphrase"))

    def test_a_clean_realm_is_quick(self):
        took = []
        for _ in range(10):
            begun = time.monotonic()
            status, _ = self.one.test("POST", "/test/realms", {})
            took.append(time.monotonic() - begun)
            self.assertEqual(status, 201)
        print(f"a clean realm: {sorted(took)[len(took) // 2] * 1000:.0f} ms", flush=True)


class Page(unittest.TestCase):
    def test_the_examples_of_the_page_run(self):
        """docs/testing.md's fixture for pytest, with the test beside it."""
        page = (ROOT / "docs/testing.md").read_text()
        blocks = dict(re.findall(r"`(conftest\.py|test_\w+\.py)`:\n\n```python\n(.*?)```", page, re.S))
        self.assertEqual(len(blocks), 2)
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            for name, text in blocks.items():
                pathlib.Path(folder, name).write_text(text)
            done = subprocess.run(
                ["/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
                capture_output=True, text=True, cwd=folder, timeout=4 * PATIENCE, env=environment(
                    PATH=f"{pathlib.Path(BINARY).parent}:{os.environ['PATH']}",
                    XDG_CACHE_HOME=os.path.join(folder, "cache")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\b2 passed")


if __name__ == "__main__":
    unittest.main()
