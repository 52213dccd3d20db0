"""The client that app teams copy, on its way from a mailed code to a passkey and out again."""

import pathlib
import subprocess
import unittest

from urd_process import PATIENCE, Urd

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / ".build/debug/NativeApp"


class TheClientToCopy(unittest.TestCase):
    def test_goes_from_a_code_to_a_passkey_and_signs_out(self):
        urd = Urd()
        self.addCleanup(urd.close)
        done = subprocess.run(
            [PROGRAM, urd.values["URD_APP_URL"], urd.values["URD_INBOX_URL"],
             urd.values["URD_NATIVE_CLIENT_ID"], "ann@example.org"],
            capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "was refused with the removed passkey")
        self.assertEqual(len(done.stdout.splitlines()), 8)


if __name__ == "__main__":
    unittest.main()
