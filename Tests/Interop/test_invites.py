"""Who may join, and by what, against a running server: postures, invites of administrators and of
services, and the command line."""

import base64
import json
import unittest
import urllib.parse
import uuid

from phone import Phone, code, inbox
from urd_process import Urd, together

MAILED = "If your email is registered, you will receive a verification code."


def setUpModule():
    global urd
    urd = Urd(lawful=True)


def tearDownModule():
    urd.close()


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def admin(method, path, body=None):
    status, answer, _ = urd.api.call(method, path, body)
    assert status < 300, (status, answer)
    return answer


class House:
    """A realm that asks for invites, with an app of the same mind."""

    def __init__(self, posture="invite_code"):
        self.name = f"house-{uuid.uuid4().hex[:8]}"
        self.path = f"/api/admin/realms/{self.name}"
        self.domain = f"{self.name}.example"
        admin("POST", "/api/admin/realms", {"realm": self.name, "display_name": "House"})
        admin("POST", f"{self.path}/hosts", {"host": self.domain})
        admin("PATCH", f"{self.path}/settings", {
            "native_grants": True, "registration": posture, "primary_domain": self.domain,
            "rate_limits": {"native-otp": {"sign-ups": None}}})
        self.app = admin("POST", f"{self.path}/apps", {"slug": "shop", "name": "Shop"})["id"]
        admin("POST", f"{self.path}/clients", {
            "client_id": "app", "application_type": "native",
            "token_endpoint_auth_method": "none",
            "grant_types": ["urn:cocoar:otp", "refresh_token"]})
        self.phone = Phone(urd, self.domain, "app")
        self.shop = Phone(urd, f"shop.{self.domain}", "app")

    def invite(self, **more):
        (item,) = admin("POST", f"{self.path}/invites", more)["items"]
        return item

    def service(self, name, app, scope="invite:write invite:read"):
        """An access token that a service has for itself."""
        body = {"client_id": name, "grant_types": ["client_credentials"], "scope": scope}
        if app:
            body["app_id"] = app
        secret = admin("POST", f"{self.path}/clients", body)["client_secret"]
        pair = ":".join(urllib.parse.quote_plus(part) for part in (name, secret))
        status, tokens, _ = self.phone.call(
            "POST", "/connect/token", form={"grant_type": "client_credentials", "scope": scope},
            Authorization="Basic " + base64.b64encode(pair.encode()).decode())
        assert status == 200, tokens
        return tokens["access_token"]

    def command(self, *words):
        result = urd.command(*words, "--realm", self.name, "--json")
        assert result.returncode == 0, result.stderr
        return result.stdout


def joins(phone, email, invite=None):
    """Whether a code comes. The one who asks afterwards, and is let in, tells when to stop waiting."""
    names = {"InviteCode": invite} if invite else {}
    assert phone.request_code(email, **names)[:2] == (200, {"Message": MAILED})
    return email


class Invites(unittest.TestCase):
    def test_MOD_03_an_invite_admits_one_person(self):
        house = House()
        invite = house.invite()
        stranger, guest, late = somebody(), somebody(), somebody()
        joins(house.phone, stranger)
        joins(house.phone, stranger, "0000-0000-0000")
        joins(house.phone, guest, invite["code"].lower().replace("-", " "))
        mailed = code(urd, guest)
        joins(house.phone, late, invite["code"])
        self.assertEqual(house.phone.redeem(guest, mailed)[0], 200)
        house.phone.sign_in(guest)  # now without an invite: by then the others' mails had come
        self.assertEqual((inbox(urd, stranger), inbox(urd, late)), ([], []))
        (listed,) = admin("GET", f"{house.path}/invites")["items"]
        self.assertIsNotNone(listed["used_at"])
        status, answer, _ = urd.api.call("DELETE", f"{house.path}/invites/{invite['id']}")
        self.assertEqual((status, answer["type"]), (409, "/problems/invite-used"))

    def test_MOD_03_an_invite_is_for_its_app_and_its_mailbox(self):
        house = House()
        for_shop, bound = house.invite(app_id=house.app), somebody()
        for_one = house.invite(email=bound.upper())
        first, second = somebody(), somebody()
        joins(house.phone, first, for_shop["code"])
        joins(house.phone, second, for_one["code"])
        joins(house.shop, first, for_shop["code"])
        joins(house.phone, bound, for_one["code"])
        code(urd, first), code(urd, bound)
        self.assertEqual([len(inbox(urd, email)) for email in (first, second)], [1, 0])

    def test_an_invite_used_twenty_times_at_once_admits_one_person(self):
        house = House()
        invite = house.invite()["code"]
        guests = [somebody() for _ in range(20)]
        together(20, lambda number: joins(house.phone, guests[number], invite))
        house.phone.request_code(host := somebody(), InviteCode=house.invite()["code"])
        code(urd, host)
        self.assertEqual(sum(len(inbox(urd, guest)) for guest in guests), 1)

    def test_MOD_17_a_service_invites_to_its_own_app(self):
        house = House()
        token = house.service("inviter", house.app)
        path = f"/api/app/{house.app}/invite-codes"
        status, made, headers = house.phone.call(
            "POST", path, {"Count": 2, "ExpiresInDays": 3}, token=token)
        self.assertEqual(status, 200, made)
        self.assertEqual(headers["Cache-Control"], "no-store")
        first, second = made["InviteCodes"]
        joins(house.shop, guest := somebody(), first["Code"])
        code(urd, guest)
        status, listed, _ = house.phone.call("GET", path, token=token)
        self.assertEqual({item["Id"] for item in listed}, {first["Id"], second["Id"]})
        self.assertEqual([item["Id"] for item in listed if "UsedAt" in item], [first["Id"]])
        for one, expected in ((first, 409), (second, 204), (second, 404)):
            status, _, _ = house.phone.call("DELETE", f"{path}/{one['Id']}", token=token)
            self.assertEqual(status, expected)
        other = admin("POST", f"{house.path}/apps", {"slug": "desk", "name": "Desk"})["id"]
        stranger = house.service("stranger", other)
        reader = house.service("reader", house.app, "invite:read")
        for foreign in (stranger, reader):
            status, _, _ = house.phone.call("POST", path, {"Count": 1}, token=foreign)
            self.assertEqual(status, 403)
        self.assertEqual(house.phone.call("GET", path, token=stranger)[0], 403)
        self.assertEqual(house.phone.call("GET", path)[0], 401)

    def test_MOD_17_the_command_line_makes_lists_and_revokes_them(self):
        house = House()
        made = json.loads(house.command("invite", "create", "--count", "2"))["items"]
        house.command("invite", "revoke", made[0]["id"], "--yes")
        (listed,) = json.loads(house.command("invite", "list"))["items"]
        self.assertEqual(listed["id"], made[1]["id"])
        joins(house.phone, guest := somebody(), made[1]["code"])
        code(urd, guest)

    def test_an_invites_code_is_not_stored(self):
        house = House()
        plain = [house.invite()["code"] for _ in range(3)]
        kept = urd.sql(
            "select string_agg(data::text || encode(coalesce(sealed, ''), 'escape'), ' ')"
            " from urd.event")
        kept += urd.sql("select string_agg(i::text, ' ') from urd.invites i")
        for text in plain:
            self.assertNotIn(text, kept)
            self.assertNotIn(text.replace("-", ""), kept)


if __name__ == "__main__":
    unittest.main()
