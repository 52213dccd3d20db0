"""Webhooks through crashes: the server, PostgreSQL and the receivers are killed at random, and a node that
delivers is frozen. Nothing is lost, nothing is out of the promised order, and what comes twice has the same
id. Twelve rounds, or as many as URD_WEBHOOK_ROUNDS says; 200 with URD_LONG_TESTS=1."""

import http.client
import os
import random
import signal
import threading
import time
import unittest
import uuid

import pinned
from token_tool import missing
from urd_process import PATIENCE, Client, Run, Server, Urd, eventually
from webhook_receiver import Receiver

pinned.use()
MISSING = missing("cryptography")
if not MISSING:
    from publisher import Publisher

IS_LONG = os.environ.get("URD_LONG_TESTS") == "1"
ROUNDS = int(os.environ.get("URD_WEBHOOK_ROUNDS", "200" if IS_LONG else "12"))
# Each lasts for as long as a frozen node keeps its place.
FROZEN = 6 if IS_LONG else 1
ORDERS = ("stream", "strict", "none")
KINDS = ("account.registered", "account.disabled")


@unittest.skipIf(MISSING, MISSING)
class Crashes(unittest.TestCase):
    def setUp(self):
        self.publisher = Publisher()
        self.addCleanup(self.publisher.close)
        folder = self.publisher.folder.name
        self.certificate = (self.publisher.ca_file, os.path.join(folder, "key.pem"))
        self.settings = {"URD_WEBHOOK_ALLOW": "127.0.0.0/8",
                         "URD_OUTGOING_CA_FILE": self.publisher.ca_file}
        self.urd = Urd(**self.settings)
        self.addCleanup(self.urd.close)
        self.second = None
        self.early = []
        self.acts = []

    def admin(self, method, path, body=None, api=None, **headers):
        status, answer, _ = (api or self.urd.api).call(
            method, self.urd.realm + path, body, **headers)
        assert 200 <= status < 300, (status, answer)
        return answer

    def insist(self, method, path, body=None):
        """A write that goes through once, whatever dies meanwhile."""
        key = uuid.uuid4().hex
        deadline = time.monotonic() + PATIENCE
        last = None
        while time.monotonic() < deadline:
            try:
                last = status, answer = self.api().call(
                    method, self.urd.realm + path, body, Idempotency_Key=key)[:2]
                if 200 <= status < 300:
                    return answer
                assert status >= 500, (status, answer)
            except (OSError, http.client.HTTPException, AttributeError, ValueError) as error:
                last = error  # half an answer of a server that was killed
            time.sleep(0.05)
        raise AssertionError(
            f"the write did not get through: {last!r}; {self.acts[-3:]}; {self.urd.run.text()[-3000:]}")

    def api(self):
        """Of a node that is awake."""
        return self.standby_api if self.frozen is self.urd else self.urd.api

    def load(self):
        accounts = []
        for _ in range(random.randrange(2, 6)):
            email = f"{uuid.uuid4().hex[:12]}@example.org"
            account = self.insist("POST", "/accounts", {"email": email})["id"]
            self.insist("POST", f"/accounts/{account}/disable")
            accounts.append(account)
        return accounts

    def look(self, order, receiver):
        """Before a message is answered: its position is none that is done with, unless it was taken before. What
        a node sent that was then killed may be read after the next one has sent it too."""
        def answer(message):
            data = message["json"]["data"]
            try:
                cursor = self.urd.sql(
                    "select c.position, exists (select from urd.delivery d where d.realm = c.realm"
                    f" and d.subscription = c.subscription and d.position = {data['position']})"
                    f" from urd.subscription_cursor c where subscription = '{self.hooks[order]}'")
            except Exception:
                return 204, {}  # PostgreSQL was killed
            if cursor:
                position, waits = cursor.split("|")
                is_taken = message["headers"]["webhook-id"] in receiver.ids()
                if int(position) >= data["position"] and waits == "f" and not is_taken:
                    self.early.append((order, data["position"], position))
            return 204, {}
        return answer

    # What is done to them.

    def kill_server(self, _):
        os.kill(self.urd.pid, signal.SIGKILL)
        self.urd.run.process.wait(PATIENCE)
        self.start_again()

    def start_again(self):
        self.urd.run.output.close()
        self.urd.api.close()
        self.urd.run = eventually(self.started, "the server is there again")
        self.urd.values = self.urd.run.values()
        self.urd.pid = self.urd.run.process.pid
        self.urd.api = Client(self.urd.values["URD_URL"], self.urd.key)

    def started(self):
        """A PostgreSQL that was killed a moment before may still be in the way of its successor."""
        run = Run(os.path.join(self.urd.folder, "data"), **self.settings)
        try:
            return run.ready()
        except AssertionError:
            run.end(signal.SIGKILL)
            run.output.close()
            time.sleep(0.5)
            return None

    def kill_database(self, _):
        try:
            os.kill(self.urd.run.postmaster(), signal.SIGKILL)
        except (OSError, ValueError):
            pass  # it is about to start

    def kill_receiver(self, receivers):
        victim = random.choice(list(receivers.values()))
        victim.stop()
        time.sleep(random.random() / 2)
        victim.start()

    def freeze_leader(self, receivers):
        """Of two nodes the one that delivers stops: the other takes its place within 30 seconds, and it
        sends nothing when it goes on."""
        if self.second is None:
            self.second = Server(self.urd.values, **self.settings)
            self.addCleanup(self.second.close)
            self.second.ready()
            self.standby_api = Client(self.second.url, self.urd.key)
        before = self.attempts()
        self.accounts += self.load()
        eventually(lambda: self.attempts() != before, "one of them delivers")
        after = self.attempts()
        leader = self.urd if after[0] != before[0] else self.second
        pid = self.urd.pid if leader is self.urd else self.second.process.pid
        self.settle(receivers)
        os.kill(pid, signal.SIGSTOP)
        try:
            self.frozen = leader
            began = time.monotonic()
            added = self.load()
            self.accounts += added
            eventually(lambda: self.has(receivers["none"], added), "the other node delivers")
            took = time.monotonic() - began
            self.assertLess(took, 40)
            self.settle(receivers)
            count = sum(len(one.seen) for one in receivers.values())
        finally:
            os.kill(pid, signal.SIGCONT)
            self.frozen = None
        time.sleep(2)
        self.assertEqual(sum(len(one.seen) for one in receivers.values()), count)

    def attempts(self):
        """How many each node has made."""
        found = []
        for text in (self.urd.private("/metrics")[1], self.second.ask("/metrics", private=True)[1]):
            found.append(sum(
                float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                if line.startswith("urd_subscription_attempts_total")))
        return found

    # What has to be true.

    def has(self, receiver, accounts):
        with receiver.lock:
            kinds = {(one["json"]["data"]["stream"], one["json"]["type"])
                     for one in receiver.taken}
        return all((account, kind) in kinds for account in accounts for kind in KINDS)

    def settle(self, receivers):
        for order, receiver in receivers.items():
            deadline = time.monotonic() + 2 * PATIENCE
            while not self.has(receiver, self.accounts):
                self.assertLess(time.monotonic(), deadline,
                                f"{order}: an event is lost; {self.acts}")
                try:
                    eventually(lambda: self.has(receiver, self.accounts), order, 20)
                except AssertionError:
                    self.wake(self.hooks[order])

    def wake(self, hook):
        """A webhook whose receiver was away twice rests for minutes: whoever resumes it has it tried now."""
        self.insist("POST", f"/webhooks/{hook}/pause")
        self.insist("POST", f"/webhooks/{hook}/resume", {})

    def check(self, order, receiver):
        first, bodies = [], {}
        for message in receiver.taken:
            identity = message["headers"]["webhook-id"]
            known = bodies.setdefault(identity, message["body"])
            self.assertEqual(known, message["body"])
            if known is message["body"]:
                first.append(message["json"]["data"])
        self.assertEqual(len({one["position"] for one in first}), len(first),
                         f"{order}: an event came under two ids; {self.acts}")
        if order == "strict":
            positions = [one["position"] for one in first]
            self.assertEqual(positions, sorted(positions), f"{order} {self.acts}")
        if order == "stream":
            streams = {}
            for one in first:
                streams.setdefault(one["stream"], []).append(one["version"])
            for versions in streams.values():
                self.assertEqual(versions, sorted(versions), f"{order} {self.acts}")

    def test_nothing_is_lost_whatever_is_killed(self):
        self.frozen, self.accounts = None, []
        receivers = {order: Receiver(self.certificate) for order in ORDERS}
        self.addCleanup(lambda: [one.stop() for one in receivers.values()])
        self.hooks = {}
        for order, receiver in receivers.items():
            receiver.answer = self.look(order, receiver)
            self.hooks[order] = self.admin("POST", "/webhooks", {
                "url": receiver.url, "name": order, "types": ["account.*"], "order": order})["id"]
        acts = [self.kill_server, self.kill_database, self.kill_receiver]
        frozen = {round(ROUNDS * (number + 1) / (FROZEN + 1)) for number in range(FROZEN)}
        for number in range(ROUNDS):
            act = self.freeze_leader if number in frozen else random.choice(acts)
            self.acts.append(act.__name__)
            if act is self.freeze_leader:
                self.settle(receivers)
                act(receivers)
                self.second.end()
                self.second.close()
                self.second = None
                continue
            made = []
            writing = threading.Thread(target=lambda: made.extend(self.load()))
            writing.start()
            time.sleep(random.random() / 2)
            act(receivers)
            writing.join()
            self.accounts += made
            self.assertTrue(made, "the writes got through")
        self.settle(receivers)
        for order, receiver in receivers.items():
            with self.subTest(order):
                self.check(order, receiver)
        self.assertEqual(self.early, [], self.acts)


if __name__ == "__main__":
    unittest.main()
