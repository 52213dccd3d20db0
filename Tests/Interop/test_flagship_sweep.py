"""Apps that nobody lets in are forgotten after an hour, by the real service and with a real database: the
clock of the database, by which every node goes, is moved on, and nobody waits."""

import unittest

from flagship_client import App
from urd_process import Urd, eventually


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.urd = Urd()
        cls.urd.sql("create schema clock; grant usage on schema clock to public")
        cls.move(0)
        # A function of ours goes before PostgreSQL's own in every session from now on.
        cls.urd.sql(
            "do $$ begin execute format('alter database %I set search_path = clock, pg_catalog,"
            " public', current_database()); end $$")
        # Apart, so that a connection that comes back at once finds the setting committed.
        cls.urd.sql(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity"
            " where pid <> pg_backend_pid() and datname = current_database()")
        eventually(lambda: cls.urd.private("/health/ready")[0] == 200, "the node is ready again")

    @classmethod
    def move(cls, seconds):
        cls.urd.sql(
            "create or replace function clock.clock_timestamp() returns timestamptz"
            " language sql volatile as $$"
            f" select pg_catalog.clock_timestamp() + interval '{seconds} seconds' $$")

    @classmethod
    def tearDownClass(cls):
        cls.urd.close()

    def forgotten(self):
        for line in self.urd.private("/metrics")[1].splitlines():
            if line.startswith("urd_installations_forgotten_total"):
                return int(float(line.split()[-1]))
        return 0

    def test_COZ_03_apps_not_admitted_within_an_hour_are_forgotten_and_no_others(self):
        kept, left = App(self.urd.values, "Kept"), App(self.urd.values, "Left")
        for app in (kept, left):
            app.register()
        self.assertEqual(kept.certify_by_apple()[0], 204)
        self.assertEqual(kept.onboard("seven purple otters dance")[0], 200)
        self.move(3500)
        self.assertEqual(left.information()[0], 200)
        self.assertEqual(self.forgotten(), 0)
        self.move(3700)
        # Nodes go by the database's clock and compare it every quarter of a minute: from then on it is
        # nobody, swept or not.
        eventually(lambda: left.information()[0] == 404, "it is nobody any more")
        self.assertEqual(left.information()[1], {"error": "Client not found"})
        eventually(lambda: self.forgotten() == 1, "it is swept")
        self.assertEqual(kept.information()[0], 200)
        self.assertEqual(kept.renew()[0], 200)
        pending = self.urd.sql(
            "select count(*) from urd.event where type = 'client.deleted'"
            " and stream = '%s'" % left.id)
        self.assertEqual(pending, "1")


if __name__ == "__main__":
    unittest.main()
