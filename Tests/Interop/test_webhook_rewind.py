"""A standby is promoted without the tail of the log, of which a webhook had been sent something: its
receiver is told before anything else, and an administrator says when it goes on."""

import os
import tempfile
import unittest
import uuid

import pinned
from standby_pair import StandbyPair
from token_tool import missing
from urd_process import eventually, run
from webhook_receiver import Receiver

pinned.use()
MISSING = missing("cryptography")
if not MISSING:
    from publisher import Publisher


@unittest.skipIf(MISSING, MISSING)
class Rewind(unittest.TestCase):
    def setUp(self):
        publisher = Publisher()
        self.addCleanup(publisher.close)
        self.pair = StandbyPair()
        self.addCleanup(self.pair.close)
        checkpoints = tempfile.TemporaryDirectory(prefix="urd-checkpoints-", ignore_cleanup_errors=True)
        self.addCleanup(checkpoints.cleanup)
        self.settings = {
            "URD_WEBHOOK_ALLOW": "127.0.0.0/8", "URD_OUTGOING_CA_FILE": publisher.ca_file,
            "URD_CHECKPOINT_DIRECTORY": checkpoints.name}
        self.node = self.pair.node(**self.settings)
        self.receiver = Receiver(
            (publisher.ca_file, os.path.join(publisher.folder.name, "key.pem")))
        self.addCleanup(self.receiver.stop)

    def call(self, method, path, body=None):
        return self.node.api.call(method, self.pair.urd.realm + path, body)[:2]

    def done(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        assert 200 <= status < 300, (status, answer)
        return answer

    def register(self):
        """An account, once the node has found its database."""
        email = f"{uuid.uuid4().hex[:12]}@example.org"

        def made():
            status, answer = self.call("POST", "/accounts", {"email": email})
            return answer["id"] if status == 201 else None
        return eventually(made, "the account is there")

    def streams(self):
        with self.receiver.lock:
            return [one["json"]["data"].get("stream") for one in self.receiver.taken]

    def told(self):
        with self.receiver.lock:
            return [one["json"] for one in self.receiver.taken
                    if one["json"]["type"] == "log.rewound"]

    def test_a_receiver_is_told_of_a_lost_tail_and_the_webhook_waits_for_a_confirmation(self):
        self.pair.take_over("webhooks")
        hook = self.done("POST", "/webhooks", {
            "url": self.receiver.url, "name": "CRM", "types": ["account.registered"]})["id"]
        kept = self.register()
        eventually(lambda: kept in self.streams(), "the first event came")
        self.pair.cut_off()
        lost = self.register()
        eventually(lambda: lost in self.streams(), "what is lost soon came as well")
        position = self.receiver.taken[-1]["json"]["data"]["position"]
        self.pair.fail_over()
        message = eventually(self.told, "the receiver is told")[0]
        self.assertLess(message["data"]["kept_to"], position)
        shown = eventually(
            lambda: (lambda one: one if one["state"] == "disabled" else None)(
                self.done("GET", f"/webhooks/{hook}")), "it is disabled")
        self.assertEqual((shown["reason"], shown["kept_to"]),
                         ("rewound", message["data"]["kept_to"]))
        status, problem = self.call("POST", f"/webhooks/{hook}/resume", {})
        self.assertEqual((status, problem["kept_to"]), (409, shown["kept_to"]))
        after = self.register()
        self.done("POST", f"/webhooks/{hook}/resume", {"starts_after": shown["kept_to"]})
        eventually(lambda: after in self.streams(), "it goes on")
        self.assertEqual(len(self.told()), 1)

    def test_a_node_that_knows_the_loss_from_its_checkpoint_alone_tells_it_first(self):
        """Nobody remembers any more what was sent: the node was stopped, and what it had is in its checkpoint."""
        self.pair.take_over("webhooks")
        hook = self.done("POST", "/webhooks", {
            "url": self.receiver.url, "name": "CRM", "types": ["account.registered"]})["id"]
        kept = self.register()
        eventually(lambda: kept in self.streams(), "the first event came")
        self.pair.cut_off()
        lost = [self.register() for _ in range(3)]
        eventually(lambda: lost[-1] in self.streams(), "what is lost soon came as well")
        position = max(one["json"]["data"]["position"] for one in self.receiver.taken)
        realm = self.pair.urd.values["URD_REALM"]
        sealed = f"select coalesce(max(size), 0) from urd.checkpoint where realm = '{realm}'"
        eventually(lambda: int(self.pair.primary(sealed)) >= position, "it is sealed", patience=60)
        self.node.api.close()
        self.node.close()
        self.pair.nodes.remove(self.node)
        size = self.pair.primary(sealed)
        self.pair.fail_over()
        self.node = self.pair.node(**self.settings)
        message = eventually(self.told, "the receiver is told", patience=60)[0]
        self.assertLess(message["data"]["kept_to"], position)
        shown = eventually(
            lambda: (lambda one: one if one["state"] == "disabled" else None)(
                self.done("GET", f"/webhooks/{hook}")), "it is disabled")
        self.assertEqual((shown["reason"], shown["kept_to"]), ("rewound", message["data"]["kept_to"]))
        after = self.register()
        self.done("POST", f"/webhooks/{hook}/resume", {"starts_after": shown["kept_to"]})
        eventually(lambda: after in self.streams(), "it goes on")
        # An operator gives the lost tail up: what was appended since is in the log, and nobody is told again.
        head = int(self.pair.standby(f"select position from urd.realm_log where realm = '{realm}'"))
        epoch = int(self.pair.standby(f"select epoch from urd.realm_log where realm = '{realm}'"))
        accepted = run("log", "accept", "--realm", realm, "--size", size, "--yes", **{
            "URD_DATABASE_URL": self.pair.address,
            "URD_DATABASE_OWNER_URL": self.pair.at(*self.pair.hosts, role="urd_owner"),
            "URD_MASTER_KEY_FILE": self.pair.urd.values["URD_MASTER_KEY_FILE"],
            "URD_CHECKPOINT_DIRECTORY": self.settings["URD_CHECKPOINT_DIRECTORY"]})
        self.assertEqual(accepted.returncode, 0, accepted.stderr)
        status, page = self.call("GET", f"/events?after={epoch}:{head}")
        self.assertEqual((status, page["items"][0]["type"]), (200, "log.loss_accepted"), page)
        last = self.register()
        eventually(lambda: last in self.streams(), "it goes on after that, too")
        self.assertEqual(len(self.told()), 1)
        self.assertEqual(self.done("GET", f"/webhooks/{hook}")["state"], "active")


if __name__ == "__main__":
    unittest.main()
