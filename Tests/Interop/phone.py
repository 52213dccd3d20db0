"""An app on a phone as Urd sees it: it knows a host, a client id and what people type."""

import http.client
import json
import re
import time
import urllib.parse
import urllib.request

from urd_process import PATIENCE

SCOPE = "openid profile email offline_access"


class Phone:
    """One app at one host of a realm. No cookie, no browser."""

    def __init__(self, urd, host="demo.localhost", client="demo-native", url=None, secret=None):
        place = urllib.parse.urlsplit(url or urd.values["URD_URL"])
        self.urd = urd
        self.address = (place.hostname, place.port)
        self.host = f"{host}:{place.port}"
        self.client = client
        self.secret = secret

    def call(self, method, path, body=None, form=None, token=None, **headers):
        """The status, the body as JSON where it is, and the headers."""
        sent = {"Host": self.host}
        if body is not None:
            body, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        if form is not None:
            body = urllib.parse.urlencode(form, doseq=True).encode()
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        if token:
            sent["Authorization"] = f"Bearer {token}"
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        assert answer.headers["Set-Cookie"] is None, "a native route set a cookie"
        try:
            return answer.status, json.loads(data) if data else None, answer.headers
        except ValueError:
            return answer.status, data.decode(), answer.headers

    def request_code(self, email, path="/api/account/native/otp/request", **names):
        return self.call("POST", path, {"Email": email, **names})

    def token(self, grant, **members):
        form = {"grant_type": grant, "client_id": self.client, **members}
        if self.secret:
            form["client_secret"] = self.secret
        return self.call("POST", "/connect/token", form=form)

    def redeem(self, email, code, scope=SCOPE, **members):
        return self.token(
            "urn:cocoar:otp", username=email, otp_code=code, scope=scope, **members)

    def refresh(self, token, **members):
        return self.token("refresh_token", refresh_token=token, **members)

    def sign_in(self, email, scope=SCOPE, **members):
        """The tokens of somebody who reads their mail."""
        before = len(inbox(self.urd, email))
        status, body, _ = self.request_code(email)
        assert status == 200, body
        status, tokens, _ = self.redeem(email, code(self.urd, email, before), scope, **members)
        assert status == 200, tokens
        return tokens


def inbox(urd, email):
    query = urllib.parse.urlencode({"to": email.strip().lower()})
    with urllib.request.urlopen(f"{urd.values['URD_INBOX_URL']}?{query}") as answer:
        return json.load(answer)


def mail(urd, email, before=0, says="", patience=PATIENCE):
    """The newest mail that says this, of those that came since there were so many. Notices of what somebody did
    come when they can, and so between others."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        mails = inbox(urd, email)
        for each in mails[:max(0, len(mails) - before)]:
            if re.search(says, each["text"]):
                return each
        time.sleep(0.01)
    raise AssertionError(f"no mail came to {email}")


def code(urd, email, before=0):
    digits = r"\b\d{6}\b"
    return re.search(digits, mail(urd, email, before, digits)["text"])[0]


def another(code):
    """A code that this one is not."""
    return f"{(int(code) + 1) % 1_000_000:06}"
