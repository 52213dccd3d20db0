"""Whether a balancer should send requests to a node: not where no commit gets through, although all can
be read."""

import json
import signal
import unittest
import urllib.parse

from pooler import Pooler, socket_of
from standby_pair import StandbyPair
from urd_process import eventually, free_port


def setUpModule():
    global pair
    pair = StandbyPair()


def tearDownModule():
    pair.close()


def parts(node):
    """The status, and the components that cannot serve, with what they say."""
    status, body = node.ask("/health/ready", private=True)
    components = json.loads(body)["components"]
    return status, {
        name: part.get("detail", "") for name, part in components.items() if not part["ready"]}


def is_ready(node):
    return parts(node) == (200, {})


class Case(unittest.TestCase):
    def node(self, **settings):
        node = pair.node(**settings)
        self.addCleanup(node.close)
        return node

    def says(self, node, component, words):
        def told():
            status, unready = parts(node)
            return status == 503 and words in unready.get(component, "")
        eventually(told, f"{component} says: {words}")


class Readiness(Case):
    def test_readiness_fails_while_commits_wait_for_a_frozen_standby_and_reads_go_on(self):
        node = self.node()
        pair.primary("alter system set synchronous_standby_names = '*'")
        pair.primary("select pg_reload_conf()")
        self.addCleanup(pair.primary, "select pg_reload_conf()")
        self.addCleanup(pair.primary, "alter system reset synchronous_standby_names")
        eventually(lambda: pair.primary("select sync_state from pg_stat_replication") == "sync",
                   "commits wait for the standby")
        self.assertTrue(is_ready(node))
        pair.signal_standby(signal.SIGSTOP)
        self.addCleanup(pair.signal_standby, signal.SIGCONT)
        self.says(node, "commits", "no commit has got through for")
        self.assertEqual(node.api.call("GET", pair.urd.clients)[0], 200)
        pair.signal_standby(signal.SIGCONT)
        eventually(lambda: is_ready(node), "it is ready again")

    def test_readiness_fails_where_a_committer_finds_no_free_connection(self):
        node = self.node()
        self.addCleanup(pair.primary, "alter role urd_app connection limit -1")
        pair.primary("alter role urd_app connection limit 1")
        pair.primary("select count(pg_terminate_backend(pid)) from pg_stat_activity"
                     " where application_name like 'urd committer%'")
        self.says(node, "commits", "too many connections for role")
        pair.primary("alter role urd_app connection limit -1")
        eventually(lambda: is_ready(node), "it is ready again")

    def test_readiness_fails_behind_a_transaction_pooler(self):
        port = free_port()
        host = urllib.parse.unquote(pair.hosts[0])
        pooler = Pooler(socket_of(host, pair.port), port)
        self.addCleanup(pooler.close)
        node = self.node(URD_DATABASE_URL=f"postgresql://urd_app@127.0.0.1:{port}/urd")
        pooler.by_transaction = True
        eventually(lambda: parts(node)[0] == 503, "it is not ready")
        told = parts(node)[1]
        eventually(lambda: "26000" in str(parts(node)[1]), "it names the code", 30)
        self.assertLessEqual(set(told), {"commits", "database"})


class WhenItFailedOver(Case):
    """Comes last: the pair has one failover."""

    def test_readiness_fails_where_committers_reach_the_server_left_behind(self):
        port = free_port()
        pooler = Pooler(socket_of(pair.folder, pair.port), port)
        self.addCleanup(pooler.close)
        address = f"postgresql://urd_app@127.0.0.1:{port}/urd"
        pair.cut_off()
        pair.fail_over()
        node = self.node(URD_DATABASE_URL=address)
        pair.bring_back()
        # The address leads to the old primary again; queries are where they were.
        pooler.target = socket_of(urllib.parse.unquote(pair.hosts[0]), pair.port)
        pair.standby("select count(pg_terminate_backend(pid)) from pg_stat_activity"
                     " where application_name like 'urd committer%'")
        self.says(node, "commits", "was left behind by a failover to timeline 2")
        self.assertEqual(node.api.call("GET", pair.urd.clients)[0], 200)
        pooler.target = socket_of(pair.folder, pair.port)
        eventually(lambda: is_ready(node), "it is ready again")


if __name__ == "__main__":
    unittest.main()
