"""What apps say of the person on the page for tenants and in its frame: whose address it has to be
(`cotter_user_id`), that a code is sent at once (`direct_login`), and what they call its field
(`identifier_field`). And a tenant's own names of people, by which its apps find them."""

import json
import secrets
import sys
import time
import unittest
import uuid

from pages import Reader
from phone import code, inbox
from token_tool import missing, rerun
from urd_process import Urd, together
from verify_client import App, Browser, address

MISSING = missing("jose", "fido2", "cryptography")
if not MISSING:
    from verify_devices import Device

UNLIMITED = {
    "verify-code": {"source": None, "target": None}, "verify-browser": {"target": None},
    "oauth-token": {"source": None}, "email-otp-verify": {"source": None, "target": None}}


def setUpModule():
    global urd, site, SECRET
    urd = Urd()
    site = urd.values["URD_VERIFY_URL"]
    SECRET = {"API_SECRET_KEY": urd.values["URD_VERIFY_API_SECRET_KEY"]}
    status, body, _ = urd.api.call(
        "PATCH", "/api/admin/realms/verify/settings", {"rate_limits": UNLIMITED})
    assert status == 200, body


def tearDownModule():
    urd.close()


def names():
    return "shop-" + uuid.uuid4().hex[:12]


class Page(unittest.TestCase):
    def refused(self, app, words, path="/app?", **more):
        page = Browser(site).call("GET", path + app.query(**more), Accept="application/json")
        self.assertEqual(page.status, 400, page.text)
        self.assertIn(words, page.json["msg"])

    def test_a_code_goes_to_the_address_of_the_very_person_alone(self):
        ann, bob = App(urd).sign_in(address())["user"], App(urd).sign_in(address())["user"]
        app = App(urd)
        sent = app.walk(ann["identifier"], cotter_user_id=ann["ID"])
        self.assertEqual(app.exchange(app.body(sent)).json["user"]["ID"], ann["ID"])
        for who in (bob["identifier"], address()):
            before, app = len(inbox(urd, who)), App(urd)
            page, path = app.ask(Browser(site), who, cotter_user_id=ann["ID"])
            # It looks as it does for the right one.
            self.assertIn("is on its way to", page.text)
            time.sleep(0.5)
            self.assertEqual(len(inbox(urd, who)), before, "a code was sent to somebody else")

    def test_another_persons_code_is_refused_on_a_page_for_one_person(self):
        ann, bob = App(urd).sign_in(address())["user"], App(urd).sign_in(address())["user"]
        before = len(inbox(urd, bob["identifier"]))
        browser, app = Browser(site), App(urd)
        app.ask(browser, bob["identifier"])
        digits = code(urd, bob["identifier"], before)
        page, path = app.ask(browser, bob["identifier"], cotter_user_id=ann["ID"])
        answer = browser.post(page, path, code=digits)
        self.assertEqual(answer.status, 400, answer.location)
        self.assertIn("wrong or has expired", answer.text)

    def test_a_recognised_browser_goes_on_as_the_person_that_is_meant_alone(self):
        browser, app, who = Browser(site), App(urd), address()
        app.walk(who, browser=browser)
        own = app.exchange(app.body(app.walk(who))).json["user"]["ID"]
        page = browser.call("GET", "/app?" + app.query(cotter_user_id=own))
        self.assertIn("Continue as", page.text)
        query = app.query(cotter_user_id=str(uuid.uuid4()))
        other = browser.call("GET", "/app?" + query)
        self.assertNotIn("Continue as", other.text)
        answer = browser.post(other, "/app/continue?" + query)
        self.assertTrue(answer.location.startswith("/app?"), answer.location)

    def test_what_contradicts_itself_is_refused_in_words(self):
        app = App(urd)
        frame = {"challenge": app.challenge, "domain": "http://localhost:8395"}
        for path, more in (("/app?", {}), ("/signup?", frame)):
            with self.subTest(path):
                self.refused(app, "cotter_user_id", path, cotter_user_id="ann", **more)
                self.refused(app, "identifier_field", path, identifier_field="phone", **more)
                self.refused(app, "direct_login", path, direct_login="yes", **more)
                for nothing in ("", "null", "undefined"):
                    good = Browser(site).call("GET", path + app.query(
                        cotter_user_id=nothing, identifier_field="login_name",
                        direct_login=nothing or "false", **more))
                    self.assertEqual(good.status, 200, good.text)
        self.refused(app, "direct_login", direct_login="true")
        self.refused(app, "direct_login", direct_login="true", input="no address")
        self.refused(app, "direct_login", direct_login="true", input="+41781234567")

    def test_a_page_sends_a_code_at_once_where_the_address_is_known(self):
        who, app, reader = address(), App(urd), Reader(site)
        self.addCleanup(reader.close)
        query = app.query(
            input=who, identifier_field="email", direct_login="true",
            redirect_url=site + "/nowhere")
        reader.go(site + "/app?" + query.replace(
            "redirect_url=http%3A%2F%2Flocalhost%3A8395&", ""))
        reader.until("() => location.pathname === '/app/code'")
        self.assertRegex(code(urd, who), r"^\d{6}$")
        # Who goes back wants to change the address.
        reader.leave(lambda: reader.browser.run("() => history.back()"))
        reader.until("() => location.pathname === '/app'")
        time.sleep(1)
        self.assertEqual(reader.browser.run("() => location.pathname"), "/app")
        self.assertEqual(len(inbox(urd, who)), 1)

    def test_an_address_in_the_page_alone_sends_nothing_without_its_form(self):
        who, app = address(), App(urd)
        query = app.query(input=who, direct_login="true")
        for _ in range(2):
            self.assertEqual(Browser(site).call("GET", "/app?" + query).status, 200)
        time.sleep(0.5)
        self.assertEqual(inbox(urd, who), [])


class Frame(unittest.TestCase):
    def call(self, app, path, body, **more):
        query = app.query(challenge=app.challenge, domain="http://localhost:8395", **more)
        return app.call("POST", path + "?" + query, body, Origin=site)

    def test_a_frame_proves_the_address_of_the_very_person_alone(self):
        ann, bob = App(urd).sign_in(address())["user"], App(urd).sign_in(address())["user"]
        for user, status in ((ann, 200), (bob, 400)):
            app, who = App(urd), user["identifier"]
            before = len(inbox(urd, who))
            sent = self.call(app, "/signup/send", {"identifier": who}, cotter_user_id=ann["ID"])
            self.assertEqual(sent.status, 200, sent.text)
            if status == 400:
                time.sleep(0.5)
                self.assertEqual(len(inbox(urd, who)), before)
                # A code of his that he asked for himself.
                self.call(app, "/signup/send", {"identifier": who})
            checked = self.call(
                app, "/signup/check", {"to": sent.json["to"], "code": code(urd, who, before)},
                cotter_user_id=ann["ID"])
            self.assertEqual(checked.status, status, checked.text)


class Names(unittest.TestCase):
    """COT-13: `client_user_id` is the tenant's own name of a person, which finds them at its routes."""

    def create(self, app, name, **headers):
        return app.call("POST", "/api/v0/user/create", {
            "client_user_id": name, "identifiers": [address()]}, **(headers or SECRET))

    def test_a_tenants_name_finds_the_person_at_every_route(self):
        app, name = App(urd), names()
        made = self.create(app, name).json
        self.assertEqual(made["client_user_id"], name)
        signed_in = App(urd).sign_in(made["identifier"])
        bearer = {"Authorization": "Bearer " + signed_in["oauth_token"]["access_token"]}
        device, pin = Device(name, app.key), "2" + "".join(
            secrets.choice("0123456789") for _ in range(3)) + "91"
        for body in ({"method": "PIN", "enrolled": True, "code": pin},
                     {"method": "TRUSTED_DEVICE", "enrolled": True, "code": device.public}):
            answer = app.call("PUT", f"/api/v0/user/{name}", body, **bearer)
            self.assertEqual(answer.status, 200, answer.text)
        for method in ("PIN", "TRUSTED_DEVICE"):
            path = f"/api/v0/user/enrolled/{name}/{method}"
            self.assertTrue(app.call("GET", path, **SECRET).json["enrolled"])
            # To whom the name alone is known, nobody has anything.
            self.assertFalse(app.call("GET", path).json["enrolled"])
        now = str(int(time.time()))
        by_pin = app.call("POST", "/api/v0/event/create?oauth_token=true", {
            "client_user_id": name, "issuer": app.key, "event": "LOGIN", "method": "PIN",
            "timestamp": now, "code": pin})
        self.assertEqual(by_pin.status, 200, by_pin.text)
        self.assertEqual(by_pin.json["user_id"], made["ID"])
        signed = app.call(
            "POST", "/api/v0/event/create?oauth_token=true",
            {**device.event(), "client_user_id": name, "cotter_user_id": None})
        self.assertEqual(signed.status, 200, signed.text)
        self.assertEqual(signed.json["client_user_id"], name)
        asked = app.call("POST", "/api/v0/event/create_pending", {
            "client_user_id": name, "issuer": app.key, "event": "LOGIN",
            "method": "TRUSTED_DEVICE", "timestamp": now})
        self.assertEqual(asked.status, 200, asked.text)
        waiting = app.call("GET", f"/api/v0/event/new/{name}", **SECRET)
        self.assertEqual(waiting.json["ID"], asked.json["ID"])
        before = len(inbox(urd, made["identifier"]))
        reset = app.call("POST", f"/api/v0/user/reset/request/{name}", {}, **SECRET)
        self.assertEqual(reset.status, 200, reset.text)
        self.assertRegex(code(urd, made["identifier"], before), r"^\d{6}$")
        gone = app.call("PUT", f"/api/v0/user/{name}", {"method": "PIN", "enrolled": False},
                        **SECRET)
        self.assertEqual(gone.status, 200, gone.text)
        self.assertNotIn("PIN", gone.json["enrolled"])

    def test_a_name_is_that_of_one_person_in_a_race_of_fifty(self):
        app, name = App(urd), names()
        answers = together(50, lambda _: self.create(app, name))
        self.assertEqual(sorted(a.status for a in answers), [200] + [400] * 49)
        self.assertEqual({a.json["msg"] for a in answers if a.status == 400},
                         {"User already exists"})

    def test_a_name_finds_nobody_at_another_tenant_or_once_the_account_is_deleted(self):
        status, other, _ = urd.api.call(
            "POST", "/api/admin/realms/verify/clients", {"profile": "verify"})
        self.assertEqual(status, 201, other)
        app, name = App(urd), names()
        made = self.create(app, name).json
        theirs = {"API_SECRET_KEY": other["client_secret"]}
        path = f"/api/v0/event/new/{name}"
        self.assertEqual(app.call("GET", path, **SECRET).status, 200)
        self.assertEqual(App(urd, key=other["client_id"]).call("GET", path, **theirs).status, 403)
        # The name is free for people of another tenant.
        again = self.create(App(urd, key=other["client_id"]), name, **theirs)
        self.assertEqual(again.status, 200, again.text)
        gone = f"/api/admin/realms/verify/accounts/{made['ID']}/erase"
        self.assertLess(urd.api.call("POST", gone)[0], 300)
        self.assertEqual(app.call("GET", path, **SECRET).status, 403)
        self.assertEqual(self.create(app, name).status, 200)

    def test_a_name_that_nobody_has_is_answered_like_one_with_a_wrong_pin(self):
        app, name = App(urd), names()
        self.create(app, name)
        body = {"issuer": app.key, "event": "LOGIN", "method": "PIN",
                "timestamp": str(int(time.time())), "code": "8642"}
        told = [app.call("POST", "/api/v0/event/create", {**body, "client_user_id": asked})
                for asked in (name, names(), str(uuid.uuid4()))]
        self.assertEqual({(a.status, json.dumps(a.json)) for a in told},
                         {(400, json.dumps(told[0].json))})


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
