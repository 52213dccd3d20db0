"""A server that nobody asks for anything rests: what it asks its database for meanwhile is in docs/caches.md."""

import collections
import pathlib
import re
import subprocess
import time
import unittest

from front_door import PATIENCE, ROOT, FrontDoorCase

SECONDS = 24
MOST = 12.0  # statements a second with one realm

ROW = re.compile(r"^\| `([^`]+)` \| ([\d.]+) \|", re.M)
# As PostgreSQL logs a prepared statement, and one that is not.
LINE = re.compile(r"^counted .*? LOG:  (?:execute ([^ :]+)|statement: (.*))", re.M)


def table():
    """How often each statement may come in a second, by docs/caches.md."""
    text = (ROOT / "docs" / "caches.md").read_text()
    return {name: float(most) for name, most in ROW.findall(text.split("## What an idle node asks")[1])}


class Idle(FrontDoorCase):
    def test_a_node_at_rest_asks_for_what_is_listed_and_no_more(self):
        one = self.start().ready()
        owner = one.values()["URD_DATABASE_OWNER_URL"].replace("//urd_owner@", "//postgres@")

        def sql(statement):
            subprocess.run(
                ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", owner, "-c", statement],
                check=True, timeout=PATIENCE)

        for setting in ("log_line_prefix = 'counted %a '", "log_statement = 'all'"):
            sql(f"alter system set {setting}")
        # What the start left behind is done by then.
        time.sleep(10)
        sql("select pg_reload_conf()")
        time.sleep(1)
        allowed = table()
        # What comes by chance or is left from the start on a slow machine is gone in another span; what is periodic is not.
        for _ in range(3):
            counted = self.count(pathlib.Path(self.data, "postgres.log"))
            # One more may fall into the span than its share of it.
            too_often = {
                name: count / SECONDS for name, count in counted.items()
                if count > allowed.get(name, MOST) * SECONDS + 1}
            unknown = sorted(set(counted) - set(allowed))
            if not too_often and not unknown and counted.total() < MOST * SECONDS:
                break
        self.assertEqual(unknown, [], "statements that docs/caches.md does not list")
        self.assertEqual(too_often, {}, "statements that come more often than docs/caches.md says")
        self.assertLess(counted.total() / SECONDS, MOST)

    def count(self, log):
        """How often each statement comes within a span."""
        begun = log.stat().st_size
        time.sleep(SECONDS)
        with log.open(errors="replace") as file:
            file.seek(begun)
            found = LINE.findall(file.read())
        counted = collections.Counter(name or text.split(";")[0][:40] for name, text in found)
        print()
        for name, count in counted.most_common():
            print(f"  {count / SECONDS:6.2f}  {name}")
        return counted


if __name__ == "__main__":
    unittest.main()
