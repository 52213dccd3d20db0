"""What ends a session without a word in its own stream: the session that it was exchanged from, and its client. SQL,
states as of a moment and lists say the same of it as the tokens do."""

import secrets
import unittest

from analyst_role import Analyst
from phone import Phone
from urd_process import Urd

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS = "urn:ietf:params:oauth:token-type:access_token"
GATEWAY, ORDERS = "https://gateway.example", "https://orders.example"


def setUpModule():
    global urd, analyst
    urd = Urd()
    analyst = Analyst(urd, urd.values["URD_REALM"])


def tearDownModule():
    urd.close()


def admin(method, path, body=None):
    status, answer, headers = urd.api.call(method, urd.realm + path, body)
    assert status < 300, (method, path, status, answer)
    return answer, headers


def register(**metadata):
    return admin("POST", "/clients", {"client_id": "c" + secrets.token_hex(5), **metadata})[0]


class EndTests(unittest.TestCase):
    def setUp(self):
        self.name = register(
            application_type="native", token_endpoint_auth_method="none", scope="openid orders",
            grant_types=["urn:cocoar:otp", "refresh_token"])["client_id"]
        self.phone = Phone(urd, client=self.name)
        self.tokens = self.phone.sign_in(
            f"{secrets.token_hex(5)}@example.org", scope="openid orders", resource=GATEWAY)
        self.account = analyst.ask(f"select account from sessions_v1 where client_id = '{self.name}'")

    def exchange(self):
        gateway = register(
            grant_types=[EXCHANGE], token_exchange="delegation", audiences=[GATEWAY],
            exchange_targets=[ORDERS], token_endpoint_auth_method="client_secret_post")
        caller = Phone(urd, client=gateway["client_id"], secret=gateway["client_secret"])
        status, given, _ = caller.token(
            EXCHANGE, scope="orders", subject_token=self.tokens["access_token"],
            subject_token_type=ACCESS, resource=ORDERS)
        assert status == 200, given
        return gateway, caller

    def rows(self):
        return {row["client_id"]: row for row in analyst.rows(
            "select client_id, end_reason, ended_at is not null as ended, expires_at > now() as lasts "
            f"from sessions_v1 where account = '{self.account}'")}

    def open(self, moment=None):
        moment = moment or urd.sql(
            f"select position from urd.realm_log where realm = '{urd.values['URD_REALM']}'")
        state = admin("GET", f"/as-of/{moment}/accounts/{self.account}/sessions")[0]
        return sorted(state["state"]["sessions"][id]["client_id"] for id in state["open"])

    def listed(self):
        items = admin("GET", f"/accounts/{self.account}/sessions")[0]["items"]
        return sorted(item["client_id"] for item in items)

    def test_what_was_exchanged_ends_with_its_origin(self):
        gateway, _ = self.exchange()
        both = sorted([self.name, gateway["client_id"]])
        self.assertEqual((self.open(), self.listed()), (both, both))
        self.assertEqual({row["end_reason"] for row in self.rows().values()}, {None})
        self.phone.call(
            "POST", "/connect/revoke",
            form={"client_id": self.name, "token": self.tokens["access_token"]})
        self.assertEqual((self.open(), self.listed()), ([], []))
        rows = self.rows()
        self.assertEqual(rows[self.name]["end_reason"], "revoked")
        self.assertEqual(rows[gateway["client_id"]]["end_reason"], "exchanged_revoked")
        self.assertEqual({(row["ended"], row["lasts"]) for row in rows.values()}, {(True, True)})

    def test_sessions_end_with_their_client(self):
        self.assertEqual((self.open(), self.listed()), ([self.name], [self.name]))
        _, headers = admin("DELETE", f"/clients/{self.name}")
        position = int(headers["Urd-Position"].split(":")[2])
        self.assertEqual((self.open(), self.listed()), ([], []))
        self.assertEqual(self.open(position - 1), [self.name])
        self.assertEqual(self.rows()[self.name]["end_reason"], "client_deleted")


if __name__ == "__main__":
    unittest.main()
