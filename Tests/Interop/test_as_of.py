"""States as of a moment, compared with a fold of the exported log that shares nothing with Urd: it is
written from the sentences and fields of the event catalogue (`urd events describe`) alone."""

import collections
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest
import urllib.parse

from urd_process import PATIENCE, Urd

AUDIENCE = "https://api.example.org"
ROLES = ["admin", "editor", "viewer"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("URD_SEED", random.SystemRandom().randrange(2**32)))

# An account's stamp moves with what ends its sessions.
STAMPING = {
    "account.mailbox_changed", "account.disabled", "account.stamp_rotated",
    "account.deletion_scheduled", "account.deleted",
}


def setUpModule():
    global urd, made
    urd = Urd()
    made = History(random.Random(SEED))
    made.live()


def tearDownModule():
    urd.close()


def call(method, path, body=None, expected=200):
    status, answer, _ = urd.api.call(method, urd.realm + path, body)
    assert status in (expected, 201, 204), (method, path, status, answer)
    return answer


def text(microseconds):
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class History:
    """A month of an office: people come, get roles, are locked out, move and leave."""

    def __init__(self, chance):
        self.chance = chance
        self.accounts, self.clients = [], {}

    def live(self):
        call("PATCH", "/settings", {"roles": {AUDIENCE: {role: [] for role in ROLES}}})
        for number in range(6):
            self.join(number)
            self.register(number)
        for number in range(150):
            self.chance.choice([self.change_account, self.change_account, self.change_client])(
                number)
        # At least one of them had roles to the end.
        call("PUT", f"/accounts/{self.last()}/roles", {"roles": {AUDIENCE: ["admin"]}})
        call("POST", f"/accounts/{self.last()}/erase")
        for _ in range(30):
            self.change_client(0)

    def left(self):
        return sum(not self.gone("/accounts/" + id) for id in self.accounts)

    def last(self):
        return next(id for id in self.accounts if not self.gone("/accounts/" + id))

    def join(self, number):
        answer = call("POST", "/accounts", {
            "email": f"person{number}@example.org", "first_name": "Ann", "confirmed": True})
        self.accounts.append(answer["id"])

    def register(self, number):
        answer = call("POST", "/clients", {
            "client_name": f"Client {number}", "redirect_uris": ["https://shop.example/back"],
            "contacts": ["ann@shop.example"]})
        self.clients[answer["client_id"]] = True

    def change_account(self, number):
        path = "/accounts/" + self.chance.choice(self.accounts)
        what = self.chance.randrange(12)
        if what < 4:
            call("PUT", path + "/roles", {
                "roles": {AUDIENCE: self.chance.sample(ROLES, self.chance.randrange(4))}},
                expected=404 if self.gone(path) else 200)
        elif what < 10:
            status, answer, _ = urd.api.call(
                "POST", f"{urd.realm}{path}/{self.chance.choice(['disable', 'enable'])}")
            assert status in (200, 404), answer
        elif what < 11:
            status, answer, _ = urd.api.call("PATCH", urd.realm + path, {
                "email": f"moved{number}@example.org"})
            assert status in (200, 404), answer
        elif number > 60 and self.left() > 2:
            status, answer, _ = urd.api.call("POST", f"{urd.realm}{path}/erase")
            assert status in (200, 404), answer

    def gone(self, path):
        return urd.api.call("GET", urd.realm + path)[0] == 404

    def change_client(self, number):
        name = self.chance.choice(list(self.clients))
        path = f"{urd.realm}/clients/{name}"
        method, more, body = self.chance.choice([
            ("POST", "/disable", None), ("POST", "/enable", None),
            ("POST", "/rotate-secret", None), ("PATCH", "", {"client_name": f"Name {number}"})])
        status, answer, _ = urd.api.call(method, path + more, body)
        assert status == 200, answer


def exported():
    return [json.loads(line) for line in urd.log()]


class Fold:
    """What the records up to a position add up to."""

    def __init__(self, records):
        self.accounts, self.clients = {}, {}
        for record in records:
            kind, data = record["type"], record["data"]
            if kind == "account.registered":
                self.accounts[record["stream"]] = {
                    "id": record["stream"], "mailbox": data["mailbox"],
                    "confirmed": data["confirmed"], "enabled": True, "deleted": False,
                    "roles": {}, "stamp": 0, "registered_at": text(record["at"])}
            elif kind == "client.registered":
                self.clients[record["stream"]] = {
                    "id": record["stream"], "client_id": data["client_id"], "enabled": True,
                    "deleted": False, "client_name": data["client_name"],
                    "secret_rotations": 0, "registered_at": text(record["at"])}
            elif kind.startswith("account."):
                self.account(self.accounts[record["stream"]], kind, data)
            elif kind.startswith("client."):
                self.client(self.clients[record["stream"]], kind, data)

    @staticmethod
    def account(account, kind, data):
        if kind in STAMPING:
            account["stamp"] += 1
        if kind == "account.roles_changed":
            account["roles"] = {name: sorted(roles) for name, roles in data["roles"].items() if roles}
        elif kind in ("account.disabled", "account.enabled"):
            account["enabled"] = kind == "account.enabled"
        elif kind == "account.mailbox_changed":
            account["mailbox"], account["confirmed"] = data["mailbox"], data["confirmed"]
        elif kind == "account.mailbox_confirmed":
            account["confirmed"] = True
        elif kind == "account.deleted":
            account["deleted"] = True

    @staticmethod
    def client(client, kind, data):
        if kind in ("client.disabled", "client.enabled"):
            client["enabled"] = kind == "client.enabled"
        elif kind == "client.secret_rotated":
            client["secret_rotations"] += 1
        elif kind == "client.updated":
            client["client_name"] = data["client_name"]
        elif kind == "client.deleted":
            client["deleted"] = True


def as_of(moment, path):
    return urd.api.call("GET", f"{urd.realm}/as-of/{urllib.parse.quote(str(moment))}/{path}")[:2]


class TestAsOf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.records = exported()
        cls.chance = random.Random(SEED + 1)

    def test_states_are_those_of_another_fold_at_500_random_positions(self):
        seen = collections.Counter()
        last = Fold(self.records)
        for _ in range(500):
            position = self.chance.randint(1, len(self.records))
            fold = Fold(self.records[:position])
            isClient = self.chance.random() < 0.3
            stream = self.chance.choice(list(last.clients if isClient else last.accounts))
            wanted = (fold.clients if isClient else fold.accounts).get(stream)
            kind = "client" if isClient else "account"
            status, answer = as_of(position, f"{kind}s/{stream}")
            where = f"seed {SEED}, position {position}, {kind} {stream}: {answer}"
            if wanted is None:
                self.assertEqual(status, 404, where)
                seen["none"] += 1
                continue
            self.assertEqual(status, 200, where)
            self.assertEqual(answer["position"], position, where)
            self.assertEqual(answer["at"], text(self.records[position - 1]["at"]), where)
            state = answer["state"][kind]
            if isClient:
                state["client_name"] = state["metadata"]["client_name"]
                self.assertNotIn("contacts", state["metadata"], where)
            self.assertEqual({name: state.get(name) for name in wanted}, wanted, where)
            seen[kind] += 1
        self.assertEqual(len(seen), 3, seen)

    def test_roles_are_those_of_another_fold(self):
        for _ in range(30):
            position = self.chance.randint(1, len(self.records))
            holders = {
                id: account["roles"] for id, account in Fold(self.records[:position]).accounts.items()
                if account["roles"] and not account["deleted"]}
            status, answer = as_of(position, "roles?limit=200")
            self.assertEqual(status, 200, answer)
            self.assertEqual(
                {item["account"]: item["roles"] for item in answer["items"]}, holders,
                f"seed {SEED}, position {position}")

    def test_a_time_stands_for_the_greatest_position_that_is_not_later(self):
        for _ in range(100):
            some = self.chance.choice(self.records)["at"] + self.chance.randint(-1, 1)
            wanted = max(
                [place for place, record in enumerate(self.records, 1) if record["at"] <= some],
                default=0)
            status, answer = as_of(text(some), "roles")
            self.assertEqual((status, answer["position"]), (200, wanted), f"seed {SEED}, {some}")

    def test_differences_are_those_of_another_fold_and_name_who_and_when(self):
        for _ in range(60):
            start = self.chance.randint(1, len(self.records))
            end = self.chance.randint(start, len(self.records))
            old, new = Fold(self.records[:start]), Fold(self.records[:end])
            if not new.accounts:
                continue
            stream = self.chance.choice(list(new.accounts))
            status, answer = as_of(start, f"diff/{end}/accounts/{stream}")
            where = f"seed {SEED}, {start} to {end}, {stream}: {answer}"
            self.assertEqual(status, 200, where)
            before, after = old.accounts.get(stream, {}), new.accounts[stream]
            for name in ("enabled", "mailbox", "stamp", "deleted", "confirmed"):
                found = [item for item in answer["difference"] if item["field"] == f"/account/{name}"]
                if before.get(name) == after[name]:
                    self.assertEqual(found, [], where)
                else:
                    self.assertEqual(
                        [(item.get("before"), item["after"]) for item in found],
                        [(before.get(name), after[name])], where)
            for change in answer["changes"]:
                record = self.records[change["position"] - 1]
                self.assertTrue(start < change["position"] <= end, where)
                self.assertEqual(record["stream"], stream, where)
                self.assertEqual(
                    (change["type"], change["actor"], change["at"]),
                    (record["type"], record["meta"]["actor"], text(record["at"])), where)


class TestPage(unittest.TestCase):
    """The commands of docs/analysts/as-of.md, run as they stand."""

    def test_every_command_of_the_page_works(self):
        page = (ROOT / "docs" / "analysts" / "as-of.md").read_text()
        # A whole realm is tried on the demo history (test_as_of_realm.py).
        page = page[:page.index("## A whole realm")]
        blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
        self.assertEqual(len(blocks), 4)
        with tempfile.TemporaryDirectory(prefix="urd-page-", dir="/tmp") as desk:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(desk, ".build"))
            result = subprocess.run(
                ["bash", "-ec", "\n".join(blocks)], cwd=desk, text=True, timeout=PATIENCE,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout)
        for word in ("/account/roles", "personal_data.opened", "ann.lee@example.org", "editor"):
            self.assertIn(word, result.stdout)
