"""Tenants of the verify profile: what their servers do with people and claims, and where one tenant ends and
the next begins. COT-11 and COT-13 are named where they are tested."""

import base64
import html
import json
import re
import unittest
import urllib.parse

from phone import code, mail
from token_tool import missing, rerun
from urd_process import Urd
from verify_client import App, Browser, address

MISSING = missing("jose")
if not MISSING:
    from jose import jwt


def setUpModule():
    global urd, site
    urd = Urd()
    site = urd.values["URD_VERIFY_URL"]


def tearDownModule():
    urd.close()


def tenant(realm="verify", **more):
    """Another tenant: its API key and its secret."""
    status, body, _ = urd.api.call(
        "POST", f"/api/admin/realms/{realm}/clients", {"profile": "verify", **more})
    assert status == 201, body
    return body["client_id"], body["client_secret"]


class Claims(unittest.TestCase):
    """COT-11: the tenant's server adds claims, which survive each refresh."""

    def claims(self, token):
        return jwt.get_unverified_claims(token)

    def set(self, app, secret=None, **body):
        return app.call(
            "POST", "/api/v0/token/custom", body,
            API_SECRET_KEY=secret or urd.values["URD_VERIFY_API_SECRET_KEY"])

    def test_cot_11_custom_claims_survive_rotation_and_replace_no_claim_of_ours(self):
        app = App(urd)
        tokens = app.sign_in(address())["oauth_token"]
        added = {"plan": "gold", "sub": "somebody", "roles": ["a", "b"]}
        answer = self.set(app, token=tokens["access_token"], custom_attributes=added)
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(set(answer.json), {"token"})
        before, claims = self.claims(tokens["access_token"]), self.claims(answer.json["token"])
        self.assertEqual((claims["plan"], claims["roles"]), ("gold", ["a", "b"]))
        self.assertEqual(claims["custom_attributes"], added)
        self.assertEqual(claims["sub"], before["sub"])
        self.assertLessEqual(claims["exp"], before["exp"])
        fresh = app.refresh(tokens["refresh_token"]).json
        self.assertEqual(self.claims(fresh["access_token"])["plan"], "gold")
        both = self.set(
            app, token=fresh["access_token"], custom_attributes={"plan": "iron"},
            refresh_token=fresh["refresh_token"])
        self.assertEqual(set(both.json), {"token", "refresh_token"}, both.text)
        claims = self.claims(app.refresh(both.json["refresh_token"]).json["access_token"])
        self.assertEqual(claims["custom_attributes"], {"plan": "iron"})
        self.assertNotIn("roles", claims)

    def test_cot_11_only_the_tenants_server_sets_claims_of_a_good_token(self):
        app = App(urd)
        tokens = app.sign_in(address())["oauth_token"]
        good = {"token": tokens["access_token"], "custom_attributes": {"a": 1}}
        for secret in ("x", urd.values["URD_VERIFY_API_SECRET_KEY"][:-1]):
            self.assertEqual(self.set(app, secret, **good).status, 403)
        for wrong in ({"token": tokens["id_token"]}, {"token": "x"},
                      {"custom_attributes": {"a": "x" * 3000}}, {"custom_attributes": None}):
            answer = self.set(app, **{**good, **wrong})
            self.assertEqual(answer.status, 400, wrong)
            self.assertIn("msg", answer.json)


class Users(unittest.TestCase):
    """COT-13: the API key alone lists and reads nobody."""

    def call(self, app, method, path, body=None, secret=True, **headers):
        if secret:
            headers["API_SECRET_KEY"] = urd.values["URD_VERIFY_API_SECRET_KEY"]
        return app.call(method, path, body, **headers)

    def test_cot_13_a_server_creates_gets_and_lists_people(self):
        app, who = App(urd), address()
        made = self.call(app, "POST", "/api/v0/user/create", {
            "client_user_id": "customer-7-" + who[4:12], "identifiers": [who]})
        self.assertEqual(made.status, 200, made.text)
        user = made.json
        self.assertEqual((user["identifier"], user["issuer"]), (who, app.key))
        self.assertEqual(user["client_user_id"], "customer-7-" + who[4:12])
        again = self.call(app, "POST", "/api/v0/user/create", {"identifier": who})
        self.assertEqual((again.status, again.json), (400, {"msg": "User already exists"}))
        query = urllib.parse.urlencode({"identifier": who.upper()})
        self.assertEqual(self.call(app, "GET", "/api/v0/user?" + query).json["ID"], user["ID"])
        listed = self.call(app, "GET", "/api/v0/user/list?page=0").json
        self.assertEqual(listed[0]["ID"], user["ID"])
        self.assertEqual(self.call(app, "GET", "/api/v0/user/list?page=99").json, [])
        # Who then proves the address is that person.
        self.assertEqual(app.sign_in(who)["user"]["ID"], user["ID"])

    def test_cot_13_pages_of_people_have_fifty_each_and_none_twice(self):
        app, made = App(urd), []
        for _ in range(60):
            answer = self.call(app, "POST", "/api/v0/user/create", {"identifier": address()})
            made.append(answer.json["ID"])
        pages = [[user["ID"] for user in self.call(
            app, "GET", f"/api/v0/user/list?page={page}").json] for page in (0, 1)]
        self.assertEqual(len(pages[0]), 50)
        self.assertEqual((pages[0] + pages[1])[:60], made[::-1])

    def test_cot_13_the_api_key_alone_lists_and_reads_nobody(self):
        app, who = App(urd), address()
        tokens = app.sign_in(who)["oauth_token"]
        query = "/api/v0/user?" + urllib.parse.urlencode({"identifier": who})
        nobody = self.call(app, "GET", query, secret=False)
        self.assertEqual(nobody.json["ID"], "00000000-0000-0000-0000-000000000000")
        unknown = self.call(app, "GET", "/api/v0/user?identifier=x%40example.org", secret=False)
        self.assertEqual(unknown.text, nobody.text)
        for path in ("/api/v0/user/list?page=0",):
            self.assertEqual(self.call(app, "GET", path, secret=False).status, 403)
        bearer = {"Authorization": "Bearer " + tokens["access_token"]}
        self.assertEqual(
            self.call(app, "GET", query, secret=False, **bearer).json["identifier"], who)
        other = address()
        app.sign_in(other)
        query = "/api/v0/user?" + urllib.parse.urlencode({"identifier": other})
        self.assertEqual(
            self.call(app, "GET", query, secret=False, **bearer).text, nobody.text)
        status = self.call(app, "POST", "/api/v0/user/create", {
            "client_user_id": "x", "identifiers": [address()]}, secret=False).status
        self.assertEqual(status, 403)

    def test_cot_13_methods_say_what_a_person_enrolled(self):
        app = App(urd)
        user = app.sign_in(address())["user"]
        path = f"/api/v0/user/methods?cotter_user_id={user['ID']}&method=WEBAUTHN"
        answer = self.call(app, "GET", path)
        self.assertEqual(answer.json, {"method": "WEBAUTHN", "enrolled": False})


class Boundaries(unittest.TestCase):
    """What belongs to one tenant, or to this profile, is good nowhere else."""

    def settings(self, **changes):
        status, body, _ = urd.api.call("PATCH", "/api/admin/realms/verify/settings", changes)
        self.assertEqual(status, 200, body)

    def test_an_app_lets_nobody_join_where_the_realm_lets_nobody_join_by_a_code(self):
        app = App(urd)
        for posture in ("off", "invite_code", "explicit_endpoint"):
            self.settings(registration=posture)
            self.addCleanup(self.settings, registration=None)
            who = address()
            answer = app.call("POST", "/api/v0/user/create", {"identifier": who})
            self.assertEqual(answer.status, 403, (posture, answer.text))
            app.ask(Browser(site), who)
        self.settings(registration=None)
        self.assertEqual(
            app.call("POST", "/api/v0/user/create", {"identifier": address()}).status, 200)

    def test_mails_of_a_tenant_with_an_app_are_in_the_apps_name(self):
        status, made, _ = urd.api.call("POST", "/api/admin/realms/verify/apps", {
            "slug": "corner-shop", "name": "Corner Shop"})
        self.assertEqual(status, 201, made)
        status, body, _ = urd.api.call(
            "PATCH", f"/api/admin/realms/verify/apps/{made['id']}",
            {"settings": {"display_name": "Corner Shop"}})
        self.assertEqual(status, 200, body)
        key, _ = tenant(app_id=made["id"])
        app, who, other = App(urd, key=key), address(), address()
        self.assertEqual(app.sign_in(who)["user"]["identifier"], who)
        self.assertIn("Corner Shop", mail(urd, who)["text"])
        App(urd).ask(Browser(site), other)
        self.assertNotIn("Corner Shop", mail(urd, other)["text"])

    def test_a_tenants_name_of_a_person_is_shown_to_no_other_tenant(self):
        key, secret = tenant()
        app, who = App(urd), address()
        other = App(urd, key=key)
        made = other.call(
            "POST", "/api/v0/user/create", {"client_user_id": "admin-1", "identifiers": [who]},
            API_SECRET_KEY=secret)
        self.assertEqual(made.json["client_user_id"], "admin-1")
        answer = app.sign_in(who)
        self.assertEqual(answer["user"]["client_user_id"], answer["user"]["ID"])
        claims = jwt.get_unverified_claims(answer["oauth_token"]["access_token"])
        self.assertEqual(claims["client_user_id"], claims["sub"])
        self.assertEqual(other.sign_in(who)["user"]["client_user_id"], "admin-1")
        taken = other.call(
            "POST", "/api/v0/user/create",
            {"client_user_id": claims["sub"], "identifiers": [address()]}, API_SECRET_KEY=secret)
        self.assertEqual(taken.status, 400)

    def test_claims_that_verifiers_could_not_read_are_refused_and_change_nothing(self):
        app = App(urd)
        tokens = app.sign_in(address())["oauth_token"]
        deep = json.loads("[" * 15 + "]" * 15)
        secret = urd.values["URD_VERIFY_API_SECRET_KEY"]
        for wrong in ({"custom_attributes": {"a": deep}},
                      {"custom_attributes": {"a": 1}, "refresh_token": "1:x"}):
            answer = app.call(
                "POST", "/api/v0/token/custom", {"token": tokens["access_token"], **wrong},
                API_SECRET_KEY=secret)
            self.assertEqual(answer.status, 400)
        fresh = app.refresh(tokens["refresh_token"]).json["access_token"]
        self.assertNotIn("custom_attributes", jwt.get_unverified_claims(fresh))

    def test_a_tenant_is_no_client_of_oauth(self):
        key, secret = tenant(redirect_uris=["https://shop.example", "*"], consent="needed")
        app = App(urd, key=key)
        sent = app.walk(address())
        refresh = App(urd, key=key).sign_in(address())["oauth_token"]["refresh_token"]
        basic = base64.b64encode(f"{key}:{secret}".encode()).decode()
        for form in ({"grant_type": "authorization_code", "code": sent["code"],
                      "redirect_uri": app.redirect, "code_verifier": app.verifier},
                     {"grant_type": "refresh_token", "refresh_token": refresh.split(":")[1]}):
            for more in ({"Authorization": f"Basic {basic}"}, {}):
                answer = Browser(site).call("POST", "/connect/token", form, **more)
                self.assertEqual(answer.status, 401 if more else 401, answer.text)
        for redirect in ("https://shop.example", "*"):
            query = urllib.parse.urlencode({
                "response_type": "code", "client_id": key, "redirect_uri": redirect,
                "code_challenge": app.challenge, "code_challenge_method": "S256", "state": "s"})
            answer = Browser(site).call("GET", "/connect/authorize?" + query)
            self.assertEqual((answer.status, answer.location), (400, None))
        self.assertEqual(app.exchange(app.body(sent)).status, 200)

    def test_what_is_sealed_for_one_tenant_is_nothing_at_another(self):
        key, _ = tenant()
        app, browser, who = App(urd), Browser(site), address()
        page, path = app.ask(browser, who)
        theirs = path.replace(app.key, key)
        answer = browser.post(page, theirs, code=code(urd, who))
        self.assertEqual(answer.status, 303)
        self.assertTrue(answer.location.startswith("/app?"), answer.location)
        self.assertEqual(browser.post(page, path, code=code(urd, who)).status, 303)

    def test_tokens_of_a_client_that_is_no_tenant_any_more_are_not_good(self):
        key, _ = tenant(redirect_uris=["https://shop.example/"])
        app = App(urd, key=key)
        tokens = app.sign_in(address())["oauth_token"]
        worker = {"oauth_token": {"access_token": tokens["access_token"]}}
        self.assertEqual(app.call("POST", "/verify", worker).json, {"success": True})
        status, body, _ = urd.api.call(
            "PATCH", f"/api/admin/realms/verify/clients/{key}", {"profile": "standard"})
        self.assertEqual(status, 200, body)
        self.assertFalse(app.call("POST", "/verify", worker).json["success"])

    def test_cancel_leads_back_to_every_kind_of_app(self):
        key, _ = tenant(redirect_uris=["yourapp://"])
        for redirect in ("yourapp://", "http://localhost:8395"):
            app, browser = App(urd, redirect=redirect, key=key), Browser(site)
            page = browser.call("GET", "/app?" + app.query())
            link = html.unescape(re.search(r'href="(/app/cancel[^"]*)"', page.text)[1])
            answer = browser.call("GET", link)
            self.assertEqual(
                answer.location, f"{redirect}?error=access_denied&state={app.state}")

    def test_a_frames_redirect_url_is_one_of_the_tenants(self):
        app = App(urd)
        query = urllib.parse.urlencode({
            "api_key": app.key, "domain": "http://localhost:1", "type": "EMAIL", "state": "s",
            "challenge": app.challenge, "redirect_url": "https://evil.example/cb"})
        answer = Browser(site).call("GET", "/signup?" + query, Accept="application/json")
        self.assertEqual(answer.status, 400)
        self.assertIn("https://evil.example/cb", answer.json["msg"])

    def test_a_sign_in_weaker_than_the_realm_wants_gives_no_code(self):
        app, browser, who = App(urd), Browser(site), address()
        app.walk(who, browser=browser)
        self.settings(sign_in_level="multi")
        self.addCleanup(self.settings, sign_in_level=None)
        page = browser.call("GET", "/app?" + app.query())
        self.assertNotIn("Continue as", page.text)
        page, path = app.ask(browser, who)
        answer = browser.post(page, path, code=code(urd, who, 1))
        self.assertEqual(answer.status, 400)
        self.assertIn("second factor", answer.text)

    def test_refresh_tokens_with_another_number_or_none_are_refused(self):
        app = App(urd)
        token = app.sign_in(address())["oauth_token"]["refresh_token"]
        for wrong in (token.split(":")[1], "7:" + token.split(":")[1], ":" + token, token + "x"):
            self.assertEqual(app.refresh(wrong).status, 400)
        self.assertEqual(app.refresh(token).status, 200)


if MISSING:
    Boundaries = Users = Claims = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
