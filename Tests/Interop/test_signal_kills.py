"""Security signals while the server, PostgreSQL and the receiver are killed at random: none is lost, those
of an account come in order, and one comes twice only by the same name."""

import http.client
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
import uuid

import test_shared_signals as shared
from token_tool import rerun

if not shared.MISSING:
    import jwt

    from urd_process import Run, eventually, free_port

RISC = "https://schemas.openid.net/secevent/risc/event-type/"
DISABLED, ENABLED = RISC + "account-disabled", RISC + "account-enabled"
ROUNDS = 200 if os.environ.get("URD_LONG_TESTS") else 10
ACCOUNTS = 4


def setUpModule():
    shared.setUpModule()


def tearDownModule():
    shared.tearDownModule()


class Receiver:
    """A process that is killed and comes back at the same port."""

    def __init__(self):
        self.port = free_port()
        self.file = os.path.join(shared.certificate.folder.name, "signals")
        self.process = None
        self.start()

    def start(self):
        place = pathlib.Path(__file__).with_name("signal_receiver.py")
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(place), shared.certificate.file, shared.certificate.key,
             str(self.port), self.file])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def tokens(self):
        # The last line may be half: it was not said yes to.
        text = pathlib.Path(self.file).read_text() if os.path.exists(self.file) else ""
        lines = text.split("\n")[:-1]
        return [line for line in lines if line.count(".") == 2]


class Kills(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(seed := random.SystemRandom().randrange(1 << 32))
        print(f"seed {seed}", file=sys.stderr)
        self.receiver = Receiver()
        self.addCleanup(lambda: self.receiver.kill())
        ours = shared.Ours()
        self.stream = ours.create(
            {"method": shared.PUSH,
             "endpoint_url": f"https://localhost:{self.receiver.port}/signals"},
            requested=[DISABLED, ENABLED])
        self.accounts = []
        for _ in range(ACCOUNTS):
            status, answer, _ = shared.urd.api.call(
                "POST", f"{shared.urd.realm}/accounts",
                {"email": f"{uuid.uuid4().hex[:12]}@example.org", "confirmed": True})
            assert status == 201, answer
            self.accounts.append(answer["id"])
        self.done = {account: [] for account in self.accounts}

    def act(self, account):
        """The other state than the present one: once, however often it has to be asked for."""
        is_off = len(self.done[account]) % 2 == 0
        key = str(uuid.uuid4())
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                status, answer, _ = shared.urd.api.call(
                    "POST", f"{shared.urd.realm}/accounts/{account}/"
                    + ("disable" if is_off else "enable"), Idempotency_Key=key)
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
                continue
            if status in (429, 500, 503):
                time.sleep(0.05)
                continue
            assert status in (200, 204), (status, answer)
            self.done[account].append(DISABLED if is_off else ENABLED)
            return
        raise AssertionError("the server does not come back")

    def kill_server(self):
        run = shared.urd.run
        run.end(signal.SIGKILL)
        run.output.close()
        shared.urd.run = Run(
            run.data, port=run.port, URD_OUTGOING_CA_FILE=shared.certificate.file).ready()

    def kill_database(self):
        before = shared.urd.run.postmaster()
        os.kill(before, signal.SIGKILL)

        def is_back():
            try:
                return shared.urd.run.postmaster() != before
            except (OSError, ValueError, IndexError):
                return False

        eventually(is_back, "PostgreSQL is back")

    def kill_receiver(self):
        self.receiver.kill()
        time.sleep(self.random.uniform(0, 0.3))
        self.receiver.start()

    def test_nothing_is_lost_or_out_of_order_whatever_is_killed(self):
        victims = [self.kill_server, self.kill_database, self.kill_receiver]
        turns = [victims[number % 3] for number in range(ROUNDS)]
        self.random.shuffle(turns)
        for kill in turns:
            acts = threading.Thread(
                target=lambda: [self.act(one) for _ in range(2) for one in self.accounts])
            acts.start()
            time.sleep(self.random.uniform(0, 0.15))
            kill()
            acts.join()
        for account in self.accounts:
            self.assertEqual(len(self.done[account]), 2 * ROUNDS)
        eventually(
            lambda: sum(map(len, self.told()[0].values())) >= 2 * ROUNDS * ACCOUNTS,
            "all signals come", 180)
        order, tokens = self.told()
        self.assertEqual(order, self.done)
        doubles = [one for one in tokens.values() if len(one) > 1]
        self.assertFalse([one for one in doubles if len(set(one)) > 1], "a name has one text")
        for texts in tokens.values():
            shared.check(texts[0], self.stream)
        print(f"{len(tokens)} signals, {len(doubles)} of them more than once", file=sys.stderr)

    def told(self):
        """What each account is told, in the order of the first time; and the texts of each name."""
        order, tokens = {account: [] for account in self.accounts}, {}
        for token in self.receiver.tokens():
            claims = jwt.decode(token, options={"verify_signature": False})
            seen = tokens.setdefault(claims["jti"], [])
            (kind,) = claims["events"]
            if not seen and kind in (DISABLED, ENABLED):
                order[claims["sub_id"]["sub"]].append(kind)
            seen.append(token)
        return order, tokens


def load_tests(loader, standard, pattern):
    return rerun(__file__) if shared.MISSING else standard


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
