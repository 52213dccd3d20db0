"""Tokens of a running server in the hands of others: three unrelated JOSE libraries verify them with
nothing but the issuer's address, and Authlib drives the endpoints as clients do.

Libraries, in the versions that the distribution holds: jwcrypto, python-jose, PyJWT, Authlib.
"""

import base64
import hashlib
import itertools
import json
import os
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import uuid

from token_tool import missing, rerun

MISSING = missing("jwcrypto", "jose", "jwt", "authlib", "requests", "cryptography")
if not MISSING:
    # The server listens to this machine alone, without TLS.
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    import jose.jwt
    import jwt
    from authlib.integrations.requests_client import OAuth2Session
    from authlib.oauth2.rfc7523 import PrivateKeyJWT
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from jwcrypto import jwk as jwcrypto_jwk
    from jwcrypto import jwt as jwcrypto_jwt

from phone import Phone, code, inbox
from urd_process import Urd, together

OURS = ["ES256", "RS256"]
API = "https://api.example"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def setUpModule():
    global urd, issuer, metadata
    urd = Urd()
    status, answer, _ = urd.api.call(
        "PATCH", f"{urd.realm}/settings", {"registration": "jit_on_otp"})
    assert status == 200, answer
    place = urd.values["URD_URL"].rsplit(":", 1)
    # As a stranger does: nothing is known but an address.
    base = f"http://localhost:{place[1].strip('/')}"
    metadata = fetch(f"{base}/.well-known/openid-configuration")
    issuer = metadata["issuer"]
    assert issuer == base, metadata


def tearDownModule():
    urd.close()


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        assert answer.headers["Content-Type"] == "application/json"
        return json.load(answer)


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def register(**members):
    """A client of the demo realm: its id and its secret."""
    status, client, _ = urd.api.call("POST", urd.clients, members)
    assert status == 201, client
    return client["client_id"], client.get("client_secret")


def register_phone(**members):
    name, _ = register(
        application_type="native", token_endpoint_auth_method="none",
        grant_types=["urn:cocoar:otp", "refresh_token"], **members)
    return Phone(urd, "localhost", name)


def register_service(**members):
    return register(grant_types=["client_credentials"], scope="jobs", **members)


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# By discovery alone -------------------------------------------------------------------------


def verify_with_jwcrypto(token, audience, access=None):
    keys = jwcrypto_jwk.JWKSet.from_json(json.dumps(fetch(metadata["jwks_uri"])))
    read = jwcrypto_jwt.JWT(
        jwt=token, key=keys, algs=OURS, check_claims={"iss": issuer, "aud": audience})
    return json.loads(read.header), json.loads(read.claims)


def verify_with_python_jose(token, audience, access=None):
    header = jose.jwt.get_unverified_header(token)
    keys = [key for key in fetch(metadata["jwks_uri"])["keys"] if key["kid"] == header["kid"]]
    claims = jose.jwt.decode(
        token, {"keys": keys}, algorithms=OURS, audience=audience, issuer=issuer,
        access_token=access)
    return header, claims


def verify_with_pyjwt(token, audience, access=None):
    key = jwt.PyJWKClient(metadata["jwks_uri"]).get_signing_key_from_jwt(token)
    claims = jwt.decode(token, key.key, algorithms=OURS, audience=audience, issuer=issuer)
    return jwt.get_unverified_header(token), claims


def verifications(token, audience, access=None):
    yield "jwcrypto", verify_with_jwcrypto(token, audience, access)
    yield "python-jose", verify_with_python_jose(token, audience, access)
    yield "PyJWT", verify_with_pyjwt(token, audience, access)


class Discovery(unittest.TestCase):
    def test_both_metadata_documents_are_the_same(self):
        self.assertEqual(
            fetch(f"{issuer}/.well-known/oauth-authorization-server"), metadata)

    def test_every_endpoint_of_the_metadata_exists(self):
        for name, url in metadata.items():
            if not name.endswith("_endpoint"):
                continue
            with self.subTest(endpoint=name):
                try:
                    urllib.request.urlopen(url, timeout=30)
                except urllib.error.HTTPError as error:
                    # Without a request there is none to answer.
                    known = (400,) if name == "authorization_endpoint" else (401, 405)
                    self.assertIn(error.code, known)

    def test_native_grants_are_listed_while_they_are_on(self):
        self.assertIn("urn:cocoar:otp", metadata["grant_types_supported"])
        settings = f"{urd.realm}/settings"
        urd.api.call("PATCH", settings, {"native_grants": False})
        try:
            closed = fetch(f"{issuer}/.well-known/openid-configuration")
            self.assertNotIn("urn:cocoar:otp", closed["grant_types_supported"])
        finally:
            urd.api.call("PATCH", settings, {"native_grants": True})
        self.assertEqual(fetch(f"{issuer}/.well-known/openid-configuration"), metadata)


class SignedTokens(unittest.TestCase):
    def test_signed_tokens_verify_under_three_libraries(self):
        for algorithm in OURS:
            phone = register_phone(
                access_token_format="jwt", access_token_signed_response_alg=algorithm,
                id_token_signed_response_alg=algorithm)
            tokens = phone.sign_in(somebody(), resource=API)
            access = tokens["access_token"]
            for reader, (header, claims) in verifications(access, API):
                with self.subTest(algorithm=algorithm, reader=reader):
                    self.assertEqual((header["alg"], header["typ"]), (algorithm, "at+jwt"))
                    self.assertEqual(claims["client_id"], phone.client)
                    self.assertEqual(claims["exp"] - claims["iat"], 900)
                    self.assertEqual(str(uuid.UUID(claims["sub"])), claims["sub"])
                    self.assertEqual(claims["acr"], "urn:modgud:acr:single")
                    self.assertEqual(claims["amr"], ["otp"])
                    self.assertEqual(claims["scope"], tokens["scope"])
                    self.assertLessEqual(claims["auth_time"], time.time() + 1)
            for reader, (header, identity) in verifications(
                    tokens["id_token"], phone.client, access):
                with self.subTest(algorithm=algorithm, reader=reader):
                    self.assertEqual(header["alg"], algorithm)
                    half = hashlib.sha256(access.encode()).digest()[:16]
                    self.assertEqual(identity["at_hash"], encode(half))
                    self.assertEqual(identity["azp"], phone.client)
                    self.assertEqual(identity["sid"], claims["sid"])
                    self.assertNotIn("email", identity)
            _, fresh, _ = phone.refresh(tokens["refresh_token"])
            for _, (_, again) in verifications(
                    fresh["id_token"], phone.client, fresh["access_token"]):
                for name in ("iss", "sub", "aud", "auth_time", "sid"):
                    self.assertEqual(again[name], identity[name])

    def test_signed_tokens_are_refused_here_after_their_session(self):
        phone = register_phone(
            access_token_format="jwt", access_token_signed_response_alg="ES256")
        tokens = phone.sign_in(somebody())
        access = tokens["access_token"]
        status, who, _ = phone.call("GET", "/connect/userinfo", token=access)
        self.assertEqual(status, 200, who)
        status, _, _ = phone.call(
            "POST", "/connect/revoke",
            form={"token": tokens["refresh_token"], "client_id": phone.client})
        self.assertEqual(status, 200)
        status, _, _ = phone.call("GET", "/connect/userinfo", token=access)
        self.assertEqual(status, 401)
        status, _, _ = phone.call("GET", "/connect/userinfo", token=tokens["id_token"])
        self.assertEqual(status, 401)

    def test_signed_tokens_of_a_retired_key_stay_valid(self):
        phone = register_phone(
            access_token_format="jwt", access_token_signed_response_alg="ES256")
        before = phone.sign_in(somebody(), resource=API)["access_token"]
        for _ in range(2):
            result = urd.command(
                "signing-key", "rotate", "--realm", urd.values["URD_REALM"], "--algorithm",
                "ES256", "--yes")
            self.assertEqual(result.returncode, 0, result.stderr)
        deadline = time.monotonic() + 10
        while True:
            after = phone.sign_in(somebody(), resource=API)["access_token"]
            names = [jwt.get_unverified_header(token)["kid"] for token in (before, after)]
            if names[0] != names[1]:
                break
            self.assertLess(time.monotonic(), deadline, "nothing is signed with the new key")
        for token in (before, after):
            for _ in verifications(token, API):
                pass
        listed = urd.command(
            "signing-key", "list", "--realm", urd.values["URD_REALM"], "--json")
        phases = {key["kid"]: key["phase"] for key in json.loads(listed.stdout)["items"]}
        self.assertEqual([phases[name] for name in names], ["retired", "active"])


class Authlib(unittest.TestCase):
    def test_authlib_uses_client_credentials_introspection_and_revocation(self):
        # Whichever way was registered: a library has its own, and may have another one for revocation.
        methods = ("client_secret_basic", "client_secret_post")
        for registered, method, other in itertools.product(methods, repeat=3):
            name, secret = register_service(token_endpoint_auth_method=registered)
            with OAuth2Session(
                    name, secret, scope="jobs", token_endpoint_auth_method=method,
                    revocation_endpoint_auth_method=other) as session:
                token = session.fetch_token(
                    metadata["token_endpoint"], grant_type="client_credentials")
                self.assertEqual((token["token_type"], token["scope"]), ("Bearer", "jobs"))
                access = token["access_token"]
                known = session.introspect_token(
                    metadata["introspection_endpoint"], token=access).json()
                self.assertTrue(known["active"])
                self.assertEqual(known["sub"], name)
                gone = session.revoke_token(metadata["revocation_endpoint"], token=access)
                self.assertEqual(gone.status_code, 200)
                known = session.introspect_token(
                    metadata["introspection_endpoint"], token=access).json()
                self.assertEqual(known, {"active": False})

    def test_authlib_signs_in_and_refreshes(self):
        phone = register_phone()
        email = somebody()
        phone.request_code(email)
        with OAuth2Session(
                phone.client, scope="openid email offline_access",
                token_endpoint_auth_method="none") as session:
            first = dict(session.fetch_token(
                metadata["token_endpoint"], grant_type="urn:cocoar:otp", username=email,
                otp_code=code(urd, email)))
            who = session.get(metadata["userinfo_endpoint"]).json()
            self.assertEqual((who["email"], who["email_verified"]), (email, True))
            second = session.refresh_token(
                metadata["token_endpoint"], refresh_token=first["refresh_token"])
            self.assertNotEqual(second["refresh_token"], first["refresh_token"])
            self.assertEqual(session.get(metadata["userinfo_endpoint"]).json(), who)
        self.assertEqual(len(inbox(urd, email)), 1)

    def test_authlib_authenticates_by_assertions(self):
        for algorithm, key in {
            "ES256": ec.generate_private_key(ec.SECP256R1()),
            "RS256": rsa.generate_private_key(65537, 2048),
            "PS256": rsa.generate_private_key(65537, 2048),
            "EdDSA": ed25519.Ed25519PrivateKey.generate(),
        }.items():
            with self.subTest(algorithm=algorithm):
                client = Signer(algorithm, key)
                with client.session() as session:
                    token = session.fetch_token(
                        metadata["token_endpoint"], grant_type="client_credentials")
                    known = session.introspect_token(
                        metadata["introspection_endpoint"], token=token["access_token"]).json()
                self.assertEqual((known["active"], known["sub"]), (True, client.name))

    def test_authlibs_own_assertions_are_accepted(self):
        """Its audience is the token endpoint and it lives for an hour: one setting of the client lets it."""
        for algorithm, key in {
            "RS256": rsa.generate_private_key(65537, 2048),
            "ES256": ec.generate_private_key(ec.SECP256R1()),
        }.items():
            with self.subTest(algorithm=algorithm):
                client = Signer(algorithm, key)
                refused = client.by_default()
                self.assertEqual(refused["error"], "invalid_client")
                self.assertIn(issuer, refused["error_description"])
                self.assertIn("client_assertion_for_token_url", refused["error_description"])
                changed = urd.command(
                    "client", "change", "--realm", urd.values["URD_REALM"], client.name,
                    "--client-assertion-for-token-url", "true")
                self.assertEqual(changed.returncode, 0, changed.stderr)
                for _ in range(2):
                    self.assertIn("access_token", client.by_default())

    def test_an_operator_learns_why_a_token_is_inactive(self):
        name, secret = register_service()
        other, other_secret = register_service()
        with OAuth2Session(name, secret, scope="jobs") as session:
            token = session.fetch_token(
                metadata["token_endpoint"], grant_type="client_credentials")["access_token"]
        with OAuth2Session(other, other_secret) as session:
            known = session.introspect_token(
                metadata["introspection_endpoint"], token=token).json()
        self.assertEqual(known, {"active": False})
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(token)
            file.flush()
            told = urd.command(
                "doctor", "--introspection", file.name, "--realm", urd.values["URD_REALM"],
                "--client", other)
            self.assertIn(f"which {other} may not hear of", told.stdout)
            self.assertIn("--introspects-all-tokens", told.stdout)
            own = urd.command(
                "doctor", "--introspection", file.name, "--realm", urd.values["URD_REALM"],
                "--client", name)
            self.assertIn("active: an access token", own.stdout)

    def test_an_assertion_used_fifty_times_at_once_is_accepted_once(self):
        client = Signer("ES256", ec.generate_private_key(ec.SECP256R1()))
        assertion = client.assertion()
        statuses = [status for status, _ in together(50, lambda _: client.ask(assertion))]
        self.assertEqual(statuses.count(200), 1, statuses)
        self.assertEqual(set(statuses), {200, 401})

    def test_an_assertion_for_another_audience_is_refused(self):
        client = Signer("ES256", ec.generate_private_key(ec.SECP256R1()))
        for wrong in (
                {"aud": metadata["token_endpoint"]}, {"aud": [issuer, "https://b.example"]},
                {"exp": int(time.time()) + 3700}, {"exp": int(time.time()) - 60},
                {"exp": int(time.time()) + 400, "iat": None},
                {"exp": int(time.time()) + 3600, "iat": int(time.time()) - 340},
                {"iss": "another"}, {"sub": "another"}, {"jti": None}, {"nbf": int(time.time()) + 90}):
            with self.subTest(wrong=wrong):
                status, body = client.ask(client.assertion(**wrong))
                self.assertEqual((status, body["error"]), (401, "invalid_client"))
        status, _ = client.ask(client.assertion(nbf=int(time.time()) + 8))
        self.assertEqual(status, 200)


if not MISSING:
    class ForTheIssuer(PrivateKeyJWT):
        """Authlib would sign for an hour, and would give the next assertion the same name."""

        def sign(self, auth, token_endpoint):
            self.claims = {"exp": int(time.time()) + 60}
            return super().sign(auth, token_endpoint)


class Signer:
    """A client that signs that it is itself."""

    def __init__(self, algorithm, key):
        self.algorithm = algorithm
        self.key = key
        public = jwcrypto_jwk.JWK.from_pyca(key.public_key())
        jwk = {**json.loads(public.export_public()), "alg": algorithm, "kid": "k1"}
        self.name, _ = register_service(
            token_endpoint_auth_method="private_key_jwt", jwks={"keys": [jwk]})

    def pem(self):
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption())

    def session(self):
        session = OAuth2Session(
            self.name, self.pem(), scope="jobs", token_endpoint_auth_method="private_key_jwt",
            revocation_endpoint_auth_method="private_key_jwt")
        session.register_client_auth_method(ForTheIssuer(issuer, alg=self.algorithm))
        return session

    def by_default(self):
        """What comes of Authlib as its manual has it."""
        with OAuth2Session(
                self.name, self.pem(), scope="jobs",
                token_endpoint_auth_method=PrivateKeyJWT(
                    metadata["token_endpoint"], alg=self.algorithm)) as session:
            answers = []
            session.register_compliance_hook(
                "access_token_response", lambda answer: answers.append(answer.json()) or answer)
            try:
                session.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
            except Exception:  # Authlib's own, of which the answer says more.
                pass
            return answers[-1]

    def assertion(self, **claims):
        now = int(time.time())
        all_claims = {
            "iss": self.name, "sub": self.name, "aud": issuer, "jti": uuid.uuid4().hex,
            "iat": now, "exp": now + 60, **claims}
        return jwt.encode(
            {name: value for name, value in all_claims.items() if value is not None},
            self.pem(), algorithm=self.algorithm, headers={"kid": "k1"})

    def ask(self, assertion):
        status, body, _ = Phone(urd, "localhost").call(
            "POST", "/connect/token",
            form={"grant_type": "client_credentials", "client_assertion_type": ASSERTION,
                  "client_assertion": assertion})
        return status, body


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
