"""Apps that nobody lets in are forgotten after an hour, by the real service and with a real database: the
clock that the server looks at is moved on, and nobody waits."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from flagship_client import App
from urd_process import Urd, eventually

COMPILER = shutil.which("cc") or shutil.which("clang")

# What the C library says of the time of day, and so many seconds as a file has in it.
SHIFT = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long shift(void) {
    const char *path = getenv("TEST_CLOCK_SHIFT");
    char text[32] = {0};
    if (!path) return 0;
    int file = open(path, O_RDONLY);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += shift();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
"""


@unittest.skipUnless(COMPILER, "needs a C compiler")
class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="urd-clock-", dir="/tmp")
        os.chmod(cls.folder, 0o755)
        source = pathlib.Path(cls.folder, "shift.c")
        source.write_text(SHIFT)
        library = os.path.join(cls.folder, "shift.so")
        subprocess.run(
            [COMPILER, "-shared", "-fPIC", "-O1", "-o", library, str(source)], check=True)
        cls.moved = pathlib.Path(cls.folder, "seconds")
        cls.move(0)
        try:
            cls.urd = Urd(LD_PRELOAD=library, TEST_CLOCK_SHIFT=str(cls.moved))
        except BaseException:
            shutil.rmtree(cls.folder, ignore_errors=True)
            raise

    @classmethod
    def move(cls, seconds):
        fresh = cls.moved.with_suffix(".new")
        fresh.write_text(str(seconds))
        fresh.chmod(0o644)
        fresh.replace(cls.moved)

    @classmethod
    def tearDownClass(cls):
        cls.urd.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def forgotten(self):
        for line in self.urd.private("/metrics")[1].splitlines():
            if line.startswith("urd_installations_forgotten_total"):
                return int(float(line.split()[-1]))
        return 0

    def test_COZ_03_forgets_who_was_not_let_in_for_an_hour_and_nobody_else(self):
        kept, left = App(self.urd.values, "Kept"), App(self.urd.values, "Left")
        for app in (kept, left):
            app.register()
        self.assertEqual(kept.certify_by_apple()[0], 204)
        self.assertEqual(kept.onboard("seven purple otters dance")[0], 200)
        self.move(3500)
        self.assertEqual(left.information()[0], 200)
        self.assertEqual(self.forgotten(), 0)
        self.move(3700)
        # It is nobody from that moment on, swept or not.
        status, body, _ = left.information()
        self.assertEqual((status, body), (404, {"error": "Client not found"}))
        eventually(lambda: self.forgotten() == 1, "it is swept")
        self.assertEqual(kept.information()[0], 200)
        self.assertEqual(kept.renew()[0], 200)
        pending = self.urd.sql(
            "select count(*) from urd.event where type = 'client.deleted'"
            " and stream = '%s'" % left.id)
        self.assertEqual(pending, "1")


if __name__ == "__main__":
    unittest.main()
