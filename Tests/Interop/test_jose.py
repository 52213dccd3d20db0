"""Our tokens and keys under three unrelated JOSE libraries and by hand, and theirs under ours.

Libraries, in the versions that the distribution holds: jwcrypto, python-jose, PyJWT. "By hand" is
a split, a JSON reader and the primitives of python-cryptography.
"""

import base64
import hashlib
import hmac
import json
import sys
import time
import unittest

from token_tool import Refused, Tool, missing, rerun

MISSING = missing("jwcrypto", "jose", "jwt", "cryptography")
if not MISSING:
    import jose.jwk
    import jose.jwt
    import jwt
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from jwcrypto import common as jwcrypto_common
    from jwcrypto import jwk as jwcrypto_jwk
    from jwcrypto import jws as jwcrypto_jws
    from jwcrypto import jwt as jwcrypto_jwt

ISSUER = "https://id.example"
READER = "https://api.example"
CLIENT = "app"
OURS = ["ES256", "RS256"]
THEIRS = ["ES256", "RS256", "PS256", "ES384", "EdDSA"]


def setUpModule():
    global tool, keys, others
    tool = Tool()
    keys = {name: tool("generate", algorithm=name) for name in OURS}
    big = rsa.generate_private_key(65537, 2048)
    others = {
        "ES256": ec.generate_private_key(ec.SECP256R1()),
        "ES384": ec.generate_private_key(ec.SECP384R1()),
        "RS256": big,
        "PS256": big,
        "EdDSA": ed25519.Ed25519PrivateKey.generate(),
    }


def tearDownModule():
    tool.close()


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def key_and_name(name):
    return {"pkcs8": keys[name]["pkcs8"], "algorithm": name, "kid": keys[name]["kid"]}


def access_token(name, now):
    return tool(
        "access_token", iss=ISSUER, sub="018f", aud=READER, client_id=CLIENT, jti="t1", now=now,
        **key_and_name(name))


# By hand ------------------------------------------------------------------------------------


def public_key(jwk):
    numbers = {name: int.from_bytes(decode(jwk[name]), "big") for name in "xyne" if name in jwk}
    if jwk["kty"] == "RSA":
        return rsa.RSAPublicNumbers(numbers["e"], numbers["n"]).public_key()
    return ec.EllipticCurvePublicNumbers(
        numbers["x"], numbers["y"], ec.SECP256R1()).public_key()


def verify_by_hand(token, jwks):
    start, signature = token.rsplit(".", 1)
    header, claims = (json.loads(decode(part)) for part in start.split("."))
    (jwk,) = [key for key in jwks["keys"] if key["kid"] == header["kid"]]
    signature = decode(signature)
    if header["alg"] == "RS256":
        public_key(jwk).verify(
            signature, start.encode(), padding.PKCS1v15(), hashes.SHA256())
    else:
        assert header["alg"] == "ES256" and len(signature) == 64
        r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
        public_key(jwk).verify(
            encode_dss_signature(r, s), start.encode(), ec.ECDSA(hashes.SHA256()))
    return header, claims


# With libraries -----------------------------------------------------------------------------


def verify_with_jwcrypto(token, jwks, audience):
    key = jwcrypto_jwk.JWKSet.from_json(json.dumps(jwks))
    read = jwcrypto_jwt.JWT(
        jwt=token, key=key, algs=OURS, check_claims={"iss": ISSUER, "aud": audience})
    return json.loads(read.header), json.loads(read.claims)


def verify_with_python_jose(token, jwks, audience, access_token=None):
    # It tries all keys and stumbles over one of another kind: it gets the named one alone.
    header = jose.jwt.get_unverified_header(token)
    jwks = {"keys": [key for key in jwks["keys"] if key["kid"] == header["kid"]]}
    claims = jose.jwt.decode(
        token, jwks, algorithms=OURS, audience=audience, issuer=ISSUER,
        access_token=access_token)
    return header, claims


def verify_with_pyjwt(token, jwks, audience):
    header = jwt.get_unverified_header(token)
    (key,) = [key for key in jwt.PyJWKSet.from_dict(jwks).keys if key.key_id == header["kid"]]
    claims = jwt.decode(token, key.key, algorithms=OURS, audience=audience, issuer=ISSUER)
    return header, claims


class OurTokens(unittest.TestCase):
    def each(self, token, jwks, audience):
        yield "by hand", verify_by_hand(token, jwks)
        yield "jwcrypto", verify_with_jwcrypto(token, jwks, audience)
        yield "python-jose", verify_with_python_jose(token, jwks, audience)
        yield "PyJWT", verify_with_pyjwt(token, jwks, audience)

    def test_other_libraries_verify_urds_access_tokens(self):
        now = int(time.time())
        for name in OURS:
            token = access_token(name, now)
            both = {"keys": keys["ES256"]["jwks"]["keys"] + keys["RS256"]["jwks"]["keys"]}
            for reader, (header, claims) in self.each(token, both, READER):
                with self.subTest(algorithm=name, reader=reader):
                    self.assertEqual(
                        header, {"alg": name, "kid": keys[name]["kid"], "typ": "at+jwt"})
                    self.assertEqual(
                        claims,
                        {
                            "iss": ISSUER, "sub": "018f", "aud": READER, "client_id": CLIENT,
                            "jti": "t1", "iat": now, "exp": now + 300, "scope": "openid é",
                            "auth_time": now, "acr": "urn:example:mfa", "amr": ["otp", "hwk"],
                            "ümlaut": {"x": [1, None]},
                        })

    def test_other_libraries_verify_many_of_urds_signatures(self):
        """Some r and s begin with zeros, which not every reader wants to see."""
        now = int(time.time())
        for _ in range(300):
            token = access_token("ES256", now)
            verify_by_hand(token, keys["ES256"]["jwks"])
            verify_with_pyjwt(token, keys["ES256"]["jwks"], READER)

    def test_other_libraries_verify_urds_identity_tokens_and_at_hash(self):
        now = int(time.time())
        for name in OURS:
            access = access_token("ES256", now)
            token = tool(
                "id_token", iss=ISSUER, sub="018f", client_id=CLIENT, nonce="n", now=now,
                access_token=access, **key_and_name(name))
            jwks = keys[name]["jwks"]
            for reader, (header, claims) in self.each_with_hash(token, jwks, access):
                with self.subTest(algorithm=name, reader=reader):
                    self.assertEqual(header["typ"], "JWT")
                    self.assertEqual(claims["nonce"], "n")
                    self.assertEqual(claims["aud"], CLIENT)
                    half = hashlib.sha256(access.encode()).digest()[:16]
                    self.assertEqual(claims["at_hash"], encode(half))
            with self.assertRaises(jose.exceptions.JWTClaimsError):
                verify_with_python_jose(token, jwks, CLIENT, access + "A")

    def each_with_hash(self, token, jwks, access):
        yield "by hand", verify_by_hand(token, jwks)
        yield "jwcrypto", verify_with_jwcrypto(token, jwks, CLIENT)
        yield "python-jose", verify_with_python_jose(token, jwks, CLIENT, access)
        yield "PyJWT", verify_with_pyjwt(token, jwks, CLIENT)

    def test_other_libraries_verify_urds_client_assertions(self):
        now = int(time.time())
        for name in OURS:
            token = tool(
                "client_assertion", client_id=CLIENT, aud=ISSUER, jti="j", now=now,
                **key_and_name(name))
            _, claims = verify_by_hand(token, keys[name]["jwks"])
            self.assertEqual(
                claims,
                {"iss": CLIENT, "sub": CLIENT, "aud": ISSUER, "jti": "j", "iat": now,
                 "exp": now + 60})

    def test_other_libraries_refuse_urds_tokens_when_changed(self):
        now = int(time.time())
        token = access_token("ES256", now)
        header, claims, signature = token.split(".")
        other = encode(decode(claims).replace(b"018f", b"0190"))
        jwks = keys["ES256"]["jwks"]
        changed = f"{header}.{other}.{signature}"
        with self.assertRaises(InvalidSignature):
            verify_by_hand(changed, jwks)
        with self.assertRaises(jwcrypto_common.JWException):
            verify_with_jwcrypto(changed, jwks, READER)
        with self.assertRaises(jose.exceptions.JWTError):
            verify_with_python_jose(changed, jwks, READER)
        with self.assertRaises(jwt.InvalidSignatureError):
            verify_with_pyjwt(changed, jwks, READER)


class OurKeys(unittest.TestCase):
    def test_other_libraries_compute_the_same_thumbprints(self):
        for name in OURS:
            jwk = keys[name]["jwks"]["keys"][0]
            theirs = jwcrypto_jwk.JWK(**jwk).thumbprint()
            self.assertEqual(tool("thumbprint", jwk=jwk), theirs)
            self.assertEqual(keys[name]["kid"], theirs)
        for name in THEIRS:
            key = jwcrypto_jwk.JWK.from_pyca(others[name].public_key())
            self.assertEqual(
                tool("thumbprint", jwk=key.export_public(as_dict=True)), key.thumbprint())

    def test_other_libraries_read_urds_private_keys(self):
        for name in OURS:
            der = base64.b64decode(keys[name]["pkcs8"])
            private = serialization.load_der_private_key(der, None)
            self.assertEqual(
                private.public_key().public_numbers(),
                public_key(keys[name]["jwks"]["keys"][0]).public_numbers())

    def test_private_keys_of_other_libraries_sign_for_urd(self):
        now = int(time.time())
        for name in OURS:
            der = others[name].private_bytes(
                serialization.Encoding.DER, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption())
            token = tool(
                "client_assertion", client_id=CLIENT, aud=ISSUER, jti="j", now=now,
                pkcs8=base64.b64encode(der).decode(), algorithm=name)
            read = jwt.decode(
                token, others[name].public_key(), algorithms=[name], audience=ISSUER)
            self.assertEqual(read["sub"], CLIENT)

    def test_key_sets_of_other_libraries_are_read(self):
        keyset = jwcrypto_jwk.JWKSet()
        for number, name in enumerate(THEIRS):
            key = jwcrypto_jwk.JWK.from_pyca(others[name].public_key())
            jwk = {**key.export_public(as_dict=True), "kid": f"k{number}"}
            keyset.add(jwcrypto_jwk.JWK(**jwk))
        written = tool("jwks", jwks=keyset.export(private_keys=False, as_dict=True))
        self.assertEqual(
            sorted(key["kid"] for key in written["keys"]), ["k0", "k1", "k2", "k3", "k4"])
        private = jwcrypto_jwk.JWK.generate(kty="EC", crv="P-256")
        with self.assertRaisesRegex(Refused, "holdsSecret"):
            tool("jwks", jwks={"keys": [private.export(as_dict=True)]})


# Theirs -------------------------------------------------------------------------------------


def sign_with_pyjwt(claims, name, **header):
    return jwt.encode(claims, others[name], algorithm=name, headers=header or None)


def sign_with_jwcrypto(claims, name, **header):
    token = jwcrypto_jws.JWS(json.dumps(claims))
    token.add_signature(
        jwcrypto_jwk.JWK.from_pyca(others[name]), name,
        protected=json.dumps({"alg": name, **header}))
    return token.serialize(compact=True)


def sign_with_python_jose(claims, name, **header):
    pem = others[name].private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()).decode()
    return jose.jwt.encode(claims, pem, algorithm=name, headers=header or None)


class TheirAssertions(unittest.TestCase):
    def setUp(self):
        self.now = int(time.time())

    def claims(self, **changes):
        claims = {
            "iss": CLIENT, "sub": CLIENT, "aud": ISSUER, "jti": "j1", "iat": self.now,
            "exp": self.now + 60,
        }
        claims.update(changes)
        return {name: value for name, value in claims.items() if value is not None}

    def jwks(self, name, **members):
        key = jwcrypto_jwk.JWK.from_pyca(others[name].public_key()).export_public(as_dict=True)
        key.pop("kid", None)
        return {"keys": [{**key, **members}]}

    def check(self, token, name, algorithms=None, jwks=None):
        return tool(
            "check_client_assertion", token=token, client_id=CLIENT, aud=ISSUER, now=self.now,
            algorithms=algorithms or [name], jwks=jwks or self.jwks(name))

    def test_assertions_of_each_library_and_algorithm_are_verified(self):
        for sign in sign_with_pyjwt, sign_with_jwcrypto, sign_with_python_jose:
            for name in THEIRS:
                if sign is sign_with_python_jose and name in ("PS256", "EdDSA"):
                    continue  # It knows neither.
                with self.subTest(library=sign.__name__, algorithm=name):
                    read = self.check(sign(self.claims(), name), name)
                    self.assertEqual(read, {"jti": "j1", "exp": self.now + 60})

    def test_assertions_with_fractional_instants_are_accepted(self):
        for sign in sign_with_pyjwt, sign_with_jwcrypto, sign_with_python_jose:
            claims = self.claims(
                exp=self.now + 60.75, iat=self.now + 0.5, nbf=self.now - 0.25, x=[1.5, 1e300])
            read = self.check(sign(claims, "ES256"), "ES256")
            self.assertEqual(read["exp"], self.now + 60)

    def test_assertions_are_verified_under_the_named_key(self):
        jwks = self.jwks("ES256", kid="a", alg="ES256", use="sig")
        self.check(sign_with_pyjwt(self.claims(), "ES256", kid="a"), "ES256", jwks=jwks)
        with self.assertRaisesRegex(Refused, "unknownKey"):
            self.check(sign_with_pyjwt(self.claims(), "ES256", kid="b"), "ES256", jwks=jwks)

    def refuse(self, reason, token, name="ES256", **more):
        with self.assertRaisesRegex(Refused, reason):
            self.check(token, name, **more)

    def test_faulty_assertions_are_refused(self):
        for reason, changes in [
            ("expired", {"exp": self.now - 31, "iat": None}),
            ("missing", {"exp": None}),
            ("missing", {"jti": None}),
            ("issuedInTheFuture", {"iat": self.now + 31}),
            ("notYetValid", {"nbf": self.now + 31}),
            ("unreasonableLifetime", {"exp": self.now + 86400}),
            ("wrongAudience", {"aud": "https://other.example"}),
            ("wrongAudience", {"aud": [ISSUER, "https://other.example"]}),
            ("wrongSubject", {"sub": "other"}),
            ("wrongIssuer", {"iss": "other"}),
            ("malformed", {"exp": [self.now + 60.5]}),
        ]:
            with self.subTest(reason=reason, changes=changes):
                self.refuse(reason, sign_with_jwcrypto(self.claims(**changes), "ES256"))

    def test_headers_that_must_be_understood_are_refused(self):
        token = jwcrypto_jws.JWS(json.dumps(self.claims()))
        token.add_signature(
            jwcrypto_jwk.JWK.from_pyca(others["ES256"]), "ES256",
            protected=json.dumps({"alg": "ES256", "b64": True, "crit": ["b64"]}))
        self.refuse("unsupportedHeader", token.serialize(compact=True))
        self.refuse("wrongType", sign_with_pyjwt(self.claims(), "ES256", typ="at+jwt"))

    def test_unsigned_and_symmetric_tokens_are_refused(self):
        self.refuse("algorithmNotAllowed", jwt.encode(self.claims(), None, algorithm="none"))
        pem = others["ES256"].public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        start = encode(b'{"alg":"HS256"}') + "." + encode(json.dumps(self.claims()).encode())
        tag = hmac.new(pem, start.encode(), "sha256").digest()
        self.refuse("algorithmNotAllowed", start + "." + encode(tag))

    def test_der_signatures_are_refused(self):
        start = encode(b'{"alg":"ES256"}') + "." + encode(json.dumps(self.claims()).encode())
        der = others["ES256"].sign(start.encode(), ec.ECDSA(hashes.SHA256()))
        self.refuse("badSignature", start + "." + encode(der))

    def test_another_algorithm_with_the_same_key_is_refused(self):
        token = sign_with_pyjwt(self.claims(), "PS256")
        self.refuse("algorithmNotAllowed", token, "RS256")
        self.refuse(
            "unknownKey", token, algorithms=["RS256", "PS256"],
            jwks=self.jwks("RS256", alg="RS256"))

    def test_encrypted_tokens_are_refused(self):
        token = jwcrypto_jwt.JWT(
            header={"alg": "ECDH-ES", "enc": "A256GCM"}, claims=self.claims())
        token.make_encrypted_token(jwcrypto_jwk.JWK.from_pyca(others["ES256"].public_key()))
        self.refuse("malformed", token.serialize())


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
