"""People with a mail address and a phone number: they sign in with either, change both on their page, and an app
that asked for one of them is told that one."""

import base64
import json
import re
import unittest

from phone import Phone, code, inbox
from urd_process import Urd, eventually
from verify_client import App, Browser, address

REALM = "/api/admin/realms/verify"
counter = 0


def setUpModule():
    global urd, site
    urd = Urd(lawful=True)
    site = urd.values["URD_VERIFY_URL"]


def tearDownModule():
    urd.close()


def number():
    global counter
    counter += 1
    return f"+4178{4560000 + counter * 10007}"


def claims_of(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def register(**members):
    status, account, _ = urd.api.call("POST", f"{REALM}/accounts", members)
    assert status == 201, account
    return account


def signed_in(to):
    """A browser on the person's own pages."""
    browser = Browser(site)
    page = browser.call("GET", "/login?next=%2Faccount%2Fdata")
    before = len(inbox(urd, to))
    sent = browser.post(page, "/login", email=to, by="code")
    assert sent.status == 303, sent.text
    page = browser.call("GET", sent.location)
    answer = browser.post(page, sent.location, email=to, code=code(urd, to, before))
    assert answer.status == 303, answer.text
    return browser


def add(browser, kind, to):
    """Types a new address and the code that went there: the answer to the code."""
    field = "email" if kind == "email" else "phone"
    page = browser.call("GET", "/account/data")
    before = len(inbox(urd, to))
    sent = browser.post(page, f"/account/{kind}", **{field: to})
    assert sent.status == 303, sent.text
    page = browser.call("GET", sent.location)
    return browser.post(page, sent.location, email=to, code=code(urd, to, before))


class BothAddresses(unittest.TestCase):
    def test_an_app_is_told_the_address_that_it_asked_for_of_a_person_with_both(self):
        email, phone = address(), number()
        account = register(email=email, phone=phone, confirmed=True)
        self.assertNotEqual(account["mailbox"], account["phone_mailbox"])
        for kind, to in (("EMAIL", email), ("PHONE", phone)):
            app = App(urd)
            person = app.sign_in(to, kind)
            self.assertEqual(person["user"]["ID"], account["id"])
            for told in (person["identifier"], person["user"], person["token"]):
                self.assertEqual(told["identifier"], to)
            self.assertEqual(person["identifier"]["identifier_type"], kind)
            refreshed = app.refresh(person["oauth_token"]["refresh_token"])
            self.assertEqual(claims_of(refreshed.json["access_token"])["identifier"], to)
            claims = app.call("GET", f"/api/v0/user?identifier={to.replace('+', '%2B')}", None, **{
                "Authorization": f"Bearer {refreshed.json['access_token']}"}).json
            self.assertEqual(claims["identifier"], to)

    def test_a_recognised_browser_shows_the_address_of_the_kind_that_is_asked_for(self):
        email, phone = address(), number()
        register(email=email, phone=phone, confirmed=True)
        browser = Browser(site)
        App(urd).walk(email, browser=browser)
        app = App(urd)
        page = browser.call("GET", "/app?" + app.query("PHONE"))
        self.assertIn(phone, page.text.replace("\u202f", ""))
        self.assertNotIn(email, page.text)

    def test_the_channels_that_an_app_names_are_offered_on_the_page_and_in_the_frame(self):
        app = App(urd)
        for named, offered in (
                (["SMS"], {"sms"}), (["WHATSAPP"], {"whatsapp"}),
                (["SMS", "WHATSAPP"], {"sms", "whatsapp"}), (["PIGEON"], {"sms", "whatsapp"})):
            more = "".join(f"&phone_channels%5B%5D={name}" for name in named)
            page = Browser(site).call("GET", "/app?" + app.query("PHONE") + more)
            self.assertEqual(
                set(re.findall(r'name="channel" value="(\w+)"', page.text)), offered, named)
            # The page for the code offers the same ones.
            browser = Browser(site)
            path = "/app?" + app.query("PHONE") + more
            page = browser.call("GET", path)
            to = number()
            sent = browser.post(page, path, input=to, channel=sorted(offered)[0])
            page = browser.call("GET", sent.location)
            self.assertEqual(
                set(re.findall(r'name="channel" value="(\w+)"', page.text)), offered, named)

    def test_a_second_address_is_refused_without_confirmed(self):
        status, body, _ = urd.api.call(
            "POST", f"{REALM}/accounts", {"email": address(), "phone": number()})
        self.assertEqual((status, body["field"]), (400, "confirmed"))

    def test_the_address_of_another_account_is_not_taken(self):
        phone = number()
        register(phone=phone, confirmed=True)
        other = register(email=address(), confirmed=True)
        status, body, _ = urd.api.call(
            "PATCH", f"{REALM}/accounts/{other['id']}", {"phone": phone, "confirmed": True})
        self.assertEqual(status, 409, body)


class OwnPage(unittest.TestCase):
    def test_a_person_adds_a_number_by_its_code_and_signs_in_with_it(self):
        email, phone = address(), number()
        account = register(email=email, confirmed=True)
        browser = signed_in(email)
        answer = add(browser, "phone", phone)
        self.assertEqual(answer.location, "/account/data?done=address-added")
        # Nobody was signed out, and the mail address was told.
        self.assertEqual(browser.call("GET", "/account/data").status, 200)
        eventually(
            lambda: any("sign in to" in mail["subject"] for mail in inbox(urd, email)),
            "the mail address is told")
        self.assertEqual(App(urd).sign_in(phone, "PHONE")["user"]["ID"], account["id"])

    def test_a_person_without_a_mail_address_adds_one(self):
        email, phone = address(), number()
        account = register(phone=phone, confirmed=True)
        answer = add(signed_in(phone), "email", email)
        self.assertEqual(answer.location, "/account/data?done=address-added")
        for kind, to in (("EMAIL", email), ("PHONE", phone)):
            self.assertEqual(App(urd).sign_in(to, kind)["user"]["ID"], account["id"])

    def test_another_number_signs_out_everywhere_and_the_old_one_is_nobodys(self):
        email, old, new = address(), number(), number()
        account = register(email=email, phone=old, confirmed=True)
        app = App(urd)
        tokens = app.sign_in(email)["oauth_token"]
        browser = signed_in(email)
        self.assertIn("/login", add(browser, "phone", new).location)
        self.assertEqual(browser.call("GET", "/account/data").status, 303)
        self.assertEqual(app.refresh(tokens["refresh_token"]).status, 400)
        self.assertEqual(App(urd).sign_in(new, "PHONE")["user"]["ID"], account["id"])
        self.assertNotEqual(App(urd).sign_in(old, "PHONE")["user"]["ID"], account["id"])

    def test_a_number_is_removed_and_signs_in_no_more(self):
        email, phone = address(), number()
        account = register(email=email, phone=phone, confirmed=True)
        browser = signed_in(email)
        page = browser.call("GET", "/account/data")
        self.assertEqual(browser.post(page, "/account/phone/remove").status, 303)
        self.assertEqual(browser.call("GET", "/account/data").status, 303)
        found = urd.api.call("GET", f"{REALM}/accounts", Phone=phone)[1]["items"]
        self.assertEqual(found, [])
        self.assertNotEqual(App(urd).sign_in(phone, "PHONE")["user"]["ID"], account["id"])
        self.assertEqual(App(urd).sign_in(email)["user"]["ID"], account["id"])

    def test_the_old_mail_address_is_told_that_another_took_its_place(self):
        old, phone = address(), number()
        account = register(email=old, phone=phone, confirmed=True)
        status, body, _ = urd.api.call(
            "PATCH", f"{REALM}/accounts/{account['id']}", {"email": address(), "confirmed": True})
        self.assertEqual(status, 200, body)
        eventually(
            lambda: any("sign in to" in mail["subject"] for mail in inbox(urd, old)),
            "the old address is told")

    def test_a_number_that_is_taken_is_asked_for_like_a_free_one_and_moves_nobody(self):
        taken = number()
        register(phone=taken, confirmed=True)
        browser = signed_in(register_mail())
        page = browser.call("GET", "/account/data")
        before = len(inbox(urd, taken))
        sent = browser.post(page, "/account/phone", phone=taken)
        self.assertEqual(sent.status, 303)
        page = browser.call("GET", sent.location)
        self.assertEqual(browser.post(page, sent.location, email=taken, code="000000").status, 400)
        self.assertEqual(len(inbox(urd, taken)), before)

    def test_a_person_joins_by_phone_on_the_registration_page(self):
        phone = number()
        status, body, _ = urd.api.call(
            "PATCH", f"{REALM}/settings", {"registration": "explicit_endpoint"})
        self.assertEqual(status, 200, body)
        try:
            browser = Browser(site)
            page = browser.call("GET", "/register")
            self.assertIn("phone", page.text)
            sent = browser.post(page, "/register", email=phone, first_name="Bo")
            self.assertEqual(sent.status, 303, sent.text)
            page = browser.call("GET", sent.location)
            answer = browser.post(page, sent.location, email=phone, code=code(urd, phone, 0))
            self.assertEqual(answer.status, 303, answer.text)
            self.assertEqual(browser.call("GET", "/account").status, 200)
        finally:
            urd.api.call("PATCH", f"{REALM}/settings", {"registration": None})


def register_mail():
    email = address()
    register(email=email, confirmed=True)
    return email


if __name__ == "__main__":
    unittest.main()
