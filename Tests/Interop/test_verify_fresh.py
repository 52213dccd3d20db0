"""The verify profile: what an exchange tells of a person is as it is now, also where another node has just changed it."""

import unittest

from token_tool import missing
from urd_process import Server, Urd
from verify_client import App, Browser, address

MISSING = missing("fido2", "cryptography")
if not MISSING:
    from verify_devices import Authenticator

REGISTER = "/api/v0/webauthn/register"


def setUpModule():
    global urd, other
    urd = Urd()
    status, body, _ = urd.api.call(
        "PATCH", "/api/admin/realms/verify/settings", {"webauthn_rp_id": "localhost"})
    assert status == 200, body
    other = Server(urd.values).ready()


def tearDownModule():
    other.close()
    urd.close()


class Person:
    """Someone whose browser is recognised by one node, and whose app asks the other one for all else."""

    def __init__(self):
        self.who = address()
        self.here, self.there = App(urd), App(urd)
        self.there.port = other.port
        self.browser = Browser(urd.values["URD_VERIFY_URL"])
        sent = self.here.walk(self.who, browser=self.browser)
        answer = self.here.exchange(self.here.body(sent))
        assert answer.status == 200, answer.text
        self.id = answer.json["user"]["ID"]
        self.bearer = {"Authorization": "Bearer " + answer.json["oauth_token"]["access_token"]}

    def code(self):
        path = "/app/continue?" + self.here.query()
        answer = self.browser.post(self.browser.call("GET", "/app?" + self.here.query()), path)
        assert answer.status == 303, answer.text
        return self.here.body(answer.sent())

    def exchange(self):
        return self.here.exchange(self.code())

    def told(self):
        answer = self.exchange()
        assert answer.status == 200, answer.text
        return answer.json["user"]

    def set_pin(self, **body):
        answer = self.there.call(
            "PUT", f"/api/v0/user/methods?cotter_user_id={self.id}",
            {"method": "PIN", **body}, **self.bearer)
        assert answer.status == 200, answer.text

    def add_passkey(self):
        query = f"?identifier={self.who}"
        begun = self.there.call(
            "POST", REGISTER + "/begin" + query, {"origin": "http://localhost:8395"}, **self.bearer)
        assert begun.status == 200, begun.text
        made = Authenticator().create(begun.json["publicKey"])
        answer = self.there.call(
            "POST", REGISTER + "/finish" + query, made,
            Cookie=begun.headers["Set-Cookie"].split(";")[0], **self.bearer)
        assert answer.status == 200, answer.text


def change(person, **changes):
    status, body, _ = urd.api.call(
        "PATCH", f"/api/admin/realms/verify/accounts/{person.id}", changes)
    assert status == 200, body


class AsItIsNow(unittest.TestCase):
    def setUp(self):
        self.person = Person()
        # What was told before is in memory from then on.
        for _ in range(3):
            self.assertEqual(self.person.told()["enrolled"], [])

    def test_an_exchange_tells_the_pin_that_another_node_has_just_taken(self):
        self.person.set_pin(enrolled=True, code="583920")
        self.assertEqual(self.person.told()["enrolled"], ["PIN"])
        self.assertEqual(self.person.told()["enrolled"], ["PIN"])
        self.person.set_pin(enrolled=False)
        self.assertEqual(self.person.told()["enrolled"], [])

    @unittest.skipIf(MISSING, f"needs {MISSING}")
    def test_an_exchange_tells_the_passkey_that_another_node_has_just_taken(self):
        self.person.add_passkey()
        self.assertEqual(self.person.told()["enrolled"], ["WEBAUTHN"])

    def test_an_exchange_tells_what_the_tenant_calls_the_person_since_a_moment_ago(self):
        for name in ("one", "two", "three"):
            change(self.person, external_id=f"{self.person.here.key}:{name}")
            told = self.person.told()
            self.assertEqual((told["client_user_id"], told["identifier"]), (name, self.person.who))

    def test_a_code_of_a_person_whose_account_goes_tells_nothing(self):
        body = self.person.code()
        status, answer, _ = urd.api.call(
            "DELETE", f"/api/admin/realms/verify/accounts/{self.person.id}")
        self.assertIn(status, (200, 202, 204), answer)
        refused = self.person.here.exchange(body)
        self.assertEqual(refused.status, 400, refused.text)
        self.assertNotIn(self.person.who, refused.text)


if __name__ == "__main__":
    unittest.main()
