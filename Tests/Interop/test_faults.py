"""Urd when things break under it: nothing acknowledged is lost, and what is broken is named."""

import collections
import json
import os
import signal
import threading
import time
import unittest
import uuid

from phone import Phone, code
from urd_process import PATIENCE, Client, Server, Urd, eventually

GOOD = {"client_name": "Shop", "redirect_uris": ["https://shop.example/back"]}


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


class Ledger:
    """Callers that register clients until they are told to end, and what they were told.

    A caller repeats what was not acknowledged, under the same key."""

    def __init__(self, url, callers=4):
        self.name = f"ledger-{uuid.uuid4().hex[:8]}"
        self.client = Client(url, urd.key)
        self.acknowledged = {}
        self.statuses = collections.Counter()
        self.without_retry_after = 0
        self.ended = False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(callers)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        for thread in self.threads:
            thread.join()
        self.client.close()

    def work(self, caller):
        number = 0
        while not self.ended:
            number += 1
            name, key = f"{self.name}-{caller}-{number}", str(uuid.uuid4())
            while not self.register(name, key) and not self.ended:
                time.sleep(0.02)

    def register(self, name, key):
        try:
            status, _, headers = self.client.call(
                "POST", urd.clients, {**GOOD, "client_id": name}, Idempotency_Key=key)
        except Exception:  # nobody listens, or the connection broke: not acknowledged
            return False
        with self.lock:
            self.statuses[status] += 1
            if status == 503 and "Retry-After" not in headers:
                self.without_retry_after += 1
            if status == 201:
                self.acknowledged[name] = int(headers["Urd-Position"].split(":")[2])
        return status == 201

    def count(self):
        with self.lock:
            return len(self.acknowledged)


def again(server):
    """The same node once more, on the same ports."""
    new = Server(
        urd.values, URD_LISTEN_PORT=str(server.port), URD_PRIVATE_PORT=str(server.private_port))
    for name in ("port", "private_port", "url", "private_url"):
        setattr(new, name, getattr(server, name))
    return new


class Faults(unittest.TestCase):
    def setUp(self):
        self.server = Server(urd.values).ready()
        self.addCleanup(lambda: self.server.close())

    def node_is_ready(self):
        return self.server.ask("/health/ready", private=True)[0] == 200

    def more(self, ledger, count=20):
        """Waits until that many more were acknowledged."""
        enough = ledger.count() + count
        eventually(lambda: ledger.count() >= enough, "writes are acknowledged")

    def check(self, ledger):
        """Everything acknowledged is there, once, where it was said to be."""
        self.assertLessEqual(set(ledger.statuses), {201, 503})
        self.assertEqual(ledger.without_retry_after, 0)
        rows = urd.sql(
            "select data ->> 'client_id', position from urd.event where realm = 'demo'"
            f" and data ->> 'client_id' like '{ledger.name}-%'").splitlines()
        stored = dict(row.split("|") for row in rows)
        self.assertEqual(len(stored), len(rows), "something happened twice")
        for name, position in ledger.acknowledged.items():
            self.assertEqual(int(stored.get(name, 0)), position, name)
        whole = urd.sql(
            "select h.position = count(*) and h.position = max(e.position) and min(e.position) = 1"
            " from urd.realm_log h join urd.event e using (realm)"
            " where h.realm = 'demo' group by h.position")
        self.assertEqual(whole, "t")
        orphans = urd.sql(
            "select count(*) from urd.claim c where not exists (select from urd.stream s"
            " where s.realm = c.realm and s.stream = c.stream)")
        self.assertEqual(orphans, "0")
        eventually(self.node_is_ready, "the node is ready again")
        eventually(lambda: urd.ready()[0] == 200, "everything is ready again")
        verified = urd.command("verify")
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        model = urd.sql(
            f"select count(*) from urd.clients where client_id like '{ledger.name}-%'")
        self.assertEqual(int(model), len(rows))

    def test_a_killed_server_loses_no_acknowledged_event(self):
        # The port stays: callers go on to the next life of the same node.
        with Ledger(self.server.url) as ledger:
            for _ in range(3):
                self.more(ledger)
                self.server.process.kill()
                self.server.process.wait()
                self.server.log.close()
                self.server = again(self.server).ready()
            self.more(ledger)
        self.check(ledger)

    def test_a_refresh_answered_with_503_succeeds_when_repeated(self):
        phone = Phone(urd)
        email = f"{uuid.uuid4().hex[:8]}@example.org"
        tokens = phone.sign_in(email)
        answers = []
        asking = threading.Thread(
            target=lambda: answers.append(phone.refresh(tokens["refresh_token"])))
        with urd.frozen_database():
            asking.start()
            asking.join(PATIENCE)
        asking.join(PATIENCE)
        self.assertEqual(answers[0][:2], (503, {
            "error": "temporarily_unavailable",
            "error_description": "The request took too long."}))
        status, successor, _ = phone.refresh(tokens["refresh_token"])
        self.assertEqual(status, 200, successor)
        self.assertEqual(phone.refresh(successor["refresh_token"])[0], 200)

    def test_an_outage_of_postgresql_is_never_answered_with_4xx(self):
        with Ledger(self.server.url) as ledger:
            self.more(ledger)
            os.kill(urd.run.postmaster(), signal.SIGQUIT)
            eventually(lambda: not self.node_is_ready(), "the node says that it is not ready")
            eventually(self.node_is_ready, "the node is ready again")
            self.more(ledger)
        self.check(ledger)

    def test_connections_may_be_cut_at_any_time(self):
        cut = ("select count(pg_terminate_backend(pid)) from pg_stat_activity"
               " where usename = 'urd_app'")
        with Ledger(self.server.url) as ledger:
            for _ in range(5):
                self.more(ledger, 10)
                urd.sql(cut)
            for _ in range(10):
                urd.sql(cut.replace("terminate", "cancel"))
            self.more(ledger)
        self.check(ledger)


    def test_a_hanging_database_is_reported_at_once(self):
        with urd.frozen_database():
            begin = time.monotonic()
            self.assertEqual(self.server.ask("/health/ready", private=True)[0], 503)
            self.assertLess(time.monotonic() - begin, 6)
            self.assertEqual(self.server.ask("/health/live", private=True)[0], 200)
        eventually(self.node_is_ready, "the node is ready again")


class Standstill(unittest.TestCase):
    """Callers that do what 503 tells them, at a node that gives up after four seconds."""

    def setUp(self):
        name = f"still-{uuid.uuid4().hex[:8]}"
        realm = f"/api/admin/realms/{name}"
        for method, path, body in [
            ("POST", "/api/admin/realms", {"realm": name, "display_name": "Still"}),
            ("POST", f"{realm}/hosts", {"host": f"{name}.example"}),
            ("PATCH", f"{realm}/settings", {
                "native_grants": True, "registration": "jit_on_otp",
                # So that nothing but the answer itself is of any use.
                "refresh_token_leeway": 0}),
            ("POST", f"{realm}/clients", {
                "client_id": "phone", "application_type": "native",
                "token_endpoint_auth_method": "none",
                "grant_types": ["urn:cocoar:otp", "refresh_token"]}),
        ]:
            status, answer, _ = urd.api.call(method, path, body)
            self.assertLess(status, 300, answer)
        server = Server(urd.values, URD_REQUEST_DEADLINE="4s").ready()
        self.addCleanup(server.close)
        self.phone = Phone(urd, f"{name}.example", "phone", url=server.url)

    def test_a_standstill_of_22_seconds_uses_up_no_credential_without_an_answer(self):
        phones = [f"{uuid.uuid4().hex[:8]}@example.org" for _ in range(4)]
        signed_in = [self.phone.sign_in(email) for email in phones]
        newcomers = [f"{uuid.uuid4().hex[:8]}@example.org" for _ in range(4)]
        codes = []
        for email in newcomers:
            self.phone.request_code(email)
            codes.append(code(urd, email))
        calls = [
            lambda token=tokens["refresh_token"]: self.phone.refresh(token)
            for tokens in signed_in
        ] + [
            lambda email=email, digits=digits: self.phone.redeem(email, digits)
            for email, digits in zip(newcomers, codes)
        ]
        told = [[] for _ in calls]
        tokens = [None] * len(calls)

        def insist(number):
            while not told[number] or told[number][-1] == 503:
                if told[number]:
                    time.sleep(1)  # as Retry-After says
                status, tokens[number], _ = calls[number]()
                told[number].append(status)

        callers = [threading.Thread(target=insist, args=(n,)) for n in range(len(calls))]
        with urd.frozen_database():
            for caller in callers:
                caller.start()
            time.sleep(22)
        for caller in callers:
            caller.join(2 * PATIENCE)
        for statuses, answer in zip(told, tokens):
            self.assertGreaterEqual(statuses.count(503), 3)
            self.assertEqual(set(statuses), {503, 200}, answer)
        # Each family lives, and each token was given to one caller.
        self.assertEqual(len({answer["refresh_token"] for answer in tokens}), len(tokens))
        for answer in tokens:
            self.assertEqual(self.phone.refresh(answer["refresh_token"])[0], 200)


class Poison(unittest.TestCase):
    def register(self, name):
        return urd.api.call("POST", urd.clients, {**GOOD, "client_id": name})[0]

    def test_a_read_model_with_a_bad_event_halts_alone_and_recovers(self):
        urd.sql("alter table urd.clients_1 add constraint no_poison"
                " check (client_id <> 'poison') not valid")
        try:
            self.assertEqual(self.register("poison"), 201)
            self.assertEqual(self.register("after-poison"), 201)
            halted = eventually(lambda: urd.attention().get("projection.clients"), "health says so")
            self.assertRegex(halted["detail"], r"halted at demo:\d+: .*no_poison")
            # It is in the database: another node would answer the same, and other realms are served.
            self.assertEqual(urd.ready(), (200, {}))
            self.assertEqual(urd.api.call("GET", "/api/admin/realms/verify/clients")[0], 200)
            for path in (urd.clients, urd.clients + "/poison", urd.clients + "/nobody"):
                answer = urd.api.call("GET", path)
                self.assertEqual(answer[0], 503, path)
                self.assertIn("Retry-After", answer[2])
            self.assertEqual(urd.api.call("GET", urd.realm + "/apps")[0], 200)
            self.assertEqual(urd.api.call("GET", urd.realm + "/audit-trail")[0], 200)
            metric = 'urd_projection_halted_realms{projection="clients"} 1'
            eventually(lambda: metric in urd.private("/metrics")[1], "the metrics say so")
            doctor = urd.command("doctor")
            self.assertEqual(doctor.returncode, 1, doctor.stdout)
            self.assertIn("clients halted in demo at position", doctor.stdout)
        finally:
            urd.sql("alter table urd.clients_1 drop constraint no_poison")
        eventually(lambda: "projection.clients" not in urd.attention(), "it heals by itself")
        for name in ("poison", "after-poison"):
            self.assertEqual(urd.api.call("GET", f"{urd.clients}/{name}")[0], 200)
        self.assertEqual(urd.command("projections", "verify", "clients").returncode, 0)

    def test_a_read_model_that_is_ahead_of_the_log_asks_for_attention(self):
        move = ("update urd.projection_position set attached = false, position = ("
                "select position {} from urd.realm_log where realm = 'demo')"
                " where projection = 'clients' and realm = 'demo'")
        urd.sql(move.format("+ 5"))
        try:
            self.assertEqual(urd.api.call("GET", urd.clients)[0], 503)
            told = eventually(lambda: urd.attention().get("projection.clients"), "health says so")
            self.assertIn("ahead of the log in demo", told["detail"])
            self.assertEqual(urd.ready()[0], 200)
        finally:
            urd.sql(move.format("- 1"))
        eventually(lambda: "projection.clients" not in urd.attention(), "it is where the log is")

    def test_a_position_that_is_lost_is_found_again_and_nothing_is_counted_twice(self):
        models = ("clients", "daily_counts", "mails")
        self.assertEqual(self.register(f"before-{uuid.uuid4().hex[:8]}"), 201)
        eventually(lambda: "projection.clients" not in urd.attention(), "all is well before")
        names = ", ".join(f"'{name}'" for name in models)
        lost = ("select count(*) from urd.projection_build b where b.status = 'live'"
                f" and b.projection in ({names}) and not exists (select from urd.projection_position p"
                " where p.realm = 'demo' and (p.projection, p.build) = (b.projection, b.build))")
        urd.sql(f"delete from urd.projection_position where realm = 'demo' and projection in ({names})")
        eventually(lambda: urd.sql(lost) == "0", "they are found again")
        self.assertEqual(self.register(f"after-{uuid.uuid4().hex[:8]}"), 201)
        eventually(lambda: urd.api.call("GET", urd.clients)[0] == 200, "it answers again")
        for name in models:
            verified = urd.command("projections", "verify", name)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.assertFalse([name for name in urd.attention() if name.startswith("projection.")])


class LostKeys(unittest.TestCase):
    """What is sealed under a key that is gone, though nobody erased it. The keys are put back."""

    def lose(self, subjects):
        urd.sql("create table public.kept_keys as select * from urd.subject_key"
                f" where realm = 'demo' and subject in ({subjects});"
                " delete from urd.subject_key k using public.kept_keys o"
                " where (k.realm, k.subject) = (o.realm, o.subject)")
        self.addCleanup(
            urd.sql, "delete from urd.subject_key k using public.kept_keys o"
            " where (k.realm, k.subject) = (o.realm, o.subject);"
            " insert into urd.subject_key select * from public.kept_keys;"
            " drop table public.kept_keys")

    def public_keys(self, host):
        """As a node answers that was only just started."""
        node = Server(urd.values)
        self.addCleanup(node.close)
        return node.ready().ask("/.well-known/jwks", headers={"Host": host})

    def test_events_under_lost_keys_are_counted_and_the_rest_stays_readable(self):
        status, account, _ = urd.api.call(
            "POST", urd.realm + "/accounts", {"email": f"{uuid.uuid4().hex[:12]}@example.org"})
        self.assertEqual(status, 201, account)
        host = "demo.localhost:" + urd.values["URD_URL"].rsplit(":", 1)[1]
        # A realm gets its private keys when they are asked for first.
        self.assertEqual(self.public_keys(host)[0], 200)
        position = int(urd.sql(
            "select min(position) from urd.event where realm = 'demo'"
            f" and subject = '{account['id']}'"))
        # The person's, and the one that the realm's private keys are sealed under.
        self.lose(f"'{account['id']}', (select subject from urd.event where realm = 'demo'"
                  " and type = 'signing_key.published' limit 1)")
        self.assertEqual(self.public_keys(host)[0], 200)
        for path in ("/accounts", "/clients", "/audit-trail", "/events", f"/accounts/{account['id']}"):
            status, answer, _ = urd.api.call("GET", urd.realm + path)
            self.assertEqual(status, 200, (path, answer))
        status, event, _ = urd.api.call("GET", f"{urd.realm}/events/{position}")
        self.assertEqual((status, event["personal"]), (200, "unreadable"), event)
        verified = urd.command("verify", "--json", "--realm", "demo")
        self.assertEqual(verified.returncode, 1, verified.stdout)
        found = json.loads(verified.stdout)[0]
        self.assertTrue(found["intact"])
        self.assertGreaterEqual(found["unreadable_events"]["without_key"], 2)
        self.assertEqual(found["unreadable_events"]["not_opened"], 0)
        doctor = urd.command("doctor")
        self.assertEqual(doctor.returncode, 1, doctor.stdout)
        self.assertIn("cannot be read, though they were not erased", doctor.stdout)
        self.doCleanups()
        self.assertEqual(urd.command("verify", "--realm", "demo").returncode, 0)


class Tampered(unittest.TestCase):
    """Each test puts back what it changed."""

    def findings(self):
        result = urd.command("verify", "--json")
        found = {entry["realm"]: entry.get("finding") for entry in json.loads(result.stdout)}
        self.assertEqual(result.returncode, 1 if any(found.values()) else 0)
        return found["demo"]

    def setUp(self):
        for _ in range(5):
            urd.api.call("POST", urd.clients, GOOD)
        head = int(urd.sql("select position from urd.realm_log where realm = 'demo'"))
        eventually(
            lambda: int(urd.sql(
                "select max(size) from urd.checkpoint where realm = 'demo'")) >= head, "sealed")
        self.head = head
        self.assertIsNone(self.findings())

    def test_a_changed_event_is_named(self):
        for change in (
            """data = '{"client_id":"evil"}'""", "data = (data::text || ' ')::json",
            "at = at + interval '1 microsecond'", "type = 'client.deleted'", "sealed = null",
            "mac = sha256('x')", "leaf = sha256('x')",
        ):
            with self.subTest(change=change):
                here = f"realm = 'demo' and position = {self.head - 2}"
                urd.sql("create table public.kept as select * from urd.event where " + here)
                urd.sql(f"update urd.event set {change} where {here}")
                found = self.findings()
                urd.sql(f"delete from urd.event where {here};"
                        " insert into urd.event select * from public.kept;"
                        " drop table public.kept")
                self.assertEqual((found or {}).get("position"), self.head - 2)
        self.assertIsNone(self.findings())

    def test_a_changed_row_of_a_read_model_is_named(self):
        row = "realm = 'demo' and client_id = 'demo-client'"
        urd.sql("update urd.clients_1 set disabled = true where " + row)
        found = urd.command("projections", "verify", "clients")
        urd.sql("update urd.clients_1 set disabled = false where " + row)
        self.assertEqual(found.returncode, 1, found.stdout)
        self.assertIn("changed", found.stdout)
        self.assertEqual(urd.command("projections", "verify", "clients").returncode, 0)


class Turned(unittest.TestCase):
    """Comes last: what it does cannot be undone while Urd runs, and shall not be."""

    def test_a_shortened_log_halts_the_sealer(self):
        head = int(urd.sql("select position from urd.realm_log where realm = 'demo'"))
        urd.sql(
            f"delete from urd.event where realm = 'demo' and position > {head - 3};"
            f" delete from urd.checkpoint where realm = 'demo' and size > {head - 3};"
            f" update urd.realm_log set position = {head - 3} where realm = 'demo'")
        halted = eventually(lambda: urd.attention().get("sealer"), "the sealer halts")
        self.assertIn("halted in demo", halted["detail"])
        # An operator must look; but every node serves that log, and none of them any better.
        self.assertEqual(urd.ready(), (200, {}))
        # The copy outside the database tells, although the one inside was taken back too.
        verified = urd.command("verify", "--json")
        self.assertEqual(verified.returncode, 1, verified.stdout)
        self.assertRegex(verified.stdout, "dropped.?[tT]ail")


if __name__ == "__main__":
    unittest.main()
