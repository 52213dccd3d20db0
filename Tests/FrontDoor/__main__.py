"""Runs every test of the front door, some at a time: they mostly wait for disks and processes.

usage: python3 Tests/FrontDoor [--list] [module.Class.test …]
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
AT_ONCE = 2 * (os.cpu_count() or 1)


def names(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from names(test)
        else:
            yield test.id()


def units():
    """Each test by itself, but those of a class with a fixture together."""
    found = []
    for name in names(unittest.defaultTestLoader.discover(str(FOLDER))):
        module, case, _ = name.split(".")
        together = "setUpClass" in vars(getattr(sys.modules[module], case))
        unit = f"{module}.{case}" if together else name
        if unit not in found:
            found.append(unit)
    # What takes longest begins first.
    return sorted(found, key=lambda unit: unit.count("."))


def run(numbered):
    number, unit = numbered
    start = time.monotonic()
    result = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", unit],
        cwd=FOLDER,
        env={**os.environ, "FRONT_DOOR_RUN": str(number % 39)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return unit, result.returncode, result.stdout, time.monotonic() - start


def main():
    sys.path.insert(0, str(FOLDER))
    if sys.argv[1:] == ["--list"]:
        print(*units(), sep="\n")
        return 0
    chosen = sys.argv[1:] or units()
    start = time.monotonic()
    failed = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for unit, code, output, seconds in pool.map(run, enumerate(chosen)):
            verdict = "failed" if code else "skipped" if "skipped=" in output else "passed"
            print(f"  {verdict} {unit} ({seconds:.1f} s)", flush=True)
            if code:
                failed.append(unit)
                print(output, flush=True)
    seconds = time.monotonic() - start
    print(f"{len(chosen)} runs, {len(failed)} failed ({seconds:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
