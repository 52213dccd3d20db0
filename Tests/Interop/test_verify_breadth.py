"""COT-16, devices and PINs: what people sign in with in a tenant's app beside codes and passkeys."""

import base64
import json
import secrets
import time
import unittest
import uuid

from phone import code, inbox, mail
from token_tool import missing, rerun
from urd_process import Urd, eventually, together
from verify_client import App, Browser, address

MISSING = missing("jose", "fido2", "cryptography")
if not MISSING:
    from cryptography.hazmat.primitives.asymmetric import ed25519
    from jose import jwt
    from verify_devices import Device

TRUSTED, BIOMETRIC = "TRUSTED_DEVICE", "BIOMETRIC"
UNLIMITED = {
    policy: {"source": None, "target": None} for policy in (
        "verify-code", "device-code", "two-factor", "passphrase", "passkey-begin",
        "email-otp-verify")} | {
    "verify-browser": {"target": None}, "native-otp": {"sign-ups": None},
    "oauth-token": {"source": None}}
CREATE, PENDING = "/api/v0/event/create", "/api/v0/event/create_pending"


def setUpModule():
    global urd, SECRET
    urd = Urd()
    SECRET = {"API_SECRET_KEY": urd.values["URD_VERIFY_API_SECRET_KEY"]}
    # Guesses are counted by the PIN itself here; limits of rates have tests of their own.
    settings(rate_limits=UNLIMITED)


def tearDownModule():
    urd.close()


def settings(**changes):
    status, body, _ = urd.api.call("PATCH", "/api/admin/realms/verify/settings", changes)
    assert status == 200, body


def tenant():
    status, body, _ = urd.api.call(
        "POST", "/api/admin/realms/verify/clients", {"profile": "verify"})
    assert status == 201, body
    return body["client_id"]


def new_pin():
    return "27" + "".join(secrets.choice("0123456789") for _ in range(4))


class Person:
    def __init__(self, key=None):
        self.who, self.app = address(), App(urd, key=key)
        signed_in = self.app.sign_in(self.who)
        self.id, self.tokens = signed_in["user"]["ID"], signed_in["oauth_token"]

    @property
    def bearer(self):
        return {"Authorization": "Bearer " + self.tokens["access_token"]}

    def put(self, body, tokens="", path=None, **headers):
        return self.app.call(
            "PUT", path or f"/api/v0/user/methods?cotter_user_id={self.id}{tokens}", body,
            **(headers or self.bearer))

    def device(self, method=TRUSTED, algorithm="ED25519"):
        device = Device(self.id, self.app.key, algorithm)
        answer = self.put({
            "method": method, "enrolled": True, "code": device.public, "algorithm": algorithm,
            "device_type": "PHONE", "device_name": "Ann's phone"})
        assert answer.status == 200, answer.text
        return device

    def pin(self, pin=None):
        pin = pin or new_pin()
        answer = self.put({"method": "PIN", "enrolled": True, "code": pin})
        assert answer.status == 200, answer.text
        return pin

    def by_pin(self, pin, label="LOGIN", tokens="?oauth_token=true"):
        return self.app.call("POST", CREATE + tokens, {
            "cotter_user_id": self.id, "issuer": self.app.key, "event": label, "method": "PIN",
            "timestamp": str(int(time.time())), "code": pin, "approved": True})

    def create(self, body, tokens="?oauth_token=true", app=None):
        return (app or self.app).call("POST", CREATE + tokens, body)

    def ask(self, at=None, app=None, **more):
        """A request of a device that nobody trusts yet."""
        answer = (app or self.app).call("POST", PENDING, {
            "client_user_id": self.id, "issuer": self.app.key, "event": "LOGIN",
            "method": TRUSTED, "timestamp": str(int(time.time()) if at is None else at), **more})
        assert answer.status == 200, answer.text
        return answer.json

    def get(self, event, tokens="?oauth_token=true", app=None):
        return (app or self.app).call("GET", f"/api/v0/event/get/{event['ID']}{tokens}")

    def respond(self, event, body, app=None):
        return (app or self.app).call("POST", f"/api/v0/event/respond/{event['ID']}", body)

    def enrolled(self, method, key="", **headers):
        path = f"/api/v0/user/enrolled/{self.id}/{method}" + (f"/{key}" if key else "")
        return self.app.call("GET", path, **headers).json["enrolled"]


def disable(person):
    path = f"/api/admin/realms/verify/accounts/{person.id}/disable"
    assert urd.api.call("POST", path)[0] == 200


def sign_out_everywhere(person):
    path = f"/api/admin/realms/verify/accounts/{person.id}/log-out"
    status, body, _ = urd.api.call("POST", path)
    assert status == 200, body


class Refusals(unittest.TestCase):
    def refused(self, answer, status=400):
        self.assertEqual((answer.status, list(answer.json)), (status, ["msg"]), answer.text)


class Devices(Refusals):
    def setUp(self):
        self.person = Person()

    def test_cot_16_keys_of_devices_sign_in_and_tokens_say_by_what(self):
        for method, algorithm in [
                (TRUSTED, "ED25519"), (BIOMETRIC, "ED25519"), (BIOMETRIC, "ECDSA"),
                (TRUSTED, "RSA")]:
            with self.subTest(method=method, algorithm=algorithm):
                device = self.person.device(method, algorithm)
                answer = self.person.create(device.event(method=method))
                self.assertEqual(answer.status, 200, answer.text)
                event = answer.json
                self.assertTrue(event["approved"])
                self.assertEqual((event["event"], event["method"]), ("LOGIN", method))
                self.assertIsInstance(event["ID"], int)
                self.assertLess(event["ID"], 1 << 53)
                self.assertEqual((event["user_id"], event["issuer"]), (
                    self.person.id, self.person.app.key))
                claims = jwt.get_unverified_claims(event["oauth_token"]["access_token"])
                self.assertEqual(claims["authentication_method"], method)
                self.assertEqual(claims["sub"], self.person.id)
                fresh = self.person.app.refresh(event["oauth_token"]["refresh_token"])
                self.assertEqual(fresh.json["auth_method"], method)

    def test_cot_16_an_approved_event_has_the_tenants_signature(self):
        event = self.person.create(self.person.device().event(), "").json
        keys = self.person.app.call("GET", "/api/v0/token/identity_keys").json["keys"]
        key = keys[0]["x"] + "="
        ed25519.Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key)).verify(
            base64.b64decode(event["signature"]),
            (event["client_user_id"] + event["issuer"] + event["event"] + event["timestamp"]
             + event["method"] + "falsetrue").encode())
        self.assertNotIn("oauth_token", event)

    def test_cot_16_a_signature_is_good_once_on_all_fifty_calls(self):
        body = self.person.device().event()
        answers = together(50, lambda _: self.person.create(body).status)
        self.assertEqual(answers.count(200), 1, answers)
        self.assertEqual(set(answers), {200, 400})
        self.refused(self.person.create(body, ""))

    def test_cot_16_a_signature_says_what_it_is_for(self):
        device, other = self.person.device(), self.person.device()
        good = device.event()
        for change in (
                {"event": "LOGIN2"}, {"method": BIOMETRIC}, {"issuer": tenant()},
                {"timestamp": str(int(good["timestamp"]) + 1)}, {"public_key": other.public},
                {"code": other.event()["code"]}, {"code": ""}, {"code": "AAAA"},
                {"client_user_id": Person().id}, {"register_new_device": True,
                "new_device_public_key": other.public}, {"approved": False}):
            answer = self.person.create({**good, **change})
            self.refused(answer)
        self.assertEqual(self.person.create(good).status, 200)

    def test_cot_16_old_signatures_and_clocks_that_are_wrong_are_refused(self):
        device, now = self.person.device(), int(time.time())
        for at in (now - 200, now + 200, now - 86_400):
            self.refused(self.person.create(device.event(at=at)))
        self.assertEqual(self.person.create(device.event(at=now - 100)).status, 200)

    def test_cot_16_only_events_of_logging_in_give_tokens(self):
        device = self.person.device()
        answer = self.person.create(device.event("PAY_5"))
        self.assertEqual(answer.status, 200, answer.text)
        self.assertTrue(answer.json["approved"])
        self.assertNotIn("oauth_token", answer.json)
        self.assertNotIn("oauth_token", self.person.get(answer.json).json)

    def test_cot_16_a_device_of_one_tenant_is_none_of_another(self):
        device = self.person.device()
        other = App(urd, key=tenant())
        foreign = Device(self.person.id, other.key)
        foreign.key, foreign.public = device.key, device.public
        self.refused(self.person.create(foreign.event(), app=other))
        self.assertEqual(self.person.create(device.event()).status, 200)

    def test_cot_16_a_second_device_is_let_in_by_a_trusted_one(self):
        first, second = self.person.device(), Device(self.person.id, self.person.app.key)
        self.refused(self.person.create(second.event()))
        self.assertFalse(self.person.enrolled(TRUSTED, second.path))
        answer = self.person.create(first.event("ENROLL_NEW_TRUSTED_DEVICE", new=second))
        self.assertEqual(answer.status, 200, answer.text)
        # The new device asks with its own key alone.
        self.assertTrue(self.person.enrolled(TRUSTED, second.path))
        self.assertEqual(self.person.create(second.event()).status, 200)
        finger = self.person.device(BIOMETRIC)
        third = Device(self.person.id, self.person.app.key)
        self.refused(self.person.create(
            finger.event("ENROLL_NEW_TRUSTED_DEVICE", method=BIOMETRIC, new=third)))

    def test_cot_16_a_key_that_was_taken_away_signs_nobody_in(self):
        device = self.person.device()
        gone = {"method": TRUSTED, "enrolled": False, "code": device.public}
        self.assertEqual(self.person.put(gone).json["enrolled"], [])
        self.refused(self.person.create(device.event()))
        again = self.person.device()
        taken = self.person.put({**gone, "code": again.public}, **SECRET)
        self.assertEqual(taken.json["enrolled"], [])
        self.refused(self.person.create(again.event()))

    def test_cot_16_keys_of_a_disabled_account_sign_nobody_in(self):
        device, pin = self.person.device(), self.person.pin()
        disable(self.person)
        self.refused(self.person.create(device.event()))
        self.refused(self.person.by_pin(pin))

    def test_cot_16_a_deleted_account_has_no_devices(self):
        device, pin = self.person.device(), self.person.pin()
        path = f"/api/admin/realms/verify/accounts/{self.person.id}"
        asked = self.person.ask()
        for end in (lambda: urd.api.call("DELETE", path),
                    lambda: urd.api.call("POST", path + "/erase")):
            self.assertEqual(end()[0] // 100, 2)
            self.refused(self.person.create(device.event()))
            self.refused(self.person.by_pin(pin))
            self.refused(self.person.respond(asked, device.answer(asked)))
        self.assertFalse(self.person.enrolled(TRUSTED, device.path))

    def test_cot_16_an_account_with_a_second_factor_is_asked_for_it(self):
        settings(sign_in_level="multi")
        self.addCleanup(settings, sign_in_level=None)
        device = self.person.device(BIOMETRIC)
        self.refused(self.person.create(device.event(method=BIOMETRIC)))


class Enrolling(Refusals):
    def setUp(self):
        self.person = Person()

    def test_cot_16_methods_need_the_persons_own_fresh_sign_in(self):
        device = Device(self.person.id, self.person.app.key)
        for body in ({"method": TRUSTED, "code": device.public}, {"method": "PIN", "code": "2748"}):
            for headers in ({"Cookie": ""}, Person().bearer, SECRET, {
                    "Authorization": "Bearer " + self.person.tokens["id_token"]}):
                self.refused(self.person.put(body, **headers), 403)
            other = App(urd, key=tenant())
            answer = other.call(
                "PUT", f"/api/v0/user/{self.person.id}", body, **self.person.bearer)
            self.refused(answer, 403)
        settings(recent_sign_in=1)
        self.addCleanup(settings, recent_sign_in=None)
        time.sleep(2)
        self.refused(self.person.put({"method": TRUSTED, "code": device.public}), 403)

    def test_cot_16_both_addresses_enrol_and_tokens_are_for_no_longer(self):
        device = Device(self.person.id, self.person.app.key)
        answer = self.person.put(
            {"method": TRUSTED, "enrolled": True, "code": device.public}, "&oauth_token=true")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(answer.json["enrolled"], [TRUSTED])
        before = jwt.get_unverified_claims(self.person.tokens["access_token"])
        after = jwt.get_unverified_claims(answer.json["oauth_token"]["access_token"])
        self.assertLessEqual(after["exp"], before["exp"])
        self.assertNotIn("refresh_token", answer.json["oauth_token"])
        path = f"/api/v0/user/{self.person.id}"
        pin = self.person.put({"method": "PIN", "enrolled": True, "code": "482715"}, path=path)
        self.assertEqual(pin.json["enrolled"], ["PIN", TRUSTED])
        signed_in = self.person.app.sign_in(self.person.who)
        self.assertEqual(signed_in["user"]["enrolled"], ["PIN", TRUSTED])

    def test_cot_16_what_is_no_key_and_no_pin_is_refused(self):
        low = base64.b64encode(bytes(32)).decode()
        for key in ("", "AAAA", low, "x" * 44):
            self.refused(self.person.put({"method": TRUSTED, "code": key}))
        for algorithm in ("RSA", "ECDSA"):
            good = Device(self.person.id, self.person.app.key)
            self.refused(self.person.put(
                {"method": TRUSTED, "code": good.public, "algorithm": algorithm}))
        for pin in ("", "123", "1234", "9876", "777777", "12a4", "1" * 13):
            self.refused(self.person.put({"method": "PIN", "code": pin}))
        self.refused(self.person.put({"method": "VOICE", "code": "2748"}))
        device = self.person.device()
        self.refused(self.person.put({"method": TRUSTED, "code": device.public}))

    def test_cot_16_no_more_keys_than_twenty(self):
        for _ in range(20):
            self.person.device()
        extra = Device(self.person.id, self.person.app.key)
        self.refused(self.person.put({"method": TRUSTED, "code": extra.public}))

    def test_cot_16_the_api_key_alone_learns_of_no_method(self):
        device = self.person.device()
        self.assertFalse(self.person.enrolled(TRUSTED))
        self.assertFalse(self.person.enrolled(TRUSTED, **Person().bearer))
        self.assertTrue(self.person.enrolled(TRUSTED, **self.person.bearer))
        self.assertTrue(self.person.enrolled(TRUSTED, **SECRET))
        self.assertTrue(self.person.enrolled(TRUSTED, device.path))
        self.assertFalse(self.person.enrolled(BIOMETRIC, device.path))
        path = f"/api/v0/user/enrolled/any/{self.person.id}/{TRUSTED}"
        self.assertFalse(self.person.app.call("GET", path).json["enrolled"])
        self.assertTrue(self.person.app.call("GET", path, **SECRET).json["enrolled"])
        query = f"/api/v0/user/methods?cotter_user_id={self.person.id}&method={TRUSTED}"
        self.assertTrue(self.person.app.call(
            "GET", query + "&public_key=" + device.path, **SECRET).json["enrolled"])
        self.assertFalse(self.person.app.call(
            "GET", query + "&public_key=AAAA", **SECRET).json["enrolled"])


class PIN(Refusals):
    def setUp(self):
        self.person = Person()
        self.pin = self.person.pin()
        # What tests then ask for comes after it.
        eventually(self.is_told, "the notice comes")

    def is_told(self):
        return any("A PIN was set" in told["subject"] for told in inbox(urd, self.person.who))

    def test_cot_16_a_pin_signs_in_and_says_so(self):
        answer = self.person.by_pin(self.pin)
        self.assertEqual(answer.status, 200, answer.text)
        claims = jwt.get_unverified_claims(answer.json["oauth_token"]["access_token"])
        self.assertEqual(claims["authentication_method"], "PIN")

    def test_cot_16_after_five_wrong_pins_the_right_one_is_refused_too(self):
        for _ in range(4):
            self.refused(self.person.by_pin("000001"))
        self.assertEqual(self.person.by_pin(self.pin).status, 200)
        for _ in range(5):
            self.refused(self.person.by_pin("000001"))
        self.refused(self.person.by_pin(self.pin))
        self.refused(self.person.put(
            {"method": "PIN", "code": new_pin(), "change_code": True, "current_code": self.pin}))

    def test_cot_16_of_fifty_guesses_at_once_five_are_looked_at(self):
        together(50, lambda number: self.person.by_pin("0000" + str(10 + number)).status)
        log = urd.sql(
            "select count(*) from urd.event where type = 'app_method.pin_refused' "
            f"and data ->> 'account' = '{self.person.id}'")
        self.assertEqual(int(str(log).strip()), 5)
        self.refused(self.person.by_pin(self.pin))

    def test_cot_16_a_pin_is_changed_by_who_knows_it(self):
        other = new_pin()
        self.refused(self.person.put({"method": "PIN", "code": other}))
        self.refused(self.person.put(
            {"method": "PIN", "code": other, "change_code": True, "current_code": "000001"}))
        good = self.person.put(
            {"method": "PIN", "code": other, "change_code": True, "current_code": self.pin})
        self.assertEqual(good.status, 200, good.text)
        if other != self.pin:
            self.refused(self.person.by_pin(self.pin))
        self.assertEqual(self.person.by_pin(other).status, 200)
        gone = self.person.put({"method": "PIN", "enrolled": False})
        self.assertEqual(gone.json["enrolled"], [])
        self.refused(self.person.by_pin(other))

    def test_cot_16_a_pin_is_kept_nowhere_readable(self):
        # Within a longer number or name its digits are there by chance.
        found = urd.sql(
            "select count(*) from urd.event where data::text like '%scrypt%' "
            f"or data::text ~ '(^|[^0-9A-Za-z]){self.pin}([^0-9A-Za-z]|$)'")
        self.assertEqual(int(str(found).strip()), 0)

    def reset(self, step, body=None, person=None, **headers):
        return self.person.app.call(
            "POST", f"/api/v0/user/reset/{step}/{person or self.person.id}", body or {}, **headers)

    def test_cot_16_a_locked_pin_is_reset_with_a_mailed_code(self):
        for _ in range(5):
            self.person.by_pin("000001")
        for step, headers in (("start", {}), ("request", SECRET)):
            before, other = len(inbox(urd, self.person.who)), new_pin()
            sent = self.reset(step, **headers)
            self.assertEqual(sent.status, 200, sent.text)
            body = {"reset_code": code(urd, self.person.who, before), "code": other,
                    "challenge_id": sent.json["challenge_id"]}
            self.refused(self.reset("verify", {**body, "reset_code": "000000"}))
            self.refused(self.reset("verify", {**body, "challenge_id": 7}))
            for _ in range(2):
                self.assertEqual(self.reset("verify", body).json, {"success": True})
            self.refused(self.reset("respond", {**body, "code": "1111"}))
            self.assertEqual(self.reset("respond", body).json, {"success": True})
            self.refused(self.reset("respond", body))
            self.assertEqual(self.person.by_pin(other).status, 200)
        self.refused(self.reset("request"), 403)

    def test_cot_16_a_reset_hides_behind_limits_of_messages_whose_number_it_is(self):
        app, who = App(urd), f"+4178{secrets.randbelow(10 ** 7):07}"
        known = app.sign_in(who, "PHONE")["user"]["ID"]
        settings(rate_limits={**UNLIMITED, "phone-code": {
            "source": None, "target": {"amount": 1, "seconds": 300}}})
        try:
            sent = len(inbox(urd, who))
            for person in (known, str(uuid.uuid4())):
                answers = {self.reset("start", person=person).status for _ in range(3)}
                self.assertEqual(answers, {200}, person)
            self.assertLessEqual(len(inbox(urd, who)), sent + 1)
        finally:
            settings(rate_limits=UNLIMITED)

    def test_cot_16_a_reset_code_says_what_it_is_for_and_signs_nobody_in(self):
        """The mail says so in both languages, and so does the log."""
        before = len(inbox(urd, self.person.who))
        self.reset("start", {"method": "PIN"})
        sent = mail(urd, self.person.who, before)
        self.assertIn("Reset your PIN", sent["subject"])
        self.assertIn("set a new PIN", sent["text"])
        self.assertNotIn("sign in to", sent["text"])
        purpose = urd.sql(
            "select data ->> 'purpose' from urd.event where type = 'otp.issued' "
            "order by position desc limit 1")
        self.assertEqual(str(purpose).strip(), "pin_reset")
        settings(language="de")
        self.addCleanup(settings, language=None)
        before = len(inbox(urd, self.person.who))
        self.reset("start")
        german = mail(urd, self.person.who, before)
        self.assertIn("PIN für", german["subject"])
        self.assertIn("neue PIN zu setzen", german["text"])
        # Typed where people sign in, in the place of the sign-in code that it ended.
        app, browser = App(urd), Browser(self.person.app.site)
        path = "/app?" + app.query()
        page = browser.call("GET", path)
        asked = browser.post(page, path, input=self.person.who)
        form = browser.call("GET", asked.location)
        before = len(inbox(urd, self.person.who))
        self.reset("start")
        reset = code(urd, self.person.who, before)
        self.assertEqual(browser.post(form, asked.location, code=reset).status, 400)
        # A sign-in code sets no PIN.
        before = len(inbox(urd, self.person.who))
        asked = browser.post(page, path, input=self.person.who)
        digits = code(urd, self.person.who, before)
        self.refused(self.reset("verify", {"reset_code": digits}))
        self.refused(self.reset("respond", {"reset_code": digits, "code": new_pin()}))
        form = browser.call("GET", asked.location)
        self.assertEqual(browser.post(form, asked.location, code=digits).status, 303)

    def test_cot_16_a_reset_code_on_a_phone_says_what_it_is_for(self):
        who = f"+4178{secrets.randbelow(10 ** 7):07}"
        signed_in = self.person.app.sign_in(who, "PHONE", channel="sms")
        for language, words in (("en", "reset your PIN"), ("de", "PIN für")):
            settings(language=language)
            self.addCleanup(settings, language=None)
            before = len(inbox(urd, who))
            self.reset("start", person=signed_in["user"]["ID"])
            self.assertIn(words, mail(urd, who, before)["text"])

    def test_cot_16_a_reset_tells_nothing_of_people_whom_there_are_not(self):
        known = self.reset("start").json
        unknown = self.reset("start", person="0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
        self.assertEqual((unknown.status, unknown.json.keys()), (200, known.keys()))
        self.refused(self.reset(
            "respond", {"reset_code": "123456", "code": "4827"},
            "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"))

    def test_cot_16_reset_codes_are_guessed_at_five_times(self):
        before = len(inbox(urd, self.person.who))
        self.reset("start")
        right = code(urd, self.person.who, before)
        wrong = "000000" if right != "000000" else "000001"
        for _ in range(5):
            self.refused(self.reset("verify", {"reset_code": wrong}))
        self.refused(self.reset("respond", {"reset_code": right, "code": new_pin()}))

    def test_cot_16_the_company_has_no_push_service(self):
        answer = self.person.app.call("GET", "/api/v0/notification/company")
        self.assertEqual((answer.status, answer.json["app_id"]), (200, ""))


class Requests(Refusals):
    def setUp(self):
        self.person = Person()
        self.device = self.person.device()

    def waiting(self, **headers):
        return self.person.app.call(
            "GET", f"/api/v0/event/new/{self.person.id}", **(headers or self.person.bearer))

    def test_cot_16_a_trusted_device_lets_another_one_sign_in_once(self):
        asked = self.person.ask()
        self.assertEqual((asked["new"], asked["approved"]), (True, False))
        self.assertNotIn("oauth_token", self.person.get(asked).json)
        waiting = self.waiting().json
        self.assertEqual(waiting["ID"], asked["ID"])
        self.assertEqual(waiting["ip"], "127.0.0.1")
        answer = self.person.respond(waiting, self.device.answer(waiting))
        self.assertEqual(answer.status, 200, answer.text)
        self.assertTrue(answer.json["approved"])
        self.assertIsNone(self.waiting().json)
        answers = together(50, lambda _: self.person.get(asked))
        self.assertEqual({one.status for one in answers} - {400}, {200})
        tokens = [one.json["oauth_token"] for one in answers if "oauth_token" in one.json]
        self.assertEqual(len(tokens), 1)
        claims = jwt.get_unverified_claims(tokens[0]["access_token"])
        self.assertEqual(claims["authentication_method"], TRUSTED)
        self.assertNotIn("oauth_token", self.person.get(asked).json)

    def test_cot_16_of_fifty_answers_one_counts(self):
        asked = self.person.ask()
        waiting = self.waiting().json
        answers = together(50, lambda number: self.person.respond(
            waiting, self.device.answer(waiting, approved=number % 2 == 0)).status)
        self.assertEqual(answers.count(200), 1, answers)
        kept = urd.sql(
            "select count(*) from urd.event where type = 'approval.answered' "
            f"and data ->> 'account' = '{self.person.id}'")
        self.assertEqual(int(str(kept).strip()), 1)
        self.assertEqual(self.person.get(asked).status, 200)

    def test_cot_16_a_signature_is_good_once_in_all_ways_together(self):
        asked = self.person.ask()
        signed = self.device.answer(asked)
        at = int(asked["timestamp"])
        self.assertEqual(self.person.respond(asked, signed).status, 200)
        self.assertIn("oauth_token", self.person.get(asked).json)
        # The same words ask for the same signature, which is used by now.
        again = self.person.ask(at=at)
        self.refused(self.person.respond(again, signed))
        self.assertNotIn("oauth_token", self.person.get(again).json)
        self.refused(self.person.create(self.device.event(at=at)))
        # The other way round.
        self.assertEqual(self.person.create(self.device.event(at=at - 1)).status, 200)
        third = self.person.ask(at=at - 1)
        self.refused(self.person.respond(third, self.device.answer(third)))
        self.assertNotIn("oauth_token", self.person.get(third).json)
        self.assertEqual(self.person.create(self.device.event(at=at - 2)).status, 200)

    def test_cot_16_of_fifty_ways_to_use_one_signature_at_once_one_counts(self):
        asked = self.person.ask()
        signed, body = self.device.answer(asked), self.device.event(at=int(asked["timestamp"]))
        answers = together(50, lambda number: (
            self.person.respond(asked, signed) if number % 2 else self.person.create(body)).status)
        self.assertEqual(answers.count(200), 1, answers)

    def test_cot_16_a_refused_request_signs_nobody_in(self):
        asked = self.person.ask()
        answer = self.person.respond(asked, self.device.answer(asked, approved=False))
        self.assertEqual((answer.status, answer.json["approved"]), (200, False))
        self.refused(self.person.respond(asked, self.device.answer(asked)))
        shown = self.person.get(asked).json
        self.assertEqual((shown["approved"], shown["new"]), (False, False))
        self.assertNotIn("oauth_token", shown)

    def test_cot_16_only_a_trusted_device_of_that_person_and_tenant_answers(self):
        asked = self.person.ask()
        stranger = Person()
        foreign = stranger.device()
        finger = self.person.device(BIOMETRIC)
        unknown = Device(self.person.id, self.person.app.key)
        for device in (foreign, finger, unknown):
            self.refused(self.person.respond(asked, device.answer(asked)))
        good = self.device.answer(asked)
        self.refused(self.person.respond(asked, {**good, "approved": False}))
        self.refused(self.person.respond(asked, good, app=App(urd, key=tenant())))
        self.refused(self.person.get(asked, app=App(urd, key=tenant())))
        self.assertEqual(self.person.respond(asked, good).status, 200)

    def test_cot_16_a_newer_request_ends_the_one_before(self):
        now = int(time.time())
        first, second = self.person.ask(at=now - 1), self.person.ask(at=now)
        self.assertEqual(self.waiting().json["ID"], second["ID"])
        self.refused(self.person.respond(first, self.device.answer(first)))
        self.assertEqual(self.person.respond(second, self.device.answer(second)).status, 200)

    def test_cot_16_requests_are_shown_to_the_person_and_the_tenants_server(self):
        asked = self.person.ask()
        self.refused(self.waiting(Cookie=""), 403)
        self.refused(self.waiting(**Person().bearer), 403)
        path = f"/api/v0/event/new?cotter_user_id={self.person.id}"
        self.assertEqual(self.person.app.call("GET", path, **SECRET).json["ID"], asked["ID"])

    def test_cot_16_a_request_tells_nothing_of_people_whom_there_are_not(self):
        known = self.person.ask()
        stranger = Person()
        stranger.id = "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"
        unknown = stranger.ask()
        shown = [self.person.get(known).json, stranger.get(unknown).json]
        self.assertEqual(*[{k: v for k, v in one.items()
                            if k not in ("ID", "created_at", "timestamp")} for one in shown])

    def test_cot_16_signing_out_everywhere_ends_what_waits_and_what_was_approved(self):
        asked = self.person.ask()
        sign_out_everywhere(self.person)
        self.refused(self.person.respond(asked, self.device.answer(asked)))
        again = self.person.ask()
        self.assertEqual(self.person.respond(again, self.device.answer(again)).status, 200)
        sign_out_everywhere(self.person)
        self.refused(self.person.get(again))
        # The device stays, as passkeys do. What it signed in the second of the request is used.
        fresh = self.device.event(at=int(again["timestamp"]) - 1)
        self.assertEqual(self.person.create(fresh).status, 200)

    def test_cot_16_what_a_removed_device_approved_signs_nobody_in(self):
        asked = self.person.ask()
        self.assertEqual(self.person.respond(asked, self.device.answer(asked)).status, 200)
        self.person.put({"method": TRUSTED, "enrolled": False, "code": self.device.public})
        self.refused(self.person.get(asked))

    def test_cot_16_history_tells_a_pin_a_device_and_a_code_apart(self):
        pin = self.person.pin()
        asked = self.person.ask()
        for answer, method, outcome in (
                (lambda: self.person.by_pin(pin), "app_pin", "signed_in"),
                (lambda: self.person.by_pin("000001"), "app_pin", "refused"),
                (lambda: self.person.create(self.device.event(at=int(asked["timestamp"]) - 1)),
                 "app_key", "signed_in"),
                (lambda: self.person.create(self.device.event(code="AAAA")), "app_key", "refused"),
                (lambda: self.person.respond(asked, self.device.answer(asked))
                 and self.person.get(asked), "app_key", "signed_in")):
            answer()
            shown = urd.command(
                "history", "user", self.person.who, "--realm", "verify", "--json",
                URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            item = json.loads(shown.stdout)["items"][0]
            self.assertEqual((item["method"], item["outcome"]), (method, outcome), item)
        only = urd.command(
            "history", "list", "--realm", "verify", "--json", "--filter",
            f'method eq "app_pin" and account eq "{self.person.id}"',
            URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
        self.assertEqual(only.returncode, 0, only.stderr)
        self.assertEqual(
            [item["outcome"] for item in json.loads(only.stdout)["items"]],
            ["refused", "signed_in"])
        # Sessions go on as what they are.
        self.assertEqual(self.person.by_pin(pin).json["oauth_token"]["auth_method"], "PIN")

    def test_cot_16_history_names_the_device_that_agreed(self):
        asked = self.person.ask()
        self.person.respond(asked, self.device.answer(asked))
        keys = urd.sql(
            "select distinct data ->> 'key' from urd.event where data ->> 'account' = "
            f"'{self.person.id}' and type in ('app_method.key_enrolled', 'approval.answered')")
        self.assertEqual(len(str(keys).split()), 1)


if MISSING:
    Devices = Enrolling = PIN = Requests = Refusals = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
