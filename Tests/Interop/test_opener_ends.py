"""What the flagship app's web view let in ends with the phone, and its client hears of that at its logout address."""

import base64
import hashlib
import http.server
import json
import secrets
import threading
import unittest
import urllib.parse

from flagship_client import App, AppleDevice, Authorization, WebView, url64
from urd_process import Urd, eventually

PASSWORD = "seven purple otters dance"
REALM = "/api/admin/realms/flagship"
BACK = "http://127.0.0.1:53535/back"


def setUpModule():
    global urd, desk
    urd = Urd()
    admin("PATCH", REALM + "/settings", {"rate_limits": {
        "installation": {"target": None}, "owner-sign-in": {"target": None}}})
    desk = App(urd.values, "Desk")
    desk.register()
    assert desk.certify_by_apple(AppleDevice(urd.values))[0] == 204
    assert desk.onboard(PASSWORD)[0] == 200


def tearDownModule():
    urd.close()


def admin(method, path, body=None):
    status, answer, _ = urd.api.call(method, path, body)
    assert status < 300, (method, path, status, answer)
    return answer


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class Inbox:
    """Where a client hears of logouts: of whose sessions. It is not there the first time."""

    def __init__(self):
        told = self.told = []
        answers = [503]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                code = answers.pop() if answers else 200
                if code == 200:
                    told.append(claims(urllib.parse.parse_qs(body)["logout_token"][0])["sid"])
                self.send_response(code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/out"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class OpenerEnds(unittest.TestCase):
    def setUp(self):
        self.heard = Inbox()
        self.addCleanup(self.heard.close)
        self.client = admin("POST", REALM + "/clients", {
            "client_id": "c" + secrets.token_hex(5), "token_endpoint_auth_method": "none",
            "application_type": "native", "consent": "none", "redirect_uris": ["http://127.0.0.1/back"],
            "grant_types": ["authorization_code", "refresh_token"], "scope": "openid offline_access",
            "backchannel_logout_uri": self.heard.url})["client_id"]

    def phone(self, name):
        app = App(urd.values, name)
        app.register()
        self.assertEqual(app.certify_by_google()[0], 204)
        self.assertEqual(app.login(PASSWORD)[0], 200)
        return app

    def view(self, app):
        """A web view that the app's token signs in."""
        view = WebView(app)
        code = app.session_code()[1]["session_code"]
        self.assertEqual(view.ask("GET", Authorization(app).path + "&session_code=" + code)[0], 303)
        return view

    def let_in(self, view):
        """The name of the session that the client got in that web view."""
        verifier = url64(secrets.token_bytes(32))
        status, place = view.ask("GET", "/connect/authorize?" + urllib.parse.urlencode({
            "response_type": "code", "client_id": self.client, "redirect_uri": BACK,
            "scope": "openid offline_access", "code_challenge_method": "S256",
            "code_challenge": url64(hashlib.sha256(verifier.encode()).digest())}))
        self.assertEqual(status, 303, place)
        code = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))["code"]
        status, tokens, _ = view.app.call("POST", "/connect/token", form={
            "grant_type": "authorization_code", "client_id": self.client, "code": code,
            "redirect_uri": BACK, "code_verifier": verifier})
        self.assertEqual(status, 200, tokens)
        return claims(tokens["id_token"])["sid"]

    def hears(self, *sessions):
        eventually(lambda: len(self.heard.told) >= len(sessions), "that the client is told")
        self.assertEqual(sorted(self.heard.told), sorted(sessions))

    def test_a_client_hears_of_sessions_whose_phone_was_revoked(self):
        gone, kept = self.phone("Gone"), self.phone("Kept")
        sessions = [self.let_in(self.view(gone)) for _ in range(3)]
        stays = self.let_in(self.view(kept))
        status, _, _ = desk.call("DELETE", f"/settings/clients/{gone.id}", bearer=desk.access)
        self.assertEqual(status, 204)
        self.hears(*sessions)
        # Of one that ends later it hears later, and of none twice.
        status, _, _ = desk.call("DELETE", f"/settings/clients/{kept.id}", bearer=desk.access)
        self.assertEqual(status, 204)
        self.hears(*sessions, stays)

    def test_a_client_hears_of_a_session_whose_phone_was_signed_out(self):
        phone = self.phone("Signed out")
        session = self.let_in(self.view(phone))
        name = urd.sql(
            "select terms ->> 'opener_session' from urd.sessions where realm = 'flagship' "
            f"and session = '{session}'")
        owner = urd.sql(
            f"select account from urd.sessions where realm = 'flagship' and session = '{session}'")
        admin("DELETE", f"{REALM}/accounts/{owner}/sessions/{name}")
        self.hears(session)


if __name__ == "__main__":
    unittest.main()
