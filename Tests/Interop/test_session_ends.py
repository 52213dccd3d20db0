"""What ends a session without a word in its own stream: the session that it was exchanged from, its client, and the
removal of access. SQL, states as of a moment and lists say the same of it as the tokens do."""

import base64
import hashlib
import secrets
import unittest
import urllib.parse

from analyst_role import Analyst
from person import Form, Person
from phone import Phone
from urd_process import Urd, eventually

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS = "urn:ietf:params:oauth:token-type:access_token"
BACK = "http://127.0.0.1:53535/back"
# More than a page of any list.
MANY = 206
GATEWAY, ORDERS = "https://gateway.example", "https://orders.example"


def setUpModule():
    global urd, analyst
    urd = Urd(lawful=True)
    analyst = Analyst(urd, urd.values["URD_REALM"])
    admin("PATCH", "/settings", {
        "registration": "jit_on_otp", "rate_limits": {
            "oauth-token": {"client": None, "source": None, "target": None}}})


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


class Relying:
    """A client with the sessions of one person in one browser."""

    def __init__(self):
        self.id = register(
            token_endpoint_auth_method="none", consent="none", redirect_uris=["http://127.0.0.1/back"],
            application_type="native", grant_types=["authorization_code", "refresh_token"],
            scope="openid offline_access")["client_id"]
        port = urd.values["URD_URL"].rsplit(":", 1)[1].strip("/")
        self.person = Person(urd, f"http://localhost:{port}")
        self.phone = Phone(urd, host="localhost", client=self.id)

    def tokens(self):
        status, tokens = self.redeem(*self.code())
        assert status == 200, tokens
        return tokens

    def code(self):
        """A code for whoever is signed in, and its verifier."""
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
        place, _ = self.person.go("/connect/authorize?" + urllib.parse.urlencode({
            "response_type": "code", "client_id": self.id, "redirect_uri": BACK,
            "scope": "openid offline_access", "code_challenge_method": "S256",
            "code_challenge": challenge.decode()}))
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))["code"], verifier

    def redeem(self, code, verifier):
        status, answer, _ = self.phone.token(
            "authorization_code", code=code, redirect_uri=BACK, code_verifier=verifier)
        return status, answer

    def refreshes(self, tokens):
        return self.phone.refresh(tokens["refresh_token"])[0] == 200

    def remove(self):
        _, _, page = self.person.call("GET", "/account/sessions")
        form = next(form for place, form in Form(page).forms
                    if place == "/account/apps/end" and form["client"] == self.id)
        status, place, page = self.person.call("POST", "/account/apps/end", form)
        assert status == 303, page
        return place


class ManyTests(unittest.TestCase):
    def test_removing_access_ends_every_session_however_many_there_are(self):
        client = Relying()
        all_tokens = [client.tokens() for _ in range(MANY)]
        self.assertEqual(client.remove(), "/account/sessions?done=access-removed")
        later = client.tokens()
        self.assertEqual([client.refreshes(tokens) for tokens in all_tokens], [False] * MANY)
        status, _, _ = client.phone.call(
            "GET", "/connect/userinfo", token=all_tokens[0]["access_token"])
        self.assertEqual(status, 401)
        # Who is let in again afterwards stays in.
        self.assertTrue(client.refreshes(later))
        ends = analyst.rows(
            "select end_reason, ended_at is not null as ended, count(*) as number from sessions_v1 "
            f"where client_id = '{client.id}' group by 1, 2 order by 1 nulls last")
        self.assertEqual(
            [(row["end_reason"], row["ended"], row["number"]) for row in ends],
            [("withdrawn", True, MANY), (None, False, 1)])
        account = analyst.ask(
            f"select distinct account from sessions_v1 where client_id = '{client.id}'")
        listed = admin("GET", f"/accounts/{account}/sessions?limit=200")[0]["items"]
        self.assertEqual([one["kind"] for one in listed], ["client", "browser"])
        moment = urd.sql(
            f"select position from urd.realm_log where realm = '{urd.values['URD_REALM']}'")
        state = admin("GET", f"/as-of/{moment}/accounts/{account}/sessions")[0]
        self.assertEqual(len(state["open"]), 2)


class UnderWayTests(unittest.TestCase):
    def test_a_code_that_is_under_way_when_access_is_removed_opens_nothing(self):
        client = Relying()
        before = client.tokens()
        held = client.code()
        client.remove()
        status, answer = client.redeem(*held)
        self.assertEqual((status, answer["error"]), (400, "invalid_grant"))
        # Who is let in again afterwards is in, and stays in.
        later = client.code()
        status, tokens = client.redeem(*later)
        self.assertEqual(status, 200, tokens)
        self.assertEqual((client.refreshes(before), client.refreshes(tokens)), (False, True))
        eventually(lambda: analyst.rows(
            "select reason from sign_ins_v1 where reason = 'access_removed' "
            f"and client_id = '{client.id}'"), "the refusal on record")


if __name__ == "__main__":
    unittest.main()
