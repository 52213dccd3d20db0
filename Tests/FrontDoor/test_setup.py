"""`urd setup`: a first installation on a PostgreSQL that asks for passwords, and every way in which it is run again."""

import json
import os
import pathlib
import pty
import random
import shutil
import subprocess
import urllib.request

from front_door import BINARY, PATIENCE, Server, environment, run
from own_database import OwnDatabase

HOST = "id.example.org"
SECRETS = ("master.key", "database-url", "database-owner-url")


class Setup(OwnDatabase):
    @property
    def etc(self):
        return f"{self.folder}/etc"

    def words(self, *more, host=HOST):
        return ["setup", "--directory", self.etc, "--database-admin-url", self.administrator,
                "--host", host, *more]

    def setup(self, *more, code=0, **settings):
        result = run(*self.words(*more, **settings))
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def files(self):
        return {name: pathlib.Path(self.etc, name).read_text() for name in sorted(os.listdir(self.etc)) if not name.startswith(".")}

    def secret(self, name):
        return pathlib.Path(self.etc, name).read_text().strip()

    def served(self, **more):
        server = Server({
            "URD_DATABASE_URL": self.secret("database-url"),
            "URD_MASTER_KEY_FILE": f"{self.etc}/master.key"}, URD_TRUSTED_PROXIES="127.0.0.1", **more)
        self.addCleanup(server.close)
        return server.ready()

    def test_a_first_installation_serves_its_realm(self):
        done = self.setup("--email", "ann@example.org", "--display-name", "Acme", "--json")
        parts = json.loads(done.stdout)["parts"]
        self.assertEqual({part["result"] for part in parts}, {"made", "found"}, parts)
        self.assertEqual([part["part"] for part in parts if part["result"] == "found"],
                         [f"settings in {self.etc}/urd.env"])
        self.assertEqual(os.stat(self.etc).st_mode & 0o777, 0o700)
        for name in SECRETS:
            self.assertEqual(os.stat(f"{self.etc}/{name}").st_mode & 0o777, 0o600, name)
            self.assertNotIn(self.secret(name), done.stdout + done.stderr, name)
        server = self.served()
        headers = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1",
                   "X-Forwarded-Host": HOST}
        request = urllib.request.Request(server.url + "/.well-known/openid-configuration", headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            self.assertEqual(json.load(answer)["issuer"], f"https://{HOST}")
        request = urllib.request.Request(server.url + "/account", headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            self.assertIn("Acme", answer.read().decode())
        self.assertEqual(
            self.sql("select count(*) from urd.event where realm = 'main' and type = 'account.registered'"), "1")

    def test_what_is_there_stays_as_it_is(self):
        mail = ("--smtp-host", "mail.example.org", "--smtp-user", "urd", "--smtp-password", "a b\"c$d")
        self.setup("--email", "ann@example.org", *mail)
        files, heads = self.files(), self.sql("select realm, position from urd.realm_log order by 1")
        self.assertEqual(files["urd.env"], "URD_SMTP_HOST=mail.example.org\nURD_SMTP_USER=urd\n")
        self.assertEqual(files["smtp-password"], 'a b"c$d\n')
        again = self.setup("--email", "ann@example.org", "--smtp-host", "other.example.org", "--json")
        parts = json.loads(again.stdout)["parts"]
        self.assertEqual({part["result"] for part in parts}, {"found"}, parts)
        self.assertEqual(self.files(), files)
        self.assertEqual(self.sql("select realm, position from urd.realm_log order by 1"), heads)

    def test_what_cannot_be_said_of_a_realm_is_refused_before_anything_is_made(self):
        for words, host in ((("--email", "nobody"), HOST), (("--email", "ann@example"), HOST), ((), "ID.Example.org"),
                            ((), "https://id.example.org"), ((), "")):
            self.assertIn(" must be a ", run(*self.words(*words, host=host)).stderr)
            self.assertFalse(os.path.exists(self.etc), (words, host))
        self.assertEqual(self.sql("select count(*) from pg_database where datname = 'urd'", "postgres"), "0")

    def test_a_realm_that_an_interruption_left_without_its_domain_gets_it(self):
        self.setup()
        values = {"URD_DATABASE_URL": self.secret("database-url"), "URD_MASTER_KEY_FILE": f"{self.etc}/master.key"}
        file = pathlib.Path(self.folder, "realm.yaml")
        file.write_text("realms: {main: {settings: {primary_domain: null}}}")
        self.assertEqual(run("apply", str(file), "--yes", **values).returncode, 0)
        self.setup()
        self.assertIn(f"primary_domain: {HOST}", run("export-config", "--realm", "main", **values).stdout)

    def test_a_password_is_taken_from_a_file(self):
        place = pathlib.Path(self.folder, "given")
        place.write_text("a b\"c$d\n")
        done = run(*self.words("--smtp-host", "mail.example.org"), URD_SMTP_PASSWORD_FILE=str(place))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files()["smtp-password"], 'a b"c$d\n')

    def test_lost_passwords_are_made_anew_and_a_lost_key_is_not(self):
        self.setup()
        before = self.files()
        os.unlink(f"{self.etc}/database-url")
        self.setup()
        self.assertEqual(self.secret("master.key"), before["master.key"].strip())
        self.assertNotEqual(self.files()["database-url"], before["database-url"])
        self.served()
        os.unlink(f"{self.etc}/master.key")
        told = self.setup(code=1).stderr
        self.assertIn("holds a log", told)
        self.assertIn(f"{self.etc}/master.key", told)
        self.assertFalse(os.path.exists(f"{self.etc}/master.key"))

    def test_a_setup_that_is_killed_at_any_moment_is_run_again(self):
        moments = random.Random(47)
        for attempt in range(12):
            process = subprocess.Popen(
                [str(BINARY), *self.words("--email", "ann@example.org")], env=environment(),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(timeout=moments.uniform(0, 0.4 * (attempt + 1)))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.setup("--email", "ann@example.org")
        self.served()
        for kind in ("realm.created", "account.registered"):
            self.assertEqual(
                self.sql(f"select count(*) from urd.event where realm = 'main' and type = '{kind}'"), "1")
        self.assertEqual({name for name in os.listdir(self.etc) if not name.startswith(".") and ".new" not in name}, set(SECRETS))

    def test_of_many_at_once_each_leaves_one_key_and_one_realm(self):
        for _ in range(3):
            several = [subprocess.Popen(
                [str(BINARY), *self.words("--email", "ann@example.org")], env=environment(),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for _ in range(8)]
            told = [(one.communicate(timeout=PATIENCE)[1], one.returncode) for one in several]
            self.assertIn(0, [code for _, code in told], told)
            for text, code in told:
                self.assertTrue(code == 0 or "another setup is under way" in text, text)
            self.served().end()
            shutil.rmtree(self.etc)
            self.sql("drop database urd", "postgres")

    def test_what_is_in_the_way_is_named(self):
        self.setup()
        told = self.setup("--realm", "other", code=1).stderr
        self.assertIn(f"the host {HOST} belongs to another realm", told)
        self.assertIn("--host is missing", run("setup", "--directory", self.etc).stderr)
        self.assertIn("cannot be the name of a realm", self.setup("--realm", "No!", code=2).stderr)
        shutil.rmtree(self.etc)
        self.sql("alter database urd owner to postgres", "postgres")
        self.assertIn("does not belong to urd_owner", self.setup(code=1).stderr)
        self.database("pg_ctl", "-D", f"{self.sockets}/data", "-m", "fast", "stop")
        self.assertNotEqual(self.setup(code=1).stderr, "")
        self.assertFalse(os.path.exists(f"{self.etc}/master.key"))
        self.start_database()

    def test_a_person_at_a_terminal_is_asked(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [str(BINARY), "setup", "--directory", self.etc, "--database-admin-url", self.administrator],
            env=environment(), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        shown = b""
        for question, answer in ((b"people sign in: ", HOST), (b"person (none): ", "ann@example.org")):
            while not shown.endswith(question):
                shown += os.read(ours, 1000)
            os.write(ours, answer.encode() + b"\n")
        while f"https://{HOST}/account".encode() not in shown:
            shown += os.read(ours, 1000)
        self.assertEqual(process.wait(timeout=PATIENCE), 0, shown)
        os.close(ours)
        self.assertEqual(
            self.sql("select count(*) from urd.event where realm = 'main' and type = 'account.registered'"), "1")
