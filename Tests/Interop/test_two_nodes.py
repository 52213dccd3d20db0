"""Two servers on one database: what one of them was told holds on the other by the time of the
answer, and what happens once happens once, whichever of them is asked."""

import base64
import http.client
import itertools
import os
import random
import signal
import threading
import unittest
import urllib.parse
import uuid

from phone import SCOPE, Phone, code, inbox
from urd_process import Server, Urd, eventually, together


def setUpModule():
    global urd, nodes, phones, watcher
    urd, nodes = Urd(), []
    nodes += [Server(urd.values).ready(), Server(urd.values).ready()]
    phones = [at(node) for node in nodes]
    made = admin("POST", urd.clients, {
        "grant_types": ["client_credentials"], "introspects_all_tokens": True})
    watcher = made["client_id"], made["client_secret"]


def tearDownModule():
    for node in nodes:
        node.close()
    urd.close()


def at(node, client="demo-native"):
    """A phone that speaks to this node, under the one name that both have."""
    phone = Phone(urd, client=client, url=node.url)
    phone.host = "demo.localhost:" + str(urllib.parse.urlsplit(urd.values["URD_URL"]).port)
    return phone


def admin(method, path, body=None):
    status, answer, headers = urd.api.call(method, path, body)
    assert status < 300, (status, answer)
    return answer


def client(**metadata):
    """A client of its own, so that no limit of another test counts."""
    name = f"app-{uuid.uuid4().hex[:8]}"
    admin("POST", urd.clients, {
        "client_id": name, "token_endpoint_auth_method": "none", "application_type": "native",
        "grant_types": ["urn:cocoar:otp", "refresh_token"], **metadata})
    return name


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def is_good(node, token):
    """As a resource server is told that may ask about every token."""
    pair = base64.b64encode(f"{watcher[0]}:{watcher[1]}".encode()).decode()
    status, answer, _ = node.call(
        "POST", "/connect/introspect", form={"token": token}, Authorization=f"Basic {pair}")
    assert status == 200, answer
    return answer["active"]


def account(email):
    """The account of a mail address, as the admin API finds it."""
    status, answer, _ = urd.api.call("GET", urd.realm + "/accounts", Email=email)
    assert status == 200, answer
    return answer["items"][0]["id"]


class Frozen(unittest.TestCase):
    def holder(self):
        """The node that does what one node at a time does."""
        return urd.sql(
            "select holder from urd.lease where name = 'logout' and holder is not null")

    def test_another_node_takes_the_lease_of_a_frozen_one(self):
        before = eventually(self.holder, "a node tells clients of logouts")
        os.kill(urd.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, urd.pid, signal.SIGCONT)
        after = eventually(lambda: self.holder() not in ("", before) and self.holder(),
                           "another one does")
        os.kill(urd.pid, signal.SIGCONT)
        eventually(lambda: urd.ready()[0] == 200, "it goes on with all else")
        self.assertEqual(self.holder(), after)


class Revocation(unittest.TestCase):
    """Warm caches first: each token is good on each node before."""

    def sessions(self, form="reference"):
        email = somebody()
        name = client(access_token_format=form)
        apps = [at(node, name) for node in nodes]
        tokens = [apps[number % 2].sign_in(email) for number in range(4)]
        for app, one in itertools.product(apps, tokens):
            status, _, _ = app.call("GET", "/connect/userinfo", token=one["access_token"])
            self.assertEqual(status, 200)
            self.assertTrue(is_good(app, one["access_token"]))
        return email, apps, tokens

    def all_dead(self, apps, tokens):
        for app, one in itertools.product(apps, tokens):
            status, _, _ = app.call("GET", "/connect/userinfo", token=one["access_token"])
            self.assertEqual(status, 401)
            self.assertFalse(is_good(app, one["access_token"]))
            status, body, _ = app.refresh(one["refresh_token"])
            self.assertEqual((status, body["error"]), (400, "invalid_grant"))

    def test_MOD_12_a_rotated_stamp_ends_every_token_on_both_nodes_at_once(self):
        for _ in range(3):
            _, apps, tokens = self.sessions()
            status, _, _ = apps[0].call(
                "POST", "/api/account/logout-everywhere", token=tokens[1]["access_token"])
            self.assertEqual(status, 204)
            self.all_dead(reversed(apps), tokens)

    def test_MOD_12_an_administrators_logout_ends_every_token_on_both_nodes(self):
        for word, told in [("log-out", "signed out"), ("disable", "disabled")]:
            email, apps, tokens = self.sessions()
            admin("POST", f"{urd.realm}/accounts/{account(email)}/{word}")
            self.all_dead(apps, tokens)
            eventually(lambda: told in inbox(urd, email)[0]["subject"], "it is told by mail")

    def test_a_deletion_ends_every_token_and_locks_the_account_until_it_is_cancelled(self):
        email, apps, tokens = self.sessions()
        before = len(inbox(urd, email))
        status, body, _ = apps[1].call("DELETE", "/api/account", token=tokens[0]["access_token"])
        self.assertEqual(status, 200, body)
        self.all_dead(apps, tokens)
        self.assertEqual(apps[0].request_code(email)[0], 200)
        path = f"{urd.realm}/accounts/{account(email)}"
        # The mail that says so comes; one with a code does not.
        eventually(lambda: len(inbox(urd, email)) > before, "the deletion is told by mail")
        self.assertIn("deletion", inbox(urd, email)[0]["subject"])
        admin("POST", path + "/cancel-deletion")
        self.assertTrue(is_good(apps[1], apps[0].sign_in(email)["access_token"]))

    def test_one_session_ends_without_the_others(self):
        _, apps, tokens = self.sessions()
        status, mine, _ = apps[0].call(
            "GET", "/api/account/sessions", token=tokens[0]["access_token"])
        self.assertEqual((status, len(mine)), (200, 4))
        current = next(one["Id"] for one in mine if one["Current"])
        status, _, _ = apps[1].call(
            "DELETE", f"/api/account/sessions/{current}", token=tokens[1]["access_token"])
        self.assertEqual(status, 204)
        self.all_dead(apps, tokens[:1])
        for app, one in itertools.product(apps, tokens[1:]):
            self.assertTrue(is_good(app, one["access_token"]))


class Once(unittest.TestCase):
    def test_a_code_redeemed_fifty_times_on_two_nodes_signs_in_once(self):
        name, email = client(), somebody()
        apps = [at(node, name) for node in nodes]
        self.assertEqual(apps[0].request_code(email)[0], 200)
        mailed = code(urd, email)
        answers = together(50, lambda number: apps[number % 2].redeem(email, mailed))
        self.assertEqual(sorted(answer[0] for answer in answers), [200] + [400] * 49, answers)
        opened = urd.sql(
            "select count(*) from urd.event where type = 'session.opened' and data ->> 'client_id'"
            f" = '{name}'")
        self.assertEqual(opened, "1")

    def test_a_named_request_whose_node_is_killed_has_its_answer_from_another(self):
        name, cut, turn = client(), 0, 0
        while not cut:
            turn += 1
            self.assertLess(turn, 8, "no request was cut off")
            emails = [somebody() for _ in range(6)]
            for email in emails:
                admin("POST", urd.realm + "/accounts", {"email": email, "confirmed": True})
                phones[0].request_code(email)
            forms = [{"grant_type": "urn:cocoar:otp", "client_id": name, "username": email,
                      "otp_code": code(urd, email), "scope": SCOPE} for email in emails]
            keys = [str(uuid.uuid4()) for _ in emails]

            def redeem(phone, number):
                try:
                    return phone.call("POST", "/connect/token", form=forms[number],
                                      Idempotency_Key=keys[number])[:2]
                except (OSError, http.client.HTTPException):
                    return 0, None

            dying = Server(urd.values).ready()
            phone = at(dying)
            kill = threading.Timer(random.uniform(0, 0.05), dying.process.send_signal,
                                   [signal.SIGKILL])
            kill.start()
            first = together(6, lambda number: redeem(phone, number))
            kill.join()
            dying.close()
            cut += sum(status == 0 for status, _ in first)
            again = together(6, lambda number: redeem(phones[1], number))
            for (answered, tokens), (status, found) in zip(first, again):
                self.assertEqual(status, 200, found)
                if answered:
                    self.assertEqual((answered, tokens["refresh_token"]),
                                     (200, found["refresh_token"]))
                self.assertEqual(at(nodes[0], name).refresh(found["refresh_token"])[0], 200)
            self.assertEqual(redeem(phones[1], 0)[0], 400)
            opened = urd.sql("select count(*) from urd.event where realm = 'demo' and type ="
                             f" 'session.opened' and data::text like '%\"{name}\"%'")
            self.assertEqual(int(opened), 6 * turn)

    def test_fifty_refreshes_on_two_nodes_have_one_lineage(self):
        apps = [at(node, client_id) for client_id in [client()] for node in nodes]
        tokens = apps[0].sign_in(somebody())
        answers = together(
            50, lambda number: apps[number % 2].refresh(tokens["refresh_token"]))
        self.assertEqual({answer[0] for answer in answers}, {200}, answers)
        self.assertEqual(len({answer[1]["refresh_token"] for answer in answers}), 1)


class Deletions(unittest.TestCase):
    def test_a_due_deletion_is_carried_out_once_and_frees_the_address(self):
        """With three nodes that all look for what is due."""
        email = somebody()
        first = phones[0].sign_in(email)
        id = account(email)
        # As if the grace were over: the sheet's thirty days are long for a test.
        admin("PATCH", urd.realm + "/settings", {"account_deletion_grace": 0})
        try:
            admin("DELETE", f"{urd.realm}/accounts/{id}")
        finally:
            admin("PATCH", urd.realm + "/settings", {"account_deletion_grace": None})

        def events():
            return urd.sql(
                f"select string_agg(type, ' ' order by position) from urd.event"
                f" where stream = '{id}' and type in ('account.deleted', 'account.erased')")

        eventually(lambda: events() == "account.deleted account.erased", "it is carried out")
        status, _, _ = urd.api.call("GET", f"{urd.realm}/accounts/{id}")
        self.assertEqual(status, 404)
        self.assertFalse(is_good(phones[1], first["access_token"]))
        self.assertEqual(
            urd.sql(f"select wrapped is null from urd.subject_key where subject = '{id}'"), "t")
        again = phones[1].sign_in(email)
        status, who, _ = phones[1].call("GET", "/connect/userinfo", token=again["access_token"])
        self.assertEqual((status, who["email"]), (200, email))
        self.assertNotEqual(who["sub"], id)
        status, body, _ = urd.api.call(
            "POST", f"{urd.realm}/accounts/{account(email)}/erase")
        self.assertEqual(status, 200, body)
        # And once more: neither erasure took the address along.
        phones[0].sign_in(email)
        self.assertEqual(urd.command("verify").returncode, 0)


if __name__ == "__main__":
    unittest.main()
