"""Holds what three nodes tell many callers, while faults befall them, against the log that they leave.

Three nodes, a PostgreSQL with a synchronous standby, callers who write down what they ask and what they are told. Faults and
operations follow from the seed. docs/history-check.md says what is drawn, what is checked, and how to read a finding."""

import argparse
import re
import json
import os
import pathlib
import random
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "FrontDoor"), str(HERE.parent / "Interop")]

import cluster  # noqa: E402
import plan  # noqa: E402


def seconds(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|d)?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 40s, 10m, 6h or 1d")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400, None: 1}[match[2]]


def arguments(words):
    parser = argparse.ArgumentParser(
        prog="Tests/History", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="what faults and operations follow from; at random without it")
    parser.add_argument("--length", type=seconds, default=600, help="how long callers call: 40s, 10m, 1d (10m)")
    parser.add_argument("--round", type=seconds, default=60, metavar="TIME",
                        help="how long they call before all is healed and checked (60s)")
    parser.add_argument("--from-round", type=int, default=1, metavar="N",
                        help="begin with this round of the plan, to see a finding again sooner (1)")
    parser.add_argument("--callers", type=int, default=8, help="how many callers (8)")
    parser.add_argument("--faults", default=",".join(plan.FAULTS), metavar="KIND,…",
                        help=f"which faults are drawn, or none ({', '.join(plan.FAULTS)})")
    parser.add_argument("--fresh", type=int, default=60, metavar="N",
                        help="verify all and begin anew, with an empty database, after so many rounds (60)")
    parser.add_argument("--disk", default="2g", help="the size of each of two disks for the database; they are in memory (2g)")
    parser.add_argument("--json", metavar="FILE", help="write seed, figures and findings here as well")
    parser.add_argument("--plan", action="store_true", help="only print the faults of the plan")
    parser.add_argument("--keep", metavar="FOLDER", default="history-findings",
                        help="where ledgers and logs of a round with findings are left (history-findings)")
    parser.add_argument("--broken", choices=["failover", "commands"],
                        help="break the promise on purpose, to see it found: failover loses a tail and says that it loses "
                        "nothing; commands has the database forget the ids of commands")
    asked = parser.parse_args(words)
    asked.faults = [] if asked.faults == "none" else asked.faults.split(",")
    if wrong := set(asked.faults) - set(plan.FAULTS):
        parser.error(f"there is no fault {', '.join(sorted(wrong))}")
    if asked.seed is None:
        asked.seed = random.SystemRandom().randrange(1_000_000_000)
    return asked


def main():
    asked = arguments(sys.argv[1:])
    rounds = max(1, round(asked.length / asked.round))
    if asked.plan:
        for number in range(asked.from_round, asked.from_round + rounds):
            for fault in sorted(plan.draw(asked.seed, number, asked.length / rounds, asked.faults), key=lambda one: one.at):
                print(json.dumps({"round": number, **fault.told()}))
        return 0
    if os.environ.get("URD_HISTORY_INSIDE") != "1":
        if not cluster.may_divide_networks():
            print("This needs to make networks and mounts of its own: run it as root, with iproute2 and iptables.",
                  file=sys.stderr)
            return 2
        return subprocess.call(
            ["unshare", "--net", "--mount", "--propagation", "private", sys.executable, "-B", str(HERE), *sys.argv[1:],
             *(() if "--seed" in sys.argv else ("--seed", str(asked.seed)))],
            env={**os.environ, "URD_HISTORY_INSIDE": "1"})
    from run import Run
    return Run(asked, rounds).run()


if __name__ == "__main__":
    begun = time.monotonic()
    sys.exit(main())
