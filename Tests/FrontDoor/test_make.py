"""`make dev` itself: what a newcomer types first, and how it ends."""

import os
import re
import signal
import subprocess
import unittest

from front_door import BINARY, ROOT, FrontDoorCase, Run, environment, free_port


@unittest.skipUnless(
    BINARY == ROOT / ".build" / "debug" / "urd" and BINARY.exists(), "needs the built package"
)
class MakeDev(FrontDoorCase):
    finds_nothing = True

    def start(self):
        class MakeRun(Run):
            """Looks like any run, only that make stands between."""

        original = subprocess.Popen
        one = MakeRun.__new__(MakeRun)
        one.data, one.port = self.data, free_port()
        one.file = os.path.join(self.data, "dev.env")
        one.output = open(os.path.join(self.folder, "output"), "w+")
        one.before = one.stamp()
        one.process = original(
            ["make", "-C", str(ROOT), "--no-print-directory", "dev"],
            env=environment(URD_DATA=self.data, URD_PORT=str(one.port)),
            stdin=subprocess.DEVNULL,
            stdout=one.output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.runs.append(one)
        return one

    def test_make_dev_starts_urd_and_ends_with_it(self):
        for whole_group, number in ((True, signal.SIGINT), (False, signal.SIGTERM)):
            with self.subTest(signal=number):
                one = self.start().ready()
                self.assertEqual(one.sql("select 1"), "1")
                # Ctrl-C reaches everything in the terminal; a service manager only make.
                if whole_group:
                    os.killpg(one.process.pid, number)
                one.end(number)
                self.assert_nothing_left(one)


class MakeBuild(unittest.TestCase):
    def test_a_benchmark_compiles_nothing_that_a_release_build_has_compiled(self):
        told = subprocess.run(
            ["make", "-n", "-C", str(ROOT), "build", "bench", "bench-full"],
            capture_output=True, text=True, check=True).stdout
        builds = re.findall(r"swift build [^\n]*", told.replace("\\\n", " "))
        self.assertEqual(len(builds), 5)
        ways = {re.sub(r" --quiet| --product [\w-]+", "", build).strip() for build in builds}
        self.assertEqual(len(ways), 1, ways)


if __name__ == "__main__":
    unittest.main()
