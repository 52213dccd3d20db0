"""COT-16, passkeys: a tenant's app has them made and signs people in by them."""

import json
import time
import unittest
import urllib.parse

from token_tool import missing, rerun
from urd_process import Urd, together
from verify_client import App, address

MISSING = missing("jose", "fido2", "cryptography")
if not MISSING:
    from jose import jwt
    from verify_devices import Authenticator

ORIGIN = "http://localhost:8395"
REGISTER, LOGIN = "/api/v0/webauthn/register", "/api/v0/webauthn/login"


def setUpModule():
    global urd
    urd = Urd()
    settings(webauthn_rp_id="localhost")


def tearDownModule():
    urd.close()


def settings(**changes):
    status, body, _ = urd.api.call("PATCH", "/api/admin/realms/verify/settings", changes)
    assert status == 200, body


def tenant(**more):
    status, body, _ = urd.api.call(
        "POST", "/api/admin/realms/verify/clients", {"profile": "verify", **more})
    assert status == 201, body
    return body["client_id"]


def query(who):
    return "?" + urllib.parse.urlencode({"identifier": who})


def bearer(tokens):
    return {"Authorization": "Bearer " + tokens["access_token"]}


class Person:
    def __init__(self, key=None):
        self.who, self.app = address(), App(urd, key=key)
        signed_in = self.app.sign_in(self.who)
        self.id, self.tokens = signed_in["user"]["ID"], signed_in["oauth_token"]
        self.key = Authenticator()

    def begin_enrollment(self, origin=ORIGIN, app=None, **headers):
        return (app or self.app).call(
            "POST", REGISTER + "/begin" + query(self.who), {"origin": origin},
            **(headers or bearer(self.tokens)))

    def enroll(self):
        begun = self.begin_enrollment()
        assert begun.status == 200, begun.text
        made = self.key.create(begun.json["publicKey"])
        return self.app.call(
            "POST", REGISTER + "/finish" + query(self.who), made, Cookie=cookie(begun),
            **bearer(self.tokens))

    def begin(self, origin=ORIGIN, app=None):
        begun = (app or self.app).call(
            "POST", LOGIN + "/begin" + query(self.who), {"origin": origin})
        assert begun.status == 200, begun.text
        return begun

    def finish(self, begun, assertion=None, who=None, app=None, **headers):
        assertion = assertion or self.key.get(begun.json["publicKey"])
        return (app or self.app).call(
            "POST", LOGIN + "/finish" + query(who or self.who),
            {**assertion, "public_key": "", "identifier_type": "EMAIL", "device_type": "BROWSER",
             "device_name": "Test"}, Cookie=cookie(begun), **headers)


def cookie(begun):
    line = begun.headers["Set-Cookie"]
    assert all(word in line for word in (
        "Path=/api/v0/webauthn;", "Secure", "HttpOnly", "SameSite=None", "Partitioned")), line
    return line.split(";")[0]


class SignIn(unittest.TestCase):
    def setUp(self):
        self.person = Person()

    def test_cot_16_a_person_makes_a_passkey_and_signs_in_with_it(self):
        person = self.person
        enrolled = person.enroll()
        self.assertEqual(enrolled.status, 200, enrolled.text)
        self.assertEqual(enrolled.json["user"]["enrolled"], ["WEBAUTHN"])
        begun = person.begin()
        self.assertEqual(begun.json["publicKey"]["rpId"], "localhost")
        answer = person.finish(begun)
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(answer.json["user"]["ID"], person.id)
        tokens = answer.json["oauth_token"]
        claims = jwt.get_unverified_claims(tokens["access_token"])
        self.assertEqual(claims["authentication_method"], "WEBAUTHN")
        self.assertEqual((claims["sub"], claims["aud"]), (person.id, person.app.key))
        self.assertEqual(claims["iss"], jwt.get_unverified_claims(
            person.tokens["access_token"])["iss"])
        refreshed = person.app.refresh(tokens["refresh_token"])
        self.assertEqual(refreshed.json["auth_method"], "WEBAUTHN")
        good = person.app.call(
            "POST", "/verify", {"oauth_token": {"access_token": tokens["access_token"]}})
        self.assertEqual(good.json, {"success": True})

    def test_cot_16_a_passkey_is_made_so_that_it_can_sign_in(self):
        asked = self.person.begin_enrollment().json["publicKey"]["authenticatorSelection"]
        self.assertEqual(asked, {
            "residentKey": "required", "requireResidentKey": True, "userVerification": "required"})

    def test_cot_16_history_tells_passkeys_from_codes(self):
        self.assertEqual(self.person.enroll().status, 200)
        self.assertEqual(self.person.finish(self.person.begin()).status, 200)
        self.assertEqual(self.person.finish(self.person.begin(), who=address()).status, 400)
        shown = urd.command(
            "history", "user", self.person.who, "--realm", "verify", "--json",
            URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        items = json.loads(shown.stdout)["items"][:2]
        self.assertEqual([(item["method"], item["outcome"], item.get("reason")) for item in items], [
            ("passkey", "refused", "otherUser"), ("passkey", "signed_in", None)])

    def test_cot_16_a_page_has_the_refresh_token_as_a_cookie_too(self):
        self.assertEqual(self.person.enroll().status, 200)
        answer = self.person.finish(self.person.begin(), Origin=ORIGIN)
        lines = answer.headers.get_all("Set-Cookie")
        self.assertTrue(any(line.startswith("__Secure-urd-refresh=") for line in lines), lines)
        self.assertEqual(answer.headers["Access-Control-Allow-Origin"], ORIGIN)

    def test_cot_16_a_ceremony_used_fifty_times_signs_in_once(self):
        self.assertEqual(self.person.enroll().status, 200)
        begun = self.person.begin()
        assertion = self.person.key.get(begun.json["publicKey"])
        answers = together(50, lambda _: self.person.finish(begun, assertion).status)
        self.assertEqual(answers.count(200), 1, answers)
        self.assertEqual(set(answers), {200, 400})

    def test_cot_16_an_enrollment_used_twice_makes_one_passkey(self):
        begun = self.person.begin_enrollment()
        made = [Authenticator().create(begun.json["publicKey"]) for _ in range(2)]
        answers = [self.person.app.call(
            "POST", REGISTER + "/finish", one, Cookie=cookie(begun), **bearer(self.person.tokens))
            for one in made]
        self.assertEqual([answer.status for answer in answers], [200, 400])


class Refused(unittest.TestCase):
    def setUp(self):
        self.person = Person()

    def test_cot_16_the_api_key_alone_enrols_nobody(self):
        thief = Person()
        for headers in ({"Cookie": ""}, bearer(thief.tokens), {
                "Authorization": "Bearer " + self.person.tokens["id_token"]},
                {"API_SECRET_KEY": urd.values["URD_VERIFY_API_SECRET_KEY"]}):
            answer = self.person.begin_enrollment(**headers)
            self.assertEqual((answer.status, list(answer.json)), (403, ["msg"]), headers)
        begun = self.person.begin_enrollment()
        made = self.person.key.create(begun.json["publicKey"])
        for headers in ({}, bearer(thief.tokens)):
            answer = self.person.app.call(
                "POST", REGISTER + "/finish", made, Cookie=cookie(begun), **headers)
            self.assertIn(answer.status, (400, 403), answer.text)
        self.assertEqual(self.exists(**bearer(self.person.tokens)), False)

    def test_cot_16_a_sign_in_of_long_ago_enrols_no_passkey(self):
        settings(recent_sign_in=1)
        self.addCleanup(settings, recent_sign_in=None)
        time.sleep(2)
        self.assertEqual(self.person.begin_enrollment().status, 403)

    def exists(self, **headers):
        answer = self.person.app.call(
            "GET", "/api/v0/webauthn/exists" + query(self.person.who), **headers)
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json["exists"]

    def test_cot_16_who_has_a_passkey_is_told_to_the_person_and_the_tenants_server_alone(self):
        self.assertEqual(self.person.enroll().status, 200)
        self.assertFalse(self.exists())
        self.assertFalse(self.exists(**bearer(Person().tokens)))
        self.assertTrue(self.exists(**bearer(self.person.tokens)))
        secret = urd.values["URD_VERIFY_API_SECRET_KEY"]
        self.assertTrue(self.exists(API_SECRET_KEY=secret))
        unknown = self.person.app.call("GET", "/api/v0/webauthn/exists" + query(address()))
        self.assertEqual(unknown.json, {"exists": False})
        # Neither does the beginning tell.
        shapes = [self.person.app.call(
            "POST", LOGIN + "/begin" + query(who), {"origin": ORIGIN}).json["publicKey"]
            for who in (self.person.who, address())]
        for shape in shapes:
            del shape["challenge"]
        self.assertEqual(shapes[0], shapes[1])

    def test_cot_16_only_origins_of_the_tenant_and_the_domain_have_ceremonies(self):
        listed = tenant(redirect_uris=["https://www.shop.example", "https://shop.localhost"])
        person = Person(listed)
        for origin, good in [
                (ORIGIN, True), ("https://shop.localhost", True),
                ("https://www.shop.example", False), ("https://other.localhost", False),
                ("https://localhost.evil.example", False), ("", False), ("null", False)]:
            answer = person.begin_enrollment(origin)
            self.assertEqual(answer.status, 200 if good else 400, (origin, answer.text))
            answer = person.app.call("POST", LOGIN + "/begin", {"origin": origin})
            self.assertEqual(answer.status, 200 if good else 400, (origin, answer.text))

    def test_cot_16_a_ceremony_ends_where_it_began(self):
        self.assertEqual(self.person.enroll().status, 200)
        begun, key = self.person.begin(), self.person.key
        for origin in ("http://localhost:8396", "https://www.evil.example"):
            assertion = key.get(begun.json["publicKey"], origin=origin)
            self.assertEqual(self.person.finish(begun, assertion).status, 400, origin)
        other = App(urd, key=tenant())
        self.assertEqual(self.person.finish(begun, app=other).status, 400)
        self.assertEqual(self.person.finish(begun, who=address()).status, 400)
        fresh = self.person.begin()
        without = key.get(fresh.json["publicKey"], flags=0x01)
        self.assertEqual(self.person.finish(fresh, without).status, 400)
        self.assertEqual(self.person.finish(fresh).status, 400)  # It is used up.
        self.assertEqual(self.person.finish(self.person.begin()).status, 200)

    def test_cot_16_an_answer_that_cannot_be_read_uses_its_ceremony_up(self):
        self.assertEqual(self.person.enroll().status, 200)
        whole = self.person.key.get(self.person.begin().json["publicKey"])
        for part in ("!", "bm8ganNvbg", "e30"):  # No base64url, no JSON, no origin.
            begun = self.person.begin()
            broken = {**whole, "response": {**whole["response"], "clientDataJSON": part}}
            self.assertEqual(self.person.finish(begun, broken).status, 400, part)
            self.assertEqual(self.person.finish(begun).status, 400, part)
        self.assertEqual(self.person.finish(self.person.begin()).status, 200)

    def test_cot_16_a_disabled_account_and_a_removed_passkey_sign_nobody_in(self):
        self.assertEqual(self.person.enroll().status, 200)
        account = f"/api/admin/realms/verify/accounts/{self.person.id}"
        self.assertEqual(urd.api.call("POST", account + "/disable")[0] // 100, 2)
        refused = self.person.finish(self.person.begin())
        self.assertEqual((refused.status, list(refused.json)), (400, ["msg"]))
        self.assertEqual(urd.api.call("POST", account + "/enable")[0] // 100, 2)
        self.assertEqual(self.person.finish(self.person.begin()).status, 200)

    def test_cot_16_a_realm_without_passkeys_refuses(self):
        settings(login_passkey=False)
        self.addCleanup(settings, login_passkey=None)
        answer = self.person.app.call("POST", LOGIN + "/begin", {"origin": ORIGIN})
        self.assertEqual((answer.status, list(answer.json)), (400, ["msg"]))


if MISSING:
    SignIn = Refused = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
