"""The whole way of a login in a real Chromium: from a client through the pages and back to the client's
own site, with a code that gets tokens. Screenshots are kept for people."""

import http.client
import json
import re
import sys
import time
import unittest
import urllib.parse
import uuid

from pages import Reader
from person import fetch
from phone import code, inbox
from relying_site import RelyingSite, claims
from token_tool import missing, rerun
from urd_process import PATIENCE, Urd

MISSING = missing("pyotp")
if not MISSING:
    import pyotp

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


def setUpModule():
    global urd, site, metadata
    urd = Urd(lawful=True)
    status, body, _ = urd.api.call("PATCH", f"{urd.realm}/settings", {
        "registration": "jit_on_otp", "otp_resend_delay": 0, "display_name": "Northwind",
        "accent_colour": "#0b6e4f"})
    assert status == 200, body
    site = f"http://localhost:{urd.values['URD_URL'].rsplit(':', 1)[1].strip('/')}"
    metadata = fetch(f"{site}/.well-known/openid-configuration")


def tearDownModule():
    urd.close()


class InABrowser(unittest.TestCase):
    def setUp(self):
        self.reader = Reader(site)
        self.addCleanup(self.reader.close)
        self.reader.language("en")
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"

    def client(self, **members):
        client = RelyingSite(urd, metadata, **members)
        self.addCleanup(client.close)
        return client

    def path(self):
        return self.reader.place().partition("?")[0]

    def type_code(self):
        """At the login page: by a mailed code, up to where that leads."""
        before = len(inbox(urd, self.email))
        self.reader.fill("email", self.email)
        self.reader.press("Send me a code")
        self.reader.fill("code", code(urd, self.email, before))
        self.reader.press("Sign in")

    def is_back(self, client):
        here = self.reader.browser.run("() => location.origin + location.pathname")
        self.assertEqual(here, client.back, self.reader.text())


class ALogin(InABrowser):
    def test_a_login_asks_for_consent_once(self):
        client, reader = self.client(), self.reader
        reader.go(client.begin(login_hint=self.email))
        self.assertEqual(self.path(), "/login")
        self.assertIn("Contoso Travel", reader.text())
        reader.look(self, "login-for-a-client")
        self.type_code()
        self.assertEqual(self.path(), "/consent")
        reader.look(self, "consent")
        reader.press("Allow")
        self.is_back(client)
        tokens = client.tokens()
        known = claims(tokens["id_token"])
        self.assertEqual(
            (known["iss"], known["aud"], known["nonce"]), (site, client.id, client.nonce))
        # The second time there is nothing to ask, and no page on the way.
        reader.go(client.begin())
        self.is_back(client)
        self.assertEqual(claims(client.tokens()["id_token"])["sub"], known["sub"])

    def test_a_login_continues_on_a_reopened_code_page(self):
        client, reader = self.client(), self.reader
        reader.go(client.begin())
        before = len(inbox(urd, self.email))
        reader.fill("email", self.email)
        reader.press("Send me a code")
        place = reader.place()
        self.assertEqual(self.path(), "/login/code")
        self.assertNotIn(self.email.partition("@")[0], place)
        reader.look(self, "code-for-a-client")
        # By a reload, and by a telephone that kept nothing but where it was.
        reader.leave(lambda: reader.browser.call("Page.reload"))
        reader.go("/logged-out")
        reader.go(place)
        typed = code(urd, self.email, before)
        self.assertEqual(len(inbox(urd, self.email)), before + 1)
        reader.fill("code", typed)
        reader.press("Sign in")
        self.assertEqual(self.path(), "/consent")
        # Going back asks nobody whether a form is to be sent again.
        reader.leave(lambda: reader.browser.run("() => { history.back(); }"))
        self.assertEqual(self.path(), "/consent")
        reader.press("Allow")
        self.is_back(client)
        client.tokens()

    def test_a_login_asks_for_consent_again_on_the_clients_request(self):
        client, reader = self.client(), self.reader
        reader.go(client.begin())
        self.type_code()
        reader.press("Allow")
        first = claims(client.tokens()["id_token"])
        time.sleep(1.1)  # Sign-ins are told apart by the second.
        reader.go(client.begin(prompt="login"))
        self.assertEqual(self.path(), "/login")
        self.assertIn("please confirm that it is you", reader.text())
        reader.look(self, "login-once-more")
        self.type_code()
        self.is_back(client)
        second = claims(client.tokens()["id_token"])
        self.assertEqual(second["sub"], first["sub"])
        self.assertGreater(second["auth_time"], first["auth_time"])
        reader.go(client.begin(prompt="consent"))
        self.assertEqual(self.path(), "/consent")
        reader.look(self, "consent-once-more")
        reader.press("Allow")
        self.is_back(client)
        client.tokens()

    def test_a_login_tells_the_client_of_a_refusal(self):
        client, reader = self.client(), self.reader
        reader.go(client.begin())
        self.type_code()
        reader.press("Deny")
        self.is_back(client)
        self.assertEqual(client.answer()["error"], "access_denied")
        self.assertNotIn("code", client.answer())
        reader.go(client.begin())
        self.assertEqual(self.path(), "/consent", "A refusal is not kept.")

    def test_a_login_answers_by_form_post(self):
        client, reader = self.client(consent="none"), self.reader
        reader.go(client.begin(response_mode="form_post"))
        self.type_code()
        reader.until("() => location.pathname === '/back'")
        self.is_back(client)
        self.assertEqual(reader.place(), "/back")
        client.tokens("POST")
        # Also without a page of ours on the way there, and for a refusal.
        reader.go(client.begin(response_mode="form_post", prompt="none"))
        reader.until("() => location.pathname === '/back'")
        client.tokens("POST")
        reader.browser.call("Network.clearBrowserCookies")
        reader.go(client.begin(response_mode="form_post", prompt="none"))
        reader.until("() => location.pathname === '/back'")
        self.assertEqual(client.answer("POST")["error"], "login_required")

    def test_a_login_answers_a_client_that_redirects_to_another_site(self):
        client, other, reader = self.client(consent="none"), self.client(), self.reader
        client.onward = f"{other.url}/welcome"
        reader.go(client.begin(response_mode="form_post"))
        self.type_code()
        for mode in ("POST", "GET"):
            reader.until("() => location.pathname === '/welcome'")
            here = reader.browser.run("() => location.href")
            self.assertEqual(here, client.onward, reader.text())
            client.tokens(mode)
            reader.go(client.begin(response_mode="query"))

    def test_a_login_without_scripts_answers_by_a_button(self):
        client, reader = self.client(consent="none"), self.reader
        reader.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        reader.go(client.begin(response_mode="form_post"))
        self.type_code()
        reader.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        reader.look(self, "form-post")
        reader.press("Continue")
        self.is_back(client)
        client.tokens("POST")

    def test_a_login_by_passkey(self):
        client, reader = self.client(), self.reader
        authenticator = reader.browser.add_authenticator()
        reader.go("/login")
        self.type_code()
        reader.go("/account/security")
        reader.until("() => !document.getElementById('enrol-way').hidden")
        reader.press("Add a passkey")
        self.assertEqual(len(reader.browser.credentials(authenticator)), 1)
        reader.browser.call("Network.clearBrowserCookies")
        # It offers itself once the page is there. Whoever is too slow presses the button.
        reader.browser.call("Page.navigate", url=client.begin())
        deadline = time.monotonic() + PATIENCE
        while self.path() != "/consent" and time.monotonic() < deadline:
            time.sleep(0.5)
            if self.path() == "/login" and time.monotonic() > deadline - PATIENCE + 5:
                reader.click("Sign in with a passkey")
        self.assertEqual(self.path(), "/consent")
        reader.until("() => document.readyState === 'complete'")
        reader.press("Allow")
        self.is_back(client)
        self.assertIn("hwk", claims(client.tokens()["id_token"])["amr"])

    def test_a_login_keeps_a_requested_passkey_dialogue_open(self):
        reader = self.reader
        reader.browser.call("Page.addScriptToEvaluateOnNewDocument", source="""
            window.begun = [];
            window.setInterval = (renew) => { window.renew = renew; };
            PublicKeyCredential.isConditionalMediationAvailable = async () => true;
            navigator.credentials.get = (options) => new Promise((_, fail) => {
                begun.push(options.mediation || "asked");
                window.cancel = () => {
                    options.signal.onabort = null;
                    fail(new DOMException("", "NotAllowedError"));
                };
                options.signal.onabort = () => {
                    begun.push("aborted");
                    fail(options.signal.reason);
                };
            });""")
        reader.go("/login")
        expected = ["conditional"]

        def expect(*more):
            expected.extend(more)
            reader.until(f"() => begun.length >= {len(expected)}")
            self.assertEqual(reader.browser.run("() => begun"), expected)

        expect()
        reader.browser.run("() => renew()")
        expect("aborted", "conditional")
        reader.click("Sign in with a passkey")
        expect("aborted", "asked")
        reader.browser.run("() => renew()")
        expect()
        # Once it is over, the browser offers passkeys by itself again.
        reader.browser.run("() => cancel()")
        expect("conditional")
        self.assertIn("That did not work", reader.text())
        reader.browser.run("() => renew()")
        expect("aborted", "conditional")

    def test_enrolling_a_second_passkey_on_a_device_says_that_it_has_one(self):
        reader = self.reader
        reader.browser.add_authenticator()
        reader.go("/login")
        self.type_code()
        reader.go("/account/security")
        reader.until("() => !document.getElementById('enrol-way').hidden")
        reader.press("Add a passkey")
        self.assertIn("Your passkey is ready.", reader.text())
        reader.click("Add a passkey")
        reader.until("() => !document.getElementById('enrol-known').hidden")
        self.assertIn("This device already has a passkey", reader.text())
        for wrong in ("Your passkey is ready.", "No passkey was created."):
            self.assertNotIn(wrong, reader.text())

    def test_a_login_asks_for_the_second_factor(self):
        client, reader = self.client(), self.reader
        reader.go("/login")
        self.type_code()
        reader.go("/account/security")
        reader.press("Set up an app")
        secret = reader.browser.run("() => document.querySelector('code').textContent")
        app = pyotp.TOTP(secret.replace(" ", ""))
        used = app.now()
        reader.fill("code", used)
        reader.press("Turn on")
        reader.press("I've saved these codes")
        reader.browser.call("Network.clearBrowserCookies")
        reader.go(client.begin())
        self.type_code()
        self.assertIn("authenticator app", reader.text())
        while app.now() == used:
            time.sleep(0.5)
        reader.fill("totp", app.now())
        reader.press("Continue")
        self.assertEqual(self.path(), "/consent")
        reader.press("Allow")
        self.is_back(client)
        self.assertEqual(set(claims(client.tokens()["id_token"])["amr"]), {"mfa", "otp"})

    def test_a_login_with_an_unregistered_redirect_uri_shows_an_error(self):
        client, reader = self.client(), self.reader
        for wrong, reason in (
                ({"client_id": "nobody"}, "There is no such client."),
                ({"redirect_uri": f"{client.url}/elsewhere"}, "redirect_uri is not one that")):
            reader.go(client.begin(**wrong))
            self.assertEqual(self.path(), "/connect/authorize")
            self.assertIn("Something is wrong with this link", reader.text())
            self.assertIn(reason, reader.text())
        reader.look(self, "error")
        self.assertEqual(client.brought, [])
        reader.go("/nothing/here")
        self.assertIn("Page not found", reader.text())
        reader.look(self, "not-found")
        reader.language("de")
        reader.go("/connect/authorize?continue=AAAA")
        reader.look(self, "error-german")

    def test_a_login_ends_at_its_client(self):
        client, reader = self.client(), self.reader
        reader.go(client.begin())
        self.type_code()
        reader.press("Allow")
        tokens = client.tokens()
        reader.go("/logout")
        self.assertIn("Sign out?", reader.text())
        reader.look(self, "logout")
        # Without proof of who asks, people are asked.
        reader.go(metadata["end_session_endpoint"] + "?" + urllib.parse.urlencode(
            {"post_logout_redirect_uri": client.bye, "client_id": client.id, "state": "x"}))
        reader.look(self, "logout-for-a-client")
        reader.go(metadata["end_session_endpoint"] + "?" + urllib.parse.urlencode(
            {"post_logout_redirect_uri": client.bye, "id_token_hint": tokens["id_token"],
             "state": "y"}))
        if self.path() != "/bye":
            reader.press("Sign out")
        method, path, members, _ = client.brought[-1]
        self.assertEqual((method, path, members), ("GET", "/bye", {"state": "y"}))
        reader.go(client.begin(prompt="none"))
        self.assertEqual(client.answer()["error"], "login_required")


class ADevice(InABrowser):
    def ask(self):
        status, client, _ = urd.api.call("POST", urd.clients, {
            "client_name": "Living room television", "token_endpoint_auth_method": "none",
            "grant_types": [DEVICE]})
        self.assertEqual(status, 201, client)
        self.television = client["client_id"]
        return self.post(
            metadata["device_authorization_endpoint"], client_id=self.television,
            scope="openid email")[1]

    def post(self, url, **form):
        place = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
        try:
            connection.request("POST", place.path, urllib.parse.urlencode(form), {
                "Content-Type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def test_a_device_is_approved_by_a_signed_in_person(self):
        device, reader = self.ask(), self.reader
        reader.go(device["verification_uri"])
        self.assertEqual(self.path(), "/login")
        self.type_code()
        self.assertEqual(self.path(), "/device")
        reader.look(self, "device")
        reader.fill("user_code", "BCDF-GHJK")
        reader.press("Continue")
        reader.look(self, "device-wrong")
        reader.fill("user_code", device["user_code"].lower())
        reader.press("Continue")
        self.assertIn("Living room television", reader.text())
        reader.look(self, "device-confirm")
        reader.press("Connect")
        reader.look(self, "device-connected")
        time.sleep(device["interval"])
        status, tokens = self.post(
            metadata["token_endpoint"], grant_type=DEVICE, client_id=self.television,
            device_code=device["device_code"])
        self.assertEqual(status, 200, tokens)
        self.assertIn("id_token", tokens)

    def test_a_device_is_denied(self):
        device, reader = self.ask(), self.reader
        reader.go(device["verification_uri_complete"])
        self.type_code()
        self.assertIn(device["user_code"], reader.text(), "The code is asked about, not taken.")
        reader.press("Deny")
        reader.look(self, "device-sent-away")
        _, answer = self.post(
            metadata["token_endpoint"], grant_type=DEVICE, client_id=self.television,
            device_code=device["device_code"])
        self.assertEqual(answer["error"], "access_denied")


class ByKeyboard(InABrowser):
    """Tab reaches everything, in the order in which it is read, and Enter and Space do the rest. That
    the focus is seen everywhere `Reader.faults` looks at on each page."""

    def tab_to(self, text):
        """Presses Tab until what has the focus says or is labelled this."""
        for _ in range(40):
            self.reader.key("Tab", 9)
            if text == self.reader.browser.run("""() => {
                const element = document.activeElement;
                return (element.labels?.[0]?.textContent || element.textContent).trim();
            }"""):
                return
        raise AssertionError(f"Tab does not come to {text!r}: {self.reader.text()}")

    def enter(self):
        self.reader.leave(lambda: self.reader.key("Enter", 13))

    def test_a_code_can_be_mailed_by_keyboard_where_passphrases_are_on(self):
        settings = f"{urd.realm}/settings"
        self.assertEqual(urd.api.call("PATCH", settings, {"login_passphrase": True})[0], 200)
        self.addCleanup(urd.api.call, "PATCH", settings, {"login_passphrase": False})
        self.reader.go("/login")
        self.assertIn("Passphrase", self.reader.text())
        before = len(inbox(urd, self.email))
        self.reader.type(self.email)
        self.enter()
        self.assertEqual(self.path(), "/login/code")
        self.reader.type(code(urd, self.email, before))
        self.enter()
        self.assertEqual(self.path(), "/account")

    def test_a_person_signs_in_consents_and_signs_out_by_keyboard(self):
        client, reader, before = self.client(), self.reader, len(inbox(urd, self.email))
        reader.go(client.begin())
        # Where something is to be typed, the focus is.
        reader.type(self.email)
        self.tab_to("Send me a code")
        self.enter()
        reader.type(code(urd, self.email, before))
        self.tab_to("Sign in")
        self.enter()
        self.assertEqual(self.path(), "/consent")
        self.tab_to("Deny")
        self.tab_to("Allow")
        self.enter()
        self.is_back(client)
        client.tokens()
        reader.go("/account")
        self.tab_to("Skip to content")
        reader.key("Enter", 13)
        self.assertEqual(reader.browser.run("() => location.hash"), "#main")
        for name, place in (("Security", "/account/security"), ("Devices", "/account/sessions"),
                            ("Activity", "/account/activity"), ("Data", "/account/data")):
            with self.subTest(name):
                found = [line for line in re.split(r"\n+", reader.text()) if name in line]
                self.assertTrue(found, reader.text())
                self.tab_to(found[0].strip())
                self.enter()
                self.assertEqual(reader.place(), place)
        reader.go("/account")
        self.tab_to("Sign out")
        self.enter()
        self.assertEqual(self.path(), "/logged-out")


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
