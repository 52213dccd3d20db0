"""Each statement that the documentation has analysts ask ends within their limit in a large realm: of five million events
where there is time for it (`make soak`, or URD_CROWD for any number), else of a twentieth."""

import ast
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from analyst_role import Analyst
from crowded_realm import Crowd
from token_tool import missing, rerun
from urd_process import PATIENCE, Urd

MISSING = missing("fido2", "cryptography")
ROOT = pathlib.Path(__file__).resolve().parents[2]
EVENTS = int(os.environ.get("URD_CROWD", 5_000_000 if os.environ.get("URD_LONG_TESTS") else 250_000))
REALM, BESIDE = "crowd", "beside"
# What Grafana writes in the place of its macros.
MACROS = {
    r"\$__timeGroupAlias\((\w+), '1h'\)": r"""date_trunc('hour', \1) as "time" """,
    r"\$__timeFilter\((\w+)\)": r"\1 between now() - interval '7 days' and now()",
}


class Question:
    """A statement of a page; `state`: it is asked of a realm as of a moment."""

    def __init__(self, page, sql, state=False):
        self.page, self.sql, self.state = page, sql.strip(), state

    def __str__(self):
        return f"{self.page}: {' '.join(self.sql.split())[:70]}"


def documented():
    """All that docs/analysts and the notebook have, however many there are."""
    for page in sorted((ROOT / "docs/analysts").glob("*.md")):
        for kind, block in re.findall(r"^```(sql|sh)\n(.*?)^```", page.read_text(), re.S | re.M):
            if kind == "sql":
                yield Question(page.name, block)
                continue
            for sql in re.findall(r'^psql .*? -c "(.*?)"$', block, re.S | re.M):
                yield Question(page.name, sql, "search_path=" in block)
    board = ROOT / "docs/analysts/grafana.json"
    for panel in json.loads(board.read_text())["panels"]:
        sql = panel["targets"][0]["rawSql"]
        for macro, text in MACROS.items():
            sql = re.sub(macro, text, sql)
        yield Question(board.name, sql)
    notebook = ROOT / "notebooks/login-history.ipynb"
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            for call in ast.walk(ast.parse("".join(cell["source"]))):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "ask":
                    yield Question(notebook.name, call.args[0].value)


class Asker(Analyst):
    """Asks as psql does, under the limits that the role was made with."""

    def time(self, sql, schema=None):
        """Seconds, rows, and what PostgreSQL complained of."""
        env = {"PGPASSWORD": self.password, "PATH": "/usr/bin:/bin"}
        if schema:
            env["PGOPTIONS"] = f"-c search_path={schema}"
        with tempfile.TemporaryFile() as rows:
            start = time.monotonic()
            done = subprocess.run(
                ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.address, "-c", sql], env=env, stdout=rows,
                stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
            seconds = time.monotonic() - start
            rows.seek(0)
            return seconds, sum(1 for _ in rows), done.stderr


def setUpModule():
    global urd, folder, crowd, analyst
    import places
    from small_realm import SmallRealm
    start = time.monotonic()
    folder = tempfile.TemporaryDirectory(prefix="urd-places-", dir="/tmp")
    os.chmod(folder.name, 0o755)
    city, system = os.path.join(folder.name, "city.mmdb"), os.path.join(folder.name, "asn.mmdb")
    places.replace(city, places.city_bytes(city))
    places.replace(system, places.system_bytes(system))
    urd = Urd(URD_TRUSTED_PROXIES="127.0.0.1", URD_GEO_DATABASE=f"{city},{system}")
    try:
        small = SmallRealm(urd)
        small.live()
        lived = time.monotonic() - start
        crowd = Crowd(urd, small)
        crowd.fill(**{REALM: EVENTS, BESIDE: EVENTS // 20})
        analyst = Asker(urd, "demo")
        urd.sql(f"update urd.analyst set realm = '{REALM}' where role = '{analyst.name}'")
    except BaseException:
        tearDownModule()
        raise
    print(f"\n{crowd.heads}; seconds: small realm {lived:.0f}, " + ", ".join(
        f"{what} {seconds:.0f}" for what, seconds in crowd.seconds.items()), flush=True)


def tearDownModule():
    urd.close()
    folder.cleanup()


class DocumentedQuestions(unittest.TestCase):
    def test_each_is_answered_within_the_limit_of_a_statement(self):
        self.assertEqual(analyst.ask("show statement_timeout"), "30s")
        asked = list(documented())
        self.assertGreaterEqual(len(asked), 26)
        self.assertEqual({question.page for question in asked},
                         {"sql.md", "as-of.md", "grafana.json", "login-history.ipynb"})
        self.assertGreaterEqual(int(analyst.ask("select max(position) from events_v1")), EVENTS)
        values = {"account": analyst.ask("select account from sign_ins_v1 where account is not null limit 1")}
        schema = crowd.as_of(REALM)
        print(f"as of a moment {crowd.seconds['as of a moment']:.0f} s; on the disk {crowd.size()} GB", flush=True)
        for question in asked:
            sql = re.sub(r"(?<!:):([a-z]\w*)", lambda found: f"'{values[found[1]]}'", question.sql)
            with self.subTest(str(question)):
                seconds, rows, complaint = analyst.time(sql, schema if question.state else None)
                print(f"{seconds:5.1f} s {rows:8} rows  {question}", flush=True)
                self.assertEqual(complaint, "")
                self.assertGreater(rows, 0)

    def test_fields_of_the_crowd_are_opened(self):
        fields = json.loads(analyst.ask(
            "select fields from events_v1 where type = 'session.opened' and position > 1000 order by position limit 1"))
        self.assertEqual(fields["client_id"], "demo-native")


def load_tests(loader, standard, pattern):
    return rerun(__file__) if MISSING else standard


if __name__ == "__main__":
    unittest.main()
