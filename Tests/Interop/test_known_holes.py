"""Holes that other identity servers had, tried against a running one. The table is in docs/known-holes.md."""

import http.client
import unittest
import urllib.parse
import uuid

from phone import Phone, another, code, inbox
from urd_process import Urd

REGISTERED = "https://app.example/back"
SERVICE = {"client_name": "Service", "grant_types": ["client_credentials"], "scope": "jobs"}


def setUpModule():
    global urd
    urd = Urd(lawful=True)


def tearDownModule():
    urd.close()


def made(path, body):
    status, answer, _ = urd.api.call("POST", urd.realm + path, body)
    assert status == 201, answer
    return answer


def beside(text):
    """A secret that is cut by so much that whole bytes are left at times, or is longer."""
    return [text[:-cut] for cut in range(1, 9)] + [text[:len(text) // 2], text + "A", text + "="]


class Secrets(unittest.TestCase):
    def test_a_cut_or_longer_token_is_none(self):
        phone = Phone(urd)
        tokens = phone.sign_in(f"{uuid.uuid4().hex}@example.org")
        for text in beside(tokens["access_token"]):
            self.assertEqual(phone.call("GET", "/connect/userinfo", token=text)[0], 401, text)
        for text in beside(tokens["refresh_token"]):
            status, answer, _ = phone.refresh(text)
            self.assertEqual((status, answer["error"]), (400, "invalid_grant"), text)
        self.assertEqual(phone.call("GET", "/connect/userinfo", token=tokens["access_token"])[0], 200)
        self.assertEqual(phone.refresh(tokens["refresh_token"])[0], 200, "Nothing ended by a guess.")

    def test_a_cut_or_longer_secret_or_admin_key_is_none(self):
        client = made("/clients", SERVICE)
        phone = Phone(urd, client=client["client_id"])
        for text in beside(client["client_secret"]):
            status, answer, _ = phone.token("client_credentials", client_secret=text)
            self.assertEqual((status, answer["error"]), (401, "invalid_client"), text)
        self.assertEqual(phone.token("client_credentials", client_secret=client["client_secret"])[0], 200)
        for text in beside(urd.values["URD_ADMIN_KEY"]):
            self.assertEqual(urd.api.call("GET", urd.clients, key=text)[0], 401)


class People(unittest.TestCase):
    def test_a_disabled_accounts_tokens_and_refresh_end_at_once(self):
        phone, email = Phone(urd), f"{uuid.uuid4().hex}@example.org"
        tokens = phone.sign_in(email)
        person = phone.call("GET", "/connect/userinfo", token=tokens["access_token"])[1]["sub"]
        status, _, _ = urd.api.call("POST", f"{urd.realm}/accounts/{person}/disable")
        self.assertLess(status, 300)
        self.assertEqual(phone.call("GET", "/connect/userinfo", token=tokens["access_token"])[0], 401)
        status, answer, _ = phone.refresh(tokens["refresh_token"])
        self.assertEqual((status, answer.get("error")), (400, "invalid_grant"))

    def test_another_spelling_of_an_address_gives_no_guess_back(self):
        phone, name = Phone(urd), uuid.uuid4().hex
        email = f"{name}@example.org"
        phone.sign_in(email)
        before = len(inbox(urd, email))
        self.assertEqual(phone.request_code(email)[0], 200)
        right = code(urd, email, before)
        for spelling in (email, email.upper(), f" {name.capitalize()}@EXAMPLE.org"):
            self.assertEqual(phone.redeem(spelling, another(right))[0], 400)
        self.assertEqual(phone.redeem(email, right)[0], 400, "Three guesses were all.")


class Redirects(unittest.TestCase):
    def authorize(self, client, *addresses, **more):
        """The status and the place of an answer to a request for all these addresses."""
        query = urllib.parse.urlencode([
            ("client_id", client), ("response_type", "code"), ("scope", "openid"), ("prompt", "none"),
            *(("redirect_uri", one) for one in addresses), *more.items()])
        phone = Phone(urd)
        connection = http.client.HTTPConnection(*phone.address)
        try:
            connection.request("GET", "/connect/authorize?" + query, headers={"Host": phone.host})
            answer = connection.getresponse()
            return answer.status, answer.headers["Location"]
        finally:
            connection.close()

    def test_no_redirect_goes_beside_the_registered_address(self):
        client = made("/clients", {"client_name": "Site", "redirect_uris": [REGISTERED]})["client_id"]
        status, place = self.authorize(client, REGISTERED, state="s")
        self.assertTrue(place.startswith(REGISTERED + "?"), (status, place))
        for address in (
            "https://app.example/Back", "https://app.example:8443/back", "http://app.example/back",
            REGISTERED + "/", REGISTERED + "#f", REGISTERED + "?a=b", REGISTERED + "/../evil",
            REGISTERED + "/..;/evil", REGISTERED + "/%2e%2e/evil", REGISTERED + "\\evil",
            "https://app.example@evil.example/back", "https://evil.example\\@app.example/back",
            "https://app.example.evil.example/back", "https://\u0430pp.example/back",
            "https://xn--pp-6kc.example/back", "https://app\u3002example/back", "//evil.example/back",
            "javascript:alert(1)", "JAVASCRIPT:alert(1)//" + REGISTERED, "https://*.example/back",
        ):
            status, place = self.authorize(client, address, state="s")
            self.assertEqual((status, place), (400, None), address)

    def test_a_parameter_that_stands_twice_leads_nowhere(self):
        client = made("/clients", {"client_name": "Site", "redirect_uris": [REGISTERED]})["client_id"]
        for pair in ((REGISTERED, "https://evil.example"), ("https://evil.example", REGISTERED)):
            self.assertEqual(self.authorize(client, *pair), (400, None), pair)


if __name__ == "__main__":
    unittest.main()
