"""Tests/TokenTool for tests that check its tokens and codes with what others wrote."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("URD_TOKEN_TOOL", ROOT / ".build" / "debug" / "TokenTool"))
PATIENCE = 90
SYSTEM_PYTHON = "/usr/bin/python3"


class Refused(Exception):
    """The tool's modules said no."""


class Tool:
    def __init__(self):
        self.process = subprocess.Popen(
            [str(TOOL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()

    def __call__(self, what, **members):
        self.process.stdin.write(json.dumps({"do": what, **members}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer["value"]


def missing(*modules):
    """Modules that this Python lacks. They come from the distribution, so that another Python than
    the distribution's own does not see them."""
    return [name for name in modules if importlib.util.find_spec(name) is None]


def rerun(path):
    """A suite of one test: the file's own tests under the distribution's Python."""

    class UnderTheSystemsPython(unittest.TestCase):
        def test_file(self):
            if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM_PYTHON):
                self.fail("packages are missing: deploy/install-packages.sh test")
            result = subprocess.run(
                [SYSTEM_PYTHON, "-B", path], capture_output=True, text=True,
                stdin=subprocess.DEVNULL, timeout=10 * PATIENCE)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, r"Ran [1-9]\d* test")

    return unittest.defaultTestLoader.loadTestsFromTestCase(UnderTheSystemsPython)
