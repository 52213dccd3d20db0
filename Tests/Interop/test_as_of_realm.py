"""Whole realms as of a moment, on the demo history: their rows compared with a fold of the exported log that shares nothing with
Urd, what analysts see of them in SQL, and what is left when a maker is killed or an hour is over."""

import collections
import datetime
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import uuid

from analyst_role import Analyst
from urd_process import BINARY, PATIENCE, Urd, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("URD_SEED", random.SystemRandom().randrange(2**32)))
REALM = "/api/admin/realms/history"
VIEWS = {
    "accounts_v1", "sessions_v1", "clients_v1", "passkeys_v1", "findings_v1", "sign_ins_v1",
    "events_v1", "admin_acts_v1", "daily_v1", "credentials_v1",
}
ENDING = {
    "account.disabled": "disabled", "account.stamp_rotated": "signed_out_everywhere",
    "account.mailbox_changed": "mailbox_changed", "account.deletion_scheduled": "deleted",
    "account.deleted": "deleted",
}
AS_TEXT = """to_char(%s at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


def setUpModule():
    global urd, ours, others, records, chance
    urd = Urd("--demo-history")
    chance = random.Random(SEED)
    ours, others = Analyst(urd, "history"), Analyst(urd, "demo")
    eventually(lambda: urd.sql(
        "select count(*) from urd.projection_progress p join urd.projection_build b "
        "using (projection, build) join urd.realm_log h using (realm) "
        "where b.status = 'live' and p.realm = 'history' and p.position < h.position") == "0",
        "read models follow", patience=240)
    act()
    records = [json.loads(line) for line in urd.log("history")]


def tearDownModule():
    urd.close()


def settings():
    return {name: urd.values[name] for name in (
        "URD_DATABASE_URL", "URD_DATABASE_OWNER_URL", "URD_MASTER_KEY_FILE",
        "URD_CHECKPOINT_DIRECTORY")}


def act():
    """What a month of sign-ins does not have: clients and accounts that come, change and go."""
    for number in range(6):
        client = call("POST", "/clients", {
            "client_name": f"Client {number}", "redirect_uris": ["https://shop.example/back"]})
        account = call("POST", "/accounts", {
            "email": f"late-{number}@history.example", "first_name": "Annegret", "confirmed": number % 2 == 0})
        if number % 2:
            call("POST", f"/clients/{client['client_id']}/disable")
            call("POST", f"/accounts/{account['id']}/disable")
        if number == 3:
            call("DELETE", f"/clients/{client['client_id']}")
        if number == 4:
            call("POST", f"/accounts/{account['id']}/erase")


def call(method, path, body=None, expected=(200, 201, 202, 204), key=None):
    status, answer, _ = urd.api.call(method, REALM + path, body, key=key)
    assert status in (expected if isinstance(expected, tuple) else (expected,)), (
        method, path, status, answer)
    return answer


def forget():
    for build in call("GET", "/as-of-builds")["items"]:
        call("DELETE", f"/as-of-builds/{build['id']}")


def ready(build, states=("ready",)):
    path = f"/as-of-builds/{build['id']}"
    found = eventually(
        lambda: (lambda now: now["state"] not in ("waiting", "running") and now)(call("GET", path)),
        "a build that is done", patience=240)
    assert found["state"] in states, found
    return found


def built(moment):
    return ready(call("POST", f"/as-of/{urllib.parse.quote(str(moment))}"))


def listed(build, kind, query=""):
    items, after = [], ""
    while True:
        page = call("GET", f"/as-of-builds/{build['id']}/{kind}?limit=200{query}{after}")
        items += page["items"]
        if page["next"] is None:
            return items
        after = f"&after={page['next']}"


def text(microseconds):
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def schemas():
    return set(urd.sql(
        r"select coalesce(string_agg(nspname, ' '), '') from pg_namespace where nspname like 'analyst\_at\_%'"
    ).split())


class Fold:
    """What the records up to a position add up to, by the sentences of the event catalogue."""

    def __init__(self, records):
        self.accounts, self.sessions, self.clients, self.sign_ins = {}, {}, {}, {}
        self.passphrases, self.held = {}, collections.defaultdict(list)
        self.days, self.begun, self.open = collections.Counter(), {}, collections.defaultdict(set)
        for position, record in enumerate(records, 1):
            self.days[(text(record["at"])[:10], record["type"])] += 1
            kind, data, stream = record["type"], record["data"], record["stream"]
            self.account(kind, data, stream)
            self.passphrase(record, kind, data, stream)
            self.session(record, kind, data, stream)
            self.client(kind, data, stream)
            self.sign_in(position, record, kind, data, stream)

    def account(self, kind, data, stream):
        if kind == "account.registered":
            self.accounts[stream] = {"confirmed": data["confirmed"], "disabled": False}
        elif kind in ("account.disabled", "account.enabled"):
            self.accounts[stream]["disabled"] = kind == "account.disabled"
        elif kind == "account.mailbox_confirmed":
            self.accounts[stream]["confirmed"] = True
        elif kind == "account.deleted":
            del self.accounts[stream]

    def passphrase(self, record, kind, data, stream):
        if kind == "passphrase.set":
            self.passphrases[stream] = {
                "kind": "passphrase", "account": data["account"], "created_at": text(record["at"]),
                "removed_at": None}
        elif kind in ("passphrase.removed", "account.deleted"):
            for credential, row in self.passphrases.items():
                if stream in (credential, row["account"]) and row["removed_at"] is None:
                    row["removed_at"] = text(record["at"])

    def session(self, record, kind, data, stream):
        if kind == "session.opened":
            self.sessions[stream] = {
                "account": data.get("account"), "client_id": data["client_id"], "generation": 0,
                "end_reason": None, "ended_at": None, "expires_at": text(data["expires_at"] * 10 ** 6)}
            self.held[data.get("account")].append(self.sessions[stream])
        elif kind == "session.refreshed":
            self.sessions[stream]["generation"] = data["generation"]
        elif kind == "session.ended":
            row = self.sessions[stream]
            if not row["end_reason"]:
                row.update(end_reason=data["reason"], ended_at=text(record["at"]))
        elif kind in ENDING:
            for row in self.held.pop(stream, ()):
                if not row["end_reason"]:
                    row.update(end_reason=ENDING[kind], ended_at=text(record["at"]))

    def client(self, kind, data, stream):
        if kind == "client.registered":
            self.clients[stream] = {"client_id": data["client_id"], "disabled": False}
        elif kind in ("client.disabled", "client.enabled"):
            self.clients[stream]["disabled"] = kind == "client.disabled"
        elif kind == "client.deleted":
            del self.clients[stream]

    def sign_in(self, position, record, kind, data, stream):
        if kind in ("session.opened", "browser.opened") and data.get("account") \
                and data.get("method") != EXCHANGE:
            self.sign_ins[position] = {
                "account": data["account"], "outcome": "signed_in", "end_reason": None,
                "source": data.get("source")}
            self.begun[stream] = position
            self.open[data["account"]].add(position)
        elif kind in ("session.refused", "browser.refused") and data.get("method") != EXCHANGE:
            self.sign_ins[position] = {
                "account": data.get("account"), "outcome": "refused", "end_reason": None,
                "source": data.get("source")}
        elif kind in ("session.ended", "browser.ended"):
            self.end(stream, data["reason"])
            if data["reason"] in ("reuse", "code_reuse") and stream in self.sessions \
                    and self.sessions[stream]["account"]:
                self.sign_ins[position] = {
                    "account": self.sessions[stream]["account"], "outcome": "refused",
                    "end_reason": None, "source": data.get("source")}
        elif kind in ENDING:
            for began in self.open.pop(stream, ()):
                self.sign_ins[began]["end_reason"] = ENDING[kind]

    def end(self, stream, reason):
        began = self.begun.get(stream)
        if began is None or self.sign_ins[began]["end_reason"]:
            return
        self.sign_ins[began]["end_reason"] = reason
        self.open[self.sign_ins[began]["account"]].discard(began)


class RowTests(unittest.TestCase):
    def setUp(self):
        forget()

    def compare(self, position):
        fold, build = Fold(records[:position]), built(position)
        where = f"seed {SEED}, position {position}"
        self.assertEqual(build["position"], position, where)
        self.assertEqual(build["at"], text(records[position - 1]["at"]), where)
        at = build["schema"] + "."
        for name, key, wanted in (
                ("accounts", "account", fold.accounts), ("sessions", "session", fold.sessions),
                ("clients", "client", fold.clients), ("sign_ins", "position", fold.sign_ins)):
            times = name == "sessions"
            columns = ", ".join(
                ["*"] + [f"{AS_TEXT % each} as {each}" for each in ("ended_at", "expires_at") if times])
            rows = {row[key]: row for row in ours.rows(f"select {columns} from {at}{name}_v1")}
            self.assertEqual(set(rows), set(wanted), f"{name}, {where}")
            for id, row in wanted.items():
                self.assertEqual({each: rows[id][each] for each in row}, row, f"{name} {id}, {where}")
        for name, key in (("accounts", "account"), ("sessions", "session"), ("clients", "client")):
            wanted = {"accounts": fold.accounts, "sessions": fold.sessions, "clients": fold.clients}[name]
            items = {item[key]: item for item in listed(build, name)} if len(wanted) < 3000 else None
            if items is not None:
                self.assertEqual(set(items), set(wanted), f"{name}, {where}")
                for id, row in wanted.items():
                    self.assertEqual({each: items[id].get(each) for each in row}, row, where)
        rows = {row["credential"]: row for row in ours.rows(
            f"select kind, credential, account, {AS_TEXT % 'created_at'} as created_at, "
            f"{AS_TEXT % 'removed_at'} as removed_at from {at}credentials_v1")}
        self.assertEqual(rows, {key: {"credential": key, **row} for key, row in fold.passphrases.items()},
                         f"credentials, {where}")
        items = {item["credential"]: item for item in listed(build, "credentials")}
        self.assertEqual(set(items), set(fold.passphrases), where)
        days = {(row["day"], row["type"]): row["events"]
                for row in ours.rows(f"select day::text, type, events from {at}daily_v1")}
        self.assertEqual(days, dict(fold.days), where)
        self.assertEqual(ours.ask(f"select count(*), max(position) from {at}events_v1"),
                         f"{position}|{position}", where)
        return build

    def test_rows_are_those_of_another_fold_at_random_positions(self):
        for position in sorted(chance.sample(range(1, len(records)), 6)) + [1, len(records) - 3]:
            self.compare(position)
            forget()

    def test_at_the_head_they_are_the_live_views_row_by_row(self):
        head = int(urd.sql("select position from urd.realm_log where realm = 'history'"))
        build = built(head)
        eventually(lambda: ours.ask("select coalesce(max(position), 0) from events_v1") >= str(head),
                   "the trail follows")
        for view in sorted(VIEWS):
            # The same rows, however many: one scan of each, within the time that the role has.
            live, then = (
                ours.ask(f"select count(*), sum(hashtextextended(t::text, 0)) from {schema}.{view} t")
                for schema in ("analyst", build["schema"]))
            now = int(urd.sql("select position from urd.realm_log where realm = 'history'"))
            if now == head:
                self.assertEqual(then, live, view)

    def test_a_time_stands_for_the_greatest_position_that_is_not_later(self):
        for _ in range(5):
            some = chance.choice(records)["at"] + chance.randint(-1, 1)
            wanted = max((place for place, record in enumerate(records, 1) if record["at"] <= some),
                         default=0)
            build = call("POST", f"/as-of/{text(some)}")
            self.assertEqual((build["position"], build["moment"]), (wanted, text(some)), SEED)
            forget()

    def test_before_the_first_event_nothing_was_there(self):
        build = built("2001-01-01")
        self.assertEqual((build["position"], build.get("at")), (0, None))
        self.assertEqual(set(build["rows"].values()), {0})
        for view in VIEWS:
            self.assertEqual(ours.ask(f"select count(*) from {build['schema']}.{view}"), "0", view)

    def test_what_cannot_be_is_refused(self):
        call("POST", f"/as-of/{len(records) + 100_000}", expected=409)
        call("POST", "/as-of/0", expected=400)
        call("POST", "/as-of/yesterday", expected=400)
        call("GET", f"/as-of-builds/{uuid.uuid4()}", expected=404)
        limited = urd.api.call("POST", "/api/admin/keys", {
            "name": "feed", "realms": ["history"], "permissions": ["subscriptions.manage"]})[1]["key"]
        call("POST", "/as-of/1", expected=403, key=limited)

    def test_one_who_was_erased_is_there_without_anything_of_the_person(self):
        place = next(place for place, record in enumerate(records, 1)
                     if record["type"] == "account.erased" or record["type"] == "account.deleted")
        gone = records[place - 1]["stream"]
        build = built(place - 1)
        rows = {view: ours.rows(
            f"select * from {build['schema']}.{view}_v1 where account = '{gone}'")
            for view in ("accounts", "sign_ins")}
        self.assertEqual(len(rows["accounts"]), 1)
        whole = json.dumps(ours.rows(f"select * from {build['schema']}.events_v1 limit 20000"))
        for words in ("late-4@", "history.example", "Annegret"):
            self.assertNotIn(words, whole)


class AnalystTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        forget()
        cls.build = built(min(len(records), 2_000))
        cls.at = cls.build["schema"]

    def test_there_are_the_views_of_analysts_with_their_comments(self):
        self.assertEqual(set(ours.ask(
            f"select string_agg(viewname, ' ') from pg_views where schemaname = '{self.at}'").split()), VIEWS | {"analyst_trail", "session_ends"})
        # What events_v1 and sessions_v1 are made of, and nobody's to read.
        for view in ("analyst_trail", "session_ends"):
            self.assertIn("permission denied", ours.refused(f"select * from {self.at}.{view}"))
        for view in VIEWS:
            columns = ours.ask(
                "select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ',' order by attnum) "
                f"from pg_attribute a where a.attrelid = '{self.at}.{view}'::regclass and attnum > 0")
            self.assertEqual(columns, ours.ask(
                "select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ',' order by attnum) "
                f"from pg_attribute a where a.attrelid = 'analyst.{view}'::regclass and attnum > 0"))
            uncommented = ours.ask(
                f"select count(*) from pg_attribute a where a.attrelid = '{self.at}.{view}'::regclass "
                "and attnum > 0 and col_description(a.attrelid, a.attnum) is null")
            self.assertEqual(uncommented, "0", view)
            barrier = "analyst_trail" if view == "events_v1" else view
            self.assertIn("security_barrier", urd.sql(
                f"select reloptions from pg_class where oid = '{self.at}.{barrier}'::regclass"))

    def test_analysts_of_other_realms_are_refused(self):
        for view in VIEWS:
            if ours.ask(f"select count(*) from {self.at}.{view}") == "0":
                # Where there is no row PostgreSQL asks nobody whose it is.
                self.assertEqual(others.ask(f"select count(*) from {self.at}.{view}"), "0", view)
                continue
            self.assertIn("of another realm", others.refused(f"select * from {self.at}.{view}"))

    def test_a_role_is_refused_what_is_not_its_own(self):
        for sql in (
                f"select * from {self.at}.accounts", f"select * from {self.at}.sessions",
                f"select {self.at}.accounts_apply('history', 1, 1, null)",
                f"insert into {self.at}.clients_v1 (name) values ('x')",
                f"update {self.at}.accounts_v1 set disabled = true", f"delete from {self.at}.accounts_v1",
                f"drop schema {self.at} cascade", f"create table {self.at}.t ()",
                f"drop view {self.at}.events_v1", "select * from urd.as_of_build",
                "select urd.sweep_as_of()", f"select urd.as_of_schema('{self.build['id']}')",
                f"select urd.show_as_of('history', '{self.build['id']}', '{self.build['id']}')"):
            for prefix in ("", "set default_transaction_read_only = off; "):
                self.assertRegex(
                    ours.refused(prefix + sql), "permission denied|must be owner|read-only|cannot", sql)

    def test_a_role_that_lifts_its_limit_gets_no_rows(self):
        self.assertIn("statement_timeout", ours.refused(
            f"set statement_timeout = 0; select count(*) from {self.at}.accounts_v1"))

    def test_nothing_personal_stands_in_its_tables(self):
        for table in ("accounts", "sessions", "passkeys", "credentials", "login_history", "daily_counts"):
            found = urd.sql(f"select count(*) from {self.at}.{table} t where t::text like '%@history.example%'")
            self.assertEqual(found, "0", table)


class EndTests(unittest.TestCase):
    def setUp(self):
        forget()
        eventually(lambda: not schemas(), "what nobody wants is dropped")

    def test_two_at_once_and_the_third_is_told_to_wait(self):
        first = call("POST", "/as-of/50")
        second = call("POST", "/as-of/60")
        answer = call("POST", "/as-of/70", expected=429)
        self.assertTrue(answer["type"].endswith("too-many-builds"), answer)
        ready(first), ready(second)
        call("POST", "/as-of/70", expected=429)
        call("DELETE", f"/as-of-builds/{first['id']}")
        ready(call("POST", "/as-of/70"))
        # Another realm has its own two.
        status, answer, _ = urd.api.call("POST", "/api/admin/realms/demo/as-of/1")
        self.assertEqual(status, 202, answer)
        urd.api.call("DELETE", f"/api/admin/realms/demo/as-of-builds/{answer['id']}")

    def test_a_build_that_is_dropped_is_gone_at_once(self):
        build = built(100)
        self.assertEqual(schemas(), {build["schema"]})
        call("DELETE", f"/as-of-builds/{build['id']}")
        refusal = ours.refused(f"select * from {build['schema']}.accounts_v1")
        self.assertRegex(refusal, "not kept any more|does not exist")
        call("GET", f"/as-of-builds/{build['id']}/accounts", expected=410)
        eventually(lambda: not schemas(), "its schema goes")

    def test_after_an_hour_it_is_gone(self):
        build = built(100)
        urd.sql("update urd.as_of_build set finished_at = finished_at - interval '59 minutes' "
                f"where id = '{build['id']}'")
        self.assertEqual(call("GET", f"/as-of-builds/{build['id']}")["state"], "ready")
        ours.ask(f"select count(*) from {build['schema']}.accounts_v1")
        urd.sql("update urd.as_of_build set finished_at = finished_at - interval '2 minutes' "
                f"where id = '{build['id']}'")
        self.assertEqual(call("GET", f"/as-of-builds/{build['id']}")["state"], "expired")
        self.assertRegex(
            ours.refused(f"select * from {build['schema']}.accounts_v1"),
            "not kept any more|does not exist")
        call("GET", f"/as-of-builds/{build['id']}/accounts", expected=410)
        eventually(lambda: not schemas(), "its schema goes")

    def test_the_same_key_is_the_same_build(self):
        status, first, _ = urd.api.call("POST", REALM + "/as-of/30", Idempotency_Key="once")
        again, second, _ = urd.api.call("POST", REALM + "/as-of/30", Idempotency_Key="once")
        self.assertEqual((status, again, first["id"]), (202, 202, second["id"]))
        self.assertEqual(urd.api.call("POST", REALM + "/as-of/31", Idempotency_Key="once")[0], 422)

    def test_a_maker_that_is_killed_is_followed_by_another(self):
        # Of small pages, so that there is a middle.
        urd.sql("create function public.small_pages() returns trigger language plpgsql as "
                "$$ begin new.page := 100; return new; end $$; create trigger small_pages before insert "
                "on urd.as_of_build for each row execute function public.small_pages()")
        self.addCleanup(urd.sql, "drop trigger small_pages on urd.as_of_build; drop function public.small_pages()")
        wanted, halves = str(len(Fold(records).sign_ins)), 0
        for wait in (0.0, 0.05, 0.2, 0.5, 1.0):
            # The server sleeps, so that the one who is killed is the maker.
            os.kill(urd.pid, signal.SIGSTOP)
            try:
                maker = subprocess.Popen(
                    [BINARY, "as-of", "realm", str(len(records)), "--realm", "history"],
                    env={**os.environ, **settings()}, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
                id = eventually(lambda: urd.sql(
                    "select id from urd.as_of_build where state in ('running', 'ready')"), "a maker")
                time.sleep(wait)
                maker.send_signal(signal.SIGKILL)
                maker.wait()
                isHalf = urd.sql(f"select state from urd.as_of_build where id = '{id}'") == "running"
                halves += isHalf
                if isHalf:
                    schema = "analyst_at_" + id.replace("-", "")
                    self.assertRegex(ours.refused(f"select * from {schema}.accounts_v1"),
                                     "permission denied|does not exist")
            finally:
                os.kill(urd.pid, signal.SIGCONT)
            build = ready({"id": id})
            self.assertEqual(ours.ask(f"select count(*) from {build['schema']}.sign_ins_v1"), wanted)
            forget()
            eventually(lambda: not schemas(), "no schema stays")
        self.assertGreater(halves, 1)


class CommandTests(unittest.TestCase):
    def setUp(self):
        forget()

    def test_the_command_says_where_to_ask(self):
        done = urd.command("as-of", "realm", "100", "--realm", "history")
        self.assertEqual(done.returncode, 0, done.stderr)
        schema = re.search(r"analyst_at_[0-9a-f]{32}", done.stdout)[0]
        self.assertIn(f"PGOPTIONS='-c search_path={schema}'", done.stdout)
        asked = subprocess.run(
            ["psql", "-XqAt", ours.address, "-c", "select count(*) from events_v1"],
            env={"PGPASSWORD": ours.password, "PATH": "/usr/bin:/bin",
                 "PGOPTIONS": f"-c search_path={schema}"}, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(asked.stdout.strip(), "100", asked.stderr)
        told = json.loads(urd.command("as-of", "realm", "100", "--realm", "history", "--json").stdout)
        self.assertEqual((told["state"], told["position"]), ("ready", 100))
        refused = urd.command("as-of", "realm", "100", "--realm", "history")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("at once", refused.stderr)
        forget()
        listed = json.loads(urd.command(
            "as-of", "realm", "100", "--list", "accounts", "--realm", "history", "--json").stdout)
        self.assertEqual({row["account"] for row in listed}, set(Fold(records[:100]).accounts))

    def test_every_command_of_the_page_works(self):
        page = (ROOT / "docs" / "analysts" / "as-of.md").read_text()
        part = page[page.index("## A whole realm"):]
        blocks = re.findall(r"```sh\n(.*?)```", part, re.S)
        self.assertGreaterEqual(len(blocks), 2)
        with tempfile.TemporaryDirectory(prefix="urd-page-", dir="/tmp") as desk:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(desk, ".build"))
            start = "PATH=$PWD/.build/debug:$PATH\nset -a; . .dev/dev.env; set +a\nexport URD_REALM=history\n"
            done = subprocess.run(
                ["bash", "-ec", start + "\n".join(blocks)], cwd=desk, text=True, timeout=300,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])


if __name__ == "__main__":
    unittest.main()
