"""One realm as the client of another: people sign in to the one by what the other says of them, both over
TLS. The provider is a whole OpenID provider with its own pages, keys and logout, and neither knows of the
other more than what is published."""

import base64
import hashlib
import html
import http.client
import http.server
import json
import os
import re
import secrets
import ssl
import sys
import unittest
import urllib.parse
import uuid

from token_tool import missing, rerun

MISSING = missing("jwt", "authlib", "requests", "cryptography")
if not MISSING:
    from publisher import Publisher

from flagship_client import App
from phone import code, inbox
from urd_process import Urd, eventually

PASSWORD = "seven purple otters dance"
SLUG = "corporate"


class Door(Publisher if not MISSING else object):
    """Stands before a host of Urd, and speaks TLS."""

    def __init__(self, certificate=None):
        self.certificate = certificate
        super().__init__()
        door = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                length = int(self.headers.get("Content-Length") or 0)
                sent = {name: value for name, value in self.headers.items()
                        if name.lower() not in ("host", "connection")}
                connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=30)
                connection.request(self.command, self.path, body=self.rfile.read(length),
                                   headers={**sent, "Host": door.host})
                answer = connection.getresponse()
                body = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "connection", "date", "server"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                connection.close()

            do_GET = do_POST = do_PUT = do_DELETE = pass_on

            def log_message(self, *_):
                pass

        self.server.RequestHandlerClass = Handler
        self.url = f"https://127.0.0.1:{self.server.server_port}"

    def make_certificate(self):
        if self.certificate is None:
            return super().make_certificate()
        self.folder.cleanup()
        self.folder = self.certificate.folder
        self.ca_file = self.certificate.ca_file
        return os.path.join(self.folder.name, "key.pem")


class Visitor:
    """A browser without a screen: it keeps cookies for each site, and fills forms in."""

    def __init__(self, ca_file):
        self.context = ssl.create_default_context(cafile=ca_file)
        self.cookies, self.page, self.place = {}, "", ""

    def ask(self, method, place, form=None):
        url = urllib.parse.urljoin(self.place, place)
        parts = urllib.parse.urlsplit(url)
        jar = self.cookies.setdefault(parts.netloc, {})
        connection = http.client.HTTPSConnection(
            parts.hostname, parts.port, timeout=30, context=self.context)
        headers = {"Accept": "text/html", "Accept-Language": "en",
                   "Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        path = parts.path + ("?" + parts.query if parts.query else "")
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        self.page, self.place = answer.read().decode(), url
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            jar.pop(name, None)
            if "Max-Age=0" not in line:
                jar[name] = value
        connection.close()
        return answer.status, answer.headers.get("Location")

    def follow(self, status, place, most=8):
        """As far as one is sent, and no further than to a page."""
        for _ in range(most):
            if status not in (302, 303):
                return status
            status, place = self.ask("GET", place)
        raise AssertionError(f"nothing but redirects: {place}")

    def hidden(self, *names):
        found = {}
        for name in names:
            match = re.search(f'type="hidden" name="{name}" value="([^"]*)"', self.page)
            if match:
                found[name] = html.unescape(match.group(1))
        return found

    def sign_in(self, email):
        """At the provider's login page, by a mailed code; where that leads."""
        before = len(inbox(urd, email))
        self.follow(*self.ask("POST", "/login", {
            **self.hidden("form", "continue", "next"), "email": email, "by": "email_code"}))
        return self.ask("POST", "/login/code", {
            **self.hidden("form", "continue", "next", "email"),
            "code": code(urd, email, before)})


def setUpModule():
    global urd, provider, client, port
    provider = Door()
    client = Door(provider)
    urd = Urd(lawful=True, URD_OUTGOING_NETWORKS="127.0.0.0/8", URD_OUTGOING_CA_FILE=provider.ca_file)
    port = int(urd.values["URD_URL"].rsplit(":", 1)[1].strip("/"))
    provider.port = client.port = port
    provider.host, client.host = "localhost", urd.values["URD_FLAGSHIP_HOST"]
    for realm, door in ((urd.realm, provider), (FLAGSHIP, client)):
        status, body, _ = urd.api.call("PATCH", f"{realm}/settings", {
            "links_base_url": door.url, "otp_resend_delay": 0})
        assert status == 200, body
    urd.api.call("PATCH", f"{urd.realm}/settings", {"registration": "jit_on_otp"})


FLAGSHIP = "/api/admin/realms/flagship"


def tearDownModule():
    urd.close()
    client.close()
    provider.close()


class Upstream(unittest.TestCase):
    """The tests tell one story, in the order of their names."""

    email = f"{uuid.uuid4().hex[:12]}@example.org"

    def visitor(self):
        return Visitor(provider.ca_file)

    def test_1_a_provider_is_configured(self):
        status, made, _ = urd.api.call("POST", urd.clients, {
            "client_name": "Flagship", "grant_types": ["authorization_code"],
            "redirect_uris": [f"{client.url}/oidc/redirect"], "consent": "none",
            "backchannel_logout_uri": f"{client.url}/oidc/flagship/logout",
            "backchannel_logout_session_required": True})
        self.assertEqual(status, 201, made)
        type(self).made = made
        status, body, _ = urd.api.call("PUT", f"{FLAGSHIP}/providers/{SLUG}", {
            "name": "Corporate account", "issuer": provider.url,
            "client_id": made["client_id"], "client_secret": made["client_secret"],
            "scope": "email"})
        self.assertEqual((status, body["has_secret"]), (200, True), body)
        self.assertNotIn(made["client_secret"], str(body))
        listed = urd.command("provider", "list", "--realm", "flagship", "--json")
        self.assertIn(SLUG, listed.stdout)
        self.assertNotIn(made["client_secret"], listed.stdout)
        app = type(self).app = App(urd.values, "iPhone")
        app.register()
        self.assertEqual(app.certify_by_apple()[0], 204)
        self.assertEqual(app.onboard(PASSWORD)[0], 200)
        self.assertTrue(app.prelogin()[1]["OIDC"])

    def come_back(self, visitor, email):
        status, place = visitor.ask("GET", f"{client.url}/oidc/start?redirect=/account")
        self.assertEqual(status, 303, visitor.page)
        self.assertTrue(place.startswith(f"{provider.url}/connect/authorize?"), place)
        self.assertEqual(visitor.follow(status, place), 200)
        return visitor.follow(*visitor.sign_in(email))

    def test_2_nobody_is_linked_by_a_mail_address(self):
        visitor = self.visitor()
        self.assertEqual(self.come_back(visitor, "owner@flagship.localhost"), 403)
        self.assertIn("Not connected yet", visitor.page)
        self.assertEqual(visitor.ask("GET", f"{client.url}/account")[0], 303)

    def test_3_a_person_linked_by_an_administrator_signs_in(self):
        visitor = type(self).signed_in = self.visitor()
        self.assertEqual(self.come_back(visitor, self.email), 403)
        accounts = urd.api.call("GET", f"{urd.realm}/accounts", Email=self.email)[1]["items"]
        owner = urd.api.call("GET", f"{FLAGSHIP}/owner")[1]["account_id"]
        type(self).subject = accounts[0]["id"]
        status, body, _ = urd.api.call(
            "PUT", f"{FLAGSHIP}/providers/{SLUG}/accounts/{owner}", {"subject": self.subject})
        self.assertEqual(status, 204, body)
        status, place = visitor.ask("GET", f"{client.url}/oidc/start?redirect=/account")
        # He is signed in at the provider still.
        self.assertEqual(visitor.follow(status, place), 200)
        self.assertEqual(visitor.place.split("#")[0], f"{client.url}/account")

    def id_token(self, visitor):
        """As the realm itself would get it; without the browser's last step."""
        verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(
            hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": self.made["client_id"], "scope": "openid",
            "redirect_uri": f"{client.url}/oidc/redirect", "state": "s",
            "code_challenge": challenge, "code_challenge_method": "S256"})
        status, place = visitor.ask("GET", f"{provider.url}/connect/authorize?{query}")
        self.assertEqual(status, 303, visitor.page)
        found = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))
        connection = http.client.HTTPSConnection(
            "127.0.0.1", provider.server.server_port, context=visitor.context)
        connection.request("POST", "/connect/token", urllib.parse.urlencode({
            "grant_type": "authorization_code", "code": found["code"],
            "redirect_uri": f"{client.url}/oidc/redirect", "code_verifier": verifier}),
            {"Content-Type": "application/x-www-form-urlencoded", "Authorization": "Basic "
             + base64.b64encode(
                 f"{self.made['client_id']}:{self.made['client_secret']}".encode()).decode()})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer["id_token"]

    def test_4_a_delegated_code_signs_an_app_in(self):
        token = self.id_token(self.signed_in)
        bent = token[:-8] + ("AAAAAAAA" if token[-8:] != "AAAAAAAA" else "BBBBBBBB")
        path = f"/oidc/flagship/{SLUG}/code"
        self.assertEqual(urd.api.call("POST", path, {"id_token": bent})[0], 400)
        self.assertEqual(urd.api.call("POST", path, {"id_token": token}, key="x")[0], 401)
        status, body, _ = urd.api.call("POST", path, {"id_token": token})
        self.assertEqual((status, body["sub"]), (200, self.subject))
        # The command line asks the provider itself.
        outgoing = {"URD_OUTGOING_NETWORKS": "127.0.0.0/8",
                    "URD_OUTGOING_CA_FILE": provider.ca_file}
        words = ("provider", "code", SLUG, "--realm", "flagship", "--json", "--id-token")
        made = urd.command(*words, token, **outgoing)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(json.loads(made.stdout)["sub"], self.subject)
        self.assertNotEqual(urd.command(*words, bent, **outgoing).returncode, 0)
        app = App(urd.values, "Pixel")
        app.register()
        self.assertEqual(app.certify_by_google()[0], 204)

        def ask(**members):
            return app.call("POST", "/oidc/access_token", app.members(scope="*", **members))

        self.assertEqual(ask(code="x")[:2], (400, {"error": "invalid code"}))
        status, tokens, _ = ask(code=body["delegated_code"])
        self.assertEqual((status, tokens["scope"]), (200, "*"))
        self.assertEqual(
            ask(code=body["delegated_code"])[:2], (400, {"error": "invalid code"}))
        self.assertEqual(ask(id_token=token)[0], 200)
        self.assertEqual(ask(id_token=token)[:2], (400, {"error": "invalid token"}))
        self.assertEqual(
            ask(oidc_token="x")[:2], (400, {"error": "this endpoint is not enabled"}))

    def test_5_a_providers_logout_ends_the_session(self):
        visitor = self.signed_in
        self.assertEqual(visitor.ask("GET", f"{client.url}/account")[0], 200)
        visitor.ask("GET", f"{provider.url}/logout")
        status, _ = visitor.ask("POST", "/logout", visitor.hidden("form"))
        self.assertEqual(status, 303)
        eventually(lambda: visitor.ask("GET", f"{client.url}/account")[0] == 303,
                   "the end of the session")

    def test_6_every_step_is_recorded(self):
        trail = f"{FLAGSHIP}/audit-trail?limit=200&min_position={urd.head('flagship')}"
        happened = {entry["type"] for entry in urd.api.call("GET", trail)[1]["items"]}
        for name in ("provider.configured", "identity.linked", "delegated_code.issued",
                     "delegated_code.used", "upstream_session.ended"):
            self.assertIn(name, happened)
        data = urd.sql("select string_agg(data::text, ' ') from urd.event")
        self.assertNotIn(self.made["client_secret"], data)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
