"""Clients that register themselves, publish their keys, prove keys, and get tokens for others' words and
tokens: driven by libraries that know nothing of Urd.

Libraries, in the versions that the distribution holds: Authlib, PyJWT, cryptography.
"""

import base64
import hashlib
import json
import os
import sys
import time
import unittest
import uuid

from token_tool import missing, rerun

MISSING = missing("jwt", "authlib", "requests", "cryptography")
if not MISSING:
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    import jwt
    from authlib.integrations.requests_client import OAuth2Session
    from authlib.oauth2.rfc7523 import JWTBearerGrant
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from publisher import Publisher

from phone import Phone
from urd_process import Urd, together

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
ACCESS = "urn:ietf:params:oauth:token-type:access_token"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
PARTNER = "https://partner.example"


def setUpModule():
    global urd, issuer, publisher, partner
    publisher = Publisher()
    partner = Key("partner")
    urd = Urd(URD_OUTGOING_NETWORKS="127.0.0.0/8", URD_OUTGOING_CA_FILE=publisher.ca_file)
    settings(
        registration="jit_on_otp", client_registration="initial_access_token",
        assertion_issuers={PARTNER: {"jwks": {"keys": [partner.jwk()]}}})
    issuer = f"http://localhost:{urd.values['URD_URL'].rsplit(':', 1)[1].strip('/')}"


def tearDownModule():
    urd.close()
    publisher.close()


def settings(**values):
    status, answer, _ = urd.api.call("PATCH", f"{urd.realm}/settings", values)
    assert status == 200, answer


def call(method, path, body=None, **more):
    return Phone(urd, "localhost").call(method, path, body, **more)


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def registration_token(**members):
    status, token, _ = urd.api.call(
        "POST", f"{urd.realm}/registration-tokens", {"label": "Tests", "uses": 100, **members})
    assert status == 201, token
    return token["token"]


def register(token=None, **members):
    """A client registers itself."""
    return call(
        "POST", "/connect/register", members, token=token or registration_token(scope="jobs"))


def known(**members):
    """A client that an administrator registers."""
    status, client, _ = urd.api.call("POST", urd.clients, members)
    assert status == 201, client
    return client


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    def __init__(self, name=None):
        self.name = name or uuid.uuid4().hex
        self.key = ec.generate_private_key(ec.SECP256R1())

    def jwk(self, named=True):
        numbers = self.key.public_key().public_numbers()
        point = {
            "kty": "EC", "crv": "P-256", "x": encode(numbers.x.to_bytes(32, "big")),
            "y": encode(numbers.y.to_bytes(32, "big"))}
        return {**point, "kid": self.name, "alg": "ES256"} if named else point

    def thumbprint(self):
        text = json.dumps(self.jwk(named=False), sort_keys=True, separators=(",", ":"))
        return encode(hashlib.sha256(text.encode()).digest())

    def pem(self):
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption())

    def assertion(self, client):
        now = int(time.time())
        return jwt.encode(
            {"iss": client, "sub": client, "aud": issuer, "jti": uuid.uuid4().hex, "iat": now,
             "exp": now + 60}, self.pem(), algorithm="ES256", headers={"kid": self.name})

    def proof(self, method, path, token=None, **claims):
        claims = {
            "jti": uuid.uuid4().hex, "htm": method, "htu": issuer + path, "iat": int(time.time()),
            **claims}
        if token:
            claims["ath"] = encode(hashlib.sha256(token.encode()).digest())
        return jwt.encode(
            claims, self.pem(), algorithm="ES256",
            headers={"typ": "dpop+jwt", "jwk": self.jwk(named=False)})


class Registration(unittest.TestCase):
    def test_a_client_registers_by_a_token_and_manages_itself(self):
        status, client, headers = register(
            grant_types=["client_credentials"], scope="jobs", client_name="Ours")
        self.assertEqual(status, 201, client)
        self.assertEqual(headers["Cache-Control"], "no-store")
        with OAuth2Session(client["client_id"], client["client_secret"], scope="jobs") as session:
            token = session.fetch_token(f"{issuer}/connect/token", grant_type="client_credentials")
        self.assertEqual(token["scope"], "jobs")
        path = client["registration_client_uri"].removeprefix(issuer)
        own = client["registration_access_token"]
        status, read, _ = call("GET", path, token=own)
        self.assertEqual((status, read["client_name"]), (200, "Ours"))
        change = {
            name: value for name, value in read.items()
            if name not in ("registration_access_token", "registration_client_uri",
                            "client_id_issued_at")}
        status, changed, _ = call("PUT", path, {**change, "client_name": "Theirs"}, token=own)
        self.assertEqual((status, changed["client_name"]), (200, "Theirs"), changed)
        status, _, _ = call("DELETE", path, token=own)
        self.assertEqual(status, 204)
        status, body, _ = call("GET", path, token=own)
        self.assertEqual((status, body["error"]), (401, "invalid_token"))
        status, gone, _ = call(
            "POST", "/connect/token",
            form={"grant_type": "client_credentials"},
            Authorization="Basic " + base64.b64encode(
                f"{client['client_id']}:{client['client_secret']}".encode()).decode())
        self.assertEqual((status, gone["error"]), (401, "invalid_client"))

    def test_a_software_statement_is_kept_and_needed_at_each_change(self):
        key, maker = Key("maker"), "https://maker.example"
        settings(software_statement_issuers={maker: {"jwks": {"keys": [key.jwk()]}}})

        def statement(**claims):
            return jwt.encode(
                {"iss": maker, "aud": issuer, "redirect_uris": ["https://maker.example/back"],
                 "contacts": ["ann@maker.example"], **claims},
                key.pem(), algorithm="ES256", headers={"kid": key.name})

        evil = {"redirect_uris": ["https://evil.example/back"], "client_name": "Good Bank"}
        text = statement(software_id="bank")
        status, client, _ = register(**evil, software_statement=text)
        self.assertEqual(status, 201, client)
        path = client["registration_client_uri"].removeprefix(issuer)
        own = client["registration_access_token"]
        _, read, _ = call("GET", path, token=own)
        for answer in (client, read):
            self.assertEqual(answer["software_statement"], text)
            self.assertEqual(answer["software_id"], "bank")
            self.assertEqual(answer["redirect_uris"], ["https://maker.example/back"])
        _, listed, _ = urd.api.call("GET", f"{urd.clients}?limit=200")
        [shown] = [item for item in listed["items"] if item["client_id"] == client["client_id"]]
        self.assertFalse({"software_statement", "vouched_for", "contacts"} & set(shown), shown)
        change = {**evil, "client_id": client["client_id"]}
        for wrong in ({}, {"software_statement": "garbage"},
                      {"software_statement": statement(aud="https://other-as.example")},
                      {"software_statement": statement(exp=1)}):
            status, body, _ = call("PUT", path, {**change, **wrong}, token=own)
            self.assertEqual((status, body["error"]), (400, "invalid_software_statement"))
        newer = statement(software_id="bank", software_version="2")
        status, changed, _ = call(
            "PUT", path, {**change, "software_statement": newer}, token=own)
        self.assertEqual(status, 200, changed)
        self.assertEqual(changed["redirect_uris"], ["https://maker.example/back"])
        self.assertEqual(changed["software_statement"], newer)
        settings(software_statement_issuers=None)
        status, body, _ = call(
            "PUT", path, {**change, "software_statement": newer}, token=own)
        self.assertEqual((status, body["error"]), (400, "unapproved_software_statement"))

    def test_an_initial_access_token_registers_as_many_clients_as_it_allows(self):
        token = registration_token(uses=5)
        answers = together(
            20, lambda _: register(token, redirect_uris=["https://a.example/back"])[0])
        self.assertEqual(answers.count(201), 5, answers)
        self.assertEqual(set(answers), {201, 401})
        listed = urd.command(
            "registration-token", "list", "--realm", urd.values["URD_REALM"], "--json")
        used = [item["used"] for item in json.loads(listed.stdout)["items"]]
        self.assertIn(5, used)

    def test_a_registering_client_gets_no_privileges(self):
        for wrong in (
                {"audiences": ["https://api.example"]}, {"introspects_all_tokens": True},
                {"token_exchange": "impersonation"}, {"may_act": ["other"]},
                {"exchange_targets": ["https://api.example"]},
                {"grant_types": ["urn:cocoar:otp"]}, {"grant_types": [EXCHANGE]},
                {"grant_types": [BEARER]}):
            with self.subTest(wrong=wrong):
                status, body, _ = register(redirect_uris=["https://a.example/back"], **wrong)
                self.assertEqual((status, body["error"]), (400, "invalid_client_metadata"))
        status, body, _ = register(
            redirect_uris=["https://a.example/back"], scope="openid admin")
        self.assertEqual((status, body["scope"]), (201, "openid"))


class PublishedKeys(unittest.TestCase):
    def client(self, *keys):
        path, address = publisher.show(*keys)
        return path, known(
            grant_types=["client_credentials"], scope="jobs",
            token_endpoint_auth_method="private_key_jwt", jwks_uri=address)["client_id"]

    def ask(self, client, key):
        status, body, _ = call(
            "POST", "/connect/token",
            form={"grant_type": "client_credentials", "client_assertion_type": ASSERTION,
                  "client_assertion": key.assertion(client)})
        return status

    def test_published_keys_are_fetched_once(self):
        key = Key()
        path, client = self.client(key)
        self.assertEqual([self.ask(client, key) for _ in range(5)], [200] * 5)
        self.assertEqual(publisher.asked.count(path), 1)
        self.assertEqual([self.ask(client, Key()) for _ in range(5)], [401] * 5)
        self.assertEqual(publisher.asked.count(path), 1, "Who guesses has nobody called.")

    def test_published_keys_are_not_fetched_from_private_networks_or_over_redirects(self):
        key = Key()
        port = publisher.server.server_port
        before = len(publisher.asked)
        for address in (f"https://[::1]:{port}/x", "https://169.254.169.254/x",
                        f"https://10.0.0.1:{port}/x"):
            client = known(
                grant_types=["client_credentials"], scope="jobs",
                token_endpoint_auth_method="private_key_jwt", jwks_uri=address)["client_id"]
            self.assertEqual(self.ask(client, key), 401)
        self.assertEqual(len(publisher.asked), before)
        path, address = publisher.show(key)
        publisher.documents["/away"] = address
        client = known(
            grant_types=["client_credentials"], scope="jobs",
            token_endpoint_auth_method="private_key_jwt",
            jwks_uri=f"https://127.0.0.1:{port}/away")["client_id"]
        self.assertEqual(self.ask(client, key), 401)
        self.assertEqual(publisher.asked.count(path), 0)


class Proofs(unittest.TestCase):
    def sign_in(self, key, **headers):
        name = known(
            application_type="native", token_endpoint_auth_method="none",
            grant_types=["urn:cocoar:otp", "refresh_token", DEVICE])["client_id"]
        phone = Phone(urd, "localhost", name)
        email = somebody()
        phone.request_code(email)
        from phone import code
        return phone, phone.call(
            "POST", "/connect/token",
            form={"grant_type": "urn:cocoar:otp", "client_id": name, "username": email,
                  "otp_code": code(urd, email), "scope": "openid email offline_access"},
            DPoP=key.proof("POST", "/connect/token"), **headers)

    def who(self, token, proof):
        return call(
            "GET", "/connect/userinfo", Authorization=f"DPoP {token}", DPoP=proof)[0]

    def test_a_dpop_proof_used_fifty_times_at_once_is_accepted_once(self):
        key = Key()
        _, (status, tokens, _) = self.sign_in(key)
        self.assertEqual((status, tokens["token_type"]), (200, "DPoP"))
        token = tokens["access_token"]
        proof = key.proof("GET", "/connect/userinfo", token)
        statuses = together(50, lambda _: self.who(token, proof))
        self.assertEqual(statuses.count(200), 1, statuses)
        self.assertEqual(set(statuses), {200, 401})
        self.assertEqual(self.who(token, key.proof("GET", "/connect/userinfo", token)), 200)
        self.assertEqual(self.who(token, Key().proof("GET", "/connect/userinfo", token)), 401)
        status, body, headers = call("GET", "/connect/userinfo", token=token)
        self.assertEqual((status, body["error"]), (401, "invalid_token"))
        self.assertTrue(headers["WWW-Authenticate"].startswith("DPoP "))

    def test_a_bound_refresh_needs_the_same_key(self):
        key = Key()
        phone, (_, tokens, _) = self.sign_in(key)
        form = {"grant_type": "refresh_token", "client_id": phone.client,
                "refresh_token": tokens["refresh_token"]}
        for headers in ({}, {"DPoP": Key().proof("POST", "/connect/token")}):
            status, body, _ = phone.call("POST", "/connect/token", form=form, **headers)
            self.assertEqual((status, body["error"]), (400, "invalid_grant"))
        status, fresh, _ = phone.call(
            "POST", "/connect/token", form=form, DPoP=key.proof("POST", "/connect/token"))
        self.assertEqual((status, fresh["token_type"]), (200, "DPoP"))
        service = known(grant_types=["client_credentials"], introspects_all_tokens=True)
        with OAuth2Session(service["client_id"], service["client_secret"]) as session:
            seen = session.introspect_token(
                f"{issuer}/connect/introspect", token=fresh["access_token"]).json()
        self.assertEqual(seen["cnf"], {"jkt": key.thumbprint()})


class OthersWords(unittest.TestCase):
    def setUp(self):
        self.name = known(
            application_type="native", token_endpoint_auth_method="none",
            scope="openid orders offline_access",
            grant_types=["urn:cocoar:otp", "refresh_token", BEARER])["client_id"]
        self.phone = Phone(urd, "localhost", self.name)

    def test_a_partners_assertion_made_by_authlib_is_accepted(self):
        tokens = self.phone.sign_in(somebody(), scope="openid")
        _, who, _ = call("GET", "/connect/userinfo", token=tokens["access_token"])

        def assertion(**more):
            return JWTBearerGrant.sign(
                partner.pem(), issuer=PARTNER, audience=issuer, subject=who["sub"],
                expires_at=int(time.time()) + 120,
                claims={"jti": uuid.uuid4().hex}, header={"alg": "ES256", "kid": "partner"},
                **more).decode()

        text = assertion()
        answers = together(
            50, lambda _: self.phone.token(BEARER, assertion=text, scope="openid")[0])
        self.assertEqual(answers.count(200), 1, answers)
        status, fresh, _ = self.phone.token(BEARER, assertion=assertion(), scope="openid")
        self.assertEqual(status, 200, fresh)
        _, again, _ = call("GET", "/connect/userinfo", token=fresh["access_token"])
        self.assertEqual(again["sub"], who["sub"])
        status, _, _ = call("GET", "/api/account/sessions", token=fresh["access_token"])
        self.assertEqual(status, 401)

    def test_a_gateway_exchanges_the_token_that_it_received(self):
        gateway = known(
            grant_types=[EXCHANGE], token_exchange="delegation",
            audiences=["https://gateway.example"], exchange_targets=["https://orders.example"])
        tokens = self.phone.sign_in(
            somebody(), scope="openid orders", resource="https://gateway.example")
        with OAuth2Session(gateway["client_id"], gateway["client_secret"]) as session:
            given = session.fetch_token(
                f"{issuer}/connect/token", grant_type=EXCHANGE, scope="orders",
                subject_token=tokens["access_token"], subject_token_type=ACCESS,
                resource="https://orders.example")
            seen = session.introspect_token(
                f"{issuer}/connect/introspect", token=given["access_token"]).json()
            self.assertEqual(given["issued_token_type"], ACCESS)
            self.assertEqual(seen["act"], {"sub": gateway["client_id"]})
            self.assertEqual(seen["aud"], ["https://orders.example"])
            _, _, _ = self.phone.call(
                "POST", "/connect/revoke",
                form={"client_id": self.name, "token": tokens["access_token"]})
            seen = session.introspect_token(
                f"{issuer}/connect/introspect", token=given["access_token"]).json()
            self.assertEqual(seen, {"active": False})
        _, _, headers = urd.api.call("PATCH", f"{urd.realm}/settings", {"otp_attempts": 4})
        for client, count in ((self.name, 1), (gateway["client_id"], 0)):
            listed = urd.command(
                "history", "client", client, "--realm", urd.values["URD_REALM"],
                "--min-position", headers["Urd-Position"], "--json")
            self.assertEqual(
                len(json.loads(listed.stdout)["items"]), count, "It is no sign-in of anybody.")

    def test_a_device_is_approved_with_a_phone(self):
        television = known(
            token_endpoint_auth_method="none", client_name="Television",
            grant_types=[DEVICE])["client_id"]
        tokens = self.phone.sign_in(somebody(), scope="openid")
        status, device, _ = call(
            "POST", "/connect/deviceauthorization",
            form={"client_id": television, "scope": "openid"})
        self.assertEqual(status, 200, device)

        def poll():
            return call(
                "POST", "/connect/token",
                form={"grant_type": DEVICE, "client_id": television,
                      "device_code": device["device_code"]})

        status, body, _ = poll()
        self.assertEqual((status, body["error"]), (400, "authorization_pending"))
        status, body, _ = poll()
        self.assertEqual((status, body["error"]), (400, "slow_down"))
        status, _, _ = call(
            "POST", "/api/account/device",
            {"UserCode": device["user_code"].lower(), "Approve": True},
            token=tokens["access_token"])
        self.assertEqual(status, 204)
        time.sleep(2 * device["interval"] + 1)
        status, given, _ = poll()
        self.assertEqual(status, 200, given)
        _, ours, _ = call("GET", "/connect/userinfo", token=tokens["access_token"])
        _, theirs, _ = call("GET", "/connect/userinfo", token=given["access_token"])
        self.assertEqual(ours["sub"], theirs["sub"])


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
