"""Analysts ask in SQL: what a role sees, what it is refused, and the documented questions."""

import json
import pathlib
import re
import subprocess
import unittest
import uuid

from analyst_role import Analyst
from urd_process import PATIENCE, Client, Urd, eventually

DOCS = pathlib.Path(__file__).parents[2] / "docs/analysts"
# What Grafana writes in the place of its macros.
MACROS = {
    r"\$__timeGroupAlias\((\w+), '1h'\)": r"""date_trunc('hour', \1) as "time" """,
    r"\$__timeFilter\((\w+)\)": r"\1 between now() - interval '7 days' and now() + interval '1 day'",
}


def setUpModule():
    global urd
    urd = Urd()
    api = Client(urd.values["URD_URL"], urd.key)
    for realm, count in (("demo", 3), ("verify", 5)):
        for _ in range(count):
            status, answer, _ = api.call(
                "POST", f"/api/admin/realms/{realm}/accounts",
                {"email": f"{uuid.uuid4().hex[:12]}@example.org"})
            assert status == 201, answer
    api.close()


def tearDownModule():
    urd.close()


def owner(sql):
    return urd.sql(sql)


def alone(sql):
    """As the superuser, what may be in no transaction."""
    subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", urd.superuser(), "-c", sql], check=True,
                   capture_output=True, text=True, timeout=PATIENCE)


class AnalystSQL(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.demo, cls.verify = Analyst(urd, "demo"), Analyst(urd, "verify")

    def test_a_role_sees_all_events_of_its_realm_and_of_no_other(self):
        for analyst, realm in ((self.demo, "demo"), (self.verify, "verify")):
            eventually(lambda: analyst.ask("select count(*) from events_v1") == owner(
                f"select count(*) from urd.event where realm = '{realm}'"), "the trail follows")
            for view, kind in (("accounts_v1", "account"), ("clients_v1", "client")):
                known = {row[kind] for row in analyst.rows(f"select {kind} from {view}")}
                mine = owner(f"select coalesce(string_agg({kind}::text, ' '), '') from urd.{kind}s "
                             f"where realm = '{realm}'")
                self.assertEqual(known, set(mine.split()), view)
        self.assertNotEqual(
            self.demo.ask("select count(*) from accounts_v1"),
            self.verify.ask("select count(*) from accounts_v1"))

    def test_no_view_shows_a_row_of_another_realm(self):
        views = owner("select string_agg(viewname, ' ') from pg_views where schemaname = 'analyst'").split()
        self.assertEqual(len(views), 12)
        for view in views:
            definition = owner(f"select pg_get_viewdef('analyst.{view}'::regclass)")
            if view == "events_v1":
                # What it is made of is the barrier.
                self.assertRegex(definition, r"FROM urd\.analyst_trail t;$")
                definition, view = owner("select pg_get_viewdef('urd.analyst_trail'::regclass)"), "analyst_trail"
            self.assertIn("analyst.realm()", definition, view)
            options = owner(f"select reloptions from pg_class where relname = '{view}' and relnamespace = "
                            "any ('{analyst,urd}'::regnamespace[])")
            self.assertIn("security_barrier", options, view)
        # A function of the asker's that costs nothing is not shown what the view keeps back.
        told = self.demo.psql(
            "set client_min_messages = notice; select count(*) from clients_v1 where case when "
            "client_id = 'x' then true else client_id is not null end").stdout
        others = {row["client_id"] for row in self.verify.rows("select client_id from clients_v1")}
        self.assertTrue(others)
        self.assertEqual(int(told), len(self.demo.rows("select client_id from clients_v1")))

    def test_credentials_of_another_realm_are_not_seen(self):
        mine = {}
        for realm in ("demo", "verify"):
            mine[realm] = str(uuid.uuid4())
            owner("insert into urd.credentials (realm, kind, credential, account) values "
                  f"('{realm}', 'passkey', '{mine[realm]}', gen_random_uuid())")
        for analyst, realm in ((self.demo, "demo"), (self.verify, "verify")):
            seen = [row["credential"] for row in analyst.rows("select * from credentials_v1")]
            self.assertEqual(seen, [mine[realm]])

    def test_fields_of_events_are_the_open_ones_alone(self):
        catalogue = {(row["type"], row["field"]): row["visibility"]
                     for row in self.demo.rows("select * from field_catalogue_v1")}
        self.assertIn("never-leaves", catalogue.values())
        self.assertIn("personal", catalogue.values())
        shown = self.demo.rows("select type, fields from events_v1")
        for row in shown:
            for field in row["fields"]:
                self.assertEqual(catalogue[row["type"], field], "open", row["type"])
        hidden = owner(
            "select count(*) from urd.event e cross join lateral json_each(e.data) d join urd.event_field f "
            "on f.type = e.type and f.field = d.key where e.realm = 'demo' and f.visibility = 'never-leaves'")
        self.assertGreater(int(hidden), 0)
        self.assertTrue(any(row["fields"] for row in shown))

    def test_a_role_is_refused_what_is_not_its_own(self):
        for sql in (
                "select * from urd.event", "select * from urd.accounts", "select * from urd.analyst",
                "select * from urd.subject_key", "create table t ()", "create temporary table t ()",
                "create table analyst.t ()", "create schema mine", "delete from analyst.events_v1",
                "insert into analyst.clients_v1 (name) values ('x')",
                "update analyst.accounts_v1 set disabled = true", "drop view analyst.events_v1",
                "copy (select 1) to '/tmp/urd-analyst'", "copy (select 1) to program 'true'",
                "select pg_read_file('/etc/passwd')", "select pg_ls_dir('/')",
                "create function f() returns int language sql as 'select 1'",
                "select * from pg_authid", "set role urd_app", "set session authorization urd_app",
                "create role other", "alter role urd_analyst login"):
            for prefix in ("", "set default_transaction_read_only = off; "):
                self.assertRegex(
                    self.demo.refused(prefix + sql),
                    "permission denied|must be|read-only|cannot|superuser", sql)

    def test_a_role_that_lifts_its_limit_gets_no_rows(self):
        self.assertEqual(self.demo.ask("show statement_timeout"), "30s")
        self.assertEqual(self.demo.ask("show idle_in_transaction_session_timeout"), "1min")
        for limit in ("0", "'31s'", "'1h'"):
            self.assertIn("statement_timeout", self.demo.refused(
                f"set statement_timeout = {limit}; select count(*) from events_v1"))
        self.demo.ask("set statement_timeout = '5s'; select count(*) from events_v1")
        self.assertIn("statement timeout", self.demo.refused(
            "set statement_timeout = '200ms'; select pg_sleep(3)"))

    def test_a_fifth_connection_is_refused(self):
        held = [subprocess.Popen(
            ["psql", "-XqAt", self.verify.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={"PGPASSWORD": self.verify.password, "PATH": "/usr/bin:/bin"}, text=True)
            for _ in range(4)]
        try:
            for one in held:
                one.stdin.write("select 1;\n")
                one.stdin.flush()
                self.assertEqual(one.stdout.readline().strip(), "1")
            self.assertIn("too many connections", self.verify.refused("select 1"))
        finally:
            for one in held:
                one.communicate("\\q\n", timeout=PATIENCE)

    def test_a_role_of_no_analyst_sees_nothing(self):
        name = f"other_{uuid.uuid4().hex[:8]}"
        owner(f"create role {name} login in role urd_analyst")
        done = subprocess.run(
            ["psql", "-XqAt", self.demo.address.replace(self.demo.name, name), "-c",
             "set statement_timeout = '5s'; select count(*) from analyst.events_v1"],
            capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("sees no realm", done.stderr)

    def test_every_view_and_column_has_a_comment(self):
        bare = owner(
            "select string_agg(c.relname || '.' || a.attname, ' ') from pg_class c join pg_attribute a on "
            "a.attrelid = c.oid and a.attnum > 0 where c.relnamespace = 'analyst'::regnamespace and "
            "(col_description(c.oid, a.attnum) is null or obj_description(c.oid, 'pg_class') is null)")
        self.assertEqual(bare, "")

    def test_a_removed_analyst_is_disconnected_and_gone(self):
        gone = Analyst(urd, "demo")
        # PostgreSQL lets every role make these where no superuser keeps it from that.
        owner(f"grant execute on function lo_from_bytea(oid, bytea) to {gone.name}")
        gone.ask("set default_transaction_read_only = off; select lo_from_bytea(0, 'x')")
        owner(f"revoke execute on function lo_from_bytea(oid, bytea) from {gone.name}")
        with subprocess.Popen(
                ["psql", "-XqAt", gone.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, env={"PGPASSWORD": gone.password, "PATH": "/usr/bin:/bin"},
                text=True) as held:
            held.stdin.write("select 1;\n")
            held.stdin.flush()
            held.stdout.readline()
            self.assertEqual(urd.command("analyst", "remove", gone.name, "--yes").returncode, 0)
            _, errors = held.communicate("select count(*) from analyst.events_v1;\n", timeout=PATIENCE)
            self.assertIn("terminat", errors)
        self.assertIn(f'role "{gone.name}" does not exist', gone.refused("select 1"))
        names = [one["analyst"] for one in json.loads(urd.command("analyst", "list", "--json").stdout)]
        self.assertNotIn(gone.name, names)
        self.assertIn(self.demo.name, names)

    def test_a_role_of_an_analyst_that_cannot_be_dropped_keeps_neither_login_nor_seat(self):
        stays = Analyst(urd, "demo")
        database = f"other_{uuid.uuid4().hex[:8]}"
        alone(f"create database {database}")
        self.addCleanup(alone, f"drop database {database} with (force)")
        elsewhere = Analyst.__new__(Analyst)
        elsewhere.__dict__.update(stays.__dict__, address=stays.address.rsplit("/", 1)[0] + "/" + database)
        elsewhere.ask("set default_transaction_read_only = off; select lo_create(0)")
        # And a session that changes the role for as long as it can.
        with subprocess.Popen(
                ["psql", "-XqAt", stays.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, env={"PGPASSWORD": stays.password, "PATH": "/usr/bin:/bin"},
                text=True) as held:
            held.stdin.write("set default_transaction_read_only = off; begin; "
                             f"alter role {stays.name} set work_mem = '5MB';\nselect 'held';\n")
            held.stdin.flush()
            self.assertEqual(held.stdout.readline(), "held\n")
            for _ in range(2):
                done = urd.command("analyst", "remove", stays.name, "--yes")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"{database} (1)", done.stderr)
                self.assertIn(f"drop owned by {stays.name}", done.stderr)
                self.assertRegex(stays.refused("select 1"), "password|not permitted to log in")
        self.assertEqual(owner(f"select count(*) from urd.analyst where role = '{stays.name}'"), "0")
        self.assertEqual(owner("select rolpassword is null and not rolcanlogin from pg_authid "
                               f"where rolname = '{stays.name}'"), "t")
        subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", f"drop owned by {stays.name}",
                        urd.superuser().rsplit("/", 1)[0] + "/" + database], check=True, timeout=PATIENCE)
        self.assertEqual(urd.command("analyst", "remove", stays.name, "--yes").returncode, 0)
        self.assertEqual(owner(f"select count(*) from pg_roles where rolname = '{stays.name}'"), "0")

    def test_the_password_is_kept_as_a_verifier(self):
        kept = owner(f"select rolpassword from pg_authid where rolname = '{self.demo.name}'")
        self.assertTrue(kept.startswith("SCRAM-SHA-256$"), kept)

    def test_names_that_are_none_or_taken_are_refused(self):
        for name, code in (("urd_app", 2), ("Ann", 2), ("a b", 2), ("pg_x", 2), (self.demo.name, 1)):
            done = urd.command("analyst", "add", name, "--realm", "demo")
            self.assertEqual(done.returncode, code, (name, done.stderr))
        done = urd.command("analyst", "add", "grafana", "--realm", "demmo")
        self.assertIn("Did you mean 'demo'?", done.stderr)

    def test_the_documented_questions_are_answered(self):
        questions = re.findall(r"```sql\n(.*?)```", (DOCS / "sql.md").read_text(), re.S)
        self.assertEqual(len(questions), 12)
        for question in questions:
            self.demo.rows(question.strip())
        self.assertTrue(self.demo.rows(questions[6].strip()))
        named = set(re.findall(r"^\| `(\w+_v\d)`", (DOCS / "sql.md").read_text(), re.M))
        known = owner("select string_agg(viewname, ' ') from pg_views where schemaname = 'analyst'")
        self.assertEqual(named, set(known.split()))

    def test_the_dashboard_asks_what_the_views_answer(self):
        board = json.loads((DOCS / "grafana.json").read_text())
        for panel in board["panels"]:
            sql = panel["targets"][0]["rawSql"]
            for macro, text in MACROS.items():
                sql = re.sub(macro, text, sql)
            self.assertNotIn("$", sql)
            rows = self.demo.rows(sql)
            if panel["title"] == "Events by type":
                self.assertTrue(rows)


if __name__ == "__main__":
    unittest.main()
