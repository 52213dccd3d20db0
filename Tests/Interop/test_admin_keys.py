"""Keys that read and do nothing else, and the events of one account, against a running server."""

import json
import unittest
import urllib.parse
import uuid

from phone import Phone
from urd_process import Urd, eventually


def setUpModule():
    global urd
    urd = Urd(lawful=True)


def tearDownModule():
    urd.close()


def made(*words):
    """A key that the command line made."""
    done = urd.command("admin", "key", "create", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class LimitedKeys(unittest.TestCase):
    def test_a_key_made_for_reading_reads_and_registers_no_client(self):
        key = made("--name", "siem", "--realms", "demo", "--may", "events.read,history.read")
        self.assertEqual(key["permissions"], ["events.read", "history.read"])
        for path in ("/events", "/events/1", "/login-history"):
            self.assertEqual(urd.api.call("GET", urd.realm + path, key=key["key"])[0], 200, path)
        before = urd.api.call("GET", urd.clients)[1]["items"]
        for method, path, body in [
            ("POST", urd.clients, {"client_name": "Sneaky"}), ("GET", urd.clients, None),
            ("GET", urd.realm + "/audit-trail", None), ("GET", "/api/admin/keys", None),
            ("POST", "/api/admin/keys", {"name": "wider"}),
        ]:
            status, body, _ = urd.api.call(method, path, body, key=key["key"])
            self.assertEqual((status, body["type"]), (403, "/problems/forbidden"), path)
        status, body, _ = urd.api.call(
            "GET", urd.realm + "/login-history?open=true", key=key["key"])
        self.assertEqual((status, body["field"]), (403, "open"))
        self.assertIn("events.open", body["detail"])
        self.assertEqual(urd.api.call("GET", urd.clients)[1]["items"], before)

    def test_the_permissions_of_a_key_are_shown_and_audited(self):
        key = made("--name", "analyst", "--may", "analyst")
        shown = urd.command("admin", "key", "show", key["id"])
        self.assertIn("analyst", shown.stdout)
        _, events, _ = urd.api.call("GET", "/api/admin/realms/system/events?limit=200")
        (event,) = [e for e in events["items"] if e["stream"] == key["id"]]
        self.assertEqual(event["data"]["permissions"], ["analyst"])

    def test_a_row_that_was_widened_by_hand_makes_the_key_useless(self):
        key = made("--name", "reader", "--may", "events.read")
        build = urd.sql("select build from urd.projection_build "
                        "where projection = 'admin_keys' and status = 'live'")
        urd.sql(f"update urd.admin_keys_{build} set permissions = null where key = '{key['id']}'")
        for path in (urd.realm + "/events", urd.clients):
            self.assertEqual(urd.api.call("GET", path, key=key["key"])[0], 401)


class EventsOfAnAccount(unittest.TestCase):
    def test_the_events_of_an_account_have_the_ends_of_its_sessions(self):
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        phone = Phone(urd)
        _, account, _ = urd.api.call(
            "POST", urd.realm + "/accounts", {"email": email, "confirmed": True})
        tokens = phone.sign_in(email)
        status, tokens, _ = phone.refresh(tokens["refresh_token"])
        self.assertEqual(status, 200, tokens)
        # That a mail went is on record a moment after it came.
        known = f"{urd.realm}/events?account={account['id']}&limit=200"
        eventually(lambda: "mail.sent" in [
            event["type"] for event in urd.api.call("GET", known)[1]["items"]], "it is on record")
        # A write tells where the log is by then.
        _, _, headers = urd.api.call("POST", f"{urd.realm}/accounts/{account['id']}/log-out")
        query = urllib.parse.urlencode(
            {"account": account["id"], "limit": 200, "min_position": headers["Urd-Position"]})
        status, page, _ = urd.api.call("GET", f"{urd.realm}/events?{query}")
        self.assertEqual(status, 200, page)
        types = [event["type"] for event in page["items"]]
        for type in ("account.registered", "mailbox.assigned", "otp.issued", "mail.sent",
                     "otp.redeemed", "session.opened", "session.refreshed",
                     "account.stamp_rotated"):
            self.assertIn(type, types)
        positions = [event["position"] for event in page["items"]]
        self.assertEqual(positions, sorted(set(positions)))
        # The command line asks the same, and knows people by their address.
        told = urd.command("events", "list", "--realm", "demo", "--account", email, "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        listed = [event["position"] for event in json.loads(told.stdout)["items"]]
        self.assertEqual(listed[:len(positions)], positions[:len(listed)])
        same = urd.command("projections", "verify", "event_index")
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        client = urd.command(
            "events", "list", "--realm", "demo", "--client", "no-such", "--account", email)
        self.assertNotEqual(client.returncode, 0)
        self.assertIn("no client 'no-such'", client.stderr)


if __name__ == "__main__":
    unittest.main()
