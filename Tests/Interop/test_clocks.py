"""Two servers on one database, on machines whose clocks are an hour off, either way: what holds is the
database's time."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from phone import Phone, code, inbox  # noqa: E402
from urd_process import Server, Urd, eventually  # noqa: E402

HOUR = 3600

# What a machine with a wrong clock is to a process: the time of day is off, and what only goes on is not.
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        const char *seconds = getenv("SECONDS_OFF");
        time->tv_sec += seconds ? atol(seconds) : 0;
    }
    return result;
}
"""


def setUpModule():
    global urd, folder, shim, slow, fast
    folder = tempfile.mkdtemp(prefix="urd-clocks-", dir="/tmp")
    shim = os.path.join(folder, "clock.so")
    source = os.path.join(folder, "clock.c")
    pathlib.Path(source).write_text(SHIM)
    compiler = shutil.which("cc") or shutil.which("clang")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    urd = Urd(lawful=True)
    slow, fast = node(-HOUR), node(HOUR)


def tearDownModule():
    slow.close()
    fast.close()
    urd.close()
    shutil.rmtree(folder, ignore_errors=True)


def node(seconds):
    return Server(urd.values, LD_PRELOAD=shim, SECONDS_OFF=str(seconds)).ready()


def at(server):
    phone = Phone(urd, url=server.url)
    phone.host = "demo.localhost:" + str(urllib.parse.urlsplit(urd.values["URD_URL"]).port)
    return phone


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


class Clocks(unittest.TestCase):
    def test_the_clock_shim_shifts_the_time(self):
        line = slow.lines("server.listening")[0]["time"]
        there = time.strftime("%Y-%m-%dT%H", time.gmtime(time.time() - HOUR))
        self.assertTrue(line.startswith(there) or line < there, line)

    def test_events_of_both_nodes_have_the_databases_time(self):
        for server in (slow, fast):
            at(server).sign_in(somebody())
        off = urd.sql(
            "select max(abs(extract(epoch from clock_timestamp() - e.at)))::int from urd.event e"
            " where e.realm = 'demo' and e.type = 'session.opened'")
        self.assertLess(int(off), 120)

    def test_a_code_is_mailed_at_once_by_either_node(self):
        for server in (slow, fast):
            email = somebody()
            began = time.monotonic()
            self.assertEqual(at(server).request_code(email)[0], 200)
            eventually(lambda: inbox(urd, email), "the code is mailed")
            self.assertLess(time.monotonic() - began, 60)

    def test_a_code_of_one_node_is_accepted_by_the_other(self):
        for asked, shown in ((slow, fast), (fast, slow)):
            email = somebody()
            at(asked).request_code(email)
            status, tokens, _ = at(shown).redeem(email, code(urd, email))
            self.assertEqual(status, 200, tokens)
            self.assertEqual(at(asked).call(
                "GET", "/connect/userinfo", token=tokens["access_token"])[0], 200)

    def test_a_refresh_whose_answer_was_lost_is_repeated_at_the_other_node(self):
        for first, second in ((slow, fast), (fast, slow)):
            tokens = at(first).sign_in(somebody())
            status, lost, _ = at(first).refresh(tokens["refresh_token"])
            self.assertEqual(status, 200, lost)
            status, again, _ = at(second).refresh(tokens["refresh_token"])
            self.assertEqual(status, 200, again)
            self.assertEqual(again["refresh_token"], lost["refresh_token"])
            status, after, _ = at(first).refresh(again["refresh_token"])
            self.assertEqual(status, 200, after)

    def test_readiness_metrics_and_the_log_report_a_shifted_clock(self):
        for server, word in ((slow, "behind"), (fast, "ahead of")):
            status, body = server.ask("/health/ready", private=True)
            clock = json.loads(body)["components"]["clock"]
            self.assertEqual((status, clock["ready"]), (200, True))
            self.assertRegex(
                clock["detail"],
                rf"^this machine's clock is (3599|3600|3601)\d\d\d ms {word} the database's")
            metrics = server.ask("/metrics", private=True)[1]
            ahead = [float(line.split()[1]) for line in metrics.splitlines()
                     if line.startswith("urd_clock_ahead_seconds ")]
            self.assertAlmostEqual(ahead[0], -HOUR if server is slow else HOUR, delta=5)
            self.assertEqual(len(server.lines("clock.differs")), 1)
        right = json.loads(urd.private("/health/ready")[1])["components"]["clock"]
        self.assertEqual(right, {"ready": True})

    def test_the_doctor_on_a_machine_with_a_shifted_clock_reports_it(self):
        told = urd.command("doctor", LD_PRELOAD=shim, SECONDS_OFF=str(-HOUR)).stdout
        self.assertRegex(told, r"the database's clock differs from ours by \d{7} ms")


class LaterOnRecord(unittest.TestCase):
    """The database's clock was an hour ahead once, and was set right: to the log it is behind."""

    def test_decisions_are_no_earlier_than_the_last_event_and_readiness_reports_it(self):
        urd.sql(
            "create schema later; create function later.clock_timestamp() returns timestamptz "
            "language sql as $$ select pg_catalog.clock_timestamp() + interval '1 hour' $$; "
            "grant usage on schema later to urd_app")
        address = urd.values["URD_DATABASE_URL"] + "?options=-csearch_path%3Dlater,pg_catalog"
        ahead = Server({**urd.values, "URD_DATABASE_URL": address}).ready()
        self.addCleanup(ahead.close)
        email = somebody()
        self.assertEqual(at(ahead).request_code(email)[0], 200)
        passcode = code(urd, email)
        ahead.end()

        def told():
            clock = json.loads(slow.ask("/health/ready", private=True)[1])["components"]["clock"]
            return "ms behind the last event of demo" in clock["detail"]

        eventually(told, "the node says that the database's clock is behind the log")
        doctor = urd.command("doctor").stdout
        self.assertRegex(doctor, r"clocks: the database's clock is \d{7} ms behind the last event of demo")
        # The code is good for ten minutes from when it was asked for, and was not asked for in an hour.
        status, tokens, _ = at(slow).redeem(email, passcode)
        self.assertEqual(status, 200, tokens)
        order = urd.sql(
            "select (select max(at) from urd.event where realm = 'demo' and type = 'session.opened')"
            " >= (select max(at) from urd.event where realm = 'demo' and type = 'otp.issued')")
        self.assertEqual(order, "t")


if __name__ == "__main__":
    unittest.main()
