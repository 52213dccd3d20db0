"""Every column of the tables that a node reads, without its value, in one realm of many: the node lives, serves the
others, and answers for the damaged one in one way (docs/outages.md, "A realm that is damaged")."""

import unittest
import uuid

from urd_process import Client, Server, Urd

# What is said where a row cannot be what was written, and where a read model is not where the log is.
DAMAGED, LATE = (500, "/problems/log-damaged"), (503, "/problems/unavailable")
# What append does not find where it should be looks to it like another writer's.
OTHER = {"stream.version": {(503, "/problems/contended")}}


def setUpModule():
    global urd
    urd = Urd()
    # Damage keeps to no rule.
    for line in urd.sql("select conrelid::regclass, conname from pg_constraint where contype = 'c'"
                        " and connamespace = 'urd'::regnamespace").splitlines():
        urd.sql("alter table {} drop constraint {}".format(*line.split("|")))


def tearDownModule():
    urd.close()


def columns():
    """Table, its key, and the columns beside it: of all tables that have something of realms in them."""
    rows = urd.sql(
        "select c.relname, (select string_agg(a.attname, ',') from pg_index i"
        " join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)"
        " where i.indrelid = c.oid and i.indisprimary),"
        " string_agg(a.attname, ',' order by a.attnum)"
        " from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relnamespace = 'urd'::regnamespace and c.relkind = 'r'"
        " and a.attnum > 0 and not a.attisdropped group by c.oid, c.relname"
        " having bool_or(a.attname = 'realm') order by 1")
    for row in rows.splitlines():
        table, key, names = row.split("|")
        key = [name for name in key.split(",") if name]
        yield table, key, [name for name in names.split(",") if name not in key + ["realm"]]


class Columns(unittest.TestCase):
    def admin(self, method, path, body=None):
        status, answer, _ = urd.api.call(method, "/api/admin/realms" + path, body)
        assert status < 300, (status, answer)
        return answer

    def realm(self):
        """A realm with something in as many tables as an administrator fills."""
        name = "d" + uuid.uuid4().hex[:10]
        self.admin("POST", "", {"realm": name, "display_name": "D"})
        place = f"/{name}"
        self.admin("POST", f"{place}/hosts", {"host": f"{name}.example"})
        app = self.admin("POST", f"{place}/apps", {"slug": "shop", "name": "Shop"})["id"]
        for number in range(2):
            self.admin("POST", f"{place}/accounts", {"email": f"a{number}@example.org"})
            self.admin("POST", f"{place}/clients", {
                "client_name": "C", "redirect_uris": ["https://c.example/"]})
        self.admin("POST", f"{place}/subscriptions", {"name": "Index", "to": "internal"})
        self.admin("POST", f"{place}/invites", {"app_id": app, "count": 2})
        self.admin("POST", f"{place}/registration-tokens", {"label": "Tests", "uses": 2})
        return name

    def ask(self, api, realm):
        """The answers of several routes that are not a success."""
        place = f"/api/admin/realms/{realm}"
        mail = f"{uuid.uuid4().hex[:12]}@example.org"
        refused = set()
        for method, path, body in (
            ("POST", "/accounts", {"email": mail}), ("GET", "/accounts", None),
            ("GET", "/clients", None), ("GET", "/apps", None), ("GET", "", None),
            ("GET", "/events?limit=50", None), ("GET", "/invites", None),
            ("GET", "/registration-tokens", None), ("GET", "/subscriptions", None),
        ):
            status, answer, _ = api.call(method, place + path, body)
            if status >= 300:
                refused.add((status, answer["type"]))
        return refused

    def node(self):
        node = Server(urd.values)
        self.addCleanup(node.close)
        node.ready()
        node.api = Client(node.url, urd.key)
        self.addCleanup(node.api.close)
        return node

    def survive(self, node, realm, what):
        refused = self.ask(node.api, realm)
        self.assertIn(refused, (set(), {DAMAGED}, {LATE}, OTHER.get(what)), what)
        self.assertEqual(node.api.call("POST", "/api/admin/realms/demo/accounts", {
            "email": f"{uuid.uuid4().hex[:12]}@example.org"})[0], 201, what)
        self.assertIsNone(node.process.poll(), what)
        return refused

    def restore(self, table, key, names):
        where = " and ".join(f"t.{one} = k.{one}" for one in key) or "true"
        for name in names:
            urd.sql(f"update urd.{table} t set {name} = k.{name} from public.kept_{table} k"
                    f" where t.{name} is null and {where}")

    def test_any_column_without_its_value_is_the_matter_of_its_realm_alone(self):
        node, realm, tried, answers = self.node(), None, 0, {}
        for table, key, names in columns():
            if realm is None or self.ask(node.api, realm):
                realm = self.realm()
            condition = f"realm = '{realm}'"
            if not names or urd.sql(f"select count(*) from urd.{table} where {condition}") == "0":
                continue
            urd.sql(f"drop table if exists public.kept_{table};"
                    f"create table public.kept_{table} as select * from urd.{table} where {condition}")
            for name in names:
                with self.subTest(f"{table}.{name}"):
                    urd.sql(f"alter table urd.{table} alter column {name} drop not null;"
                            f"update urd.{table} set {name} = null where {condition}")
                    refused = self.survive(node, realm, f"{table}.{name}")
                    answers.setdefault(str(sorted(refused)), []).append(f"{table}.{name}")
                    tried += 1
                self.restore(table, key, [name])
        self.assertGreater(tried, 100, answers)
        # What requests need and cannot read is said to be damaged, and not to be busy.
        self.assertIn(str([DAMAGED]), answers)


if __name__ == "__main__":
    unittest.main()
