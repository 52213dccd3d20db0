"""A replay of the log at a speed, over sockets and by `urd replay`, on the demo history: a month of sign-ins of 2,000 people that
`urd dev --demo-history` makes."""

import collections
import datetime
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import time
import unittest

from feed_client import Feed
from urd_process import BINARY, PATIENCE, Urd, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]


def setUpModule():
    global urd
    urd = Urd("--demo-history")


def tearDownModule():
    urd.close()


def replay(query="", cursor=None, accept="application/x-ndjson", realm="history", key=None):
    return Feed(
        urd.values["URD_URL"], key or urd.key, realm, query, cursor, accept,
        path=f"/api/admin/realms/{realm}/replay")


def at(event):
    return datetime.datetime.fromisoformat(event["at"].replace("Z", "+00:00"))


def first_day():
    """The first day of the history, from its first sign-in."""
    with replay("speed=0&type=session.opened") as feed:
        return at(feed.events(1)[0])


def rules():
    """By which something was found."""
    found = set()
    for rule in ("brute_force", "credential_stuffing", "password_spraying", "token_reuse",
                 "sign_in_after_attack"):
        status, answer, _ = urd.api.call(
            "GET", f"/api/admin/realms/history/findings?limit=1&rule={rule}")
        assert status == 200, answer
        found |= {each["rule"] for each in answer["items"]}
    return found


def newest_sign_in():
    status, answer, _ = urd.api.call("GET", "/api/admin/realms/history/login-history?limit=1")
    assert status == 200, answer
    return answer["items"][0]["at"] if answer["items"] else ""


def follow():
    """Waits until the lists hold the whole month."""
    yesterday = (first_day() + datetime.timedelta(days=29)).date().isoformat()
    eventually(lambda: newest_sign_in() >= yesterday, "the lists have followed the log")


def urd_line(*words, **options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("URD_")}
    return subprocess.run(
        [BINARY, *words], env={**environment, **urd.values, "URD_REALM": "history"},
        capture_output=True, text=True, timeout=120, **options)


class DemoHistory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with replay("speed=0&to=internal") as feed:
            cls.events = feed.events()
            assert feed.end == "whole"

    def test_a_month_of_people_is_in_the_log_in_order(self):
        types = collections.Counter(event["type"] for event in self.events)
        self.assertEqual(types["account.registered"], 2_000)
        self.assertGreater(types["session.opened"], 15_000)
        self.assertGreater(types["session.refreshed"], 5_000)
        self.assertEqual([event["position"] for event in self.events],
                         list(range(1, len(self.events) + 1)))
        times = [at(event) for event in self.events]
        # As close as the clocks of nodes have to be.
        latest = times[0]
        for moment in times:
            latest = max(latest, moment)
            self.assertLess(latest - moment, datetime.timedelta(seconds=60))
        span = times[-1] - times[0]
        self.assertGreater(span, datetime.timedelta(days=28))
        self.assertLess(times[-1], datetime.datetime.now(datetime.timezone.utc))

    def test_there_are_attacks_in_it(self):
        refused = [event for event in self.events if event["type"] == "browser.refused"]
        by_source = collections.defaultdict(collections.Counter)
        by_account = collections.defaultdict(set)
        for event in refused:
            by_source[event["data"]["source"]][event["data"]["account"]] += 1
            by_account[event["data"]["account"]].add(event["data"]["source"])
        self.assertTrue(any(len(accounts) >= 150 for accounts in by_source.values()), "stuffing")
        self.assertTrue(any(
            len(accounts) == 12 and set(accounts.values()) == {4}
            for accounts in by_source.values()), "spraying")
        self.assertTrue(any(len(sources) >= 8 for sources in by_account.values()), "brute force")
        self.assertIn("reuse", [event["data"].get("reason") for event in self.events
                                if event["type"] == "session.ended"])

    def test_rules_find_the_attacks(self):
        expected = {"brute_force", "credential_stuffing", "password_spraying", "token_reuse",
                    "sign_in_after_attack"}
        eventually(lambda: expected <= rules(), "the attacks are found")

    def test_its_people_are_accounts_like_others(self):
        follow()
        status, found, _ = urd.api.call(
            "GET", "/api/admin/realms/history/accounts", Email="person-17@history.example")
        self.assertEqual((status, len(found["items"])), (200, 1), found)
        account = found["items"][0]["id"]
        status, history, _ = urd.api.call(
            "GET", f"/api/admin/realms/history/accounts/{account}/login-history?limit=100")
        self.assertEqual(status, 200, history)
        self.assertGreaterEqual(
            sum(each["outcome"] == "refused" for each in history["items"]), 20, history)


class Speed(unittest.TestCase):
    def test_what_lay_between_events_passes_as_many_times_as_fast(self):
        day = first_day().date().isoformat()
        query = f"from_time={day}T07:00:00Z&type=session.opened&max_gap=3600&speed="
        with replay(query + "0") as feed:
            events = feed.events(40)
        span = (at(events[-1]) - at(events[0])).total_seconds()
        speed = max(1, int(span / 4))
        with replay(query + str(speed)) as feed:
            begun, seen = None, []
            for event in feed.entries():
                if event["type"].startswith("urd."):
                    continue
                begun = begun or time.monotonic()
                seen.append(event)
                if len(seen) == 40:
                    break
            took = time.monotonic() - begun
        self.assertEqual([each["id"] for each in seen], [each["id"] for each in events])
        self.assertGreater(took, 0.8 * span / speed)

    def test_a_gap_is_no_longer_than_it_may_be(self):
        day = first_day().date().isoformat()
        query = f"from_time={day}&type=session.opened&speed=1&max_gap="
        begun = time.monotonic()
        with replay(query + "0") as feed:
            self.assertEqual(len(feed.events(500)), 500)
        # They lay hours apart.
        self.assertLess(time.monotonic() - begun, 30)

    def test_the_clock_is_told_once_a_second_and_runs(self):
        day = first_day().date().isoformat()
        with replay(f"from_time={day}T08:00:00Z&type=browser.opened&speed=30&max_gap=60") as feed:
            clocks, begun = [], time.monotonic()
            for entry in feed.entries():
                if entry["type"] == "urd.clock":
                    clocks.append(entry["data"])
                if len(clocks) == 4:
                    break
            took = time.monotonic() - begun
        times = [clock["time"] for clock in clocks]
        self.assertEqual(times, sorted(times))
        self.assertEqual({clock["speed"] for clock in clocks}, {30})
        self.assertGreater(took, 2.5)
        gone = (datetime.datetime.fromisoformat(times[-1].replace("Z", "+00:00"))
                - datetime.datetime.fromisoformat(times[0].replace("Z", "+00:00")))
        self.assertLess(abs(gone.total_seconds() - 90), 45, times)


class Resuming(unittest.TestCase):
    def test_who_hangs_up_goes_on_behind_the_last_frame_without_loss_or_doubles(self):
        query = "speed=0&type=session.opened&type=session.refused"
        with replay(query) as feed:
            whole = [event["id"] for event in feed.events()]
        seen, cursor = [], None
        for count in (1, 10, 700, 3_000):
            with replay(query, cursor) as feed:
                part = feed.events(count)
            seen += [event["id"] for event in part]
            cursor = part[-1]["cursor"]
        with replay(query, cursor) as feed:
            seen += [event["id"] for event in feed.events()]
        self.assertEqual(seen, whole)

    def test_it_ends_at_the_head_or_where_it_is_to_end(self):
        with replay("speed=0&from=start&type=account.registered") as feed:
            entries = list(feed.entries())
            self.assertEqual(feed.end, "whole")
        self.assertEqual(entries[-1]["type"], "urd.replayed")
        self.assertEqual(entries[-1]["data"]["events"], 2_000)
        events = [entry for entry in entries if not entry["type"].startswith("urd.")]
        with replay(f"speed=0&type=account.registered&until={events[99]['cursor']}") as feed:
            part = list(feed.entries())
        self.assertEqual(part[-1]["data"]["events"], 100)
        day = first_day().date().isoformat()
        with replay(f"speed=0&type=session.opened&until_time={day}T12:00:00Z") as feed:
            until = feed.events()
        self.assertTrue(until)
        self.assertTrue(all(event["at"] < f"{day}T12:00:01" for event in until))

    def test_server_sent_events_carry_the_cursor_of_each_frame(self):
        with replay("speed=0&type=session.opened", accept="text/event-stream") as feed:
            self.assertEqual(feed.headers["content-type"], "text/event-stream")
            lines = feed.lines()
            found = [line for line, _ in zip(lines, range(40)) if line.startswith(b"id: ")]
        self.assertGreater(len(found), 5)


class Refusals(unittest.TestCase):
    def test_what_cannot_be_is_refused_before_the_first_frame(self):
        for query, status in [
                ("speed=-1", 400), ("speed=fast", 400), ("max_gap=4000", 400), ("until=x", 400),
                ("from=1:100&until=1:50", 400), ("from=1:99999999", 400), ("type=no.such", 400),
                ("from_time=2026-11-20&until_time=2026-11-01", 400)]:
            with replay(query) as feed:
                self.assertEqual(feed.status, status, (query, feed.body))
        with replay(realm="nowhere") as feed:
            self.assertEqual(feed.status, 404, feed.body)
        with replay(accept="image/png") as feed:
            self.assertEqual(feed.status, 406, feed.body)
        with replay(key="urdk_wrong") as feed:
            self.assertEqual(feed.status, 401, feed.body)

    def test_a_key_that_may_read_no_events_replays_none(self):
        made = urd.api.call("POST", "/api/admin/keys", {
            "name": "audits", "realms": ["history"], "permissions": ["audit.read"]})
        self.assertEqual(made[0], 201, made[1])
        with replay(key=made[1]["key"]) as feed:
            self.assertEqual(feed.status, 403, feed.body)

    def test_no_personal_data_is_in_it(self):
        with replay("speed=0&type=account.registered") as feed:
            for event in feed.events(50):
                self.assertNotIn("history.example", json.dumps(event))


class CommandLine(unittest.TestCase):
    def test_sign_ins_are_shown_in_columns(self):
        day = first_day().date().isoformat()
        done = urd_line("replay", "--from-time", day, "--until-time", f"{day}T23:59:59Z",
                        "--speed", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        head, *rows = done.stdout.splitlines()
        self.assertEqual(head.split(), [
            "TIME", "WHAT", "ACCOUNT", "CLIENT", "METHOD", "DEVICE", "DETAIL"])
        self.assertGreater(len(rows), 100)
        for row in rows:
            self.assertLessEqual(len(row), 100)
            self.assertRegex(row, rf"^{day} \d\d:\d\d:\d\d  (session|browser)\.")
        self.assertIn(f"{len(rows)} events replayed.", done.stderr)

    def test_json_is_what_came(self):
        done = urd_line("replay", "--speed", "0", "--type", "session.ended", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({event["type"] for event in events}, {"session.ended"})
        with replay("speed=0&type=session.ended") as feed:
            self.assertEqual(events, feed.events())

    def test_who_stops_it_is_told_where_to_go_on(self):
        environment = {**os.environ, **urd.values, "URD_REALM": "history"}
        process = subprocess.Popen(
            [BINARY, "replay", "--speed", "3600", "--json"], env=environment,
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        shown = [json.loads(process.stdout.readline()) for _ in range(5)]
        process.send_signal(signal.SIGINT)
        rest, told = process.communicate(timeout=PATIENCE)
        shown += map(json.loads, rest.splitlines())
        self.assertEqual(process.returncode, 130, told)
        cursor = re.search(r"--from (\d+:\d+)", told)[1]
        # What was being written as it was stopped may come again; nothing is left out.
        self.assertGreaterEqual(int(cursor.split(":")[1]), shown[-2]["position"])

    def test_each_step_waits_for_the_enter_key(self):
        terminal, end = pty.openpty()
        environment = {**os.environ, **urd.values, "URD_REALM": "history"}
        process = subprocess.Popen(
            [BINARY, "replay", "--step"], env=environment, stdin=end, stderr=end,
            stdout=subprocess.PIPE, text=True)
        try:
            os.close(end)
            self.assertIn("TIME", process.stdout.readline())
            for _ in range(3):
                self.assertRegex(process.stdout.readline(), r"^\d{4}-\d\d-\d\d ")
                time.sleep(0.3)
                os.write(terminal, b"\n")
            # Who stops it needs no Enter key for that.
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=PATIENCE), 130)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            os.close(terminal)
        refused = urd_line("replay", "--step", stdin=subprocess.DEVNULL)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("terminal", refused.stderr)


class FirstHour(unittest.TestCase):
    """The commands of docs/analysts/first-hour.md, run as they stand."""

    def test_every_command_of_the_first_hour_works(self):
        follow()
        eventually(lambda: {"credential_stuffing", "brute_force"} <= rules(), "rules have found")
        page = (ROOT / "docs" / "analysts" / "first-hour.md").read_text()
        blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
        self.assertGreater(len(blocks), 6)
        with tempfile.TemporaryDirectory(prefix="urd-page-", dir="/tmp") as desk:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk, ".dev"))
            for name in (".build", "Tests"):
                os.symlink(ROOT / name, os.path.join(desk, name))
            done = subprocess.run(
                ["bash", "-ec", "\n".join(blocks)], cwd=desk, text=True, timeout=300,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
            for name in ("incident.jsonl", "incident.html", "siem.ndjson", "sessions.csv"):
                self.assertGreater(os.path.getsize(os.path.join(desk, name)), 1_000, name)
        for word in ("credential_stuffing", "brute_force", "invalid_passphrase",
                     "browser.refused", "case_file.issued"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
