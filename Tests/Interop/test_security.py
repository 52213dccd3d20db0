"""What the doctor finds in the choices of a realm, asked of a running installation."""

import json
import pathlib
import subprocess
import tempfile
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

    def test_the_security_doctor_finds_what_weakens_a_realm(self):
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

    def test_the_security_doctor_names_test_roots_of_app_stores(self):
        """The demo realm of the flagship profile has a store of its own keys."""
        code, checks = self.doctor("--realm", "flagship")
        self.assertEqual(self.verdicts(checks, "flagship")["App Attest"], "warning")
        settings = "/api/admin/realms/flagship/settings"
        status, answer, _ = self.urd.api.call(
            "PATCH", settings, {"app_attest_environment": "development"})
        self.assertEqual(status, 200, answer)
        code, checks = self.doctor("--realm", "flagship")
        self.assertEqual(code, 1)
        self.assertEqual(self.verdicts(checks, "flagship")["App Attest"], "wrong")

    def test_the_security_doctor_names_accounts_with_a_stored_private_passkey(self):
        """As keys could be before only their public members were kept: {1: 2, -4: h'01'}."""
        account = "00000000-0000-4000-8000-00000000ab01"
        for passkey, key in (("01", "ogECI0EB"), ("02", "ogECIUEB")):
            self.urd.sql(
                "insert into urd.passkeys (realm, passkey, account, credential, enrolled, counter,"
                f" version) values ('flagship', '00000000-0000-4000-8000-0000000000{passkey}',"
                f" '{account}', 'key{passkey}', '{{\"public_key\": \"{key}\"}}', 0, 1)")
        code, checks = self.doctor("--realm", "flagship")
        found = [one for one in checks if one["check"] == "passkeys' private keys"]
        self.assertEqual((code, [one["verdict"] for one in found]), (1, ["wrong"]))
        self.assertIn(account, json.dumps(found))
        self.urd.sql("delete from urd.passkeys where credential = 'key01'")
        code, checks = self.doctor("--realm", "flagship")
        self.assertEqual(
            self.verdicts(checks, "flagship")["passkeys' private keys"], "fine")

    def test_the_security_doctor_names_a_private_key_that_the_log_has(self):
        """As settings took them before they were looked at."""
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            key, root = pathlib.Path(folder, "key"), pathlib.Path(folder, "root")
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                 root, "-subj", "/CN=root", "-days", "2"],
                check=True, capture_output=True, timeout=60)
            key, root = key.read_text(), root.read_text()
        settings = "/api/admin/realms/flagship/settings"
        status, answer, _ = self.urd.api.call("PATCH", settings, {"safety_net_roots": [key]})
        self.assertEqual((status, answer["field"]), (400, "safety_net_roots/0"))
        self.assertNotIn(key.split("\n")[5], json.dumps(answer))
        status, answer, _ = self.urd.api.call("PATCH", settings, {"safety_net_roots": [root]})
        self.assertEqual(status, 200, answer)
        of_event = "realm = 'flagship' and type = 'realm.settings_changed' and data::text like '%safety_net_roots%'"
        position = self.urd.sql(f"select position from urd.event where {of_event}")
        inside = [json.dumps(text)[1:-1] for text in (root, key)]
        self.urd.sql(f"update urd.event set data = replace(data::text, $${inside[0]}$$, $${inside[1]}$$)::json"
                     f" where {of_event}")
        code, checks = self.doctor("--realm", "flagship")
        [found] = [one for one in checks if one["check"] == "private keys"]
        self.assertEqual((found["verdict"], found["what"]), (
            "warning", f"still readable in the log: safety_net_roots at position {position}"))
        self.assertNotIn(key.split("\n")[5], json.dumps(checks))

    def test_the_security_doctor_refuses_an_unknown_realm(self):
        code, checks = self.doctor("--realm", "nobody")
        self.assertEqual((code, checks[-1]["check"]), (1, "realm"))


if __name__ == "__main__":
    unittest.main()
