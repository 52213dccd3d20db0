"""The units and scripts under deploy/, as far as they can be judged without installing anything."""

import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import stat
import subprocess
import tempfile
import unittest

from front_door import (
    BINARY, PATIENCE, ROOT, FrontDoorCase, Server, environment, eventually, free_port)

DEPLOY = ROOT / "deploy"
NGINX = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")


def settings_of_the_unit():
    text = (DEPLOY / "urd.service").read_text()
    return dict(re.findall(r"^Environment=(URD_\w+)=(.*)$", text, re.M))


@unittest.skipUnless(shutil.which("systemd-analyze"), "needs systemd-analyze")
class Units(FrontDoorCase):
    def copies(self):
        """The units with a program that is there, which is all that `verify` asks of it."""
        paths = []
        for name in ("urd.service", "urd.socket", "urd-migrate.service", "urd-backup.service",
                     "urd-backup.timer"):
            text = (DEPLOY / name).read_text().replace("/usr/local/bin/urd", "/bin/true")
            path = pathlib.Path(self.folder, name)
            path.write_text(text)
            paths.append(str(path))
        return paths

    def test_systemd_units_are_well_formed(self):
        result = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", *self.copies()],
            capture_output=True,
            text=True,
            timeout=60,
        )
        ours = [
            line
            for line in (result.stdout + result.stderr).splitlines()
            if re.search(r"\burd(-migrate|-backup)?\.(service|socket|timer)\b", line)
        ]
        self.assertEqual(ours, [])

    def test_systemd_services_are_hardened(self):
        for path in self.copies():
            if not path.endswith(".service"):
                continue
            result = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", "--no-pager", path],
                capture_output=True,
                text=True,
                timeout=60,
            )
            level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", result.stdout)
            if not level:
                self.skipTest("this systemd cannot judge a unit offline")
            self.assertLessEqual(float(level[1]), 1.5, path)


class Settings(FrontDoorCase):
    def test_the_root_command_has_the_settings_of_the_unit(self):
        text = (DEPLOY / "urd-admin").read_text()
        ours = settings_of_the_unit()
        self.assertEqual(ours.pop("URD_LOG_FORMAT"), "journal")
        self.assertEqual(set(ours), {"URD_CHECKPOINT_DIRECTORY", "URD_TRUSTED_PROXIES"})
        for name, value in ours.items():
            self.assertIn(f"\n{name}={value}\n", text)

    def test_units_point_at_what_the_deploy_page_installs(self):
        page = (DEPLOY / "README.md").read_text()
        for unit in DEPLOY.glob("urd*.s*"):
            text = unit.read_text()
            for path in re.findall(r"^Documentation=file://(.*)$|^ExecStart=(\S+)", text, re.M):
                self.assertRegex(page, rf"install .*-m \d+ \S+ {''.join(path)}\n", unit.name)

    def test_the_deploy_pages_first_commands_and_backups_work(self):
        one = self.start().ready()
        values = one.values()
        for name, text in (
            ("database-url", values["URD_DATABASE_URL"]), ("urd.env", "URD_DRAIN=1s\n"),
            ("master.key", pathlib.Path(values["URD_MASTER_KEY_FILE"]).read_text()),
        ):
            with open(os.open(f"{self.folder}/{name}", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(text)
        admin = pathlib.Path(self.folder, "urd-admin")
        admin.write_text((DEPLOY / "urd-admin").read_text()
                         .replace("/etc/urd", self.folder)
                         .replace("/var/lib/urd", values["URD_CHECKPOINT_DIRECTORY"])
                         .replace("/usr/local/bin/urd", str(BINARY)))
        admin.chmod(0o755)
        page = (DEPLOY / "README.md").read_text()
        blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
        self.assertEqual(len(blocks), 3)
        script = "set -e\n" + "".join(blocks) + "sudo urd-admin doctor; sudo urd-admin config print"
        done = subprocess.run(
            ["bash", "-c", script.replace("sudo urd-admin", str(admin))], env=environment(),
            capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for words in ("client_secret", "urdadm_", "believed: 127.0.0.1", "Nothing is wrong."):
            self.assertIn(words, done.stdout)
        self.assertRegex(done.stdout, r"drain +1s +URD_DRAIN")


@unittest.skipUnless(NGINX, "needs nginx")
class Proxies(FrontDoorCase):
    """The samples as they stand, but for places of this machine: names, files and ports."""

    def configuration(self, name, **places):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
             "-subj", "/CN=id.example.org", "-keyout", f"{self.folder}/key",
             "-out", f"{self.folder}/certificate"],
            check=True, capture_output=True, timeout=PATIENCE)
        text = (DEPLOY / name).read_text()
        text = re.sub(r"(?m)^( *ssl_certificate) .*;", rf"\1 {self.folder}/certificate;", text)
        text = re.sub(r"(?m)^( *ssl_certificate_key) .*;", rf"\1 {self.folder}/key;", text)
        # nginx asks for the address of a name when it starts.
        text = text.replace("proxy_pass https://id.example.org/", "proxy_pass https://127.0.0.1/")
        text = re.sub(r"(?m)^ *listen \[::\].*\n", "", text)
        text = re.sub(r"listen 443", f"listen 127.0.0.1:{places.get('port', free_port())}", text)
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{places.get('urd', 8080)}")
        path = pathlib.Path(self.folder, "nginx.conf")
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        path.write_text(
            f"daemon off; pid {self.folder}/pid; error_log stderr;\n"
            f"events {{}}\nhttp {{ access_log off; {temporary}\n{text}\n}}\n")
        return str(path)

    def test_nginx_reads_the_sample_configurations(self):
        for sample in DEPLOY.glob("nginx*.conf"):
            with self.subTest(sample=sample.name):
                done = subprocess.run(
                    [NGINX, "-t", "-e", "stderr", "-c", self.configuration(sample.name)],
                    capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_issuers_behind_nginx_are_https_under_the_units_settings(self):
        values = self.start().ready().values()
        trusted = settings_of_the_unit()["URD_TRUSTED_PROXIES"]
        server = Server(values, URD_TRUSTED_PROXIES=trusted)
        self.addCleanup(server.close)
        server.ready()
        port = free_port()
        nginx = subprocess.Popen(
            [NGINX, "-e", "stderr", "-c",
             self.configuration("nginx.conf", port=port, urd=server.port)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(nginx.wait, PATIENCE)
        self.addCleanup(nginx.terminate)

        def discovery():
            connection = http.client.HTTPSConnection(
                "127.0.0.1", port, timeout=PATIENCE, context=ssl._create_unverified_context())
            try:
                connection.request(
                    "GET", "/.well-known/openid-configuration",
                    headers={"Host": "localhost", "X-Forwarded-Host": "evil.example",
                             "Forwarded": "host=evil.example"})
                return json.load(connection.getresponse())
            except OSError:
                return None
            finally:
                connection.close()

        known = eventually(discovery, "nginx answers")
        self.assertEqual(known["issuer"], "https://localhost")
        self.assertEqual(known["authorization_endpoint"], "https://localhost/connect/authorize")


class InstallPackages(FrontDoorCase):
    """With programs of our own in front of the system's, so that nothing is ever installed."""

    def program(self, name, body):
        path = pathlib.Path(self.folder, name)
        path.write_text("#!/bin/sh\n" + body + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

    def install(self, *words):
        return subprocess.run(
            [str(DEPLOY / "install-packages.sh"), *words],
            env={**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def setUp(self):
        super().setUp()
        self.log = pathlib.Path(self.folder, "log")
        self.program("swift", 'echo "Swift version 6.3.1 (swift-6.3.1-RELEASE)"')
        self.program("dpkg-query", self.answer("libpq-dev"))
        self.program("apt-get", f'echo "apt-get $*" >>"{self.log}"; exit 7')
        self.program("id", "echo 1000")

    def answer(self, *missing):
        words = "|".join(missing) or "nothing-is-missing"
        return (
            f'for p in "$@"; do case "$p" in -*|*Package*) ;; {words}) ;; '
            '*) echo "$p installed" ;; esac; done'
        )

    def test_install_packages_names_missing_packages_and_the_command_without_rights(self):
        self.program("sudo", "exit 1")
        result = self.install("build")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Missing packages: libpq-dev\n", result.stderr)
        self.assertIn("sudo apt-get install --no-install-recommends libpq-dev\n", result.stderr)
        self.assertFalse(self.log.exists())

    def test_install_packages_only_lists_packages_on_request(self):
        result = self.install("build", "--print")
        self.assertEqual((result.returncode, result.stdout), (1, "libpq-dev\n"))

    def test_install_packages_does_nothing_when_all_are_installed(self):
        self.program("dpkg-query", self.answer())
        self.program("sudo", "exit 1")
        result = self.install("build")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_an_old_or_missing_toolchain_is_named(self):
        self.program("dpkg-query", self.answer())
        for body, words in (
            ('echo "Swift version 6.2 (x)"', "is 6.2."),
            ('echo "Swift version 5.10.1 (x)"', "is 5.10."),
        ):
            shutil.rmtree(os.path.join(self.folder, ".build"), ignore_errors=True)
            self.program("swift", body)
            result = self.install("build")
            self.assertEqual(result.returncode, 1, body)
            self.assertIn(words, result.stderr)
            self.assertIn("swift.org/install", result.stderr)

    def test_install_packages_checks_the_toolchain_alone_where_no_package_is_needed(self):
        self.program("sudo", "exit 1")
        result = self.install("toolchain")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_each_purpose_installs_only_what_it_needs(self):
        self.program("dpkg-query", "true")
        wanted = {
            purpose: set(self.install(purpose, "--print").stdout.split())
            for purpose in ("build", "build-tests", "run", "bench", "test")}
        self.assertLess(wanted["build"], wanted["build-tests"])
        self.assertLess(wanted["build-tests"], wanted["test"])
        self.assertLess(wanted["run"], wanted["bench"])
        self.assertIn("wrk", wanted["bench"])
        for purpose in ("build", "build-tests", "run", "bench"):
            for heavy in ("chromium", "apache2-bin", "python3-pip"):
                self.assertNotIn(heavy, wanted[purpose], purpose)
        self.assertIn("chromium", wanted["test"])

    def test_unknown_purposes_are_refused(self):
        self.assertEqual(self.install("everything").returncode, 2)


class FrontDoor(unittest.TestCase):
    def test_make_help_lists_every_target_that_people_use(self):
        text = subprocess.run(
            ["make", "-C", str(ROOT), "--no-print-directory", "help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for target in ("dev", "test", "soak", "check", "bench", "bench-full", "fuzz", "build", "format"):
            self.assertRegex(text, rf"(?m)^  make {target} +\S")

    def test_the_layout_check_without_the_toolchain_says_how_to_get_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("sh", "make", "awk", "readlink", "stat", "cat", "mkdir", "sed"):
                os.symlink(shutil.which(name), os.path.join(folder, name))
            for target in ("lint", "format"):
                done = subprocess.run(
                    ["make", "-C", str(ROOT), "--no-print-directory", target],
                    env={"PATH": folder}, capture_output=True, text=True, timeout=60)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("there is no 'swift' on the PATH", done.stderr)
                self.assertIn("swift.org/install", done.stderr)

    def test_each_make_target_installs_what_it_needs(self):
        for target, purpose in (
            ("fuzz", "build"), ("bench", "bench"), ("test", "build-tests"), ("build", "build"),
            ("dev", "run"), ("lint", "toolchain"), ("format", "toolchain"),
        ):
            planned = subprocess.run(
                ["make", "-n", "-C", str(ROOT), "--no-print-directory", target],
                capture_output=True, text=True, check=True, timeout=60).stdout
            self.assertEqual(
                re.findall(r"install-packages\.sh (\S+)", planned), [purpose], target)

    def test_every_script_is_read_by_a_posix_shell(self):
        scripts = [ROOT / ".ci/run", ROOT / "Tests/run.sh", *DEPLOY.glob("*.sh"),
                   DEPLOY / "urd-admin"]
        for script in scripts:
            subprocess.run(["sh", "-n", str(script)], check=True)


if __name__ == "__main__":
    unittest.main()
