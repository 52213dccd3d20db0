"""The first open of the flagship app, over a socket."""

import json
import re
import unittest
import urllib.parse
import urllib.request

from flagship_client import App, AppleDevice, Authorization, WebView, play_integrity
from urd_process import Urd, eventually


def parameters(place):
    """Of the page that asks."""
    path, query = place.split("?", 1)
    assert path == "/auth/authorize", place
    return dict(urllib.parse.parse_qsl(query))


PASSWORD = "seven purple otters dance"


class FirstOpen(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.urd = Urd()

    @classmethod
    def tearDownClass(cls):
        cls.urd.close()

    def app(self, name):
        app = App(self.urd.values, name)
        app.register()
        return app

    def test_1_new_account(self):
        """Register, certify by Apple, take the realm over, and go on."""
        app = self.app("iPhone")
        self.assertEqual(app.prelogin()[0], 412)
        device = AppleDevice(self.urd.values)
        self.assertEqual(app.certify_by_apple(device)[0], 204)
        status, known, _ = app.information()
        self.assertEqual((status, known["flagship"], known["certified_from_store"]),
                         (200, True, True))
        status, tokens, _ = app.onboard(PASSWORD)
        self.assertEqual((status, tokens["scope"]), (200, "*"))
        self.assertEqual(app.onboard(PASSWORD)[0], 400)
        status, code, _ = app.session_code()
        self.assertEqual((status, len(code["session_code"])), (201, 32))
        self.assertEqual(app.renew()[0], 200)
        self.assertEqual(app.session_code()[0], 201)
        # Later the device shows that it is the same one.
        path = f"/auth/clients/{app.id}/assertion"
        for _ in range(2):
            self.assertEqual(app.call("POST", path, device.assertion(app.challenge()))[0], 204)
        device.counter -= 1
        self.assertEqual(app.call("POST", path, device.assertion(app.challenge()))[0], 400)
        self.assertEqual(app.unregister(), 204)
        self.assertEqual(app.session_code()[1], {"error": "Invalid JWT token"})
        self.assertEqual(app.renew()[1], {"error": "the client must be registered"})

    def test_2_existing_account(self):
        """Certify by Google, and sign in with the passphrase."""
        app = self.app("Pixel")
        self.assertEqual(app.certify_by_google()[0], 204)
        self.assertEqual(app.prelogin()[1]["KdfIterations"], 100_000)
        self.assertEqual(app.login("something else entirely")[0], 401)
        status, tokens, _ = app.login(PASSWORD)
        self.assertEqual((status, tokens["token_type"], tokens["scope"]), (200, "bearer", "*"))
        self.assertEqual(app.session_code()[0], 201)

    def test_3_uncertified(self):
        """Whoever no store vouches for gets a session code and no tokens."""
        app = self.app("Fairphone")
        nonce = app.challenge()
        wrong = app.attest({
            "platform": "android", "issuer": "playintegrity", "challenge": nonce,
            "attestation": play_integrity(self.urd.values, nonce, package="io.example.evil")})
        self.assertEqual((wrong[0], wrong[1]), (400, {"error": "invalid package name"}))
        again = app.attest({
            "platform": "android", "issuer": "playintegrity", "challenge": nonce,
            "attestation": play_integrity(self.urd.values, nonce)})
        self.assertEqual(again[1], {"error": "invalid challenge"})
        evil = AppleDevice(self.urd.values, app="DEMODEMO01.io.example.evil")
        self.assertEqual(app.certify_by_apple(evil)[1], {"error": "invalid app id"})
        status, body, _ = app.login(PASSWORD)
        self.assertEqual((status, list(body)), (202, ["session_code"]))

    def mailed(self, subject):
        """The digits of the newest mail with these words in its subject."""
        def look():
            url = self.urd.values["URD_INBOX_URL"] + "?to=owner@flagship.localhost"
            request = urllib.request.Request(url, headers={"Accept": "application/json"})
            with urllib.request.urlopen(request, timeout=10) as answer:
                mails = json.load(answer)
            mails = mails.get("items", mails) if isinstance(mails, dict) else mails
            found = [mail for mail in mails if subject in mail["subject"]]
            return found and re.search(r"\b\d{6}\b", found[0]["text"]).group()
        return eventually(look, f"a mail about {subject}")

    def test_3_certified_by_mail(self):
        """No store vouches for it: the owner types a code, and lets it in on a page."""
        app = self.app("Murena")
        code = app.login(PASSWORD)[1]["session_code"]
        asked, view = Authorization(app), WebView(app)
        self.assertEqual(view.ask("GET", asked.path)[0], 303)
        status, place = view.ask("GET", asked.path + "&session_code=" + code)
        self.assertEqual((status, parameters(place)), (303, asked.members))
        self.assertEqual(view.ask("GET", place)[0], 200)
        status, place = view.ask("POST", f"/auth/clients/{app.id}/flagship", {
            "form": view.hidden("form"), "token": view.hidden("token"),
            "next": view.hidden("next"), "code": self.mailed("full access")})
        self.assertEqual((status, parameters(place)), (303, asked.members))
        self.assertEqual(view.ask("GET", place)[0], 200)
        status, place = view.ask("POST", "/auth/authorize", {
            **asked.members, "form": view.hidden("form"), "decision": "allow"})
        self.assertEqual((status, place[:8]), (302, "cozy://?"))
        self.assertEqual(asked.redeem(place)[0], 200)
        self.assertEqual(app.session_code()[0], 201)
        known = app.information()[1]
        self.assertEqual((known["flagship"], "certified_from_store" in known), (True, False))
        status, listed, _ = app.call("GET", "/settings/clients", bearer=app.access)
        names = {one["attributes"]["client_name"]: one["attributes"].get("certified_by")
                 for one in listed["data"]}
        self.assertEqual(names["Murena"], "mailed_code")
        self.assertEqual(asked.redeem(place)[0], 400)
        self.assertEqual(app.session_code()[0], 400)

    def test_4_standard_realms_have_none_of_it(self):
        app = App(self.urd.values)
        app.host = "localhost"
        for method, path in (("POST", "/auth/register"), ("GET", "/public/prelogin"),
                             ("POST", "/auth/session_code")):
            self.assertEqual(app.call(method, path, {} if method == "POST" else None)[0], 404)

    def test_5_it_is_on_record(self):
        trail = "/api/admin/realms/flagship/audit-trail?limit=200"
        happened = {entry["type"] for entry in self.urd.api.call("GET", trail)[1]["items"]}
        for name in ("client.certified", "attestation.accepted", "attestation.refused",
                     "session_code.issued", "owner.onboarded"):
            self.assertIn(name, happened)


if __name__ == "__main__":
    unittest.main()
