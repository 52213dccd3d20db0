"""A standby is promoted without the tail of the log, of which receivers had been sent signals: they are told
before anything else, and their streams go on by themselves."""

import re
import time
import types
import unittest
import uuid

import test_shared_signals as shared
from token_tool import rerun

if not shared.MISSING:
    from standby_pair import StandbyPair
    from urd_process import eventually

DISABLED = "https://schemas.openid.net/secevent/risc/event-type/account-disabled"


@unittest.skipIf(shared.MISSING, shared.MISSING)
class Rewind(unittest.TestCase):
    def setUp(self):
        shared.certificate = shared.Certificate()
        self.addCleanup(shared.certificate.close)
        self.pair = StandbyPair()
        self.addCleanup(self.pair.close)
        self.node = self.pair.node(
            URD_OUTGOING_NETWORKS="127.0.0.0/8,::1/128", URD_OUTGOING_CA_FILE=shared.certificate.file)
        self.pair.take_over("signals")
        shared.urd = types.SimpleNamespace(
            values={**self.pair.urd.values, "URD_URL": self.node.url}, api=self.node.api,
            realm=self.pair.urd.realm)
        shared.demo = shared.Door(shared.certificate, "demo.localhost", self.pair.urd.realm)
        self.addCleanup(shared.demo.close)
        shared.receiver = shared.Receiver(shared.certificate)
        self.addCleanup(shared.receiver.close)

    def disable(self):
        """A new account is disabled, once the node has found its database."""
        email = f"{uuid.uuid4().hex[:12]}@example.org"

        def done():
            accounts = f"{self.pair.urd.realm}/accounts"
            status, answer, _ = self.node.api.call(
                "POST", accounts, {"email": email, "confirmed": True})
            if status != 201:
                return None
            status, _, _ = self.node.api.call("POST", f"{accounts}/{answer['id']}/disable")
            return answer["id"] if status < 300 else None
        return eventually(done, "the account is disabled")

    def pushed(self, path, stream):
        return [shared.check(body, stream) for _, body in shared.receiver.at(path)]

    def test_receivers_are_told_of_a_lost_tail_before_what_happens_after_it(self):
        ours = shared.Ours()
        path, pushes = ours.push(requested=[DISABLED])
        polled = ours.create(requested=[DISABLED])

        def about(account):
            return lambda: [one for one in self.pushed(path, pushes) if DISABLED in one["events"]
                            and account in str(one["sub_id"])]
        kept = self.disable()
        eventually(about(kept), "the first signal is pushed")
        ours.wait_for(polled, DISABLED)
        self.pair.cut_off()
        lost = self.disable()
        void = eventually(about(lost), "what is lost soon is pushed as well")[0]
        self.assertEqual(ours.wait_for(polled, DISABLED)[0]["txn"], void["txn"])
        self.pair.fail_over()
        after = self.disable()
        # The stream of pushes goes on by itself, and its receiver is told first.
        eventually(about(after), "it goes on")
        told = self.pushed(path, pushes)
        place = next(number for number, one in enumerate(told) if one["jti"] == void["jti"])
        self.assertIn(shared.UPDATED, told[place + 1]["events"])
        self.check(told[place + 1], void)
        # A poll has the same in the same order: what tells of the epoch comes alone.
        first, second = [], []
        deadline = time.monotonic() + 60
        while not first and time.monotonic() < deadline:
            first = list(ours.poll(polled)["sets"].items())
        self.assertEqual(len(first), 1)
        claims = shared.check(first[0][1], polled)
        self.assertIn(shared.UPDATED, claims["events"])
        self.check(claims, void)
        ours.poll(polled, ack=[first[0][0]], maxEvents=0)
        while not second and time.monotonic() < deadline:
            second = ours.signals(polled)
        self.assertEqual([str(after) in str(one["sub_id"]) for one in second], [True])
        self.assertNotEqual(second[0]["jti"], void["jti"])

    def check(self, claims, void):
        """The receiver learns from it which signals are void."""
        reason = claims["events"][shared.UPDATED]["reason"]
        epoch, kept = map(int, re.match(r"Epoch (\d+) .* after position (\d+):", reason).groups())
        of, position = map(int, void["txn"].split(":"))
        self.assertLess(of, epoch)
        self.assertLess(kept, position)


def load_tests(loader, standard, pattern):
    return rerun(__file__) if shared.MISSING else standard


if __name__ == "__main__":
    unittest.main()
