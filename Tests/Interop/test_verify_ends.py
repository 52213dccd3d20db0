"""What ends a proof or a credential of the verify profile: the second table of that kind in docs/verify.md, cell by
cell, on a running server. What is the person's own within a tenant's apps has a table of its own."""

import pathlib
import re
import time
import unittest
import urllib.parse

import test_verify_breadth as breadth
from phone import inbox, mail
from test_verify_breadth import Person, new_pin
from token_tool import missing, rerun
from urd_process import eventually
from verify_client import App, Browser, address

MISSING = missing("jose", "fido2", "cryptography")
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "verify.md"
HEAD = "| code or token |"
REALM = "/api/admin/realms/verify"


def setUpModule():
    breadth.setUpModule()
    global urd
    urd = breadth.urd


def tearDownModule():
    breadth.tearDownModule()


def admin(method, path, body=None):
    status, told, _ = urd.api.call(method, REALM + path, body)
    assert status // 100 == 2, (path, status, told)
    return told


class World:
    """A tenant, and a person with one of everything. Another one waits for a link: codes and links of one address end
    each other."""

    def __init__(self):
        made = admin("POST", "/clients", {"profile": "verify"})
        self.key = made["client_id"]
        self.person, self.linked = Person(self.key), Person(self.key)
        self.app = self.person.app
        self.browser = Browser(self.app.site)
        self.sent = self.app.walk(self.person.who, browser=self.browser)
        self.pin, self.device = self.person.pin(), self.person.device()
        self.event = self.person.ask()
        assert self.person.respond(self.event, self.device.answer(self.event)).status == 200
        self.reset = self.reset_code()
        # The last one: of one address a newer code ends the one before.
        self.link = self.ask(self.linked.app, self.linked.who, auth_method="MAGIC_LINK")
        self.third = Person(self.key)
        self.typed = self.ask(self.third.app, self.third.who)
        self.people = (self.person, self.linked, self.third)

    def ask(self, app, who, **more):
        browser, before = Browser(app.site), len(inbox(urd, who))
        page, path = app.ask(browser, who, **more)
        text = mail(urd, who, before, r"/app/open|\b\d{6}\b")["text"]
        if "/app/open" in text:
            return browser, page, path, "/" + re.search(
                r"https?://\S+/app/open\S+", text)[0].split("/", 3)[3]
        return browser, page, path, re.search(r"\b\d{6}\b", text)[0]

    def reset_code(self):
        known = {letter["text"] for letter in inbox(urd, self.person.who)}
        answer = self.app.call(
            "POST", f"/api/v0/user/reset/start/{self.person.id}", {"method": "PIN"})
        assert answer.status == 200, answer.text
        return answer.json["challenge_id"], eventually(lambda: next((
            digits[0] for letter in inbox(urd, self.person.who) if letter["text"] not in known
            for digits in [re.search(r"\b\d{6}\b", letter["text"])] if digits), None), "a code")

    # What happens.

    def each(self, method, path, body=None):
        for person in self.people:
            admin(method, f"/accounts/{person.id}{path}", body() if body else None)

    def happen_nothing(self):
        pass

    def happen_changed_by_an_administrator(self):
        self.each("PATCH", "", lambda: {"email": address(), "confirmed": True})

    def happen_disabled(self):
        self.each("POST", "/disable")

    def happen_enabled_again(self):
        self.each("POST", "/disable"), self.each("POST", "/enable")

    def happen_log_out_everywhere(self):
        self.each("POST", "/log-out")

    def happen_deletion_scheduled(self):
        self.each("DELETE", "")

    def happen_erased(self):
        self.each("POST", "/erase")

    def happen_PIN_reset(self):
        number, digits = self.reset
        answer = self.app.call("POST", f"/api/v0/user/reset/respond/{self.person.id}", {
            "method": "PIN", "reset_code": digits, "challenge_id": number, "new_code": new_pin()})
        assert answer.status == 200, answer.text

    def happen_device_removed(self):
        answer = self.person.put({
            "method": "TRUSTED_DEVICE", "enrolled": False, "code": self.device.public})
        assert answer.status == 200, answer.text

    def happen_secret_renewed(self):
        admin("POST", f"/clients/{self.key}/rotate-secret")

    def happen_keys_rotated(self):
        for _ in range(2):
            result = urd.command(
                "signing-key", "rotate", "--realm", "verify", "--algorithm", "ES256", "--yes",
                URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
            assert result.returncode == 0, result.stderr

    def happen_tenant_disabled(self):
        admin("POST", f"/clients/{self.key}/disable")

    def happen_tenant_enabled_again(self):
        self.happen_tenant_disabled()
        admin("POST", f"/clients/{self.key}/enable")

    def happen_tenant_deleted(self):
        admin("DELETE", f"/clients/{self.key}")

    def happen_realm_disabled(self):
        admin("POST", "/disable")

    def undo_realm_disabled(self):
        admin("POST", "/enable")

    def happen_realm_enabled_again(self):
        admin("POST", "/disable"), admin("POST", "/enable")

    # What is tried: whether it is good, for the same person.

    def is_own(self, answer, person):
        return answer.status == 200 and answer.json["user"]["ID"] == person.id

    def redeems(self, browser, answer, person):
        return answer.status == 303 and "code=" in (answer.location or "") and self.is_own(
            person.app.exchange(person.app.body(answer.sent())), person)

    def try_access_token(self):
        return self.app.call("POST", "/verify", {
            "oauth_token": self.person.tokens}).text.startswith('{"success":true')

    def try_recognised_browser(self):
        shown = self.browser.call("GET", "/app?" + self.app.query())
        return shown.status == 200 and "/app/continue" in shown.text

    def try_code_for_the_app(self):
        return self.is_own(self.app.exchange(self.app.body(self.sent)), self.person)

    def try_approved_request(self):
        answer = self.person.get(self.event)
        return answer.status == 200 and bool(answer.json.get("oauth_token"))

    def try_PIN(self):
        return self.person.by_pin(self.pin).status == 200

    def try_device_key(self):
        return self.person.create(self.device.event(label="LOGIN.later")).status == 200

    def try_refresh_token(self):
        return self.app.refresh(self.person.tokens["refresh_token"]).status == 200

    def try_reset_code(self):
        number, digits = self.reset
        return self.app.call("POST", f"/api/v0/user/reset/verify/{self.person.id}", {
            "method": "PIN", "reset_code": digits, "challenge_id": number}).status == 200

    def try_mailed_code(self):
        browser, page, path, digits = self.typed
        return self.redeems(browser, browser.post(page, path, code=digits), self.third)

    def try_mailed_link(self):
        browser, page, path, link = self.link
        other = Browser(self.app.site)
        opened = other.call("GET", link)
        if opened.status != 200 or other.post(opened, link).status != 200:
            return False
        return self.redeems(browser, browser.post(page, path), self.linked)

    def tried(self, row):
        try:
            return getattr(self, "try_" + row.replace(" ", "_"))()
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(row) from error


COLUMNS = ["nothing", "changed by an administrator", "disabled", "enabled again", "log-out everywhere", "deletion scheduled",
           "erased", "PIN reset", "device removed", "secret renewed", "keys rotated", "tenant disabled",
           "tenant enabled again", "tenant deleted", "realm disabled", "realm enabled again"]
ROWS = ["access token", "recognised browser", "code for the app", "approved request", "PIN", "device key",
        "refresh token", "reset code", "mailed code", "mailed link"]


def table():
    """By row and column."""
    lines = DOCUMENT.read_text().splitlines()
    [start] = [n for n, line in enumerate(lines) if line.startswith(HEAD)]
    columns, cells = [cell.strip() for cell in lines[start].split("|")[2:-1]], {}
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        row, *values = [cell.strip() for cell in line.split("|")[1:-1]]
        cells[row] = dict(zip(columns, values, strict=True))
    return columns, cells


class Ends(unittest.TestCase):
    maxDiff = None

    def test_each_event_of_the_table_ends_what_the_table_says(self):
        found = {row: {} for row in ROWS}
        for column in COLUMNS:
            world, word = World(), re.sub("[ -]", "_", column)
            getattr(world, "happen_" + word)()
            for row in ROWS:
                found[row][column] = "stays" if world.tried(row) else "ends"
            getattr(world, "undo_" + word, lambda: None)()
        told = "\n".join("| " + " | ".join([row, *found[row].values()]) + " |" for row in ROWS)
        columns, cells = table()
        self.assertEqual((columns, list(cells)), (COLUMNS, ROWS), told)
        wrong = {(row, column): (cells[row][column], found[row][column]) for row in ROWS
                 for column in COLUMNS if cells[row][column] != found[row][column]}
        self.assertEqual(wrong, {}, told)


if MISSING:
    Ends = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
