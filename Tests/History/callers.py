"""Callers that do what the plan says, over HTTP alone, and write down what they asked and what they were told."""

import base64
import collections
import hashlib
import http.client
import json
import math
import struct
import threading
import time
import urllib.parse
import uuid

from cluster import HOST, PORT, REALM

ADMIN = f"/api/admin/realms/{REALM}"
SCOPE = "openid email offline_access"
PATIENCE = 6  # longer than the deadline of the nodes
UNLIMITED = {"native-otp": ("source", "target", "client", "app", "sign-ups"), "oauth-token": ("source", "target", "client")}
CLIENT = "history-app"
# Once a request was given up, a copy may still reach a node that was frozen or cut off.
LATE = 45


def command_id(actor, key):
    """The id that an actor's idempotency key stands for in the log."""
    parts = [part.encode() for part in ("urd idempotency", actor, REALM, key)]
    digest = hashlib.sha256(b"".join(struct.pack(">Q", len(part)) + part for part in parts)).digest()
    high, low = struct.unpack(">QQ", digest[:16])
    return str(uuid.UUID(int=(high & ~0xF000 | 0x8000) << 64 | low & (2**62 - 1) | 2**63))


def opened(token, prefix):
    """What stands in a token: its session, and the rest of its bytes."""
    text = token.removeprefix(prefix)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return str(uuid.UUID(bytes=data[:16])), data[16:]


class Ledger:
    """What one caller asked, before it asks, and what it was told: a line for each, in a file."""

    def __init__(self, path):
        self.path, self.number = path, 0
        self.file = open(path, "a", buffering=1)

    def intend(self, caller, node, kind, **what):
        self.number += 1
        entry = {"id": f"{caller}-{self.number}", "caller": caller, "node": node, "kind": kind, **what,
                 "begun": time.monotonic()}
        self.file.write(json.dumps(entry) + "\n")
        return entry

    def answer(self, entry, outcome, **what):
        ended = time.monotonic()
        self.file.write(json.dumps({"of": entry["id"], "outcome": outcome, "ended": ended, **what}) + "\n")

    def entries(self):
        """All of it, as it stands in the file."""
        found = {}
        with open(self.path) as file:
            for line in file:
                entry = json.loads(line)
                if "of" in entry:
                    found[entry.pop("of")].update(entry)
                else:
                    found[entry["id"]] = {**entry, "outcome": "unknown", "ended": math.inf}
        return list(found.values())

    def clear(self):
        self.file.truncate(0)


class Session:
    def __init__(self, owner, account, email):
        self.owner, self.account, self.email = owner, account, email
        self.id = self.refresh = self.access = None
        self.number, self.made, self.touched, self.doubt = 0, 0, 0, 0
        self.is_over = False

    def take(self, tokens):
        self.id, _ = opened(tokens["access_token"], "urd_at_")
        _, rest = opened(tokens["refresh_token"], "urd_rt_")
        self.refresh, self.access = tokens["refresh_token"], tokens["access_token"]
        self.number = int.from_bytes(rest[:4], "big")
        self.made = self.touched = time.monotonic()


class World:
    """What callers share."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.lock = threading.Lock()
        self.sessions, self.clients = [], []
        self.tallies = collections.Counter()
        self.is_over = threading.Event()
        self.last = 0, 0  # the last position that any caller was told
        self.people = collections.defaultdict(dict)  # of each caller, by their number
        self.awaited = {}  # by address: until when a code may come that was asked for before
        self.lost = 0, 0
        self.prepare()

    def prepare(self):
        line = Line(self.cluster.nodes[0].address)

        def ask(method, path, body):
            status, answer, _ = line.call(method, path, body=body, key=self.cluster.key)
            assert status < 300, (path, status, answer)
            return answer
        ask("PATCH", f"{ADMIN}/settings", {
            "native_grants": True, "access_token_lifetime": 3600,
            "rate_limits": {policy: dict.fromkeys(names) for policy, names in UNLIMITED.items()}})
        ask("POST", f"{ADMIN}/clients", {
            "client_id": CLIENT, "application_type": "native", "token_endpoint_auth_method": "none",
            "grant_types": ["urn:cocoar:otp", "refresh_token"]})
        made = ask("POST", f"{ADMIN}/clients", {
            "client_id": "watcher", "grant_types": ["client_credentials"], "introspects_all_tokens": True})
        self.watcher = "Basic " + base64.b64encode(f"watcher:{made['client_secret']}".encode()).decode()
        line.close()

    def begin(self):
        """A round begins: what was over before is asked for no more."""
        self.is_over.clear()
        self.sessions = [session for session in self.sessions if not session.is_over and session.id]
        self.clients = []

    def lose(self, since):
        """A tail is lost: what was made or moved since then may be gone."""
        with self.lock:
            for session in self.sessions:
                if session.touched >= since - 1:
                    session.is_over = True
            self.last, self.lost = (0, 0), (since - PATIENCE, time.monotonic())

    def told(self, position):
        with self.lock:
            self.last = max(self.last, position)


class Line:
    """One caller's connection to one node."""

    def __init__(self, address):
        self.address, self.connection, self.used = address, None, 0

    def call(self, method, path, body=None, form=None, key=None, basic=None, **headers):
        sent = {"Host": f"{HOST}:{PORT}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if key or basic:
            sent["Authorization"] = basic or f"Bearer {key}"
        if body is not None:
            body, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        if form is not None:
            body = urllib.parse.urlencode(form).encode()
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        if self.connection and time.monotonic() - self.used > 20:
            self.close()
        self.used = time.monotonic()
        if not self.connection:
            self.connection = http.client.HTTPConnection(self.address, PORT, timeout=PATIENCE)
        try:
            self.connection.request(method, path, body=body, headers=sent)
            answer = self.connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        return answer.status, json.loads(data) if data else None, answer.headers

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Caller(threading.Thread):
    def __init__(self, name, owner, world, steps, ledger):
        """The name is of one round; what a caller owns it has from round to round."""
        super().__init__(name=name)
        self.owner = owner
        self.world, self.steps, self.ledger = world, steps, ledger
        self.lines = [Line(node.address) for node in world.cluster.nodes]
        self.key, self.actor = world.cluster.key, f"admin:{world.cluster.key_id}"
        self.people, self.awaited = world.people[owner], world.awaited
        self.error = None

    def run(self):
        try:
            while not self.world.is_over.is_set():
                kind, numbers = self.steps.next()
                self.numbers = numbers
                getattr(self, kind.replace("-", "_"))()
        except Exception as error:  # told by the run
            self.error = error
        for line in self.lines:
            line.close()

    # One request.

    def ask(self, kind, call, read, what, node=None, refusals=(), more=None):
        """Asks a node, and writes down what came of it; the answer, where it is a good one."""
        node = int(self.numbers[0] * len(self.lines)) if node is None else node
        entry = self.ledger.intend(self.name, node + 1, kind, **what)
        try:
            status, answer, headers = self.lines[node].call(**call)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.ledger.answer(entry, "unknown", error=repr(error))
            self.count(kind, "unknown")
            # As a client that backs off.
            self.world.is_over.wait(0.05)
            return None, None
        if status < 300:
            self.ledger.answer(entry, "ok", **read(answer, headers))
            self.count(kind, "ok")
            return status, answer
        if status == 503:
            self.ledger.answer(entry, "unknown", error="503")
            self.count(kind, "unknown")
            self.world.is_over.wait(0.05)
            return status, answer
        told = {"error": f"{status} {json.dumps(answer)}"}
        if status in refusals:
            self.ledger.answer(entry, "refused", **told)
            self.count(kind, "refused")
        else:
            self.ledger.answer(entry, "unknown", unexpected=f"{kind} at node {node + 1}: {told['error']}")
            self.count(kind, "unexpected")
        return status, answer

    def count(self, kind, outcome):
        with self.world.lock:
            self.world.tallies[kind, outcome] += 1

    def placed(self, answer, headers):
        _, epoch, position = headers["Urd-Position"].split(":")
        self.world.told((int(epoch), int(position)))
        return {"epoch": int(epoch), "position": int(position)}

    def chosen(self, things, number):
        """One of them, by a number of the plan."""
        with self.world.lock:
            things = list(things)
        return things[int(number * len(things))] if things else None

    def own(self):
        return self.chosen(
            (session for session in self.world.sessions if session.owner == self.owner and not session.is_over
             and session.refresh), self.numbers[1])

    # What administrators do.

    def command(self, what, method, path, body, kind="command", **more):
        """A command, and the same again at other nodes while its answer is lost."""
        key = f"{self.name}-{uuid.UUID(int=int(self.numbers[2] * 2**53) << 64 | self.ledger.number)}"
        more = {"what": what, "command": command_id(self.actor, key), **more}
        for turn in range(6):
            node = int(self.numbers[0] * 3 + turn) % 3
            status, answer = self.ask(kind, {
                "method": method, "path": path, "body": body, "key": self.key, "Idempotency_Key": key},
                self.placed, more, node, refusals=(404, 409))
            if status not in (None, 503) or self.world.is_over.wait(0.1):
                break
        if status and status < 300 and self.numbers[3] < 0.1:
            # As a client that did not hear that it was heard: the first outcome, and nothing is done again.
            self.ask(kind, {"method": method, "path": path, "body": body, "key": self.key, "Idempotency_Key": key},
                     self.placed, more, int(self.numbers[3] * 30), refusals=(404, 409))
        return status, answer

    def register(self):
        name = f"h-{self.name}-{self.ledger.number}"
        value = f"{name}-1"
        thing = [name, 1]
        status, _ = self.command("register", "POST", f"{ADMIN}/clients", {
            "client_id": name, "client_name": value, "grant_types": ["client_credentials"]}, thing=name, value=value)
        if status == 201:
            with self.world.lock:
                self.world.clients.append((self.name, thing))

    def update(self):
        mine = self.chosen((thing for owner, thing in self.world.clients if owner == self.name), self.numbers[1])
        if not mine:
            return self.register()
        mine[1] += 1
        value = f"{mine[0]}-{mine[1]}"
        self.of(mine, "update", "PATCH", f"{ADMIN}/clients/{mine[0]}", {"client_name": value}, value=value)

    def of(self, thing, *words, **more):
        """A command about a client of this caller's, which may be gone with a tail."""
        status, _ = self.command(*words, thing=thing[0], **more)
        if status == 404:
            with self.world.lock:
                self.world.clients.remove((self.name, thing))

    def rotate(self):
        """What is done anew each time that it is carried out: a repeat has to be told from another one."""
        mine = self.chosen((thing for owner, thing in self.world.clients if owner == self.name), self.numbers[1])
        if not mine:
            return self.register()
        self.of(mine, "rotate", "POST", f"{ADMIN}/clients/{mine[0]}/rotate-secret", None)

    def see_client(self):
        other = self.chosen((thing for _, thing in self.world.clients), self.numbers[1])
        if not other:
            return self.register()
        self.ask("see-client", {"method": "GET", "path": f"{ADMIN}/clients/{other[0]}", "key": self.key},
                 lambda answer, _: {"value": answer.get("client_name")}, {"thing": other[0]}, refusals=(404,))

    # What services do.

    def grant(self):
        # Each request is another one: of equal ones, an answer that nobody fetched goes to the next (docs/outages.md).
        self.ask("grant", {"method": "POST", "path": "/connect/token", "basic": self.world.watcher,
                           "form": {
                               "grant_type": "client_credentials", "trace": f"{self.name}-{self.ledger.number}"}},
                 lambda answer, _: {"session": opened(answer["access_token"], "urd_at_")[0]}, {})

    def introspect(self):
        session = self.chosen(
            (one for one in self.world.sessions if one.access and time.monotonic() - one.made < 3000), self.numbers[1])
        if not session:
            return self.sign_in()
        id, token = session.id, session.access
        self.ask("see-session", {"method": "POST", "path": "/connect/introspect", "basic": self.world.watcher,
                                 "form": {"token": token}},
                 lambda answer, _: {"active": answer["active"]}, {"session": id})

    # What people's apps do.

    def sign_in(self):
        """A mailed code, and a session for it. Where the answer is lost the same request is sent again."""
        codes = self.world.cluster.inbox.codes
        email, account = self.account(int(self.numbers[1] * 4))
        if not account:
            return
        # Mails are sent at least once: one that came before may come again.
        seen = set(codes.get(email, ()))
        # A code that was asked for before, and did not come yet, may come now.
        tainted = time.monotonic() < self.awaited.get(email, 0)
        self.awaited[email] = time.monotonic() + 120
        self.ask("request-code", {"method": "POST", "path": "/api/account/native/otp/request",
                                  "body": {"Email": email, "ClientId": CLIENT}}, lambda *_: {}, {"account": account})
        deadline = time.monotonic() + 8
        while not (fresh := [code for code in codes.get(email, ()) if code not in seen]):
            if time.monotonic() > deadline or self.world.is_over.wait(0.05):
                return
        code = fresh[-1]
        if not tainted:
            self.awaited.pop(email, None)
        session = Session(self.owner, account, email)
        form = {"grant_type": "urn:cocoar:otp", "client_id": CLIENT, "username": email, "otp_code": code, "scope": SCOPE}
        key = str(uuid.uuid4())
        what = {"code": f"{email}/{code}/{self.ledger.number}", "account": account, "tainted": tainted}
        for turn in range(6):
            status, answer = self.ask("open", {
                "method": "POST", "path": "/connect/token", "form": form, "Idempotency_Key": key},
                lambda answer, _: {"session": opened(answer["access_token"], "urd_at_")[0]}, what,
                int(self.numbers[0] * 3 + turn) % 3, refusals=(400,))
            if status == 200:
                session.take(answer)
                with self.world.lock:
                    self.world.sessions.append(session)
                # A used code is used up at any node.
                if self.numbers[2] < 0.3:
                    self.ask("open", {"method": "POST", "path": "/connect/token", "form": form},
                             lambda answer, _: {"session": opened(answer["access_token"], "urd_at_")[0]}, what,
                             int(self.numbers[3] * 3), refusals=(400,))
            if status not in (None, 503) or self.world.is_over.wait(0.1):
                return

    def account(self, slot):
        """One of this caller's people; another one, where that was lost with a tail or never came to be."""
        email, id, made = self.people.get(slot, (None, None, 0))
        since, until = self.world.lost
        if not id or since <= made <= until:
            email = f"{self.name}-{slot}-{self.ledger.number}@example.org"
            made = time.monotonic()
            status, answer = self.command("account", "POST", f"{ADMIN}/accounts", {"email": email, "confirmed": True})
            id = answer["id"] if status == 201 else None
            self.people[slot] = email, id, made
        return email, id

    def refresh(self):
        session = self.own()
        if not session:
            return self.sign_in()
        for turn in range(5):
            status, answer = self.show(session, int(self.numbers[0] * 3 + turn) % 3, session.refresh, session.number)
            if status == 200:
                session.take(answer)
            if status == 400:
                session.is_over = True
            if status not in (None, 503) or self.world.is_over.wait(0.05):
                return

    def show(self, session, node, token, number):
        session.touched = time.monotonic()
        in_doubt = time.monotonic() < session.doubt
        status, answer = self.ask("refresh", {
            "method": "POST", "path": "/connect/token",
            "form": {"grant_type": "refresh_token", "client_id": CLIENT, "refresh_token": token}},
            lambda answer, _: {"got": int.from_bytes(opened(answer["refresh_token"], "urd_rt_")[1][:4], "big")},
            {"session": session.id, "shown": number, "tainted": in_doubt or session.is_over}, node, refusals=(400,))
        if status in (None, 503):
            session.doubt = time.monotonic() + LATE
        return status, answer

    def refresh_twice(self):
        """One token at two nodes in a row, as a client whose answer came late."""
        session = self.own()
        if not session:
            return self.sign_in()
        token, number = session.refresh, session.number
        for node in (int(self.numbers[0] * 3), int(self.numbers[2] * 3)):
            status, answer = self.show(session, node, token, number)
            if status == 200:
                session.take(answer)
            if status == 400:
                session.is_over = True

    def ended(self, session, kind, call, **what):
        """A session ends, and has not ended before somebody asked for it."""
        session.is_over = True
        for turn in range(5):
            status, _ = self.ask(kind, call, lambda *_: {}, {"session": session.id, **what},
                                 int(self.numbers[0] * 3 + turn) % 3, refusals=(404,))
            if status not in (None, 503) or self.world.is_over.wait(0.05):
                return

    def revoke(self):
        if session := self.own():
            self.ended(session, "end", {"method": "POST", "path": "/connect/revoke", "form": {
                "token": session.refresh, "client_id": CLIENT}})

    def end_session(self):
        if session := self.own():
            self.ended(session, "end", {
                "method": "DELETE", "path": f"{ADMIN}/accounts/{session.account}/sessions/{session.id}", "key": self.key,
                "Idempotency_Key": str(uuid.uuid4())})

    def log_out(self):
        if not (session := self.own()):
            return
        with self.world.lock:
            for other in self.world.sessions:
                if other.account == session.account:
                    other.is_over = True
        self.command("log-out", "POST", f"{ADMIN}/accounts/{session.account}/log-out", None, "log-out",
                     account=session.account)

    # What is read.

    def see_sessions(self):
        session = self.chosen((one for one in self.world.sessions if not one.is_over), self.numbers[1])
        if not session:
            return
        self.ask("see-sessions", {
            "method": "GET", "path": f"{ADMIN}/accounts/{session.account}/sessions?limit=200", "key": self.key},
            lambda answer, _: {"at": answer["position"], "more": answer["more"],
                               "sessions": [one["id"] for one in answer["items"]]}, {"account": session.account}, refusals=(404,))

    def see_events(self):
        epoch, position = self.world.last
        after = max(0, position - int(self.numbers[1] * 40))
        self.ask("see-events", {
            "method": "GET", "path": f"{ADMIN}/events?limit=30&after={max(epoch, 1)}:{after}", "key": self.key},
            lambda answer, _: {"items": [[one["position"], one["id"]] for one in answer["items"]],
                               "head": answer["head"]}, {"after": after}, refusals=(400, 409))

    def see_trail(self):
        epoch, position = self.world.last
        if not position:
            return
        self.ask("see-trail", {
            "method": "GET", "path": f"{ADMIN}/audit-trail?limit=1&min_position={REALM}:{epoch}:{position}",
            "key": self.key},
            lambda answer, _: {"at": answer["position"]}, {"wanted": position}, refusals=(400, 409))
