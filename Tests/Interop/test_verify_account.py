"""COT-16, what a person sees of the device keys and PINs that sign them in within tenants' apps: mails, and a list on the
page of their account, where they take them away."""

import re
import unittest

from phone import inbox, mail
from token_tool import missing, rerun
from urd_process import Urd, together
from verify_client import Browser

MISSING = missing("jose", "fido2", "cryptography")
if not MISSING:
    import test_verify_breadth as breadth
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding
    from verify_devices import Device

NEW_DEVICE, NEW_PIN = "A new device uses your", "A PIN was set for your"


def setUpModule():
    global urd
    urd = breadth.urd = Urd(lawful=True)
    breadth.SECRET = {"API_SECRET_KEY": urd.values["URD_VERIFY_API_SECRET_KEY"]}
    breadth.settings(rate_limits=breadth.UNLIMITED)


def tearDownModule():
    urd.close()


class Signed(unittest.TestCase if MISSING else breadth.Refusals):
    def setUp(self):
        self.person = breadth.Person()
        self.browser = Browser(self.person.app.site)
        # What proves the address to a tenant's app signs in on the realm's pages too.
        self.person.app.walk(self.person.who, browser=self.browser)

    def page(self, browser=None):
        answer = (browser or self.browser).call("GET", "/account/sessions")
        self.assertEqual(answer.status, 200, answer.text)
        return answer

    def lines(self, browser=None):
        """What the page lists as ways to sign in within apps: names, and what the forms send."""
        text = self.page(browser).text
        part = text.split("Signing in within apps")
        if len(part) < 2:
            return []
        found = []
        for item in re.findall(r"<li>.*?</li>", part[1].split("</ul>")[0], re.S):
            key = re.search(r'name="key" value="([^"]*)"', item)
            found.append({
                "name": re.search(r"<strong>(.*?)</strong>", item)[1],
                "owner": re.search(r'name="owner" value="([^"]*)"', item)[1],
                **({"key": key[1]} if key else {})})
        return found

    def remove(self, line, browser=None):
        browser = browser or self.browser
        form = {name: value for name, value in line.items() if name != "name"}
        return browser.post(self.page(browser), "/account/methods/remove", **form)


class Mails(Signed):
    def told(self, act):
        """The mail that an act brings: the one before is there by then."""
        before = len(inbox(urd, self.person.who))
        act()
        return mail(urd, self.person.who, before)

    def ok(self, answer):
        self.assertEqual(answer.status, 200, answer.text)

    def test_cot_16_a_new_device_key_is_told_by_mail(self):
        told = self.told(self.person.device)
        self.assertIn(NEW_DEVICE, told["subject"])
        self.assertIn("“Ann's phone”", told["text"])

    def test_cot_16_a_device_that_a_trusted_one_let_in_is_told_by_mail(self):
        trusted = []
        self.told(lambda: trusted.append(self.person.device()))
        new = Device(self.person.id, self.person.app.key)
        told = self.told(lambda: self.ok(self.person.create(trusted[0].event(new=new), "")))
        self.assertIn(NEW_DEVICE, told["subject"])
        self.assertIn("“Second”", told["text"])

    def set(self, pin, current=None, status=200):
        answer = self.person.put({
            "method": "PIN", "enrolled": True, "code": pin, "change_code": current is not None,
            "current_code": current or ""})
        self.assertEqual(answer.status, status, answer.text)

    def test_cot_16_a_new_pin_is_told_by_mail_and_a_wrong_one_is_not(self):
        pin, other = breadth.new_pin(), breadth.new_pin()
        self.assertIn(NEW_PIN, self.told(lambda: self.set(pin))["subject"])
        self.assertIn(NEW_PIN, self.told(lambda: self.set(other, pin))["subject"])

        def refused():
            self.set(breadth.new_pin(), breadth.new_pin() + "1", 400)
            # Mails go out in order: the next one is of a device.
            self.person.device()

        self.assertIn(NEW_DEVICE, self.told(refused)["subject"])

    def test_cot_16_a_pin_that_a_mailed_code_reset_is_told_by_mail(self):
        self.told(self.person.pin)
        app, started = self.person.app, []
        asked = self.told(lambda: started.append(app.call(
            "POST", "/api/v0/user/reset/start/" + self.person.id, {"method": "PIN"})))
        self.ok(started[0])
        code = re.search(r"\b\d{6}\b", asked["text"])[0]
        self.assertIn(NEW_PIN, self.told(lambda: self.ok(app.call(
            "POST", "/api/v0/user/reset/respond/" + self.person.id,
            {"method": "PIN", "reset_code": code, "code": breadth.new_pin(),
             "challenge_id": started[0].json.get("challenge_id")})))["subject"])


class AccountPage(Signed):
    def test_cot_16_device_keys_and_pins_stand_on_the_account_page_and_are_removed_there(self):
        self.assertEqual(self.lines(), [])
        device, pin = self.person.device(), self.person.pin()
        names = sorted(line["name"] for line in self.lines())
        self.assertEqual(names, ["Ann&#39;s phone", "PIN"])
        [key] = [line for line in self.lines() if "key" in line]
        self.assertEqual(self.person.create(device.event(), "").status, 200)
        done = self.remove(key)
        self.assertEqual(
            (done.status, done.location), (303, "/account/sessions?done=method-removed"), done.text)
        self.refused(self.person.create(device.event(), ""))
        self.assertEqual([line["name"] for line in self.lines()], ["PIN"])
        self.assertEqual(self.person.by_pin(pin, tokens="").status, 200)
        self.assertEqual(self.remove(self.lines()[0]).status, 303)
        self.refused(self.person.by_pin(pin, tokens=""))
        self.assertEqual(self.lines(), [])
        # Once more it is gone already.
        self.assertEqual(self.remove(key).status, 404)

    def test_cot_16_a_stranger_sees_and_removes_none(self):
        device = self.person.device()
        [line] = self.lines()
        other, stranger = breadth.Person(), Browser(self.person.app.site)
        other.app.walk(other.who, browser=stranger)
        self.assertEqual(self.lines(stranger), [])
        self.assertEqual(self.remove(line, stranger).status, 404)
        self.assertEqual(self.person.create(device.event(), "").status, 200)
        # Nor does a form of another browser.
        refused = self.browser.call(
            "POST", "/account/methods/remove", {"form": "forged", "owner": line["owner"]})
        self.assertEqual(refused.status, 403, refused.text)

    def test_cot_16_what_a_disabled_tenants_app_has_is_removed_all_the_same(self):
        person = breadth.Person(breadth.tenant())
        browser = Browser(person.app.site)
        person.app.walk(person.who, browser=browser)
        person.device()
        [line] = self.lines(browser)
        path = "/api/admin/realms/verify/clients/" + person.app.key
        status, body, _ = urd.api.call("POST", path + "/disable")
        self.assertEqual(status, 200, body)
        self.assertEqual(self.remove(line, browser).status, 303)
        self.assertEqual(self.lines(browser), [])

    def test_cot_16_a_key_that_fifty_remove_at_once_is_gone_for_good(self):
        device = self.person.device()
        [line] = self.lines()
        page = self.page()
        form = {name: value for name, value in line.items() if name != "name"}
        answers = together(50, lambda _: self.browser.post(
            page, "/account/methods/remove", **form).status)
        self.assertEqual(set(answers) - {303, 404}, set(), answers)
        self.assertIn(303, answers)
        self.refused(self.person.create(device.event(), ""))


class Keys(Signed):
    def test_cot_16_rsa_keys_sign_within_their_sizes_and_by_their_hash_alone(self):
        device = self.person.device(algorithm="RSA")
        good = device.event()
        self.assertEqual(self.person.create(good, "").status, 200)
        text = device.person + device.issuer + "LOGIN" + good["timestamp"] + "TRUSTED_DEVICEtrue"
        for scheme, digest in [
                (padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256()),
                (padding.PKCS1v15(), hashes.SHA1())]:
            forged = device.event(at=int(good["timestamp"]))
            made = device.key.sign(text.encode(), scheme, digest)
            forged["code"] = breadth.base64.b64encode(made).decode()
            self.refused(self.person.create(forged, ""))
        for bits, status in [(1024, 400), (4096, 200), (4104, 400)]:
            other = Device(self.person.id, self.person.app.key, "RSA", bits)
            answer = self.person.put({
                "method": breadth.TRUSTED, "enrolled": True, "code": other.public,
                "algorithm": "RSA"})
            self.assertEqual(answer.status, status, (bits, answer.text))
        # A key of one kind is none of another.
        answer = self.person.put({
            "method": breadth.TRUSTED, "enrolled": True, "code": device.public,
            "algorithm": "ECDSA"})
        self.refused(answer)


if MISSING:
    Mails = AccountPage = Keys = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
