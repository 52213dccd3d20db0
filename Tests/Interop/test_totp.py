"""An authenticator app that others wrote, and links, against a running server: over a socket, with
mails that come by themselves."""

import base64
import http.client
import re
import sys
import time
import unittest
import urllib.parse
import uuid

from token_tool import missing, rerun

MISSING = missing("pyotp", "zbar")
if not MISSING:
    import pyotp

    from phone import Phone, code, inbox, mail
    from test_codes import png_pixels, read
    from urd_process import Urd, together

BEGIN, ENROLL = "/connect/totp/enroll/begin", "/connect/totp/enroll"
TOTP, RECOVERY = "/connect/totp", "/connect/totp/recovery-codes"
REQUIRED = "Two-factor authentication is required; supply totp_code."
INVALID = "The two-factor code is invalid."
LINKED = "If your email is registered, you will receive a login link."


def setUpModule():
    global urd, phone
    urd = Urd(lawful=True)
    phone = Phone(urd)


def tearDownModule():
    urd.close()


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def moment():
    """Now, and not so late in a period that the next one begins while somebody types."""
    now = time.time()
    while now % 30 > 20:
        time.sleep(30.1 - now % 30)
        now = time.time()
    return int(now)


def description(answer):
    return answer[0], answer[1].get("error_description")


def sign_in(email, **members):
    before = len(inbox(urd, email))
    phone.request_code(email)
    return phone.redeem(email, code(urd, email, before), **members)


def link(email, **members):
    """The query of a link that was mailed."""
    before = len(inbox(urd, email))
    answer = phone.call("POST", "/api/account/magic-link/request", {"Email": email, **members})
    assert answer[:2] == (200, {"Message": LINKED}), answer
    found = r"http\S+/magic-login\?\S+"
    text = mail(urd, email, before, found)["text"]
    address = urllib.parse.urlsplit(re.search(found, text)[0])
    return address, dict(urllib.parse.parse_qsl(address.query, strict_parsing=True))


def open_link(query, **members):
    return phone.token(
        "urn:cocoar:magic", user_id=query["userId"], magic_token=query["token"],
        scope="openid", **members)


def picture(token):
    """The bytes of the QR code: they are no text."""
    connection = http.client.HTTPConnection(*phone.address)
    connection.request(
        "GET", "/connect/totp/enroll/qr.png",
        headers={"Host": phone.host, "Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "image/png")
    return data


def enroll(token, email):
    """An app that has read the picture, and recovery codes. Its code of now is still good."""
    before = len(inbox(urd, email))
    status, begun, _ = phone.call("POST", BEGIN, token=token)
    assert status == 200, begun
    uri = read(*png_pixels(picture(token)))
    assert uri == begun["OtpAuthUri"]
    app = pyotp.parse_uri(uri)
    assert app.secret == begun["Secret"]
    status, done, _ = phone.call("POST", ENROLL, {"Code": app.at(moment() - 30)}, token=token)
    assert status == 200, done
    mail(urd, email, before)  # its owner hears of it
    return app, done["RecoveryCodes"]


class AnAuthenticatorApp(unittest.TestCase):
    def test_MOD_07_a_second_factor_is_asked_for_after_a_code(self):
        email = somebody()
        token = phone.sign_in(email)["access_token"]
        app, recovery = enroll(token, email)
        self.assertEqual(app.name, email)
        self.assertEqual(len(set(recovery)), 10)
        before = len(inbox(urd, email))
        phone.request_code(email)
        mailed = code(urd, email, before)
        self.assertEqual(description(phone.redeem(email, mailed)), (400, REQUIRED))
        self.assertEqual(
            description(phone.redeem(email, mailed, totp_code="0000-0000-0000")), (400, INVALID))
        now = moment()
        typed = f"{app.at(now)[:3]} {app.at(now)[3:]}"
        status, tokens, _ = phone.redeem(email, mailed, totp_code=typed)
        self.assertEqual(status, 200, tokens)
        # A period's code is good once, whatever it is shown with.
        address, query = link(email)
        self.assertEqual(description(open_link(query, totp_code=typed)), (400, INVALID))
        token = tokens["access_token"]
        before = len(inbox(urd, email))
        status, _, _ = phone.call("DELETE", TOTP, {"Code": app.at(now + 30)}, token=token)
        self.assertEqual(status, 204)
        mail(urd, email, before)
        self.assertEqual(phone.call("GET", TOTP, token=token)[1]["Enabled"], False)
        self.assertEqual(sign_in(email)[0], 200)

    def test_recovery_codes_are_accepted_once_each_and_stored_nowhere(self):
        email = somebody()
        app, recovery = enroll(phone.sign_in(email)["access_token"], email)
        status, tokens, _ = sign_in(email, totp_code=recovery[0].lower())
        self.assertEqual(status, 200, tokens)
        self.assertEqual(
            description(sign_in(email, totp_code=recovery[0])), (400, INVALID))
        token = tokens["access_token"]
        self.assertEqual(phone.call("GET", TOTP, token=token)[1]["RecoveryCodesLeft"], 9)
        status, renewed, _ = phone.call("POST", RECOVERY, {"Code": app.at(moment())}, token=token)
        self.assertEqual(status, 200, renewed)
        self.assertFalse(set(renewed["RecoveryCodes"]) & set(recovery))
        secret = base64.b32decode(app.secret)
        kept = urd.sql("select data::text || encode(coalesce(sealed, ''), 'escape') from urd.event")
        for plain in [app.secret, base64.urlsafe_b64encode(secret).decode().rstrip("="),
                      *recovery, *renewed["RecoveryCodes"]]:
            self.assertNotIn(plain, kept)
            self.assertNotIn(plain.replace("-", ""), kept)

    def test_an_administrator_resets_a_lost_second_factor(self):
        email = somebody()
        token = phone.sign_in(email)["access_token"]
        enroll(token, email)
        account = phone.call("GET", "/connect/userinfo", token=token)[1]["sub"]
        before = len(inbox(urd, email))
        status, _, _ = urd.api.call(
            "POST", f"{urd.realm}/accounts/{account}/reset-two-factor")
        self.assertEqual(status, 200)
        mail(urd, email, before)
        self.assertEqual(sign_in(email)[0], 200)

    def test_a_second_factors_code_used_many_times_at_once_is_accepted_once(self):
        email = somebody()
        token = phone.sign_in(email)["access_token"]
        app, _ = enroll(token, email)
        typed = {"Code": app.at(moment())}
        answers = together(10, lambda _: phone.call("POST", RECOVERY, typed, token=token)[0])
        self.assertEqual(sorted(answers), [200] + [400] * 9, answers)


class MailedLinks(unittest.TestCase):
    def test_MOD_05_a_mailed_link_signs_in_once(self):
        email = somebody()
        before = len(inbox(urd, email))
        phone.call("POST", "/api/account/magic-link/request", {"Email": email})
        phone.sign_in(email)
        self.assertEqual(len(inbox(urd, email)), before + 1, "a link went to a stranger")
        address, query = link(email, ReturnUrl="/basket?a=b")
        self.assertEqual(address.netloc.split(":")[0], "demo.localhost")
        self.assertEqual(query["redirect"], "/basket?a=b")
        answers = together(20, lambda _: open_link(query)[0])
        self.assertEqual(sorted(answers), [200] + [400] * 19, answers)
        self.assertEqual(description(open_link(query)), (400, "Invalid or expired link."))


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
