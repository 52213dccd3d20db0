"""What a stranger can do who has a tenant's public key and knows a person's address or ID, from another network: none of it
keeps the person out. Who can fill which limit is in docs/threat-model.md."""

import json
import secrets
import sys
import time
import unittest

from phone import code, inbox
from token_tool import missing, rerun
from urd_process import Urd
from verify_client import App, Browser, address

MISSING = missing("jose", "fido2", "cryptography")
if not MISSING:
    from verify_devices import Device

PENDING = "/api/v0/event/create_pending"


def setUpModule():
    global urd, SECRET
    urd = Urd()
    SECRET = {"API_SECRET_KEY": urd.values["URD_VERIFY_API_SECRET_KEY"]}
    # As they are where nobody set any: the demo realm has higher ones.
    status, body, _ = urd.api.call("PATCH", "/api/admin/realms/verify/settings", {"rate_limits": {
        "verify-code": {"source": {"amount": 100, "seconds": 300},
                        "target": {"amount": 5, "seconds": 300}},
        "device-code": {"target": {"amount": 10, "seconds": 60}}}})
    assert status == 200, body


def tearDownModule():
    urd.close()


def stranger(number):
    """An app with the same public key, in another network: `number` names a /24."""
    app = App(urd)
    app.source = f"127.0.{number}.9"
    return app


def elsewhere(number):
    """A browser there."""
    browser = Browser(urd.values["URD_VERIFY_URL"])
    browser.source = f"127.0.{number}.9"
    return browser


def person():
    """Somebody with a trusted device."""
    app = App(urd)
    answer = app.sign_in(address())
    who = answer["user"]["ID"]
    device = Device(who, app.key)
    bearer = {"Authorization": "Bearer " + answer["oauth_token"]["access_token"]}
    done = app.call("PUT", f"/api/v0/user/{who}", {
        "method": "TRUSTED_DEVICE", "enrolled": True, "code": device.public}, **bearer)
    assert done.status == 200, done.text
    return app, who, device, answer["identifier"]["identifier"]


class Devices(unittest.TestCase):
    def ask(self, app, who):
        return app.call("POST", PENDING, {
            "client_user_id": who, "issuer": app.key, "event": "LOGIN",
            "method": "TRUSTED_DEVICE", "timestamp": str(int(time.time()))})

    def waiting(self, app, who):
        return app.call("GET", f"/api/v0/event/new/{who}", **SECRET).json

    def test_a_new_device_gets_in_while_strangers_ask_for_the_same_person(self):
        app, who, device, _ = person()
        strangers = [stranger(10), stranger(11)]
        before = [self.ask(one, who) for one in strangers]
        own = self.ask(app, who)
        self.assertEqual([a.status for a in before + [own]], [200] * 3, own.text)
        refused = 0
        for _ in range(25):
            refused += self.ask(strangers[0], who).status == 429
        self.assertGreater(refused, 0, "the stranger's own budget")
        # What is theirs is refused by the person, one after the other; none of them took the place of the own one.
        for _ in range(len(strangers) + 1):
            event = self.waiting(app, who)
            if event["ID"] == own.json["ID"]:
                break
            answer = app.call("POST", f"/api/v0/event/respond/{event['ID']}",
                              device.answer(event, approved=False))
            self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(self.waiting(app, who)["ID"], own.json["ID"])
        # Who asked knows a number, and answers with garbage.
        for _ in range(70):
            wrong = strangers[1].call("POST", f"/api/v0/event/respond/{own.json['ID']}", {
                **device.answer(own.json), "code": "AAAA"})
            self.assertEqual(wrong.status, 400, wrong.text)
        event = self.waiting(app, who)
        answer = app.call("POST", f"/api/v0/event/respond/{event['ID']}", device.answer(event))
        self.assertEqual(answer.status, 200, answer.text)
        got = app.call("GET", f"/api/v0/event/get/{own.json['ID']}?oauth_token=true")
        self.assertIn("access_token", json.dumps(got.json), got.text)
        # Another one of the person's is not counted with the strangers' either.
        self.assertEqual(self.ask(app, who).status, 200)


class Codes(unittest.TestCase):
    def flood(self, who, turns, number=20):
        """A stranger has mails sent to somebody's address."""
        found = []
        for turn in range(turns):
            app = App(urd)
            browser = elsewhere(number + turn)
            path = "/app?" + app.query()
            found.append(browser.post(browser.call("GET", path), path, input=who).status)
        return found

    def test_a_strangers_requests_end_no_code_that_the_person_has(self):
        who, app = address(), App(urd)
        browser = Browser(app.site)
        page, path = app.ask(browser, who)
        own = code(urd, who)
        self.assertEqual(self.flood(who, 4), [303] * 4)
        self.assertEqual(len(inbox(urd, who)), 5)
        answer = browser.post(page, path, code=own)
        self.assertEqual(answer.status, 303, answer.text)

    def test_a_person_types_the_code_that_they_have_where_no_other_one_is_sent(self):
        who, app = address(), App(urd)
        statuses = self.flood(who, 6, 40)
        self.assertEqual(statuses[:5], [303] * 5)
        self.assertEqual(statuses[5], 429)
        mails = len(inbox(urd, who))
        self.assertEqual(mails, 5, "the number of mails is bounded")
        browser = Browser(app.site)
        path = "/app?" + app.query()
        limited = browser.post(browser.call("GET", path), path, input=who)
        self.assertEqual(limited.status, 429)
        self.assertIn("Please wait", limited.text)
        self.assertIn('name="code"', limited.text)
        answer = browser.post(limited, form_place(limited), code=code(urd, who))
        self.assertEqual(answer.status, 303, answer.text)
        self.assertEqual(answer.sent()["state"], app.state)

    def test_garbage_from_elsewhere_does_not_keep_a_right_code_from_being_typed(self):
        who, app = address(), App(urd)
        other = elsewhere(60)
        path = "/app?" + app.query()
        page = other.post(other.call("GET", path), path, input=who)
        form = other.call("GET", page.location)
        # The mail is there already. What is typed for it is a guess, and there are few; this is about the rest.
        signed = Browser(app.site)
        page, place = app.ask(signed, who)
        self.assertEqual(signed.post(page, place, code=code(urd, who)).status, 303)
        statuses = [other.post(form, form_place(form), code="12").status for _ in range(20)]
        self.assertIn(429, statuses)
        mine = Browser(app.site)
        page, place = App(urd).ask(mine, who)
        answer = mine.post(page, place, code=code(urd, who, 2))
        self.assertEqual(answer.status, 303, answer.text)


def form_place(page):
    return "/app/code" + page.text.split('action="/app/code', 1)[1].split('"', 1)[0].replace(
        "&amp;", "&")


class PINs(unittest.TestCase):
    def test_a_stranger_who_asks_for_resets_keeps_nobody_from_resetting_their_pin(self):
        app, who, _, mail = person()
        before = len(inbox(urd, mail))
        start = f"/api/v0/user/reset/start/{who}"
        for turn in range(7):
            answer = stranger(80 + turn).call("POST", start, {"method": "PIN"})
            self.assertEqual(answer.status, 200, answer.text)
        asked = app.call("POST", start, {"method": "PIN"})
        self.assertEqual(asked.status, 200, asked.text)
        digits = code(urd, mail, before)
        # The notice of the new device may come in between.
        resets = [each for each in inbox(urd, mail) if each["subject"].startswith("Reset your PIN")]
        self.assertEqual(len(resets), 5, "the number of mails is bounded")
        done = app.call("POST", f"/api/v0/user/reset/respond/{who}", {
            "reset_code": digits, "challenge_id": asked.json["challenge_id"],
            "new_code": "27" + "".join(secrets.choice("0123456789") for _ in range(4))})
        self.assertEqual(done.status, 200, done.text)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
