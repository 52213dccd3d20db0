"""A standby is promoted without the tail of the log: what its table in docs/federation.md says of tokens and proofs of the
federation profile that were made, ended or used in the tail, tried on a node that had seen the tail."""

import re
import types
import unittest
import urllib.parse

import test_federation_ends as ends
import test_federation_openid as openid
from federation_client import Site
from token_tool import rerun

if not ends.MISSING:
    from standby_pair import StandbyPair
    from urd_process import eventually


class Rewind(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.pair = StandbyPair()
        self.addCleanup(self.pair.close)
        node = self.pair.node()
        values = dict(self.pair.urd.values)
        port = urllib.parse.urlsplit(node.url).port
        # The node's links, and what it is the audience of, have its port.
        values["URD_FEDERATION_URL"] = re.sub(r":\d+", f":{port}", values["URD_FEDERATION_URL"])
        site = Site({**values, "URD_URL": node.url})
        openid.begin(types.SimpleNamespace(api=node.api), site)
        ends.share()

    def test_edu_09_a_promoted_standby_keeps_and_loses_tokens_as_the_table_says(self):
        kept = {name: ends.World() for name in ("nothing", "ended", "used")}
        self.pair.cut_off()
        kept["ended"].happen_top_revoked()
        kept["used"].happen_use()
        worlds = {**kept, "made": ends.World()}
        # The node has seen all of it, and keeps what it keeps.
        for row in ("device token", "person token", "service token", "app token"):
            self.assertTrue(worlds["made"].tried(row), row)
            self.assertFalse(worlds["ended"].tried(row), row)
        self.pair.fail_over()
        eventually(lambda: self.answers(kept["nothing"]), "the node has found its database")
        columns, cells = ends.table("| in a lost tail |")
        self.assertEqual(columns, list(worlds))
        found = {row: {column: "stays" if world.tried(row) else "ends"
                       for column, world in worlds.items()} for row in ends.ROWS}
        told = "\n".join("| " + " | ".join([row, *found[row].values()]) + " |" for row in found)
        self.assertEqual(cells, found, told)
        # What is good once is good once, also the second time.
        for row in ("assertion", "code for an app", "what the key signed"):
            self.assertFalse(kept["used"].tried(row), row)

    @staticmethod
    def answers(world):
        try:
            return world.tried("person token")
        except OSError:
            return False


def load_tests(loader, standard, pattern):
    return rerun(__file__) if ends.MISSING else standard


if __name__ == "__main__":
    unittest.main()
