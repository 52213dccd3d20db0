"""What the README tells a newcomer to type, typed."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from urd_process import PATIENCE, Urd

ROOT = pathlib.Path(__file__).resolve().parents[2]


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


class Readme(unittest.TestCase):
    def test_the_readmes_sign_in_works(self):
        text = (ROOT / "README.md").read_text()
        section = text.split("## A sign-in")[1].split("\n## ")[0]
        blocks = re.findall(r"```sh\n(.*?)```", section, re.S)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(folder, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(folder, ".build"))
            # Once more with older mails in the inbox, for which nobody waits two minutes here.
            impatient = (
                "set -a; . .dev/dev.env; set +a\n"
                ".build/debug/urd realm set --otp-resend-delay 0 >/dev/null\n")
            for first in ("", impatient):
                result = subprocess.run(
                    ["bash", "-c", "set -e\n" + first + "\necho ----\n".join(blocks)], cwd=folder,
                    capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                tokens, history = result.stdout.split("----", 1)
                self.assertIn('"refresh_token":"', tokens)
                self.assertIn("urn:cocoar:otp", history)

    def test_the_readmes_commands_of_administrators_and_analysts_work(self):
        text = (ROOT / "README.md").read_text()
        section = text.split("### Administer a realm")[1].split("### Run it for real")[0]
        blocks = re.findall(r"```sh\n(.*?)```", section, re.S)
        self.assertEqual(len(blocks), 3)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(folder, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(folder, ".build"))
            script = "set -e\n" + "\necho ----\n".join(blocks)
            result = subprocess.run(
                ["bash", "-c", script], cwd=folder, capture_output=True, text=True,
                timeout=PATIENCE, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 0, result.stderr)
        first, rest = result.stdout.split("----", 1)
        self.assertIn('"client_secret":"', first)
        self.assertIn("My app", rest)
        self.assertIn("client.registered", rest)
        self.assertIn("intact", rest)

    def test_the_readmes_erasure_works(self):
        text = (ROOT / "README.md").read_text()
        words = re.search(r"^urd (subject erase) \S+$", text, re.M)
        self.assertIsNotNone(words)
        section = text.split("## Erasing a person")[1].split("\n## ")[0]
        commands = re.findall(r"^urd ((?:client register|events tail)[^#\n]*)", section, re.M)
        self.assertEqual(len(commands), 2)
        for line in commands:
            result = urd.command(*line.split(), "--realm", "demo")
            self.assertEqual(result.returncode, 0, result.stderr)
        subject = json.loads(result.stdout)["subject"]
        result = urd.command(*words.group(1).split(), subject, "--realm", "demo", "--yes")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(subject, result.stdout)
        words = re.search(r"^urd (account erase) (\S+)$", text, re.M)
        self.assertIsNotNone(words)
        email = "somebody@example.org"
        made = urd.command("account", "register", "--email", email, "--realm", "demo", "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        account = json.loads(made.stdout)["id"]
        refused = urd.command("subject", "erase", account, "--realm", "demo", "--yes")
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("`urd account erase`", refused.stderr)
        result = urd.command(*words.group(1).split(), email, "--realm", "demo", "--yes")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(account, result.stdout)


if __name__ == "__main__":
    unittest.main()
