"""The code flow by discovery alone: Authlib is the client, a browser without scripts is the person, and
the client's own server hears of the logout.

Libraries, in the versions that the distribution holds: Authlib.
"""

import http.server
import os
import sys
import threading
import time
import unittest
import urllib.parse

from token_tool import missing, rerun

MISSING = missing("authlib", "requests")
if not MISSING:
    # The server listens to this machine alone, without TLS.
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    from authlib.common.security import generate_token
    from authlib.integrations.requests_client import OAuth2Session
    from authlib.jose import JsonWebKey, JsonWebToken
    from authlib.oidc.core import CodeIDToken

from person import Person as AnyPerson, fetch
from urd_process import PATIENCE, Urd

BACK = "http://127.0.0.1:53535/back"


def setUpModule():
    global urd, metadata, keys
    urd = Urd(lawful=True)
    status, answer, _ = urd.api.call(
        "PATCH", f"{urd.realm}/settings", {"registration": "jit_on_otp", "otp_resend_delay": 0})
    assert status == 200, answer
    port = urd.values["URD_URL"].rsplit(":", 1)[1].strip("/")
    # As a stranger does: nothing is known but an address.
    metadata = fetch(f"http://localhost:{port}/.well-known/openid-configuration")
    keys = JsonWebKey.import_key_set(fetch(metadata["jwks_uri"]))


def tearDownModule():
    urd.close()


def register(**members):
    status, client, _ = urd.api.call("POST", urd.clients, {
        "client_name": "Northwind", "grant_types": ["authorization_code", "refresh_token"],
        "redirect_uris": ["http://127.0.0.1/back"], **members})
    assert status == 201, client
    return client["client_id"], client.get("client_secret")


def Person():
    return AnyPerson(urd, metadata["issuer"])


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

    def test_authlib_signs_in_consents_and_refreshes(self):
        client, person = self.relying(), Person()
        place, past = person.go(client.begin())
        self.assertEqual(past, ["/login", "/login/code", "/consent"])
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

    def test_authlib_is_told_of_a_refused_consent(self):
        client, person = self.relying(), Person()
        place, _ = person.go(client.begin(), allows=False)
        members = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))
        self.assertEqual(members["error"], "access_denied")
        self.assertEqual(members["state"], client.state)

    def test_consent_is_asked_again_for_another_host_or_resource(self):
        resource = "https://api.example"
        client, person = self.relying(
            resources_listed_only=True, resources=[resource], application_type="native",
            redirect_uris=["http://127.0.0.1/back", "org.example.app:/back"]), Person()
        self.assertEqual(person.go(client.begin())[1], ["/login", "/login/code", "/consent"])
        for place, more in [
            ("org.example.app:/back", {}), ("org.example.app:/back", {"resource": resource}),
            (BACK, {"resource": resource}),
        ]:
            client.session.redirect_uri = place
            mute, past = person.go(client.begin(prompt="none", **more))
            self.assertEqual(past, [])
            self.assertIn("error=consent_required", mute)
            self.assertEqual(person.go(client.begin(**more))[1], ["/consent"])
            again, past = person.go(client.begin(prompt="none", **more))
            self.assertEqual(past, [])
            self.assertTrue(again.startswith(f"{place}?code="), again)

    def test_a_public_client_signs_in_with_pkce(self):
        client, person = self.relying(token_endpoint_auth_method="none", consent="none"), Person()
        place, past = person.go(client.begin())
        self.assertNotIn("/consent", past)
        self.assertEqual(client.check(client.end(place))["aud"], client.id)

    def test_a_logout_notifies_the_client(self):
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

    def test_a_disabled_account_is_reported_to_the_client(self):
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
