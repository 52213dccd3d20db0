"""A master key that is rotated while a node runs, and what else is told of a database."""

import json
import os
import re
import unittest

from front_door import FrontDoorCase, Server, eventually, run


class Told(FrontDoorCase):
    def setUp(self):
        super().setUp()
        self.database = self.start().ready()
        self.values = self.database.values()

    def key(self, name):
        path = os.path.join(self.folder, name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(os.urandom(32).hex())
        return path

    def serve(self, **more):
        server = Server({**self.values, **more})
        self.addCleanup(server.close)
        return server

    def make_realm(self, server, name):
        return server.ask(
            "/api/admin/realms", key=self.values["URD_ADMIN_KEY"], method="POST",
            data=json.dumps({"realm": name, "display_name": name}).encode(),
            headers={"Content-Type": "application/json"})

    def rotate(self, new, old):
        result = run("keys", "rotate-master", "--old", old, "--yes",
                     URD_DATABASE_URL=self.values["URD_DATABASE_URL"], URD_MASTER_KEY_FILE=new)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def doctor(self, **more):
        result = run("doctor", "--json", **{**self.values, **more})
        found = {one["check"]: one for one in json.loads(result.stdout)["checks"]}
        return result.returncode, found

    def test_a_node_with_the_old_master_key_makes_no_realm(self):
        old, new = self.values["URD_MASTER_KEY_FILE"], self.key("new.key")
        node = self.serve().ready()
        self.assertEqual(self.doctor()[1]["keys"]["verdict"], "fine")
        self.rotate(new, old)
        status, body = self.make_realm(node, "rotb")
        self.assertEqual(status, 503, body)
        self.assertIn("another master key", body)
        told = node.lines("keys.other_master_key")
        self.assertEqual(told[0]["realm"], "rotb")
        code, found = self.doctor()
        self.assertEqual((code, found["keys"]["verdict"]), (1, "wrong"))

        fresh = self.serve(URD_MASTER_KEY_FILE=new).ready()
        status, body = self.make_realm(fresh, "rotb")
        self.assertEqual(status, 201, body)
        self.assertEqual(self.doctor(URD_MASTER_KEY_FILE=new)[1]["keys"]["verdict"], "fine")

    def test_a_realm_that_a_rotation_left_behind_is_named_and_mended(self):
        old, new = self.values["URD_MASTER_KEY_FILE"], self.key("new.key")
        realm = self.values["URD_REALM"]
        with_new = {**self.values, "URD_MASTER_KEY_FILE": new}
        self.database.sql(
            f"create table public.kept as select * from urd.realm_key where realm = '{realm}'")
        self.rotate(new, old)
        self.database.sql(
            "update urd.realm_key k set master = o.master, wrapped = o.wrapped "
            "from public.kept o "
            "where (k.realm, k.purpose, k.version) = (o.realm, o.purpose, o.version)")
        result = run("verify", **with_new)
        self.assertEqual(result.returncode, 1)
        # A long cell goes on in the next line.
        whole = re.sub(r"\n {9,}", " ", result.stdout)
        rows = {row.split()[0]: row for row in whole.splitlines() if row.strip()}
        self.assertIn("another master key", rows[realm])
        self.assertIn("rotate-master --old", rows[realm])
        self.assertIn("intact", rows["system"])
        code, found = self.doctor(URD_MASTER_KEY_FILE=new)
        self.assertEqual((code, found["keys"]["verdict"]), (1, "wrong"))
        self.assertIn(realm, found["keys"]["what"])
        node = self.serve(URD_MASTER_KEY_FILE=new)
        eventually(lambda: node.lines("sealer.halted"), "the sealer says so")
        eventually(
            lambda: "committed nothing yet" not in node.ask("/health/ready", private=True)[1],
            "its committers have tried")
        status, body = node.ask("/health/ready", private=True)
        # The other realms are served, so the node stays in service; an operator must look.
        self.assertEqual((status, json.loads(body)["attention"]), (200, True), body)
        self.assertIn(f"halted in {realm}: other_master_key", body)

        self.rotate(new, old)
        result = run("verify", **with_new)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_doctor_finds_a_schema_of_another_build(self):
        self.assertEqual(self.doctor()[0], 0)
        self.database.sql("update urd.migration set digest = '\\x00' where version = 38")
        code, found = self.doctor()
        self.assertEqual((code, found["schema"]["verdict"]), (1, "wrong"))
        self.assertIn("another build", found["schema"]["what"])

    def test_the_doctor_finds_a_log_that_lost_its_checkpoints(self):
        place = {"URD_CHECKPOINT_DIRECTORY": os.path.join(self.data, "checkpoints")}
        realm = self.values["URD_REALM"]
        eventually(lambda: os.path.exists(f"{place['URD_CHECKPOINT_DIRECTORY']}/{realm}.checkpoint"),
                   "a checkpoint is kept")
        code, found = self.doctor(**place)
        self.assertEqual((code, found["sealed logs"]["verdict"]), (0, "fine"), found)
        self.database.sql(
            "alter table urd.checkpoint disable trigger user; delete from urd.checkpoint; "
            "alter table urd.checkpoint enable trigger user")
        code, found = self.doctor(**place)
        self.assertEqual((code, found["sealed logs"]["verdict"]), (1, "wrong"))
        self.assertIn(f"{realm}: position", found["sealed logs"]["what"])

    def test_the_doctor_finds_a_database_that_takes_no_writes(self):
        self.assertEqual(self.doctor()[1]["writes"]["verdict"], "fine")
        self.database.sql("alter role urd_app set default_transaction_read_only = on")
        code, found = self.doctor()
        self.assertEqual((code, found["writes"]["verdict"]), (1, "wrong"))
        self.assertIn("read-only", found["writes"]["what"])

    def test_a_server_says_why_it_waits_for_its_database(self):
        nobody = self.values["URD_DATABASE_URL"].replace("//urd_app@", "//nobody:hunter2@")
        node = self.serve(URD_DATABASE_URL=nobody)
        eventually(lambda: node.lines("database.waiting"), "it waits")
        self.assertIn('role "nobody" does not exist', node.lines("database.waiting")[0]["why"])
        self.assertNotIn("hunter2", node.text())
        other = self.serve(URD_DATABASE_URL="mysql://x")
        self.assertEqual(other.process.wait(timeout=30), 2)
        self.assertIn("URD_DATABASE_URL must be an address such as", other.text())


if __name__ == "__main__":
    unittest.main()
