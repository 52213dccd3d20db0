"""What one node at a time does goes on whatever an analyst's role locks; and where it stands still, the database
says so, and not the memory of a node."""

import json
import os
import re
import signal
import subprocess
import time
import unittest
import uuid

from phone import Phone
from urd_process import PATIENCE, Server, Urd, eventually

LEASES = ["mailer", "messenger", "logout", "notifications", "signals", "findings", "webhooks"]
# Every lock that could be guessed from outside, taken as soon as it is free, and kept.
POLL = """
set statement_timeout = '5min';
do $$
declare v_name text;
begin
    loop
        foreach v_name in array '{%s}'::text[] loop
            perform pg_try_advisory_lock(7355610, hashtext(v_name));
            perform pg_try_advisory_lock(hashtextextended('urd sealer/' || v_name, 0));
            perform pg_try_advisory_lock(hashtextextended('urd case file ' || v_name, 0));
        end loop;
        perform pg_sleep(0.01);
    end loop;
end $$
""" % ",".join(LEASES + ["demo", "verify", "system", "flagship", "eduid"])


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def metric(series):
    for line in urd.private("/metrics")[1].splitlines():
        if line.startswith(series + " "):
            return float(line.rsplit(" ", 1)[1])
    return None


class Stuck:
    """A session that locks rows as the application would, and says nothing more."""

    def __init__(self, sql):
        self.process = subprocess.Popen(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", urd.superuser()], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(sql + ";\nselect 'locked';\n")
        self.process.stdin.flush()
        while (line := self.process.stdout.readline()) != "locked\n":
            assert line, "the session ended"

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()


class Analysts(unittest.TestCase):
    def test_a_role_that_takes_every_advisory_lock_keeps_no_mail_and_no_seal_back(self):
        name = f"analyst_{uuid.uuid4().hex[:8]}"
        made = json.loads(urd.command("analyst", "add", name, "--realm", "verify", "--json").stdout)
        address = urd.values["URD_DATABASE_OWNER_URL"].replace("//urd_owner@", f"//{name}@")
        # As where no superuser fenced it in.
        urd.sql(f"grant execute on function pg_try_advisory_lock(bigint), "
                f"pg_try_advisory_lock(integer, integer) to {name}")
        self.addCleanup(urd.sql, f"revoke execute on function pg_try_advisory_lock(bigint), "
                        f"pg_try_advisory_lock(integer, integer) from {name}")
        with subprocess.Popen(
                ["psql", "-XqAt", address, "-c", POLL],
                env={"PGPASSWORD": made["password"], "PATH": "/usr/bin:/bin"},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as poll:
            self.addCleanup(poll.kill)
            held = ("select count(*) from pg_locks l join pg_stat_activity a using (pid)"
                    f" where l.locktype = 'advisory' and l.granted and a.usename = '{name}'")
            eventually(lambda: int(urd.sql(held)) > 0, "it has some")
            held += " and l.classid = 7355610"
            # As a restart ends them.
            urd.sql("select count(pg_terminate_backend(pid)) from pg_stat_activity"
                    " where usename = 'urd_app'")
            eventually(lambda: int(urd.sql(held)) >= len(LEASES), "it has what was free")
            eventually(lambda: urd.ready()[0] == 200, "the node is ready again")
            Phone(urd).sign_in(somebody())
            for realm in ("demo", "verify", "system"):
                urd.sealed(realm)
            poll.kill()

    def test_no_session_of_urds_takes_an_advisory_lock(self):
        self.assertEqual(urd.sql(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid)"
            " where l.locktype = 'advisory' and a.usename in ('urd_app', 'urd_owner')"), "0")


class Alarms(unittest.TestCase):
    def told(self, part):
        return urd.attention().get(part, {}).get("detail", "")

    def test_a_lease_that_no_node_can_hold_is_told_by_the_database(self):
        lease = "select renewed_at < now() - interval '30 s' from urd.lease where name = 'findings'"
        for _ in range(20):
            stuck = Stuck("begin; update urd.lease set renewed_at = renewed_at - interval '1 min'"
                          " where name = 'findings'; commit; begin;"
                          " select from urd.lease where name = 'findings' for update")
            self.addCleanup(stuck.close)
            if urd.sql(lease) == "t":
                break
            stuck.close()
        eventually(lambda: "no node has held findings for" in self.told("leases"), "health says so")
        self.assertEqual(urd.ready()[0], 200)
        eventually(lambda: (metric('urd_lease_unheld_seconds{lease="findings"}') or 0) > 30,
                   "a metric says so")
        doctor = urd.command("doctor")
        self.assertEqual(doctor.returncode, 1, doctor.stdout)
        self.assertRegex(doctor.stdout, r"leases +wrong +no node has held findings for \d+ s")
        stuck.close()
        eventually(lambda: not self.told("leases"), "another holds it")
        self.assertRegex(urd.command("doctor").stdout, r"leases +fine +each is held")

    def test_a_seal_that_does_not_move_is_told_by_the_database(self):
        realm = "verify"
        urd.sealed(realm)
        stuck = Stuck(f"begin; select from urd.seal where realm = '{realm}' for update")
        self.addCleanup(stuck.close)
        status, _, _ = urd.api.call(
            "POST", f"/api/admin/realms/{realm}/accounts", {"email": somebody()})
        self.assertEqual(status, 201)
        row = (f"where realm = '{realm}' and position > (select max(size) from urd.checkpoint"
               f" where realm = '{realm}')")
        urd.sql(f"update urd.event set at = at - interval '1 min' {row}")
        self.addCleanup(lambda: urd.sealed(realm))
        try:
            eventually(lambda: f"the log of {realm} goes on" in self.told("seals"), "health says so")
            self.assertEqual(urd.ready()[0], 200)
            eventually(lambda: (metric("urd_seal_lag_seconds") or 0) > 30, "a metric says so")
            doctor = urd.command("doctor")
            self.assertEqual(doctor.returncode, 1, doctor.stdout)
            self.assertRegex(doctor.stdout, rf"seals +wrong +the log of {realm} goes on")
        finally:
            urd.sql(f"update urd.event set at = at + interval '1 min' {row}")
            stuck.close()
        urd.sealed(realm)
        eventually(lambda: not self.told("seals"), "it is over")


    def doctor(self, check):
        """The verdict and what was found."""
        result = urd.command("doctor", "--json")
        (found,) = (one for one in json.loads(result.stdout)["checks"] if one["check"] == check)
        self.assertEqual(result.returncode, 1 if found["verdict"] == "wrong" else result.returncode)
        return found["verdict"], found["what"]

    def test_a_read_model_that_stands_still_is_told_by_the_database(self):
        realm = "verify"
        urd.sealed(realm)
        stuck = Stuck(f"begin; select from urd.seal where realm = '{realm}' for update;"
                      " select from urd.projection_position"
                      f" where realm = '{realm}' and projection = 'audit_trail' for update")
        self.addCleanup(stuck.close)
        status, _, _ = urd.api.call(
            "POST", f"/api/admin/realms/{realm}/accounts", {"email": somebody()})
        self.assertEqual(status, 201)
        row = (f"where realm = '{realm}' and position > (select max(size) from urd.checkpoint"
               f" where realm = '{realm}')")
        urd.sql(f"update urd.event set at = at - interval '1 min' {row}")
        self.addCleanup(lambda: urd.sealed(realm))
        try:
            eventually(lambda: f"nothing applied in {realm} for" in self.told("projection.audit_trail"),
                       "health says so")
            self.assertEqual(urd.ready()[0], 200)
            eventually(
                lambda: (metric('urd_projection_standstill_seconds{projection="audit_trail"}') or 0) > 30,
                "a metric says so")
            verdict, what = self.doctor("read models")
            self.assertEqual(verdict, "wrong")
            self.assertRegex(what, rf"^audit_trail: nothing applied in {realm} for \d+ s, \d+ events wait$")
        finally:
            urd.sql(f"update urd.event set at = at + interval '1 min' {row}")
            stuck.close()
        eventually(lambda: not self.told("projection.audit_trail"), "it is over")
        self.assertEqual(self.doctor("read models"), ("fine", "none has halted"))

    def test_a_lock_that_keeps_all_writes_out_is_told_with_its_session(self):
        for table in ("command", "subject_key", "event"):
            with self.subTest(table):
                stuck = Stuck(f"begin; lock table urd.{table}")
                self.addCleanup(stuck.close)
                pid = urd.sql(f"select pid from pg_locks where relation = 'urd.{table}'::regclass"
                              " and mode = 'AccessExclusiveLock' and granted")
                words = f"session {pid} (postgres, psql) has locked urd.{table} for "
                eventually(lambda: words in urd.ready()[1].get("commits", {}).get("detail", ""),
                           "health says who keeps all writes out")
                self.assertEqual(urd.ready()[0], 503)
                self.assertIn(words, self.told("locks"))
                self.assertGreaterEqual(metric("urd_writes_blocked_seconds"), 10)
                verdict, what = self.doctor("locks")
                self.assertEqual(verdict, "wrong")
                self.assertRegex(what, "^" + re.escape(words) + r"\d+ s: no write gets through$")
                stuck.close()
                eventually(lambda: urd.ready()[0] == 200, "writes get through again")
                self.assertEqual(self.doctor("locks"), ("fine", "no session keeps writes out"))

    def test_a_lock_that_keeps_the_writes_to_one_realm_out_is_told_with_the_realm(self):
        stuck = Stuck("begin; select from urd.realm_log where realm = 'verify' for update")
        self.addCleanup(stuck.close)
        eventually(lambda: "has locked the log of verify for " in self.told("locks"), "health says so")
        self.assertEqual(urd.ready(), (200, {}))
        for realm, expected in (("demo", 201), ("verify", 503)):
            status, answer, _ = urd.api.call(
                "POST", f"/api/admin/realms/{realm}/accounts", {"email": somebody()})
            self.assertEqual(status, expected, answer)
        verdict, what = self.doctor("locks")
        self.assertEqual(verdict, "wrong")
        self.assertRegex(what, r"session \d+ \(postgres, psql\) has locked the log of verify for \d+ s")
        stuck.close()
        eventually(lambda: not self.told("locks"), "it is over")

    def test_mails_that_wait_for_long_are_told_by_the_database(self):
        # An event of another day, and a mail that it asks for and that no node finds due.
        mail = uuid.uuid4()
        self.addCleanup(urd.sql, "delete from urd.event where realm = 'waiting'")
        build = urd.sql("select build from urd.projection_build where projection = 'mails' and status = 'live'")
        self.addCleanup(urd.sql, f"delete from urd.mails_{build} where realm = 'waiting'")
        urd.sql("insert into urd.event select (jsonb_populate_record(e, jsonb_build_object("
                "'realm', 'waiting', 'position', 1, 'at', now() - interval '10 min'))).*"
                " from urd.event e where realm = 'demo' and position = 1;"
                f" insert into urd.mails_{build} (realm, mail, position, kind, due_at)"
                f" values ('waiting', '{mail}', 1, 'otp.issued', 'infinity')")
        eventually(lambda: self.told("mails"), "health says so")
        self.assertRegex(self.told("mails"),
                         r"^1 mails wait, the oldest since \S+Z in waiting, and no attempt is on record$")
        self.assertEqual(urd.ready()[0], 200)
        eventually(lambda: (metric("urd_mail_wait_seconds") or 0) >= 600, "a metric says so")
        self.assertEqual(self.doctor("mails"), ("wrong", self.told("mails")))
        urd.sql("delete from urd.event where realm = 'waiting';"
                f" delete from urd.mails_{build} where realm = 'waiting'")
        eventually(lambda: not self.told("mails"), "it is over")


class TakeOver(unittest.TestCase):
    def node(self, name):
        url = urd.values["URD_DATABASE_URL"]
        node = Server(urd.values, URD_DATABASE_URL=url + ("&" if "?" in url else "?")
                      + "application_name=" + name)
        self.addCleanup(node.close)
        return node.ready()

    def holder(self):
        return urd.sql(
            "select a.application_name from urd.lease l join pg_stat_activity a on a.pid = l.process"
            " where l.name = 'logout' and l.holder is not null")

    def test_a_killed_node_is_followed_at_once_and_a_frozen_one_within_the_term(self):
        nodes = {name: self.node(name) for name in ("node_a", "node_b")}
        os.kill(urd.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            first = eventually(lambda: self.holder() in nodes and self.holder(), "another node has it")
            self.assertGreater(time.monotonic() - began, 10, "it was taken from a node that may go on")
            nodes[first].process.kill()
            (second,) = set(nodes) - {first}
            eventually(lambda: self.holder() == second, "the node that is left has it", patience=10)
        finally:
            os.kill(urd.pid, signal.SIGCONT)
        eventually(lambda: urd.ready()[0] == 200, "it goes on with all else")
        self.assertEqual(self.holder(), second)
        nodes[second].process.send_signal(signal.SIGTERM)
        eventually(lambda: self.holder() not in ("", second), "who ends lets go", patience=PATIENCE)


if __name__ == "__main__":
    unittest.main()
