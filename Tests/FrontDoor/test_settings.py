"""Settings and help, as the shell sees them."""

import json
import os
import signal
import subprocess
import unittest

from front_door import BINARY, FrontDoorCase, environment, run


class Settings(FrontDoorCase):
    def test_each_source_of_settings_precedes_the_next(self):
        secret = os.path.join(self.folder, "address")
        with open(secret, "w") as file:
            file.write("postgresql://u:hidden@h/d\n")

        def find(name, *words, **more):
            result = run("config", "print", "--json", *words, **more)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("hidden", result.stdout)
            return json.loads(result.stdout)[name]

        self.assertEqual(find("drain"), {"value": "10s", "from": "default"})
        self.assertEqual(find("drain", URD_DRAIN="5s"), {"value": "5s", "from": "URD_DRAIN"})
        self.assertEqual(
            find("drain", "--drain", "6s", URD_DRAIN="5s"), {"value": "6s", "from": "flag"}
        )
        self.assertEqual(
            find("database-url", URD_DATABASE_URL_FILE=secret), {"set": True, "from": secret}
        )
        with open(os.path.join(self.folder, "master_key"), "w") as file:
            file.write("k")
        self.assertEqual(
            find("master-key-file", CREDENTIALS_DIRECTORY=self.folder),
            {"value": self.folder + "/master_key", "from": "credential master_key"},
        )

    def test_unknown_settings_are_refused(self):
        flag = run("config", "print", "--drian", "5s")
        self.assertEqual(flag.returncode, 2)
        self.assertIn("did you mean --drain?", flag.stderr)
        variable = run("config", "print", URD_DRIAN="5s", URD_LISTEN_PORT="x")
        self.assertEqual(variable.returncode, 2)
        self.assertIn("URD_DRIAN; did you mean URD_DRAIN?", variable.stderr)
        self.assertIn("URD_LISTEN_PORT must be a port", variable.stderr)
        self.assertEqual(variable.stdout, "")

    def test_help_exits_with_0_and_a_wrong_call_does_not(self):
        self.assertIn("config print", run("help", "all").stdout)
        nothing = run()
        self.assertEqual((nothing.returncode, nothing.stdout), (2, ""))
        self.assertIn("did you mean 'config print'", run("config", "prind").stderr)

    def test_every_listed_command_has_a_page(self):
        listed = [
            line.split("  ")[1]
            for line in run("help", "all").stdout.splitlines()
            if line.startswith("  ") and line[2] != " "
        ]
        self.assertIn("dev", listed)
        for name in listed:
            page = run(*name.split(), "--help")
            self.assertEqual(page.returncode, 0, name)
            self.assertIn(f"usage: urd {name}", page.stdout)

    def test_the_doctor_exits_with_1_when_it_has_a_finding(self):
        result = run("doctor", "--json", URD_MASTER_KEY_FILE="/nowhere/key")
        self.assertEqual(result.returncode, 1, result.stderr)
        report = json.loads(result.stdout)
        self.assertFalse(report["healthy"])
        checks = {check["check"]: check for check in report["checks"]}
        self.assertEqual(checks["master key"]["verdict"], "wrong")
        self.assertIn("/nowhere/key", checks["master key"]["what"])
        self.assertTrue(checks["master key"]["remedy"])

    def test_a_reader_that_closes_the_pipe_ends_a_command_quietly(self):
        process = subprocess.Popen(
            [str(BINARY), "config", "print"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        process.stdout.close()
        self.assertIn(process.wait(timeout=30), (0, -signal.SIGPIPE))
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()

    def test_a_result_on_a_full_disk_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.run(
                [str(BINARY), "config", "print"],
                env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(
            process.stderr,
            "urd: cannot write the output: No space left on device\nThe result is not whole.\n")


if __name__ == "__main__":
    unittest.main()
