"""One analyst keeps nobody else from writing: what PostgreSQL lets every role do is taken away, and a session that fills the
table of locks all the same is ended."""

import json
import subprocess
import unittest
import uuid

from analyst_role import Analyst
from urd_process import PATIENCE, Urd, eventually

WRITING = "set default_transaction_read_only = off; "
FUNCTIONS = """select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace
    and (p.proname like '%%advisory%%' or p.proname in ('lo_create', 'lo_unlink', 'lo_from_bytea',
        'pg_logical_emit_message')) and %shas_function_privilege('%s', p.oid, 'execute')"""


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


def account(realm):
    status, answer, _ = urd.api.call("POST", f"/api/admin/realms/{realm}/accounts",
                                     {"email": f"{uuid.uuid4().hex[:12]}@example.org"})
    return status, answer


def doctor():
    done = urd.command("doctor", "--json")
    return {row["check"]: row for row in json.loads(done.stdout)["checks"]}


class Session:
    """What an analyst says to psql, for as long as it is let."""

    def __init__(self, analyst, sql):
        self.process = subprocess.Popen(
            ["psql", "-XqAt", analyst.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env={"PGPASSWORD": analyst.password, "PATH": "/usr/bin:/bin"}, text=True)
        try:
            self.process.stdin.write(sql)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def close(self):
        self.process.kill()
        self.process.communicate()


class Bounds(unittest.TestCase):
    def setUp(self):
        self.analyst = Analyst(urd, "verify")

    def test_what_fills_the_table_of_locks_or_stores_is_refused(self):
        self.assertGreater(len(urd.sql(FUNCTIONS % ("not ", self.analyst.name)).split("\n")), 20)
        self.assertEqual(urd.sql(FUNCTIONS % ("", self.analyst.name)), "")
        for sql in ("select count(pg_try_advisory_lock_shared(g)) from generate_series(1, 200000) g",
                    "select lo_create(0)", "select lo_from_bytea(0, 'x')",
                    "select pg_logical_emit_message(true, 'x', 'x')"):
            self.assertIn("permission denied", self.analyst.refused(WRITING + sql))
        self.assertEqual(doctor()["analysts"]["verdict"], "fine")
        eventually(lambda: urd.ready()[0] == 200, "the node has all that it needs")

    def test_other_databases_of_the_server_are_closed_and_a_new_one_is_named(self):
        for database in ("postgres", "template1"):
            address = self.analyst.address.rsplit("/", 1)[0] + "/" + database
            done = subprocess.run(
                ["psql", "-XqAt", address, "-c", "select 1"], capture_output=True, text=True, timeout=PATIENCE,
                env={"PGPASSWORD": self.analyst.password, "PATH": "/usr/bin:/bin"})
            self.assertIn("permission denied for database", done.stderr)
        name = f"other_{uuid.uuid4().hex[:8]}"
        for sql in (f"create database {name}",):
            subprocess.run(["psql", "-XqAt", urd.superuser(), "-c", sql], check=True, timeout=PATIENCE)
        self.addCleanup(subprocess.run, ["psql", "-XqAt", urd.superuser(), "-c", f"drop database {name}"],
                        check=True)
        found = doctor()["analysts"]
        self.assertEqual(found["verdict"], "warning", found)
        self.assertIn(name, found["what"])

    def test_what_is_open_is_told_and_the_printed_statement_closes_it(self):
        urd.sql("grant execute on function pg_advisory_lock(bigint) to public")
        try:
            found = doctor()["analysts"]
            self.assertEqual(found["verdict"], "wrong", found)
            self.assertIn("urd analyst fences", found["remedy"])
            name = f"analyst_{uuid.uuid4().hex[:8]}"
            self.assertIn("urd analyst fences", urd.command("analyst", "add", name, "--realm", "demo").stderr)
        finally:
            statement = urd.command("analyst", "fences").stdout
            subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", urd.superuser()], input=statement,
                           check=True, text=True, timeout=PATIENCE)
        self.assertEqual(doctor()["analysts"]["verdict"], "fine")

    def test_who_piles_up_locks_all_the_same_is_ended_and_locked_out(self):
        # Each savepoint that wrote holds one, and a role may change its own settings: all in one message.
        session = Session(self.analyst, WRITING + "begin\\; " + "\\; ".join(
            f"savepoint s\\; alter role {self.analyst.name} set work_mem = '{64 + n}kB'" for n in range(20000)) + ";\n")
        self.addCleanup(session.close)
        can = f"select rolcanlogin from pg_roles where rolname = '{self.analyst.name}'"

        def locked_out():
            try:
                return urd.sql(can) == "f"
            except subprocess.CalledProcessError:
                return False
        eventually(locked_out, "it is locked out")
        self.assertIn("not permitted to log in", self.analyst.refused("select 1"))
        for realm in ("demo", "verify"):
            eventually(lambda: account(realm)[0] == 201, "all realms are written to")

    def test_a_statement_that_lifts_its_own_limit_is_ended(self):
        # The node's limit, without forty seconds of waiting.
        session = Session(self.analyst, "set statement_timeout = 0; do $$ begin "
                          "perform set_config('statement_timeout', '30s', false); perform pg_sleep(300); end $$;\n")
        self.addCleanup(session.close)
        there = f"select count(*) from pg_stat_activity where usename = '{self.analyst.name}' and state = 'active'"
        eventually(lambda: urd.sql(there) == "1", "it runs")
        urd.sql("select urd.end_greedy_analysts(1000, 40)")
        self.assertEqual(urd.sql(there), "1")
        eventually(lambda: urd.sql("select urd.end_greedy_analysts(1000, 1)") != "0", "it is ended")
        eventually(lambda: urd.sql(there) == "0", "it is gone")


if __name__ == "__main__":
    unittest.main()
