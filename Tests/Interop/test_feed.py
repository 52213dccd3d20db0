"""The feed of a realm, over sockets: for curl, a browser and libraries of others, and for subscribers that
are killed, that are slow, and whose server or database is killed."""

import base64
import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import uuid

import pinned
import verify_feed
import verify_log
from feed_client import Feed
from urd_process import PATIENCE, Server, Urd, eventually, together

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(__file__).resolve().parent

pinned.use()


def setUpModule():
    global urd, realm
    urd = Urd(lawful=True)
    realm = urd.values["URD_REALM"]


def tearDownModule():
    urd.close()


def admin(method, path, body=None, api=None):
    status, answer, _ = (api or urd.api).call(method, path, body)
    assert status < 300, (path, status, answer)
    return answer


def register():
    """One event: the id of its client."""
    name = f"feed-{uuid.uuid4().hex[:12]}"
    admin("POST", urd.clients, {"client_id": name, "token_endpoint_auth_method": "none",
                                "grant_types": ["urn:cocoar:otp"]})
    return name


def follow(query="", cursor=None, url=None, key=None, **more):
    return Feed(url or urd.values["URD_URL"], key or urd.key, realm, query, cursor, **more)


def log():
    """The whole log as the paged list has it: position, command and type of each event."""
    found, after = [], ""
    while True:
        page = admin("GET", f"{urd.realm}/events?limit=200{after}")
        found += [(item["position"], item["command"], item["type"]) for item in page["items"]]
        if not page["more"]:
            return found
        after = "&after=" + page["next"]


def listed(entries):
    return [(entry["position"], entry["command"], entry["type"]) for entry in entries]


def exported():
    """The log as `urd log export` hands it out: position, id, leaf and type of each event, all of it made
    here from the records alone."""
    found = []
    for line in urd.log():
        leaf = verify_feed.leaf_of(line)
        found.append((len(found) + 1, "evt_" + unpadded(leaf[:16]), unpadded(leaf),
                      json.loads(line)["type"]))
    return found


def unpadded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Writer:
    """Keeps registering clients until it is left."""

    def __init__(self, pause=0.01):
        self.pause, self.over = pause, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over.wait(self.pause):
            try:
                register()
            except (AssertionError, OSError, http.client.HTTPException):
                pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Reading(unittest.TestCase):
    def test_curl_shows_events_as_they_happen(self):
        process = subprocess.Popen(
            ["curl", "-sN", "-H", f"Authorization: Bearer {urd.key}",
             f"{urd.values['URD_URL']}{urd.realm}/feed"],
            stdout=subprocess.PIPE, text=True)
        try:
            lines = iter(process.stdout.readline, "")
            self.assertEqual(next(lines), ": connected\n")
            while not next(lines).startswith("data: "):
                pass
            name = register()
            began = time.monotonic()
            frame = {}
            for line in lines:
                key, _, value = line.rstrip("\n").partition(": ")
                frame[key] = value
                if key == "data":
                    break
            self.assertLess(time.monotonic() - began, 2)
            self.assertEqual(frame["event"], "client.registered")
            event = json.loads(frame["data"])
            self.assertEqual(event["data"]["client_id"], name)
            self.assertEqual(frame["id"], f"{event['epoch']}:{event['position']}")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_both_forms_have_the_whole_log(self):
        whole = log()
        with follow("from=start&to=internal") as feed:
            self.assertEqual(feed.headers["content-type"], "application/x-ndjson")
            self.assertEqual(feed.headers["cache-control"], "no-store")
            self.assertEqual(feed.headers["x-accel-buffering"], "no")
            self.assertEqual(listed(feed.events(len(whole))), whole)
        with follow("from=start&to=internal", accept="text/event-stream") as feed:
            found = []
            for line in feed.lines():
                if line.startswith(b"data: ") and b'"command"' in line:
                    found.append(json.loads(line[6:]))
                if len(found) == len(whole):
                    break
            self.assertEqual(listed(found), whole)

    def test_shards_part_the_log(self):
        whole = log()
        found = []

        def read(part):
            with follow(f"from=start&to=internal&shard={part}/4") as feed:
                for entry in feed.entries():
                    if not entry["type"].startswith("urd."):
                        found.append(entry)
                    if int(entry["cursor"].split(":")[1]) >= whole[-1][0]:
                        return True

        # Together, because each learns only after five seconds that the rest is not its own.
        began = time.monotonic()
        self.assertEqual(together(4, read), [True] * 4)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(sorted(listed(found)), whole)
        for entry in found:
            part = 14695981039346656037
            for byte in entry["stream"].encode():
                part = (part ^ byte) * 1099511628211 % 2**64
            self.assertIn(part % 4, range(4))

    def test_libraries_for_server_sent_events_read_it(self):
        try:
            import requests
            import sseclient
        except ImportError as error:
            self.skipTest(f"{error}: deploy/install-packages.sh test")
        answer = requests.get(
            f"{urd.values['URD_URL']}{urd.realm}/feed?from=start&to=internal", stream=True,
            headers={"Authorization": f"Bearer {urd.key}", "Accept": "text/event-stream"},
            timeout=PATIENCE)
        whole, found = log(), []
        for event in sseclient.SSEClient(answer).events():
            if event.event != "urd.progress":
                found.append(json.loads(event.data))
                self.assertEqual(event.id, f"{found[-1]['epoch']}:{found[-1]['position']}")
                self.assertEqual(event.event, found[-1]["type"])
            if len(found) == len(whole):
                break
        answer.close()
        self.assertEqual(listed(found), whole)

    def test_httpx_reads_it(self):
        try:
            import httpx
            from httpx_sse import connect_sse
        except ImportError as error:
            self.skipTest(f"{error}: deploy/install-packages.sh test")
        whole, found = log(), []
        with httpx.Client(timeout=PATIENCE) as client, connect_sse(
                client, "GET", f"{urd.values['URD_URL']}{urd.realm}/feed?from=start&to=internal",
                headers={"Authorization": f"Bearer {urd.key}"}) as source:
            for event in source.iter_sse():
                if event.event != "urd.progress":
                    found.append(event.json())
                if len(found) == len(whole):
                    break
        self.assertEqual(listed(found), whole)

    def test_the_example_follows_and_goes_on_where_it_stopped(self):
        with tempfile.TemporaryDirectory() as folder:
            cursor = os.path.join(folder, "cursor")
            seen = []
            for _ in range(2):
                process = subprocess.Popen(
                    [sys.executable, str(ROOT / "docs/subscribe/examples/follow.py")],
                    env={**os.environ, "CURSOR_FILE": cursor, "URD_URL": urd.values["URD_URL"],
                         "URD_REALM": realm, "URD_ADMIN_KEY": urd.key},
                    stdout=subprocess.PIPE, text=True, cwd=folder)
                try:
                    register()
                    last = [event[0] for event in log() if event[2] == "client.registered"][-1]
                    for line in iter(process.stdout.readline, ""):
                        seen.append(int(line.split()[0]))
                        if seen[-1] >= last:
                            break
                finally:
                    process.kill()
                    process.wait()
                    process.stdout.close()
            self.assertLessEqual(len(seen) - len(set(seen)), 1)
            self.assertEqual(seen[-1], last)


class Proof(unittest.TestCase):
    """A feed that shows its leaves is checked against the signed checkpoints while it is read."""

    @classmethod
    def setUpClass(cls):
        name = register()
        cls.key = verify_log.Key(urd.command("log", "key", "--realm", realm).stdout.strip())
        cls.lines, head = [], log()[-1][0]
        with follow("from=start&leaves=all&include=record&type=client.*") as feed:
            for line in feed.lines():
                cls.lines.append(line.decode())
                if '"urd.checkpoint"' in cls.lines[-1]:
                    size = int(json.loads(line)["data"]["checkpoint"].split("\n")[1])
                    if size >= head:
                        break
        assert any(name in line for line in cls.lines)

    def verify(self, change=lambda entry: entry):
        told = []
        lines = []
        for line in self.lines:
            if line:
                entry = change(json.loads(line))
                lines += [] if entry is None else [json.dumps(entry)]
        verify_feed.verify(lines, self.key, told.append)
        return told

    def test_what_was_sent_is_what_was_signed(self):
        self.assertTrue(self.verify())
        kinds = {json.loads(line)["type"] for line in self.lines if line}
        self.assertIn("urd.leaves", kinds)
        self.assertIn("client.registered", kinds)

    def test_what_is_withheld_or_changed_is_found(self):
        def without(kind):
            return lambda entry: None if entry["type"] == kind else entry

        def other_record(entry):
            if "record" in entry:
                entry["record"] = entry["record"].replace('"version":1', '"version":2')
            return entry

        def other_leaf(entry):
            if entry["type"] == "urd.leaves":
                entry["data"]["leaves"][0] = "A" * 43
            return entry

        for change in (without("client.registered"), without("urd.leaves"), other_record,
                       other_leaf):
            with self.assertRaises((AssertionError, verify_log.Bad)):
                self.verify(change)


class Ending(unittest.TestCase):
    def test_a_revoked_key_ends_its_feed_within_five_seconds(self):
        made = admin("POST", "/api/admin/keys", {"name": "feed", "realms": [realm]})
        with follow(key=made["key"]) as feed:
            self.assertEqual(next(feed.entries())["type"], "urd.progress")
            admin("POST", f"/api/admin/keys/{made['id']}/revoke")
            began = time.monotonic()
            last = list(feed.entries())[-1]
            self.assertLess(time.monotonic() - began, 5)
            self.assertEqual(last["type"], "urd.error")
            self.assertEqual(last["data"]["type"], "/problems/unauthenticated")
            self.assertEqual(feed.end, "whole")

    def test_a_server_that_stops_ends_each_feed_with_its_last_chunk(self):
        with contextlib.closing(Server(urd.values).ready()) as server:
            feeds = [follow(url=server.url) for _ in range(5)]
            for feed in feeds:
                next(feed.entries())
            server.process.send_signal(signal.SIGTERM)
            for feed in feeds:
                self.assertEqual(list(feed.entries()), [])
                self.assertEqual(feed.end, "whole")
                self.assertEqual(feed.rest, b"")
                feed.close()
            self.assertEqual(server.process.wait(timeout=PATIENCE), 0)

    def test_a_key_has_eight_feeds_and_gets_a_place_back(self):
        feeds = [follow() for _ in range(8)]
        self.assertEqual([feed.status for feed in feeds], [200] * 8)
        with follow() as refused:
            self.assertEqual(refused.status, 429)
            self.assertEqual(refused.headers["retry-after"], "60")
        feeds.pop().close()

        def has_room():
            with follow() as feed:
                return feed.status == 200

        eventually(has_room, "a place is free again")
        for feed in feeds:
            feed.close()
        eventually(lambda: "urd_feed_connections 0\n" in urd.private("/metrics")[1], "all are gone")

    def test_a_slow_reader_loses_nothing_and_holds_up_nobody(self):
        with follow("from=now&to=internal", window=4096) as slow, Writer(0):
            time.sleep(8)
            with follow("from=start&to=internal&type=client.registered") as quick:
                quick.events(1)
            head = log()[-1][0]
            first = next(slow.entries())["data"]["position"]
            positions = [first]
            while positions[-1] < head:
                positions += [event["position"] for event in slow.events(1)]
            self.assertEqual(positions, list(range(first, positions[-1] + 1)))


class Hostile(unittest.TestCase):
    """What a feed is asked that nobody should ask."""

    def ask(self, *headers, query="", end="\r\n\r\n"):
        head = "\r\n".join([
            f"GET {urd.realm}/feed{query} HTTP/1.1", "Host: urd.example",
            f"Authorization: Bearer {urd.key}", "Accept: application/x-ndjson", *headers]) + end
        place = urllib.parse.urlsplit(urd.values["URD_URL"])
        connection = socket.create_connection((place.hostname, place.port), timeout=PATIENCE)
        connection.sendall(head.encode("latin-1"))
        return connection

    def status(self, *headers, **more):
        with self.ask(*headers, **more) as connection:
            data = b""
            while b"\r\n" not in data:
                piece = connection.recv(4096)
                if not piece:
                    return 0
                data += piece
        return int(data.split()[1])

    def test_a_place_that_is_none_is_refused_before_the_first_byte(self):
        for text in ("", "x", "1:", ":1", "1:01", "01:1", "-1:1", "1:-1", "1:1:1", "1 :1",
                     "999999999999:1", "1:99999999999999999999", "\xff", "1:\x001", "%31:1", "1:1,1:2",
                     "x" * 20_000):
            with self.subTest(text=text[:30]):
                self.assertIn(self.status(f"Last-Event-ID: {text}"), (0, 400, 431))
        self.assertEqual(self.status("Last-Event-ID: 1:1", "Last-Event-ID: 1:2"), 400)
        self.assertEqual(self.status("Last-Event-ID: 1:1"), 200)

    def test_a_second_request_is_not_smuggled_into_a_feed(self):
        inner = f"GET {urd.realm}/clients HTTP/1.1\r\nHost: x\r\n\r\n"
        for headers in (
                (f"Content-Length: {len(inner)}", "Transfer-Encoding: chunked"),
                ("Content-Length: 5", "Content-Length: 6"), ("Transfer-Encoding: xchunked",),
                ("Content-Length: +5",), ("Accept : text/html",), ("X: a\nLast-Event-ID: 1:1",)):
            with self.subTest(headers=headers):
                self.assertIn(self.status(*headers, end="\r\n\r\n" + inner), (0, 400, 413, 501))
        # What is sent behind a good request waits for the feed's end, and is answered by none before it.
        with self.ask(end="\r\n\r\n" + inner) as connection:
            connection.settimeout(1)
            data = b""
            try:
                while piece := connection.recv(65536):
                    data += piece
            except TimeoutError:
                pass
            self.assertEqual(data.count(b"HTTP/1.1 "), 1)
        for name in ("urd.progress\r\nX-Injected", "client.*%0d%0aX: y", "client.%0a"):
            self.assertIn(self.status(query=f"?type={name}"), (0, 400))

    def test_sockets_that_half_close_or_vanish_give_their_places_back(self):
        made = [admin("POST", "/api/admin/keys", {"name": f"h{n}", "realms": [realm]})["key"]
                for n in range(5)]
        feeds = [follow(key=key) for key in made for _ in range(8)]
        self.assertEqual({feed.status for feed in feeds}, {200})
        for number, feed in enumerate(feeds):
            if number % 3 == 0:
                feed.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            elif number % 3 == 1:
                feed.socket.shutdown(socket.SHUT_RDWR)
            feed.close()

        def none_left():
            text = urd.private("/metrics")[1]
            return "urd_feed_connections 0\n" in text
        eventually(none_left, "all places are free", 20)

    def test_slow_readers_do_not_slow_a_quick_one(self):
        keys = [admin("POST", "/api/admin/keys", {"name": f"s{n}", "realms": [realm]})["key"]
                for n in range(6)]
        slow = [follow("from=start&to=internal", key=key, window=2048)
                for key in keys for _ in range(8)]
        try:
            with follow("type=client.registered") as quick:
                next(quick.entries())
                delays = []
                for _ in range(20):
                    name = register()
                    began = time.monotonic()
                    self.assertEqual(quick.events(1)[0]["data"]["client_id"], name)
                    delays.append(time.monotonic() - began)
                self.assertLess(sorted(delays)[10], 0.5, delays)
                self.assertLess(max(delays), 5)
        finally:
            for feed in slow:
                feed.close()

    def test_ten_thousand_that_come_again_at_once_are_answered_within_ten_seconds(self):
        count = int(os.environ.get("URD_LONG_TESTS") and 10_000 or 2_000)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, count + 1000), most))
        keys = [admin("POST", "/api/admin/keys", {"name": f"r{n}", "realms": [realm]})["key"]
                for n in range(256)]
        place = urllib.parse.urlsplit(urd.values["URD_URL"])
        began = time.monotonic()
        selector = selectors.DefaultSelector()
        statuses = collections.Counter()
        waiting = []
        for number in range(count):
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex((place.hostname, place.port))
            request = "\r\n".join([
                f"GET {urd.realm}/feed?from=start HTTP/1.1", "Host: urd.example",
                f"Authorization: Bearer {keys[number % 256]}", "", ""]).encode()
            selector.register(connection, selectors.EVENT_WRITE, request)
            waiting.append(connection)
        signed_in = []
        while sum(statuses.values()) < count and time.monotonic() - began < 30:
            for key, mask in selector.select(0.1):
                try:
                    if mask & selectors.EVENT_WRITE:
                        key.fileobj.send(key.data)
                        selector.modify(key.fileobj, selectors.EVENT_READ)
                        continue
                    data = key.fileobj.recv(4096)
                except OSError:
                    data = b""
                statuses[data[9:12].decode() or "closed"] += 1
                selector.unregister(key.fileobj)
            started = time.monotonic()
            if not signed_in or started - began > len(signed_in):
                urd.api.call("GET", urd.realm)
                signed_in.append(time.monotonic() - started)
        took = time.monotonic() - began
        for connection in waiting:
            connection.close()
        self.assertEqual(sum(statuses.values()), count, statuses)
        self.assertGreaterEqual(statuses["200"], 1000, statuses)
        # How long that takes is asked where nothing else runs beside it.
        if os.environ.get("URD_LONG_TESTS"):
            self.assertLess(took, 10, statuses)
            self.assertLess(max(signed_in), 5)


class Killed(unittest.TestCase):
    """What a subscriber has in the end is the log: nothing is missing, and nothing is out of order."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="urd-feed-", dir="/tmp")
        self.process = None

    def tearDown(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        subprocess.run(["rm", "-rf", self.folder], check=True)

    def start(self, url):
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(FOLDER / "feed_subscriber.py"), url, urd.key, realm,
             self.folder])

    def stop(self):
        self.assertIsNone(self.process.poll(), "the subscriber ended by itself")
        self.process.kill()
        self.process.wait()

    def events(self):
        path = pathlib.Path(self.folder, "events")
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [line.split(" ") for line in lines]

    def assert_has_the_log(self):
        whole = exported()
        eventually(lambda: str(whole[-1][0]) in {event[0] for event in self.events()[-50:]},
                   "the subscriber has the end of the log")
        self.stop()
        seen, order = {}, []
        for event in self.events():
            position = int(event[0])
            entry = (position, *event[1:])
            if position in seen:
                self.assertEqual(seen[position], entry, "an event came again as another one")
            else:
                order.append(position)
            seen[position] = entry
        self.assertEqual([seen[position] for position in sorted(seen)], whole)
        self.assertEqual(order, sorted(order))
        return len(self.events()) - len(whole)

    def test_a_subscriber_that_is_killed_a_hundred_times_has_the_whole_log(self):
        with Writer():
            for _ in range(100):
                self.start(urd.values["URD_URL"])
                time.sleep(random.uniform(0.05, 0.25))
                self.stop()
        self.start(urd.values["URD_URL"])
        self.assert_has_the_log()

    def test_a_subscriber_whose_server_is_killed_has_the_whole_log(self):
        port, server = None, None
        with Writer():
            for _ in range(5):
                server = Server(urd.values, **({"URD_LISTEN_PORT": str(port)} if port else {}))
                port = port or server.port
                server.port, server.url = port, f"http://127.0.0.1:{port}"
                server.ready()
                if self.process is None:
                    self.start(server.url)
                time.sleep(random.uniform(0.5, 1))
                server.process.kill()
                server.process.wait()
                server.close()
            server = Server(urd.values, URD_LISTEN_PORT=str(port))
        try:
            self.assert_has_the_log()
        finally:
            server.close()

    def test_a_subscriber_whose_database_is_killed_has_the_whole_log(self):
        self.start(urd.values["URD_URL"])
        with Writer():
            for _ in range(3):
                time.sleep(random.uniform(0.5, 1))
                before = urd.run.postmaster()
                os.kill(before, signal.SIGKILL)
                eventually(lambda: self.serves(before), "the database is back")
        self.assert_has_the_log()

    def serves(self, before):
        try:
            return urd.run.postmaster() != before and urd.ready()[0] == 200
        except (OSError, ValueError, http.client.HTTPException, IndexError):
            return False


class Command(unittest.TestCase):
    """`urd feed`: the reference subscriber."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="urd-feed-", dir="/tmp")

    def tearDown(self):
        subprocess.run(["rm", "-rf", self.folder], check=True)

    def feed(self, *words, **more):
        return urd.command("feed", *words, **{
            "URD_URL": urd.values["URD_URL"], "URD_REALM": realm, "URD_ADMIN_KEY": urd.key, **more})

    def test_it_needs_no_database_and_writes_a_line_for_each_event(self):
        for _ in range(3):
            register()
        whole = log()
        result = self.feed("--from", "start", "--type", "client.*", "--limit", "3",
                           URD_DATABASE_URL="", URD_MASTER_KEY_FILE="")
        self.assertEqual(result.returncode, 0, result.stderr)
        events = [json.loads(line) for line in result.stdout.splitlines()]
        wanted = [event for event in whole if event[2].startswith("client.")][:3]
        self.assertEqual(listed(events), wanted)

    def test_it_runs_a_program_for_each_event_and_goes_on_behind_the_last_that_was_done(self):
        cursor, out = os.path.join(self.folder, "cursor"), os.path.join(self.folder, "out")
        while len(log()) < 12:
            register()
        for _ in range(4):
            result = self.feed("--from", "start", "--to", "internal", "--cursor-file", cursor,
                               "--limit", "3", "--exec", f"cat >>{out}; echo $URD_CURSOR >>{out}.at")
            self.assertEqual(result.returncode, 0, result.stderr)
        events = [json.loads(line) for line in pathlib.Path(out).read_text().splitlines()]
        self.assertEqual(listed(events), log()[:12])
        self.assertEqual(pathlib.Path(out + ".at").read_text().split(),
                         [event["cursor"] for event in events])
        self.assertEqual(pathlib.Path(cursor).read_text(), events[-1]["cursor"] + "\n")

    def test_a_program_that_fails_gets_the_same_event_again(self):
        out = os.path.join(self.folder, "out")
        result = self.feed("--from", "start", "--limit", "2", "--exec",
                           f"cat >>{out}; test $(wc -l <{out}) -ne 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("exit code 1; again in 1 s", result.stderr)
        positions = [json.loads(line)["position"] for line in pathlib.Path(out).read_text().splitlines()]
        self.assertEqual(len(positions), 3)
        self.assertEqual(positions[0], positions[1])

    def test_it_says_what_is_wrong(self):
        for words, said in [
            (["--type", "client.registred"], "did you mean client.registered?"),
            (["--from", "1:99999999"], "beyond the head of the log"),
            (["--from", "77:5"], "the log went back to position 0"),
            (["--from", "77:5"], "go on with --from 0:0"),
        ]:
            result = self.feed(*words)
            self.assertEqual(result.returncode, 1)
            self.assertIn(said, result.stderr)
        result = self.feed(URD_ADMIN_KEY="urd_no_key")
        self.assertEqual(result.returncode, 1)
        place = os.path.join(self.folder, "cursor")
        pathlib.Path(place).write_text("yesterday\n")
        result = self.feed("--cursor-file", place)
        self.assertIn("holds no cursor", result.stderr)


if __name__ == "__main__":
    unittest.main()
