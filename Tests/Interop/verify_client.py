"""An app of the verify profile and the browser of its person, as the documents of such clients have them."""

import base64
import hashlib
import html
import http.client
import json
import re
import secrets
import urllib.parse
import uuid

from phone import code, inbox
from urd_process import PATIENCE


def address():
    return f"ann-{uuid.uuid4().hex[:10]}@example.org"


def verifier_and_challenge():
    verifier = base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
    return verifier, challenge_of(verifier)


def challenge_of(verifier):
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


class Answer:
    def __init__(self, answer, data):
        self.status, self.headers, self.text = answer.status, answer.headers, data.decode()
        self.location = answer.headers["Location"]

    @property
    def json(self):
        return json.loads(self.text)

    def hidden(self, name):
        return html.unescape(re.search(rf'name="{name}" value="([^"]*)"', self.text)[1])

    def sent(self):
        """The members of the answer at the redirect URL."""
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.location).query))


class Browser:
    """Cookies and forms, as far as these pages need them."""

    def __init__(self, site, port=None):
        place = urllib.parse.urlsplit(site)
        self.address, self.origin = (place.hostname, port or place.port), site
        self.host = place.netloc
        self.cookies = {}
        # An address of this machine that it asks from, as one of another network.
        self.source = None

    def call(self, method, path, form=None, **headers):
        sent = {"Host": self.host}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
            sent.setdefault("Origin", self.origin)
        connection = http.client.HTTPConnection(
            *self.address, timeout=PATIENCE, source_address=self.source and (self.source, 0))
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            answer = Answer(answer, answer.read())
        finally:
            connection.close()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return answer

    def post(self, page, path, **form):
        """A form of a page that was shown."""
        return self.call("POST", path, {"form": page.hidden("form"), **form})


class App:
    """One tenant's app: it asks, and redeems what comes back."""

    def __init__(self, urd, redirect="http://localhost:8395", key=None):
        self.urd, self.redirect = urd, redirect
        self.site = urd.values["URD_VERIFY_URL"]
        self.key = key or urd.values["URD_VERIFY_API_KEY_ID"]
        self.verifier, self.challenge = verifier_and_challenge()
        self.state = secrets.token_hex(5)
        # Of another node, where that is asked.
        self.port = None
        self.source = None

    def query(self, kind="EMAIL", **more):
        members = {
            "api_key": self.key, "redirect_url": self.redirect, "state": self.state,
            "code_challenge": self.challenge, "type": kind, "auth_method": "OTP", **more}
        return urllib.parse.urlencode({k: v for k, v in members.items() if v is not None})

    def ask(self, browser, address, kind="EMAIL", channel=None, **more):
        """The page for the code, and its address, once a code is on its way."""
        path = "/app?" + self.query(kind, **more)
        page = browser.call("GET", path)
        assert page.status == 200, page.text
        form = {"input": address}
        if channel:
            form["channel"] = channel
        sent = browser.post(page, path, **form)
        assert sent.status == 303, sent.text
        return browser.call("GET", sent.location), sent.location

    def walk(self, address, kind="EMAIL", browser=None, channel=None, **more):
        """What comes back to the app from a person who reads their messages."""
        browser = browser or Browser(self.site, self.port)
        before = len(inbox(self.urd, address))
        page, path = self.ask(browser, address, kind, channel, **more)
        answer = browser.post(page, path, code=code(self.urd, address, before))
        assert answer.status == 303, answer.text
        sent = answer.sent()
        assert sent["state"] == self.state
        return sent

    def body(self, sent, **more):
        return {
            "code_verifier": self.verifier, "authorization_code": sent["code"],
            "challenge_id": int(sent["challenge_id"]), "redirect_url": self.redirect, **more}

    def call(self, method, path, body=None, **headers):
        place = urllib.parse.urlsplit(self.site)
        sent = {"Host": place.netloc, "API_KEY_ID": self.key, "Content-Type": "application/json",
                **headers}
        connection = http.client.HTTPConnection(
            place.hostname, self.port or place.port, timeout=PATIENCE,
            source_address=self.source and (self.source, 0))
        try:
            connection.request(
                method, path, body=None if body is None else json.dumps(body),
                headers={name: value for name, value in sent.items() if value is not None})
            answer = connection.getresponse()
            return Answer(answer, answer.read())
        finally:
            connection.close()

    def exchange(self, body, tokens="?oauth_token=true", **headers):
        return self.call("POST", "/api/v0/verify/get_identity" + tokens, body, **headers)

    def sign_in(self, address, kind="EMAIL", **more):
        answer = self.exchange(self.body(self.walk(address, kind, **more)))
        assert answer.status == 200, answer.text
        return answer.json

    def refresh(self, token, path=None, **headers):
        return self.call(
            "POST", path or f"/api/v0/token/{self.key}",
            {"grant_type": "refresh_token", "refresh_token": token}, **headers)
