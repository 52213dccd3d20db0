"""Metrics, alerts and dashboard, as Prometheus' own tools and a real Prometheus take them."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
import uuid

import yaml
from phone import Phone, another, code, inbox
from urd_process import PATIENCE, Urd, eventually, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "deploy/prometheus/urd-alerts.yml"
DASHBOARD = ROOT / "deploy/grafana/urd.json"
RULES = {rule["alert"]: rule for group in yaml.safe_load(PROMETHEUS.read_text())["groups"]
         for rule in group["rules"]}


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


def metrics():
    status, text = urd.private("/metrics")
    assert status == 200, text
    return text


def value(name, **labels):
    """The value of a series; nil where there is none."""
    for line in metrics().splitlines():
        found = re.fullmatch(rf"{name}(?:\{{(.*)\}})? (\S+)", line)
        if found and labels.items() <= dict(re.findall(r'(\w+)="([^"]*)"', found[1] or "")).items():
            return float(found[2])
    return None


def promtool(*words, **more):
    return subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=PATIENCE, **more)


def queries(dashboard):
    """Each question of the dashboard, with what Grafana puts in for its variables."""
    found = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    found += [one["expr"] for one in dashboard["annotations"]["list"]]
    found += [f"group by (instance) ({re.match(r'label_values[(](.*), instance', one['definition'])[1]})"
              for one in dashboard["templating"]["list"] if "definition" in one]
    return [one.replace("$instance", ".*").replace("$__rate_interval", "15s") for one in found]


class Metrics(unittest.TestCase):
    def test_promtool_finds_nothing_to_complain_of(self):
        phone = Phone(urd)
        phone.sign_in("lint@example.org")
        checked = promtool("check", "metrics", input=metrics())
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    def test_sign_ins_are_counted_by_outcome_and_method(self):
        def count(outcome):
            return value("urd_sign_ins_total", outcome=outcome, method="urn:cocoar:otp") or 0

        before, refused = count("signed_in"), count("refused")
        phone = Phone(urd)
        phone.sign_in("ann@example.org")
        self.assertEqual((count("signed_in"), count("refused")), (before + 1, refused))
        letters = len(inbox(urd, "ann@example.org"))
        phone.request_code("ann@example.org")
        right = code(urd, "ann@example.org", letters)
        self.assertEqual(phone.redeem("ann@example.org", another(right))[0], 400)
        self.assertEqual((count("signed_in"), count("refused")), (before + 1, refused + 1))
        # A refresh is no sign-in.
        self.assertEqual(phone.redeem("ann@example.org", right)[0], 200)
        self.assertEqual(count("signed_in"), before + 2)

    def test_a_rate_limit_that_is_hit_is_counted(self):
        phone = Phone(urd)
        answers = [phone.request_code("often@example.org")[0] for _ in range(60)]
        hit = answers.count(429)
        self.assertGreater(hit, 0, answers)
        self.assertEqual(sum(
            float(line.split()[-1]) for line in metrics().splitlines()
            if line.startswith("urd_rate_limit_refusals_total{")), hit)

    def test_the_process_and_the_build_are_told(self):
        self.assertEqual(value("urd_build_info", version=urd.command("--version").stdout.split()[1]), 1)
        pid = urd.run.process.pid
        self.assertAlmostEqual(
            value("process_open_fds"), len(os.listdir(f"/proc/{pid}/fd")), delta=8)
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024
        self.assertAlmostEqual(value("process_resident_memory_bytes"), resident, delta=resident / 4)
        self.assertLess(abs(time.time() - value("process_start_time_seconds")), 600)
        used = value("process_cpu_seconds_total")
        for _ in range(50):
            metrics()
        self.assertGreater(value("process_cpu_seconds_total"), used)

    def test_what_waits_and_when_it_was_sealed_is_told(self):
        for queue in ("commands", "queries", "passphrases"):
            self.assertEqual(value("urd_queue_depth", queue=queue), 0, queue)
        self.assertEqual(value("urd_ready"), 1)
        eventually(lambda: abs(time.time() - value("urd_last_checkpoint_timestamp_seconds")) < 600,
                   "the last checkpoint is told")
        self.assertIsNotNone(value("urd_mails_waiting", kind="mails"))

    def test_histograms_have_few_buckets(self):
        bounds = {}
        for name, bound in re.findall(r'^(\w+)_bucket\{.*le="([^"]+)"', metrics(), re.M):
            bounds.setdefault(name, set()).add(bound)
        self.assertGreater(len(bounds), 3)
        for name, found in bounds.items():
            self.assertLessEqual(len(found), 10, name)


class Files(unittest.TestCase):
    """What is judged without a server."""

    def test_each_alert_fires_where_its_series_say_so(self):
        for words in (("check", "rules", str(PROMETHEUS)), ("test", "rules", "alerts.yml")):
            done = promtool(*words, cwd=ROOT / "Tests/Interop")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tests = yaml.safe_load((ROOT / "Tests/Interop/alerts.yml").read_text())["tests"]
        fires = {one["alertname"] for test in tests for one in test["alert_rule_test"] if one["exp_alerts"]}
        silent = {one["alertname"] for one in tests[0]["alert_rule_test"]}
        self.assertEqual((fires, silent), (set(RULES), set(RULES)))

    def test_each_alert_has_its_runbook(self):
        page = (ROOT / "docs/runbooks.md").read_text()
        sections = re.findall(r"^## (\w+)$", page, re.M)
        self.assertEqual(sections, list(RULES))
        for name, rule in RULES.items():
            self.assertEqual(rule["annotations"]["runbook_url"], f"docs/runbooks.md#{name.lower()}")

    def test_each_metric_of_alerts_and_dashboard_is_one_of_ours(self):
        ours = set(re.findall(r"^# TYPE (\w+)", metrics(), re.M)) | {"up"}
        asked = queries(json.loads(DASHBOARD.read_text())) + [rule["expr"] for rule in RULES.values()]
        for expression in asked:
            for name in re.findall(r"\b((?:urd|process)_\w+)\b", expression):
                self.assertIn(re.sub(r"_(bucket|sum|count)$", "", name), ours, expression)


class Prometheus:
    """A Prometheus that scrapes one Urd every few seconds, with alerts that do not wait."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="urd-prometheus-", dir="/tmp")
        rules = re.sub(r"^( +for:) \w+$", r"\1 2s", PROMETHEUS.read_text(), flags=re.M)
        pathlib.Path(self.folder, "alerts.yml").write_text(rules)
        target = urllib.parse.urlsplit(urd.values["URD_PRIVATE_URL"]).netloc
        pathlib.Path(self.folder, "prometheus.yml").write_text(json.dumps({
            # A scrape takes two seconds where the database does not answer.
            "global": {"scrape_interval": "4s", "scrape_timeout": "4s", "evaluation_interval": "1s"},
            "rule_files": ["alerts.yml"],
            "scrape_configs": [{"job_name": "urd", "static_configs": [{"targets": [target]}]}]}))
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = open(os.path.join(self.folder, "log"), "w")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
             f"--web.listen-address=127.0.0.1:{port}"],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            start_new_session=True)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}")

    def result(self, query):
        return self.ask("query", query=query)["result"]

    def firing(self):
        return {one["labels"]["alertname"] for one in self.ask("alerts")["alerts"]
                if one["state"] == "firing"}


@unittest.skipUnless(os.environ.get("URD_LONG_TESTS"), "takes three minutes: make soak")
class RealThing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prometheus = Prometheus()
        cls.addClassCleanup(cls.prometheus.close)

        def scraped():
            try:
                return cls.prometheus.result("urd_ready == 1")
            except (OSError, AssertionError):
                return None

        eventually(scraped, "Prometheus has scraped it")

    def fires(self, name, provoke, mend):
        self.assertNotIn(name, self.prometheus.firing())
        try:
            provoke()
            eventually(lambda: name in self.prometheus.firing(), f"{name} fires", 120)
        finally:
            mend()
        eventually(lambda: name not in self.prometheus.firing(), f"{name} is over", 120)

    def test_each_query_of_the_dashboard_returns(self):
        phone = Phone(urd)
        # Each counter has to move between two scrapes.
        asked = {one: False for one in queries(json.loads(DASHBOARD.read_text()))}
        # Nothing is refused at these where all is well, or it is a matter of no service in this installation.
        quiet = [one for one in asked if "changes(process_start_time" in one]

        def all_have_answered():
            phone.sign_in("board@example.org")
            letters = len(inbox(urd, "board@example.org"))
            phone.request_code("board@example.org")
            phone.redeem("board@example.org", another(code(urd, "board@example.org", letters)))
            for _ in range(40):
                phone.request_code("board-often@example.org")
            for one in asked:
                asked[one] = asked[one] or bool(self.prometheus.result(one))
            return all(has for one, has in asked.items() if one not in quiet)

        try:
            eventually(all_have_answered, "each query returns", 60)
        except AssertionError:
            self.fail(f"no answer: {[one for one, has in asked.items() if not has]}")

    def test_a_backup_that_is_old_or_missing(self):
        eventually(lambda: "UrdBackupOld" in self.prometheus.firing(), "none is on record")
        urd.sql("insert into urd.backup (at, bytes, encrypted) values (now(), 1, false)")
        eventually(lambda: "UrdBackupOld" not in self.prometheus.firing(), "there is one", 120)
        self.fires(
            "UrdBackupOld",
            lambda: urd.sql("update urd.backup set at = at - interval '50 hours'"),
            lambda: urd.sql("update urd.backup set at = now()"))

    def test_b_checkpoint_that_stands_still(self):
        holder = subprocess.Popen(
            ["psql", "-XqAt", urd.values["URD_DATABASE_OWNER_URL"]], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

        def provoke():
            print("begin; lock table urd.seal in exclusive mode; select 'held';", file=holder.stdin,
                  flush=True)
            holder.stdout.readline()
            Phone(urd).request_code("sealed@example.org")

        def mend():
            holder.communicate(timeout=PATIENCE)

        self.fires("UrdCheckpointStandsStill", provoke, mend)

    def test_c_mails_that_wait(self):
        mail = uuid.uuid4()
        build = urd.sql(
            "select build from urd.projection_build where projection = 'mails' and status = 'live'")

        def provoke():
            urd.sql(
                "insert into urd.event select (jsonb_populate_record(e, jsonb_build_object("
                "'realm', 'waiting', 'position', 1, 'at', now() - interval '10 min'))).*"
                " from urd.event e where realm = 'demo' and position = 1;"
                f" insert into urd.mails_{build} (realm, mail, position, kind, due_at)"
                f" values ('waiting', '{mail}', 1, 'otp.issued', 'infinity')")

        def mend():
            urd.sql(f"delete from urd.mails_{build} where realm = 'waiting'")
            urd.sql("delete from urd.event where realm = 'waiting'")

        self.fires("UrdMailsWait", provoke, mend)

    def test_d_node_that_is_not_ready(self):
        with contextlib.ExitStack() as stack:
            self.fires("UrdNotReady", lambda: stack.enter_context(urd.frozen_database()), stack.close)

    def test_e_node_that_is_down(self):
        self.fires("UrdDown", lambda: os.kill(urd.pid, signal.SIGSTOP),
                   lambda: os.kill(urd.pid, signal.SIGCONT))


if __name__ == "__main__":
    unittest.main()
