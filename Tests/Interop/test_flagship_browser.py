"""The owner of a flagship realm in a real Chromium: he signs in by his passphrase, of which the server
sees a hash alone, types the code that was mailed for an app that no store vouches for, lets it in, and is
sent back to the app."""

import time
import unittest
import urllib.parse

from browser import PATIENCE
from flagship_client import App, Authorization
from pages import Reader
from phone import code, inbox, mail
from urd_process import Urd

PASSWORD = "seven purple otters dance"
OWNER = "owner@flagship.localhost"


class InAChromium(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.urd = Urd(lawful=True)
        cls.site = cls.urd.values["URD_FLAGSHIP_URL"]
        cls.app = App(cls.urd.values, "iPhone")
        cls.app.register()
        assert cls.app.onboard(PASSWORD)[0] == 202

    @classmethod
    def tearDownClass(cls):
        cls.urd.close()

    def setUp(self):
        self.reader = Reader(self.site)
        self.addCleanup(self.reader.close)
        self.reader.language("en")

    def sent_to(self, text):
        """Where a button leads that leads out of the browser, and what was sent for it."""
        browser = self.reader.browser
        browser.call("Fetch.enable", patterns=[
            {"urlPattern": "*/auth/authorize*", "requestStage": "Response"}])
        try:
            self.reader.click(text)
            deadline = time.monotonic() + PATIENCE
            while time.monotonic() < deadline:
                event = browser.receive()
                if event.get("method") == "Fetch.requestPaused":
                    found = event["params"]
                    headers = {one["name"].lower(): one["value"]
                               for one in found["responseHeaders"]}
                    browser.call("Fetch.fulfillRequest", requestId=found["requestId"],
                                 responseCode=204)
                    return found["responseStatusCode"], headers["location"]
            raise AssertionError("nothing was sent")
        finally:
            browser.call("Fetch.disable")

    def sign_in(self, password=PASSWORD):
        self.reader.fill("typed", password)
        self.reader.press("Sign in")

    def test_an_owner_certifies_an_app_in_a_browser(self):
        app = App(self.urd.values, "Murena")
        app.register()
        asked = Authorization(app)
        self.reader.go(asked.path)
        self.assertTrue(self.reader.place().startswith("/auth/login?redirect="))
        self.reader.look(self, "flagship-login")
        self.sign_in("not his passphrase")
        self.assertIn("Wrong passphrase", self.reader.text())
        before = len(inbox(self.urd, OWNER))
        self.sign_in()
        self.assertTrue(self.reader.place().startswith("/auth/authorize?"), self.reader.text())
        self.assertIn("Is this your app?", self.reader.text())
        self.reader.look(self, "flagship-certification")
        digits = code(self.urd, OWNER, before)
        self.reader.fill("code", "000000" if digits != "000000" else "111111")
        self.reader.press("Yes, this is my app")
        self.assertIn("wrong or has expired", self.reader.text())
        self.reader.fill("code", digits)
        self.reader.press("Yes, this is my app")
        self.assertIn("Allow Murena?", self.reader.text())
        self.reader.look(self, "flagship-consent")
        status, link = self.sent_to("Allow")
        self.assertEqual((status, link[:8], link[-1]), (302, "cozy://?", "#"))
        query = urllib.parse.parse_qs(link[8:-1])
        self.assertEqual(query["code"], query["access_code"])
        status, tokens, _ = asked.redeem(link)
        self.assertEqual((status, tokens["scope"]), (200, "*"))
        self.assertEqual(app.session_code()[0], 201)

    def test_the_server_sees_no_passphrase(self):
        self.reader.go("/auth/login?redirect=/account")
        browser = self.reader.browser
        browser.call("Fetch.enable", patterns=[{"urlPattern": "*/auth/login"}])
        self.reader.fill("typed", PASSWORD)
        self.reader.click("Sign in")
        deadline = time.monotonic() + PATIENCE
        sent = None
        while sent is None and time.monotonic() < deadline:
            event = browser.receive()
            if event.get("method") == "Fetch.requestPaused":
                sent = event["params"]
        body = urllib.parse.parse_qs(sent["request"]["postData"])
        self.assertEqual(len(body["passphrase"][0]), 44)
        self.assertNotIn("typed", body)
        self.assertNotIn("otters", sent["request"]["postData"])
        browser.call("Fetch.continueRequest", requestId=sent["requestId"])
        browser.call("Fetch.disable")
        self.reader.until("() => location.pathname === '/account'")

    def test_a_passphrase_is_reset_by_mail(self):
        self.reader.go("/auth/passphrase_reset?hideBackButton=true")
        self.reader.look(self, "flagship-forgotten")
        before = len(inbox(self.urd, OWNER))
        self.reader.press("Send me the link")
        text = mail(self.urd, OWNER, before, says=r"/auth/passphrase_renew\?token=")["text"]
        link = next(word for word in text.split() if "/auth/passphrase_renew?token=" in word)
        self.reader.go(link)
        self.reader.look(self, "flagship-renewal")
        self.reader.fill("typed", "short")
        self.reader.press("Set passphrase")
        self.assertIn("too short", self.reader.text())
        self.reader.fill("typed", PASSWORD)
        self.reader.press("Set passphrase")
        self.assertTrue(self.reader.place().startswith("/auth/login"))
        self.sign_in()
        self.assertEqual(self.reader.place(), "/account")


if __name__ == "__main__":
    unittest.main()
