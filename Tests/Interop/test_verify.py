"""Clients of the verify profile against `urd dev`: the Python client as it is published, and what the other
clients send, from the compatibility sheet. COT-01 to COT-17 are named where they are tested."""

import base64
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
from verify_client import App, Browser, address, challenge_of

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
    urd = Urd(lawful=True)
    site = urd.values["URD_VERIFY_URL"]


def tearDownModule():
    urd.close()


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
        # The demo realm gives them unasked as well, for an SDK that does not ask.
        path = "/api/admin/realms/verify/settings"
        self.assertEqual(urd.api.call("PATCH", path, {"tokens_unasked": False})[0], 200)
        self.addCleanup(urd.api.call, "PATCH", path, {"tokens_unasked": True})
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

    def test_a_disabled_tenant_is_refused_alike_everywhere(self):
        status, body, _ = urd.api.call(
            "POST", "/api/admin/realms/verify/clients", {"profile": "verify"})
        self.assertEqual(status, 201, body)
        app, who = App(urd, key=body["client_id"]), address()
        tokens = app.sign_in(who)["oauth_token"]
        redeemed = app.body(app.walk(address()))
        status, answer, _ = urd.api.call(
            "POST", f"/api/admin/realms/verify/clients/{body['client_id']}/disable")
        self.assertEqual(status // 100, 2, answer)
        # The first ones may come while the tenant is still known as it was.
        for _ in range(3):
            for answer in (app.exchange(redeemed), app.refresh(tokens["refresh_token"]),
                           app.call("GET", "/api/v0/user?identifier=" + who)):
                self.assertEqual(answer.status, 403, answer.text)
                self.assertIn("API_KEY_ID is not valid", answer.json["msg"])

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

    def test_cot_10_what_names_no_session_ends_none_and_says_so(self):
        app = App(urd)
        path = f"/api/v0/token/{app.key}"
        for name in ("refresh_token", "access_token"):
            tokens = app.sign_in(address())["oauth_token"]
            good = {"oauth_token": {"access_token": tokens["access_token"]}}
            for body, headers in ((None, {}), ({}, {}), ({"refresh_token": "1:none"}, {}),
                                  (None, {"Authorization": "Bearer none"})):
                answer = app.call("DELETE", path, body, **headers)
                self.assertEqual((answer.status, list(answer.json)), (400, ["msg"]), answer.text)
            self.assertTrue(app.call("POST", "/verify", good).json["success"])
            ended = (
                app.call("DELETE", path, {"refresh_token": tokens["refresh_token"]})
                if name == "refresh_token" else
                app.call("DELETE", path, Authorization="Bearer " + tokens["access_token"]))
            self.assertEqual(ended.status, 200, ended.text)
            self.assertFalse(app.call("POST", "/verify", good).json["success"])
            self.assertEqual(app.refresh(tokens["refresh_token"]).status, 400)

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
        # An origin that no tenant can list is not told that it may ask.
        for other in ("null", "http://evil.example", "file://", "chrome-extension://abc",
                      "https://evil.example/path"):
            asked = app.call("OPTIONS", path, Origin=other, Access_Control_Request_Method="POST")
            self.assertEqual(asked.status, 204)
            self.assertIsNone(asked.headers["Access-Control-Allow-Origin"], other)
            self.assertIsNone(asked.headers["Access-Control-Allow-Credentials"], other)
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

    def test_a_redirect_url_with_members_of_the_answer_is_refused_in_words(self):
        for query in ("code=EVIL&state=EVIL", "a=1&state=EVIL", "challenge_id=1", "error=x",
                      "%63ode=EVIL", "a=1;code=EVIL", "Code=EVIL", "code[]=EVIL", "+code=EVIL",
                      "code"):
            for redirect in ("http://localhost:8395/back?", "http://127.0.0.1:1?"):
                app = App(urd, redirect=redirect + query)
                frame = urllib.parse.urlencode({
                    "api_key": app.key, "domain": "http://localhost:1", "type": "EMAIL",
                    "state": "s", "challenge": app.challenge, "redirect_url": app.redirect})
                for path in ("/app?" + app.query(), "/app/cancel?" + app.query(),
                             "/signup?" + frame):
                    answer = Browser(site).call("GET", path, Accept="application/json")
                    self.assertEqual(answer.status, 400, (path, answer.text))
                    self.assertIn("in its own query", answer.json["msg"])
        app = App(urd, redirect="http://localhost:8395/back?mycode=1&a=code&state_=2")
        self.assertEqual(Browser(site).call("GET", "/app?" + app.query()).status, 200)

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
        self.assertEqual((page["method"], page["channel"]), ("phone_code", "whatsapp"))
        tokens = next(item for item in items if item.get("client") == app.key)
        self.assertEqual(tokens["method"], "authorization_code")
        # One that failed as well; a mailed code is one.
        browser, mailed = Browser(site), address()
        page, path = app.ask(browser, who, "PHONE", "sms")
        browser.post(page, path, code=another(code(urd, who, 1)))
        app.sign_in(mailed)
        for name, wanted in ((who, ("phone_code", "sms")), (mailed, ("email_code", None))):
            shown = urd.command(
                "history", "user", name, "--realm", "verify", "--json",
                URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
            item = next(item for item in json.loads(shown.stdout)["items"]
                        if "client" not in item)
            self.assertEqual((item["method"], item.get("channel")), wanted)


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
        text = mail(urd, who, before, "/app/open")["text"]
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

    def test_cot_03_a_newer_link_leaves_the_one_before_good(self):
        """A stranger may have asked for it."""
        who = address()
        _, _, _, _, first = self.ask(who)
        _, _, _, _, second = self.ask(who)
        self.assertEqual(Browser(site).call("GET", first).status, 200)
        self.assertEqual(Browser(site).call("GET", second).status, 200)

    def test_cot_03_the_page_goes_on_by_itself_in_a_real_browser(self):
        reader, who, app = Reader(site), address(), App(urd, f"http://localhost:{free_port()}")
        try:
            reader.go("/app?" + app.query(auth_method="MAGIC_LINK"))
            reader.fill("input", who)
            reader.press("Send me a link")
            self.assertEqual(reader.faults(), [])
            text = mail(urd, who, 0, "/app/open")["text"]
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
    Pages = History = Attack = Link = Page = Tokens = Exchange = PublishedClient = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
