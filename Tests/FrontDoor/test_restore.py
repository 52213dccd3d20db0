"""The commands of the deploy page's "Backup" and "Restore", as they stand there, on a second machine."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.parse

from front_door import (
    BINARY, PATIENCE, ROOT, FrontDoorCase, Server, environment, eventually, free_port)

PAGE = (ROOT / "deploy/README.md").read_text()
PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))


def commands(section, text=PAGE):
    """The commands of a section, each in one line."""
    body = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```", body, re.M | re.S)
    return [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]


class Machine:
    """A place in which the page's commands run: its own folders, its own PostgreSQL, no systemd."""

    def __init__(self, folder, backup, key):
        self.folder = pathlib.Path(folder)
        self.server = None
        self.backup = backup
        for name in ("bin", "etc", "var"):
            (self.folder / name).mkdir(parents=True)
        self.write("etc/urd.env", "URD_DRAIN=1s\n")
        self.write("etc/master.key", key)
        admin = (ROOT / "deploy/urd-admin").read_text()
        self.program("urd-admin", self.here(admin).replace("/usr/local/bin/urd", str(BINARY)))
        self.program("sudo", '#!/bin/sh\n[ "$1" = -u ] && shift 2\nexec "$@"\n')
        self.program("systemctl", f"""#!/bin/sh
            case "$*" in
            "start urd-migrate") exec {BINARY} migrate ;;
            esac
            """)

    def here(self, text):
        return (text.replace("/etc/urd", f"{self.folder}/etc")
                .replace("/var/lib/urd", f"{self.folder}/var").replace("/backup", self.backup))

    def write(self, name, text, mode=0o600):
        with open(os.open(self.folder / name, os.O_WRONLY | os.O_CREAT, mode), "w") as file:
            file.write(text)

    def program(self, name, text):
        self.write(f"bin/{name}", text, 0o755)

    def is_at(self, host, port):
        self.place = {"PGHOST": host, "PGPORT": str(port), "PGUSER": "postgres"}
        self.address = f"postgresql://urd_app@{host.replace('/', '%2F')}:{port}/urd"
        self.owner = self.address.replace("urd_app", "urd_owner")
        self.write("etc/database-url", self.address)
        self.write("etc/database-owner-url", self.owner)

    def run(self, command, code=0):
        done = subprocess.run(
            ["sh", "-ec", self.here(command)], capture_output=True, text=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL, cwd=self.folder, env=environment(
                PATH=f"{self.folder}/bin:{PROGRAMS}:{os.environ['PATH']}",
                URD_DATABASE_OWNER_URL=self.owner, **self.place))
        if code is not None and done.returncode != code:
            raise AssertionError(f"{command}\n{done.returncode}: {done.stdout}{done.stderr}")
        return done

    def serve(self):
        self.server = Server(
            {"URD_DATABASE_URL": self.address, "URD_MASTER_KEY_FILE": f"{self.folder}/etc/master.key"},
            URD_CHECKPOINT_DIRECTORY=f"{self.folder}/var")
        return self.server.ready()


class Restore(FrontDoorCase):
    def cluster(self):
        """An empty PostgreSQL, as a new machine has one."""
        folder = os.path.join(self.folder, "postgres")
        os.mkdir(folder, 0o700)
        other = []
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            other = ["runuser", "-u", "postgres", "--"]
        subprocess.run(
            [*other, PROGRAMS / "initdb", "-D", f"{folder}/data", "-U", "postgres", "-A", "trust",
             "--no-sync"], check=True, capture_output=True, cwd="/", timeout=PATIENCE)
        os.chmod(folder, 0o755)
        port = free_port()
        process = subprocess.Popen(
            [*other, PROGRAMS / "postgres", "-D", f"{folder}/data", "-p", str(port), "-k", folder,
             "-c", "listen_addresses="],
            cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.terminate)
        eventually(
            lambda: subprocess.run(
                [PROGRAMS / "pg_isready", "-q", "-h", folder, "-p", str(port)]).returncode == 0,
            "PostgreSQL takes connections")
        return folder, port

    def machine(self, name, key):
        one = Machine(os.path.join(self.folder, name), os.path.join(self.folder, "backup"), key)
        self.addCleanup(lambda: one.server and one.server.close())
        return one

    def test_the_pages_restore_brings_a_dump_to_a_new_machine(self):
        dev = self.start().ready()
        values = dev.values()
        realm = values["URD_REALM"]
        key = pathlib.Path(values["URD_MASTER_KEY_FILE"]).read_text()

        old = self.machine("old", key)
        host, port = re.search(r"@([^:/]+):(\d+)/", values["URD_DATABASE_URL"]).groups()
        old.is_at(urllib.parse.unquote(host), port)
        shutil.rmtree(old.folder / "var")
        os.symlink(values["URD_CHECKPOINT_DIRECTORY"], old.folder / "var")

        def sealed():
            return dev.sql(
                "select bool_and(h.position = (select max(size) from urd.checkpoint c "
                "where c.realm = h.realm)) from urd.realm_log h where h.position > 0") == "t"

        def account(mail):
            done = old.run(f"urd-admin account register --realm {realm} --email {mail} --json")
            return re.search(r'"id": *"([-0-9a-f]{36})"', done.stdout)[1]

        old.run(f"urd-admin analyst add grafana --realm {realm}")
        kept, erased = account("kept@example.org"), account("gone@example.org")
        eventually(sealed, "all is sealed")
        for command in commands("Backup")[:2]:
            old.run(command)
        # Since the dump: somebody is erased, and a client comes.
        old.run(f"urd-admin account erase {erased} --realm {realm} --yes")
        eventually(sealed, "all is sealed")
        head = int(dev.sql(f"select position from urd.realm_log where realm = '{realm}'"))

        new = self.machine("new", key)
        shutil.copytree(values["URD_CHECKPOINT_DIRECTORY"], new.folder / "var", dirs_exist_ok=True)
        dev.end()
        new.is_at(*self.cluster())
        for command in commands("First time"):
            if re.match(r"sudo (-u postgres create|systemctl start urd-migrate)", command):
                new.run(command)

        page = commands("Restore")
        done = []
        for command in page:
            words = command.replace("acme", realm)
            if command == "sudo systemctl start urd":
                new.serve()
            elif "verify" in command and not new.server:
                told = new.run(words, code=1)
                self.assertIn("the log ends before what was signed", told.stdout)
            elif re.search(r"log accept --realm acme$", command):
                told = new.run(words, code=1)
                size = re.search(r"--size (\d+)", told.stderr)[1]
                self.assertEqual(int(size), head)
            elif "log accept" in command:
                new.run(re.sub(r"--size \d+", f"--size {size}", words) + " --yes")
            elif "verify" in command:
                eventually(
                    lambda: new.run(words, code=None).returncode == 0, "all is sealed and whole")
            elif "account erase" in command:
                new.run(re.sub(r"erase \S+", f"erase {erased}", words) + " --yes")
            elif "subject erase" in command:
                self.assertRegex(command, r"^sudo urd-admin subject erase [-0-9a-f]{36} --realm acme$")
            else:
                new.run(words, code=None if "doctor" in command else 0)
            done.append(command)
        self.assertEqual(done, page)
        self.assertTrue(any("urd-admin restore" in command for command in done))

        # What was there is there, and what was erased is so again.
        self.assertIn("kept@example.org", new.run(
            f"urd-admin account show {kept} --realm {realm} --open --json").stdout)
        self.assertNotIn("gone@example.org", new.run(
            f"urd-admin account list --realm {realm} --all --open --json").stdout)
        # The login roles of analysts: still named, and made anew as the page says.
        self.assertIn("grafana", new.run("urd-admin analyst list").stdout)
        ask = ("psql -XqAtc \"select count(*) from pg_roles where rolname = 'grafana'\" "
               "postgres")
        self.assertEqual(new.run(ask).stdout.strip(), "0")
        anew = re.search(r"`sudo (urd-admin analyst add [^`]+)`", PAGE)[1].replace("acme", realm)
        added = new.run(anew)
        self.assertEqual(new.run(ask).stdout.strip(), "1", added.stdout)
        self.assertEqual(new.run("urd-admin verify").returncode, 0)
        # It has no backup of its own yet. Where the restore took longer than a lease is waited for, it is told that no node here does that work.
        checks = json.loads(new.run("urd-admin doctor --json", code=None).stdout)["checks"]
        self.assertEqual(
            [c for c in checks if c["verdict"] == "wrong" and c["check"] not in ("leases", "backups")], [])
