"""What the doctor finds in the choices of a realm, asked of a running installation."""

import json
import unittest

from urd_process import Urd


class Security(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.urd = Urd()

    @classmethod
    def tearDownClass(cls):
        cls.urd.close()

    def doctor(self, *words):
        result = self.urd.command("doctor", "--security", "--json", *words)
        return result.returncode, json.loads(result.stdout)["checks"]

    def verdicts(self, checks, realm):
        return {one["check"]: one["verdict"] for one in checks if one.get("realm") == realm}

    def test_finds_what_weakens_a_realm(self):
        realm = self.urd.values["URD_REALM"]
        code, checks = self.doctor("--realm", realm)
        self.assertEqual(code, 0, [one for one in checks if one["verdict"] == "wrong"])
        self.assertGreater(len(self.verdicts(checks, realm)), 20)
        for one in checks:
            self.assertEqual(one["verdict"] == "fine", one["remedy"] is None, one)
        status, answer, _ = self.urd.api.call(
            "PATCH", f"{self.urd.realm}/settings", {"client_assertion_for_token_url": True})
        self.assertEqual(status, 200, answer)
        code, checks = self.doctor()
        self.assertEqual(code, 1)
        self.assertEqual(self.verdicts(checks, realm)["client assertions"], "wrong")
        table = self.urd.command("doctor", "--security")
        self.assertEqual(table.returncode, 1)
        self.assertIn(f"{realm}: client assertions", table.stdout)

    def test_knows_no_realm_that_is_not_there(self):
        code, checks = self.doctor("--realm", "nobody")
        self.assertEqual((code, checks[-1]["check"]), (1, "realm"))


if __name__ == "__main__":
    unittest.main()
