"""What the clients of the verify profile send, as their published sources have it, where that is not what one would
write oneself: keys in base64 of base64 and with broken lines, secrets that are none, and names of members."""

import base64
import secrets
import unittest
import uuid

from phone import code, inbox, mail
from token_tool import missing, rerun
from verify_client import address

MISSING = missing("jose", "fido2", "cryptography")
if not MISSING:
    import test_verify_breadth as breadth
    from cryptography.hazmat.primitives.asymmetric import ed25519
    from test_verify_breadth import BIOMETRIC, PENDING, TRUSTED, new_pin
    from verify_devices import Device


def setUpModule():
    global urd, SECRET
    breadth.setUpModule()
    urd, SECRET = breadth.urd, breadth.SECRET


def tearDownModule():
    urd.close()


def broken(text, columns):
    """As base64 of mail is."""
    return "".join(text[at:at + columns] + "\n" for at in range(0, len(text), columns))


def twice(text):
    return base64.urlsafe_b64encode(text.encode()).decode()


class Asking(unittest.TestCase if MISSING else breadth.Refusals):
    def setUp(self):
        self.person = breadth.Person()
        self.app = self.person.app

    def put(self, body, status=200):
        answer = self.person.put(body)
        self.assertEqual(answer.status, status, answer.text)
        return answer.json

    def broken_device(self, columns, method="TRUSTED_DEVICE", **more):
        """A device of P-256 whose texts all have broken lines."""
        device = Device(self.person.id, self.app.key, "ECDSA")
        device.public = broken(device.public, columns)
        sign = device.sign
        device.sign = lambda text: broken(sign(text), columns)
        self.put({"method": method, "enrolled": True, "code": device.public, **more})
        return device


class Tokens(Asking):
    def worker(self, token, **headers):
        answer = self.app.call("POST", "/verify", {"oauth_token": {"access_token": token}}, **headers)
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json

    def test_cot_12_the_worker_of_one_tenant_takes_no_token_of_another(self):
        token = self.person.tokens["access_token"]
        for key in (self.app.key, None):
            self.assertEqual(self.worker(token, API_KEY_ID=key), {"success": True})
        for key in (breadth.tenant(), str(uuid.uuid4()), ""):
            self.assertEqual(
                self.worker(token, API_KEY_ID=key),
                {"success": False, "reason": "Error: Invalid JWT token"}, key)

    def test_cot_12_pages_of_every_origin_may_ask_the_worker_with_their_api_key(self):
        asked = self.app.call(
            "OPTIONS", "/verify", Origin="https://www.shop.example", API_KEY_ID=None, **{
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "api_key_id,content-type"})
        self.assertEqual(asked.headers["Access-Control-Allow-Origin"], "*")
        names = asked.headers["Access-Control-Allow-Headers"].split(", ")
        self.assertLessEqual({"API_KEY_ID", "Content-Type"}, set(names))

    def test_cot_10_a_page_that_is_signed_out_may_sign_out_again(self):
        path = f"/api/v0/token/{self.app.key}"
        for _ in range(2):
            gone = self.app.call("DELETE", path, Origin="http://localhost:4321")
            self.assertEqual(gone.status, 200, gone.text)
            self.assertIn("Max-Age=0", gone.headers["Set-Cookie"])
        # What is no token is said so, and what comes from elsewhere ends nothing.
        self.refused(self.app.call(
            "DELETE", path, {"refresh_token": "1:none"}, Origin="http://localhost:4321"))
        self.refused(self.app.call("DELETE", path, Origin="https://evil.example"), 403)
        self.refused(self.app.call("DELETE", path))
        self.assertTrue(self.worker(self.person.tokens["access_token"])["success"])


class Secrets(Asking):
    def test_cot_13_a_secret_that_is_none_makes_an_app_no_server_and_no_liar(self):
        device = self.person.device()
        for secret in ("", self.app.key):
            sent = {"API_SECRET_KEY": secret}
            self.assertTrue(self.person.enrolled(TRUSTED, device.path, **sent))
            self.assertFalse(self.person.enrolled(TRUSTED, **sent))
            self.assertTrue(self.person.enrolled(TRUSTED, **sent, **self.person.bearer))
            nobody = self.app.call("GET", f"/api/v0/user?identifier={self.person.who}", **sent)
            self.assertEqual(nobody.json["ID"], str(uuid.UUID(int=0)))
            self.refused(self.app.call("GET", "/api/v0/user/list", **sent), 403)
        self.refused(self.app.call(
            "GET", f"/api/v0/user?identifier={self.person.who}", API_SECRET_KEY="wrong"), 403)

    def test_cot_13_an_empty_name_of_a_person_is_none(self):
        for headers in ({}, {"API_SECRET_KEY": ""}):
            who = address()
            made = self.app.call(
                "POST", "/api/v0/user/create", {"client_user_id": "", "identifier": who}, **headers)
            self.assertEqual((made.status, made.json.get("identifier")), (200, who), made.text)
            self.assertEqual(made.json["client_user_id"], made.json["ID"])

    def test_cot_13_a_person_is_shown_by_id_to_themselves_and_the_tenants_server(self):
        who, name = address(), "customer-" + secrets.token_hex(4)
        made = self.app.call(
            "POST", "/api/v0/user/create", {"client_user_id": name, "identifiers": [who]}, **SECRET)
        for named in (name, made.json["ID"]):
            shown = self.app.call("GET", f"/api/v0/user/{named}", **SECRET)
            self.assertEqual((shown.status, shown.json), (200, made.json))
        own = self.app.call("GET", f"/api/v0/user/{self.person.id}", **self.person.bearer)
        self.assertEqual((own.json["ID"], own.json["identifier"]), (self.person.id, self.person.who))
        for named, headers in (
                (self.person.id, {}), (made.json["ID"], self.person.bearer), (name, {}),
                (str(uuid.uuid4()), SECRET), ("nobody", SECRET)):
            hidden = self.app.call("GET", f"/api/v0/user/{named}", **headers)
            self.assertEqual((hidden.status, hidden.json["ID"]), (200, str(uuid.UUID(int=0))))


class Keys(Asking):
    def test_cot_16_a_key_is_looked_up_in_base64_of_its_base64(self):
        for device in (self.person.device(), self.person.device(algorithm="ECDSA")):
            named = twice(device.public)
            for path in (named, named.rstrip("="), base64.urlsafe_b64encode(
                    base64.b64decode(device.public)).decode()):
                self.assertTrue(self.person.enrolled(TRUSTED, path), path)
                self.assertFalse(self.person.enrolled(BIOMETRIC, path))
                query = f"cotter_user_id={self.person.id}&method={TRUSTED}&public_key={path}"
                shown = self.app.call("GET", "/api/v0/user/methods?" + query)
                self.assertTrue(shown.json["enrolled"], path)
        other = Device(self.person.id, self.app.key)
        self.assertFalse(self.person.enrolled(TRUSTED, twice(other.public)))
        self.put({"method": TRUSTED, "enrolled": False, "code": twice(device.public)})
        self.assertFalse(self.person.enrolled(TRUSTED, device.path))

    def test_cot_16_keys_and_signatures_may_have_broken_lines(self):
        for columns in (76, 64):
            device = self.broken_device(columns, algorithm="EC")
            self.assertTrue(self.person.enrolled(TRUSTED, twice(device.public)))
            answer = self.person.create(device.event())
            self.assertEqual(answer.status, 200, answer.text)
            self.assertIn("oauth_token", answer.json)
            # A new device's key is signed as it was sent.
            other = Device(self.person.id, self.app.key, "ECDSA")
            other.public = broken(other.public, columns)
            event = device.event("ENROLL_NEW_TRUSTED_DEVICE", new=other)
            answer = self.person.create({**event, "new_device_algorithm": "EC"})
            self.assertEqual(answer.status, 200, answer.text)
            self.assertTrue(self.person.enrolled(TRUSTED, other.path))
            third = Device(self.person.id, self.app.key, "ECDSA")
            event = device.event("ENROLL_NEW_TRUSTED_DEVICE", new=third)
            self.refused(self.person.create(
                {**event, "new_device_public_key": broken(third.public, columns)}))

    def test_cot_16_the_form_of_a_key_tells_its_algorithm_where_none_is_named(self):
        device = self.broken_device(64, BIOMETRIC)
        answer = self.person.create(device.event(method=BIOMETRIC))
        self.assertEqual(answer.status, 200, answer.text)
        again = self.person.put({"method": BIOMETRIC, "enrolled": True, "code": device.public})
        self.refused(again)
        self.assertIn("already enrolled", again.json["msg"])
        for algorithm in ("ED25519", "RSA"):
            other = Device(self.person.id, self.app.key, algorithm)
            self.put({"method": BIOMETRIC, "enrolled": True, "code": other.public, "algorithm": ""})
            answer = self.person.create(other.event(method=BIOMETRIC))
            self.assertEqual(answer.status, 200, answer.text)
        self.refused(self.person.put({
            "method": BIOMETRIC, "enrolled": True, "algorithm": "VOICE",
            "code": Device(self.person.id, self.app.key).public}))


class Events(Asking):
    def waiting(self, path=""):
        answer = self.app.call("GET", "/api/v0/event/new" + path, **self.person.bearer)
        self.assertEqual(answer.status, 200, answer.text)
        return answer.json

    def test_cot_16_where_no_request_waits_the_answer_is_null(self):
        device = self.person.device()
        paths = [f"/{self.person.id}", f"?cotter_user_id={self.person.id}",
                 f"?client_user_id={self.person.id}", f"?cotter_user_id=&client_user_id={self.person.id}"]
        for path in paths:
            self.assertIsNone(self.waiting(path))
        asked = self.person.ask()
        for path in paths:
            self.assertEqual(self.waiting(path)["ID"], asked["ID"])
        self.person.respond(asked, device.answer(asked))
        self.assertIsNone(self.waiting(paths[0]))

    def test_cot_16_events_may_name_the_person_as_user_id(self):
        device = self.person.device()
        body = device.event()
        body["user_id"] = body.pop("client_user_id")
        answer = self.person.create(body)
        self.assertEqual((answer.status, answer.json.get("user_id")), (200, self.person.id))
        self.assertIn("oauth_token", answer.json)
        asked = self.app.call("POST", PENDING, {
            "user_id": self.person.id, "issuer": self.app.key, "event": "LOGIN",
            "method": TRUSTED, "timestamp": str(int(body["timestamp"]) + 1)})
        self.assertEqual(asked.status, 200, asked.text)
        waiting = self.waiting(f"/{self.person.id}")
        self.assertEqual(waiting["ID"], asked.json["ID"])
        answer = self.person.respond(
            waiting, device.answer(waiting, user_id=self.person.id))
        self.assertEqual((answer.status, answer.json["approved"]), (200, True))
        self.assertIn("oauth_token", self.person.get(waiting).json)

    def test_cot_16_the_realm_signs_whether_an_event_is_new_too(self):
        event = self.person.create(self.person.device().event("PAY"), "").json
        keys = self.app.call("GET", "/api/v0/token/identity_keys").json["keys"]
        self.assertEqual((event["new"], event["approved"]), (False, True))
        ed25519.Ed25519PublicKey.from_public_bytes(
            base64.urlsafe_b64decode(keys[0]["x"] + "=")).verify(
            base64.b64decode(event["signature"]),
            f"{self.person.id}{self.app.key}PAY{event['timestamp']}{TRUSTED}falsetrue".encode())


class Rest(Asking):
    def test_cot_16_a_reset_tells_a_challenge_and_takes_the_new_pin_by_its_name(self):
        before = len(inbox(urd, self.person.who))
        self.person.pin()
        mail(urd, self.person.who, before)  # That it was set.
        other, before = new_pin(), len(inbox(urd, self.person.who))
        path = "/api/v0/user/reset/%s/" + self.person.id
        sent = self.app.call("POST", path % "start", {
            "method": "PIN", "name": "Ann", "sending_method": "EMAIL",
            "sending_destination": self.person.who})
        self.assertEqual((sent.status, sent.json["success"]), (200, True), sent.text)
        self.assertRegex(sent.json["challenge"], ".+")
        body = {
            "method": "PIN", "reset_code": code(urd, self.person.who, before), "new_code": other,
            "challenge_id": sent.json["challenge_id"], "challenge": sent.json["challenge"]}
        self.assertEqual(self.app.call("POST", path % "verify", body).status, 200)
        answer = self.app.call("POST", path % "respond", body)
        self.assertEqual((answer.status, answer.json), (200, {"success": True}))
        self.assertEqual(self.person.by_pin(other).status, 200)
        again = self.app.call("POST", path % "request", {"method": "PIN"}, **SECRET)
        self.assertIn("challenge", again.json)

    def test_cot_16_the_company_has_an_id_and_a_time(self):
        shown = self.app.call("GET", "/api/v0/notification/company").json
        self.assertEqual((shown["ID"], shown["company_id"]), (self.app.key, self.app.key))
        self.assertRegex(shown["created_at"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d.*Z$")

    def test_forms_with_an_id_pass_for_each_tenant(self):
        path = "/screening/form?identifier=ann%40example.org&form-id=7"
        for method, path, told in (
                ("GET", path, {"passed": True}), ("POST", "/completion/form", {"success": True})):
            answer = self.app.call(method, path, Origin="https://www.shop.example")
            self.assertEqual((answer.status, answer.json), (200, told))
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], "*")
            self.refused(self.app.call(method, path, API_KEY_ID=str(uuid.uuid4())), 403)


if MISSING:
    Asking = Tokens = Secrets = Keys = Events = Rest = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
