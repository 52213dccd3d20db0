"""Clients of the verify profile against `urd dev`: the Python client as it is published, and what the other
clients send, from the compatibility sheet. COT-01 to COT-17 are named where they are tested."""

import base64
import html
import http.server
import json
import pathlib
import re
import secrets
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import uuid
import webbrowser

import pinned
from phone import another, code, inbox, mail
from token_tool import missing, rerun
from urd_process import Urd, free_port
from verify_client import App, Browser, challenge_of

pinned.use()
MISSING = missing("jose", "requests", "cryptography", "cotter")
if not MISSING:
    import cotter
    import cotter.tokenhandler
    import cotter.validate
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from jose import jwt

from pages import DESKTOP, PHONE, Reader  # noqa: E402

KID = "SPACE_JWT_PUBLIC:8028AAA3-EC2D-4BAA-BE7A-7C8359CCB9F9"


def setUpModule():
    global urd, site
    urd = Urd()
    site = urd.values["URD_VERIFY_URL"]


def tearDownModule():
    urd.close()


def address():
    return f"ann-{uuid.uuid4().hex[:10]}@example.org"


class PublishedClient(unittest.TestCase):
    """PyPI `cotter`, unchanged but for its three addresses. Its browser is a real one."""

    @classmethod
    def setUpClass(cls):
        constants = cotter.constants
        cls.before = (
            constants.CotterBackendURL, constants.CotterJSURL, constants.CotterJWKSURL)
        constants.CotterBackendURL = site + "/api/v0"
        constants.CotterJSURL = site
        constants.CotterJWKSURL = site + "/api/v0/token/jwks"
        # It shows this page, which it looks for beside the script, once the person is back.
        cls.folder = tempfile.TemporaryDirectory(prefix="urd-cotter-")
        pathlib.Path(cls.folder.name, "cotter_login_success.html").write_text(
            "<!doctype html><title>Done</title><h1>Signed in</h1>", encoding="utf-8")
        sys.path.insert(0, cls.folder.name)
        cls.reader = Reader(site)
        cls.opened = []

        class Controller(webbrowser.BaseBrowser):
            def open(self, url, new=0, autoraise=True):
                cls.opened.append(url)
                return True

        webbrowser.register("urd-test", None, Controller("urd-test"), preferred=True)

    @classmethod
    def tearDownClass(cls):
        cls.reader.close()
        sys.path.remove(cls.folder.name)
        cls.folder.cleanup()
        constants = cotter.constants
        (constants.CotterBackendURL, constants.CotterJSURL, constants.CotterJWKSURL) = cls.before

    def log_in(self, login, act):
        """What the library's function returns while a person acts in the browser."""
        key, port, outcome = urd.values["URD_VERIFY_API_KEY_ID"], free_port(), []
        del self.opened[:]
        thread = threading.Thread(target=lambda: outcome.append(login(key, port)), daemon=True)
        thread.start()
        deadline = time.monotonic() + 30
        while not self.opened and time.monotonic() < deadline:
            time.sleep(0.02)
        self.reader.go(self.opened[0])
        act()
        self.reader.until("() => document.title === 'Done'")
        thread.join(timeout=30)
        self.assertEqual(len(outcome), 1, "the library does not return")
        return outcome[0]

    def check(self, answer, who, kind):
        key = urd.values["URD_VERIFY_API_KEY_ID"]
        tokens = answer["oauth_token"]
        claims = cotter.validate.validate_access_token(tokens["access_token"], key)
        self.assertEqual(claims["identifier"], who)
        self.assertEqual(claims["sub"], answer["user"]["ID"])
        self.assertEqual(
            cotter.validate.validate_id_token(tokens["id_token"], key)["sub"], claims["sub"])
        self.assertEqual(answer["identifier"]["identifier"], who)
        self.assertEqual(answer["identifier"]["identifier_type"], kind)

    def test_cot_01_03_05_a_mail_code_logs_in_and_tokens_verify_and_refresh(self):
        who = address()

        def act():
            self.assertEqual(self.reader.faults(), [])
            self.reader.fill("input", who)
            self.reader.press("Send me a code")
            self.assertEqual(self.reader.faults(), [])
            self.reader.fill("code", code(urd, who))
            self.reader.press("Confirm")

        answer = self.log_in(cotter.login_with_email_otp, act)
        self.check(answer, who, "EMAIL")
        key, tokens = urd.values["URD_VERIFY_API_KEY_ID"], dict(answer["oauth_token"])
        self.assertEqual(cotter.tokenhandler.refresh_token(dict(tokens), key), tokens)
        tokens["access_token"] += "x"  # The library refreshes what it finds to be not good.
        fresh = cotter.tokenhandler.refresh_token(tokens, key)
        self.assertNotEqual(fresh["refresh_token"], answer["oauth_token"]["refresh_token"])
        self.check({**answer, "oauth_token": fresh}, who, "EMAIL")

        # COT-15: the browser is recognised, and asked for no code.
        def go_on():
            self.assertIn(f"Continue as {who}", self.reader.text())
            self.assertEqual(self.reader.faults(), [])
            self.reader.press(f"Continue as {who}")

        again = self.log_in(cotter.login_with_email_otp, go_on)
        self.check(again, who, "EMAIL")
        self.assertEqual(again["user"]["ID"], answer["user"]["ID"])

    def test_cot_03_a_code_by_sms_logs_in_with_a_phone_number(self):
        who = f"+4178{secrets.randbelow(10 ** 7):07}"

        def act():
            self.reader.browser.call("Network.clearBrowserCookies")
            self.reader.go(self.opened[0])
            self.assertEqual(self.reader.faults(), [])
            self.reader.fill("input", who)
            self.reader.press("Send me a code by SMS")
            self.assertEqual(self.reader.faults(), [])
            self.reader.fill("code", code(urd, who))
            self.reader.press("Confirm")

        self.check(self.log_in(cotter.login_with_phone_otp, act), who, "PHONE")


class Exchange(unittest.TestCase):
    def test_cot_07_08_09_the_answer_has_its_four_objects_and_tokens_only_if_asked_for(self):
        app, who = App(urd), address()
        sent = app.walk(who)
        self.assertRegex(sent["challenge_id"], r"^[1-9]\d*$")
        answer = app.exchange(app.body(sent, challenge_id=sent["challenge_id"]))  # As a text.
        self.assertEqual(answer.status, 200, answer.text)
        body = answer.json
        self.assertEqual(set(body), {"identifier", "oauth_token", "token", "user"})
        times = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$"
        for name in ("created_at", "updated_at", "update_at", "expiry", "timestamp"):
            self.assertRegex(body["identifier"][name], times)
        self.assertEqual(body["identifier"]["deleted_at"], "0001-01-01T00:00:00Z")
        uuid.UUID(body["identifier"]["ID"])
        self.assertEqual(body["identifier"]["device_type"], "BROWSER")
        user = body["user"]
        self.assertEqual(user["issuer"], app.key)
        self.assertEqual(user["identifier"], who)
        self.assertEqual(user["enrolled"], [])
        uuid.UUID(user["ID"])
        tokens = body["oauth_token"]
        self.assertEqual(
            set(tokens), {"access_token", "id_token", "refresh_token", "expires_in",
                          "token_type", "auth_method"})
        self.assertEqual(
            (tokens["expires_in"], tokens["token_type"], tokens["auth_method"]),
            (3600, "Bearer", "OTP"))
        self.assertRegex(tokens["refresh_token"], r"^\d+:\S+$")
        self.check_claims(app, tokens, user, who)
        self.check_identity(app, body["token"], body["identifier"]["ID"], who)
        other = App(urd)
        answer = other.exchange(other.body(other.walk(address())), tokens="")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(set(answer.json), {"identifier", "token", "user"})

    def check_claims(self, app, tokens, user, who):
        keys = app.call("GET", "/api/v0/token/jwks").json["keys"]
        self.assertEqual(
            {name: keys[0][name] for name in ("kty", "crv", "alg", "use", "kid")},
            {"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": KID})
        access, ident = tokens["access_token"], tokens["id_token"]
        self.assertEqual(jwt.get_unverified_header(access)["kid"], KID)
        claims = jwt.decode(
            access, keys[0], algorithms="ES256", audience=app.key, issuer=site)
        self.assertEqual(claims["exp"] - claims["iat"], 3600)
        self.assertLessEqual(claims["nbf"], time.time())
        self.assertEqual(
            {name: claims[name] for name in (
                "sub", "client_user_id", "identifier", "authentication_method", "type",
                "scope")},
            {"sub": user["ID"], "client_user_id": user["client_user_id"], "identifier": who,
             "authentication_method": "OTP", "type": "client_access_token",
             "scope": "access"})
        said = jwt.decode(ident, keys[0], algorithms="ES256", audience=app.key)
        self.assertEqual(said["type"], "client_id_token")
        self.assertRegex(said["auth_time"], r"^\d{10}$")
        self.assertNotEqual(said["jti"], claims["jti"])

    def check_identity(self, app, token, identifier, who):
        key = app.call("GET", "/api/v0/token/identity_keys").json["keys"][0]
        raw = base64.urlsafe_b64decode(key["x"] + "=")
        message = who + "EMAIL" + app.key + token["expire_at"]
        Ed25519PublicKey.from_public_bytes(raw).verify(
            base64.b64decode(token["signature"]), message.encode())
        self.assertEqual(
            (token["identifier"], token["identifier_type"], token["receiver"],
             token["identifier_id"]), (who, "EMAIL", app.key, identifier))

    def test_cot_05_06_a_code_is_good_once_and_only_with_what_it_was_asked_for_with(self):
        texts = set()
        for wrong in (
                {"code_verifier": "x" * 43}, {"redirect_url": "http://localhost:8395/"},
                {"code_verifier": "short"}, {"challenge_id": 12345},
                {"challenge_id": None}, {"authorization_code": "x"}, {"redirect_url": None}):
            app = App(urd)
            answer = app.exchange(app.body(app.walk(address()), **wrong))
            self.assertEqual(answer.status, 400, (wrong, answer.text))
            texts.add(answer.json["msg"])
        app, thief = App(urd), App(urd, key=self.other_tenant())
        sent = app.walk(address())
        answer = thief.exchange({**app.body(sent)})
        self.assertEqual(answer.status, 400)
        texts.add(answer.json["msg"])
        first = app.exchange(app.body(sent))
        self.assertEqual(first.status, 200, first.text)
        again = app.exchange(app.body(sent))
        self.assertEqual(again.status, 400)
        texts.add(again.json["msg"])
        self.assertEqual(len(texts), 1, texts)
        # It was shown twice, so somebody else may have the tokens: they are good no more.
        token = first.json["oauth_token"]["refresh_token"]
        self.assertEqual(app.refresh(token).status, 400)

    def test_cot_06_a_code_that_is_too_old_is_a_challenge_that_expired(self):
        path = "/api/admin/realms/verify/settings"
        self.assertEqual(urd.api.call("PATCH", path, {"code_lifetime": 10})[0], 200)
        try:
            app = App(urd)
            body = app.body(app.walk(address()))
        finally:
            urd.api.call("PATCH", path, {"code_lifetime": None})
        time.sleep(11)
        answer = app.exchange(body)
        self.assertEqual((answer.status, answer.json), (400, {"msg": "Challenge Expired"}))

    def other_tenant(self):
        status, body, _ = urd.api.call("POST", "/api/admin/realms/verify/clients", {
            "client_name": "Other", "profile": "verify",
            "grant_types": ["authorization_code", "refresh_token"]})
        assert status == 201, body
        return body["client_id"]

    def test_cot_05_verifiers_of_all_clients_are_taken(self):
        for verifier in (secrets.token_hex(28), secrets.token_urlsafe(64),
                         base64.b64encode(secrets.token_bytes(32)).decode()):
            app = App(urd)
            app.verifier, app.challenge = verifier, challenge_of(verifier)
            app.sign_in(address())

    def test_an_unknown_key_and_a_foreign_origin_are_refused_by_name(self):
        app = App(urd)
        for key in (None, "", str(uuid.uuid4()), "x" * 300):
            answer = app.exchange({}, API_KEY_ID=key)
            self.assertEqual(answer.status, 403 if key is None or len(key) < 300 else 400)
            self.assertIn("API_KEY_ID", answer.json["msg"])
        answer = app.exchange({}, Origin="https://evil.example")
        self.assertEqual(answer.status, 403)
        self.assertIn("https://evil.example", answer.json["msg"])
        self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])


class Tokens(unittest.TestCase):
    def test_cot_10_refresh_rotates_and_a_token_used_long_before_ends_the_family(self):
        app = App(urd)
        first = app.sign_in(address())["oauth_token"]["refresh_token"]
        second = app.refresh(first)
        self.assertEqual(second.status, 200, second.text)
        third = app.refresh(second.json["refresh_token"], path="/api/v0/token")
        self.assertEqual(third.status, 200, third.text)
        again = app.refresh(first)
        self.assertEqual(again.status, 400)
        self.assertIn("not valid", again.json["msg"])
        self.assertEqual(app.refresh(third.json["refresh_token"]).status, 400)

    def test_cot_10_a_page_of_an_allowed_origin_refreshes_and_ends_by_cookie(self):
        app, origin = App(urd), "http://localhost:4321"
        answer = app.exchange(app.body(app.walk(address())), Origin=origin)
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(answer.headers["Access-Control-Allow-Origin"], origin)
        self.assertEqual(answer.headers["Access-Control-Allow-Credentials"], "true")
        line = answer.headers["Set-Cookie"]
        for part in (f"Path=/api/v0/token/{app.key}", "Secure", "HttpOnly", "SameSite=None"):
            self.assertIn(part, line)
        path, cookie = f"/api/v0/token/{app.key}", line.split(";")[0]
        asked = app.call(
            "OPTIONS", path, Origin=origin,
            Access_Control_Request_Method="POST")
        self.assertIn("API_KEY_ID", asked.headers["Access-Control-Allow-Headers"])
        self.assertEqual(asked.headers["Access-Control-Allow-Credentials"], "true")
        body = {"grant_type": "refresh_token"}
        fresh = app.call("POST", path, body, Origin=origin, Cookie=cookie)
        self.assertEqual(fresh.status, 200, fresh.text)
        cookie = fresh.headers["Set-Cookie"].split(";")[0]
        stolen = app.call("POST", path, body, Origin="https://evil.example", Cookie=cookie)
        self.assertEqual(stolen.status, 403)
        gone = app.call("DELETE", path, Origin=origin, Cookie=cookie)
        self.assertEqual(gone.status, 200)
        self.assertIn("Max-Age=0", gone.headers["Set-Cookie"])
        self.assertEqual(
            app.call("POST", path, body, Origin=origin, Cookie=cookie).status, 400)
        self.assertFalse(self.verify(app, fresh.json["access_token"])["success"])

    def verify(self, app, token):
        answer = app.call("POST", "/verify", {"oauth_token": {"access_token": token}})
        self.assertEqual(answer.status, 200)
        return answer.json

    def test_cot_12_the_worker_says_of_a_token_whether_it_is_good(self):
        app = App(urd)
        tokens = app.sign_in(address())["oauth_token"]
        self.assertEqual(self.verify(app, tokens["access_token"]), {"success": True})
        bad = {"success": False, "reason": "Error: Invalid JWT token"}
        for token in ("", "x", tokens["id_token"], tokens["access_token"][:-4] + "AAAA", None):
            self.assertEqual(self.verify(app, token), bad)


class Page(unittest.TestCase):
    def test_cot_02_a_redirect_that_is_not_listed_is_refused_and_named_with_its_origin(self):
        for redirect in ("https://evil.example/back", "evil://", "javascript:alert(1)",
                         "http://localhost.evil.example", "http://localhost:1@evil.example/"):
            app = App(urd, redirect=redirect)
            answer = Browser(site).call(
                "GET", "/app?" + app.query(), Referer="https://shop.example/page",
                Accept="application/json")
            self.assertEqual(answer.status, 400)
            for part in (redirect, "https://shop.example", "not allowed"):
                self.assertIn(part, answer.json["msg"])

    def test_cot_04_schemes_of_apps_with_one_colon_or_none_behind_it_get_their_answer(self):
        status, body, _ = urd.api.call("POST", "/api/admin/realms/verify/clients", {
            "client_name": "Phone app", "profile": "verify", "redirect_uris": [
                "yourapp://", "com.example.app:", "https://shop.example"],
            "grant_types": ["authorization_code", "refresh_token"]})
        self.assertEqual(status, 201, body)
        for redirect, start in (
                ("yourapp://", "yourapp://?code="),
                ("com.example.app:redirect_uri_path", "com.example.app:redirect_uri_path?code="),
                ("https://shop.example/back?a=1", "https://shop.example/back?a=1&code=")):
            app = App(urd, redirect=redirect, key=body["client_id"])
            browser, who = Browser(site), address()
            page, path = app.ask(browser, who)
            answer = browser.post(page, path, code=code(urd, who))
            self.assertTrue(answer.location.startswith(start), answer.location)
            sent = dict(urllib.parse.parse_qsl(answer.location.split("?", 1)[1]))
            self.assertEqual(app.exchange(app.body(sent)).status, 200)

    def test_cot_01_each_parameter_that_is_needed_is_asked_for_by_name(self):
        app = App(urd)
        for name, value in (("type", "PIGEON"), ("type", None), ("state", None),
                            ("code_challenge", "short"), ("auth_method", "SMOKE")):
            answer = Browser(site).call(
                "GET", "/app?" + app.query(**{name: value}) if name != "type" else
                "/app?" + app.query(value), Accept="application/json")
            self.assertEqual(answer.status, 400, (name, answer.text))
            self.assertIn(name, answer.json["msg"])

    def test_a_code_of_another_is_wrong_and_five_guesses_end_it(self):
        app, browser, who = App(urd), Browser(site), address()
        page, path = app.ask(browser, who)
        right = code(urd, who)
        for _ in range(5):
            answer = browser.post(page, path, code=another(right))
            self.assertEqual(answer.status, 400)
            self.assertIn("wrong or has expired", answer.text)
        self.assertEqual(browser.post(page, path, code=right).status, 400)
        page, path = app.ask(browser, who)
        self.assertEqual(browser.post(page, path, code=code(urd, who, 1)).status, 303)

    def test_a_form_of_another_browser_is_refused(self):
        app, who = App(urd), address()
        page, path = app.ask(Browser(site), who)
        thief = Browser(site)
        thief.call("GET", "/app?" + app.query())
        self.assertEqual(thief.post(page, path, code=code(urd, who)).status, 403)


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


def tenant(realm="verify", **more):
    """Another tenant: its API key and its secret."""
    status, body, _ = urd.api.call(
        "POST", f"/api/admin/realms/{realm}/clients", {"profile": "verify", **more})
    assert status == 201, body
    return body["client_id"], body["client_secret"]


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


class History(unittest.TestCase):
    def test_the_history_of_a_person_tells_by_which_channel_the_code_came(self):
        app, who = App(urd), f"+4178{secrets.randbelow(10 ** 7):07}"
        app.sign_in(who, "PHONE", channel="whatsapp")
        shown = urd.command(
            "history", "user", who, "--realm", "verify", "--json",
            URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        items = json.loads(shown.stdout)["items"]
        page = next(item for item in items if "client" not in item)
        self.assertEqual((page["method"], page["channel"]), ("email_code", "whatsapp"))
        tokens = next(item for item in items if item.get("client") == app.key)
        self.assertEqual(tokens["method"], "authorization_code")


class Attack(unittest.TestCase):
    def race(self, act, count=50):
        """What so many at once get."""
        answers, gate = [], threading.Barrier(count)

        def run():
            gate.wait()
            answers.append(act())

        threads = [threading.Thread(target=run) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def test_cot_06_of_fifty_exchanges_of_one_code_one_succeeds_at_most(self):
        app = App(urd)
        body = app.body(app.walk(address()))
        answers = self.race(lambda: app.exchange(body))
        self.assertEqual({answer.status for answer in answers} - {200, 400}, set())
        self.assertLessEqual([answer.status for answer in answers].count(200), 1)

    def test_of_fifty_who_type_one_code_one_comes_in(self):
        app, browser, who = App(urd), Browser(site), address()
        page, path = app.ask(browser, who)
        digits = code(urd, who)
        answers = self.race(lambda: browser.post(page, path, code=digits))
        self.assertEqual([answer.status for answer in answers].count(303), 1)

    def test_cot_10_of_fifty_refreshes_all_that_succeed_have_one_successor(self):
        app = App(urd)
        token = app.sign_in(address())["oauth_token"]["refresh_token"]
        answers = self.race(lambda: app.refresh(token))
        # One that lost its answer may repeat it for ten seconds: it gets the same token.
        good = {answer.json["refresh_token"] for answer in answers if answer.status == 200}
        self.assertEqual(len(good), 1)

    def test_the_page_answers_known_and_unknown_addresses_alike(self):
        known = address()
        App(urd).sign_in(known)
        shapes = set()
        for who in (known, address()):
            app, browser = App(urd), Browser(site)
            page, path = app.ask(browser, who)
            text = re.sub(r'(name="(form|to|input)" value|action|href)="[^"]*"', "", page.text)
            shapes.add((page.status, text.replace(who, "?")))
        self.assertEqual(len(shapes), 1)

    def test_cot_14_codes_are_limited_by_address_network_and_browser(self):
        made = urd.api.call("POST", "/api/admin/realms", {
            "realm": "limits", "display_name": "Limits"})
        self.assertEqual(made[0], 201, made[1])
        place = urllib.parse.urlsplit(site)
        host = "limits.localhost"
        for method, path, body in (
                ("POST", "/api/admin/realms/limits/hosts", {"host": host}),
                ("PATCH", "/api/admin/realms/limits/settings", {"profile": "verify"})):
            status, answer, _ = urd.api.call(method, path, body)
            self.assertIn(status, (200, 201), answer)
        status, client, _ = urd.api.call(
            "POST", "/api/admin/realms/limits/clients", {"profile": "verify"})
        self.assertEqual(status, 201, client)
        self.assertEqual(
            client["grant_types"], ["authorization_code", "refresh_token"])
        app = App(urd, key=client["client_id"])
        headers = {"Host": f"{host}:{place.port}"}

        def ask(browser, who):
            path = "/app?" + app.query()
            page = browser.call("GET", path, **headers)
            form = {"form": page.hidden("form"), "input": who}
            return browser.call(
                "POST", path, form, Origin=f"http://{host}:{place.port}", **headers).status

        browser = Browser(site)
        self.assertEqual([ask(browser, address()) for _ in range(6)], [303] * 5 + [429])
        # The others of this network's ten: for one address five, from browsers of their own.
        who = address()
        self.assertEqual([ask(Browser(site), who) for _ in range(5)][:4], [303] * 4)
        self.assertEqual(ask(Browser(site), address()), 429)


EMBEDDING = """<!doctype html><title>Shop</title><div id="form"></div><script>
const SITE = %(site)s, KEY = %(key)s, ID = "x7cotter-form", DOMAIN = %(domain)s;
const STATE = "s-" + Math.random().toString(36).slice(2), VERIFIER = %(verifier)s;
window.events = [];
window.begun = null;
const frame = document.createElement("iframe");
frame.style.width = "600px"; frame.style.height = "600px";
const tell = (data) => frame.contentWindow.postMessage(JSON.stringify(data), SITE);
addEventListener("message", async (event) => {
  let data;
  try { data = JSON.parse(event.data); } catch (error) { return; }
  if (event.origin !== SITE) return;
  const name = data.callbackName.replace(ID, "");
  window.events.push(name);
  if (name === "FIRST_LOAD") tell({action: "CONFIG", payload: %(config)s});
  if (name === "ON_BEGIN") {
    window.begun = data.payload;
    if (window.stops) tell({action: "ON_ERROR", errorMsg: window.stops});
    else tell({action: "CONTINUE_SUBMIT", payload: data.payload});
  }
  if (name === "ON_SUBMIT_AUTHORIZATION_CODE") {
    const {authorization_code, challenge_id, state, client_json} = data.payload;
    const answer = await fetch(SITE + "/api/v0/verify/get_identity?oauth_token=true", {
      method: "POST", credentials: "include",
      headers: {API_KEY_ID: KEY, "Content-Type": "application/json"},
      body: JSON.stringify({code_verifier: VERIFIER, authorization_code,
        challenge_id: parseInt(challenge_id), redirect_url: location.origin})});
    const told = await answer.json();
    window.result = {status: answer.status, sameState: state === STATE, client_json, ...told};
    tell(answer.ok ? {action: "DONE_SUCCESS"} : {action: "DONE_ERROR", payload: told});
  }
});
frame.src = encodeURI(`${SITE}/signup?challenge=%(challenge)s&type=%(kind)s&domain=${DOMAIN}`
  + `&api_key=${KEY}&redirect_url=undefined&state=${STATE}&id=${ID}`);
document.getElementById("form").appendChild(frame);
window.refresh = async () => {
  const answer = await fetch(`${SITE}/api/v0/token/${KEY}`, {method: "POST",
    credentials: "include", headers: {API_KEY_ID: KEY, "Content-Type": "application/json"},
    body: JSON.stringify({grant_type: "refresh_token"})});
  return [answer.status, await answer.json()];
};
</script>"""


class Frame(unittest.TestCase):
    """COT-01: a tenant's page shows the form in a frame, in a real browser, and speaks with it by messages. The
    page is at another site than Urd, so that no cookie comes along."""

    @classmethod
    def setUpClass(cls):
        pages = cls.pages = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(pages.get(self.path, "").encode())

            def log_message(self, *_):
                pass

        cls.servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in "ab"]
        for server in cls.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.origins = [f"http://localhost:{server.server_port}" for server in cls.servers]

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.shutdown()
            server.server_close()

    def setUp(self):
        self.reader = Reader(site)
        self.addCleanup(self.reader.close)

    def open(self, kind="EMAIL", config="{}", domain=None, at=0):
        app = App(urd)
        self.pages["/"] = EMBEDDING % {
            "site": json.dumps(site), "key": json.dumps(app.key),
            "domain": json.dumps(domain or self.origins[0]), "config": config, "kind": kind,
            "verifier": json.dumps(app.verifier), "challenge": app.challenge}
        self.reader.go(self.origins[at] + "/")
        return app

    def inside(self, act):
        """Acts within the frame, which is a target of its own for the browser."""
        browser, deadline = self.reader.browser, time.monotonic() + 30
        outer = browser.session
        while True:
            frames = [target for target in browser.call("Target.getTargets")["targetInfos"]
                      if target["type"] == "iframe" and target["url"].startswith(site)]
            if frames or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        session = browser.call(
            "Target.attachToTarget", targetId=frames[0]["targetId"], flatten=True)["sessionId"]
        try:
            browser.session = session
            return act()
        finally:
            browser.session = outer
            browser.call("Target.detachFromTarget", sessionId=session)

    def event(self, name):
        self.reader.until(f"() => window.events.includes('{name}')")

    def sign_in(self, who, button="Send me a code"):
        self.event("LOADED")
        before = len(inbox(urd, who))

        def begin():
            self.reader.fill("identifier", who)
            self.reader.click(button)

        self.inside(begin)
        digits = code(urd, who, before)

        def confirm():
            self.reader.until("() => !document.getElementById('frame-code').hidden")
            self.reader.fill("code", digits)
            self.reader.click("Confirm")

        self.inside(confirm)
        self.reader.until("() => window.result")
        return self.reader.browser.run("() => window.result")

    def test_cot_01_a_page_in_a_frame_proves_an_address_and_its_cookie_refreshes(self):
        who = address()
        self.open()
        result = self.sign_in(who)
        self.assertEqual((result["status"], result["sameState"]), (200, True))
        self.assertEqual(result["client_json"], {})
        self.assertEqual(result["user"]["identifier"], who)
        self.assertEqual(
            self.reader.browser.run("() => window.begun"),
            {"identifier": who, "auth_required": True})
        self.assertEqual(
            self.reader.browser.run("() => window.events"),
            ["FIRST_LOAD", "LOADED", "ON_BEGIN", "ON_SUBMIT_AUTHORIZATION_CODE"])
        self.inside(lambda: self.reader.until(
            "() => !document.getElementById('frame-done').hidden"))
        status, tokens = self.reader.browser.run("() => window.refresh()")
        self.assertEqual(status, 200, tokens)
        self.assertIn("access_token", tokens)

    def test_cot_03_a_page_in_a_frame_takes_phones_and_links(self):
        who = f"+4178{secrets.randbelow(10 ** 7):07}"
        self.open("PHONE")
        result = self.sign_in(who, "Send me a code by SMS")
        self.assertEqual(result["user"]["identifier"], who)
        who = address()
        self.open(config='{"authenticationMethod": "MAGIC_LINK"}')
        self.event("LOADED")

        def begin():
            self.reader.fill("identifier", who)
            self.reader.click("Send me a code")

        self.inside(begin)
        text = mail(urd, who)["text"]
        link = "/" + re.search(r"https?://\S+/app/open\S+", text)[0].split("/", 3)[3]
        other = Browser(site)
        other.post(other.call("GET", link), link)
        self.reader.until("() => window.result")
        result = self.reader.browser.run("() => window.result")
        self.assertEqual(result["oauth_token"]["auth_method"], "MAGIC_LINK")

    def test_a_page_stops_a_submission_and_a_wrong_code_is_told_in_the_frame(self):
        self.open()
        self.event("LOADED")
        self.reader.browser.run("() => { window.stops = 'Members only' }")
        who = address()

        def begin():
            self.reader.fill("identifier", who)
            self.reader.click("Send me a code")
            self.reader.until("() => document.body.innerText.includes('Members only')")

        self.inside(begin)
        self.assertEqual(inbox(urd, who), [])

    def test_the_page_of_a_frame_is_readable_and_works_by_keyboard(self):
        for kind in ("EMAIL", "PHONE"):
            self.reader.go("/signup?" + urllib.parse.urlencode({
                "api_key": App(urd).key, "domain": self.origins[0], "type": kind, "state": "s",
                "challenge": App(urd).challenge}))
            self.assertEqual(self.reader.faults(), [])

    def test_a_frame_is_shown_by_pages_of_its_own_domain_alone(self):
        self.open(at=1)  # A page at another origin than the frame's address says.
        time.sleep(2)
        self.assertEqual(self.reader.browser.run("() => window.events"), [])
        answer = Browser(site).call("GET", "/signup?" + urllib.parse.urlencode({
            "api_key": App(urd).key, "domain": self.origins[0], "type": "EMAIL", "state": "s",
            "challenge": App(urd).challenge}))
        self.assertIn(
            f"frame-ancestors {self.origins[0]};", answer.headers["Content-Security-Policy"])
        self.assertIsNone(answer.headers["X-Frame-Options"])
        self.assertIsNone(answer.headers["Set-Cookie"])
        refused = Browser(site).call("GET", "/signup?" + urllib.parse.urlencode({
            "api_key": App(urd).key, "domain": "https://evil.example", "type": "EMAIL",
            "state": "s", "challenge": App(urd).challenge}), Accept="application/json")
        self.assertEqual(refused.status, 400)
        self.assertIn("https://evil.example", refused.json["msg"])
        self.assertIn("frame-ancestors 'none'", refused.headers["Content-Security-Policy"])
        hosted = Browser(site).call("GET", "/app?" + App(urd).query())
        self.assertIn("frame-ancestors 'none'", hosted.headers["Content-Security-Policy"])


class Pages(unittest.TestCase):
    def test_all_pages_are_readable_in_both_languages_at_a_desk_and_on_a_phone(self):
        reader = Reader(site)
        self.addCleanup(reader.close)
        for language, words in (("en", "Send me a"), ("de", "senden")):
            reader.language(language)
            for size in (DESKTOP, PHONE):
                reader.size(size)
                reader.browser.call("Network.clearBrowserCookies")
                for kind, method in (("EMAIL", "OTP"), ("PHONE", "OTP"), ("EMAIL", "MAGIC_LINK")):
                    who = address() if kind == "EMAIL" else f"+4178{secrets.randbelow(10 ** 7):07}"
                    reader.go("/app?" + App(urd).query(kind, auth_method=method))
                    self.assertIn(words, reader.text())
                    self.assertEqual(reader.faults(), [], (language, size, kind, method))
                    reader.fill("input", who)
                    reader.send("main form button")
                    self.assertEqual(reader.faults(), [], (language, size, kind, method, "sent"))
                link = re.search(r"https?://\S+/app/open\S+", mail(urd, who)["text"])[0]
                reader.go("/" + link.split("/", 3)[3])
                self.assertEqual(reader.faults(), [], (language, size, "open"))
                reader.send("main form button")
                self.assertEqual(reader.faults(), [], (language, size, "confirmed"))
                reader.go("/app?" + App(urd, redirect="https://evil.example/").query())
                self.assertIn("https://evil.example/", reader.text())
                self.assertEqual(reader.faults(), [], (language, size, "refused"))


class Link(unittest.TestCase):
    """COT-03, COT-14: a link is opened in any browser, and answers in the page that asked for it."""

    def ask(self, who, kind="EMAIL"):
        app, browser = App(urd), Browser(site)
        before = len(inbox(urd, who))
        page, path = app.ask(browser, who, kind, auth_method="MAGIC_LINK")
        text = mail(urd, who, before)["text"]
        link = re.search(r"https?://\S+/app/open\S+", text)[0]
        return app, browser, page, path, "/" + link.split("/", 3)[3]

    def number(self, page):
        return re.search(r"<strong>(\d\d)</strong>", page.text)[1]

    def state(self, browser, path):
        return browser.call("GET", path.replace("/app/wait?", "/app/wait/state?")).json["confirmed"]

    def test_cot_03_a_link_opened_elsewhere_answers_in_the_page_that_asked(self):
        for who, kind in ((address(), "EMAIL"), (f"+4178{secrets.randbelow(10 ** 7):07}", "PHONE")):
            app, browser, page, path, link = self.ask(who, kind)
            self.assertFalse(self.state(browser, path))
            self.assertEqual(browser.post(page, path).status, 400)
            other = Browser(site)
            opened = other.call("GET", link)  # As a mail scanner does: nothing is confirmed.
            self.assertEqual(self.number(opened), self.number(page))
            self.assertFalse(self.state(browser, path))
            confirmed = other.post(opened, link)
            self.assertEqual(confirmed.status, 200)
            self.assertIsNone(confirmed.location)
            self.assertNotIn("__Host-urd", other.cookies)
            self.assertTrue(self.state(browser, path))
            answer = browser.post(page, path)
            self.assertEqual(answer.status, 303, answer.text)
            tokens = app.exchange(app.body(answer.sent())).json["oauth_token"]
            self.assertEqual(tokens["auth_method"], "MAGIC_LINK")
            self.assertEqual(other.post(opened, link).status, 400)  # It was used.

    def test_cot_03_a_page_in_another_browser_gets_nothing_of_a_link(self):
        who = address()
        app, browser, page, path, link = self.ask(who)
        thief = Browser(site)
        shown = thief.call("GET", path)
        self.assertEqual(shown.status, 303)  # The address of the page is its browser's own.
        opened = browser.call("GET", link)
        self.assertEqual(browser.post(opened, link).status, 200)
        self.assertFalse(self.state(thief, path))
        self.assertEqual(thief.post(thief.call("GET", shown.location), path).status, 303)
        self.assertEqual(browser.post(page, path).status, 303)

    def test_cot_03_a_newer_link_ends_the_one_before(self):
        who = address()
        _, _, _, _, first = self.ask(who)
        _, _, _, _, second = self.ask(who)
        self.assertEqual(Browser(site).call("GET", first).status, 400)
        self.assertEqual(Browser(site).call("GET", second).status, 200)

    def test_cot_03_the_page_goes_on_by_itself_in_a_real_browser(self):
        reader, who, app = Reader(site), address(), App(urd, f"http://localhost:{free_port()}")
        try:
            reader.go("/app?" + app.query(auth_method="MAGIC_LINK"))
            reader.fill("input", who)
            reader.press("Send me a link")
            self.assertEqual(reader.faults(), [])
            text = mail(urd, who)["text"]
            link = "/" + re.search(r"https?://\S+/app/open\S+", text)[0].split("/", 3)[3]
            other = Browser(site)
            other.post(other.call("GET", link), link)
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                place = reader.browser.call("Target.getTargetInfo")["targetInfo"]["url"]
                if place.startswith(app.redirect):
                    break
                time.sleep(0.1)
            self.assertIn("code=", place)
        finally:
            reader.close()


if MISSING:
    Pages = Boundaries = History = Frame = Attack = Users = Claims = Link = Page = Tokens = Exchange = PublishedClient = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
