"""Random walks of an owner and a thief with the refresh tokens of one session, in real time and at two nodes: with and
without keys (DPoP), with lost answers and with copies of one request. `RefreshWalkTests` has the same without sockets.
A hundred walks; 3,000 with URD_LONG_TESTS=1."""

import base64
import concurrent.futures
import hashlib
import json
import os
import random
import time
import unittest
import urllib.parse
import uuid

from phone import SCOPE, Phone, code
from token_tool import missing, rerun
from urd_process import Server, Urd, together

MISSING = missing("cryptography")
if not MISSING:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

WALKS, AT_ONCE = (3_000, 50) if os.environ.get("URD_LONG_TESTS") == "1" else (100, 100)
# In seconds: the shortest leeway in which each of its moments is there, and what is over after it.
LEEWAY = 2
LATER = 2 * LEEWAY + 3
UNLIMITED = {"source": None, "target": None, "client": None, "app": None, "sign-ups": None}


def setUpModule():
    global urd, nodes, issuer
    urd, nodes = Urd(lawful=True), []
    nodes += [Server(urd.values).ready(), Server(urd.values).ready()]
    # One issuer at both nodes, whatever port each listens at.
    issuer = "https://id.example.org"
    status, body, _ = urd.api.call("PATCH", f"{urd.realm}/settings", {
        "registration": "jit_on_otp", "links_base_url": issuer, "refresh_token_leeway": LEEWAY,
        "rate_limits": {"native-otp": UNLIMITED, "oauth-token": {
            name: UNLIMITED[name] for name in ("source", "target", "client")}}})
    assert status == 200, body
    status, body, _ = urd.api.call("POST", urd.clients, {
        "client_id": "walks", "application_type": "native", "token_endpoint_auth_method": "none",
        "grant_types": ["urn:cocoar:otp", "refresh_token"]})
    assert status == 201, body


def tearDownModule():
    for node in nodes:
        node.close()
    urd.close()


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        point = self.key.public_key().public_numbers()
        self.jwk = {"crv": "P-256", "kty": "EC", "x": encode(point.x.to_bytes(32, "big")),
                    "y": encode(point.y.to_bytes(32, "big"))}
        text = json.dumps(self.jwk, sort_keys=True, separators=(",", ":"))
        self.name = encode(hashlib.sha256(text.encode()).digest())

    def proof(self):
        parts = ({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk},
                 {"jti": uuid.uuid4().hex, "htm": "POST", "htu": issuer + "/connect/token",
                  "iat": int(time.time())})
        text = ".".join(encode(json.dumps(part).encode()) for part in parts)
        r, s = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{encode(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class Fault(AssertionError):
    pass


class Step:
    """A request for the next token."""

    def __init__(self, who, shown, key):
        self.who, self.shown, self.key = who, shown, key and key.name
        self.begun, self.got, self.is_new, self.error = time.time(), None, False, None


class Walk:
    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)
        self.steps, self.given, self.stolen = [], [], []
        self.own, self.other = Key(), Key()
        # The owner's client has a key from the start, later or never.
        self.key = self.own if self.chance(50) else None
        self.opened_by = self.key and self.key.name
        self.begins_later = self.chance(50)
        self.has_thief = seed % 3 != 0
        # A header alone is one of the owner's, which was used.
        self.means = self.random.choice(
            ["no key", "fresh key", "fresh key", "stolen key", "header alone"])
        self.header, self.spoilt, self.outcome, self.took = "a.b.c", None, None, None

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def fail(self, what):
        raise Fault(f"walk {self.seed}: {what}: " + repr([
            (step.who, round(step.begun - self.steps[0].begun, 2), step.shown, step.key, step.got,
             step.error) for step in self.steps]))

    def phone(self, node=None):
        node = nodes[self.random.randrange(2) if node is None else node]
        phone = Phone(urd, client="walks", url=node.url)
        phone.host = "demo.localhost:" + str(urllib.parse.urlsplit(urd.values["URD_URL"]).port)
        return phone

    def token(self, phone, proof, **members):
        headers = {"DPoP": proof} if proof else {}
        status, body, _ = phone.call(
            "POST", "/connect/token", form={"client_id": "walks", **members}, **headers)
        return status, body

    def sign_in(self):
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        status, body, _ = self.phone().request_code(email)
        assert status == 200, body
        status, body = self.token(
            self.phone(), self.key and self.key.proof(), grant_type="urn:cocoar:otp",
            username=email, otp_code=code(urd, email), scope=SCOPE)
        assert status == 200, body
        part = body["id_token"].split(".")[1]
        self.session = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["sid"]
        self.given.append(body["refresh_token"])
        return body["refresh_token"]

    def refresh(self, who, token, key, node=None, header=None):
        proof = header or key and key.proof()
        step = Step(who, self.given.index(token), key)
        status, body = self.token(
            self.phone(node), proof, grant_type="refresh_token", refresh_token=token)
        step.ended = time.time()
        if who == "owner" and key:
            self.header = proof
        if status == 200 and not header:
            self.note(step, body["refresh_token"])
        elif body.get("error") in ("invalid_grant", header and "invalid_dpop_proof"):
            step.error = body["error"]
        else:
            self.fail(f"{status} {body} for {who}")
        self.steps.append(step)
        return step.got is not None and self.given[step.got] or None

    def note(self, step, token):
        step.is_new = token not in self.given
        if step.is_new:
            self.given.append(token)
        step.got = self.given.index(token)

    def refresh_in_copies(self, token):
        """The same request at both nodes at once; whichever of the answers the client keeps."""
        steps = [Step("owner", self.given.index(token), self.key) for _ in nodes]
        proofs = [self.key and self.key.proof() for _ in nodes]
        answers = together(2, lambda node: self.token(
            self.phone(node), proofs[node], grant_type="refresh_token", refresh_token=token))
        for step, (status, body) in zip(steps, answers):
            step.ended = time.time()
            if status == 200:
                self.note(step, body["refresh_token"])
            step.error = body.get("error")
            self.steps.append(step)
        # A machine that stood still for so long made two requests of them.
        if steps[0].ended - steps[0].begun > LEEWAY:
            return self.refresh("owner", token, self.key)
        return self.random.choice(answers)[1].get("refresh_token")

    def steal(self):
        if not self.stolen:
            self.stolen = [self.random.choice(self.given[-2:])]
            self.took = "living" if self.stolen[0] == self.given[-1] else "used"
        key, header = None, None
        if self.chance(50):
            key = {"fresh key": self.other, "stolen key": self.own}.get(self.means)
            header = self.header if self.means == "header alone" else None
        got = self.refresh("thief", self.random.choice(self.stolen), key, header=header)
        if got:
            if self.steps[-1].is_new and self.spoilt is None:
                self.spoilt = len(self.steps) - 1
            self.stolen.append(got)

    def run(self):
        token = self.sign_in()
        for _ in range(self.random.randint(4, 12)):
            time.sleep(self.random.uniform(
                0, self.random.choice([0.05, 0.5, LEEWAY, LEEWAY + 1, LEEWAY + 2, LATER])))
            if self.begins_later and self.chance(20):
                self.key = self.own
            if self.has_thief and self.chance(50):
                self.steal()
                continue
            made_at = max([step.ended for step in self.steps if step.is_new], default=time.time())
            if not self.stolen and self.chance(15):
                fresh = self.refresh_in_copies(token)
            else:
                fresh = self.refresh("owner", token, self.key)
            if self.spoilt is not None and fresh and fresh not in self.stolen:
                self.outcome, token = self.outcome or "cut off", fresh
                break
            if self.spoilt is not None and fresh:
                # Both have the living token for the moment of the leeway alone.
                self.outcome = "shared for a moment"
                if self.steps[-1].begun > made_at + LATER:
                    self.fail("both have the living token")
            if not fresh:
                break
            # The answer may be lost: the same is asked again.
            if self.chance(60):
                token = fresh
        if self.spoilt is not None:
            self.come_again(token)
        return self

    def come_again(self, token):
        """Seen or cut off: once the owner has come again, the thief has nothing any more."""
        for _ in range(2):
            time.sleep(LATER)
            token = self.refresh("owner", token, self.key) or token
            if self.steps[-1].error:
                break
        key = {"fresh key": self.other, "stolen key": self.own}.get(self.means)
        for shown in self.stolen:
            for proved in (None, key):
                if self.refresh("thief", shown, proved):
                    self.fail("a thief goes on")

    def check(self, end, binding):
        """By what the log says: how and when the session ended, and when it was bound to which key."""
        owners = [number for number, step in enumerate(self.steps) if step.who == "owner"]
        if not end and any(self.steps[number].error for number in owners):
            self.fail("an owner is refused, and nothing is over")
        if not end and self.spoilt is not None:
            self.fail("a theft is unnoticed")
        if self.opened_by and (binding or [None])[0] != self.opened_by:
            self.fail("a session is not bound to the key of its opening")
        for step in self.steps:
            if binding and step.got is not None and step.begun > binding[1] and (
                    step.key != binding[0]):
                self.fail(f"a session of {binding[0]} is refreshed without it")
        if not end:
            return self.outcome or ("useless" if self.took else "honest")
        reason, moment = end
        if reason != "reuse" or not self.has_thief:
            self.fail(f"an honest session is lost ({reason})")
        # What a walk does it does one after the other.
        at = max(number for number, step in enumerate(self.steps) if step.begun <= moment)
        if self.steps[at].who == "thief":
            return self.outcome or "ended by its thief"
        if self.spoilt is None or self.spoilt > at:
            self.fail("an honest session is lost by a request of its owner")
        return self.outcome or "seen"


def logged():
    """How sessions ended, and which keys they are bound to since when."""
    ends, bindings = {}, {}
    for line in urd.sql(
            "select stream || ' ' || type || ' ' || extract(epoch from at) || ' ' || data::text"
            f" from urd.event where realm = '{urd.values['URD_REALM']}' and type in"
            " ('session.opened', 'session.refreshed', 'session.ended') order by position"
            ).splitlines():
        stream, kind, at, data = line.split(" ", 3)
        data = json.loads(data)
        if kind == "session.ended":
            ends[stream] = data["reason"], float(at)
        elif "key" in data:
            assert stream not in bindings, f"{stream} is bound twice"
            bindings[stream] = data["key"], float(at)
    return ends, bindings


class Walks(unittest.TestCase):
    def test_no_walk_at_two_nodes_loses_an_honest_session_and_each_theft_is_noticed(self):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            walks = list(pool.map(lambda seed: Walk(seed).run(), range(WALKS)))
        ends, bindings = logged()
        outcomes = [walk.check(ends.get(walk.session), bindings.get(walk.session)) for walk in walks]
        counts = {outcome: outcomes.count(outcome) for outcome in set(outcomes)}
        if WALKS > 100:
            print(json.dumps([counts, sum(len(walk.steps) for walk in walks)]))
        # That the walks contain what they are about.
        for outcome in ("honest", "useless", "ended by its thief", "seen", "cut off"):
            self.assertIn(outcome, counts)


if MISSING:
    Walks = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
