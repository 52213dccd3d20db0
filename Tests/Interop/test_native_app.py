"""The client that app teams copy, on its way from a mailed code to a passkey and out again."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from phone import Phone
from urd_process import PATIENCE, Urd

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / ".build/debug/NativeApp"


class TheClientToCopy(unittest.TestCase):
    def test_the_sample_app_signs_in_by_code_then_passkey_and_signs_out(self):
        urd = Urd()
        self.addCleanup(urd.close)
        done = subprocess.run(
            [PROGRAM, urd.values["URD_APP_URL"], urd.values["URD_INBOX_URL"],
             urd.values["URD_NATIVE_CLIENT_ID"], "ann@example.org"],
            capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "was refused with the removed passkey")
        self.assertEqual(len(done.stdout.splitlines()), 8)

    def test_the_sample_app_finds_the_realm_of_its_quick_start(self):
        urd = Urd()
        self.addCleanup(urd.close)
        page = (ROOT / "docs/native-app.md").read_text()
        making = next(block for block in re.findall(r"```sh\n(.*?)```", page, re.S)
                      if "urd realm create" in block)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(folder, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(folder, ".build"))
            done = subprocess.run(
                ["bash", "-c", "set -e -a; . .dev/dev.env; set +a\n" + making], cwd=folder,
                capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tokens = Phone(urd, host="shop.acme.localhost", client="phone").sign_in("ann@example.org")
        self.assertIn("refresh_token", tokens)
        # And nobody else's realm is another one than before.
        Phone(urd).sign_in("ann@example.org")


if __name__ == "__main__":
    unittest.main()
