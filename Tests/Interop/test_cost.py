"""The record of what operations cost (Tests/Benchmarks/cost.json): its form, its reasons, and the table in the docs. With
URD_LONG_TESTS=1 the operations are counted again."""

import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests"))

import cost  # noqa: E402

OPERATIONS = [
    "refresh", "refresh-openid", "introspection", "client-credentials", "otp", "passkey", "page", "append", "userinfo",
    "discovery", "feed-frame", cost.IDLE,
]
MEMBERS = {"instructions", "server_us", "database_us", "wal_bytes"}


class Record(unittest.TestCase):
    def setUp(self):
        if not cost.RECORD.exists():
            self.skipTest("nothing is on record yet: make cost RECORD=--record")
        self.record = cost.json.loads(cost.RECORD.read_text())

    def test_each_entry_has_a_day_and_every_figure_of_every_operation(self):
        days = [datetime.date.fromisoformat(entry["day"]) for entry in self.record]
        self.assertEqual(days, sorted(days))
        for entry in self.record:
            self.assertEqual(list(entry["operations"]), OPERATIONS)
            for name, row in entry["operations"].items():
                self.assertEqual(set(row), MEMBERS, name)
                self.assertGreater(row["instructions"], 0, name)

    def test_each_rise_has_a_line_that_says_why(self):
        for before, after in zip(self.record, self.record[1:]):
            bad = cost.unexplained(before["operations"], after["operations"], after["why"])
            self.assertEqual(bad, {}, f"the entry of {after['day']} has no `why` of these")

    def test_the_newest_entry_is_the_table_of_the_page_on_benchmarks(self):
        page = (ROOT / "docs" / "benchmarks.md").read_text()
        newest = self.record[-1]
        self.assertIn(cost.table(newest["operations"]), page)
        self.assertIn(newest["day"], page.split("## What an operation costs")[1].split("\n## ")[0])


class Rises(unittest.TestCase):
    def span(self, count, seconds, server):
        return {"count": count, "seconds": seconds, "server": server, "database": server / 2, "log": server / 4}

    def counted(self, folder, refresh):
        rows = [
            {"name": cost.IDLE, "instructions": self.span(1, 20, 2_000_000), "times": self.span(1, 20, 4e8)},
            {"name": "refresh", "instructions": self.span(100, 10, 1_000_000 + 100 * refresh),
             "times": self.span(1000, 5, 1e8 + 1000 * 50_000)},
        ]
        (folder / "counts.json").write_text(cost.json.dumps(rows))
        return cost.figures(folder)

    def test_what_the_server_spends_at_rest_is_taken_off(self):
        with tempfile.TemporaryDirectory() as folder:
            found = self.counted(pathlib.Path(folder), 500_000)
        self.assertEqual(
            found["refresh"], {"instructions": 500_000, "server_us": 50.0, "database_us": 25.0, "wal_bytes": 12_500})
        self.assertEqual(found[cost.IDLE]["instructions"], 100_000)

    def test_a_rise_of_three_percent_is_refused_until_it_is_explained(self):
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder, "record.json")

            def judge(refresh, *words):
                self.counted(pathlib.Path(folder), refresh)
                return subprocess.run(
                    [sys.executable, "-B", str(ROOT / "Tests" / "cost.py"), folder, "--on", str(record), *words],
                    capture_output=True, text=True)

            self.assertEqual(judge(500_000, "--record").returncode, 0)
            self.assertEqual(judge(514_000).returncode, 0)
            refused = judge(515_000, "--record")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("refresh: 500,000 instructions on record, 515,000 now", refused.stderr)
            self.assertEqual(len(cost.json.loads(record.read_text())), 1)
            self.assertEqual(judge(515_000, "--record", "--why", "refresh: it signs more").returncode, 0)
            self.assertEqual([entry["why"] for entry in cost.json.loads(record.read_text())], [[], ["refresh: it signs more"]])


class Profiles(unittest.TestCase):
    """The rules by which instructions go to layers."""

    def layers(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.profile")
            path.write_text(text)
            return dict(cost.Profile(path).layers())

    def test_what_is_not_ours_counts_for_who_called_it(self):
        found = self.layers(
            "events: Ir\nob=(1) urd\nfn=(1) $s10HTTPServer6WorkerC3runyyF\n0 10\ncfn=(2) memcpy\ncalls=1 0\n0 30\n"
            "fn=(3) $s10EventStore4LaneC3flyyyF\n0 5\ncfn=(2)\ncalls=1 0\n0 10\nfn=(2)\n0 40\n")
        self.assertEqual(found["HTTP"], 40)
        self.assertEqual(found["queue and lane"], 15)

    def test_tools_of_many_parts_count_for_who_called_them(self):
        found = self.layers(
            "events: Ir\nob=(1) urd\nfn=(1) $s8Identity13RefreshTokensV6decideyyF\n0 1\n"
            "cfn=(2) $s4JSON6WriterV5writeyyF\ncalls=1 0\n0 9\nfn=(2)\n0 9\n")
        self.assertEqual(found["gather and decide"], 10)


@unittest.skipUnless(os.environ.get("URD_LONG_TESTS"), "with URD_LONG_TESTS=1: it takes a release build")
class Counts(unittest.TestCase):
    def test_no_operation_takes_three_percent_more_than_on_record(self):
        done = subprocess.run(["make", "cost"], cwd=ROOT, capture_output=True, text=True, timeout=1700)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-4000:])


if __name__ == "__main__":
    unittest.main()
