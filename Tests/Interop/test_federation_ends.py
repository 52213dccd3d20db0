"""What ends a token or proof of the federation profile: the table in docs/federation.md, cell by cell. Each column
happens to a device, a person, a service and an app of their own; each row is tried afterwards."""

import pathlib
import time
import unittest
import uuid

import test_federation_openid as openid
from federation_client import App, Token
from test_federation_openid import Phone
from token_tool import missing, rerun

MISSING = missing("jwcrypto")
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "federation.md"


def setUpModule():
    openid.setUpModule()
    share()


def share():
    global urd, site, admin
    urd, site, admin = openid.urd, openid.site, openid.admin


def tearDownModule():
    openid.tearDownModule()


class World:
    """One of everything, on one device, and an app with a key of its own."""

    def __init__(self):
        name = uuid.uuid4().hex[:8]
        self.version, self.name = f"ch.eduid.app.{name}", f"service-{name}"
        key = admin("POST", "/clients", {
            "client_id": self.version, "client_name": self.version,
            "profile": "federation_app", "scope": "openid"})["client_secret"]
        self.secret = admin("POST", "/clients", {
            "client_id": self.name, "client_name": self.name, "profile": "federation_service",
            "redirect_uris": [f"https://{self.name}.example"],
            "scope": "openid org.example.notes"})["client_secret"]
        openid.secrets[self.version], openid.secrets[self.name] = key, self.secret
        self.place = f"https://{self.name}.example"
        self.app = app = App(site, self.version, key)
        app.register(), app.person(), app.join(self.place)
        status, self.granted = app.authorize_app()
        assert status == 200, self.granted
        self.assertion = app.assertion_for(self.place)
        self.code = app.app_code(exp=int(time.time()) + 290)
        self.used = app.user.mac("GET", site.url + "/user-profile")
        assert site.call("GET", site.url + "/user-profile", None, self.used)[0] == 200
        self.phone = Phone()
        self.sign_in_phone()
        self.later = self.phone.sign(self.phone.later(azp=self.place))

    def sign_in_phone(self):
        # Signed within the same second it would be the same assertion, which is good once.
        first = self.phone.first(iss=self.version, jti=uuid.uuid4().hex)
        status, self.tokens = openid.redeem(self.version, self.phone.sign(first))
        assert status == 200, self.tokens

    def refresh(self, token, url):
        return site.call("POST", url, {"grant_type": "refresh_token", "refresh_token": token})

    # What happens.

    def happen_use(self):
        assert self.app.redeem(self.assertion)[0] == 200
        assert self.app.authorize_app(code=self.code)[0] == 200
        assert openid.redeem(self.name, self.later)[0] == 200
        for token, url in ((self.app.user, self.app.token_url),
                           (self.app.service, self.app.service_url)):
            assert token.call("GET", site.url + "/user-profile")[0] == 200

    def happen_shown_anew(self):
        assert self.app.show()[0] == 200
        self.sign_in_phone()

    def happen_device_disconnected(self):
        other = App(site, self.version, openid.secrets[self.version])
        other.register(), other.person()
        devices = other.user.call("GET", site.url + "/devices")[1]
        for device in devices:
            if device["client_id"] == self.version and not device["current"]:
                status, told = other.user.call("DELETE", f'{site.url}/devices/{device["id"]}')
                assert status == 204, told

    def revoke(self, signer, token):
        assert signer.call("POST", site.url + "/revoke", {"token": token})[0] == 200

    def happen_top_revoked(self):
        self.revoke(self.app.client, self.app.client.answer["access_token"])
        self.revoke_phone()

    def revoke_phone(self):
        assert site.call(
            "POST", openid.metadata["revocation_endpoint"],
            authorization=openid.basic(self.version),
            form={"token": self.tokens["refresh_token"]})[0] == 200

    def happen_person_revoked(self):
        self.revoke(self.app.user, self.app.user.answer["access_token"])
        self.revoke_phone()

    def happen_service_revoked(self):
        self.revoke(self.app.service, self.app.service.answer["access_token"])

    def happen_refused_by_service(self):
        own = Token(site, {"kid": self.name, "mac_key": self.secret}, self.name)
        status, told = own.call_by_jwt(
            "POST", f"{site.url}/services/{self.name}/people",
            {"sub": site.values["URD_FEDERATION_USER"], "refused": True})
        assert status == 204, told

    def reuse(self, token, url):
        first = self.refresh(token, url)[1]["refresh_token"]
        second = self.refresh(first, url)[1]["refresh_token"]
        assert self.refresh(second, url)[0] == 200
        assert self.refresh(token, url)[0] != 200

    def happen_refresh_reuse(self):
        self.reuse(self.app.user.answer["refresh_token"], self.app.token_url)
        token = self.tokens["refresh_token"]
        for _ in range(3):
            answer = self.refresh_phone(token)
            assert answer[0] == 200, answer
            token = answer[1]["refresh_token"]
        assert self.refresh_phone(self.tokens["refresh_token"])[0] == 400

    def refresh_phone(self, token):
        return site.call(
            "POST", openid.metadata["token_endpoint"], authorization=openid.basic(self.version),
            form={"grant_type": "refresh_token", "refresh_token": token})

    def happen_passphrase_changed(self):
        other = App(site)
        other.register(), other.person()
        old, new = site.values["URD_FEDERATION_PASSPHRASE"], "several unrelated " + uuid.uuid4().hex
        status, told = other.user.call(
            "POST", site.url + "/user-profile", {"oldpassword": old, "newpassword": new})
        assert status == 204, told
        site.values["URD_FEDERATION_PASSPHRASE"] = new

    def account(self):
        return urd.sql(
            "select data ->> 'account' from urd.event where realm = 'federation'"
            " and type = 'federated_device.signed_in' limit 1")

    def happen_signed_out_everywhere(self):
        admin("POST", f"/accounts/{self.account()}/log-out")

    def happen_account_disabled(self):
        admin("POST", f"/accounts/{self.account()}/disable")

    def undo_account_disabled(self):
        admin("POST", f"/accounts/{self.account()}/enable")

    def happen_version_disabled(self):
        admin("POST", f"/clients/{self.version}/disable")

    def happen_version_key_renewed(self):
        admin("POST", f"/clients/{self.version}/rotate-secret")

    def happen_service_disabled(self):
        admin("POST", f"/clients/{self.name}/disable")

    def happen_service_removed(self):
        admin("DELETE", f"/clients/{self.name}")

    def happen_realm_disabled(self):
        admin("POST", "/disable")

    def undo_realm_disabled(self):
        admin("POST", "/enable")

    def happen_erased(self):
        admin("POST", f"/accounts/{self.account()}/erase")

    def happen_refreshed(self):
        assert self.refresh(self.app.user.answer["refresh_token"], self.app.token_url)[0] == 200
        assert self.refresh(
            self.app.service.answer["refresh_token"], self.app.service_url)[0] == 200
        assert self.refresh(self.granted["refresh_token"], self.app.service_url)[0] == 200
        assert self.refresh_phone(self.tokens["refresh_token"])[0] == 200

    # What is tried.

    def tried(self, row):
        return getattr(self, "try_" + row.replace(" ", "_"))()

    def try_device_token(self):
        return self.app.client.call("POST", site.url + "/revoke", {"token": "nothing"})[0] == 200

    def try_person_token(self):
        return self.app.user.call("GET", site.url + "/user-profile")[0] == 200

    def try_service_token(self):
        return self.app.service.call("GET", site.url + "/user-profile")[0] == 200

    def try_app_token(self):
        return site.call(
            "POST", openid.origin() + "/connect/introspect",
            authorization=openid.basic(self.name),
            form={"token": self.granted["access_token"]})[1].get("active") is True

    def try_assertion(self):
        return self.app.redeem(self.assertion)[0] == 200

    def try_code_for_an_app(self):
        return self.app.authorize_app(code=self.code)[0] == 200

    def try_used_number(self):
        return site.call("GET", site.url + "/user-profile", None, self.used)[0] == 200

    def try_key_of_an_app(self):
        return openid.redeem(self.name, self.phone.sign(
            self.phone.later(azp=self.place)))[0] == 200

    def try_what_the_key_signed(self):
        return openid.redeem(self.name, self.later)[0] == 200

    def try_refresh_of_the_app(self):
        return self.refresh(self.granted["refresh_token"], self.app.service_url)[0] == 200

    def try_refresh_of_the_service(self):
        return self.refresh(
            self.app.service.answer["refresh_token"], self.app.service_url)[0] == 200

    def try_refresh_of_the_person(self):
        return self.refresh(self.app.user.answer["refresh_token"], self.app.token_url)[0] == 200


COLUMNS = [
    "use", "refreshed", "shown anew", "device disconnected", "top revoked", "person revoked", "service revoked",
    "refused by service", "refresh reuse", "passphrase changed", "signed out everywhere", "account disabled",
    "version disabled", "version key renewed", "service disabled", "service removed",
    "realm disabled", "erased"]
# A refresh gives a token another key: those come last.
ROWS = [
    "device token", "person token", "service token", "app token", "assertion", "code for an app",
    "used number", "what the key signed", "key of an app", "refresh of the app",
    "refresh of the service", "refresh of the person"]


def table(head="| token or proof |"):
    """By row and column."""
    lines = DOCUMENT.read_text().splitlines()
    [start] = [n for n, line in enumerate(lines) if line.startswith(head)]
    columns = [cell.strip() for cell in lines[start].split("|")[2:-1]]
    cells = {}
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        row, *values = [cell.strip() for cell in line.split("|")[1:-1]]
        cells[row] = dict(zip(columns, values, strict=True))
    return columns, cells


class Ends(unittest.TestCase):
    maxDiff = None

    def test_edu_09_each_event_of_the_table_ends_what_the_table_says(self):
        columns, cells = table()
        self.assertEqual(columns, COLUMNS)
        self.assertEqual(sorted(cells), sorted(ROWS))
        found = {row: {} for row in ROWS}
        for column in COLUMNS:
            world, word = World(), column.replace(" ", "_")
            getattr(world, "happen_" + word)()
            for row in ROWS:
                found[row][column] = "stays" if world.tried(row) else "ends"
            getattr(world, "undo_" + word, lambda: None)()
        told = "\n".join("| " + " | ".join([row, *found[row].values()]) + " |" for row in ROWS)
        wrong = {(row, column): (cells[row][column], found[row][column]) for row in ROWS
                 for column in COLUMNS if cells[row][column] != found[row][column]}
        self.assertEqual(wrong, {}, told)


if MISSING:
    Ends = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
