"""What EXPLAIN tells an analyst of other realms: nothing but how large tables are in all."""

import json
import re
import subprocess
import unittest
import uuid

from analyst_role import Analyst
from urd_process import PATIENCE, Urd, eventually

# A realm beside the analyst's own, in two states that differ in every value and in how often each comes.
BEFORE, AFTER = "early", "later"
ROWS = 2000
STRANGER = "stranger"


def setUpModule():
    global urd
    urd = Urd()
    # Its workers change how large tables seem, in one state and not in the other.
    alone("alter system set autovacuum = off")
    alone("select pg_reload_conf()")


def tearDownModule():
    urd.close()


def alone(sql):
    """What may be in no transaction."""
    subprocess.run(
        ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", urd.superuser(), "-c", sql], check=True,
        capture_output=True, text=True, timeout=PATIENCE)


def rows(sql):
    return json.loads(urd.sql(f"select coalesce(json_agg(r), '[]') from ({sql}) r"))


def tables():
    """What the views of analysts are made of, whatever stands between."""
    return [row["name"] for row in rows(
        """with recursive behind as (
            select c.oid from pg_class c where c.relnamespace = 'analyst'::regnamespace and c.relkind = 'v'
            union
            select d.refobjid from behind b join pg_rewrite w on w.ev_class = b.oid
                join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
                    and d.refclassid = 'pg_class'::regclass)
        select c.oid::regclass::text as name from behind b join pg_class c on c.oid = b.oid
            join pg_attribute a on a.attrelid = c.oid and a.attname = 'realm'
        where c.relkind = 'r' and c.relname <> 'event' order by 1""")]


def value(kind, state, unique):
    """An expression for the n-th row: of each kind as wide in one state as in the other."""
    late = state == AFTER
    often, seldom = ("zeppelin", "flounder") if not late else ("flounder", "zeppelin")
    return {
        # Far apart, for estimates are as coarse as a histogram's buckets.
        "uuid": f"overlay(md5('{state}' || n) placing '{'c' if late else '3'}' from 1 for 1)::uuid",
        "text": f"'{state}' || lpad(n::text, 6, '0')" if unique
        else f"case when n % 10 = 0 then '{seldom}' else '{often}' end",
        "timestamp with time zone":
            f"timestamptz '{2024 if late else 2020}-01-01Z' + n * interval '1 minute'",
        "date": f"date '{2024 if late else 2020}-01-01' + n",
        "boolean": f"n % 10 {'<>' if late else '='} 0",
        "jsonb": "'{}'", "json": "'{}'", "text[]": "'{}'", "bigint[]": f"array[n + {late:d} * 50000]",
    }.get(kind, f"{10000 if late else 0} + n")


def fill(state):
    for table in tables():
        columns = rows(
            "select a.attname as name, format_type(a.atttypid, null) as type, exists (select from pg_index i "
            "where i.indrelid = a.attrelid and i.indisunique and a.attnum = any (i.indkey::int[])) as unique "
            f"from pg_attribute a where a.attrelid = '{table}'::regclass and a.attnum > 0 "
            "and not a.attisdropped and a.attidentity = '' order by a.attnum")
        names = ", ".join(column["name"] for column in columns)
        values = ", ".join(
            f"'{STRANGER}'" if column["name"] == "realm"
            else value(column["type"], state, column["unique"]) for column in columns)
        urd.sql(f"delete from {table} where realm = '{STRANGER}'; "
                f"insert into {table} ({names}) select {values} from generate_series(1, {ROWS}) n")
        alone(f"vacuum full {table}")
        alone(f"analyze {table}")


def constants(kind):
    """What an analyst would compare with who looks for what is there."""
    known = urd.sql(f"select {value('uuid', BEFORE, True)} from (values (1200)) v (n)")
    return {
        "uuid": [f"'{known}'::uuid", "'80000000-0000-0000-0000-000000000000'::uuid"],
        "text": ["'zeppelin'", f"'{BEFORE}000700'"],
        "timestamp with time zone": ["'2020-01-02Z'::timestamptz"],
        "date": ["'2022-06-01'::date"], "boolean": ["true"], "json": [],
        "text[]": ["'{a}'::text[]"], "bigint[]": ["'{700}'::bigint[]"],
    }.get(kind, ["700", "1900"])


def questions(schema="analyst"):
    asked = []
    views = rows(
        "select c.relname as view, a.attname as column, format_type(a.atttypid, null) as type from pg_class c "
        "join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 "
        f"where c.relnamespace = '{schema}'::regnamespace and c.relkind = 'v' and c.relname like '%\\_v1' "
        "order by c.relname, a.attnum")
    for row in views:
        view, column = f"{schema}.{row['view']}", row["column"]
        asked.append(f"select count({column}) from {view} where {column} is null")
        for constant in constants(row["type"]):
            for comparison in ("=", "<>", "<", ">="):
                asked.append(f"select * from {view} where {column} {comparison} {constant}")
            asked.append(f"select * from {view} where {column} in ({constant}, {constant})")
            asked.append(f"select count(*) from {view} where not ({column} < {constant}) and {column} <= {constant}")
        if constants(row["type"]):
            asked.append(f"select {column}, count(*) from {view} group by 1 order by 2 desc limit 10")
            asked.append(f"select count(*) from {view} a join {view} b using ({column})")
    return asked


class AnalystEstimates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.analyst = Analyst(urd, "demo")
        cls.asked = questions()

    def plans(self, setting="", analyst=None, asked=None):
        """The plan of each question."""
        asked = asked or self.asked
        told = (analyst or self.analyst).ask(
            setting + "".join(f"explain (verbose, format json) {sql};\n" for sql in asked))
        decoder, plans, place = json.JSONDecoder(), [], 0
        while place < len(told):
            plan, place = decoder.raw_decode(told, place)
            plans.append(plan[0]["Plan"])
            place += len(told[place:]) - len(told[place:].lstrip())
        self.assertEqual(len(plans), len(asked))
        return plans

    def test_no_estimate_depends_on_what_another_realm_has(self):
        self.assertGreater(len(tables()), 8)
        self.assertGreater(len(self.asked), 500)
        plans = {}

        def look():
            """Under both states the tables are as large in all, and as much of them is vacuumed: nothing of the analyst's
            own came between, and no worker of the database."""
            sizes = []
            for state in (BEFORE, AFTER):
                fill(state)
                plans[state] = self.plans()
                sizes.append(rows("select c.relname, c.reltuples, c.relpages, c.relallvisible from pg_class c where c.oid in "
                                  f"({', '.join(repr(table) + '::regclass' for table in tables())}) order by 1"))
            return sizes[0] == sizes[1]

        self.assertTrue(any(look() for _ in range(5)), "the realm is never quiet")
        told = [(sql, before, after) for sql, before, after in zip(
            self.asked, plans[BEFORE], plans[AFTER]) if before != after]
        self.assertEqual([sql for sql, _, _ in told], [], told[:1])

    def test_nothing_is_gathered_of_a_realm_as_of_a_moment(self):
        head = int(urd.sql("select position from urd.realm_log where realm = 'demo'"))
        status, build, _ = urd.api.call("POST", f"{urd.realm}/as-of/{head}")
        self.assertIn(status, (200, 201, 202), build)
        eventually(lambda: urd.api.call("GET", f"{urd.realm}/as-of-builds/{build['id']}")[1]["state"] == "ready",
                   "it is built", patience=120)
        schema = "analyst_at_" + build["id"].replace("-", "")
        gathered = f"select count(*) from pg_stats where schemaname = '{schema}' and attname"
        self.assertEqual(urd.sql(gathered + " <> 'realm'"), "0")
        stranger = Analyst(urd, "verify")
        self.assertIn("another realm", stranger.refused(f"select count(*) from {schema}.clients_v1"))

    def test_no_question_goes_along_an_index_through_other_realms(self):
        # How many pages were read is told to who asks: they would be pages of others.
        leading = {row["name"]: row["column"] for row in rows(
            "select i.indexrelid::regclass::text as name, a.attname as column from pg_index i "
            "join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] "
            "join pg_attribute r on r.attrelid = i.indrelid and r.attname = 'realm'")}
        fill(BEFORE)

        def used(plan):
            for step in plan.get("Plans", []):
                yield from used(step)
            # By the realm alone nothing is chosen in it.
            if "Index Name" in plan and not re.fullmatch(
                    r"\((\w+\.)?realm = \$\d+\)", plan.get("Index Cond", "")):
                yield plan["Index Name"]

        seen = set()
        for sql, plan in zip(self.asked, self.plans("set enable_seqscan = off;\n")):
            for index in used(plan):
                seen.add(index)
                self.assertEqual(leading.get("urd." + index, "realm"), "realm", (sql, index))
        self.assertGreater(len(seen), 3)

    def test_statistics_are_not_shown(self):
        for table in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
            self.assertEqual(self.analyst.ask(
                f"select count(*) from pg_catalog.{table} where schemaname in ('urd', 'analyst')"), "0")
        self.assertIn("permission denied", self.analyst.refused("select * from pg_statistic"))

    def test_fields_are_opened_of_the_events_that_are_asked_for_alone(self):
        name = f"seldom-{uuid.uuid4().hex[:8]}"
        status, answer, _ = urd.api.call("POST", f"{urd.realm}/apps", {"slug": name, "name": name})
        self.assertEqual(status, 201, answer)
        few = int(urd.sql("select count(*) from urd.event where realm = 'demo' and type like 'app.%'"))
        self.assertGreater(int(urd.sql("select count(*) from urd.event where realm = 'demo'")), few)
        plan = json.loads(self.analyst.ask(
            "explain (analyze, verbose, format json) select position, at, actor, fields from events_v1 "
            "where type like 'app.%' order by position"))[0]["Plan"]

        def steps(plan):
            yield plan
            for step in plan.get("Plans", []):
                yield from steps(step)

        opening = [step for step in steps(plan)
                   if step.get("Parent Relationship") == "SubPlan" or "open_fields(" in str(step.get("Output"))]
        self.assertTrue(opening)
        for step in opening:
            self.assertLessEqual(step["Actual Rows"] * step["Actual Loops"], few, step)


if __name__ == "__main__":
    unittest.main()
