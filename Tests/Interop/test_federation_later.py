"""What ends by time in the federation profile: on a promoted standby, where all clocks go on by an hour at once."""

import base64
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from federation_client import App, Site, Token, read
from standby_pair import StandbyPair
from token_tool import missing, rerun
from urd_process import eventually

MISSING = missing("jwcrypto")
HOUR = 3600
# The time of day of a process is off by the seconds that a file has, which may change while it runs.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long off(void) {
    char text[16] = {0};
    int file = open(getenv("SECONDS_FILE"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    return count > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t id, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) time->tv_sec += off();
    return result;
}

int gettimeofday(struct timeval *time, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


def setUpModule():
    global pair, site, folder, seconds
    folder = tempfile.mkdtemp(prefix="urd-later-", dir="/tmp")
    os.chmod(folder, 0o755)
    shim, source = os.path.join(folder, "clock.so"), os.path.join(folder, "clock.c")
    pathlib.Path(source).write_text(SHIM)
    compiler = shutil.which("cc") or shutil.which("clang")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    seconds = pathlib.Path(folder, "seconds")
    seconds.write_text("0")
    clock = {"LD_PRELOAD": shim, "SECONDS_FILE": str(seconds)}
    pair = StandbyPair(**clock)
    node = pair.node(**clock)
    values = dict(pair.urd.values)
    port = urllib.parse.urlsplit(node.url).port
    # The node's links, and what it is the audience of, have its port.
    values["URD_FEDERATION_URL"] = re.sub(r":\d+", f":{port}", values["URD_FEDERATION_URL"])
    site = Site({**values, "URD_URL": node.url})


def tearDownModule():
    pair.close()
    shutil.rmtree(folder, ignore_errors=True)


class Later(unittest.TestCase):
    def test_edu_05_and_14_what_is_good_for_an_hour_ends_then_and_not_before(self):
        app, name, key = App(site), *(
            site.values["URD_FEDERATION_SERVICE_" + part] for part in ("ID", "KEY"))
        app.register(), app.person(), app.join()
        answer, unused = app.assertion_for(), app.assertion_for()
        jti = read(answer["code"], key)["jti"]
        basic = "Basic " + base64.b64encode(f"{name}:{key}".encode()).decode()
        profile = site.url + "/user-profile"

        def validated():
            return site.call("POST", site.url + "/token", {
                "grant_type": "validate", "jti": jti}, basic)[0]

        def told(token, off):
            moment = Token.now() + off * 1_000_000
            try:
                return site.call("GET", profile, None, token.mac("GET", profile, moment))[0]
            except OSError:
                return 0  # The node looks for its database.

        written = pair.primary("select pg_current_wal_lsn()")
        eventually(lambda: pair.standby(
            f"select pg_last_wal_replay_lsn() >= '{written}'::pg_lsn") == "t", "all is there")
        pair.fail_over()
        begun = time.time()
        for off, person, shown in ((HOUR - 300, 200, 200), (HOUR + 1, 403, 404)):
            seconds.write_text(str(off))
            now = float(pair.standby("select extract(epoch from clock_timestamp())"))
            self.assertGreater(now, begun + off - 1)
            # A service's token is good for longer. A number of so late shows that the node knows how late it is.
            eventually(lambda: told(app.service, off) == 200, f"the node's clock went on by {off} s")
            self.assertEqual(told(app.user, off), person, off)
            self.assertEqual(validated(), shown, off)
            if shown == 200:
                self.assertEqual(app.redeem(answer)[0], 200)
        status, refused = app.redeem(unused)
        self.assertEqual((status, refused["error"]), (403, "invalid_grant"), refused)
        # The person's token is refreshed, and is good again.
        status, fresh = site.call("POST", site.url + "/token", {
            "grant_type": "refresh_token", "refresh_token": app.user.answer["refresh_token"]})
        self.assertEqual(status, 200, fresh)
        self.assertEqual(told(Token(site, fresh, app.client_id), HOUR + 1), 200)
        # So long as 86,000 seconds is a service's.
        seconds.write_text(str(86_000 + 60))
        eventually(lambda: told(app.service, 86_000 + 60) == 403, "the service's token is over")


if MISSING:
    Later = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
