"""The flagship app while things break under it: nodes are killed outright, and PostgreSQL goes away, between
any two steps. Trying again works, or is refused for a reason; nothing is used up by an outage."""

import os
import signal
import time
import unittest

from flagship_client import App, AppleDevice, play_integrity
from urd_process import Server, Urd, eventually

PASSWORD = "seven purple otters dance"
CATEGORIES = {"plain": {}, "balance": {"stateful": True}}


def setUpModule():
    global urd
    urd = Urd()
    app = App(urd.values, "First")
    app.register()
    assert app.onboard(PASSWORD)[0] == 202


def tearDownModule():
    urd.close()


def count(name, condition="true"):
    return int(urd.sql(
        f"select count(*) from urd.event where realm = 'flagship' and type = '{name}'"
        f" and {condition}"))


class Broken(unittest.TestCase):
    def setUp(self):
        self.node = Server(urd.values).ready()
        self.addCleanup(lambda: self.node.close())

    def app(self, name="Phone"):
        app = App(urd.values, name)
        app.address = ("127.0.0.1", self.node.port)
        return app

    def kill(self, *apps):
        """The node, outright; another one takes its place."""
        self.node.process.kill()
        self.node.close()
        self.node = Server(urd.values).ready()
        for app in apps:
            app.address = ("127.0.0.1", self.node.port)

    def break_postgresql(self):
        os.kill(urd.run.postmaster(), signal.SIGQUIT)
        eventually(lambda: self.health() != 200, "the node says that it is not ready")

    def health(self):
        return self.node.ask("/health/ready", private=True)[0]

    def until(self, act):
        """What comes once the database is there again; before that it is our fault, and said so."""
        while (answer := act())[0] == 503:
            time.sleep(0.05)
        return answer

    def register(self, app, **more):
        """As an app does that tries again: registering says who it is, so it throws."""
        def act():
            try:
                return 201, app.register(**more)
            except AssertionError as refused:
                if "error" not in refused.args[0]:
                    raise
                return 503, None
        return self.until(act)


class Kills(Broken):
    def test_a_kill_between_any_two_steps_breaks_no_flow(self):
        app, device = self.app(), AppleDevice(urd.values)
        app.register(notifications=CATEGORIES)
        self.kill(app)
        self.assertEqual(app.information()[0], 200)
        nonce = app.challenge()
        self.kill(app)
        proof = device.attestation(nonce)
        self.assertEqual(app.attest(proof)[0], 204)
        self.kill(app)
        # It is used up, and says so.
        self.assertEqual(app.attest(proof)[0], 400)
        self.assertEqual(app.information()[1]["flagship"], True)
        status, tokens, _ = app.login(PASSWORD)
        self.assertEqual((status, tokens["scope"]), (200, "*"))
        self.kill(app)
        self.assertEqual(app.session_code()[0], 201)
        self.assertEqual(app.renew()[0], 200)
        notification = {"data": {"attributes": {
            "category": "balance", "title": "Low", "state": "low"}}}
        first = app.call("POST", "/notifications", notification, bearer=app.access)
        self.assertEqual(first[0], 201)
        self.kill(app)
        again = app.call("POST", "/notifications", notification, bearer=app.access)
        self.assertEqual((again[0], again[1]["data"]["id"]), (201, first[1]["data"]["id"]))
        eventually(
            lambda: count("notification.mailed", f"stream = '{first[1]['data']['id']}'") == 1,
            "it is told once")

    def test_a_kill_with_requests_in_flight_breaks_no_flow(self):
        """Whatever the node was doing, each step can be done again."""
        app = self.app("Pixel")
        app.register()
        self.assertEqual(app.certify_by_google()[0], 204)
        for _ in range(3):
            self.node.process.kill()
            with self.assertRaises(OSError):
                app.login(PASSWORD)
            self.kill(app)
            self.assertEqual(app.login(PASSWORD)[0], 200)
            self.assertEqual(app.session_code()[0], 201)


class Outages(Broken):
    def test_an_outage_while_registering_is_repeated(self):
        self.break_postgresql()
        app = self.app("Outage")
        self.assertEqual(self.register(app)[0], 201)
        self.assertEqual(app.information()[1]["client_name"], app.name)
        self.assertEqual(count("client.registered", f"data ->> 'client_id' = '{app.id}'"), 1)

    def test_an_outage_while_certifying_uses_no_challenge_up(self):
        app = self.app("Certified")
        app.register()
        nonce = app.challenge()
        proof = {
            "platform": "android", "issuer": "playintegrity", "challenge": nonce,
            "attestation": play_integrity(urd.values, nonce)}
        self.break_postgresql()
        self.assertEqual(self.until(lambda: app.attest(proof))[0], 204)
        self.assertEqual(app.attest(proof)[1], {"error": "invalid challenge"})

    def test_an_outage_while_signing_in_uses_no_attempt_up(self):
        app = self.app("Login")
        app.register()
        self.assertEqual(app.certify_by_google()[0], 204)
        refused = count("session.refused")
        typed = app.login(PASSWORD)
        self.assertEqual(typed[0], 200)
        body = app.members(passphrase="something else")
        self.break_postgresql()
        status, answer, _ = self.until(
            lambda: app.call("POST", "/auth/login/flagship", body))
        self.assertEqual(status, 401, answer)
        self.assertEqual(count("session.refused"), refused + 1)
        self.assertEqual(app.login(PASSWORD)[0], 200)

    def test_routes_with_a_token_answer_503_in_an_outage(self):
        app = self.app("Tokens")
        app.register(notifications=CATEGORIES)
        self.assertEqual(app.certify_by_google()[0], 204)
        self.assertEqual(app.login(PASSWORD)[0], 200)
        self.break_postgresql()
        self.assertEqual(self.until(app.session_code)[0], 201)
        self.break_postgresql()
        self.assertEqual(self.until(app.renew)[0], 200)
        title = f"Outage {app.id}"
        notification = {"data": {"attributes": {
            "category": "balance", "category_id": app.id, "title": title, "state": "low"}}}
        self.break_postgresql()
        status, body, _ = self.until(
            lambda: app.call("POST", "/notifications", notification, bearer=app.access))
        self.assertEqual(status, 201, body)
        again = app.call("POST", "/notifications", notification, bearer=app.access)
        self.assertEqual(again[1]["data"]["id"], body["data"]["id"])
        requested = f"data ->> 'sender_id' = '{uuid_of(app)}'"
        self.assertEqual(count("notification.requested", requested), 1)


def uuid_of(app):
    """The stream of an installation, which its id is in hexadecimal digits."""
    digits = app.id
    return "-".join(
        (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


if __name__ == "__main__":
    unittest.main()
