"""EDU-15: assertions that an app of the federation profile signs by a key of its own (`cnf`) and encrypts to the realm,
over jwcrypto; and assertions of SAML that a service forwards to the token endpoint of OpenID."""

import base64
import json
import re
import time
import unittest
import uuid

from federation_client import JWT_BEARER, OLD_JWT_BEARER, App, Site, together
from phone import code, inbox
from token_tool import missing, rerun
from urd_process import Urd, eventually
from verify_client import Browser

MISSING = missing("jwcrypto")
LIMITS = {"federation-login": {"source": None, "target": None},
          "oauth-token": {"source": None, "client": None}}
VERSION, SERVICE, PLACE = "ch.eduid.app.openid", "relying", "https://relying.example"


def setUpModule():
    started = Urd()
    begin(started, Site(started.values))


def begin(node, at):
    """With what these tests need at a node, at this site of its."""
    global urd, site, secrets, metadata
    urd, site = node, at
    # The tests ask again and again as one client.
    admin("PATCH", "/settings", {"rate_limits": LIMITS})
    secrets = {}
    for name, more in {
            VERSION: {"profile": "federation_app", "scope": "openid email profile"},
            SERVICE: {"profile": "federation_service", "scope": "openid email profile",
                      "redirect_uris": [PLACE]},
            "elsewhere": {"profile": "federation_service", "scope": "openid",
                          "redirect_uris": ["https://elsewhere.example"]},
            "ordinary": {"redirect_uris": ["https://ordinary.example"]}}.items():
        secrets[name] = admin("POST", "/clients", {
            "client_id": name, "client_name": name, **more})["client_secret"]
    metadata = get("/.well-known/openid-configuration")


def tearDownModule():
    urd.close()


def admin(method, path, body=None):
    status, answer, _ = urd.api.call(method, "/api/admin/realms/federation" + path, body)
    assert status in (200, 201, 204), (status, answer)
    return answer


def origin():
    return f"{site.base.scheme}://{site.base.netloc}"


def get(path):
    status, answer = site.call("GET", origin() + path)
    assert status == 200, answer
    return answer


def basic(client):
    return "Basic " + base64.b64encode(f"{client}:{secrets[client]}".encode()).decode()


def redeem(client, assertion, scope="openid", grant=JWT_BEARER):
    return site.call("POST", metadata["token_endpoint"], authorization=basic(client), form={
        "grant_type": grant, "assertion": assertion, "scope": scope})


class Phone:
    """An app with a key of its own."""

    def __init__(self, algorithm="RS256"):
        from jwcrypto import jwk
        self.algorithm, self.device, self.kid = algorithm, str(uuid.uuid4()), uuid.uuid4().hex
        self.key = jwk.JWK.generate(
            kid=self.kid, **({"kty": "RSA", "size": 2048} if algorithm == "RS256"
                             else {"kty": "EC", "crv": "P-256"}))
        self.public = json.loads(self.key.export_public())

    def sign(self, claims, key=None, kid=None, **header):
        from jwcrypto import jws
        head = {"alg": self.algorithm, "kid": self.kid if kid is None else kid or None, **header}
        token = jws.JWS(json.dumps({k: v for k, v in claims.items() if v is not None}).encode())
        token.add_signature(
            key or self.key, None,
            json.dumps({k: v for k, v in head.items() if v is not None}), None)
        return token.serialize(compact=True)

    def first(self, **claims):
        """What shows the key and the person's passphrase."""
        now = int(time.time())
        return {
            "iss": VERSION, "aud": metadata["token_endpoint"], "azp": self.device,
            "sub": site.values["URD_FEDERATION_USER"], "iat": now, "exp": now + 300,
            "cnf": {"jwk": self.public}, "x_crd": site.values["URD_FEDERATION_PASSPHRASE"],
            "name": "Ann's phone", **claims}

    def later(self, **claims):
        """What shows the person to a service."""
        now = int(time.time())
        return {
            "iss": self.device, "aud": metadata["issuer"], "azp": PLACE,
            "sub": site.values["URD_FEDERATION_USER"], "iat": now, "jti": uuid.uuid4().hex,
            "cnf": {"kid": self.kid}, **claims}

    def sign_in(self):
        # Two of one second are two assertions.
        status, self.tokens = redeem(VERSION, self.sign(self.first(jti=uuid.uuid4().hex)))
        assert status == 200, self.tokens
        return self

    def join(self, **claims):
        return redeem(SERVICE, self.sign(self.later(**claims)))


def claims_of(token):
    from jwcrypto import jwk, jws
    keys = jwk.JWKSet.from_json(json.dumps(get("/.well-known/jwks")))
    message = jws.JWS()
    message.deserialize(token)
    message.verify(keys.get_key(message.jose_header["kid"]))
    return json.loads(message.payload)


def encrypted(text, algorithm, key=None, enc="A256GCM", kid=None):
    from jwcrypto import jwe, jwk
    if key is None:
        [found] = [k for k in get("/.well-known/jwks")["keys"] if k.get("alg") == algorithm]
        key = jwk.JWK(**found)
        kid = kid or found["kid"]
    message = jwe.JWE(text.encode(), json.dumps(
        {"alg": algorithm, "enc": enc, "cty": "JWT", **({"kid": kid} if kid else {})}),
        algs=[algorithm, enc])
    message.add_recipient(key)
    return message.serialize(compact=True)


class Cases(unittest.TestCase):
    def refused(self, answer, case=None):
        status, told = answer
        self.assertEqual(
            (status, told.get("error"), told.get("error_description")),
            (400, "invalid_request", "invalid assertion provided"), (case, told))


class SignIn(Cases):
    def test_edu_15_an_app_shows_its_key_and_gets_an_id_token_that_names_it(self):
        for algorithm in ("RS256", "ES256"):
            phone = Phone(algorithm).sign_in()
            self.assertEqual(phone.tokens["token_type"], "Bearer")
            self.assertIn("refresh_token", phone.tokens)
            claims = claims_of(phone.tokens["id_token"])
            self.assertEqual(claims["cnf"], {"kid": phone.kid})
            self.assertIn("at_hash", claims)

    def test_edu_15_an_id_token_says_of_the_person_what_the_scope_allows(self):
        mail = {"email": site.values["URD_FEDERATION_USER"]}
        names = {"given_name": "Ann", "family_name": "Example", "name": "Ann Example"}
        for scope, expected in {
                "openid": {}, "openid email": mail, "openid profile": names,
                "openid email profile": {**mail, **names}}.items():
            phone = Phone()
            for client, assertion in (
                    (VERSION, phone.first()), (SERVICE, phone.later())):
                status, told = redeem(client, phone.sign(assertion), scope)
                self.assertEqual(status, 200, told)
                shown = claims_of(told["id_token"])
                self.assertEqual(
                    {name: shown[name] for name in {**mail, **names} if name in shown}, expected)

    def test_edu_15_a_client_repeats_its_secret_in_the_form_and_leaves_out_padding(self):
        for client in (VERSION, SERVICE, "elsewhere", "ordinary"):
            secret = secrets[client]

            def ask(authorization=basic(client), **form):
                return site.call(
                    "POST", metadata["revocation_endpoint"], authorization=authorization,
                    form={"token": "x", **form})[0]

            is_ordinary = client == "ordinary"
            self.assertEqual(ask(client_secret=secret), 400 if is_ordinary else 200)
            self.assertEqual(
                ask(client_id=client, client_secret=secret), 400 if is_ordinary else 200)
            self.assertEqual(ask(client_secret=secret + "x"), 400)
            self.assertEqual(ask(client_id="other", client_secret=secret), 400)
            self.assertEqual(ask(basic(client).rstrip("=")), 200)
            wrong = "Basic " + base64.b64encode(f"{client}:wrong".encode()).decode()
            self.assertEqual(ask(wrong, client_secret="wrong"), 400 if is_ordinary else 401)

    def test_edu_15_tokens_that_sign_requests_and_bearer_tokens_are_refreshed_apart(self):
        app = App(site, VERSION, secrets[VERSION])
        app.register()
        user = app.person()

        def at_openid(token):
            return site.call(
                "POST", metadata["token_endpoint"], authorization=basic(VERSION),
                form={"grant_type": "refresh_token", "refresh_token": token})

        def at_device(token):
            return site.call(
                "POST", app.token_url, {"grant_type": "refresh_token", "refresh_token": token})

        status, told = at_openid(user.answer["refresh_token"])
        self.assertEqual((status, told["error"]), (400, "invalid_grant"))
        self.assertEqual(user.call("GET", site.url + "/user-profile")[0], 200, "it kept its key")
        self.assertEqual(at_device(user.answer["refresh_token"])[0], 200)
        phone = Phone().sign_in()
        self.assertEqual(at_device(phone.tokens["refresh_token"])[0], 403)
        status, told = at_openid(phone.tokens["refresh_token"])
        self.assertEqual((status, told["token_type"]), (200, "Bearer"))

    def test_edu_15_a_services_tokens_are_refreshed_where_they_were_given_alone(self):
        app = App(site, VERSION, secrets[VERSION])
        app.register()
        app.person()
        endpoint = site.url + f"/services/{SERVICE}/token"

        def at_openid(token):
            return site.call(
                "POST", metadata["token_endpoint"], authorization=basic(SERVICE),
                form={"grant_type": "refresh_token", "refresh_token": token})

        def at_service(token):
            return site.call(
                "POST", endpoint, {"grant_type": "refresh_token", "refresh_token": token})

        # The app shows the assertion, and its requests are signed by the token.
        key = app.join(PLACE)
        status, told = at_openid(key.answer["refresh_token"])
        self.assertEqual((status, told.get("error")), (400, "invalid_grant"), told)
        self.assertEqual(app.authorize_app(scope="email")[0], 200, "it kept its key")
        status, signing = at_service(key.answer["refresh_token"])
        self.assertEqual((status, signing["token_type"]), (200, "mac"))
        # The service shows it, and has bearer tokens that its secret guards.
        status, bearer = redeem(SERVICE, app.assertion_for(PLACE)["code"])
        self.assertEqual((status, bearer["token_type"]), (200, "Bearer"), bearer)
        self.assertEqual(at_service(bearer["refresh_token"])[0], 403)
        status, told = at_openid(bearer["refresh_token"])
        self.assertEqual((status, told["token_type"]), (200, "Bearer"))
        # A used one is reuse, wherever it is shown.
        _, other = at_service(signing["refresh_token"])
        self.assertEqual(at_openid(key.answer["refresh_token"])[0], 400)
        self.assertEqual(at_service(other["refresh_token"])[0], 403)

    def test_edu_15_a_used_first_assertion_costs_no_comparison(self):
        kept = LIMITS["federation-login"]
        admin("PATCH", "/settings", {"rate_limits": {
            **LIMITS, "federation-login": {**kept, "target": {"amount": 3, "seconds": 3600}}}})
        try:
            phone = Phone()
            used = phone.sign(phone.first())
            self.assertEqual(redeem(VERSION, used)[0], 200)
            for _ in range(5):
                self.refused(redeem(VERSION, used))
            # None of its person's attempts is gone.
            self.assertEqual(redeem(VERSION, phone.sign(phone.first(jti="2")))[0], 200)
        finally:
            admin("PATCH", "/settings", {"rate_limits": LIMITS})

    def test_edu_15_the_old_spelling_of_the_grant_and_times_as_texts_are_taken(self):
        phone, now = Phone(), int(time.time())
        assertion = phone.sign(phone.first(iat=str(now - 30), exp=str(now + 3 * 365 * 86_400)))
        status, told = redeem(VERSION, assertion, grant=OLD_JWT_BEARER)
        self.assertEqual(status, 200, told)
        # A far end makes nothing last longer than half an hour.
        old = phone.sign(phone.first(iat=str(now - 1810), exp=str(now + 3 * 365 * 86_400)))
        self.refused(redeem(VERSION, old))

    def test_edu_15_an_assertion_is_encrypted_to_the_realm_in_both_ways(self):
        for algorithm in ("RSA-OAEP-256", "ECDH-ES"):
            phone = Phone()
            signed = phone.sign(phone.first())
            text = encrypted(signed, algorithm)
            status, told = redeem(VERSION, text)
            self.assertEqual(status, 200, (algorithm, told))
            # Encrypted anew, or not at all, it is the same assertion.
            for again in (text, encrypted(signed, algorithm), signed):
                self.refused(redeem(VERSION, again))

    def test_edu_15_encrypted_to_another_key_or_in_another_way_it_is_refused(self):
        from jwcrypto import jwk
        phone = Phone()
        [ours] = [k for k in get("/.well-known/jwks")["keys"] if k.get("alg") == "RSA-OAEP-256"]
        stranger = jwk.JWK.generate(kty="RSA", size=2048)
        text = phone.sign(phone.first())
        good = encrypted(text, "RSA-OAEP-256")
        head, key, nonce, body, tag = good.split(".")
        for case, bad in {
                "stranger's key": encrypted(text, "RSA-OAEP-256", stranger),
                "stranger's key under our name": encrypted(
                    text, "RSA-OAEP-256", stranger, kid=ours["kid"]),
                "RSA-OAEP": encrypted(text, "RSA-OAEP", jwk.JWK(
                    kty="RSA", n=ours["n"], e=ours["e"]), kid=ours["kid"]),
                "A128GCM": encrypted(text, "RSA-OAEP-256", enc="A128GCM"),
                "A256CBC-HS512": encrypted(text, "RSA-OAEP-256", enc="A256CBC-HS512"),
                "another tag": ".".join([head, key, nonce, body, "A" * len(tag)]),
                "not signed": encrypted(json.dumps(phone.first()), "RSA-OAEP-256"),
                "six parts": good + ".x"}.items():
            self.refused(redeem(VERSION, bad), case)
        self.assertEqual(redeem(VERSION, good)[0], 200)

    def test_edu_15_what_is_wrong_with_the_first_assertion_is_refused_alike(self):
        phone, other, now = Phone(), Phone(), int(time.time())
        private = json.loads(phone.key.export_private())
        for case, assertion in {
                "passphrase": phone.sign(phone.first(x_crd="not the right one")),
                "no passphrase": phone.sign(phone.first(x_crd=None)),
                "a token instead": phone.sign(phone.first(x_crd=None, x_jwt="a.b.c")),
                "unknown person": phone.sign(phone.first(sub="nobody@example.org")),
                "issuer": phone.sign(phone.first(iss="other")),
                "audience": phone.sign(phone.first(aud="https://other.example")),
                "audiences": phone.sign(phone.first(aud=[metadata["issuer"], "https://o.example"])),
                "no device": phone.sign(phone.first(azp=None)),
                "no iat": phone.sign(phone.first(iat=None)),
                "future": phone.sign(phone.first(iat=now + 120, exp=now + 300)),
                "over": phone.sign(phone.first(iat=now - 60, exp=now - 1)),
                "not yet": phone.sign(phone.first(nbf=now + 120)),
                "no time": phone.sign(phone.first(nbf="soon")),
                "old without end": phone.sign(phone.first(iat=now - 1810, exp=None)),
                "signed by another": phone.sign(phone.first(), key=other.key),
                "no kid": phone.sign(phone.first(), kid=""),
                "kid of another": phone.sign(phone.first(), kid=other.kid),
                "both": phone.sign(phone.first(cnf={"jwk": phone.public, "kid": phone.kid})),
                "neither": phone.sign(phone.first(cnf={})),
                "no cnf": phone.sign(phone.first(cnf=None)),
                "private key": phone.sign(phone.first(cnf={"jwk": private}))}.items():
            self.refused(redeem(VERSION, assertion), case)
        self.refused(redeem(VERSION, phone.sign(phone.first()), scope="email"), "scope")
        # A service must not see a passphrase, and is no app.
        self.refused(redeem(SERVICE, phone.sign(phone.first())), "service")
        self.assertEqual(redeem(VERSION, phone.sign(phone.first()))[0], 200)

    def test_edu_15_an_assertion_is_good_once_of_fifty(self):
        phone = Phone()
        text = phone.sign(phone.first())
        statuses = [status for status, _ in together(50, lambda _: redeem(VERSION, text))]
        self.assertEqual(statuses.count(200), 1, statuses)
        self.refused(redeem(VERSION, text))

    def test_edu_15_a_device_signs_in_anew_by_its_key_and_no_other_key_takes_its_name(self):
        phone = Phone().sign_in()
        thief = Phone()
        thief.device, thief.kid = phone.device, phone.kid
        thief.public["kid"] = phone.kid
        self.refused(redeem(VERSION, thief.sign(thief.first())))
        before = phone.tokens["access_token"]
        phone.sign_in()
        info = metadata["userinfo_endpoint"]
        self.assertEqual(site.call("GET", info, authorization="Bearer " + before)[0], 401)
        self.assertEqual(site.call(
            "GET", info, authorization="Bearer " + phone.tokens["access_token"])[0], 200)


class Services(Cases):
    @classmethod
    def setUpClass(cls):
        cls.phone = Phone().sign_in()

    def test_edu_15_a_service_forwards_what_the_key_signed(self):
        phone = self.phone
        subject = claims_of(phone.tokens["id_token"])["sub"]
        for claims in ({}, {"sub": subject}, {"x_jwt": phone.tokens["access_token"]}):
            status, told = phone.join(**claims)
            self.assertEqual(status, 200, (claims, told))
            shown = claims_of(told["id_token"])
            self.assertEqual(shown["aud"], SERVICE)
            self.assertIn("at_hash", shown)
            self.assertNotIn("cnf", shown)
        status, told = redeem(SERVICE, encrypted(phone.sign(phone.later()), "ECDH-ES"))
        self.assertEqual(status, 200, told)

    def test_edu_15_what_is_wrong_with_a_later_assertion_is_refused_alike(self):
        phone, other, now = self.phone, Phone().sign_in(), int(time.time())
        for case, assertion in {
                "issuer": phone.sign(phone.later(iss=other.device)),
                "subject": phone.sign(phone.later(sub="eve@example.org")),
                "no subject": phone.sign(phone.later(sub=None)),
                "place": phone.sign(phone.later(azp="https://elsewhere.example")),
                "no place": phone.sign(phone.later(azp=None)),
                "audience": phone.sign(phone.later(aud="https://other.example")),
                "future": phone.sign(phone.later(iat=now + 120)),
                "old": phone.sign(phone.later(iat=now - 1810)),
                "over": phone.sign(phone.later(iat=now - 60, exp=now - 1)),
                "not yet": phone.sign(phone.later(nbf=now + 120)),
                "unknown key": phone.sign(phone.later(cnf={"kid": "unknown"}), kid="unknown"),
                "other kid": phone.sign(phone.later(), kid=other.kid),
                "signed by another": phone.sign(phone.later(), key=other.key),
                "passphrase": phone.sign(
                    phone.later(x_crd=site.values["URD_FEDERATION_PASSPHRASE"])),
                "token of another": phone.sign(phone.later(x_jwt=other.tokens["access_token"])),
                "no token": phone.sign(phone.later(x_jwt="a.b.c"))}.items():
            self.refused(redeem(SERVICE, assertion), case)
        self.refused(redeem(SERVICE, phone.sign(phone.later()), scope="email"), "scope")
        self.refused(redeem("elsewhere", phone.sign(phone.later())), "service")
        self.refused(redeem(VERSION, phone.sign(phone.later())), "app")

    def test_edu_15_a_later_assertion_is_good_once_of_fifty(self):
        text = self.phone.sign(self.phone.later())
        statuses = [status for status, _ in together(50, lambda _: redeem(SERVICE, text))]
        self.assertEqual(statuses.count(200), 1, statuses)

    def test_edu_15_what_ends_the_app_ends_what_came_of_its_key(self):
        phone = Phone().sign_in()
        status, told = phone.join()
        self.assertEqual(status, 200, told)
        info, bearer = metadata["userinfo_endpoint"], "Bearer " + told["access_token"]
        self.assertEqual(site.call("GET", info, authorization=bearer)[0], 200)
        status, _ = site.call(
            "POST", metadata["revocation_endpoint"], authorization=basic(VERSION),
            form={"token": phone.tokens["refresh_token"]})
        self.assertEqual(status, 200)
        self.assertEqual(site.call("GET", info, authorization=bearer)[0], 401)
        status, _ = site.call(
            "POST", metadata["token_endpoint"], authorization=basic(SERVICE),
            form={"grant_type": "refresh_token", "refresh_token": told["refresh_token"]})
        self.assertEqual(status, 400)
        self.refused(phone.join())

    def test_edu_15_the_keys_to_encrypt_to_are_rotated_and_the_old_one_opens_yet(self):
        phone = Phone()
        before = encrypted(phone.sign(phone.first()), "ECDH-ES")
        for _ in range(2):
            admin("POST", "/signing-keys/rotate", {"algorithm": "ECDH-ES"})
        [now] = [k for k in get("/.well-known/jwks")["keys"] if k.get("alg") == "ECDH-ES"]
        self.assertNotIn(now["kid"], before)
        self.assertEqual(redeem(VERSION, before)[0], 200)
        phone = Phone()
        self.assertEqual(
            redeem(VERSION, encrypted(phone.sign(phone.first()), "ECDH-ES"))[0], 200)

    def test_keys_and_passphrases_of_assertions_are_readable_nowhere_at_rest(self):
        rows = urd.sql("select string_agg(e::text, ' ') from urd.event e")
        self.assertNotIn(site.values["URD_FEDERATION_PASSPHRASE"], rows)
        secret = urd.sql(
            "select count(*) from urd.event where type = 'signing_key.published'"
            " and data::text like '%OAEP%' and data::text like '%secret%'")
        self.assertEqual(secret, "0")


class Mails(Cases):
    def test_edu_10_a_person_is_mailed_about_a_device_once_and_not_about_the_demos_passphrase(self):
        person = site.values["URD_FEDERATION_USER"]
        # Mails leave out names with as many digits as a code has.
        letters = str.maketrans("0123456789", "ghijklmnop")
        name = "Phone " + uuid.uuid4().hex[:6].translate(letters)
        app = App(site, name=name)
        app.register(), app.person()
        eventually(lambda: self.about(person, name), "the mail comes")
        app.person()
        Phone().sign_in()
        before = len(inbox(urd, person))
        other = App(site, name=name + " two")
        other.register(), other.person()
        eventually(lambda: self.about(person, name + " two"), "the next mail comes")
        self.assertEqual(len(self.about(person, name)) - len(self.about(person, name + " two")), 1)
        self.assertGreaterEqual(len(inbox(urd, person)), before)
        for letter in inbox(urd, person):
            self.assertNotIn("assphrase was", json.dumps(letter))
        told = urd.sql(
            "select count(*) from urd.event where realm = 'federation'"
            " and type = 'passphrase.set' and data::jsonb ? 'mail'")
        self.assertEqual(told, "0")

    @staticmethod
    def about(person, name):
        return [letter for letter in inbox(urd, person) if name in json.dumps(letter)]


class AccountPage(Cases):
    def test_devices_stand_on_the_account_page_and_are_signed_out_there_by_their_person_alone(self):
        name = "Tablet " + uuid.uuid4().hex[:6]
        app = App(site, name=name)
        app.register(), app.person()
        browser = SignedIn(site.values["URD_FEDERATION_USER"])
        page = browser.call("GET", "/account/sessions")
        self.assertIn(f"Sign out: {name}", page.text)
        device = re.search(
            rf'name="device" value="([0-9a-f-]{{36}})"><button[^>]*Sign out: {name}', page.text)[1]
        other = f"{uuid.uuid4().hex[:12]}@example.org"
        admin("POST", "/accounts", {"email": other, "confirmed": True})
        stranger = SignedIn(other)
        theirs = stranger.call("GET", "/account/sessions")
        self.assertNotIn(name, theirs.text)
        refused = stranger.post(theirs, "/account/devices/sign-out", device=device)
        self.assertEqual(refused.status, 404, refused.text)
        self.assertEqual(app.user.call("GET", site.url + "/user-profile")[0], 200)
        done = browser.post(page, "/account/devices/sign-out", device=device)
        self.assertEqual(done.status, 303, done.text)
        self.assertEqual(app.user.call("GET", site.url + "/user-profile")[0], 403)
        self.assertNotIn(name, browser.call("GET", "/account/sessions").text)


class SignedIn(Browser):
    """A browser of a person, on the pages of the realm."""

    def __init__(self, email):
        super().__init__(site.url)
        self.address, self.origin = ("127.0.0.1", site.port), origin()
        page = self.call("GET", "/login?next=%2Faccount%2Fsessions")
        before = len(inbox(urd, email))
        sent = self.post(page, "/login", email=email, by="code")
        assert sent.status == 303, sent.text
        page = self.call("GET", sent.location)
        answer = self.post(page, sent.location, email=email, code=code(urd, email, before))
        assert answer.status == 303, answer.text

    def call(self, method, path, form=None, **headers):
        return super().call(method, path, form, Host=site.base.netloc, **headers)


if MISSING:
    SignIn = Mails = Services = AccountPage = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
