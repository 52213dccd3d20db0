"""The code flow by discovery alone: Authlib is the client, a browser without scripts is the person, and
the client's own server hears of the logout.

Libraries, in the versions that the distribution holds: Authlib.
"""

import html.parser
import http.client
import http.server
import json
import os
import sys
import threading
import time
import unittest
import urllib.parse
import urllib.request
import uuid

from token_tool import missing, rerun

MISSING = missing("authlib", "requests")
if not MISSING:
    # The server listens to this machine alone, without TLS.
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    from authlib.common.security import generate_token
    from authlib.integrations.requests_client import OAuth2Session
    from authlib.jose import JsonWebKey, JsonWebToken
    from authlib.oidc.core import CodeIDToken

from phone import code, inbox
from urd_process import PATIENCE, Urd

BACK = "http://127.0.0.1:53535/back"


def setUpModule():
    global urd, metadata, keys
    urd = Urd()
    status, answer, _ = urd.api.call(
        "PATCH", f"{urd.realm}/settings", {"registration": "jit_on_otp", "otp_resend_delay": 0})
    assert status == 200, answer
    port = urd.values["URD_URL"].rsplit(":", 1)[1].strip("/")
    # As a stranger does: nothing is known but an address.
    metadata = fetch(f"http://localhost:{port}/.well-known/openid-configuration")
    keys = JsonWebKey.import_key_set(fetch(metadata["jwks_uri"]))


def tearDownModule():
    urd.close()


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def register(**members):
    status, client, _ = urd.api.call("POST", urd.clients, {
        "client_name": "Northwind", "grant_types": ["authorization_code", "refresh_token"],
        "redirect_uris": ["http://127.0.0.1/back"], **members})
    assert status == 201, client
    return client["client_id"], client.get("client_secret")


class Form(html.parser.HTMLParser):
    """The forms of a page, with what would be sent."""

    def __init__(self, page):
        super().__init__()
        self.forms = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append((attributes.get("action"), {}))
        elif tag == "input" and self.forms and attributes.get("name"):
            self.forms[-1][1][attributes["name"]] = attributes.get("value", "")


class Person:
    """Somebody with a browser that runs no scripts."""

    def __init__(self):
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"
        self.cookies = {}
        place = urllib.parse.urlsplit(metadata["issuer"])
        self.site = metadata["issuer"]
        self.address = (place.hostname, place.port)

    def call(self, method, url, form=None):
        place = urllib.parse.urlsplit(urllib.parse.urljoin(self.site, url))
        headers = {"Host": f"{self.address[0]}:{self.address[1]}", "Sec-Fetch-Site": "same-origin"}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{n}={v}" for n, v in self.cookies.items())
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers["Origin"] = self.site
            body = urllib.parse.urlencode(form)
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        try:
            target = place.path + ("?" + place.query if place.query else "")
            connection.request(method, target, body=body, headers=headers)
            answer = connection.getresponse()
            page = answer.read().decode()
        finally:
            connection.close()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
            if "Max-Age=0" in line:
                del self.cookies[name]
        return answer.status, answer.headers.get("Location"), page

    def go(self, url, allows=True):
        """Follows a link through all pages, until it leads away. Returns to where, and past what."""
        past = []
        method, form = "GET", None
        for _ in range(20):
            status, place, page = self.call(method, url, form)
            method, form = "GET", None
            if place:
                url = urllib.parse.urljoin(self.site, place)
                if not url.startswith(self.site):
                    return url, past
                continue
            assert status == 200, (status, url, page)
            path = urllib.parse.urlsplit(url).path
            past.append(path)
            if path == "/logged-out":
                return url, past
            method = "POST"
            url, form = self.fill(path, Form(page).forms, allows)
        raise AssertionError(f"nowhere: {past}")

    def fill(self, path, forms, allows):
        for action, members in forms:
            if path == "/login" and "email" in members and action == "/login":
                self.before = len(inbox(urd, self.email))
                return action, {**members, "email": self.email}
            if action == "/login/code":
                return action, {**members, "code": code(urd, self.email, self.before)}
            if action == "/consent":
                return action, {**members, "decision": "allow" if allows else "deny"}
            if action == "/logout":
                return action, members
        raise AssertionError(f"no form that fits at {path}: {forms}")


class Relying:
    """A client that knows an issuer, an id and a secret."""

    def __init__(self, **members):
        self.id, secret = register(**members)
        self.session = OAuth2Session(
            self.id, secret, scope="openid profile email offline_access", redirect_uri=BACK,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if secret else "none")
        self.verifier = generate_token(64)
        self.nonce = generate_token(20)

    def begin(self, **members):
        url, self.state = self.session.create_authorization_url(
            metadata["authorization_endpoint"], code_verifier=self.verifier, nonce=self.nonce,
            **members)
        return url

    def end(self, place):
        members = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))
        assert members["iss"] == metadata["issuer"], members
        return self.session.fetch_token(
            metadata["token_endpoint"], authorization_response=place, state=self.state,
            code_verifier=self.verifier)

    def check(self, tokens):
        claims = JsonWebToken(["RS256", "ES256"]).decode(
            tokens["id_token"], keys, claims_cls=CodeIDToken,
            claims_options={"iss": {"essential": True, "value": metadata["issuer"]},
                            "aud": {"essential": True, "value": self.id}},
            claims_params={"nonce": self.nonce, "client_id": self.id,
                           "access_token": tokens["access_token"]})
        claims.validate()
        return claims


class Inbox:
    """Where a client hears of logouts."""

    def __init__(self):
        told = self.told = []
        answers = self.answers = [503]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                told.append((self.headers["Content-Type"], urllib.parse.parse_qs(body)))
                self.send_response(answers.pop() if answers else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/out"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Authorize(unittest.TestCase):
    def relying(self, **members):
        client = Relying(**members)
        self.addCleanup(client.session.close)
        return client

    def test_signs_in_consents_and_refreshes(self):
        client, person = self.relying(), Person()
        place, past = person.go(client.begin())
        self.assertEqual(past, ["/login", "/login", "/consent"])
        tokens = client.end(place)
        claims = client.check(tokens)
        info = client.session.get(metadata["userinfo_endpoint"]).json()
        self.assertEqual(info["sub"], claims["sub"])
        self.assertEqual((info["email"], info["email_verified"]), (person.email, True))
        refreshed = client.session.refresh_token(
            metadata["token_endpoint"], refresh_token=tokens["refresh_token"])
        self.assertNotEqual(refreshed["access_token"], tokens["access_token"])
        # The second time there is nothing to ask.
        again, past = person.go(client.begin(prompt="none"))
        self.assertEqual(past, [])
        self.assertEqual(client.check(client.end(again))["auth_time"], claims["auth_time"])

    def test_takes_no_for_an_answer(self):
        client, person = self.relying(), Person()
        place, _ = person.go(client.begin(), allows=False)
        members = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))
        self.assertEqual(members["error"], "access_denied")
        self.assertEqual(members["state"], client.state)

    def test_a_client_without_a_secret(self):
        client, person = self.relying(token_endpoint_auth_method="none", consent="none"), Person()
        place, past = person.go(client.begin())
        self.assertNotIn("/consent", past)
        self.assertEqual(client.check(client.end(place))["aud"], client.id)

    def test_logs_out_and_tells_the_client(self):
        heard = Inbox()
        self.addCleanup(heard.close)
        bye = "http://127.0.0.1:53535/bye"
        client, person = self.relying(
            consent="none", backchannel_logout_uri=heard.url, post_logout_redirect_uris=[bye],
            id_token_signed_response_alg="ES256"), Person()
        place, _ = person.go(client.begin())
        tokens = client.end(place)
        claims = client.check(tokens)
        place, _ = person.go(metadata["end_session_endpoint"] + "?" + urllib.parse.urlencode({
            "id_token_hint": tokens["id_token"], "post_logout_redirect_uri": bye, "state": "x"}))
        self.assertEqual(place, f"{bye}?state=x")
        self.assertEqual(client.session.get(metadata["userinfo_endpoint"]).status_code, 401)
        place, _ = person.go(client.begin(prompt="none"))
        self.assertIn("error=login_required", place)
        # The client was not there the first time, and is told again.
        deadline = time.monotonic() + PATIENCE
        while len(heard.told) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(len(heard.told), 2)
        told = []
        for kind, form in heard.told:
            self.assertEqual(kind, "application/x-www-form-urlencoded")
            token = JsonWebToken(["ES256"]).decode(form["logout_token"][0], keys)
            self.assertEqual(token.header["typ"], "logout+jwt")
            told.append(token)
        for token in told:
            self.assertEqual(
                (token["iss"], token["aud"], token["sub"], token["sid"]),
                (metadata["issuer"], client.id, claims["sub"], claims["sid"]))
            self.assertNotIn("nonce", token)
            self.assertIn("http://schemas.openid.net/event/backchannel-logout", token["events"])
        self.assertEqual(told[0]["jti"], told[1]["jti"])

    def test_tells_the_client_of_whoever_is_locked_out(self):
        heard = Inbox()
        self.addCleanup(heard.close)
        client, person = self.relying(consent="none", backchannel_logout_uri=heard.url), Person()
        place, _ = person.go(client.begin())
        claims = client.check(client.end(place))
        status, answer, _ = urd.api.call("POST", f"{urd.realm}/accounts/{claims['sub']}/disable")
        self.assertEqual(status, 200, answer)
        # The client was not there the first time.
        deadline = time.monotonic() + PATIENCE
        while len(heard.told) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(len(heard.told), 2)
        token = JsonWebToken(["RS256"]).decode(heard.told[1][1]["logout_token"][0], keys)
        self.assertEqual(
            (token["iss"], token["aud"], token["sub"], token["sid"]),
            (metadata["issuer"], client.id, claims["sub"], claims["sid"]))


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
