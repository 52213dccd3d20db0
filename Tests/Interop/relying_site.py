"""The site of a client, with a server of its own: it keeps what browsers bring back to it, and redeems
codes as a client with a secret does."""

import base64
import hashlib
import html
import http.server
import json
import secrets
import threading
import urllib.error
import urllib.parse
import urllib.request


class RelyingSite:
    """One client at one address."""

    def __init__(self, urd, metadata, **members):
        brought = self.brought = []
        # Where it leads on to from where it is answered, if anywhere.
        self.onward = None
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                place = urllib.parse.urlsplit(self.path)
                self.answer(place.path, place.query)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.answer(self.path, body)

            def answer(self, path, text):
                members = urllib.parse.parse_qsl(text, keep_blank_values=True)
                if path in ("/back", "/bye"):
                    brought.append((self.command, path, dict(members), self.headers))
                    if site.onward:
                        self.send_response(303)
                        self.send_header("Location", site.onward)
                        self.send_header("Content-Length", "0")
                        self.end_headers()
                        return
                shown = html.escape(json.dumps(members))
                page = f"<!doctype html><title>Client</title><p>{self.command} {path} {shown}"
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(page.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.back, self.bye = f"{self.url}/back", f"{self.url}/bye"
        self.metadata = metadata
        status, client, _ = urd.api.call("POST", urd.clients, {
            "client_name": "Contoso Travel", "grant_types": ["authorization_code", "refresh_token"],
            "redirect_uris": [self.back], "post_logout_redirect_uris": [self.bye],
            "client_uri": "https://contoso.example", "policy_uri": "https://contoso.example/privacy",
            "tos_uri": "https://contoso.example/terms", **members})
        assert status == 201, client
        self.id, self.secret = client["client_id"], client.get("client_secret")

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def begin(self, **members):
        """The address that a browser is sent to."""
        self.state, self.nonce = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        self.verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(
            hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        members = {
            "response_type": "code", "client_id": self.id, "redirect_uri": self.back,
            "scope": "openid profile email offline_access", "state": self.state,
            "nonce": self.nonce, "code_challenge": challenge, "code_challenge_method": "S256",
            **members}
        return self.metadata["authorization_endpoint"] + "?" + urllib.parse.urlencode(
            {name: value for name, value in members.items() if value is not None})

    def answer(self, method="GET"):
        """What the browser brought last, if it is the answer to what was begun last."""
        came, path, members, _ = self.brought[-1]
        assert (came, path, members["state"], members["iss"]) == (
            method, "/back", self.state, self.metadata["issuer"]), self.brought
        return members

    def post(self, **form):
        """The answer of the token endpoint to the client."""
        request = urllib.request.Request(
            self.metadata["token_endpoint"], urllib.parse.urlencode(form).encode())
        if self.secret:
            request.add_header("Authorization", "Basic " + base64.b64encode(
                f"{self.id}:{self.secret}".encode()).decode())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.load(refusal)

    def redeem(self, code, **more):
        return self.post(**{
            "grant_type": "authorization_code", "code": code, "redirect_uri": self.back,
            "code_verifier": self.verifier, **more})

    def tokens(self, method="GET"):
        status, tokens = self.redeem(self.answer(method)["code"])
        assert status == 200, tokens
        return tokens


def claims(token):
    """What a token says. Who signed it others look at."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
