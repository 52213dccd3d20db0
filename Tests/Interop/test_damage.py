"""A row that is gone, or a column without a value, in the tables of one realm: a node starts all the same, serves the
other realms, answers requests to that one, and says which realm it is."""

import json
import unittest
import uuid

from urd_process import Client, Server, Urd, eventually

REALM = "verify"
# That it was done, or in so many words that it cannot be.
ANSWERS = {(201, None), (500, "/problems/log-damaged"), (404, "/problems/no-such-realm"),
           (503, "/problems/unavailable"), (503, "/problems/contended")}
HEAD = f"(select position from urd.realm_log where realm = '{REALM}')"


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


class Damage(unittest.TestCase):
    """Each cell is damage to one realm while a node runs, and then the start of another one."""

    def node(self):
        node = Server(urd.values)
        self.addCleanup(node.close)
        node.ready()
        node.api = Client(node.url, urd.key)
        self.addCleanup(node.api.close)
        return node

    def account(self, node, realm):
        """As an administrator makes one: the status of the answer."""
        api = urd.api if node is urd else node.api
        status, answer, _ = api.call("POST", f"/api/admin/realms/{realm}/accounts",
                                     {"email": f"{uuid.uuid4().hex[:12]}@example.org"})
        return status, None if status == 201 else answer["type"]

    def survive(self, damage):
        with self.subTest(damage):
            urd.sql(damage)
            for node in (urd, self.node()):
                answers = {self.account(node, REALM) for _ in range(3)}
                self.assertLessEqual(answers, ANSWERS, damage)
                self.assertEqual(self.account(node, "demo"), (201, None))
                self.assertTrue(urd.alive())
            self.assertIsNone(node.process.poll())
            return node

    def test_the_last_event_is_gone(self):
        urd.sealed(REALM)
        last = int(urd.sql(f"select {HEAD}"))
        urd.sql(f"create table public.last_event as select * from urd.event"
                f" where realm = '{REALM}' and position = {last}")
        self.addCleanup(urd.sql, "insert into urd.event select * from public.last_event")
        node = self.survive(f"delete from urd.event where realm = '{REALM}' and position = {last}")

        def named():
            told = json.loads(node.ask("/health/ready", private=True)[1])["components"]["sealer"]
            return f"halted in {REALM}" in told.get("detail", "")
        eventually(named, "the sealer names the realm")
        self.assertIn(REALM, urd.command("doctor").stdout)

    def test_the_head_is_gone(self):
        head = f"urd.realm_log where realm = '{REALM}'"
        self.addCleanup(urd.sql, f"delete from {head}; insert into urd.realm_log select * from public.head")
        # In one transaction and behind a lock: what is kept is what is taken away.
        self.survive("lock table urd.realm_log;"
                     f"create table public.head as select * from {head}; delete from {head}")
        # By the copies of checkpoints, which the node has that has a folder for them.
        eventually(lambda: f"halted in {REALM}" in urd.attention().get("sealer", {}).get("detail", ""),
                   "the sealer names the realm")
        self.assertIn(f"{REALM}: its log is gone from the database", urd.command("doctor").stdout)

    def test_the_keys_are_gone(self):
        urd.sealed(REALM)
        kept = (f"delete from urd.realm_key where realm = '{REALM}';"
                "insert into urd.realm_key select * from public.kept_keys")
        before = self.node()
        self.assertEqual(self.account(before, REALM), (201, None))
        head = urd.sql(f"select {HEAD}")
        urd.sql(f"create table public.kept_keys as select * from urd.realm_key where realm = '{REALM}';"
                f"delete from urd.realm_key where realm = '{REALM}'")
        try:
            for node in (urd, before, self.node()):
                for _ in range(3):
                    self.assertEqual(self.account(node, REALM), (500, "/problems/log-damaged"))
                self.assertEqual(self.account(node, "demo"), (201, None))
            self.assertEqual(urd.sql(f"select count(*) from urd.realm_key where realm = '{REALM}'"), "0")
            self.assertEqual(urd.sql(f"select {HEAD}"), head)
            told = urd.command("doctor")
            self.assertEqual(told.returncode, 1)
            self.assertRegex(told.stdout, rf"keys +wrong +those of {REALM} are gone from the database")
        finally:
            urd.sql(kept)
        for node in (urd, before, self.node()):
            eventually(lambda: self.account(node, REALM) == (201, None), "it goes on with its keys")
        urd.sealed(REALM)
        self.assertEqual(urd.command("verify", "--realm", REALM).returncode, 0)

    def test_each_key_that_cannot_be_read_is_named(self):
        broken = {REALM: "wrapped = '\\x00'", "flagship": "wrapped = null"}
        urd.sql("alter table urd.realm_key alter column wrapped drop not null;"
                "create table public.kept_rows as select * from urd.realm_key where purpose = 'sign'")
        self.addCleanup(urd.sql, "update urd.realm_key k set wrapped = o.wrapped from public.kept_rows o"
                        " where (k.realm, k.purpose, k.version) = (o.realm, o.purpose, o.version)")
        for realm, change in broken.items():
            urd.sql(f"update urd.realm_key set {change} where realm = '{realm}' and purpose = 'sign'")
        told = urd.command("doctor", "--json")
        self.assertEqual(told.returncode, 1)
        checks = {one["check"]: one for one in json.loads(told.stdout)["checks"]}
        self.assertEqual(checks["keys"]["verdict"], "wrong")
        self.assertEqual(checks["keys"]["what"],
                         f"rows that cannot be read: flagship (sign 1), {REALM} (sign 1)")
        # The others are looked at all the same.
        self.assertEqual(checks["sealed logs"]["verdict"], "fine", checks)
        self.assertEqual(checks["personal data"]["verdict"], "fine", checks)
        urd.sql("update urd.realm_key set wrapped = null where realm = 'demo' and purpose = 'sign'")
        self.assertIn("demo (sign 1)", urd.command("doctor", "--json").stdout)

    def test_columns_without_a_value(self):
        cells = [
            ("realm_log", "realm", ("epoch", "position", "keys")),
            ("event", "realm, position", ("at",)),
            ("projection_position", "realm, projection, build", ("position",)),
            ("stream", "realm, stream", ("version",)),
            ("realm_key", "realm, purpose, version", ("wrapped",)),
            ("checkpoint", "realm, size", ("note",)),
        ]
        for table, key, columns in cells:
            for column in columns:
                realm = f"realm = '{REALM}'"
                kept = f"public.kept_{table}_{column}"
                last = f" and position = {HEAD}" if table == "event" else ""
                # What is written meanwhile waits for the end of this transaction, and keeps its value.
                self.survive(f"alter table urd.{table} alter column {column} drop not null;"
                             f"create table {kept} as select * from urd.{table} where {realm};"
                             f"update urd.{table} set {column} = null where {realm}{last}")
                urd.sql(f"update urd.{table} t set {column} = k.{column} from {kept} k"
                        f" where t.{column} is null"
                        f" and {' and '.join(f't.{name} = k.{name}' for name in key.split(', '))};"
                        "update urd.realm_log set position = greatest(position,"
                        f" (select max(position) from urd.event where {realm})) where {realm}")


if __name__ == "__main__":
    unittest.main()
