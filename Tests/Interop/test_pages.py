"""The pages in a real Chromium: signing in by code, passkey and authenticator app, the account, and
what automatic checks can say of how accessible they are. Screenshots are kept for people."""

import re
import sys
import time
import unittest
import uuid

from browser import Page
from pages import Reader
from phone import code, inbox, mail
from token_tool import missing, rerun
from urd_process import Urd

MISSING = missing("pyotp")
if not MISSING:
    import pyotp


def setUpModule():
    global urd, site
    urd = Urd(lawful=True)
    site = urd.values["URD_URL"].replace("127.0.0.1", "localhost")
    status, body, _ = urd.api.call("PATCH", f"{urd.realm}/settings", {
        "registration": "jit_on_otp", "login_link": True, "otp_resend_delay": 0,
        "display_name": "Northwind", "accent_colour": "#0b6e4f"})
    assert status == 200, body


def tearDownModule():
    urd.close()


class Pages(unittest.TestCase):
    def setUp(self):
        self.reader = Reader(site)
        self.addCleanup(self.reader.close)
        self.reader.language("en")
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"

    def sign_in(self, place="/login", shoot=False, totp=None):
        reader, before = self.reader, len(inbox(urd, self.email))
        reader.go(place)
        self.look("login", shoot)
        reader.fill("email", self.email)
        reader.press("Send me a code")
        self.look("code", shoot)
        reader.fill("code", code(urd, self.email, before))
        reader.press("Sign in")
        if totp:
            self.look("second-factor", shoot)
            reader.fill("totp", totp())
            reader.press("Continue")

    def look(self, name, shoot=True):
        if shoot:
            self.reader.look(self, name)

    def test_a_person_signs_in_by_a_mailed_code(self):
        self.sign_in(shoot=True)
        self.assertEqual(self.reader.place(), "/account")
        self.assertIn(self.email, self.reader.text())
        for name in ("account", "security", "sessions", "activity", "data"):
            self.reader.go("/account" if name == "account" else f"/account/{name}")
            self.look(f"account-{name}")
        self.reader.go("/account/delete")
        self.look("account-delete")
        self.reader.go("/account")
        self.reader.press("Sign out")
        self.look("logged-out")
        self.reader.go("/account")
        self.assertEqual(self.reader.place(), "/login?next=%2Faccount")

    def test_a_person_signs_in_with_the_keyboard_alone(self):
        reader, before = self.reader, len(inbox(urd, self.email))
        reader.go("/login")
        reader.type(self.email)
        reader.leave(lambda: reader.key("Enter", 13))
        reader.type(code(urd, self.email, before))
        reader.leave(lambda: reader.key("Enter", 13))
        self.assertEqual(reader.place(), "/account")

    def test_a_person_makes_a_passkey_and_signs_in_with_it(self):
        reader = self.reader
        authenticator = reader.browser.add_authenticator()
        self.sign_in()
        reader.go("/account/security")
        reader.until("() => !document.getElementById('enrol-way').hidden")
        reader.press("Add a passkey")
        self.assertIn("Your passkey is ready", reader.text())
        self.look("account-passkey")
        self.assertEqual(len(reader.browser.credentials(authenticator)), 1)
        reader.go("/account")
        reader.press("Sign out")
        # It offers itself as soon as the page is there: nobody has to press anything.
        reader.leave(lambda: reader.browser.call("Page.navigate", url=site + "/login"))
        deadline = time.monotonic() + 15
        while reader.place() != "/account" and time.monotonic() < deadline:
            time.sleep(0.2)
            if time.monotonic() > deadline - 10 and reader.place() == "/login":
                reader.click("Sign in with a passkey")
                time.sleep(1)
        self.assertEqual(reader.place(), "/account")
        self.assertIn(self.email, reader.text())
        kept = urd.sql(
            "select data ->> 'method', data ->> 'amr' from urd.event where realm = 'demo' and "
            "type = 'browser.opened' order by position desc limit 1")
        self.assertEqual(kept, 'passkey|["hwk"]')

    def test_a_person_sets_up_an_authenticator_app_and_signs_in_with_it(self):
        reader = self.reader
        self.sign_in()
        reader.go("/account/security")
        reader.press("Set up an app")
        self.look("authenticator")
        self.assertTrue(reader.browser.run(
            "() => document.querySelector('img.qr').naturalWidth > 0"))
        secret = reader.browser.run("() => document.querySelector('code').textContent")
        app = pyotp.TOTP(secret.replace(" ", ""))
        reader.fill("code", app.now())
        reader.press("Turn on")
        self.look("recovery-codes")
        codes = re.findall(r"\b[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}\b", reader.text())
        self.assertEqual(len(codes), 10)
        reader.press("I've saved these codes")
        self.look("account-authenticator")
        reader.go("/account")
        reader.press("Sign out")
        used = app.now()

        def later():
            while app.now() == used:
                time.sleep(0.5)
            return app.now()

        self.sign_in(totp=later, shoot=True)
        self.assertEqual(reader.place(), "/account")

    def test_a_person_signs_in_by_a_mailed_link(self):
        reader = self.reader
        self.sign_in()
        reader.go("/account")
        reader.press("Sign out")
        before = len(inbox(urd, self.email))
        reader.go("/login")
        reader.fill("email", self.email)
        reader.press("Send me a link")
        self.look("link-mailed")
        link = r"https?://\S+(/magic-login\S*)"
        reader.go(site + re.search(link, mail(urd, self.email, before, link)["text"])[1])
        self.look("link")
        reader.press("Sign in")
        self.assertEqual(reader.place(), "/account")

    def test_a_person_sets_a_passphrase_and_signs_in_by_it(self):
        reader, words = self.reader, f"seven purple otters {uuid.uuid4().hex[:6]}"
        settings = f"{urd.realm}/settings"
        self.assertEqual(urd.api.call("PATCH", settings, {"login_passphrase": True})[0], 200)
        self.addCleanup(lambda: urd.api.call("PATCH", settings, {"login_passphrase": None}))
        self.sign_in()
        before = len(inbox(urd, self.email))
        reader.go("/account/security")
        self.look("account-passphrase")
        reader.fill("passphrase", words)
        reader.press("Set passphrase")
        self.assertIn("The passphrase is set", reader.text())
        self.assertIn("passphrase", mail(urd, self.email, before, "passphrase")["subject"])
        reader.go("/account")
        reader.press("Sign out")
        reader.go("/login")
        self.look("login-passphrase")
        reader.fill("email", self.email)
        reader.fill("passphrase", words + "!")
        reader.press("Sign in")
        self.look("login-refused")
        reader.fill("passphrase", words)
        reader.press("Sign in")
        self.assertEqual(reader.place(), "/account")
        kept = urd.sql("select data::text from urd.event where type = 'passphrase.set'")
        self.assertNotIn("scrypt", kept)

    def test_pages_speak_german_and_name_faults(self):
        reader = self.reader
        reader.language("de-AT,de;q=0.8")
        reader.go("/login")
        self.look("login-german")
        reader.fill("email", self.email)
        reader.press("Code per E-Mail senden")
        reader.fill("code", "000000")
        reader.press("Anmelden")
        self.look("code-wrong-german")
        reader.go("/register")
        self.look("register-german")
        reader.go("/device/nothing")
        reader.language("en")

    def test_pages_fit_the_narrowest_phone_with_any_heading(self):
        reader = self.reader
        self.sign_in()
        reader.language("de")
        for name in ("account", "security", "activity", "data"):
            reader.go("/account" if name == "account" else f"/account/{name}")
            for width in (320, 375, 640):
                reader.size((width, 700))
                self.assertEqual(reader.browser.run("""() => {
                    document.querySelector("h1").textContent = "Hallo, " + "Anna".repeat(12);
                    const wide = () => document.documentElement.scrollWidth
                        > document.documentElement.clientWidth || [...document.querySelectorAll("h1")]
                        .some((heading) => heading.scrollWidth > heading.clientWidth);
                    const first = wide();
                    document.querySelector("h1").textContent = "Ihre Wiederherstellungscodes";
                    return [first, wide()];
                }"""), [False, False], (name, width))
        reader.language("en")

    def test_pages_run_no_foreign_script_and_show_no_foreign_markup(self):
        reader = self.reader
        reader.go("/login")
        # Neither by a script in the page, nor by one from elsewhere, nor in a frame of another site.
        self.assertEqual(reader.browser.run("""() => {
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
            const style = document.createElement("style");
            style.textContent = "body{display:none}";
            document.body.append(style);
            return [Boolean(window.ran), getComputedStyle(document.body).display];
        }"""), [False, "flex"])
        elsewhere = Page()
        self.addCleanup(elsewhere.close)
        reader.go(elsewhere.origin)
        self.assertTrue(reader.browser.run("""async (address) => {
            const frame = document.createElement("iframe");
            frame.src = address;
            document.body.append(frame);
            await new Promise((done) => { frame.onload = done; setTimeout(done, 5000); });
            try { return !frame.contentDocument?.querySelector("form"); } catch { return true; }
        }""", site + "/login"))

    def test_the_page_checks_find_planted_faults(self):
        self.reader.go("/login")
        self.assertEqual(self.reader.faults(), [])
        self.reader.browser.run("""() => {
            const image = document.createElement("img");
            image.src = "/nothing.png";
            const text = document.createElement("p");
            text.textContent = "Hardly to be seen";
            text.style.color = "#ddd";
            document.querySelector(".card").append(image, text);
        }""")
        found = "\n".join(self.reader.faults())
        for sign in ("no alternative", "contrast 1", "image-alt", "color-contrast"):
            self.assertIn(sign, found)

    def test_pages_work_without_scripts(self):
        self.reader.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        # Evaluating is for us alone; the page's own scripts are off.
        self.sign_in()
        self.assertEqual(self.reader.place(), "/account")
        self.reader.go("/account/security")
        seen = """() => ["enrol-none", "enrol-way"].map((id) =>
            document.getElementById(id).checkVisibility())"""
        self.assertEqual(self.reader.browser.run(seen), [True, False])
        self.reader.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.reader.go("/account/security")
        self.assertEqual(self.reader.browser.run(seen), [False, True])


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
