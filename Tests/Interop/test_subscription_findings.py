"""What an operator is told of subscriptions that lag, fail or were switched off, and receivers of where calls
come from."""

import http.client
import json
import unittest
import urllib.parse
import uuid

from feed_client import Feed
from urd_process import PATIENCE, Server, Urd, eventually
from webhook_receiver import Receiver


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


def admin(method, path, body=None):
    status, answer, _ = urd.api.call(method, urd.realm + path, body)
    assert status in range(200, 300), (status, answer)
    return answer


def register():
    return admin("POST", "/accounts", {"email": f"{uuid.uuid4().hex[:12]}@example.org"})["id"]


def doctor():
    """What it says, by the name of the check."""
    done = urd.command("doctor", "--json")
    return {check["check"]: check for check in json.loads(done.stdout)["checks"]}


class Findings(unittest.TestCase):
    """Cursors of subscriptions to which nothing happens are as they are set here."""

    def told(self, check):
        finding = doctor().get(check)
        return finding["what"] if finding else ""

    def set(self, subscription, assignments):
        urd.sql(f"update urd.subscription_cursor set {assignments}"
                f" where subscription = '{subscription}'")

    def settled(self, hook):
        """Everything of the log has passed it."""
        head = "(select position from urd.realm_log where realm = '%s')" % urd.values["URD_REALM"]
        eventually(lambda: urd.sql(
            f"select 1 from urd.subscription_cursor where subscription = '{hook}'"
            f" and position = {head}"), "it has everything")

    def test_the_doctor_finds_webhooks_that_take_nothing_are_halted_lag_or_are_disabled(self):
        receiver = Receiver()
        self.addCleanup(receiver.stop)
        hook = admin("POST", "/webhooks", {
            "url": receiver.url, "name": "CRM", "types": ["account.erased"]})["id"]
        register()
        self.settled(hook)
        self.assertEqual(self.told("webhooks"), "")
        self.set(hook, "blocked_since = now() - interval '50 minutes'")
        self.assertEqual(self.told("webhooks"), "")
        self.set(hook, "blocked_since = now() - interval '2 hours'")
        self.assertIn(f"{hook} in {urd.values['URD_REALM']}: nothing was taken since",
                      self.told("webhooks"))
        self.set(hook, "blocked_since = null, halted = 'position 3: it is missing in the log'")
        self.assertIn("halted, position 3: it is missing in the log", self.told("webhooks"))
        before = urd.sql(
            f"select position from urd.subscription_cursor where subscription = '{hook}'")
        self.set(hook, f"halted = null, position = {int(before) - 2}")
        self.assertEqual(self.told("webhooks"), "")
        urd.sql("update urd.event set at = at - interval '2 hours'"
                f" where position = {int(before) - 1}")
        self.assertIn("lags behind, 2 events wait", self.told("webhooks"))
        self.set(hook, f"position = {before}")
        receiver.answer = lambda message: (410, {})
        admin("POST", f"/accounts/{register()}/erase")
        eventually(lambda: "disabled (gone)" in self.told("webhooks"), "it is disabled")
        self.assertIn("urd webhook resume", doctor()["webhooks"]["remedy"])
        admin("DELETE", f"/webhooks/{hook}")
        eventually(lambda: self.told("webhooks") == "", "it is forgotten")

    def test_the_doctor_finds_feed_subscriptions_whose_reader_stays_away(self):
        feed = admin("POST", "/subscriptions", {
            "name": "Index", "from": "start", "to": "internal"})["id"]
        with Feed(urd.values["URD_URL"], urd.key, urd.values["URD_REALM"],
                  f"subscription={feed}") as reader:
            first = reader.events(1)[0]
        admin("POST", f"/subscriptions/{feed}/ack", {"cursor": first["cursor"]})
        self.set(feed, "last_at = now() - interval '23 hours'")
        self.assertEqual(self.told("feed subscriptions"), "")
        self.set(feed, "last_at = now() - interval '25 hours'")
        head = int(urd.sql("select position from urd.realm_log where realm = '%s'"
                           % urd.values["URD_REALM"]))
        self.assertIn(f"{feed} in {urd.values['URD_REALM']} is {head - first['position']} events behind",
                      self.told("feed subscriptions"))
        self.set(feed, f"position = {head}")
        self.assertEqual(self.told("feed subscriptions"), "")


class Egress(unittest.TestCase):
    def test_receivers_read_which_networks_calls_come_from(self):
        place = urllib.parse.urlsplit(urd.values["URD_REALM_URL"])

        def networks(**settings):
            server = Server(urd.values, **settings).ready()
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
            try:
                connection.request(
                    "GET", "/.well-known/urd-webhook-keys.json", headers={"Host": place.netloc})
                answer = connection.getresponse()
                body = answer.read()
                self.assertEqual(answer.status, 200, body)
                return json.loads(body).get("networks", [])
            finally:
                connection.close()
                server.close()

        named = networks(URD_WEBHOOK_EGRESS="203.0.113.0/24,2001:db8:7::/48")
        self.assertEqual(named, ["203.0.113.0/24", "2001:db8:7::/48"])
        self.assertEqual(networks(), [])


if __name__ == "__main__":
    unittest.main()
