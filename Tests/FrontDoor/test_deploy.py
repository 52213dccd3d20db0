"""The units and scripts under deploy/, as far as they can be judged without installing anything."""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import unittest

from front_door import ROOT, FrontDoorCase

DEPLOY = ROOT / "deploy"


@unittest.skipUnless(shutil.which("systemd-analyze"), "needs systemd-analyze")
class Units(FrontDoorCase):
    def copies(self):
        """The units with a program that is there, which is all that `verify` asks of it."""
        paths = []
        for name in ("urd.service", "urd.socket", "urd-migrate.service"):
            text = (DEPLOY / name).read_text().replace("/usr/local/bin/urd", "/bin/true")
            path = pathlib.Path(self.folder, name)
            path.write_text(text)
            paths.append(str(path))
        return paths

    def test_the_units_are_well_formed(self):
        result = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", *self.copies()],
            capture_output=True,
            text=True,
            timeout=60,
        )
        ours = [
            line
            for line in (result.stdout + result.stderr).splitlines()
            if re.search(r"\burd(-migrate)?\.(service|socket)\b", line)
        ]
        self.assertEqual(ours, [])

    def test_the_services_are_hardened(self):
        for path in self.copies():
            if not path.endswith(".service"):
                continue
            result = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", "--no-pager", path],
                capture_output=True,
                text=True,
                timeout=60,
            )
            level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", result.stdout)
            if not level:
                self.skipTest("this systemd cannot judge a unit offline")
            self.assertLessEqual(float(level[1]), 1.5, path)


class InstallPackages(FrontDoorCase):
    """With programs of our own in front of the system's, so that nothing is ever installed."""

    def program(self, name, body):
        path = pathlib.Path(self.folder, name)
        path.write_text("#!/bin/sh\n" + body + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

    def install(self, *words):
        return subprocess.run(
            [str(DEPLOY / "install-packages.sh"), *words],
            env={**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def setUp(self):
        super().setUp()
        self.log = pathlib.Path(self.folder, "log")
        self.program("swift", 'echo "Swift version 6.3.1 (swift-6.3.1-RELEASE)"')
        self.program("dpkg-query", self.answer("libpq-dev"))
        self.program("apt-get", f'echo "apt-get $*" >>"{self.log}"; exit 7')
        self.program("id", "echo 1000")

    def answer(self, *missing):
        words = "|".join(missing) or "nothing-is-missing"
        return (
            f'for p in "$@"; do case "$p" in -*|*Package*) ;; {words}) ;; '
            '*) echo "$p installed" ;; esac; done'
        )

    def test_names_what_is_missing_and_the_command_where_it_may_not_install(self):
        self.program("sudo", "exit 1")
        result = self.install("build")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Missing packages: libpq-dev\n", result.stderr)
        self.assertIn("sudo apt-get install --no-install-recommends libpq-dev\n", result.stderr)
        self.assertFalse(self.log.exists())

    def test_only_names_it_when_asked_to(self):
        result = self.install("build", "--print")
        self.assertEqual((result.returncode, result.stdout), (1, "libpq-dev\n"))

    def test_does_nothing_when_all_is_there(self):
        self.program("dpkg-query", self.answer())
        self.program("sudo", "exit 1")
        result = self.install("build")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_an_old_or_missing_toolchain_is_named(self):
        self.program("dpkg-query", self.answer())
        for body, words in (
            ('echo "Swift version 6.2 (x)"', "is 6.2."),
            ('echo "Swift version 5.10.1 (x)"', "is 5.10."),
        ):
            shutil.rmtree(os.path.join(self.folder, ".build"), ignore_errors=True)
            self.program("swift", body)
            result = self.install("build")
            self.assertEqual(result.returncode, 1, body)
            self.assertIn(words, result.stderr)
            self.assertIn("swift.org/install", result.stderr)

    def test_unknown_words_are_refused(self):
        self.assertEqual(self.install("everything").returncode, 2)


class FrontDoor(unittest.TestCase):
    def test_make_help_lists_every_target_that_people_use(self):
        text = subprocess.run(
            ["make", "-C", str(ROOT), "--no-print-directory", "help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for target in ("dev", "test", "check", "bench", "bench-full", "fuzz", "build", "format"):
            self.assertRegex(text, rf"(?m)^  make {target} +\S")

    def test_every_script_can_be_read_by_a_plain_shell(self):
        scripts = [ROOT / ".ci/run", ROOT / "Tests/run.sh", *DEPLOY.glob("*.sh")]
        for script in scripts:
            subprocess.run(["sh", "-n", str(script)], check=True)


if __name__ == "__main__":
    unittest.main()
