"""The first open of the flagship app, over a socket."""

import concurrent.futures
import json
import re
import unittest
import urllib.parse
import urllib.request

from browser import Page
from flagship_client import (
    App, AppleDevice, Authorization, WebView, device_hash, play_integrity)
from pages import Reader
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
        cls.urd = Urd(lawful=True)

    @classmethod
    def tearDownClass(cls):
        cls.urd.close()

    def app(self, name):
        app = App(self.urd.values, name)
        app.register()
        return app

    def test_1_a_new_account_is_opened_with_the_certified_app(self):
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

    def test_2_an_existing_account_is_opened_with_the_certified_app(self):
        """Certify by Google, and sign in with the passphrase."""
        app = self.app("Pixel")
        self.assertEqual(app.certify_by_google()[0], 204)
        self.assertEqual(app.prelogin()[1]["KdfIterations"], 100_000)
        self.assertEqual(app.login("something else entirely")[0], 401)
        status, tokens, _ = app.login(PASSWORD)
        self.assertEqual((status, tokens["token_type"], tokens["scope"]), (200, "bearer", "*"))
        self.assertEqual(app.session_code()[0], 201)

    def test_2_many_simultaneous_attestations_are_accepted(self):
        """Each with a challenge of its own: one client's, which only one can change at a time."""
        app = self.app("Hurried")
        proofs = []
        for _ in range(32):
            nonce = app.challenge()
            proofs.append({
                "platform": "android", "issuer": "playintegrity", "challenge": nonce,
                "attestation": play_integrity(self.urd.values, nonce)})
        with concurrent.futures.ThreadPoolExecutor(len(proofs)) as pool:
            statuses = list(pool.map(lambda proof: app.attest(proof)[0], proofs))
        self.assertEqual(statuses, [204] * len(proofs))

    def test_2_update_returns_a_new_secret(self):
        """Clients put the answer in the place of what they knew, and refresh with it."""
        app = self.app("Updated")
        self.assertEqual(app.certify_by_google()[0], 204)
        self.assertEqual(app.login(PASSWORD)[0], 200)
        path = f"/auth/register/{app.id}"
        members = {"client_id": app.id, "client_name": app.name, "software_id": "amiral",
                   "redirect_uris": ["cozy://"]}
        for more in ({"notification_device_token": "0011"}, {"client_secret": app.secret}, {}):
            status, body, _ = app.call("PUT", path, {**members, **more}, bearer=app.registration)
            self.assertEqual(status, 200, body)
            app.secret = body["client_secret"]
            self.assertEqual(app.renew()[0], 200)
            self.assertEqual(app.information()[1]["client_secret"], app.secret)

    def test_2_apps_start(self):
        """What cozy-client and cozy-flags ask for before an app shows anything."""
        app = self.app("Starter")
        self.assertEqual(app.certify_by_google()[0], 204)
        self.assertEqual(app.login(PASSWORD)[0], 200)
        status, flags, _ = app.call("GET", "/settings/flags", bearer=app.access)
        self.assertEqual((status, flags["data"]["id"]), (200, "io.cozy.settings.flags"))
        self.assertIsInstance(flags["data"]["attributes"], dict)
        self.assertEqual(app.call("GET", "/settings/flags", bearer="x")[0], 400)
        self.assertEqual(app.call("GET", "/settings/instance", bearer=app.access)[0], 200)
        # Another device of one name may say it again.
        other = self.app("Starter")
        status, body, _ = other.call("PUT", f"/auth/register/{other.id}", {
            "client_id": other.id, "client_name": "Starter", "software_id": "amiral",
            "redirect_uris": ["cozy://"]}, bearer=other.registration)
        self.assertEqual((status, body["client_name"]), (200, "Starter-2"))

    def test_2_the_login_page_leads_to_whole_addresses_with_a_port(self):
        app = self.app("Pages")
        page = "/settings/clients/limit-exceeded"
        view = WebView(app)
        status, place = view.ask("GET", page)
        whole = urllib.parse.urlencode({"redirect": f"http://{app.host}{page}"})
        self.assertEqual((status, place), (303, "/auth/login?" + whole))
        for asked, led in ((f"http://{app.host}{page}", page + "#"),
                           (f"http://drive.{app.host}/", f"http://drive.{app.host}/#"),
                           (f"http://drive.{app.host}1/", "/account#"),
                           (f"http://evil.example:{app.host.split(':')[1]}/", "/account#")):
            view = WebView(app)
            self.assertEqual(view.ask("GET", "/auth/login")[0], 200)
            status, place = view.ask("POST", "/auth/login", {
                "form": view.hidden("form"), "redirect": asked,
                "passphrase": device_hash(PASSWORD, app.host, 100_000)})
            self.assertEqual((status, place), (303, led))

    def test_3_an_uncertified_app_gets_a_web_view(self):
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

    def test_3_an_app_is_certified_by_mail(self):
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

    def test_3_certified_apps_open_web_apps(self):
        """A session code into the web view of an app, a konnector's token, and its provider."""
        provider = Page()
        self.addCleanup(provider.close)
        apps = "/api/admin/realms/flagship/web-apps"
        drive = {"kind": "app", "slug": "drive", "name": "Drive", "permissions": ["files"]}
        bank = {"kind": "konnector", "slug": "bank", "name": "Bank", "permissions": ["bills"],
                "start_url": provider.origin + "/bank?client=urd"}
        for one in (drive, bank):
            self.assertEqual(self.urd.api.call("POST", apps, one)[0], 201)
        for more in ({"permissions": ["*"]}, {"origin": "http://evil.example"}):
            status, body, _ = self.urd.api.call(
                "POST", apps, {**drive, "slug": "other", **more})
            self.assertEqual(status, 400, body)
        app = self.app("Opener")
        self.assertEqual(app.certify_by_google()[0], 204)
        self.assertEqual(app.login(PASSWORD)[0], 200)

        status, document, _ = app.open("drive")
        attributes = document["data"]["attributes"]
        self.assertEqual((status, document["data"]["type"]), (200, "io.cozy.apps.open"))
        self.assertEqual((attributes["Domain"], attributes["SubDomain"]), (app.host, "nested"))
        # As the app reads it: a pair of this name, and a domain.
        pair, *more = attributes["Cookie"].split("; ")
        self.assertEqual(more, ["Path=/", f"Domain={app.host.split(':')[0]}", "HttpOnly"])
        self.assertRegex(pair, "^cozysessid=[A-Za-z0-9_-]+$")
        headers = {"Accept": "text/html", "Host": f"drive.{app.host}"}
        self.assertEqual(app.call("GET", "/", headers=headers)[0], 303)
        self.assertEqual(app.call("GET", "/", headers={**headers, "Cookie": pair})[0], 200)
        again = app.call(
            "GET", "/apps/drive/open", bearer=app.access, headers={"Cookie": pair})
        self.assertEqual(again[1]["data"]["attributes"]["Cookie"], attributes["Cookie"])
        self.assertIsInstance(json.loads(attributes["Capabilities"]), dict)
        status, token, _ = app.konnector_token("bank")
        self.assertEqual((status, token[:7]), (201, "urd_at_"))
        for given in (token, attributes["Token"]):
            self.assertEqual(
                app.call("POST", "/auth/session_code", bearer=given)[1],
                {"error": "Not authorized"})
        self.assertEqual(app.open("nothing")[0], 404)

        reader = Reader(f"http://{app.host}")
        self.addCleanup(reader.close)
        reader.language("en")
        link = app.link("drive", folder="a&b")
        reader.go(link)
        where = "() => location.origin + location.pathname + location.search"
        self.assertEqual(
            reader.browser.run(where), f"http://drive.{app.host}/?folder=a%26b")
        self.assertIn("You are signed in", reader.text())
        reader.look(self, "web-app")
        other = Reader(f"http://{app.host}")
        self.addCleanup(other.close)
        other.language("en")
        other.go(link)
        self.assertIn("/login", other.place())
        # At the app's place there is nothing else.
        reader.go(f"http://drive.{app.host}/account")
        self.assertIn("Page not found", reader.text())

        code = app.session_code()[1]["session_code"]
        reader.go(f"/accounts/bank/start?slug=drive&state=x1&session_code={code}")
        there = dict(urllib.parse.parse_qsl(reader.place().split("?", 1)[1]))
        self.assertEqual(reader.browser.run("() => location.origin"), provider.origin)
        self.assertEqual(there["client"], "urd")
        back = urllib.parse.urlencode({"state": there["state"], "connection_id": "b-1"})
        reader.go(there["redirect_uri"] + "?" + back)
        self.assertEqual(
            reader.browser.run("() => location.origin"), f"http://drive.{app.host}")
        told = dict(urllib.parse.parse_qsl(reader.place().split("?", 1)[1]))
        self.assertEqual((told["state"], told["connection_id"]), ("x1", "b-1"))
        self.assertRegex(told["account"], "^[0-9a-f]{32}$")
        reader.go(there["redirect_uri"] + "?" + back)
        self.assertIn("Something is wrong with this link", reader.text())

        # The owner sees how his devices were certified.
        reader.go("/account/sessions")
        self.assertIn("Verified by Google Play Integrity", reader.text())
        reader.look(self, "owners-devices")
        history = f"/api/admin/realms/flagship/devices/{app.id}/history?limit=200"
        def happened():
            items = self.urd.api.call("GET", history)[1]["items"]
            # Two tokens and one browser for the app, a token for the konnector.
            return len([one for one in items if one["fields"].get("web_app")]) == 4 and items
        items = eventually(happened, "a history of what was opened")
        kinds = [one["type"] for one in items]
        for name in ("client.certified", "attestation.accepted", "session_code.issued"):
            self.assertIn(name, kinds)

    def test_4_standard_realms_serve_no_flagship_routes(self):
        app = App(self.urd.values)
        app.host = "localhost"
        for method, path in (("POST", "/auth/register"), ("GET", "/public/prelogin"),
                             ("POST", "/auth/session_code")):
            self.assertEqual(app.call(method, path, {} if method == "POST" else None)[0], 404)

    def test_5_every_step_is_recorded(self):
        trail = ("/api/admin/realms/flagship/audit-trail?limit=200"
                 f"&min_position={self.urd.head('flagship')}")
        happened = {entry["type"] for entry in self.urd.api.call("GET", trail)[1]["items"]}
        for name in ("client.certified", "attestation.accepted", "attestation.refused",
                     "session_code.issued", "owner.onboarded"):
            self.assertIn(name, happened)


if __name__ == "__main__":
    unittest.main()
