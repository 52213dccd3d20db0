"""The check of histories: that it finds what is wrong in a ledger, that a run over three nodes and a failing database finds
nothing, and that one over a database that breaks its promise does. `make history` runs longer."""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HISTORY = pathlib.Path(__file__).resolve().parents[1] / "History"
sys.path[:0] = [str(HISTORY), str(HISTORY.parent / "FrontDoor")]

import plan  # noqa: E402
from check import FINDINGS, Checker, Loss  # noqa: E402
from cluster import may_divide_networks  # noqa: E402

LONG = os.environ.get("URD_LONG_TESTS") == "1"
ACCOUNT, SESSION = "account-1", "session-1"


def event(position, type, stream, version, command, **data):
    return {"position": position, "id": f"evt_{position}", "type": type, "stream": stream, "version": version,
            "command": command, "data": data}


def entry(id, kind, begun, ended, outcome="ok", **what):
    return {"id": id, "caller": "c", "node": 1, "kind": kind, "begun": begun, "ended": ended, "outcome": outcome, **what}


LOG = [
    event(1, "client.registered", "client-1", 1, "register", client_id="h-1", client_name="h-1-1"),
    event(2, "session.opened", SESSION, 1, "open", account=ACCOUNT),
    event(3, "client.updated", "client-1", 2, "update", client_name="h-1-2"),
    event(4, "session.refreshed", SESSION, 2, "refresh-1", generation=1),
    event(5, "session.refreshed", SESSION, 3, "refresh-2", generation=2),
    event(6, "session.ended", SESSION, 4, "end", reason="revoked"),
]
FEED = [(one["position"], one["id"]) for one in LOG]
LEDGER = [
    entry("register", "command", 1, 2, command="register", what="register", thing="h-1", value="h-1-1", position=1, epoch=1),
    entry("open", "open", 3, 4, code="code-1", session=SESSION),
    entry("update", "command", 5, 6, command="update", what="update", thing="h-1", value="h-1-2", position=3, epoch=1),
    entry("seen", "see-client", 6.2, 6.4, thing="h-1", value="h-1-2"),
    entry("refresh-1", "refresh", 7, 8, session=SESSION, shown=0, got=1),
    entry("listed", "see-sessions", 8.1, 8.2, account=ACCOUNT, at=4, sessions=[SESSION]),
    entry("active", "see-session", 8.3, 8.4, session=SESSION, active=True),
    entry("page", "see-events", 8.5, 8.6, after=1, items=[[2, "evt_2"], [3, "evt_3"]], head=4),
    entry("trail", "see-trail", 8.7, 8.8, wanted=3, at=4),
    entry("refresh-2", "refresh", 9, 10, session=SESSION, shown=1, got=2),
    entry("end", "end", 11, 12, session=SESSION),
    entry("inactive", "see-session", 13, 14, session=SESSION, active=False),
]


class TheCheck(unittest.TestCase):
    """Each test changes one thing in a ledger, a log or a feed that are good."""

    def setUp(self):
        self.log, self.ledger, self.frames = copy.deepcopy(LOG), copy.deepcopy(LEDGER), list(FEED)
        self.losses, self.rewinds = (), ()

    def found(self):
        found = Checker().round(self.ledger, self.log, self.losses, self.frames, self.rewinds, len(self.log))
        return sorted({one.name for one in found})

    def of(self, id):
        return next(one for one in self.ledger if one["id"] == id)

    def without(self, position):
        """The log as if this event had never been, its positions and versions in order."""
        gone = self.log.pop(position - 1)
        for one in self.log[position - 1:]:
            one["position"] -= 1
            one["version"] -= one["stream"] == gone["stream"]
        self.frames = [(one["position"], one["id"]) for one in self.log]

    def test_a_good_history_has_no_finding(self):
        self.assertEqual(self.found(), [])

    def test_an_acknowledged_command_that_is_not_in_the_log_is_found(self):
        self.without(3)
        self.assertIn("missing", self.found())

    def test_an_acknowledged_refresh_or_session_or_end_that_is_not_in_the_log_is_found(self):
        for position in (2, 5, 6):
            with self.subTest(position=position):
                self.setUp()
                self.without(position)
                self.assertIn("missing", self.found())

    def test_what_is_lost_with_a_known_tail_is_no_finding_and_what_was_before_it_is(self):
        self.without(6)
        self.without(5)
        self.losses = [Loss(9.5, 15)]
        self.assertEqual(self.found(), [])
        self.losses = [Loss(10.5, 15)]
        self.assertEqual(self.found(), ["missing"])
        self.losses = [Loss(9.5, 15, acknowledged=False)]
        self.assertEqual(self.found(), ["missing"])

    def test_a_command_that_is_in_the_log_twice_is_found(self):
        for position, command in ((7, "other"), (8, "between"), (9, "other")):
            self.log.append(event(position, "account.noted", "account-7", position - 6, command))
            self.frames.append((position, f"evt_{position}"))
        self.assertEqual(self.found(), ["doubled"])

    def test_a_command_under_two_ids_is_found_by_what_it_says(self):
        self.log.append(event(7, "client.updated", "client-1", 3, "again", client_name="h-1-2"))
        self.frames.append((7, "evt_7"))
        self.assertEqual(self.found(), ["doubled"])

    def test_an_unknown_outcome_may_be_either_and_no_more(self):
        lost = entry("lost", "command", 20, float("inf"), "unknown", command="lost", what="update", value="h-1-3")
        self.ledger.append(lost)
        self.assertEqual(self.found(), [])
        for version in (3, 4):
            self.log.append(event(len(self.log) + 1, "client.updated", "client-1", version, f"lost{version}",
                                  client_name="h-1-3"))
            self.frames.append((len(self.log), f"evt_{len(self.log)}"))
            self.assertEqual(self.found(), [] if version == 3 else ["doubled"])

    def test_a_command_elsewhere_than_it_was_told_is_found(self):
        self.of("update")["position"] = 2
        self.assertEqual(self.found(), ["misplaced"])

    def test_a_repeat_that_is_told_another_position_is_found(self):
        self.ledger.append({**self.of("update"), "id": "again", "begun": 20, "ended": 21})
        self.assertEqual(self.found(), [])
        self.ledger[-1]["position"] = 6
        self.assertEqual(self.found(), ["misplaced"])

    def test_a_command_that_nobody_sent_is_found(self):
        self.ledger.remove(self.of("update"))
        self.assertEqual(self.found(), ["unasked"])

    def test_an_answer_before_the_begin_of_what_is_lower_in_the_log_is_found(self):
        self.of("update").update(begun=2.2, ended=2.5)
        self.assertEqual(self.found(), ["out-of-order"])

    def test_a_stale_read_is_found(self):
        self.of("seen")["value"] = "h-1-1"
        self.assertEqual(self.found(), ["stale-read"])

    def test_a_read_that_goes_back_behind_another_read_is_found(self):
        self.of("update").update(outcome="unknown", ended=float("inf"))
        self.ledger.append(entry("later", "see-client", 6.5, 6.6, thing="h-1", value="h-1-1"))
        self.assertEqual(self.found(), ["stale-read"])

    def test_a_session_that_is_good_after_its_end_is_found(self):
        self.of("inactive")["active"] = True
        self.assertEqual(self.found(), ["stale-read"])

    def test_a_session_that_is_ended_before_its_end_is_found(self):
        self.ledger = [one for one in self.ledger if one["id"] not in ("page", "trail")]
        self.of("active")["active"] = False
        self.assertEqual(self.found(), ["early-read"])

    def test_a_read_of_what_began_later_is_found(self):
        self.of("seen").update(begun=4.1, ended=4.5)
        self.assertEqual(self.found(), ["early-read"])

    def test_a_read_of_what_the_log_never_had_is_found(self):
        self.of("seen")["value"] = "h-1-7"
        self.assertEqual(self.found(), ["wrong-read"])

    def test_a_list_that_differs_from_the_log_at_its_position_is_found(self):
        self.of("listed")["sessions"] = []
        self.assertEqual(self.found(), ["wrong-read"])
        # One that has a little more than its position says is good, as long as that had begun.
        self.of("listed").update(begun=11.1, ended=11.2)
        self.ledger = [one for one in self.ledger if one["id"] not in ("active", "page", "trail")]
        self.of("listed")["at"] = 5
        self.assertEqual(self.found(), [])

    def test_a_list_at_a_position_from_before_an_answer_is_found(self):
        self.of("listed").update(at=3)
        self.assertEqual(self.found(), ["stale-read"])

    def test_a_read_that_did_not_wait_for_its_position_is_found(self):
        self.of("trail").update(wanted=5)
        self.assertEqual(self.found(), ["unfaithful-read"])

    def test_a_page_of_the_log_with_a_gap_is_found(self):
        self.of("page")["items"] = [[3, "evt_3"]]
        self.assertEqual(self.found(), ["feed-gap"])

    def test_a_feed_with_a_gap_is_found(self):
        del self.frames[2]
        self.assertEqual(self.found(), ["feed-gap"])

    def test_a_feed_that_comes_to_a_position_twice_is_found(self):
        self.frames.insert(2, self.frames[2])
        self.assertEqual(self.found(), ["feed-gap"])

    def test_a_feed_with_another_event_is_found(self):
        self.frames[2] = (3, "evt_of_a_lost_tail")
        self.assertEqual(self.found(), ["feed-differs"])

    def test_a_feed_that_ends_early_is_found(self):
        self.frames.pop()
        self.assertEqual(self.found(), ["feed-behind"])

    def test_a_feed_that_tells_of_a_loss_where_there_is_none_is_found(self):
        self.rewinds = [4]
        self.assertEqual(self.found(), ["rewound"])

    def test_a_refresh_token_that_is_taken_twice_is_found(self):
        self.ledger.append(entry("thief", "refresh", 7.5, 8.5, session=SESSION, shown=0, got=2))
        self.assertEqual(self.found(), ["refresh-taken-twice"])

    def test_a_repeat_that_has_the_same_successor_is_no_finding(self):
        self.ledger.append(entry("again", "refresh", 7.5, 8.5, session=SESSION, shown=0, got=1))
        self.assertEqual(self.found(), [])

    def test_a_code_whose_first_answer_was_lost_is_in_order(self):
        self.of("open").update(begun=6.1, ended=6.5)
        self.assertEqual(self.found(), ["out-of-order"])
        self.ledger.append(entry("lost", "open", 3, float("inf"), "unknown", code="code-1"))
        self.assertEqual(self.found(), [])

    def test_a_mailed_code_that_is_taken_twice_is_found(self):
        self.log.append(event(7, "session.opened", "session-2", 1, "second", account=ACCOUNT))
        self.frames.append((7, "evt_7"))
        self.ledger.append(entry("second", "open", 20, 21, code="code-1", session="session-2"))
        self.assertEqual(self.found(), ["code-taken-twice"])

    def test_an_honest_refresh_that_is_refused_is_found(self):
        self.of("refresh-2").update(outcome="refused", error="invalid_grant")
        self.assertEqual(self.found(), ["honest-refused"])

    def test_an_honest_command_or_code_that_is_refused_is_found(self):
        for id in ("update", "open"):
            with self.subTest(id=id):
                self.setUp()
                self.of(id).update(outcome="refused", error="409")
                self.assertIn("honest-refused", self.found())

    def test_a_place_in_the_log_that_is_refused_as_lost_where_nothing_is_lost_is_found(self):
        self.of("trail").update(outcome="refused", error="409")
        self.assertEqual(self.found(), ["rewound"])

    def test_a_refresh_that_is_refused_after_its_session_was_ended_is_no_finding(self):
        self.ledger.append(entry("late", "refresh", 15, 16, "refused", session=SESSION, shown=2, error="invalid_grant"))
        self.assertEqual(self.found(), [])

    def test_a_gap_of_the_log_is_found(self):
        del self.log[3]
        self.assertIn("log-gap", self.found())

    def test_each_finding_has_a_test(self):
        text = pathlib.Path(__file__).read_text()
        self.assertEqual([name for name in FINDINGS if f'"{name}"' not in text and name not in (
            "lost-tail-read", "unexpected")], [])


class ThePlan(unittest.TestCase):
    def test_a_seed_has_the_same_faults_and_steps_each_time_and_another_has_others(self):
        def drawn(seed):
            steps = plan.Steps(seed, 3, 1)
            return ([fault.told() for fault in plan.draw(seed, 3, 60, plan.FAULTS)], [steps.next() for _ in range(100)])

        self.assertEqual(drawn(7), drawn(7))
        self.assertNotEqual(drawn(7), drawn(8))
        kinds = {fault["kind"] for seed in range(40) for fault in drawn(seed)[0]}
        self.assertEqual(kinds, set(plan.FAULTS))


@unittest.skipUnless(may_divide_networks(), "networks and mounts of its own need root, iproute2 and iptables")
class TheRun(unittest.TestCase):
    def history(self, *words):
        with tempfile.TemporaryDirectory(prefix="urd-history-test-", dir="/tmp") as folder:
            told = subprocess.run(
                [sys.executable, "-B", str(HISTORY), *words, "--json", f"{folder}/told.json", "--keep", f"{folder}/kept"],
                capture_output=True, text=True, timeout=1700)
            self.assertTrue(os.path.exists(f"{folder}/told.json"), told.stdout[-2000:] + told.stderr[-3000:])
            with open(f"{folder}/told.json") as file:
                return told, json.load(file)

    def test_a_run_with_faults_finds_nothing(self):
        length = ["--length", "10m"] if LONG else ["--length", "40s", "--round", "20s", "--callers", "6"]
        told, result = self.history("--seed", "50", *length)
        self.assertEqual((told.returncode, result["findings"]), (0, []), told.stderr[-3000:])
        self.assertGreater(sum(result["faults"].values()), 4)
        self.assertGreater(result["operations"]["refresh"]["ok"], 50)

    def test_a_failover_that_loses_what_was_acknowledged_is_found(self):
        told, result = self.history("--seed", "51", "--length", "14s", "--round", "14s", "--callers", "6",
                                    "--faults", "failover", "--broken", "failover")
        self.assertEqual(told.returncode, 1)
        self.assertIn("missing", {one["name"] for one in result["findings"]}, told.stderr[-3000:])

    def test_a_database_that_forgets_the_ids_of_commands_is_found(self):
        told, result = self.history("--seed", "52", "--length", "14s", "--round", "14s", "--callers", "6",
                                    "--faults", "node-cut-callers,database-freeze", "--broken", "commands")
        self.assertEqual(told.returncode, 1)
        # A repeat is carried out again, or refused by its own first effect, or it is at another position.
        found = {one["name"] for one in result["findings"]}
        self.assertTrue(found & {"doubled", "honest-refused", "misplaced"}, told.stderr[-3000:])


if __name__ == "__main__":
    unittest.main()
