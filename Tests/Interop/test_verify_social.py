"""Signing in by one of the realm's OpenID providers for a tenant's app (COT-16): the page for tenants leads there, and
the browser comes back to the app with a code as after a mailed one. The provider is a whole realm of its own."""

import html
import re
import sys
import time
import unittest
import urllib.parse
import uuid

import test_upstream
from test_upstream import Door, Visitor
from token_tool import missing, rerun
from urd_process import Urd
from verify_client import App

MISSING = missing("jwt", "authlib", "requests", "cryptography", "jose", "pyotp")
if not MISSING:
    import pyotp
    from jose import jwt

VERIFY, SLUG = "/api/admin/realms/verify", "corporate"


def setUpModule():
    global urd, provider, client
    provider = Door()
    client = Door(provider)
    urd = test_upstream.urd = Urd(
        URD_OUTGOING_NETWORKS="127.0.0.0/8", URD_OUTGOING_CA_FILE=provider.ca_file)
    provider.port = client.port = int(urd.values["URD_URL"].rsplit(":", 1)[1].strip("/"))
    provider.host = "localhost"
    client.host = urllib.parse.urlsplit(urd.values["URD_VERIFY_URL"]).netloc
    for realm, door in ((urd.realm, provider), (VERIFY, client)):
        call("PATCH", f"{realm}/settings", {"links_base_url": door.url, "otp_resend_delay": 0})
    call("PATCH", f"{urd.realm}/settings", {"registration": "jit_on_otp"})
    made = call("POST", urd.clients, {
        "client_name": "Verify", "grant_types": ["authorization_code"], "consent": "none",
        "redirect_uris": [f"{client.url}/oidc/redirect/{SLUG}"]})
    call("PUT", f"{VERIFY}/providers/{SLUG}", {
        "name": "Corporate account", "issuer": provider.url, "client_id": made["client_id"],
        "client_secret": made["client_secret"], "scope": "email"})


def tearDownModule():
    urd.close()
    client.close()
    provider.close()


def call(method, path, body=None):
    status, answer, _ = urd.api.call(method, path, body)
    assert status < 300, (status, answer)
    return answer


class Person:
    """With an account at the provider, which is connected to one here unless it is said not to be."""

    def __init__(self, connected=True):
        self.visitor = Visitor(provider.ca_file)
        self.upstream = f"{uuid.uuid4().hex[:12]}@example.org"
        self.email = f"{uuid.uuid4().hex[:12]}@shop.example"
        signed_in = App(urd).sign_in(self.email)
        self.id, self.token = signed_in["user"]["ID"], signed_in["oauth_token"]["access_token"]
        visitor = self.visitor
        visitor.follow(*visitor.ask("GET", f"{provider.url}/login"))
        visitor.sign_in(self.upstream)
        if connected:
            subject = urd.api.call("GET", f"{urd.realm}/accounts", Email=self.upstream)[1][
                "items"][0]["id"]
            call("PUT", f"{VERIFY}/providers/{SLUG}/accounts/{self.id}", {"subject": subject})

    def press(self, app, **more):
        """The button of the provider on the page for tenants; where the browser ends up."""
        visitor, path = self.visitor, "/app?" + app.query(**more)
        status, _ = visitor.ask("GET", client.url + path)
        assert status == 200, visitor.page
        form = re.search(
            r'<form[^>]*action="(/app/provider[^"]*)".*?</form>', visitor.page, re.S)
        assert form, visitor.page
        status, place = visitor.ask("POST", client.url + html.unescape(form[1]), {
            **visitor.hidden("form"), "provider": SLUG})
        return self.go(status, place, app)

    def go(self, status, place, app):
        for _ in range(10):
            if status not in (302, 303) or place.startswith(app.redirect):
                break
            status, place = self.visitor.ask("GET", place)
        return status, place

    def sign_in_here(self):
        """On the realm's own page."""
        self.visitor.ask("GET", client.url + "/login")
        self.visitor.follow(*self.visitor.sign_in(self.email))

    def set_up_second_factor(self):
        """On the page of the account; the authenticator app, and the code that is used."""
        self.sign_in_here()
        visitor = self.visitor
        visitor.ask("GET", client.url + "/account/security")
        visitor.follow(*visitor.ask(
            "POST", "/account/authenticator/begin", visitor.hidden("form")))
        shown = re.search(r"<code[^>]*>([A-Z2-7 ]+)</code>", visitor.page)[1]
        app = pyotp.TOTP(shown.replace(" ", ""))
        used = app.now()
        visitor.follow(*visitor.ask("POST", "/account/authenticator/confirm", {
            **visitor.hidden("form", "secret"), "code": used}))
        return app, used

    def sign_out_here(self):
        self.visitor.cookies.pop(urllib.parse.urlsplit(client.url).netloc)


def sent(place):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))


class Social(unittest.TestCase):
    def test_cot_16_a_provider_brings_a_code_for_the_app_as_a_mail_does(self):
        person, app = Person(), App(urd)
        status, place = person.press(app)
        self.assertEqual(status, 303, person.visitor.page)
        self.assertTrue(place.startswith(app.redirect + "?"), place)
        answer = sent(place)
        self.assertEqual(answer["state"], app.state)
        told = app.exchange(app.body(answer))
        self.assertEqual(told.status, 200, told.text)
        self.assertEqual(told.json["user"]["ID"], person.id)
        self.assertEqual(told.json["identifier"]["identifier"], person.email)
        claims = jwt.get_unverified_claims(told.json["oauth_token"]["access_token"])
        self.assertEqual(claims["authentication_method"], "SOCIAL_LOGIN")
        self.assertEqual(app.exchange(app.body(answer)).status, 400)

    def test_cot_16_the_code_is_bound_to_the_apps_verifier_and_redirect_url(self):
        for change in ({"code_verifier": "x" * 43}, {"redirect_url": "http://localhost:1"}):
            person, app = Person(), App(urd)
            answer = sent(person.press(app)[1])
            self.assertEqual(app.exchange(app.body(answer, **change)).status, 400)
        page = person.visitor.ask("GET", client.url + "/app?" + app.query(
            redirect_url="https://elsewhere.example").replace(
                urllib.parse.urlencode({"redirect_url": app.redirect}) + "&", ""))
        self.assertEqual(page[0], 400)

    def test_cot_16_whom_nobody_connected_gets_no_code_and_may_go_back(self):
        person, app = Person(connected=False), App(urd)
        status, _ = person.press(app)
        self.assertEqual(status, 403, person.visitor.page)
        self.assertIn("Not connected yet", person.visitor.page)
        self.assertIn('href="/app?', person.visitor.page)

    def test_a_person_who_is_not_meant_gets_no_code(self):
        person, app = Person(), App(urd)
        status, place = person.press(app, cotter_user_id=str(uuid.uuid4()))
        self.assertEqual(status, 200, place)
        self.assertNotIn("Continue as", person.visitor.page)
        self.assertIn("Confirm your e-mail address", person.visitor.page)

    def test_a_link_to_the_way_back_alone_gives_no_code_without_a_question(self):
        person, app = Person(), App(urd)
        person.press(app)
        visitor = person.visitor
        for visit in (None, "", "AAAA"):
            status, place = person.go(*visitor.ask("GET", client.url + "/app/social?" + app.query(
                visit=visit)), app)
            self.assertEqual(status, 200, place)
            self.assertIn("Continue as", visitor.page)
        # Nor does a foreign form lead anybody away.
        status, place = visitor.ask(
            "POST", client.url + "/app/provider?" + app.query(), {"provider": SLUG, "form": "x"})
        self.assertNotEqual(status, 303, place)

    def test_what_was_begun_in_one_browser_is_nothing_in_another(self):
        app, first, second = App(urd), Person(), Person()
        second.press(app)
        visitor = first.visitor
        visitor.ask("GET", client.url + "/app?" + app.query())
        action = re.search(r'action="(/app/provider[^"]*)"', visitor.page)[1]
        _, place = visitor.ask("POST", client.url + html.unescape(action), {
            **visitor.hidden("form"), "provider": SLUG})
        back = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))["next"]
        status, place = second.go(*second.visitor.ask("GET", client.url + back), app)
        self.assertEqual(status, 200, place)
        self.assertIn("Continue as", second.visitor.page)

    def test_cot_16_an_app_asks_for_a_provider_by_its_route(self):
        person, app = Person(), App(urd)
        query = urllib.parse.urlencode({
            "api_key_id": app.key, "redirect_url": app.redirect, "state": app.state,
            "code_challenge": app.challenge})
        path = "/api/v0/oauth/credential/login/"
        visitor = person.visitor
        status = visitor.follow(*visitor.ask("GET", client.url + path + SLUG + "?" + query))
        self.assertEqual(status, 200, visitor.page)
        self.assertIn('id="direct"', visitor.page)
        self.assertIn("/direct.js", visitor.page)
        self.assertEqual(visitor.follow(*visitor.ask(
            "GET", client.url + path + "unknown?" + query)), 400)
        phone = visitor.ask("GET", client.url + "/app?" + app.query("PHONE"))
        self.assertNotIn("/app/provider", visitor.page)

    def test_cot_16_an_account_with_a_second_factor_is_asked_for_it_behind_the_provider(self):
        person, app = Person(), App(urd)
        totp, used = person.set_up_second_factor()
        person.sign_out_here()
        visitor = person.visitor
        status, place = person.press(app)
        self.assertEqual(status, 200, place)
        self.assertIn("authenticator app", visitor.page)
        ticket = visitor.hidden("form", "ticket")
        # One that was used, and none, let nobody in.
        for wrong in (used, "", "000000"):
            status, place = visitor.ask(
                "POST", client.url + "/oidc/twofactor", {**ticket, "totp": wrong})
            self.assertEqual(status, 400, place)
        while totp.now() == used:
            time.sleep(0.5)
        status, place = person.go(*visitor.ask(
            "POST", client.url + "/oidc/twofactor", {**ticket, "totp": totp.now()}), app)
        self.assertTrue(place.startswith(app.redirect + "?"), (place, visitor.page))
        told = app.exchange(app.body(sent(place)))
        self.assertEqual(told.json["user"]["ID"], person.id, told.text)
        self.assertEqual(told.json["oauth_token"]["auth_method"], "SOCIAL_LOGIN")


class Connect(unittest.TestCase):
    """COT-16: an app connects the account of its person to a provider."""

    path = f"/api/v0/oauth/credential/connect/{SLUG}"

    def begin(self, person, app, path=None, **more):
        query = {"api_key_id": app.key, "access_token": person.token,
                 "redirect_url": app.redirect, **more}
        return person.visitor.ask(
            "GET", client.url + (path or self.path) + "?" + urllib.parse.urlencode(query))

    def is_connected(self, person):
        held = person.visitor.cookies.pop(urllib.parse.urlsplit(client.url).netloc, None)
        try:
            status, place = person.press(App(urd))
            return status == 303 and "code=" in place
        finally:
            if held is not None:
                person.visitor.cookies[urllib.parse.urlsplit(client.url).netloc] = held

    def press(self, person, app):
        """The button of the page that asks."""
        visitor = person.visitor
        return person.go(*visitor.ask(
            "POST", "/account/providers/connect", visitor.hidden("form", "provider", "next")), app)

    def test_cot_16_an_app_connects_an_account_that_then_signs_in_by_the_provider(self):
        person, app = Person(connected=False), App(urd)
        visitor = person.visitor
        status, place = self.begin(person, app)
        self.assertEqual(status, 303, visitor.page)
        self.assertNotIn(person.token, place)
        # Who is not signed in here signs in first, and comes back.
        self.assertEqual(visitor.follow(status, place), 200)
        self.assertIn('name="email"', visitor.page)
        self.assertEqual(visitor.follow(*visitor.sign_in(person.email)), 200)
        self.assertIn("Connect Corporate account", visitor.page)
        self.assertFalse(self.is_connected(person))
        visitor.follow(*self.begin(person, app))
        status, place = self.press(person, app)
        self.assertEqual((status, place), (303, f"{app.redirect}?provider={SLUG}"))
        self.assertTrue(self.is_connected(person))
        kinds = [item["type"] for item in urd.api.call(
            "GET", f"{VERIFY}/events", subject=f"account:{person.id}")[1]["items"]]
        self.assertTrue([kind for kind in kinds if "identity" in kind], kinds)

    def test_who_would_rather_not_goes_back_with_nothing_connected(self):
        person, app = Person(connected=False), App(urd)
        person.sign_in_here()
        visitor = person.visitor
        visitor.follow(*self.begin(person, app))
        cancel = html.unescape(re.search(r'href="(/app/connect/done[^"]*)"', visitor.page)[1])
        status, place = visitor.ask("GET", cancel)
        self.assertEqual((status, place), (303, app.redirect + "?error=access_denied"))
        self.assertFalse(self.is_connected(person))

    def test_a_token_alone_connects_nobody_who_is_signed_in_as_another(self):
        thief, victim, app = Person(connected=False), Person(connected=False), App(urd)
        victim.sign_in_here()
        visitor = victim.visitor
        status = visitor.follow(*self.begin(victim, app, access_token=thief.token))
        self.assertEqual(status, 403, visitor.page)
        self.assertNotIn('action="/account/providers/connect', visitor.page)
        self.assertFalse(self.is_connected(thief))
        self.assertFalse(self.is_connected(victim))

    def test_forms_of_others_and_what_is_forged_lead_nowhere(self):
        person, app = Person(connected=False), App(urd)
        person.sign_in_here()
        visitor = person.visitor
        wanted = urllib.parse.urlsplit(self.begin(person, app)[1]).query
        visitor.ask("GET", client.url + "/app/connect?" + wanted)
        form = visitor.hidden("form", "provider", "next")
        for change in ({"form": ""}, {"form": "AAAA"}):
            status, place = visitor.ask("POST", "/account/providers/connect", {**form, **change})
            self.assertNotIn("/connect/authorize", place or "")
        # Nor does it lead to another site in the end.
        elsewhere = {**form, "next": "https://evil.example/"}
        status, place = person.go(
            *visitor.ask("POST", "/account/providers/connect", elsewhere), app)
        self.assertEqual(status, 200, place)
        self.assertTrue(visitor.place.startswith(client.url + "/account/security"), visitor.place)
        # Sealed here as well, for another page.
        person.sign_out_here()
        visitor.ask("GET", client.url + "/app?" + app.query())
        _, place = visitor.ask("POST", "/app?" + app.query(), {
            **visitor.hidden("form"), "input": person.email})
        other = wanted[3:-2] + ("EE" if wanted.endswith("AA") else "AA")
        for forged in ("", "AAAA", other, sent(place)["to"]):
            for path in ("/app/connect", "/app/connect/done"):
                status, place = visitor.ask(
                    "GET", client.url + path + "?" + urllib.parse.urlencode({"to": forged}))
                self.assertEqual(status, 400, (path, forged, place))
                self.assertIn("Too late", visitor.page)

    def test_what_is_wrong_with_the_request_is_told_in_one_text(self):
        person, app = Person(connected=False), App(urd)
        visitor = person.visitor
        for status, more in (
                (403, {"access_token": ""}), (403, {"access_token": "AAAA.BBBB.CCCC"}),
                (403, {"api_key_id": str(uuid.uuid4())}),
                (400, {"redirect_url": "https://evil.example/"}), (400, {"redirect_url": ""}),
                (400, {"redirect_url": "http://localhost:8395/?provider=other"}),
                (400, {"redirect_url": "http://localhost:8395/?a=1&error=none"}),
                (404, {"path": self.path + "x"})):
            with self.subTest(more=more):
                self.assertEqual(self.begin(person, app, **more)[0], status, visitor.page)
                self.assertIn('"msg"', visitor.page)
        # A token of a session that ended.
        sessions = f"{VERIFY}/accounts/{person.id}/sessions"
        for session in urd.api.call("GET", sessions)[1]["items"]:
            call("DELETE", f"{sessions}/{session['id']}")
        self.assertEqual(self.begin(person, app)[0], 403, visitor.page)

    def test_a_providers_account_connected_to_another_person_is_refused(self):
        first, app = Person(), App(urd)
        second = Person(connected=False)
        second.visitor.cookies[urllib.parse.urlsplit(provider.url).netloc] = (
            first.visitor.cookies[urllib.parse.urlsplit(provider.url).netloc])
        second.sign_in_here()
        second.visitor.follow(*self.begin(second, app))
        status, place = self.press(second, app)
        self.assertEqual(status, 400, place)
        self.assertIn("Already connected", second.visitor.page)


class Unknown(unittest.TestCase):
    def test_a_path_that_nobody_has_is_refused_as_those_beside_it(self):
        for path in ("/api/v0/nothing", "/api/v0", "/api/v0/user/create/more",
                     "/api/v0/oauth/token/list/someone"):
            answer = App(urd).call("GET", path)
            self.assertEqual((answer.status, list(answer.json)), (404, ["msg"]), path)
        answer = App(urd).call("GET", "/api/nothing")
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
