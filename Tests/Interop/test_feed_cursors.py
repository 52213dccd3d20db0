"""Feeds whose cursor the server keeps: on two nodes, over sockets, by readers that are killed."""

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid

from feed_client import Feed
from standby_pair import StandbyPair
from urd_process import PATIENCE, Server, Urd, eventually, status, together

FOLDER = pathlib.Path(__file__).resolve().parent


def setUpModule():
    global urd, realm, other
    urd = Urd(lawful=True)
    realm = urd.values["URD_REALM"]
    other = Server(urd.values).ready()


def tearDownModule():
    other.close()
    urd.close()


def call(method, path, body=None, api=None, **more):
    return (api or urd.api).call(method, path, body, **more)


def admin(method, path, body=None, api=None):
    status, answer, _ = call(method, path, body, api)
    assert status < 300, (path, status, answer)
    return answer


def register(api=None):
    admin("POST", urd.clients, {
        "client_id": f"feed-{uuid.uuid4().hex[:12]}", "token_endpoint_auth_method": "none",
        "grant_types": ["urn:cocoar:otp"]}, api)


def subscribe(**more):
    return admin("POST", f"{urd.realm}/subscriptions",
                 {"name": "Index", "to": "internal", "from": "start", **more})["id"]


def follow(subscription, query="", url=None, key=None, **more):
    return Feed(url or urd.values["URD_URL"], key or urd.key, realm,
                f"subscription={subscription}{query}", **more)


def acknowledge(subscription, cursor, api=None):
    return call("POST", f"{urd.realm}/subscriptions/{subscription}/ack", {"cursor": cursor}, api)


def head():
    return int(urd.sql(f"select position from urd.realm_log where realm = '{realm}'"))


class Nodes(unittest.TestCase):
    def test_what_is_confirmed_on_one_node_holds_on_the_other(self):
        subscription = subscribe()
        while head() < 8:
            register()
        with follow(subscription) as feed:
            events = feed.events(5)
            self.assertEqual([event["position"] for event in events], [1, 2, 3, 4, 5])
            # The node that sent nothing knows what was sent.
            with contextlib.closing(type(urd.api)(other.url, urd.key)) as api:
                self.assertEqual(acknowledge(subscription, events[2]["cursor"], api)[0], 204)
                status, answer, _ = acknowledge(subscription, "1:99999", api)
                self.assertEqual((status, answer["type"]), (409, "/problems/cursor-out-of-range"))
                self.assertEqual(answer["acknowledged"], events[2]["cursor"])
                epoch, sent = map(int, answer["sent"].split(":"))
                self.assertEqual(epoch, events[4]["epoch"])
                self.assertTrue(5 <= sent <= head(), answer)
                # What is confirmed already is no fault, and moves nothing back.
                self.assertEqual(acknowledge(subscription, events[0]["cursor"], api)[0], 204)

        def goes_on_elsewhere():
            # The server frees a subscription when it has noticed that its reader is gone.
            with follow(subscription, url=other.url) as feed:
                return feed.status == 200 and feed.events(1)[0]["position"]
        self.assertEqual(eventually(goes_on_elsewhere, "the first reader is gone", 20), 4)

    def test_one_of_fifty_readers_of_two_nodes_has_it(self):
        subscription = subscribe()
        keys = [admin("POST", "/api/admin/keys", {"name": f"k{n}", "realms": [realm]})["key"]
                for n in range(10)]
        feeds = together(50, lambda n: follow(
            subscription, url=[urd.values["URD_URL"], other.url][n % 2], key=keys[n % 10]))
        try:
            statuses = sorted(feed.status for feed in feeds)
            self.assertEqual(statuses, [200] + [409] * 49)
            held = next(feed for feed in feeds if feed.status == 409)
            self.assertEqual(json.loads(held.body)["type"], "/problems/held")
        finally:
            for feed in feeds:
                feed.close()
        # One that leaves lets the next one in at once.
        def is_free():
            with follow(subscription) as feed:
                return feed.status == 200
        eventually(is_free, "its reader is gone", 5)

    def test_a_reader_that_is_taken_over_from_another_node_is_told_and_sent_nothing_more(self):
        subscription = subscribe()
        with follow(subscription) as first:
            first.events(1)
            with follow(subscription, "&take_over=true", url=other.url) as second:
                self.assertEqual(second.status, 200)
                began = time.monotonic()
                last = list(first.entries())[-1]
                self.assertLess(time.monotonic() - began, 5)
                self.assertEqual(last["type"], "urd.taken_over")
                self.assertEqual(first.end, "whole")
                register()
                self.assertEqual(second.events(1)[0]["position"], 1)

    def test_of_forty_that_take_it_over_at_once_one_has_it(self):
        def last(feed):
            try:
                return list(feed.entries())[-1]["type"]
            except TimeoutError:
                return "held"
        keys = [admin("POST", "/api/admin/keys", {"name": f"t{n}", "realms": [realm]})["key"]
                for n in range(40)]
        for _ in range(5):
            subscription = subscribe()
            feeds = together(40, lambda n: follow(
                subscription, "&take_over=true", key=keys[n], patience=8))
            try:
                self.assertEqual({feed.status for feed in feeds}, {200})
                ends = together(40, lambda n: last(feeds[n]))
            finally:
                for feed in feeds:
                    feed.close()
            self.assertEqual(sorted(ends, key=str), ["held"] + ["urd.taken_over"] * 39)

    def test_asking_for_the_head_takes_a_subscription_from_nobody(self):
        subscription = subscribe()
        query = f"{urd.realm}/feed?subscription={subscription}&take_over=true"
        with follow(subscription) as feed:
            feed.events(1)
            answer = urd.api.raw(urd.api.request("HEAD", query))
            self.assertEqual(status(answer), 200, answer)
            register()
            # All that there is up to what happened since.
            for entry in feed.entries():
                self.assertNotEqual(entry["type"], "urd.taken_over")
                if entry.get("position") == head():
                    break
            self.assertIsNone(feed.end)
        # Nor does it keep others away.
        free = subscribe()
        urd.api.raw(urd.api.request("HEAD", f"{urd.realm}/feed?subscription={free}"))
        with follow(free) as feed:
            self.assertEqual(feed.status, 200)

    def test_personal_data_is_on_record_before_it_leaves_and_gone_once_it_is_erased(self):
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        account = admin("POST", f"{urd.realm}/accounts", {"email": email})["id"]
        made = urd.command("subscription", "create", "--name", "CRM", "--realm", realm, "--from", "start",
                           "--to", "internal", "--include", "personal", "--types", "account.*",
                           "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        subscription = json.loads(made.stdout)["id"]

        def records():
            return int(urd.sql(
                f"select count(*) from urd.event where type = 'personal_data.streamed' "
                f"and realm = '{realm}'"))

        def registered(feed):
            return next(event for event in feed.entries()
                        if event["type"] == "account.registered" and event["stream"] == account)
        before = records()
        with follow(subscription) as feed, Feed(
                urd.values["URD_URL"], urd.key, realm, "from=start&to=internal") as plain:
            shown = registered(feed)
            self.assertEqual((shown["personal"], shown["data"]["email"]), ("opened", email))
            self.assertEqual(records(), before + 1)
            sealed = registered(plain)
            self.assertEqual((sealed["personal"], sealed["id"]), ("sealed", shown["id"]))
            self.assertNotIn(email, json.dumps(sealed))
        erased = urd.command("account", "erase", account, "--realm", realm, "--yes")
        self.assertEqual(erased.returncode, 0, erased.stderr)
        # One that comes again, from the other node, is sent what is left of it.
        def again():
            with follow(subscription, url=other.url) as feed:
                return feed.status == 200 and registered(feed)
        left = eventually(again, "the first reader is gone", 20)
        self.assertEqual((left["personal"], left["id"]), ("erased", shown["id"]))
        self.assertNotIn(email, json.dumps(left))

    def test_a_node_that_is_killed_gives_its_reader_up_within_a_term(self):
        node = Server(urd.values).ready()
        subscription = subscribe()
        try:
            feed = follow(subscription, url=node.url)
            self.assertEqual(feed.events(1)[0]["position"], 1)
            os.kill(node.process.pid, signal.SIGKILL)
            node.process.wait()
            feed.close()
            began = time.monotonic()
            with follow(subscription) as held:
                self.assertEqual(held.status, 409)

            def is_in():
                with follow(subscription) as feed:
                    return feed.status == 200 and feed.events(1)[0]["position"] == 1
            eventually(is_in, "another reader is let in", 40)
            self.assertLess(time.monotonic() - began, 35)
        finally:
            node.close()

    def test_a_frozen_node_sends_nothing_once_its_reader_was_taken_over(self):
        node = Server(urd.values).ready()
        subscription = subscribe(**{"from": "now"})
        try:
            with follow(subscription, url=node.url) as frozen:
                next(frozen.entries())
                os.kill(node.process.pid, signal.SIGSTOP)
                with follow(subscription, "&take_over=true") as heir:
                    next(heir.entries())
                    register()
                    self.assertEqual(len(heir.events(1)), 1)
                    os.kill(node.process.pid, signal.SIGCONT)
                    kinds = [entry["type"] for entry in frozen.entries()]
                    self.assertEqual(kinds, ["urd.taken_over"])
        finally:
            os.kill(node.process.pid, signal.SIGCONT)
            node.close()

    def test_a_subscription_that_is_changed_swallows_nothing_of_what_it_is_sent_now(self):
        def person():
            email = f"{uuid.uuid4().hex[:12]}@example.org"
            return admin("POST", f"{urd.realm}/accounts", {"email": email})["id"]
        subscription = subscribe(types=["account.registered"], **{"from": "now"})
        account = person()
        with follow(subscription) as feed:
            first = feed.events(1)[0]
            self.assertEqual(first["stream"], account)
            admin("PATCH", f"{urd.realm}/subscriptions/{subscription}",
                  {"types": ["account.registered", "account.disabled"]})
            admin("POST", f"{urd.realm}/accounts/{account}/disable")
            later = person()
            told = []
            for entry in feed.entries():
                told.append(entry)
                if entry["type"] == "urd.taken_over" or entry.get("stream") == later:
                    break
            self.assertEqual(told[-1]["type"], "urd.taken_over")
        # It confirms all that it has been sent, as far as that goes.
        for entry in [first] + told:
            if "cursor" in entry:
                urd.api.call("POST", f"{urd.realm}/subscriptions/{subscription}/ack", {"cursor": entry["cursor"]})
        with follow(subscription) as feed:
            came = [(event["type"], event["stream"]) for event in feed.events(2)]
        self.assertEqual(came, [("account.disabled", account), ("account.registered", later)])

    def test_a_deleted_subscription_ends_its_feed_on_every_node(self):
        subscription = subscribe()
        with follow(subscription, url=other.url) as feed:
            feed.events(1)
            admin("DELETE", f"{urd.realm}/subscriptions/{subscription}")
            last = list(feed.entries())[-1]
            self.assertEqual(last["data"]["type"], "/problems/no-such-subscription")
        self.assertEqual(urd.sql(
            f"select count(*) from urd.subscription_cursor where subscription = '{subscription}'"),
            "0")

    def test_its_lag_is_told(self):
        subscription = subscribe()
        with follow(subscription) as feed:
            feed.events(1)
            shown = admin("GET", f"{urd.realm}/subscriptions/{subscription}")
            self.assertIsNotNone(shown["held_until"])
            self.assertEqual(shown["lag"], head())
        eventually(
            lambda: any(
                line.startswith('urd_subscription_lag_events{kind="feed"} ')
                and int(line.split()[1]) >= head() - 1
                for line in urd.private("/metrics")[1].splitlines()), "the metric tells", 30)


class Killed(unittest.TestCase):
    """Every event is confirmed in order, whatever dies."""

    def test_a_reader_that_is_killed_goes_on_where_it_confirmed_to_be(self):
        subscription = subscribe()
        over = threading.Event()

        def write():
            while not over.wait(0.01):
                try:
                    register()
                except (AssertionError, OSError):
                    pass

        writer = threading.Thread(target=write)
        writer.start()
        with tempfile.TemporaryDirectory(prefix="urd-feed-", dir="/tmp") as folder:
            events = pathlib.Path(folder, "events")

            def start():
                url = random.choice([urd.values["URD_URL"], other.url])
                return subprocess.Popen(
                    [sys.executable, "-B", str(FOLDER / "kept_subscriber.py"), url, urd.key, realm,
                     subscription, str(events)])

            try:
                for _ in range(25):
                    process = start()
                    time.sleep(random.uniform(0.1, 0.4))
                    self.assertIsNone(process.poll())
                    process.kill()
                    process.wait()
            finally:
                over.set()
                writer.join()
            process = start()
            try:
                last = head()
                eventually(
                    lambda: events.exists()
                    and f"\n{last} " in events.read_text()[-4000:], "it has the end of the log")
            finally:
                process.kill()
                process.wait()
            lines = [line.split() for line in events.read_text().splitlines()]
        seen, order = {}, []
        for line in lines:
            if len(line) != 2:
                continue
            position = int(line[0])
            if position in seen:
                self.assertEqual(seen[position], line[1])
            else:
                order.append(position)
            seen[position] = line[1]
        self.assertEqual(order, list(range(1, last + 1)))


class LostTail(unittest.TestCase):
    """A standby without the last events takes over: readers are told what to undo."""

    def test_a_reader_with_lost_events_is_told_and_one_without_is_not(self):
        pair = StandbyPair()
        try:
            node = pair.node()
            key, name = pair.urd.key, pair.urd.values["URD_REALM"]
            path = pair.urd.realm
            made = admin("POST", f"{path}/subscriptions",
                         {"name": "Index", "to": "internal", "from": "start"}, node.api)["id"]

            def register():
                admin("POST", pair.urd.clients, {
                    "client_id": f"feed-{uuid.uuid4().hex[:12]}", "token_endpoint_auth_method": "none",
                    "grant_types": ["urn:cocoar:otp"]}, node.api)

            with Feed(node.url, key, name, "from=start&to=internal") as feed:
                register()
                kept = int(pair.primary(
                    f"select position from urd.realm_log where realm = '{name}'"))
                had = feed.events(kept)[-1]
                pair.cut_off()
                register()
                lost = feed.events(1)[0]
                with Feed(node.url, key, name, f"subscription={made}") as reader:
                    sent = reader.events(kept + 1)[-1]
                    self.assertEqual(sent["cursor"], lost["cursor"])
                    self.assertEqual(call(
                        "POST", f"{path}/subscriptions/{made}/ack",
                        {"cursor": lost["cursor"]}, node.api)[0], 204)
                pair.fail_over()
                eventually(lambda: node.ask("/health/ready", private=True)[0] == 200,
                           "the node has found the new primary")

                def answers():
                    with Feed(node.url, key, name, "from=start") as feed:
                        return feed.status == 200
                eventually(answers, "the feed is there again")
                rest = list(feed.entries())
            # The open feed is told, in its own words.
            self.assertEqual(rest[-1]["type"], "urd.error", rest)
            self.assertEqual(rest[-1]["data"]["type"], "/problems/position-lost")
            self.assertEqual(rest[-1]["data"]["kept_to"], kept)
            register()
            for query in ("", f"subscription={made}"):
                with Feed(node.url, key, name, query, cursor=lost["cursor"]) as feed:
                    self.assertEqual(feed.status, 409, feed.body)
                    problem = json.loads(feed.body)
                    self.assertEqual(problem["type"], "/problems/position-lost")
                    self.assertEqual(problem["kept_to"], kept)
            status, problem, _ = call("POST", f"{path}/subscriptions/{made}/ack",
                                      {"cursor": lost["cursor"]}, node.api)
            self.assertEqual((status, problem["kept_to"]), (409, kept))
            with Feed(node.url, key, name, "to=internal", cursor=had["cursor"]) as feed:
                self.assertEqual(feed.status, 200)
                self.assertEqual(feed.events(1)[0]["position"], kept + 1)
            with Feed(node.url, key, name, f"subscription={made}&take_over=true") as feed:
                self.assertEqual(feed.status, 200, feed.body)
                positions = [event["position"] for event in feed.events(2)]
                self.assertEqual(positions, sorted(positions))
                self.assertLessEqual(positions[0], kept + 1)
        finally:
            pair.close()


if __name__ == "__main__":
    unittest.main()
