"""EDU-15 as published apps of the OpenID variant have it: the first assertion is signed by the key of the app's version,
encrypted by A128CBC-HS256, and its times are texts. And what a key of the version must not open."""

import json
import time
import unittest
import uuid

import test_federation_openid as openid
from federation_client import together
from test_federation_openid import Cases, Phone, claims_of, encrypted, redeem
from token_tool import missing, rerun

MISSING = missing("jwcrypto")
MODERN, KEYLESS = "ch.eduid.app.published", "ch.eduid.app.keyless"
SCOPE = "openid profile email address phone"
YEARS = 94_610_000


def setUpModule():
    global version
    openid.setUpModule()
    version = generate("version")
    for name, more in {
            MODERN: {"jwks": {"keys": [json.loads(version.export_public())]}}, KEYLESS: {}}.items():
        openid.secrets[name] = openid.admin("POST", "/clients", {
            "client_id": name, "client_name": name, "profile": "federation_app",
            "scope": SCOPE, **more})["client_secret"]


def tearDownModule():
    openid.tearDownModule()


def generate(kid):
    from jwcrypto import jwk
    return jwk.JWK.generate(kty="RSA", size=2048, kid=kid)


class PublishedApp(Phone):
    """Writes what such an app writes, in its order and with its times."""

    def first(self, **claims):
        now = int(time.time())
        return {
            "iss": MODERN, "sub": openid.site.values["URD_FEDERATION_USER"],
            "aud": openid.metadata["issuer"], "exp": str(now + YEARS), "iat": str(now - 30),
            "cnf": {"jwk": self.public}, "azp": self.device, "jti": uuid.uuid4().hex,
            "x_crd": openid.site.values["URD_FEDERATION_PASSPHRASE"], **claims}

    def later(self, **claims):
        return {
            "azp": openid.PLACE, "iss": self.device, "aud": openid.metadata["issuer"],
            "sub": claims_of(self.tokens["id_token"])["sub"], "iat": str(int(time.time()) - 70),
            "cnf": {"kid": self.kid}, "x_jwt": self.tokens["access_token"],
            "jti": uuid.uuid4().hex, **claims}

    def vouched(self, key=None, kid=None, **claims):
        """The first assertion, signed by the version's key."""
        key = key or version
        return self.sign(self.first(**claims), key, kid or key["kid"], typ="JWT")

    def sign_in(self, **claims):
        text = encrypted(self.vouched(**claims), "RSA-OAEP-256", enc="A128CBC-HS256")
        status, self.tokens = redeem(MODERN, text, SCOPE)
        assert status == 200, self.tokens
        return self


class Published(Cases):
    def test_edu_15_a_published_app_signs_in_and_shows_its_person_to_a_service(self):
        app = PublishedApp().sign_in()
        claims = claims_of(app.tokens["id_token"])
        self.assertEqual(claims["cnf"], {"kid": app.kid})
        self.assertEqual(claims["email"], openid.site.values["URD_FEDERATION_USER"])
        status, told = redeem(openid.SERVICE, app.sign(app.later(), typ="JWT"))
        self.assertEqual(status, 200, told)
        self.assertEqual(claims_of(told["id_token"])["aud"], openid.SERVICE)
        # Its later assertions are encrypted as its first one was, or not at all.
        for algorithm in "RSA-OAEP-256", "ECDH-ES":
            text = encrypted(app.sign(app.later()), algorithm, enc="A128CBC-HS256")
            self.assertEqual(redeem(openid.SERVICE, text)[0], 200)
            self.refused(redeem(openid.SERVICE, text), algorithm)

    def test_edu_15_an_app_signs_by_its_own_key_though_its_version_has_one(self):
        app = PublishedApp()
        status, told = redeem(MODERN, app.sign(app.first()), SCOPE)
        self.assertEqual(status, 200, told)

    def test_edu_15_a_vouched_assertion_is_good_once_whatever_it_is_encrypted_by(self):
        app = PublishedApp()
        text = app.vouched()
        statuses = [status for status, _ in together(50, lambda _: redeem(MODERN, text, SCOPE))]
        self.assertEqual(statuses.count(200), 1, statuses)
        for again in text, encrypted(text, "RSA-OAEP-256"), encrypted(
                text, "ECDH-ES", enc="A128CBC-HS256"):
            self.refused(redeem(MODERN, again, SCOPE))

    def test_edu_15_other_keys_than_the_versions_vouch_for_none(self):
        from jwcrypto import jwk
        app, stranger = PublishedApp(), generate("version")
        private = json.loads(app.key.export_private())
        nameless = {name: value for name, value in app.public.items() if name != "kid"}
        for case, assertion in {
                "stranger's key": app.vouched(stranger),
                "stranger's key under its own name": app.vouched(generate("stranger")),
                "version's key under another name": app.vouched(kid="other"),
                "version's key under the app's name": app.vouched(kid=app.kid),
                "shared key": app.sign(
                    app.first(), jwk.JWK.generate(kty="oct", size=256, kid="version"),
                    "version", alg="HS256"),
                "private key": app.vouched(cnf={"jwk": private}),
                "key without a name": app.vouched(cnf={"jwk": nameless}),
                "shared key as its own": app.vouched(
                    cnf={"jwk": {"kty": "oct", "kid": "own", "k": "AAAA"}}),
                "no key": app.vouched(cnf={"jwk": {}}),
                "no cnf": app.vouched(cnf=None),
                "both": app.vouched(cnf={"jwk": app.public, "kid": app.kid}),
                "named alone": app.vouched(cnf={"kid": app.kid}),
                "named as the version's": app.vouched(cnf={"kid": "version"}),
                "passphrase": app.vouched(x_crd="not the right one"),
                "issuer": app.vouched(iss=KEYLESS)}.items():
            self.refused(redeem(MODERN, assertion, SCOPE), case)
        for client in KEYLESS, openid.VERSION:
            self.refused(redeem(client, app.vouched(iss=client)), client)
        self.refused(redeem(openid.SERVICE, app.vouched()), "service")
        self.assertEqual(redeem(MODERN, app.vouched(), SCOPE)[0], 200)

    def test_edu_15_the_versions_key_shows_nobody_to_a_service(self):
        app = PublishedApp().sign_in()
        for case, assertion in {
                "version's key": app.sign(app.later(), version, "version"),
                "under the app's name": app.sign(app.later(), version, app.kid),
                "named": app.sign(app.later(cnf={"kid": "version"}), version, "version")}.items():
            self.refused(redeem(openid.SERVICE, assertion), case)
        self.assertEqual(redeem(openid.SERVICE, app.sign(app.later()))[0], 200)

    def test_edu_15_a_key_that_the_version_has_no_more_vouches_for_none(self):
        app, key = PublishedApp(), generate("before")
        name = "ch.eduid.app.renewed"
        openid.secrets[name] = openid.admin("POST", "/clients", {
            "client_id": name, "client_name": name, "profile": "federation_app", "scope": SCOPE,
            "jwks": {"keys": [json.loads(key.export_public())]}})["client_secret"]
        self.assertEqual(redeem(name, app.vouched(key, iss=name), SCOPE)[0], 200)
        now = generate("now")
        openid.admin("PATCH", f"/clients/{name}", {
            "jwks": {"keys": [json.loads(now.export_public())]}})
        self.refused(redeem(name, app.vouched(key, iss=name), SCOPE))
        self.assertEqual(redeem(name, app.vouched(now, iss=name), SCOPE)[0], 200)


class Devices(Cases):
    def test_edu_15_a_thief_with_the_versions_key_ends_no_other_persons_session(self):
        info = openid.metadata["userinfo_endpoint"]

        def is_in(app):
            return openid.site.call(
                "GET", info, authorization="Bearer " + app.tokens["access_token"])[0] == 200

        victim = PublishedApp().sign_in()
        eve = f"{uuid.uuid4().hex[:12]}@example.org"
        openid.admin("POST", "/accounts", {"email": eve, "confirmed": True})
        browser, chosen = openid.SignedIn(eve), uuid.uuid4().hex + " of Eve"
        page = browser.call("GET", "/account/security")
        self.assertEqual(
            browser.post(page, "/account/passphrase", passphrase=chosen).status, 303)
        # She has her own passphrase, the version's key, and what the victim's device told of itself.
        thief = PublishedApp()
        thief.device, thief.kid, thief.public = victim.device, victim.kid, victim.public
        text = thief.vouched(sub=eve, x_crd=chosen)
        self.refused(redeem(MODERN, text, SCOPE))
        self.assertTrue(is_in(victim))
        self.assertEqual(redeem(openid.SERVICE, victim.sign(victim.later()))[0], 200)
        # With a key of hers she is on a device of her own.
        own = PublishedApp()
        own.device = victim.device
        own.sign_in(sub=eve, x_crd=chosen)
        self.assertTrue(is_in(victim) and is_in(own))
        # Who has the device's key takes the device over, and its person gets another session by either key.
        self.assertEqual(redeem(
            MODERN, victim.sign(victim.first(sub=eve, x_crd=chosen)), SCOPE)[0], 200)
        self.assertFalse(is_in(victim))
        own.sign_in(sub=eve, x_crd=chosen)
        self.assertTrue(is_in(own))


if MISSING:
    Published = Devices = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
