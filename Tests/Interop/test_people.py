"""What an operator does about people at the terminal."""

import csv
import io
import json
import unittest
import uuid

from phone import Phone, another, code, inbox
from urd_process import Urd, eventually


def setUpModule():
    global urd, phone
    urd = Urd()
    phone = Phone(urd)


def tearDownModule():
    urd.close()


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def ask(*words, code=0):
    """What a command wrote; the realm is the demo's."""
    done = urd.command(*words, "--realm", "demo")
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


def read(*words):
    return json.loads(ask(*words, "--json"))


class People(unittest.TestCase):
    def test_MOD_18_roles_are_given_and_returned(self):
        email, api = somebody(), "https://api.example.org"
        name = f"shelf-{uuid.uuid4().hex[:6]}"
        ask("realm", "set", "--roles",
            json.dumps({api: {"editor": ["texts:write", "texts:read"]}}))
        ask("client", "register", "--client-id", name, "--application-type", "native",
            "--token-endpoint-auth-method", "none", "--grant-types", "urn:cocoar:otp")
        shelf = Phone(urd, client=name)
        shelf.request_code(email)
        tokens = shelf.redeem(
            email, code(urd, email), scope="openid email profile roles permissions",
            resource=api)[1]

        def told():
            return shelf.call("GET", "/connect/userinfo", token=tokens["access_token"])[1]

        self.assertNotIn("resource_access", told())
        given = {api: ["editor"]}
        set_ = read("account", "set-roles", email, "--roles", json.dumps(given))
        self.assertEqual(set_["roles"], given)
        self.assertEqual(read("account", "roles", email)["roles"], given)
        self.assertEqual(told()["resource_access"], {
            api: {"roles": ["editor"], "permissions": ["texts:read", "texts:write"]}})
        self.assertEqual(told()["preferred_username"], email)
        self.assertIn("roles", ask(
            "account", "set-roles", email, "--roles", json.dumps({api: ["boss"]}), code=1))
        read("account", "set-roles", email, "--roles", "{}")
        self.assertNotIn("resource_access", told())

    def test_MOD_17_an_account_is_created_changed_and_erased(self):
        email = somebody()
        made = read("account", "register", "--email", email.upper(), "--first-name", "Ann",
                    "--confirmed", "true")
        listed = {one["id"] for one in read("account", "list", "--limit", "200")["items"]}
        self.assertIn(made["id"], listed)
        # Whoever is named by a mail address is found by it, however it is written.
        self.assertEqual(read("account", "show", email.title())["id"], made["id"])
        self.assertNotIn("person", read("account", "show", email))
        opened = read("account", "show", email, "--open", "true")
        self.assertEqual(opened["person"], {"email": email, "first_name": "Ann"})
        moved = somebody()
        read("account", "change", email, "--email", moved, "--unset", "first_name")
        self.assertEqual(
            read("account", "show", moved, "--open", "true")["person"], {"email": moved})
        self.assertIn(
            "No account has the mail address",
            ask("account", "show", email, code=1))
        self.assertFalse(read("account", "disable", moved, "--yes")["enabled"])
        self.assertTrue(read("account", "enable", moved)["enabled"])
        read("account", "log-out", moved, "--yes")
        self.assertIsNotNone(read("account", "delete", moved, "--yes")["deletion_due"])
        self.assertIsNone(read("account", "cancel-deletion", moved)["deletion_due"])
        receipt = read("account", "erase", moved, "--yes")
        self.assertEqual(receipt["account"], made["id"])
        shown = read("events", "show", str(receipt["position"]))
        self.assertEqual(shown["type"], "account.erased")
        ask("account", "show", made["id"], code=1)
        trail = [one["type"] for one in urd.api.call(
            "GET", urd.realm + f"/audit-trail?limit=200&min_position={urd.head()}")[1]["items"]]
        for name in ("account.registered", "personal_data.opened", "account.person_changed",
                     "account.mailbox_changed", "account.disabled", "account.enabled",
                     "account.stamp_rotated", "account.deletion_scheduled",
                     "account.deletion_cancelled", "account.deleted", "account.erased"):
            self.assertIn(name, trail)

    def test_showing_personal_data_in_events_is_recorded_first(self):
        email = somebody()
        account = read("account", "register", "--email", email, "--confirmed", "true")["id"]
        first = int(urd.head().split(":")[2])

        def records(since):
            return [json.loads(line) for line in ask(
                "events", "tail", "--from", str(since), "--type", "personal_data.opened",
                "--json").splitlines()]

        def tail(*words):
            return [json.loads(line) for line in ask(
                "events", "tail", "--type", "account.registered", "--limit", "1", "--json", *words
            ).splitlines()]

        # Sealed, they say nothing, and nothing is said of them.
        place = tail()[0]["position"]
        self.assertNotIn(email, ask("events", "show", str(place), "--json"))
        self.assertEqual(records(first + 1), [])
        self.assertEqual(tail("--open")[0]["personal"]["email"], email)
        self.assertIn(email, ask("events", "show", str(place), "--open", "--reason", "Incident 4711"))
        shown = records(first + 1)
        told = {"kind": "events", "accounts": [account]}
        self.assertEqual(
            [one["data"] for one in shown], [told, {**told, "reason": "Incident 4711"}])
        for one in shown:
            self.assertTrue(one["actor"].startswith("operator:"))
        for words in (["--open", "--reason", "\u202e"], ["--reason", "Incident 4711"]):
            refused = urd.command("events", "show", str(place), "--realm", urd.values["URD_REALM"], *words)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), refused)
            self.assertIn("--reason", refused.stderr)
        # What is not shown, or holds nothing of anybody, needs no record.
        ask("events", "tail", "--from", str(first + 1), "--open")
        self.assertEqual(len(records(first + 1)), 2)

    def test_the_last_events_of_a_type_are_found_in_the_whole_log(self):
        names = [f"tail-{uuid.uuid4().hex[:6]}" for _ in range(3)]
        for name in names:
            ask("client", "register", "--client-id", name, "--grant-types", "client_credentials")
        for label in range(12):
            ask("realm", "set", "--display-name", f"Demo {label}")

        def tail(*words):
            return [json.loads(line) for line in ask("events", "tail", *words, "--json").splitlines()]

        def clients(*words):
            return [one["data"]["client_id"] for one in tail("--type", "client.registered", *words)]

        self.assertEqual(clients("--limit", "2"), names[1:])
        self.assertEqual(clients()[-3:], names)
        last = tail("--limit", "3")
        head = tail("--type", "realm.settings_changed", "--limit", "1")[0]
        self.assertEqual(head["data"]["changes"], {"display_name": "Demo 11"})
        self.assertEqual(len(last), 3)
        self.assertGreaterEqual(last[-1]["position"], head["position"])
        self.assertEqual(len(tail()), 10)
        first = tail("--from", "1", "--limit", "2")
        self.assertEqual([one["position"] for one in first], [1, 2])
        self.assertEqual(tail("--type", "push_provider.removed"), [])

    def test_events_of_an_unknown_realm_are_refused(self):
        for words in (("tail",), ("tail", "--follow"), ("show", "1")):
            done = urd.command("events", *words, "--realm", "nosuch")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("There is no realm 'nosuch'", done.stderr)

    def test_one_member_of_a_client_is_changed(self):
        name = f"change-{uuid.uuid4().hex[:6]}"
        made = read("client", "register", "--client-id", name, "--client-name", "Shop",
                    "--redirect-uris", "https://a.example/back", "--scope", "openid email")
        changed = read("client", "change", name, "--consent", "none", "--unset", "client-name")
        wanted = {member: value for member, value in made.items()
                  if member not in ("client_name", "client_secret", "client_secret_expires_at")}
        self.assertEqual(changed, {**wanted, "consent": "none"})
        self.assertEqual(read("client", "show", name), changed)

    def test_an_unknown_subject_is_not_erased(self):
        made = read("client", "register", "--client-id", f"own-{uuid.uuid4().hex[:6]}",
                    "--grant-types", "client_credentials", "--contacts", somebody())
        events = ask("events", "tail", "--type", "client.registered", "--limit", "1", "--json")
        subject = json.loads(events)["subject"]
        receipt = read("subject", "erase", subject, "--yes")
        self.assertEqual(read("subject", "erase", subject, "--yes"), receipt)
        self.assertIn("contacts", made)
        self.assertNotIn("contacts", read("client", "show", made["client_id"]))
        self.assertIn("No event of the realm is sealed under this subject.", ask(
            "subject", "erase", str(uuid.uuid4()), "--yes", code=1))
        # Over HTTP it says where it came from, and belongs to nobody.
        urd.api.call("POST", urd.realm + "/apps", {
            "slug": f"a{uuid.uuid4().hex[:6]}", "name": "A"}, User_Agent="somebody's browser")
        shared = json.loads(ask(
            "events", "tail", "--type", "app.created", "--limit", "1", "--json"))["subject"]
        self.assertIn("share it", ask("subject", "erase", shared, "--yes", code=1))
        self.assertIn("somebody's browser", ask(
            "events", "tail", "--type", "app.created", "--limit", "1", "--open"))

    def test_the_login_history_filters_by_person_client_and_failure(self):
        email = somebody()
        phone.request_code(email)
        mailed = code(urd, email)
        phone.redeem(email, another(mailed))
        status, tokens, _ = phone.call("POST", "/connect/token", form={
            "grant_type": "urn:cocoar:otp", "client_id": phone.client, "username": email,
            "otp_code": mailed, "scope": "openid offline_access"},
            User_Agent="=cmd (iPhone; iOS 18.1)")
        self.assertEqual(status, 200, tokens)
        phone.call("POST", "/api/account/logout-everywhere", token=tokens["access_token"])

        def attempts():
            items = read("history", "user", email)["items"]
            return items if items and items[0].get("ended_at") else None

        mine = eventually(attempts, "the history holds it")
        self.assertEqual(len(mine), 1, "Before there was an account, it was nobody's.")
        self.assertEqual(
            (mine[0]["outcome"], mine[0]["device"], mine[0]["end_reason"], mine[0]["method"]),
            ("signed_in", "iPhone", "signed_out_everywhere", "urn:cocoar:otp"))
        self.assertNotIn("address", mine[0])
        opened = read(
            "history", "user", email, "--open", "true", "--open-reason", "Incident 4711")["items"][0]
        self.assertEqual(opened["address"], "127.0.0.1")
        through = read("history", "client", phone.client)["items"]
        self.assertEqual({one["outcome"] for one in through}, {"signed_in", "refused"})
        failures = read("history", "failures")["items"]
        self.assertEqual({one["reason"] for one in failures}, {"invalid_code"})
        self.assertIn("OUTCOME", ask("history", "failures"))
        rows = list(csv.DictReader(io.StringIO(
            ask("history", "user", email, "--open",
                "--open-reason", "Incident 4711", "--csv"), newline="")))
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0]["session"], mine[0]["session"])
        self.assertEqual(rows[0]["user_agent"], "'=cmd (iPhone; iOS 18.1)")
        nobody = str(uuid.uuid4())
        self.assertIn("no such account", ask("history", "user", nobody, code=1))
        self.assertEqual(read("history", "user", email, "--outcome", "refused")["items"], [])
        self.assertEqual(read("history", "list", "--since", "2100-01-01T00:00:00Z")["items"], [])

    def test_sessions_and_mails_of_a_person_are_listed(self):
        email = somebody()
        phone.sign_in(email)
        sessions = read("account", "sessions", email)["items"]
        self.assertEqual([one["client_id"] for one in sessions], [phone.client])
        ask("account", "end-session", email, sessions[0]["id"], "--yes")
        self.assertEqual(read("account", "sessions", email)["items"], [])
        self.assertEqual(read("mail", "list", "--failed", "true")["items"], [])
        self.assertIn("There is no such mail", ask("mail", "resend", str(uuid.uuid4()), code=1))

    def test_a_changed_address_is_announced_at_the_old_one(self):
        old, new = somebody(), somebody()
        phone.sign_in(old)
        account = read("account", "show", old)["id"]
        status, answer, _ = urd.api.call(
            "PATCH", f"{urd.realm}/accounts/{account}", {"email": new, "confirmed": True})
        self.assertEqual(status, 200, answer)

        def told():
            return [one for one in inbox(urd, old) if "was changed" in one["subject"]]

        letter = eventually(told, "the old address hears of it")[0]
        self.assertNotIn(new, letter["text"])
        self.assertEqual([one for one in inbox(urd, new) if "changed" in one["subject"]], [])


if __name__ == "__main__":
    unittest.main()
