"""`urd doctor engine`: what it says of a PostgreSQL, before anything is installed in it."""

import json
import os
import pathlib
import shutil
import subprocess

from front_door import PATIENCE, eventually, free_port, run
from own_database import OwnDatabase


class Engine(OwnDatabase):
    settings = "-c timezone=UTC"

    def examine(self, address=None, *words):
        result = run("doctor", "engine", address or self.administrator, "--json", *words)
        told = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0 if told["healthy"] else 1, result.stderr)
        return {one["check"]: one for one in told["checks"]}

    def wrong(self, *arguments):
        return {name for name, one in self.examine(*arguments).items() if one["verdict"] == "wrong"}

    def schemas(self):
        return self.sql("select count(*) from pg_namespace where nspname like 'urd%'", "postgres")

    def test_one_that_keeps_every_promise_is_left_as_it_was(self):
        found = self.examine()
        self.assertEqual({one["verdict"] for one in found.values()}, {"fine"}, found)
        self.assertGreaterEqual(len(found), 15)
        self.assertEqual(self.schemas(), "0")

    def test_commits_that_a_crash_loses_are_found(self):
        self.sql("alter system set synchronous_commit = off", "postgres")
        self.sql("select pg_reload_conf()", "postgres")
        self.assertEqual(self.wrong(), {"durability"})

    def test_a_role_without_rights_and_a_server_that_is_not_there_are_told(self):
        self.sql("create role weak login password 'weak'", "postgres")
        self.assertEqual(self.wrong(self.administrator.replace("postgres@", "weak:weak@")), {"rights"})
        self.assertEqual(self.wrong(f"postgresql://postgres@/postgres?host={self.folder}"), {"database"})

    def test_a_server_of_which_a_failover_cannot_be_told_is_found(self):
        self.sql("create role owner login password 'owner'; grant create on database postgres to owner;"
                 " revoke execute on function pg_control_system() from public", "postgres")
        self.assertEqual(self.wrong(self.administrator.replace("postgres@", "owner:owner@")), {"failover"})

    def test_a_standby_takes_no_writes(self):
        self.stop_database()
        pathlib.Path(self.sockets, "data/standby.signal").touch()
        self.start_database()
        self.assertEqual(self.wrong(), {"database"})

    def test_a_pooler_that_lends_servers_by_transaction_is_found(self):
        port = free_port()
        file = pathlib.Path(self.sockets, "pooler.ini")
        users = pathlib.Path(self.sockets, "users")
        users.write_text('"postgres" ""\n')
        for mode, found in (("transaction", {"sessions"}), ("session", set())):
            file.write_text(
                f"[databases]\npostgres = host={self.sockets} user=postgres\n[pgbouncer]\n"
                f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
                f"auth_file = {users}\npool_mode = {mode}\n")
            words = [shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin"), file]
            if os.geteuid() == 0:
                words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words]
            pooler = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            address = f"postgresql://postgres@127.0.0.1:{port}/postgres"
            try:
                eventually(lambda: self.wrong(address) != {"database"}, "the pooler listens")
                self.assertEqual(self.wrong(address), found, mode)
            finally:
                pooler.terminate()
                pooler.wait(timeout=PATIENCE)

    def test_what_was_acknowledged_before_a_crash_is_there_after_it(self):
        kept = f"{self.folder}/kept"
        self.examine(None, "--before-restart", kept)
        self.stop_database()
        self.start_database()
        found = self.examine(None, "--after-restart", kept)
        self.assertIn("1000 acknowledged, none lost", found["durability"]["what"])
        self.assertIn("there was none", found["failover"]["what"])
        self.assertEqual(self.schemas(), "0")
        # Its file went with the rows.
        again = run("doctor", "engine", self.administrator, "--after-restart", kept)
        self.assertNotEqual(again.returncode, 0)

    def test_rows_that_no_file_can_name_are_not_left_behind(self):
        self.assertEqual(self.wrong(None, "--before-restart", f"{self.folder}/no/kept"), {"rows"})
        self.assertEqual(self.schemas(), "0")

    def test_what_was_lost_is_counted_and_a_promotion_is_told(self):
        kept = f"{self.folder}/kept"
        self.examine(None, "--before-restart", kept)
        schema = json.loads(pathlib.Path(kept).read_text())["schema"]
        self.sql(f"delete from {schema}.kept where number > 990", "postgres")
        self.stop_database()
        pathlib.Path(self.sockets, "data/standby.signal").touch()
        self.start_database()
        self.database("pg_ctl", "-D", f"{self.sockets}/data", "-w", "promote")
        found = self.examine(None, "--after-restart", kept)
        self.assertIn("10 of 1000 acknowledged rows are lost", found["durability"]["what"])
        self.assertIn("told by its history", found["failover"]["what"])
