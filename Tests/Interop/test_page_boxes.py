"""Every page in a real Chromium, in English and in German: nothing scrolls sideways, no two controls touch,
and each can be pressed, at a desk and on a phone, also with text at twice its size. One browser and one
server walk all states of the pages; a state that fails is named."""

import re
import sys
import time
import unittest
import urllib.parse
import uuid

from boxes import Boxes
from flagship_client import App, Authorization
from pages import Reader
from person import fetch
from phone import another, code, inbox, mail
from relying_site import RelyingSite
from token_tool import missing, rerun
from urd_process import Urd

MISSING = missing("pyotp")
if not MISSING:
    import pyotp

PASSWORD = "seven purple otters dance"
OWNER = "owner@flagship.localhost"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
STRONG = "urn:modgud:acr:multi"


def setUpModule():
    global urd, site, flagship
    urd = Urd()
    site = urd.values["URD_URL"].replace("127.0.0.1", "localhost")
    flagship = urd.values["URD_FLAGSHIP_URL"]
    status, body, _ = urd.api.call("PATCH", f"{urd.realm}/settings", {
        "registration": "jit_on_otp", "login_link": True, "login_passphrase": True,
        "registration_first_name": "required", "registration_last_name": "optional",
        "otp_resend_delay": 0, "display_name": "Northwind", "accent_colour": "#ffd500",
        "rate_limits": {"email-verification": {"target": {"amount": 2, "seconds": 600}}}})
    assert status == 200, body
    for slug, name in (("google", "Google"), ("corporate", "Contoso Single Sign-on")):
        status, body, _ = urd.api.call("PUT", f"{urd.realm}/providers/{slug}", {
            "name": name, "issuer": f"https://{slug}.example.org", "client_id": "urd",
            "client_secret": uuid.uuid4().hex})
        assert status == 200, body


def tearDownModule():
    urd.close()


class Walk(unittest.TestCase):
    """One way through all pages of a realm; the subclasses say in which language."""

    language = "en"

    def setUp(self):
        self.began = time.monotonic()
        self.reader = Reader(self.site())
        self.addCleanup(self.reader.close)
        self.reader.language(self.language)
        self.boxes = Boxes(self.reader)
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"

    def site(self):
        return site

    def end(self, least):
        seconds = time.monotonic() - self.began
        print(f"{len(self.boxes.names)} states ({self.language}) in {seconds:.0f} s", file=sys.stderr)
        if self.boxes.found:
            self.fail("\n".join(self.boxes.found))
        self.assertGreaterEqual(len(set(self.boxes.names)), least)

    def look(self, name):
        self.boxes.look(name)

    def go(self, path, name=None):
        self.reader.go(path)
        if name:
            self.look(name)

    def send(self, selector, name=None, **fields):
        for field, text in fields.items():
            self.reader.fill(field, text)
        self.reader.send(selector)
        if name:
            self.look(name)

    def type_code(self, before):
        self.send("main form button", code=code(urd, self.email, before))

    def link(self, path, before=0, email=None):
        """From the newest mail, at the host that the browser is at."""
        link = rf"https?://\S+({re.escape(path)}\S*)"
        return re.search(link, mail(urd, email or self.email, before, link)["text"])[1]


class Realm(Walk):
    def test_every_page_of_a_realm_has_sound_boxes(self):
        self.before_the_login()
        self.account()
        self.passphrases()
        self.authenticator()
        self.applications()
        self.refusals()
        self.ends()
        self.end(60)

    def sign_in(self):
        before = len(inbox(urd, self.email))
        self.go("/login")
        self.send("button[value=email_code]", email=self.email)
        self.type_code(before)

    def before_the_login(self):
        self.key = self.reader.browser.add_authenticator()
        self.go("/login")
        self.reader.until("() => !document.getElementById('passkey-way').hidden")
        self.look("login")
        self.send("button[value=email_code]", "login, no address", email="x")
        self.send("button[value=passphrase]", "login, refused", email=self.email,
                  passphrase="not this one")
        self.go("/register", "register")
        self.send("main form button", "register, faults", email="x")
        self.go("/register")
        before = len(inbox(urd, self.email))
        self.send("main form button", "code", email=self.email, first_name="Ann")
        sent = code(urd, self.email, before)
        self.send("main form button", "code, wrong", code=another(sent))
        self.send(".links button", "code, another one")
        self.type_code(before + 1)
        self.assertEqual(self.reader.place(), "/account")

    def account(self):
        self.look("account")
        self.go("/account/security")
        self.reader.until("() => !document.getElementById('enrol-way').hidden")
        self.look("security, nothing set up")
        self.send("#enrol-button", "security, passkey")
        self.reader.browser.run("() => document.querySelector('.items details').open = true")
        self.look("security, passkey renamed")
        self.reader.browser.run(
            "() => document.querySelector('.items input[name=name]').value = ' '")
        self.send(".items details button", "security, no name")
        # From now on it would sign in by itself.
        self.reader.browser.remove_authenticator(self.key)
        for name in ("sessions", "activity", "data"):
            self.go(f"/account/{name}", name)
        self.send("main form button", "data, no address", email="x")
        self.send("main form button", "new address, code",
                  email=f"{uuid.uuid4().hex[:12]}@example.org")
        self.send("main form button", "new address, wrong code", code="000000")
        self.send(".links button", "new address, another code")
        self.go("/account/data")
        self.send("main form button", email="ann@example.org")
        self.look("too many attempts")
        self.assertIn(429, [429 if re.search(r"Too many|Zu viele", self.reader.text()) else 0])
        self.go("/account/delete", "delete")

    def passphrases(self):
        self.go("/account/security")
        words = f"seven purple otters {uuid.uuid4().hex[:6]}"
        form = "form[action='/account/passphrase'] button"
        self.send(form, "security, short passphrase", passphrase="short")
        self.send(form, "security, passphrase", passphrase=words)
        self.reader.browser.call("Network.clearBrowserCookies")
        self.go("/passphrase/forgotten", "forgotten")
        before = len(inbox(urd, self.email))
        self.send("main form button", "link mailed", email=self.email)
        self.go(self.link("/passphrase/reset", before), "another passphrase")
        self.send("main form button", "another passphrase, short", passphrase="short")
        self.send("main form button", "login, passphrase set", passphrase=words + "!")
        self.go("/passphrase/reset?token=x", "reset link, over")
        before = len(inbox(urd, self.email))
        self.go("/login")
        self.send("button[value=email_link]", "link mailed to sign in", email=self.email)
        self.go(self.link("/magic-login", before), "link")
        self.send("main form button")
        self.assertEqual(self.reader.place(), "/account")
        self.go("/magic-login?userId=x&token=x", "link, over")

    def authenticator(self):
        self.go("/account/security")
        self.send("form[action$='/authenticator/begin'] button", "authenticator")
        secret = self.reader.browser.run("() => document.querySelector('code').textContent")
        app = pyotp.TOTP(secret.replace(" ", ""))
        self.send("main form button", "authenticator, wrong code",
                  code=another(app.now()))
        self.send("main form button", "recovery codes", code=app.now())
        self.recovery = re.findall(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}\b", self.reader.text())
        self.go("/account/authenticator/codes", "recovery codes, over")
        self.go("/account/security", "security, authenticator")
        self.reader.browser.run(
            "() => { for (const one of document.querySelectorAll('details')) one.open = true }")
        self.look("security, authenticator, code asked for")
        self.send("form[action$='/authenticator/change'] button", "security, wrong code",
                  totp="000000")
        self.reader.browser.call("Network.clearBrowserCookies")
        self.sign_in()
        self.look("second step")
        self.send("main form button", "second step, wrong", totp="000000")
        self.send("main form button", totp=self.recovery[0])
        self.go("/account/activity", "activity, with a recovery code")

    def applications(self):
        metadata = fetch(f"{site}/.well-known/openid-configuration")
        client = RelyingSite(urd, metadata, policy_uri="https://contoso.example/privacy",
                             tos_uri="https://contoso.example/terms")
        self.addCleanup(client.close)
        self.go(client.begin(), "consent")
        self.send("button[value=allow]")
        self.go("/account/sessions", "sessions, with an app")
        time.sleep(1.1)
        self.go(client.begin(prompt="login"), "login once more")
        self.go(client.begin(acr_values=STRONG, prompt="login"), "login, stronger")
        # Somebody who has neither passkey nor app.
        self.reader.browser.call("Network.clearBrowserCookies")
        self.go(client.begin(), "login for an app")
        self.reader.browser.call("Network.clearBrowserCookies")
        mine, self.email = self.email, f"{uuid.uuid4().hex[:12]}@example.org"
        self.go("/register")
        before = len(inbox(urd, self.email))
        self.send("main form button", email=self.email, first_name="Bob")
        self.type_code(before)
        self.go(client.begin(acr_values=STRONG), "login, stronger, nothing set up")
        self.other, self.email = self.email, mine
        self.device(metadata)

    def device(self, metadata):
        status, client, _ = urd.api.call("POST", urd.clients, {
            "client_name": "Living room television", "token_endpoint_auth_method": "none",
            "grant_types": [DEVICE]})
        self.assertEqual(status, 201, client)
        self.go("/device", "device")
        self.send("main form button", "device, no such code", user_code="BCDF-GHJK")
        form = urllib.parse.urlencode(
            {"client_id": client["client_id"], "scope": "openid email"}).encode()
        asked = fetch(urllib.request.Request(
            metadata["device_authorization_endpoint"], data=form))
        self.go(asked["verification_uri_complete"], "device, asked")
        self.send("button[value=allow]", "device, connected")

    def refusals(self):
        self.go("/nothing/here", "not found")
        self.go("/connect/authorize?client_id=nobody", "not a client")
        self.go("/consent?continue=x", "consent, over")
        self.go(site.replace("localhost", "nowhere.localhost"), "no site")
        self.go("/login")
        self.reader.browser.run("() => document.querySelectorAll('input[name=form]')"
                                ".forEach((one) => one.value = 'x')")
        self.go("/account/data")
        self.reader.browser.run("() => document.querySelectorAll('input[name=form]')"
                                ".forEach((one) => one.value = 'x')")
        self.send("main form button", "form, expired", email=self.other)

    def ends(self):
        self.go("/logout", "logout")
        self.send("main form button", "logged out")
        self.email = self.other
        self.sign_in()
        before = len(inbox(urd, self.email))
        self.go("/account/delete")
        self.send("main form button", "deleted")
        self.go(self.link("/keep-account", before), "keep")
        self.send("main form button", "kept")
        self.go("/keep-account?token=x", "keep, over")


class RealmInGerman(Realm):
    language = "de"


class Flagship(Walk):
    """The owner's pages. The first walk takes the realm over, the second finds it taken."""

    def site(self):
        return flagship

    def test_every_page_of_a_flagship_realm_has_sound_boxes(self):
        self.go("/auth/login", "owner, login")
        app = App(urd.values, "iPhone")
        app.register()
        if app.prelogin()[0] == 412:
            self.look("owner, not yet")
            self.go(f"/auth/passphrase?registerToken={urd.values['URD_FLAGSHIP_TOKEN']}",
                    "owner, first passphrase")
            self.send("#passphrase-form button", "owner, first passphrase, short", typed="short")
            app.onboard(PASSWORD)
            # The first one is let in without a question.
            app = App(urd.values, "Murena")
            app.register()
        self.go("/auth/passphrase?registerToken=x", "owner, invitation over")
        self.go("/auth/passphrase_reset", "owner, forgotten")
        before = len(inbox(urd, OWNER))
        self.send("main form button", "owner, mailed")
        self.go(self.link("/auth/passphrase_renew", before, OWNER), "owner, another passphrase")
        self.send("#passphrase-form button", "owner, another passphrase, short", typed="short")
        self.go("/auth/passphrase_renew?token=x", "owner, link over")
        asked = Authorization(app)
        self.go(asked.path, "owner, login for an app")
        self.send("#passphrase-form button", "owner, refused", typed="not this one")
        before = len(inbox(urd, OWNER))
        self.send("#passphrase-form button", "owner, certification", typed=PASSWORD)
        digits = code(urd, OWNER, before)
        self.send("main form button", "owner, certification, wrong", code=another(digits))
        self.send("main form button", "owner, consent", code=digits)
        for name in ("", "/security", "/sessions", "/activity", "/data"):
            self.go(f"/account{name}", f"owner, account{name}")
        self.go("/nothing/here", "owner, not found")
        self.end(16)


class FlagshipInGerman(Flagship):
    language = "de"


def load_tests(loader, tests, pattern):
    if MISSING:
        return rerun(__file__)
    suite = unittest.TestSuite()
    for walk in (Realm, RealmInGerman, Flagship, FlagshipInGerman):
        suite.addTests(loader.loadTestsFromTestCase(walk))
    return suite


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
