"""Runs every test, several programs at a time, and ends with one line for all of them.

usage: python3 Tests/run_all.py [--list] [--at-once N] [--soak] [unit …]

A unit is what runs in a process of its own: a module of the Swift tests, a file of Tests/Interop, a
test or a class of Tests/FrontDoor. Each brings its own PostgreSQL, so units do not disturb each other;
most of them wait more than they work. What measures time runs by itself, when all else is done.
"""

import argparse
import concurrent.futures
import ctypes
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent
BINARIES = pathlib.Path(os.environ.get("URD_TEST_BINARIES", ROOT / ".build" / "debug"))
# Each has a range of ports of its own, of which there are as many.
MOST = 39
AT_ONCE = min(2 * (os.cpu_count() or 1), MOST)
LIMIT = 1800  # seconds; a test that hangs must not hang everything
CLOSING = re.compile(
    r"Test run with (\d+) tests? in (\d+) suites? (passed|failed) after [\d.]+ seconds"
    r"(?: with (\d+) issues?)?")
RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
SKIPPED = re.compile(r"\(.*skipped=(\d+)")

# What takes longest begins first: seconds on two cores with others beside it, measured once. What is not here takes a few.
SECONDS = {
    "APITests": 600, "EventStoreTests": 450, "ReadModelsTests": 400, "test_what_if.py": 330,
    "test_command_line.py": 300, "test_as_of_realm.py": 250, "test_case_files.py": 230,
    "test_moving_in.py": 200, "test_analyst_estimates.py": 200, "test_replay.py": 150,
    "test_feed_cursors.py": 150, "test_notifications.py": 150, "test_damaged_columns.py": 140,
    "test_browser_login.py": 130, "test_filters.py": 130, "test_page_boxes.py": 130,
    "test_pages.py": 120, "TamperTests": 120, "test_notebook.py": 110, "test_feed.py": 110,
    "test_backup.Backups": 100, "test_faults.py": 100, "test_findings.py": 100, "test_export.py": 90,
    "test_webhook_crashes.py": 90, "test_browser_attacks.py": 85, "TidyTests": 60,
    "test_history.py": 150, "test_webhooks.py": 60, "test_two_nodes.py": 55, "test_refresh_walks.py": 55,
    "IdentityTests": 50, "test_configuration.py": 50, "test_configuration_walks.py": 30,
    "CryptographyTests": 50,
}
# What looks at a clock so closely that a busy machine changes the verdict.
ALONE = []
ALONE_IN_SOAK = ["test_analyst_questions.py"]
# Modules with tests that repeat a thing a few times, and often with URD_LONG_TESTS=1: `make soak`.
SOAK_FILES = ["test_analyst_questions.py", "test_configuration_walks.py", "test_cost.py", "test_history.py", "test_package.py",
              "test_prometheus.py", "test_refresh_walks.py", "test_webhook_crashes.py"]
SOAK = {"APITests": r"^APITests\.`Whoever is not certified`", "EventStoreTests": r"^EventStoreTests\."}


worker = threading.local()
ranges = itertools.count()


def take_ports():
    worker.ports = next(ranges)


class Unit:
    """What runs in a process of its own."""

    def __init__(self, name, command, folder=ROOT):
        self.name, self.command, self.folder = name, command, folder
        self.seconds = SECONDS.get(name, 5)

    def run(self):
        """Waits for its end; keeps the exit code, the output and the time."""
        start = time.monotonic()
        process = subprocess.Popen(
            self.command, cwd=self.folder,
            env={**os.environ, "NO_COLOR": "1", "FRONT_DOOR_RUN": str(getattr(worker, "ports", 0))},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        watch = threading.Timer(LIMIT, os.killpg, (process.pid, signal.SIGKILL))
        watch.start()
        try:
            self.output = process.stdout.read().decode(errors="replace")
            # With what it started and waited for.
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            watch.cancel()
            process.stdout.close()
        self.code = process.returncode = os.waitstatus_to_exitcode(status)
        self.worked = usage.ru_utime + usage.ru_stime
        self.took = time.monotonic() - start
        if self.took >= LIMIT:
            self.output += (f"\nERROR: {self.name} did not end within {LIMIT} s, and these did not either:\n"
                            + "\n".join(under_way(self.output)) + "\n")
        return self


def swift_tests(name, pattern):
    # One test after the other: many keep a thread busy or look at a clock.
    return Unit(
        name,
        [str(BINARIES / "urdPackageTests.xctest"), "--testing-library", "swift-testing",
         "--no-parallel", "--filter", pattern])


def swift_modules():
    return [
        swift_tests(folder.name, rf"^{folder.name}\.") for folder in sorted(TESTS.glob("*Tests"))]


def interop_files():
    for path in sorted((TESTS / "Interop").glob("test_*.py")):
        yield Unit(
            path.name,
            [sys.executable, "-B", "-m", "unittest", "discover", "-s", "Tests/Interop",
             "-p", path.name])


def front_door():
    folder = TESTS / "FrontDoor"
    listed = subprocess.run(
        [sys.executable, "-B", str(folder), "--list"], capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        yield Unit(name, [sys.executable, "-B", "-m", "unittest", name], folder)


class Results:
    """Counts, and says of each unit how it ended as soon as it has."""

    def __init__(self):
        self.start = time.monotonic()
        self.tests = self.suites = self.issues = self.others = self.skipped = 0
        self.failed = []
        self.units = []

    def add(self, unit):
        self.units.append(unit)
        closing = CLOSING.search(unit.output)
        ran = RAN.findall(unit.output)
        # A module whose tests are not found, or a process that died, has not passed.
        good = unit.code == 0 and (closing or ran)
        if closing:
            self.tests += int(closing[1])
            self.suites += int(closing[2])
            self.issues += int(closing[4] or 0)
        self.others += sum(map(int, ran))
        skipped = sum(map(int, SKIPPED.findall(unit.output)))
        self.skipped += skipped
        verdict = "passed" if good else "failed"
        note = f", {skipped} skipped" if skipped else ""
        print(f"  {verdict} {unit.name} ({unit.took:.1f} s{note})", flush=True)
        if not good:
            self.failed.append(unit.name)
            print(without_passes(unit.output), flush=True)

    def tell_times(self):
        """Where the time went: the units that took longest, and what they made the processor do meanwhile."""
        if len(self.units) < 2:
            return
        print("Where the time went, in seconds:\n    took  worked  unit")
        longest = sorted(self.units, key=lambda unit: -unit.took)
        for unit in longest[:15]:
            print(f"  {unit.took:6.0f}  {unit.worked:6.0f}  {unit.name}")
        rest = longest[15:]
        if rest:
            print(f"  {sum(u.took for u in rest):6.0f}  {sum(u.worked for u in rest):6.0f}  {len(rest)} others")

    def close(self):
        seconds = time.monotonic() - self.start
        self.tell_times()
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.others} tests in Python{skipped}. What is long by nature: make soak")
        if self.failed:
            print(f"Failed: {', '.join(self.failed)}")
        verdict = "failed" if self.failed else "passed"
        sign = "✘" if self.failed else "✔"
        issues = f" with {max(self.issues, len(self.failed))} issues" if self.failed else ""
        print(
            f"{sign} Test run with {self.tests} tests in {self.suites} suites {verdict} after "
            f"{seconds:.3f} seconds{issues}.", flush=True)
        return 1 if self.failed else 0


def under_way(output):
    """The Swift tests that had begun when their process was killed."""
    begun = {}
    for line in output.splitlines():
        if match := re.match(r"^. Test (.*?) (started|passed|failed|with \d+ test cases)\b", line):
            begun[match[1]] = match[2] == "started"
    return [f"  {name}" for name, is_under_way in begun.items() if is_under_way]


def without_passes(output):
    return "\n".join(
        line for line in output.splitlines()
        if not re.match(r"^. (Test|Suite) .* (started|passed)", line))


def adopt_orphans():
    """What a unit started, servers among it, becomes a child of ours when the unit is killed."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    own = str(os.getpid())
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = pathlib.Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        if status.rpartition(")")[2].split()[1] == own:
            yield int(entry)


def make_prepared():
    """The folder in which tests leave what a first start of `urd dev` makes, for those that come after them."""
    prepared = tempfile.mkdtemp(prefix="urd-prepared-", dir="/tmp")
    os.chmod(prepared, 0o755)
    os.environ["FRONT_DOOR_PREPARED"] = prepared


def remove_prepared():
    shutil.rmtree(os.environ["FRONT_DOOR_PREPARED"], ignore_errors=True)


def end_all(*_):
    """Ends the units, and then what each of them leaves behind, for ten seconds at most."""
    adopt_orphans()
    deadline = time.monotonic() + 10
    while (left := list(children())) and time.monotonic() < deadline:
        for process in left:
            try:
                os.kill(process, signal.SIGTERM)
                os.waitpid(process, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                pass
        time.sleep(0.1)
    remove_prepared()
    os._exit(130)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="only names the units")
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--soak", action="store_true", help="what is long by nature")
    parser.add_argument("units", nargs="*")
    asked = parser.parse_args()
    alone = ALONE_IN_SOAK if asked.soak else ALONE
    if asked.soak:
        os.environ["URD_LONG_TESTS"] = "1"
        units = [swift_tests(*entry) for entry in SOAK.items()]
        units += [unit for unit in interop_files() if unit.name in SOAK_FILES]
    else:
        units = [*swift_modules(), *interop_files(), *front_door()]
    if asked.units:
        unknown = set(asked.units) - {unit.name for unit in units}
        if unknown:
            parser.error(f"there is no {', '.join(sorted(unknown))}; --list names them all")
        units = [unit for unit in units if unit.name in asked.units]
    units.sort(key=lambda unit: -unit.seconds)
    if asked.list:
        print(*(unit.name for unit in units), sep="\n")
        return 0
    make_prepared()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_all)
    results = Results()
    together = [unit for unit in units if unit.name not in alone]
    with concurrent.futures.ThreadPoolExecutor(min(asked.at_once, MOST), initializer=take_ports) as pool:
        runs = [pool.submit(unit.run) for unit in together]
        for run in concurrent.futures.as_completed(runs):
            results.add(run.result())
    for unit in units:
        if unit.name in alone:
            results.add(unit.run())
    remove_prepared()
    return results.close()


if __name__ == "__main__":
    sys.exit(main())
