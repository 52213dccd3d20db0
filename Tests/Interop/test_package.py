"""The Debian package on a machine of its own: installed beside Debian's PostgreSQL, set up, served under systemd to a browser
and an app outside, upgraded under load, removed, purged, installed again."""

import base64
import email
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from machine import Machine, toolchain
from pages import Reader
from phone import Phone
from urd_process import BINARY, PATIENCE, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSIDE = "URD_TEST_MACHINE"
SITE = "http://localhost:8080"
SET_UP = """
systemctl start postgresql@15-main
setup() {
    urd setup --host localhost --email ann@example.org --smtp-host 127.0.0.1 --smtp-port 1025 --smtp-security none "$@"
}
setup
before=$(sha256sum /etc/urd/*)
setup --json | grep -c '"result": "made"' && exit 1
test "$before" = "$(sha256sum /etc/urd/*)"
systemctl enable --now urd
urd health
urd-admin doctor
urd-admin backup /var/backups/urd && urd-admin restore --check /var/backups/urd
man=$(zcat /usr/share/man/man1/urd.1.gz | grep -c '^\\.TP'); test "$man" -gt 100
"""
PHONE = """
urd-admin realm set --realm main --primary-domain localhost --native-grants true --registration jit_on_otp \
    --rate-limits '{"oauth-token": {"target": null, "source": null}}'
urd-admin client register --realm main --client-id phone --application-type native \\
    --token-endpoint-auth-method none --scope "openid profile email offline_access" \\
    --grant-types urn:cocoar:otp --grant-types refresh_token
"""
REMOVED = """
apt-get remove -y -q urd
systemctl is-active urd.service urd.socket && exit 1
test -e /etc/urd/master.key && test -e /etc/urd/database-url
apt-get purge -y -q urd
test -e /etc/urd/master.key && ! test -e /etc/urd/database-url
test -n "$(ls /var/lib/urd/)"
dpkg -i /new.deb
urd setup --host localhost
urd-admin account list --realm main | grep -c true
urd-admin verify --realm main
"""


@unittest.skipUnless(os.environ.get("URD_LONG_TESTS"), "installs a system: make soak")
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([ROOT / "deploy/install-packages.sh", "deb"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", "debootstrap", "systemd-container"],
                       check=True, stdout=subprocess.DEVNULL)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="urd-package-", dir="/tmp"))
        cls.environment = {**os.environ}
        if toolchain(BINARY):
            cls.environment["URD_SHLIBDEPS"] = "--ignore-missing-info"
        cls.package = subprocess.run(
            [ROOT / "deploy/make-deb.sh", BINARY, cls.folder], env=cls.environment, check=True,
            capture_output=True, text=True).stdout.split()[-1]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def test_a_release_is_packed_alike_twice_and_signed(self):
        key, public = self.folder / "urd.key", self.folder / "urd.pub"
        subprocess.run(["minisign", "-G", "-W", "-p", public, "-s", key], check=True, stdout=subprocess.DEVNULL)
        packed = []
        for name in ("first", "second"):
            place = self.folder / name
            subprocess.run([ROOT / "deploy/make-release.sh", BINARY, place], check=True, stdout=subprocess.DEVNULL,
                           env={**self.environment, "URD_RELEASE_KEY": str(key)})
            [package] = place.glob("*.deb")
            subprocess.run([BINARY, "verify-release", package, "--key", public], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=place, check=True)
            packed.append((place / "SHA256SUMS").read_text())
        self.assertEqual(*packed)
        self.assertEqual(len(packed[0].splitlines()), 3)

    def test_lintian_finds_no_error(self):
        found = subprocess.run(["lintian", "--fail-on", "error,warning", self.package],
                               capture_output=True, text=True).stdout.splitlines()
        self.assertEqual([line for line in found if "custom-library-search-path RUNPATH" not in line], [])

    def test_on_a_machine_of_its_own(self):
        machine = Machine(self.folder / "root", BINARY)
        machine.debootstrap("systemd", "systemd-sysv", "dbus", "postgresql", "procps")
        shutil.copy(self.package, machine.root / "old.deb")
        machine.chroot("apt-get update -q && apt-get install -y -q --no-install-recommends /old.deb")
        self.pack_again("new", "+1")
        self.pack_again("stuck", "+2", lambda tree: self.script(tree / "DEBIAN/preinst"))
        self.pack_again("broken", "+3", lambda tree: self.script(tree / "usr/bin/urd"))
        done = subprocess.run(
            ["unshare", "--net", "--mount", "--propagation", "private", sys.executable, "-B", __file__, "Installed"],
            env={**os.environ, INSIDE: str(machine.root)}, capture_output=True, text=True, timeout=900)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Ran 5 tests", done.stderr)
        print(done.stdout, end="")

    def script(self, path):
        path.write_text("#!/bin/sh\nexit 1\n")
        path.chmod(0o755)

    def pack_again(self, name, later, change=lambda tree: None):
        """The package once more, as a later version."""
        tree = self.folder / name
        subprocess.run(["dpkg-deb", "-R", self.package, tree], check=True)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^(Version: .*)$", rf"\1{later}", control.read_text(), flags=re.M))
        change(tree)
        subprocess.run(["dpkg-deb", "-Znone", "-b", tree, self.folder / f"root/{name}.deb"], check=True,
                       stdout=subprocess.DEVNULL)


class Refresher(threading.Thread):
    """An app that refreshes its session over and over, and counts what it is told."""

    def __init__(self, phone, token):
        super().__init__(daemon=True)
        self.phone, self.token = phone, token
        self.acknowledged, self.failures, self.longest = 0, [], 0
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.is_set():
            began = time.monotonic()
            try:
                status, body, _ = self.phone.refresh(self.token)
                if status == 200:
                    self.token = body["refresh_token"]
                    self.acknowledged += 1
                else:
                    self.failures.append((status, body))
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
            self.longest = max(self.longest, time.monotonic() - began)

    def more(self, count=5):
        """Waits until so many more were acknowledged."""
        wanted = self.acknowledged + count
        eventually(lambda: self.acknowledged >= wanted, "sessions are refreshed")

    def end(self):
        self.is_over.set()
        self.join(PATIENCE)


@unittest.skipUnless(os.environ.get(INSIDE), "runs inside")
class Installed(unittest.TestCase):
    """In this order, on one machine."""

    @classmethod
    def setUpClass(cls):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        cls.mails = subprocess.Popen(
            [sys.executable, "-B", ROOT / "Tests/HTTPClientTests/servers/smtp_server.py", "--port", "1025"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.mails.wait)
        cls.addClassCleanup(cls.mails.kill)
        assert cls.mails.stdout.readline().strip() == "1025"
        cls.machine = Machine(os.environ[INSIDE], BINARY)
        cls.addClassCleanup(cls.machine.shut_down)
        cls.machine.boot()

    def code(self, address):
        """Of the next mail with one to this address."""
        for line in self.mails.stdout:
            mail = json.loads(line)
            text = email.message_from_bytes(base64.b64decode(mail["content"])).as_string()
            if address in mail["to"] and (found := re.search(r"^\W*(\d{6})\W*$", text, re.M)):
                return found[1]

    def refresher(self, address):
        phone = Phone(None, host="localhost", client="phone", url="http://127.0.0.1:8080")
        status, body, _ = phone.request_code(address)
        self.assertEqual(status, 200, body)
        status, tokens, _ = phone.redeem(address, self.code(address))
        self.assertEqual(status, 200, tokens)
        one = Refresher(phone, tokens["refresh_token"])
        one.start()
        self.addCleanup(one.end)
        one.more()
        return one

    def main_process(self):
        """What systemd knows as Urd, and whether the program that it runs is the one that is installed."""
        pid = self.machine.do("systemctl show --property MainPID --value urd").strip()
        return pid, "(deleted)" not in self.machine.do(f"readlink /proc/{pid}/exe")

    def version(self):
        return self.machine.do("dpkg-query -W -f '${Version} ${db:Status-Status}' urd").split()

    def test_a_it_is_set_up_and_serves(self):
        self.machine.do(SET_UP)

    def test_b_a_person_signs_in_by_passkey_in_a_browser_outside(self):
        self.machine.do(PHONE)
        reader = Reader(SITE)
        self.addCleanup(reader.close)
        reader.language("en")
        authenticator = reader.browser.add_authenticator()
        reader.go("/login")
        reader.fill("email", "ann@example.org")
        reader.press("Send me a code")
        reader.fill("code", self.code("ann@example.org"))
        reader.press("Sign in")
        reader.go("/account/security")
        reader.until("() => !document.getElementById('enrol-way').hidden")
        reader.press("Add a passkey")
        self.assertIn("Your passkey is ready", reader.text())
        self.assertEqual(len(reader.browser.credentials(authenticator)), 1)
        reader.go("/account")
        # The browser offers the passkey by itself as soon as the login is there.
        reader.press("Sign out")
        reader.leave(lambda: reader.browser.call("Page.navigate", url=SITE + "/login"))
        eventually(lambda: reader.place() == "/account", "signed in by passkey")
        self.assertIn("ann@example.org", reader.text())
        opened = self.machine.do("urd-admin events tail --realm main --type browser.opened --json --limit 1")
        self.assertEqual(json.loads(opened)["data"]["method"], "passkey")

    def test_c_an_upgrade_under_load_loses_nothing(self):
        refresher, old = self.refresher("bob@example.org"), self.main_process()
        self.machine.do("dpkg -i /new.deb")
        self.assertTrue(self.version()[0].endswith("+1"))
        refresher.more()
        refresher.end()
        new = self.main_process()
        self.assertNotEqual(new[0], old[0])
        self.assertEqual((old[1], new[1]), (True, True))
        print(f"{refresher.acknowledged} refreshes, {len(refresher.failures)} failed, the longest took {refresher.longest:.2f} s")
        # The socket waits while the service restarts.
        self.assertEqual(refresher.failures, [])
        self.assertEqual(refresher.phone.refresh(refresher.token)[0], 200)
        kept = self.machine.do("urd-admin events tail --realm main --type session.refreshed --from 1 --json").splitlines()
        self.assertEqual(len(kept), refresher.acknowledged + 1)
        self.machine.do("urd-admin verify --realm main")

    def test_d_an_upgrade_that_fails_leaves_the_version_of_before_running(self):
        refresher, old = self.refresher("cleo@example.org"), self.main_process()
        self.assertNotEqual(self.machine.run("dpkg -i /stuck.deb").returncode, 0)
        self.assertTrue(self.version()[0].endswith("+1"))
        self.assertEqual(self.version()[1], "installed")
        self.assertEqual(self.main_process(), old)
        # Its schema does not fit, as far as it can say; and then its migration fails.
        for allowed, said in (("no", "the schema is older than this version; the version of before runs on"),
                              ("yes", "the migration failed")):
            done = self.machine.run(
                f"echo URD_MIGRATE_ON_UPGRADE={allowed} >/etc/default/urd; dpkg -i /new.deb; dpkg -i /broken.deb")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stderr)
            pid, is_installed = self.main_process()
            self.assertFalse(is_installed)
            refresher.more()
        self.machine.do("dpkg -i /new.deb")
        self.assertTrue(self.main_process()[1])
        refresher.more()
        refresher.end()
        self.assertEqual(refresher.failures, [])

    def test_e_it_is_removed_purged_and_installed_again(self):
        self.machine.do(REMOVED)


if __name__ == "__main__":
    unittest.main()
