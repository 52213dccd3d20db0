"""`urd backup` and `urd restore`: a backup under load, each kind of damage by its name, and what a kill leaves behind."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from front_door import (
    BINARY, PATIENCE, ROOT, FrontDoorCase, Run, environment, eventually, free_port, run, working_in)

PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))


def manifest(folder):
    return json.loads(pathlib.Path(folder, "manifest.json").read_text())


def write_manifest(folder, members):
    """As who alters a backup would: with sums that fit."""
    members = {name: value for name, value in members.items() if name != "manifest_sha256"}

    def canonical():
        return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    members["manifest_sha256"] = hashlib.sha256(canonical().encode()).hexdigest()
    pathlib.Path(folder, "manifest.json").write_text(canonical() + "\n")


class Load:
    """People who register, one after the other, for as long as the load is on."""

    def __init__(self, values):
        self.values, self.made, self.goes_on = values, 0, True
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        while self.goes_on:
            body = {"email": f"load-{os.urandom(8).hex()}@example.org"}
            urllib.request.urlopen(urllib.request.Request(
                f"{self.values['URD_URL']}/api/admin/realms/{self.values['URD_REALM']}/accounts",
                data=json.dumps(body).encode(), method="POST",
                headers={"Authorization": f"Bearer {self.values['URD_ADMIN_KEY']}",
                         "Content-Type": "application/json"}), timeout=PATIENCE).close()
            self.made += 1

    def __enter__(self):
        self.thread.start()
        eventually(lambda: self.made > 3, "people register")
        return self

    def __exit__(self, *_):
        self.goes_on = False
        self.thread.join(PATIENCE)


class Backups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="urd-backup-", dir="/tmp")
        os.chmod(cls.place, 0o755)
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.dev = Run(os.path.join(cls.place, "data"))
        cls.addClassCleanup(cls.dev.end, signal.SIGTERM)
        cls.dev.ready()
        cls.values = cls.dev.values()
        cls.folder = os.path.join(cls.place, "backups")
        with Load(cls.values) as load:
            before = load.made
            cls.backup = cls.write_backup()
            cls.under_load = load.made - before

    @classmethod
    def urd(cls, *words, code=0, **more):
        done = run(*words, **{**cls.values, **more})
        if code is not None and done.returncode != code:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    @classmethod
    def write_backup(cls, *words, folder=None):
        """Waits for the next second: a backup is named after its own."""
        for _ in range(50):
            done = cls.urd("backup", folder or cls.folder, "--json", *words, code=None)
            if "there is a backup" not in done.stderr:
                break
            time.sleep(0.1)
        if done.returncode:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)["path"]

    def setUp(self):
        self.scratch = os.path.join(self.place, self._testMethodName)
        os.mkdir(self.scratch)
        os.chmod(self.scratch, 0o755)

    def copy(self):
        target = os.path.join(self.scratch, "copy")
        shutil.rmtree(target, ignore_errors=True)
        return shutil.copytree(self.backup, target)

    def check(self, folder, code, *words, **more):
        done = self.urd(
            "restore", "--check", folder, "--scratch", self.scratch, "--json", *words, code=code,
            **more)
        self.assertEqual([n for n in os.listdir(self.scratch) if n.startswith("urd-restore-")], [])
        return json.loads(done.stdout)

    def faults(self, folder, *words):
        found = self.check(folder, 1, *words)
        self.assertFalse(found["whole"])
        return {one["part"]: one["fault"] for one in found["parts"] if one["fault"]}, found

    def test_a_backup_under_load_restores_to_a_log_that_verifies(self):
        self.assertGreater(self.under_load, 0, "nobody registered meanwhile")
        found = self.check(self.folder, 0)
        self.assertTrue(found["whole"])
        positions = {log["realm"]: log["to"] for log in found["logs"]}
        self.assertTrue(all(log["intact"] for log in found["logs"]))
        had = manifest(self.backup)["realms"]
        self.assertIn("demo", had)
        for realm, position in had.items():
            self.assertGreaterEqual(positions[realm], position, realm)
        self.assertEqual(os.stat(self.backup).st_mode & 0o777, 0o700)
        self.assertFalse(os.path.exists(f"{self.backup}/master.key"))

    def test_each_damage_is_named(self):
        def cut(path):
            os.truncate(path, os.path.getsize(path) - 1000)

        def flip(path, place=-100):
            data = bytearray(pathlib.Path(path).read_bytes())
            data[place] ^= 1
            pathlib.Path(path).write_bytes(data)

        checkpoint = "checkpoints/demo.checkpoint"
        for part, damage, words in [
            ("urd.dump", cut, "cut off: it has"),
            ("urd.dump", flip, "altered: its SHA-256 differs"),
            ("urd.dump", os.remove, "missing"),
            ("urd.dump", lambda path: open(path, "ab").write(b"x"), "altered: it has"),
            ("manifest.json", flip, "altered or cut off"),
            ("manifest.json", cut, "altered or cut off"),
            ("manifest.json", os.remove, "missing"),
            (checkpoint, os.remove, "missing"),
            (checkpoint, lambda path: flip(path, 10), "altered: its SHA-256 differs"),
        ]:
            with self.subTest(part=part, words=words):
                folder = self.copy()
                damage(f"{folder}/{part}")
                faults, found = self.faults(folder)
                self.assertEqual(list(faults), [part])
                self.assertIn(words, faults[part])
                # What is left of it is looked at all the same.
                self.assertEqual(found["logs"] is None, part == "urd.dump")

    def test_what_was_altered_with_its_sums_is_named_by_the_log(self):
        folder = self.copy()
        members = manifest(folder)
        path = f"{folder}/checkpoints/demo.checkpoint"
        shutil.copy(f"{folder}/checkpoints/system.checkpoint", path)
        for part in members["files"]:
            if part["name"] == "checkpoints/demo.checkpoint":
                data = pathlib.Path(path).read_bytes()
                part.update(size=len(data), sha256=hashlib.sha256(data).hexdigest())
        write_manifest(folder, members)
        faults, found = self.faults(folder)
        self.assertEqual(faults, {})
        bad = [log for log in found["logs"] if not log["intact"]]
        self.assertEqual([log["realm"] for log in bad], ["demo"])
        self.assertIn(bad[0]["finding"]["problem"], ("file_unreadable", "file_differs"))
        # A log that ends too early.
        members = manifest(self.copy())
        members["realms"]["demo"] += 1_000_000
        write_manifest(folder, members)
        faults, _ = self.faults(folder)
        self.assertIn("and had", faults["log of demo"])

    def test_a_dump_that_is_none_is_named(self):
        folder = self.copy()
        pathlib.Path(folder, "urd.dump").write_bytes(b"PGDMP" + os.urandom(5000))
        os.remove(f"{folder}/manifest.json")
        faults, _ = self.faults(folder)
        self.assertIn("pg_restore failed", faults["database"])

    def test_another_master_key_is_told(self):
        other = os.path.join(self.scratch, "key")
        pathlib.Path(other).write_text(os.urandom(32).hex())
        os.chmod(other, 0o600)
        found = self.check(self.folder, 1, URD_MASTER_KEY_FILE=other)
        self.assertIn("another master key", [p["fault"] for p in found["parts"] if p["fault"]][0])

    def empty_database(self, name):
        superuser = self.values["URD_DATABASE_OWNER_URL"].replace("urd_owner@", "postgres@")
        for statement in (f"drop database if exists {name}",
                          f"create database {name} owner urd_owner template template0"):
            subprocess.run(
                ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", superuser, "-c", statement], check=True,
                env=environment(), capture_output=True, timeout=PATIENCE)
        owner = self.values["URD_DATABASE_OWNER_URL"]
        return {"URD_DATABASE_OWNER_URL": re.sub(r"/urd$", f"/{name}", owner),
                "URD_DATABASE_URL": re.sub(r"/urd$", f"/{name}", self.values["URD_DATABASE_URL"]),
                "URD_CHECKPOINT_DIRECTORY": os.path.join(self.scratch, "checkpoints")}

    def test_a_backup_comes_back_into_an_empty_database_and_no_other(self):
        refused = self.urd("restore", self.folder, code=1)
        self.assertIn("the database is not empty", refused.stderr)
        there = self.empty_database("back")
        # A damaged one brings nothing.
        folder = self.copy()
        os.remove(f"{folder}/checkpoints/demo.checkpoint")
        refused = self.urd("restore", folder, code=1, **there)
        self.assertIn("nothing was restored: checkpoints/demo.checkpoint is missing", refused.stderr)
        self.urd("restore", self.backup, **there)
        verified = json.loads(self.urd("verify", "--json", **there).stdout)
        self.assertTrue(all(log["intact"] for log in verified))
        self.assertTrue(os.path.exists(f"{self.scratch}/checkpoints/demo.checkpoint"))
        self.assertEqual(self.urd("restore", self.backup, code=1, **there).stdout, "")

    def test_a_backup_that_is_killed_leaves_none_and_the_next_one_tidies_up(self):
        folder = os.path.join(self.scratch, "killed")
        with subprocess.Popen(
                ["psql", "-XqAt", self.values["URD_DATABASE_OWNER_URL"]], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, env=environment(), text=True) as holder:
            # The dump waits for this table.
            print("begin; lock table urd.backup in access exclusive mode; select 'held';",
                  file=holder.stdin, flush=True)
            self.assertEqual(holder.stdout.readline(), "held\n")
            process = subprocess.Popen(
                [BINARY, "backup", folder], env=environment(**self.values),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            eventually(
                lambda: list(pathlib.Path(self.scratch).glob("killed/.urd-*.part/urd.dump")),
                "the dump has begun")
            refused = self.urd("backup", folder, code=1)
            self.assertIn("another process writes a backup", refused.stderr)
            process.kill()
            process.wait()
            holder.stdin.close()
        self.assertEqual([n for n in os.listdir(folder) if n.startswith("urd-")], [])
        self.assertEqual(len([n for n in os.listdir(folder) if n.endswith(".part")]), 1)
        self.write_backup(folder=folder)
        self.assertEqual([n for n in os.listdir(folder) if n.endswith(".part")], [])
        self.assertEqual(len([n for n in os.listdir(folder) if n.startswith("urd-")]), 1)

    def started_check(self):
        process = subprocess.Popen(
            [BINARY, "restore", "--check", self.folder, "--scratch", self.scratch],
            env=environment(**self.values), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def scratch():
            for name in os.listdir(self.scratch):
                path = os.path.join(self.scratch, name)
                if working_in(path + "/postgres/data"):
                    return path
            return None

        return process, eventually(scratch, "a private PostgreSQL runs")

    def test_a_check_that_is_ended_or_killed_leaves_nothing(self):
        process, path = self.started_check()
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), -signal.SIGTERM)
        self.assertFalse(os.path.exists(path))
        self.assertEqual(working_in(path), [])
        process, path = self.started_check()
        process.kill()
        process.wait()
        eventually(lambda: not working_in(path + "/postgres/data"), "the server went with it")
        self.assertTrue(os.path.exists(path))
        self.check(self.folder, 0)

    def test_an_encrypted_backup_needs_its_key(self):
        key = os.path.join(self.scratch, "key.txt")
        made = subprocess.run(["age-keygen", "-o", key], capture_output=True, text=True, check=True)
        public = re.search(r"age1\w+", made.stderr + pathlib.Path(key).read_text())[0]
        folder = os.path.join(self.scratch, "sealed")
        backup = self.write_backup("--recipient", public, "--with-master-key", folder=folder)
        parts = {part["name"] for part in manifest(backup)["files"]}
        self.assertLessEqual({"urd.dump.age", "master.key.age", "checkpoints/demo.checkpoint.age"}, parts)
        for name in parts:
            self.assertTrue(
                pathlib.Path(backup, name).read_bytes().startswith(b"age-encryption.org/"), name)
        files = {str(p.relative_to(backup)) for p in pathlib.Path(backup).rglob("*") if p.is_file()}
        self.assertEqual(files, parts | {"manifest.json"})
        self.assertTrue(self.check(folder, 0, "--identity", key)["whole"])
        faults, _ = self.faults(folder)
        self.assertIn("encrypted", faults["database"])
        other = os.path.join(self.scratch, "other.txt")
        subprocess.run(["age-keygen", "-o", other], capture_output=True, check=True)
        faults, _ = self.faults(folder, "--identity", other)
        self.assertIn("age failed", faults["database"])

    def test_old_backups_go_and_the_last_one_is_known(self):
        folder = os.path.join(self.scratch, "kept")
        made = [self.write_backup("--keep", "2", folder=folder) for _ in range(3)]
        left = sorted(n for n in os.listdir(folder) if n.startswith("urd-"))
        self.assertEqual(left, [os.path.basename(path) for path in made[1:]])
        self.urd("backup", folder, "--keep", "0", code=2)

        def doctor():
            found = json.loads(self.urd("doctor", "--json", code=None).stdout)["checks"]
            return next(one for one in found if one["check"] == "backups")

        self.assertEqual(doctor()["verdict"], "fine")

        def metric():
            with urllib.request.urlopen(self.values["URD_PRIVATE_URL"] + "/metrics") as answer:
                text = answer.read().decode()
            return float(re.search(r"^urd_last_backup_timestamp_seconds (\S+)$", text, re.M)[1])

        eventually(lambda: time.time() - metric() < 60, "the metric tells of it")
        kept = self.dev.sql("select at from urd.backup")
        self.dev.sql("update urd.backup set at = at - interval '3 days'")
        try:
            self.assertEqual(doctor()["verdict"], "warning")
            self.assertIn("3 days ago", doctor()["what"])
            eventually(lambda: time.time() - metric() > 2 * 86_400, "the metric tells of it")
        finally:
            self.dev.sql("update urd.backup set at = at + interval '3 days'")
        self.assertEqual(self.dev.sql("select at from urd.backup"), kept)

    def test_the_application_cannot_write_a_backup(self):
        refused = self.urd(
            "backup", os.path.join(self.scratch, "none"), code=1,
            URD_DATABASE_OWNER_URL=self.values["URD_DATABASE_URL"])
        self.assertIn("permission denied", refused.stderr)
        self.assertEqual([n for n in os.listdir(f"{self.scratch}/none") if n != ".lock"], [])


class PointInTime(FrontDoorCase):
    """The five lines of the page, on a PostgreSQL of the test's own."""

    def program(self, name, text):
        path = pathlib.Path(self.folder, "bin", name)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def test_the_five_lines_of_the_page_come_back_to_a_moment(self):
        page = (ROOT / "docs/backup.md").read_text().split("## Back to a moment")[1]
        lines = re.search(r"^```\n(.*?)^```", page, re.M | re.S)[1].splitlines()
        self.assertEqual(len(lines), 5)
        as_other = "runuser -u postgres -- " if os.geteuid() == 0 else ""
        for name in ("bin", "base", "wal", "run", "server"):
            os.mkdir(f"{self.folder}/{name}", 0o700)
            if as_other and name != "bin":
                shutil.chown(f"{self.folder}/{name}", "postgres")
        os.chmod(f"{self.folder}/bin", 0o755)
        data, port = f"{self.folder}/server/main", free_port()
        control = (f"cd / && {as_other}{PROGRAMS}/pg_ctl -D {data} -w -t {PATIENCE} -l {self.folder}/run/log "
                   f"-o '-p {port} -k {self.folder}/run -c listen_addresses='")
        self.program("sudo", f'if [ "$1" = -u ]; then shift 2; exec {as_other}"$@"; fi\nexec "$@"\n')
        self.program("systemctl", f"""case "$1" in
            start) {control} start ;;
            restart) {control} restart ;;
            stop) {control} -m fast stop ;;
            esac
            """)

        def shell(line, check=True):
            done = subprocess.run(
                ["bash", "-c", line.replace("/backup", self.folder)
                 .replace("/var/lib/postgresql/15", f"{self.folder}/server")],
                env=environment(PATH=f"{self.folder}/bin:{PROGRAMS}:{os.environ['PATH']}", PGPORT=str(port),
                                PGHOST=f"{self.folder}/run", PGUSER="postgres", PGDATABASE="postgres"),
                capture_output=True, text=True, cwd="/", timeout=PATIENCE)
            if check and done.returncode:
                raise AssertionError(f"{line}\n{done.stdout}{done.stderr}")
            return done.stdout.strip()

        def ask(statement):
            return shell(f'psql -XqAtc "{statement}"')

        shell(f"sudo -u postgres {PROGRAMS}/initdb -D {data} -U postgres -A trust --no-sync")
        self.addCleanup(shell, "systemctl stop", False)
        shell("systemctl start")
        ask("create table told (what text)")
        shell(lines[0])
        shell(lines[1])
        ask("insert into told values ('kept')")
        moment = ask("select pg_sleep(0.1), now()").split("|")[1]
        ask("select pg_sleep(0.1)")
        ask("insert into told values ('lost')")
        ask("select pg_switch_wal()")
        eventually(lambda: ask("select last_archived_wal is not null and archived_count > 1 "
                               "from pg_stat_archiver") == "t", "the log is archived")
        shell(lines[2])
        shell(lines[3].replace("2026-11-30 14:05:00+00", moment))
        shell(lines[4])
        eventually(lambda: ask("select pg_is_in_recovery()") == "f", "it takes writes")
        self.assertEqual(ask("select what from told"), "kept")


if __name__ == "__main__":
    unittest.main()
