"""Nobody steps over a hole in the log: each channel says what came before it, then that the log is damaged, and
goes on once it is whole. The table is in docs/reading-the-log.md."""

import http.client
import json
import sys
import time
import unittest
import urllib.parse
import uuid

import test_shared_signals as parts
from token_tool import rerun

if not parts.MISSING:
    from feed_client import Feed
    from urd_process import eventually

DISABLED = "https://schemas.openid.net/secevent/risc/event-type/account-disabled"


def setUpModule():
    global urd, realm
    parts.setUpModule()
    urd = parts.urd
    realm = urd.values["URD_REALM"]


def tearDownModule():
    parts.tearDownModule()


def admin(method, path, body=None):
    status, answer, _ = urd.api.call(method, urd.realm + path, body)
    assert status < 300, (status, answer)
    return answer


def head():
    return int(urd.sql(f"select position from urd.realm_log where realm = '{realm}'"))


def metric(series):
    for line in urd.private("/metrics")[1].splitlines():
        if line.startswith(series + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


class Holes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Two accounts are disabled, and an event between them is taken away."""
        cls.ours = parts.Ours()
        cls.path, cls.pushed = cls.ours.push(requested=[DISABLED])
        cls.polled = cls.ours.create(requested=[DISABLED])
        accounts = [admin("POST", "/accounts", {"email": f"{uuid.uuid4().hex}@example.org"})["id"]
                    for _ in range(2)]
        eventually(lambda: len(parts.receiver.at(cls.path)) >= 1, "the push stream is verified")
        cls.ours.signals(cls.polled)
        for stream in (cls.pushed, cls.polled):
            cls.ours.status(stream, "paused")
        cls.subscription = admin("POST", "/subscriptions", {
            "name": "Index", "to": "internal", "from": "start"})["id"]
        time.sleep(2)
        cls.told = len(parts.receiver.at(cls.path))
        admin("POST", f"/accounts/{accounts[0]}/disable")
        admin("POST", "/clients", {"client_name": "Taken away", "grant_types": ["client_credentials"]})
        cls.hole = int(urd.sql(
            f"select max(position) from urd.event where realm = '{realm}'"
            " and type = 'client.registered'"))
        cls.gone = admin("POST", "/accounts", {"email": f"{uuid.uuid4().hex}@example.org"})["id"]
        cls.second = int(urd.sql(
            f"select max(position) from urd.event where realm = '{realm}'"
            " and type = 'account.registered'"))
        admin("POST", f"/accounts/{accounts[1]}/disable")
        cls.row = f"where realm = '{realm}' and position in ({cls.hole}, {cls.second})"
        cls.head = head()
        eventually(lambda: int(urd.sql(
            f"select coalesce(max(size), 0) from urd.checkpoint where realm = '{realm}'"))
            >= cls.head, "the log is sealed", 60)
        urd.sql(f"create table public.hole as select * from urd.event {cls.row}")
        urd.sql(f"delete from urd.event {cls.row}")

    @classmethod
    def tearDownClass(cls):
        cls.mend()

    @classmethod
    def mend(cls):
        urd.sql("do $$ begin if to_regclass('public.hole') is not null then"
                " insert into urd.event select * from public.hole; drop table public.hole;"
                " end if; end $$")

    def check_feed(self, query):
        before = metric("urd_feed_holes_total")
        with Feed(urd.values["URD_URL"], urd.key, realm, query) as feed:
            entries = list(feed.entries())
            self.assertEqual(feed.end, "whole")
        self.assertEqual((entries[-1]["type"], entries[-1]["data"]["type"]),
                         ("urd.error", "/problems/log-damaged"))
        positions = [one["position"] for one in entries if not one["type"].startswith("urd.")]
        self.assertEqual(positions, list(range(1, self.hole)))
        self.assertEqual(metric("urd_feed_holes_total"), before + 1)

    def test_1_a_feed_ends_before_the_hole_and_says_why(self):
        self.check_feed("from=start&to=internal")

    def test_1_a_feed_with_a_kept_cursor_ends_before_the_hole_and_says_why(self):
        self.check_feed(f"subscription={self.subscription}")

    def test_1_the_feed_that_proves_its_completeness_ends_before_the_hole(self):
        with Feed(urd.values["URD_URL"], urd.key, realm, "from=start&to=internal&leaves=all") as feed:
            entries = list(feed.entries())
        self.assertEqual((entries[-1]["type"], entries[-1]["data"]["type"]),
                         ("urd.error", "/problems/log-damaged"))
        self.assertLess(max(one.get("position", 0) for one in entries), self.hole)

    def test_1_a_feed_of_server_sent_events_ends_before_the_hole(self):
        place = urd.values["URD_URL"].split("//")[1].strip("/")
        connection = http.client.HTTPConnection(place, timeout=30)
        connection.request(
            "GET", f"/api/admin/realms/{realm}/feed?from=start&to=internal",
            headers={"Authorization": f"Bearer {urd.key}", "Accept": "text/event-stream"})
        frames = connection.getresponse().read().decode().strip().split("\n\n")
        connection.close()
        self.assertIn("event: urd.error", frames[-1])
        self.assertIn("/problems/log-damaged", frames[-1])
        self.assertTrue(any(f"id: 1:{self.hole - 1}" in frame for frame in frames))
        self.assertFalse(any(f"id: 1:{self.hole}\n" in frame for frame in frames))

    def test_1_a_list_ends_before_the_hole_and_then_says_that_the_log_is_damaged(self):
        for path in (f"/events?limit=200&after=1:{self.hole - 2}",
                     f"/events?limit=200&wait=1&after=1:{self.hole - 2}"):
            page = admin("GET", path)
            self.assertEqual([one["position"] for one in page["items"]], [self.hole - 1])
            self.assertEqual((page["next"], page["more"]), (f"1:{self.hole - 1}", True))
            self.assertEqual(page["position"], self.hole - 1)
            self.assertGreaterEqual(page["head"], self.head)
            status, problem, _ = urd.api.call(
                "GET", f"{urd.realm}/events?after={page['next']}")
            self.assertEqual((status, problem["type"]), (500, "/problems/log-damaged"))

    def test_1_events_tail_ends_before_the_hole_and_fails(self):
        for more in ([], ["--follow"]):
            done = urd.command("events", "tail", "--realm", realm, "--from", str(self.hole - 2),
                               "--json", *more)
            self.assertNotEqual(done.returncode, 0)
            positions = [json.loads(line)["position"] for line in done.stdout.splitlines()]
            self.assertEqual(positions, [self.hole - 2, self.hole - 1])
            self.assertIn(f"position {self.hole} is missing", done.stderr)

    def test_1_the_reference_subscriber_ends_before_the_hole_and_fails(self):
        done = urd.command(
            "feed", "--realm", realm, "--from", f"1:{self.hole - 2}", "--to", "internal",
            URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"Position {self.hole} is missing", done.stderr)
        self.assertNotIn(f"1:{self.hole + 1}", done.stdout)

    def test_1_verify_and_export_name_the_position(self):
        for words in (["verify"], ["log", "export", "--realm", realm]):
            done = urd.command(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(str(self.hole), done.stdout[-2000:] + done.stderr, words)

    def damaged(self, path):
        status, problem, _ = urd.api.call("GET", urd.realm + path)
        self.assertEqual((status, problem.get("type")), (500, "/problems/log-damaged"), path)

    def test_1_the_audit_trail_ends_before_the_hole_and_then_says_that_the_log_is_damaged(self):
        for more in ("", "&filter=" + urllib.parse.quote('type sw "account" or type sw "client"')):
            page = admin("GET", f"/audit-trail?limit=200&after=1:{self.hole - 2}{more}")
            self.assertLess(max([0] + [one["position"] for one in page["items"]]), self.hole)
            after = page["next"]
            self.assertTrue(page["more"], page)
            self.damaged(f"/audit-trail?limit=200&after={after}{more}")

    def test_1_lists_by_a_condition_say_that_the_log_is_damaged(self):
        self.damaged(f"/events/{self.hole}")
        self.damaged(f"/audit-trail?stream={self.gone}")
        self.damaged(f"/audit-trail?type=account.registered&after=1:{self.second - 1}")
        self.damaged(f"/events?account={self.gone}")
        self.damaged("/events?filter=" + urllib.parse.quote(f'account eq "{self.gone}"'))
        self.damaged(f"/events?after=1:{self.second - 1}&filter="
                     + urllib.parse.quote('type eq "account.registered"'))

    def test_1_an_account_whose_only_event_is_gone_is_damaged_and_not_missing(self):
        self.damaged(f"/as-of/{self.head}/accounts/{self.gone}")
        self.damaged(f"/as-of/{self.head}/accounts/{self.gone}/sessions")
        self.damaged(f"/as-of/{self.head}/accounts/{self.gone}/credentials")

    def test_1_a_realm_as_of_a_moment_behind_the_hole_fails_and_names_the_position(self):
        build = admin("POST", f"/as-of/{self.head}")

        def done():
            found = admin("GET", f"/as-of-builds/{build['id']}")
            return found if found["state"] not in ("waiting", "running") else None
        found = eventually(done, "the build ends", 60)
        self.assertEqual((found["state"], found.get("fault"), found.get("missing")),
                         ("failed", "log_damaged", self.hole))
        before = admin("POST", f"/as-of/{self.hole - 1}")
        found = eventually(
            lambda: admin("GET", f"/as-of-builds/{before['id']}")["state"] == "ready",
            "one before the hole is made", 60)

    def test_2_signals_of_events_before_the_hole_come_and_none_behind_it(self):
        for stream in (self.pushed, self.polled):
            self.ours.status(stream, "enabled")
        eventually(lambda: metric('urd_subscription_halted_total{kind="ssf"}') > 0, "it halts")
        sets = self.ours.poll(self.polled)["sets"]
        polled = [parts.check(one, self.polled)["events"] for one in sets.values()]
        self.assertEqual(len([one for one in polled if DISABLED in one]), 1)
        status, problem, _ = self.ours.call(
            "POST", self.polled["delivery"]["endpoint_url"],
            {"returnImmediately": True, "ack": list(sets)})
        self.assertEqual(status, 500, problem)
        pushed = [parts.check(one[1], self.pushed)["events"]
                  for one in parts.receiver.at(self.path)[self.told:]]
        self.assertEqual(len([one for one in pushed if DISABLED in one]), 1)

    def test_3_all_go_on_once_the_log_is_whole(self):
        self.mend()
        with Feed(urd.values["URD_URL"], urd.key, realm, f"from=1:{self.hole - 1}&to=internal") as feed:
            self.assertEqual(feed.events(1)[0]["position"], self.hole)
        found = [one for one in self.ours.signals(self.polled) if DISABLED in one["events"]]
        self.assertEqual(len(found), 1, "the one behind the hole")

        def came():
            return [one for one in parts.receiver.at(self.path)
                    if DISABLED in parts.check(one[1], self.pushed)["events"]]
        eventually(lambda: len(came()) >= 2, "both were pushed", 90)


def load_tests(loader, standard, pattern):
    return rerun(__file__) if parts.MISSING else standard


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
