"""What somebody typed or was sent stands nowhere: in no table, no line of a log, and no open data of
an event, whatever happened."""

import base64
import hmac
import http.client
import re
import struct
import subprocess
import time
import unittest
import urllib.parse
import uuid

from phone import Phone, another, code, inbox, mail
from urd_process import PATIENCE, Server, Urd


def setUpModule():
    global urd, server, phone
    urd = Urd()
    server = Server(urd.values, URD_LOG_LEVEL="debug").ready()
    phone = Phone(urd)


def tearDownModule():
    server.close()
    urd.close()


class Secrets:
    """Values that stand nowhere else in the world."""

    def __init__(self):
        self.known = {}

    def add(self, what, value):
        self.known[what] = value
        return value

    def new(self, what, form="{}"):
        return self.add(what, form.format("canary" + uuid.uuid4().hex[:16]))

    def found(self, text):
        """Those that a text holds, as they are or in hex."""
        return [
            what for what, value in self.known.items()
            if value in text or value.encode().hex() in text
        ]


def dump():
    return subprocess.run(
        ["pg_dump", "--dbname", urd.superuser()], capture_output=True, text=True, check=True,
        timeout=PATIENCE).stdout


class NothingIsReadable(unittest.TestCase):
    def test_no_personal_data_is_stored_readable_from_joining_to_erasure(self):
        secrets = Secrets()
        email = secrets.new("mail address", "{}@example.org")
        # Its own part too: a digest or another spelling of the whole would hide it.
        secrets.add("local part", email.split("@")[0])
        first = secrets.new("first name")
        last = secrets.new("last name")
        agent = secrets.new("user agent", "Shop ({}; iPhone)")
        moved = secrets.new("second mail address", "{}@example.net")

        def tokens(what, answer):
            status, body, _ = answer
            self.assertEqual(status, 200, body)
            for name in ("access_token", "refresh_token", "id_token"):
                if body.get(name):
                    secrets.add(f"{what} {name}", body[name])
            return body

        headers = {"User_Agent": agent}
        status, _, _ = phone.call(
            "POST", "/api/account/native/otp/request",
            {"Email": email, "FirstName": first, "LastName": last}, **headers)
        self.assertEqual(status, 200)
        mailed = code(urd, email)
        form = {"grant_type": "urn:cocoar:otp", "client_id": phone.client, "username": email,
                "scope": "openid profile email offline_access"}
        status, _, _ = phone.call(
            "POST", "/connect/token", form={**form, "otp_code": another(mailed)}, **headers)
        self.assertEqual(status, 400)
        signed_in = tokens("first", phone.call(
            "POST", "/connect/token", form={**form, "otp_code": mailed}, **headers))
        refreshed = tokens("second", phone.refresh(signed_in["refresh_token"]))
        tokens("repeated", phone.refresh(signed_in["refresh_token"]))
        status, who, _ = phone.call(
            "GET", "/connect/userinfo", token=refreshed["access_token"], **headers)
        self.assertEqual((status, who["given_name"]), (200, first))
        self.on_pages(secrets, email, agent)
        link = self.magic_link(secrets, email)
        self.assertTrue(link)
        self.second_factor(secrets, refreshed["access_token"])
        account = f"{urd.realm}/accounts/{who['sub']}"
        for method, path, body in [
            ("GET", account + "?open=true", None),
            ("GET", account + "/login-history?open=true&open_reason=Incident", None),
            ("PATCH", account, {"email": moved, "first_name": first + "x"}),
            ("POST", account + "/disable", None), ("POST", account + "/enable", None),
        ]:
            status, answer, _ = urd.api.call(method, path, body)
            self.assertEqual(status, 200, answer)
        client = urd.api.call("POST", urd.clients, {
            "client_name": "Canary", "redirect_uris": ["https://shop.example/back"],
            "contacts": [secrets.new("contact", "{}@example.com")]})[1]
        secrets.add("client secret", client["client_secret"])
        key = urd.api.call("POST", "/api/admin/keys", {"name": "canary"})[1]["key"]
        secrets.add("admin key", key)
        self.assertTrue(
            any(agent == item.get("user_agent") for item in urd.api.call(
                "GET", account + "/login-history?open=true&open_reason=Incident"
                f"&min_position={urd.head()}")[1]["items"]),
            "nothing was sealed that could be found")

        self.nowhere(secrets, "before the erasure")
        status, answer, _ = urd.api.call("POST", account + "/erase")
        self.assertEqual(status, 200, answer)
        self.nowhere(secrets, "after the erasure")
        self.unreadable(secrets, who["sub"])

    def on_pages(self, secrets, email, agent):
        """What a browser holds and what is typed there."""
        settings = f"{urd.realm}/settings"
        self.assertEqual(urd.api.call("PATCH", settings, {"login_passphrase": True})[0], 200)
        cookies, page, led = {}, "", ""
        place = urllib.parse.urlsplit(urd.values["URD_APP_URL"])

        def send(method, path, **fields):
            nonlocal page, led
            if method == "POST":
                fields["form"] = re.search(r'name="form" value="([^"]+)"', page)[1]
                secrets.add(f"form token of {path}", fields["form"])
            connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=PATIENCE)
            connection.request(
                method, path, urllib.parse.urlencode(fields), {
                    "Host": place.netloc, "User-Agent": agent,
                    "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
                    **({"Content-Type": "application/x-www-form-urlencoded"} if fields else {})})
            answer = connection.getresponse()
            page, led = answer.read().decode(), answer.headers.get("Location")
            for line in answer.headers.get_all("Set-Cookie") or []:
                name, value = line.split(";")[0].split("=", 1)
                cookies[name] = secrets.add(f"cookie {name}", value)
            connection.close()
            return answer.status

        before = len(inbox(urd, email))
        self.assertEqual(send("GET", "/login"), 200)
        self.assertEqual(send("POST", "/login", email=email, by="email_code"), 303)
        self.assertEqual(send("GET", led), 200)
        self.assertEqual(
            send("POST", "/login/code", email=email, code=code(urd, email, before)), 303)
        chosen = secrets.new("passphrase", "seven purple otters {}")
        self.assertEqual(send("GET", "/account/security"), 200)
        self.assertEqual(send("POST", "/account/passphrase", passphrase=chosen), 303)
        cookies.clear()
        self.assertEqual(send("GET", "/login"), 200)
        wrong = secrets.new("wrong passphrase", "eight purple otters {}")
        for words, status in [(wrong, 400), (chosen, 303)]:
            self.assertEqual(
                send("POST", "/login", email=email, by="passphrase", passphrase=words), status)
            self.assertFalse(words in page)
        self.assertEqual(send("GET", "/account/data.json"), 200)
        self.assertNotIn("scrypt", page)

    def magic_link(self, secrets, email):
        """The token of a link, where the realm mails links."""
        before = len(inbox(urd, email))
        status, _, _ = phone.call("POST", "/api/account/magic-link/request", {"Email": email})
        if status != 200:
            return True
        token = r"token=([^&\s]+)"
        text = mail(urd, email, before, token)["text"]
        return secrets.add("link token", re.search(token, text)[1])

    def second_factor(self, secrets, token):
        """The secret of an authenticator app, and what is written down for want of one."""
        status, offered, _ = phone.call("POST", "/connect/totp/enroll/begin", token=token)
        self.assertEqual(status, 200, offered)
        text = secrets.add("shared secret", offered["Secret"])
        key = base64.b32decode(text)
        secrets.add("shared secret in base 64", base64.b64encode(key).decode().rstrip("="))
        secrets.add("shared secret in hex", key.hex())
        tag = hmac.digest(key, struct.pack(">Q", int(time.time()) // 30), "sha1")
        start = tag[-1] & 15
        number = struct.unpack(">I", tag[start:start + 4])[0] & 0x7FFFFFFF
        status, body, _ = phone.call(
            "POST", "/connect/totp/enroll", {"Code": f"{number % 1_000_000:06}"}, token=token)
        self.assertEqual(status, 200, body)
        for number, code_ in enumerate(body["RecoveryCodes"]):
            secrets.add(f"recovery code {number}", code_)
            secrets.add(f"recovery code {number} in one piece", code_.replace("-", ""))

    def nowhere(self, secrets, when):
        text = dump()
        self.assertIn("COPY urd.event", text)
        self.assertIn("COPY urd.login_history_", text)
        self.assertEqual(secrets.found(text), [], f"in a table, {when}")
        for name, log in [("serve", server.text()), ("dev", urd.run.text())]:
            log = "\n".join(
                line for line in log.splitlines() if "URD_" not in line and "curl" not in line)
            self.assertEqual(secrets.found(log), [], f"in the log of {name}, {when}")
        for path in ("/metrics", "/health/ready"):
            self.assertEqual(secrets.found(urd.private(path)[1]), [], f"in {path}, {when}")

    def unreadable(self, secrets, account):
        """With every key in hand there is nothing left of the person."""
        status, answer, _ = urd.api.call(
            "GET", f"{urd.realm}/accounts/{account}/login-history?open=true&open_reason=Incident")
        self.assertEqual(status, 200)
        self.assertGreater(len(answer["items"]), 0, "what happened stays")
        self.assertEqual(secrets.found(str(answer)), [])
        shown = urd.command("events", "tail", "--realm", "demo", "--from", "1", "--open", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("account.erased", shown.stdout)
        self.assertIn("contact", secrets.found(shown.stdout), "nothing is opened at all")
        self.assertEqual(secrets.found(shown.stdout), ["contact"])


if __name__ == "__main__":
    unittest.main()
