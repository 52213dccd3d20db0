"""Relying parties that others wrote and that know nothing of Urd but its issuer. Each goes the whole way:
discovery, registration where it can, the pages, a code, tokens, the person, a refresh, a logout.

- Authlib in a small web application;
- idpyoidc, which registers itself;
- requests-oauthlib, with PyJWT for ID tokens;
- mod_auth_openidc in an Apache, which OpenID certified as a relying party.
"""

import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request
import wsgiref.simple_server

import pinned
from token_tool import missing, rerun

pinned.use()
MISSING = missing("authlib", "requests_oauthlib", "jwt", "idpyoidc", "cryptojwt", "responses")
if not MISSING:
    # The server listens to this machine alone, without TLS.
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    import jwt
    from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
    from authlib.jose import JsonWebKey, JsonWebToken
    from authlib.oidc.core import CodeIDToken
    from cryptojwt.key_jar import build_keyjar
    from idpyoidc.client.exception import OidcServiceError
    from idpyoidc.client.oidc.registration import Registration
    from idpyoidc.client.rp_handler import RPHandler
    from requests_oauthlib import OAuth2Session

from person import Person, fetch
from urd_process import PATIENCE, Urd, eventually, free_port

SCOPE = ["openid", "profile", "email", "offline_access"]


def setUpModule():
    global urd, issuer
    urd = Urd()
    status, answer, _ = urd.api.call("PATCH", f"{urd.realm}/settings", {
        "registration": "jit_on_otp", "otp_resend_delay": 0, "client_registration": "open"})
    assert status == 200, answer
    issuer = f"http://localhost:{urd.values['URD_URL'].rsplit(':', 1)[1].strip('/')}"


def tearDownModule():
    urd.close()


def register(**members):
    status, client, _ = urd.api.call("POST", urd.clients, {
        "client_name": "Northwind", "grant_types": ["authorization_code", "refresh_token"],
        **members})
    assert status == 201, client
    return client["client_id"], client["client_secret"]


def discovery():
    return fetch(f"{issuer}/.well-known/openid-configuration")


class Site:
    """A web application of somebody else's, over WSGI, with one session."""

    def __init__(self, application):
        class Quiet(wsgiref.simple_server.WSGIRequestHandler):
            def log_message(self, *_):
                pass

        self.server = wsgiref.simple_server.make_server(
            "127.0.0.1", 0, application, handler_class=Quiet)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Shop:
    """A shop that signs people in with Authlib."""

    def __init__(self):
        self.site = Site(self.answer)
        self.id, secret = register(
            redirect_uris=[f"{self.site.url}/back"],
            post_logout_redirect_uris=[f"{self.site.url}/bye"])
        self.metadata = discovery()
        self.session = AuthlibSession(
            self.id, secret, scope=SCOPE, redirect_uri=f"{self.site.url}/back",
            code_challenge_method="S256", token_endpoint=self.metadata["token_endpoint"])
        self.sessions = {}

    def close(self):
        self.session.close()
        self.site.close()

    def answer(self, environment, start):
        query = dict(urllib.parse.parse_qsl(environment["QUERY_STRING"]))
        cookie = environment.get("HTTP_COOKIE", "").partition("shop=")[2].split(";")[0]
        try:
            kept = self.sessions.get(cookie, {})
            status, headers, body = {
                "/": self.home, "/login": self.login, "/back": self.back, "/again": self.again,
                "/logout": self.logout, "/bye": self.bye,
            }[environment["PATH_INFO"]](kept, query)
        except Exception as error:  # what went wrong is shown to the test
            status, headers, body = "500 Error", [], repr(error)
        start(status, [("Content-Type", "text/plain"), *headers])
        return [body.encode()]

    def home(self, kept, _):
        return "200 OK", [], json.dumps(kept.get("person"))

    def login(self, _, __):
        name, verifier, nonce = (secrets.token_urlsafe(48) for _ in range(3))
        url, state = self.session.create_authorization_url(
            self.metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce)
        self.sessions[name] = {"state": state, "verifier": verifier, "nonce": nonce}
        return "302 Found", [
            ("Location", url), ("Set-Cookie", f"shop={name}; Path=/; HttpOnly")], ""

    def back(self, kept, query):
        if "error" in query:
            return "403 Forbidden", [], query["error"]
        assert query["iss"] == self.metadata["issuer"], "mix-up"
        tokens = self.session.fetch_token(
            self.metadata["token_endpoint"], state=kept["state"],
            authorization_response=f"{self.site.url}/back?{urllib.parse.urlencode(query)}",
            code_verifier=kept["verifier"])
        keys = JsonWebKey.import_key_set(fetch(self.metadata["jwks_uri"]))
        claims = JsonWebToken(["RS256"]).decode(
            tokens["id_token"], keys, claims_cls=CodeIDToken,
            claims_options={"iss": {"essential": True, "value": self.metadata["issuer"]},
                            "aud": {"essential": True, "value": self.id}},
            claims_params={"nonce": kept["nonce"], "client_id": self.id,
                           "access_token": tokens["access_token"]})
        claims.validate()
        person = self.session.get(self.metadata["userinfo_endpoint"]).json()
        assert person["sub"] == claims["sub"]
        kept.update(tokens=tokens, person=person)
        return "302 Found", [("Location", "/")], ""

    def again(self, kept, _):
        fresh = self.session.refresh_token(
            self.metadata["token_endpoint"], refresh_token=kept["tokens"]["refresh_token"])
        assert fresh["access_token"] != kept["tokens"]["access_token"]
        kept["tokens"] = {**kept["tokens"], **fresh}
        return "200 OK", [], self.session.get(self.metadata["userinfo_endpoint"]).text

    def logout(self, kept, _):
        return "302 Found", [("Location", self.metadata["end_session_endpoint"] + "?" + (
            urllib.parse.urlencode({
                "id_token_hint": kept["tokens"]["id_token"], "state": "done",
                "post_logout_redirect_uri": f"{self.site.url}/bye"})))], ""

    def bye(self, kept, query):
        kept.pop("person", None)
        answer = self.session.get(self.metadata["userinfo_endpoint"])
        return "200 OK", [], f"bye {query['state']} {answer.status_code}"


class Authlib(unittest.TestCase):
    def test_authlib_signs_people_in_to_a_web_application(self):
        shop, person = Shop(), Person(urd, issuer)
        self.addCleanup(shop.close)
        status, _, page = person.visit(f"{shop.site.url}/login")
        self.assertEqual(status, 200, page)
        known = json.loads(page)
        self.assertEqual((known["email"], known["email_verified"]), (person.email, True))
        status, _, page = person.visit(f"{shop.site.url}/again")
        self.assertEqual((status, json.loads(page)["sub"]), (200, known["sub"]), page)
        status, _, page = person.visit(f"{shop.site.url}/logout")
        self.assertEqual((status, page), (200, "bye done 401"))
        self.assertEqual(person.visit(f"{shop.site.url}/")[2], "null")

    def test_authlib_is_told_of_a_refusal(self):
        shop, person = Shop(), Person(urd, issuer)
        self.addCleanup(shop.close)
        status, _, page = person.visit(f"{shop.site.url}/login", allows=False)
        self.assertEqual((status, page), (403, "access_denied"))


class Registering(object if MISSING else Registration):
    """The library derives its grants from the response types, and so never asks for refreshes; nor does
    it say where people may come back to after a logout."""

    def oidc_post_construct(self, request_args=None, **more):
        request_args = super().oidc_post_construct(request_args, **more)
        request_args["grant_types"] = [*request_args["grant_types"], "refresh_token"]
        request_args["post_logout_redirect_uris"] = [Idpyoidc.BYE]
        return request_args


class Idpyoidc(unittest.TestCase):
    BACK, BYE = "http://127.0.0.1:53535/back", "http://127.0.0.1:53535/bye"

    def test_idpyoidc_registers_itself_and_signs_people_in(self):
        handler = RPHandler(
            base_url="http://127.0.0.1:53535",
            keyjar=build_keyjar([{"type": "EC", "crv": "P-256", "use": ["sig"]}]),
            services={
                name: {"class": f"idpyoidc.client.{place}"} for name, place in {
                    "discovery": "oidc.provider_info_discovery.ProviderInfoDiscovery",
                    "authorization": "oidc.authorization.Authorization",
                    "access_token": "oidc.access_token.AccessToken",
                    "refresh_access_token": "oidc.refresh_access_token.RefreshAccessToken",
                    "userinfo": "oidc.userinfo.UserInfo",
                    "end_session": "oidc.end_session.EndSession"}.items()
            } | {"registration": {"class": Registering}},
            client_configs={issuer: {
                "issuer": issuer, "client_type": "oidc", "redirect_uris": [self.BACK],
                "client_authn_methods": ["client_secret_basic", "bearer_header"],
                "preference": {
                    "client_name": "Northwind", "response_types": ["code"],
                    "grant_types": ["authorization_code", "refresh_token"],
                    "token_endpoint_auth_method": "client_secret_basic",
                    "id_token_signing_alg_values_supported": ["ES256"],
                    "scopes_supported": SCOPE},
                "add_ons": {"pkce": {
                    "function": "idpyoidc.client.oauth2.add_on.pkce.add_support",
                    "kwargs": {"code_challenge_length": 64, "code_challenge_method": "S256"}}}}})
        person = Person(urd, issuer)
        place, past = person.go(handler.begin(issuer, req_args={"scope": SCOPE}))
        self.assertEqual(past, ["/login", "/login/code", "/consent"])
        client = handler.issuer2rp[issuer]
        registered = client.get_context().registration_response
        self.assertEqual(registered["redirect_uris"], [self.BACK])
        self.assertEqual(urd.sql(
            "select count(*) from urd.event where realm = 'demo' and type = 'client.registered' "
            "and data::text like '%127.0.0.1:53535/%'"), "1")
        answer = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))
        done = handler.finalize(issuer, answer)
        self.assertNotIn("error", done, done)
        self.assertEqual(done["userinfo"]["email"], person.email)
        self.assertEqual(done["id_token"]["sub"], done["userinfo"]["sub"])
        self.assertEqual(done["id_token"].jws_header["alg"], "ES256")
        fresh = handler.refresh_access_token(answer["state"])
        self.assertNotEqual(fresh["access_token"], done["token"])
        again = handler.get_user_info(answer["state"], access_token=fresh["access_token"])
        self.assertEqual(again["sub"], done["userinfo"]["sub"])
        place, _ = person.go(handler.logout(
            answer["state"], post_logout_redirect_uri=self.BYE)["url"])
        self.assertTrue(place.startswith(self.BYE), place)
        with self.assertRaisesRegex(OidcServiceError, "^invalid_token$"):
            handler.get_user_info(answer["state"], access_token=fresh["access_token"])


class RequestsOAuthlib(unittest.TestCase):
    BACK = "http://127.0.0.1:53535/back"

    def test_requests_oauthlib_signs_people_in(self):
        metadata, person = discovery(), Person(urd, issuer)
        name, secret = register(redirect_uris=["http://127.0.0.1/back"])
        nonce = secrets.token_urlsafe(20)
        with OAuth2Session(name, scope=SCOPE, redirect_uri=self.BACK) as session:
            url, _ = session.authorization_url(metadata["authorization_endpoint"], nonce=nonce)
            place, _ = person.go(url)
            tokens = session.fetch_token(
                metadata["token_endpoint"], authorization_response=place, client_secret=secret)
            key = jwt.PyJWKClient(metadata["jwks_uri"]).get_signing_key_from_jwt(
                tokens["id_token"])
            claims = jwt.decode(
                tokens["id_token"], key.key, algorithms=["RS256"], audience=name,
                issuer=metadata["issuer"],
                options={"require": ["iss", "aud", "sub", "exp", "iat", "nonce", "auth_time"]})
            self.assertEqual(claims["nonce"], nonce)
            known = session.get(metadata["userinfo_endpoint"]).json()
            self.assertEqual((known["sub"], known["email"]), (claims["sub"], person.email))
            fresh = session.refresh_token(metadata["token_endpoint"], auth=(name, secret))
            self.assertNotEqual(fresh["access_token"], tokens["access_token"])
            self.assertEqual(session.get(metadata["userinfo_endpoint"]).status_code, 200)
            person.go(metadata["end_session_endpoint"] + "?" + urllib.parse.urlencode(
                {"id_token_hint": tokens["id_token"]}))
            self.assertEqual(session.get(metadata["userinfo_endpoint"]).status_code, 401)


class Apache:
    """A web server whose pages are for whoever signed in."""

    MODULES = ("mpm_event", "authz_core", "authn_core", "authz_user", "dir", "auth_openidc")

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="urd-apache-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.url = f"http://127.0.0.1:{free_port()}"
        self.id, secret = register(
            redirect_uris=[f"{self.url}/oidc/back"],
            post_logout_redirect_uris=[f"{self.url}/open/"],
            backchannel_logout_uri=f"{self.url}/oidc/back?logout=backchannel")
        for name in ("pages", "pages/mine", "pages/open"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        for name, text in (("mine", "for you"), ("open", "for all")):
            pathlib.Path(self.folder, "pages", name, "index.html").write_text(text)
        modules = "\n".join(
            f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so"
            for name in self.MODULES)
        configuration = os.path.join(self.folder, "httpd.conf")
        pathlib.Path(configuration).write_text(f"""{modules}
ServerRoot {self.folder}
ServerName 127.0.0.1
Listen {self.url.removeprefix('http://')}
PidFile {self.folder}/pid
ErrorLog {self.folder}/log
DefaultRuntimeDir {self.folder}
Mutex file:{self.folder}
{os.geteuid() == 0 and '''User nobody
Group nogroup''' or ''}
DocumentRoot {self.folder}/pages
DirectoryIndex index.html
OIDCProviderMetadataURL {issuer}/.well-known/openid-configuration
OIDCClientID {self.id}
OIDCClientSecret {secret}
OIDCRedirectURI {self.url}/oidc/back
OIDCCryptoPassphrase {secrets.token_urlsafe(32)}
OIDCScope "openid profile email offline_access"
OIDCPKCEMethod S256
OIDCInfoHook userinfo id_token access_token refresh_token
OIDCRefreshAccessTokenBeforeExpiry 100000
OIDCRemoteUserClaim sub
<Location "/mine">
    AuthType openid-connect
    Require valid-user
</Location>
<Location "/oidc">
    AuthType openid-connect
    Require valid-user
</Location>
<Location "/open">
    Require all granted
</Location>
""")
        program = shutil.which("apache2", path=os.environ["PATH"] + ":/usr/sbin")
        assert program, "there is no Apache: deploy/install-packages.sh test"
        self.process = subprocess.Popen(
            [program, "-X", "-f", configuration], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        eventually(self.answers, "the Apache answers")

    def answers(self):
        assert self.process.poll() is None, self.log()
        try:
            with urllib.request.urlopen(f"{self.url}/open/", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def log(self):
        try:
            return pathlib.Path(self.folder, "log").read_text()
        except OSError:
            return "no log"

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


class ModAuthOpenIDC(unittest.TestCase):
    def test_mod_auth_openidc_signs_people_in_to_a_web_server(self):
        apache, person = Apache(), Person(urd, issuer)
        self.addCleanup(apache.close)
        status, place, page = person.visit(f"{apache.url}/mine/")
        self.assertEqual((status, place, page), (200, f"{apache.url}/mine/", "for you"),
                         apache.log())
        status, _, page = person.visit(f"{apache.url}/oidc/back?info=json")
        known = json.loads(page)
        self.assertEqual(known["userinfo"]["email"], person.email)
        self.assertEqual(known["id_token"]["sub"], known["userinfo"]["sub"])
        self.assertEqual(known["id_token"]["aud"], apache.id)
        # It renews the tokens whenever somebody asks.
        status, _, page = person.visit(
            f"{apache.url}/oidc/back?info=json&access_token_refresh_interval=0")
        self.assertEqual(json.loads(page)["userinfo"]["sub"], known["userinfo"]["sub"])
        # Signed out there, signed out here.
        status, place, page = person.visit(
            f"{apache.url}/oidc/back?logout=" + urllib.parse.quote(f"{apache.url}/open/", safe=""))
        self.assertEqual((status, page), (200, "for all"), apache.log())
        self.assertEqual(person.call("GET", "/account")[1].partition("?")[0], "/login")
        status, place, _ = person.call("GET", f"{apache.url}/mine/")
        self.assertEqual((status, place.partition("?")[0]),
                         (302, discovery()["authorization_endpoint"]))

    def test_mod_auth_openidc_signs_people_out_who_log_out_at_the_realm(self):
        """It has offline access, which goes on; whom it shows its pages to does not."""
        apache, person = Apache(), Person(urd, issuer)
        self.addCleanup(apache.close)
        status, _, page = person.visit(f"{apache.url}/mine/")
        self.assertEqual((status, page), (200, "for you"), apache.log())
        person.go(f"{issuer}/logout")
        eventually(
            lambda: person.call("GET", f"{apache.url}/mine/")[0] == 302, "the Apache is told")

    def test_mod_auth_openidc_shows_nothing_after_a_refused_consent(self):
        apache, person = Apache(), Person(urd, issuer)
        self.addCleanup(apache.close)
        _, place, page = person.visit(f"{apache.url}/mine/", allows=False)
        self.assertNotIn("for you", page)
        self.assertTrue(place.startswith(f"{apache.url}/oidc/back?error=access_denied&"), place)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
