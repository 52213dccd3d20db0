"""Signing in by one of the realm's OpenID providers for a tenant's app (COT-16): the page for tenants leads there, and
the browser comes back to the app with a code as after a mailed one. The provider is a whole realm of its own."""

import html
import re
import sys
import unittest
import urllib.parse
import uuid

import test_upstream
from test_upstream import Door, Visitor
from token_tool import missing, rerun
from urd_process import Urd
from verify_client import App

MISSING = missing("jwt", "authlib", "requests", "cryptography", "jose")
if not MISSING:
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
        user = App(urd).sign_in(self.email)["user"]
        self.id = user["ID"]
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


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
