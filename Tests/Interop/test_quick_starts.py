"""The quick starts, run as they stand: programs and commands are read from the pages. The one thing that
is changed are the ports 8000 to 8002, which somebody may be using."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

import pinned
from person import Person
from phone import code
from token_tool import missing, rerun
from urd_process import PATIENCE, Urd, eventually, free_port
from verify_client import Browser

MISSING = missing("authlib", "requests", "jose", "jwcrypto")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "quick-starts"
# Their clients are in dev.env.
READY_MADE = ("federation.md", "verify.md")


def setUpModule():
    global urd, desk
    urd = Urd()
    desk = tempfile.TemporaryDirectory(prefix="urd-quick-", dir="/tmp")
    os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk.name, ".dev"))
    os.symlink(ROOT / ".build", os.path.join(desk.name, ".build"))


def tearDownModule():
    desk.cleanup()
    urd.close()


class Terminal:
    """A shell that is given these lines, and whatever it prints."""

    def __init__(self, lines):
        self.lines = []
        self.process = subprocess.Popen(
            # Debian's own Python, in whose packages the libraries are, but for those that no
            # distribution has; and no browser opens.
            ["bash", "-c", "set -e\n" + lines], cwd=desk.name, text=True,
            env={**os.environ, "PATH": "/usr/bin:" + os.environ["PATH"], "BROWSER": "true",
                 "PYTHONPATH": str(pinned.FOLDER)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def text(self):
        return "".join(self.lines)

    def says(self, pattern):
        def found():
            return re.search(pattern, self.text())

        return eventually(lambda: found() or self.process.poll() is not None and (
            found() or self.fail()), f"{pattern}: {self.text()}")

    def fail(self):
        raise AssertionError(f"it ended ({self.process.returncode}): {self.text()}")

    def ends(self):
        """What it printed once it ended well."""
        code = self.process.wait(timeout=PATIENCE)
        self.reader.join(PATIENCE)
        assert code == 0, self.text()
        return self.text()

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(timeout=PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()


class QuickStart(unittest.TestCase):
    def read(self, name):
        """The commands of a page; its programs are put where they would be saved."""
        text = (PAGES / name).read_text()
        self.port = free_port()
        blocks = re.findall(r"```(sh|python)\n(.*?)```", text, re.S)
        self.assertGreaterEqual(len(blocks), 2)
        commands = []
        for kind, block in blocks:
            block = re.sub("800[012]", str(self.port), block)
            if kind == "sh":
                commands.append(block)
            else:
                file = re.match(r"# ([.\w/]+\.py)\n", block)[1]
                pathlib.Path(desk.name, file).write_text(block)
        return commands

    def terminal(self, *commands):
        terminal = Terminal("\n".join(commands))
        self.addCleanup(terminal.close)
        return terminal

    def answers(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def person(self):
        return Person(urd, urd.values["URD_REALM_URL"])

    def test_web_application_page_works(self):
        terminal, person = self.terminal(*self.read("web-app.md")), self.person()
        eventually(lambda: self.answers() or terminal.process.poll() is not None, "it answers")
        here = f"http://127.0.0.1:{self.port}"
        self.assertIn("stranger", person.visit(f"{here}/")[2], terminal.text())
        with self.assertRaises(urllib.error.HTTPError) as icon:
            urllib.request.urlopen(f"{here}/favicon.ico", timeout=PATIENCE)
        icon.exception.close()
        self.assertEqual(icon.exception.code, 404)
        self.assertNotIn("Traceback", terminal.text())
        _, place, page = person.visit(f"{here}/login")
        self.assertEqual((place, page), (f"{here}/", f"Hello, {person.email}"), terminal.text())
        _, place, page = person.visit(f"{here}/logout")
        self.assertTrue(place.startswith(f"{here}/"), (place, terminal.text()))
        self.assertIn("stranger", page)
        self.assertEqual(person.call("GET", "/account")[1].partition("?")[0], "/login")

    def test_native_application_page_works(self):
        terminal, person = self.terminal(*self.read("native-app.md")), self.person()
        address = terminal.says(r"Opening (\S+)\n")[1]
        status, _, page = person.visit(address)
        self.assertEqual((status, page), (200, "You can close this window."))
        said = terminal.ends()
        self.assertIn(f"Hello, {person.email}\nStill {person.email}\n", said)

    def test_device_page_works(self):
        terminal, person = self.terminal(*self.read("device.md")), self.person()
        address = terminal.says(r"or scan (\S+)\n")[1]
        place, past = person.go(address)
        self.assertTrue(place.endswith("?done=allow"), (place, past))
        self.assertIn(person.email, terminal.ends())

    def test_verify_page_works(self):
        terminal, site = self.terminal(*self.read("verify.md")), urd.values["URD_VERIFY_URL"]
        path = terminal.says(rf"login at your browser: {site}(\S+)\n")[1]
        browser, email = Browser(site), f"{os.urandom(6).hex()}@example.org"
        sent = browser.post(browser.call("GET", path), path, input=email).location
        page = browser.call("GET", sent)
        back = browser.post(page, sent, code=code(urd, email)).location
        self.assertTrue(back.startswith(f"http://localhost:{self.port}?code="), back)
        with urllib.request.urlopen(back, timeout=PATIENCE) as shown:
            self.assertIn("You can close this window.", shown.read().decode())
        said = terminal.ends()
        self.assertIn(f"Hello, {email}\nStill {email}\n", said)
        self.assertRegex(said, r'proved: ann-\w{8}@example.org\n{"success":true}\n200\n$')

    def test_federation_page_works(self):
        said = self.terminal(*self.read("federation.md")).ends()
        self.assertEqual(said, "Hello, Ann Example\nGranted: org.example.notes\nOver.\n")

    def test_every_page_can_be_followed_again_and_keeps_its_secret(self):
        for page in sorted(PAGES.glob("*.md")):
            if page.name in READY_MADE:
                continue
            (registration,) = [
                block for block in self.read(page.name) if "client register" in block]
            file = pathlib.Path(desk.name, re.search(r">([.\w/]+\.json)", registration)[1])
            with self.subTest(page=page.name):
                self.terminal(registration).ends()
                client = json.loads(file.read_text())
                self.assertIn("client_id", client)
                self.terminal(registration).ends()
                self.assertEqual(json.loads(file.read_text()), client)

    def test_service_page_works(self):
        said = self.terminal(*self.read("service.md")).ends()
        self.assertRegex(said, r"got a token of \d\d+ letters\n$")
        *before, calls, why = self.read("resource-server.md")
        server = self.terminal(*before)
        eventually(lambda: self.answers() or server.process.poll() is not None, "it answers")
        said = self.terminal(calls).ends()
        self.assertEqual(
            said, '{"client": "reports", "orders": []}\n401\n401\n403\n', server.text())
        self.assertIn("active: an access token of reports", self.terminal(why).ends())

    def test_no_two_pages_use_the_same_port(self):
        wanted = [port for page in PAGES.glob("*.md")
                  for port in set(re.findall(r"\b80\d\d\b", page.read_text()))]
        self.assertEqual(sorted(wanted), ["8000", "8001", "8002"])

    def test_every_page_is_tested_and_linked(self):
        tested = pathlib.Path(__file__).read_text()
        index = (ROOT / "docs/README.md").read_text()
        for page in PAGES.glob("*.md"):
            self.assertIn(f'"{page.name}"', tested)
            self.assertIn(f"(quick-starts/{page.name})", index)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
