"""Passkeys that others made: a real browser's, and those of Yubico's library.

The page is at another port of `localhost`, the domain of the demo realm's passkeys. The calls are
an app's: over a socket, with a PostgreSQL behind it."""

import hashlib
import json
import os
import signal
import sys
import time
import unittest
import uuid

from browser import Browser, Page, Refused, decode, encode
from phone import Phone, inbox, mail
from token_tool import missing, rerun
from urd_process import Server, Urd, eventually, together

MISSING = missing("fido2", "cryptography")
if not MISSING:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from fido2 import cbor
    from fido2.cose import ES256

ENROLLED = {"Message": "Passkey enrolled successfully."}
FAILED = {"Message": "Passkey enrollment failed."}
EXPIRED = {"Message": "Enrollment session expired. Please try again."}
NO_CEREMONY = "Invalid or expired passkey ceremony."
NO_PASSKEY = "Passkey verification failed."
PASSKEY = "urn:cocoar:passkey"


def setUpModule():
    global urd, page, browser
    urd = Urd(lawful=True)
    page = Page()
    browser = Browser(page.origin)


def tearDownModule():
    browser.close()
    page.close()
    urd.close()


class Person:
    """Somebody with an account and an app."""

    def __init__(self, client=None, url=None):
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"
        self.phone = Phone(urd, client=client or new_client(), url=url)
        self.token = self.phone.sign_in(self.email)["access_token"]

    def begin_enrollment(self):
        status, body, _ = self.phone.call("POST", "/connect/passkey/enroll/begin", token=self.token)
        assert status == 200, body
        return body["ceremonyId"], body["options"]

    def enroll(self, ceremony, attestation):
        return self.phone.call(
            "POST", "/connect/passkey/enroll",
            {"ceremonyId": ceremony, "attestation": attestation}, token=self.token)[:2]

    def begin(self):
        status, body, _ = self.phone.call(
            "POST", "/connect/passkey/begin", form={"client_id": self.phone.client})
        assert status == 200, body
        return body["ceremonyId"], body["options"]

    def redeem(self, ceremony, assertion, **more):
        return self.phone.token(
            PASSKEY, ceremony_id=ceremony, assertion=json.dumps(assertion),
            scope="openid email offline_access", **more)[:2]

    def passkeys(self):
        status, body, _ = self.phone.call("GET", "/connect/passkey", token=self.token)
        assert status == 200, body
        return body

    def who(self, token):
        return self.phone.call("GET", "/connect/userinfo", token=token)[1]


def new_client(**more):
    """A client of its own, so that no test uses up another one's rate."""
    name = f"app-{uuid.uuid4().hex[:8]}"
    status, body, _ = urd.api.call("POST", urd.clients, {
        "client_id": name, "application_type": "native", "token_endpoint_auth_method": "none",
        "grant_types": ["urn:cocoar:otp", PASSKEY, "refresh_token"], **more})
    assert status == 201, body
    return name


class ARealBrowser(unittest.TestCase):
    def setUp(self):
        self.authenticator = browser.add_authenticator()
        self.addCleanup(lambda: browser.remove_authenticator(self.authenticator))

    def enroll(self, person):
        ceremony, options = person.begin_enrollment()
        self.assertEqual(person.enroll(ceremony, browser.create(options)), (200, ENROLLED))

    def test_MOD_08_MOD_09_a_browser_makes_a_passkey_and_signs_in_with_it(self):
        person = Person()
        self.enroll(person)
        for _ in range(2):
            ceremony, options = person.begin()
            status, tokens = person.redeem(ceremony, browser.get(options))
            self.assertEqual(status, 200, tokens)
            self.assertEqual(person.who(tokens["access_token"])["email"], person.email)
        self.assertEqual(person.phone.refresh(tokens["refresh_token"])[0], 200)
        [passkey] = person.passkeys()
        self.assertEqual(passkey["DisplayName"], "Passkey")
        self.assertIn("LastUsedAt", passkey)

    def test_MOD_09_a_browser_makes_no_second_passkey_on_one_device(self):
        person = Person()
        self.enroll(person)
        _, options = person.begin_enrollment()
        self.assertEqual(len(options["excludeCredentials"]), 1)
        with self.assertRaisesRegex(Refused, "InvalidStateError"):
            browser.create(options)

    def test_MOD_10_a_removed_passkey_notifies_the_owner_and_is_forgotten(self):
        person = Person()
        before = len(inbox(urd, person.email))
        self.enroll(person)
        self.assertIn("passkey", mail(urd, person.email, before)["subject"].lower())
        [passkey] = person.passkeys()
        path = f"/connect/passkey/{passkey['Id']}"
        other = Person()
        self.assertEqual(other.phone.call("DELETE", path, token=other.token)[0], 404)
        self.assertEqual(person.phone.call("DELETE", path, token=person.token)[0], 204)
        self.assertEqual(person.phone.call("DELETE", path, token=person.token)[0], 404)
        self.assertEqual(person.passkeys(), [])
        self.assertIn("removed", mail(urd, person.email, before + 1)["subject"].lower())
        ceremony, options = person.begin()
        status, body = person.redeem(ceremony, browser.get(options))
        self.assertEqual((status, body["error_description"]), (400, NO_PASSKEY))

    def test_MOD_08_a_passkey_without_user_verification_signs_nobody_in(self):
        person = Person()
        self.enroll(person)
        browser.set_user_verified(self.authenticator, False)
        ceremony, options = person.begin()
        with self.assertRaisesRegex(Refused, "NotAllowedError"):
            browser.get(options)
        status, body = person.redeem(ceremony, browser_without_verification(options))
        self.assertEqual((status, body["error_description"]), (400, NO_PASSKEY))

    def test_MOD_08_a_page_of_another_domain_gets_nothing(self):
        person = Person()
        self.enroll(person)
        _, options = person.begin()
        with self.assertRaisesRegex(Refused, "SecurityError"):
            browser.get({**options, "rpId": "example.org"})

    def test_a_backed_up_passkey_stays_backed_up(self):
        browser.remove_authenticator(self.authenticator)
        self.authenticator = browser.add_authenticator(
            ctap2Version="ctap2_1", defaultBackupEligibility=True, defaultBackupState=True)
        person = Person()
        self.enroll(person)
        ceremony, options = person.begin()
        self.assertEqual(person.redeem(ceremony, browser.get(options))[0], 200)
        found = urd.sql(
            "select data ->> 'backup_eligible', data ->> 'backed_up' from urd.event "
            "where realm = 'demo' and type = 'passkey.enrolled' order by position desc limit 1")
        self.assertEqual(found, "true|true")

    def test_a_browser_attests_where_the_realm_asks(self):
        settings = f"{urd.realm}/settings"
        self.assertEqual(
            urd.api.call("PATCH", settings, {"passkey_attestation": "direct"})[0], 200)
        self.addCleanup(
            lambda: urd.api.call("PATCH", settings, {"passkey_attestation": None}))
        person = Person()
        ceremony, options = person.begin_enrollment()
        self.assertEqual(options["attestation"], "direct")
        made = browser.create(options)
        self.assertEqual(person.enroll(ceremony, made), (200, ENROLLED))
        shape = cbor.decode(decode(made["response"]["attestationObject"]))
        self.assertIn(shape["fmt"], ("packed", "fido-u2f"))


def browser_without_verification(options):
    return browser.get({**options, "userVerification": "discouraged"})


class Key:
    """An authenticator with one key, written with Yubico's library, and a page for it."""

    def __init__(self, origin=None):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = uuid.uuid4().bytes
        self.count = 0
        self.origin = origin or page.origin

    def client_data(self, kind, options):
        return json.dumps({
            "type": f"webauthn.{kind}", "challenge": options["challenge"],
            "origin": self.origin, "crossOrigin": False}).encode()

    def data(self, domain, flags, attested=b""):
        return (hashlib.sha256(domain.encode()).digest() + bytes([flags])
                + self.count.to_bytes(4, "big") + attested)

    def create(self, options, flags=0x45):
        self.user = options["user"]["id"]
        public = cbor.encode(ES256.from_cryptography_key(self.key.public_key()))
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        made = cbor.encode({
            "fmt": "none", "attStmt": {},
            "authData": self.data(options["rp"]["id"], flags, attested)})
        return self.credential(
            clientDataJSON=encode(self.client_data("create", options)),
            attestationObject=encode(made))

    def get(self, options, flags=0x05):
        client_data = self.client_data("get", options)
        data = self.data(options["rpId"], flags)
        signature = self.key.sign(
            data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self.credential(
            clientDataJSON=encode(client_data), authenticatorData=encode(data),
            signature=encode(signature), userHandle=self.user)

    def credential(self, **response):
        return {"id": encode(self.id), "rawId": encode(self.id), "type": "public-key",
                "response": response, "clientExtensionResults": {}}


class YubicosLibrary(unittest.TestCase):
    def enrolled(self, **more):
        person, key = Person(**more), Key()
        ceremony, options = person.begin_enrollment()
        self.assertEqual(person.enroll(ceremony, key.create(options)), (200, ENROLLED))
        return person, key

    def test_MOD_08_a_security_key_signs_in_and_counts(self):
        person, key = self.enrolled()
        for count, good in [(0, True), (3, True), (3, False), (2, False), (4, True)]:
            key.count = count
            ceremony, options = person.begin()
            status, body = person.redeem(ceremony, key.get(options))
            self.assertEqual(status == 200, good, body)

    def test_MOD_08_a_ceremony_is_used_up_by_garbage(self):
        person, key = self.enrolled()
        ceremony, options = person.begin()
        status, body = person.redeem(ceremony, {"id": "x"})
        self.assertEqual((status, body["error_description"]), (400, NO_PASSKEY))
        status, body = person.redeem(ceremony, key.get(options))
        self.assertEqual((status, body["error_description"]), (400, NO_CEREMONY))

    def test_MOD_08_a_ceremony_of_another_client_is_refused(self):
        person, key = self.enrolled()
        ceremony, options = person.begin()
        other = Phone(urd, client=new_client())
        status, body, _ = other.token(
            PASSKEY, ceremony_id=ceremony, assertion=json.dumps(key.get(options)))
        self.assertEqual((status, body["error_description"]), (400, NO_CEREMONY))
        self.assertEqual(person.redeem(ceremony, key.get(options))[0], 200)

    def test_MOD_08_a_ceremony_used_fifty_times_on_two_nodes_signs_in_once(self):
        person, key = self.enrolled()
        second = Server(urd.values).ready()
        self.addCleanup(second.close)
        self.addCleanup(second.end)
        beside = Phone(urd, client=person.phone.client, url=second.url)
        beside.host = person.phone.host
        ceremony, options = person.begin()
        form = {"ceremony_id": ceremony, "assertion": json.dumps(key.get(options))}
        phones = [person.phone, beside]
        answers = together(50, lambda number: phones[number % 2].token(PASSKEY, **form)[:2])
        self.assertEqual([status for status, _ in answers].count(200), 1, answers)
        others = {body["error_description"] for status, body in answers if status == 400}
        self.assertEqual(others, {NO_CEREMONY})
        used = urd.sql(
            "select count(*) from urd.event where realm = 'demo' and type = 'session.opened' "
            f"and stream = '{ceremony}'")
        self.assertEqual(used, "1")

    def test_MOD_09_an_enrollment_on_two_nodes_succeeds_once(self):
        person, key = Person(), Key()
        second = Server(urd.values).ready()
        self.addCleanup(second.close)
        self.addCleanup(second.end)
        beside = Phone(urd, url=second.url)
        beside.host = person.phone.host
        ceremony, options = person.begin_enrollment()
        body = {"ceremonyId": ceremony, "attestation": key.create(options)}
        phones = [person.phone, beside]
        answers = together(20, lambda number: phones[number % 2].call(
            "POST", "/connect/passkey/enroll", body, token=person.token)[:2])
        self.assertEqual([status for status, _ in answers].count(200), 1, answers)
        self.assertEqual(len(person.passkeys()), 1)
        for status, body in answers:
            self.assertIn(body, [ENROLLED, EXPIRED, FAILED])

    def test_MOD_08_the_passkey_domain_is_the_clients(self):
        below = "shop.localhost"
        person = Person(client=new_client(webauthn_rp_id=below))
        key = Key(origin=f"https://{below}")
        ceremony, options = person.begin_enrollment()
        self.assertEqual(options["rp"]["id"], below)
        self.assertEqual(person.enroll(ceremony, key.create(options)), (200, ENROLLED))
        ceremony, options = person.begin()
        self.assertEqual(options["rpId"], below)
        self.assertEqual(person.redeem(ceremony, key.get(options))[0], 200)
        status, body, _ = urd.api.call("POST", urd.clients, {
            "client_id": f"evil-{uuid.uuid4().hex[:6]}", "token_endpoint_auth_method": "none",
            "grant_types": [PASSKEY], "webauthn_rp_id": "evil.example"})
        self.assertEqual((status, body["field"]), (400, "webauthn_rp_id"))

    def test_MOD_08_another_origin_is_refused(self):
        person, key = self.enrolled()
        for origin in ("http://localhost.evil.example", "https://evil.example", "null"):
            key.origin = origin
            ceremony, options = person.begin()
            status, body = person.redeem(ceremony, key.get(options))
            self.assertEqual((status, body["error_description"]), (400, NO_PASSKEY), origin)

    def test_no_personal_data_of_passkeys_is_stored_readable(self):
        person, _ = self.enrolled()
        canary = f"Canary {uuid.uuid4().hex}"
        [passkey] = person.passkeys()
        named = person.phone.call(
            "PATCH", f"/connect/passkey/{passkey['Id']}", {"DisplayName": canary},
            token=person.token)
        self.assertEqual(named[0], 204)
        self.assertEqual(person.passkeys()[0]["DisplayName"], canary)
        for text in (canary, person.email):
            found = urd.sql(
                "select (select count(*) from urd.event e where realm is not null "
                f"and e::text like '%{text}%') "
                f"+ (select count(*) from urd.passkeys p where p::text like '%{text}%')")
            self.assertEqual(found, "0")


class Faults(unittest.TestCase):
    """Nothing of a ceremony is in a process or in the database before it is over."""

    def setUp(self):
        self.node = Server(urd.values).ready()
        self.addCleanup(lambda: self.node.close())
        self.person = Person(url=self.node.url)
        self.key = Key()

    def kill(self):
        """The node, outright; another one takes its place."""
        self.node.process.kill()
        self.node.close()
        self.node = Server(urd.values).ready()
        # The host stays: it leads to the realm whatever the port.
        self.person.phone.address = ("127.0.0.1", self.node.port)

    def break_postgresql(self):
        os.kill(urd.run.postmaster(), signal.SIGQUIT)
        eventually(lambda: self.health() != 200, "the node says that it is not ready")

    def health(self):
        return self.node.ask("/health/ready", private=True)[0]

    def until(self, act):
        """What comes once the database is there again; before that it is our fault, and said so."""
        while (answer := act())[0] == 503:
            time.sleep(0.2)
        return answer

    def test_a_killed_node_loses_no_ceremony(self):
        ceremony, options = self.person.begin_enrollment()
        self.kill()
        made = self.key.create(options)
        self.assertEqual(self.person.enroll(ceremony, made), (200, ENROLLED))
        self.kill()
        self.assertEqual(self.person.enroll(ceremony, made), (400, EXPIRED))
        ceremony, options = self.person.begin()
        self.kill()
        assertion = self.key.get(options)
        self.assertEqual(self.person.redeem(ceremony, assertion)[0], 200)
        self.kill()
        self.assertEqual(self.person.redeem(ceremony, assertion)[1]["error_description"], NO_CEREMONY)

    def test_an_outage_uses_no_ceremony_up(self):
        ceremony, options = self.person.begin_enrollment()
        made = self.key.create(options)
        self.break_postgresql()
        self.assertEqual(self.until(lambda: self.person.enroll(ceremony, made)), (200, ENROLLED))
        ceremony, options = self.person.begin()
        assertion = self.key.get(options)
        self.break_postgresql()
        status, tokens = self.until(lambda: self.person.redeem(ceremony, assertion))
        self.assertEqual(status, 200, tokens)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
