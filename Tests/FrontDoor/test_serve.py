"""`urd serve` on a PostgreSQL that somebody else runs (here: `urd dev` does)."""

import json
import os
import signal
import socket
import subprocess
import unittest

from front_door import (
    BINARY, PATIENCE, FrontDoorCase, Server, environment, eventually, run)


class Serve(FrontDoorCase):
    """One database for all of these: each test is a node beside it."""

    @classmethod
    def setUpClass(cls):
        cls.place = FrontDoorCase()
        FrontDoorCase.setUp(cls.place)
        cls.database = cls.place.start().ready()
        cls.values = cls.database.values()
        cls.clients = f"/api/admin/realms/{cls.values['URD_REALM']}/clients"

    @classmethod
    def tearDownClass(cls):
        FrontDoorCase.tearDown(cls.place)

    def serve(self, *words, **more):
        server = Server(more.pop("values", self.values), *words, **more)
        self.addCleanup(server.close)
        return server

    def refused(self, *words, **more):
        server = self.serve(*words, **more)
        code = server.process.wait(timeout=30)
        return code, server.text()

    def test_serve_runs_as_another_node_and_stops_in_order(self):
        server = self.serve().ready()
        status, body = server.ask(self.clients, key=self.values["URD_ADMIN_KEY"])
        self.assertEqual(status, 200, body)
        names = [item["client_id"] for item in json.loads(body)["items"]]
        self.assertIn(self.values["URD_CLIENT_ID"], names)
        self.assertEqual(server.ask(self.clients)[0], 401)
        self.assertEqual(server.end(), 0, server.text())
        self.assertTrue(server.lines("server.stopping"))

    def test_private_routes_are_on_the_private_listener_alone(self):
        server = self.serve().ready()
        self.assertEqual(server.ask("/health/live", private=True)[0], 200)
        status, body = server.ask("/metrics", private=True)
        self.assertEqual(status, 200)
        self.assertIn("# TYPE urd_", body)
        self.assertEqual(server.ask("/metrics")[0], 404)
        self.assertEqual(server.ask(self.clients, private=True)[0], 404)

    def test_serve_refuses_impossible_settings_with_a_remedy(self):
        for words, more, code, text in (
            (["--drian", "5s"], {}, 2, "did you mean --drain?"),
            ([], {"URD_LISTEN_PROT": "1"}, 2, "URD_LISTEN_PROT; did you mean URD_LISTEN_PORT?"),
            ([], {"URD_DATABASE_URL": ""}, 2, "database-url is not set"),
            ([], {"URD_MASTER_KEY_FILE": ""}, 2, "master-key-file is not set"),
            ([], {"URD_MASTER_KEY_FILE": "/nowhere/key"}, 1, "/nowhere/key"),
        ):
            with self.subTest(words=words, more=more):
                ended, output = self.refused(*words, **more)
                self.assertEqual(ended, code, output)
                self.assertIn(text, output)
                self.assertNotIn(self.values["URD_DATABASE_URL"], output)

    def test_too_few_files_or_too_little_memory_are_refused_at_the_start(self):
        for limit, text in (
            ("--nofile=100:100", "may open 100 files and sockets; it needs 320"),
            ("--nofile=300:300", "may open 300 files and sockets; it needs 320"),
            (f"--as={400 << 20}", "may map 400 MiB of addresses"),
            (f"--as={600 << 20}", "may map 600 MiB of addresses"),
            (f"--as={1200 << 20}", "may map 1200 MiB of addresses"),
        ):
            for words in (["serve"], ["dev", "--data", self.place.folder + "/small"]):
                with self.subTest(limit=limit, words=words):
                    ended = subprocess.run(
                        ["prlimit", limit, str(BINARY), *words],
                        env=environment(**self.values), stdin=subprocess.DEVNULL,
                        capture_output=True, text=True, timeout=PATIENCE)
                    self.assertEqual(ended.returncode, 1, ended.stderr)
                    self.assertIn(text, ended.stderr)
                    self.assertIn("in the unit", ended.stderr)
                    self.assertEqual(len(ended.stderr.splitlines()), 2, ended.stderr)

    def test_another_master_key_is_refused(self):
        key = os.path.join(self.place.folder, "other.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(os.urandom(32).hex())
        code, output = self.refused(URD_MASTER_KEY_FILE=key)
        self.assertEqual(code, 1, output)
        self.assertIn("another master key", output)
        settings = {**self.values, "URD_MASTER_KEY_FILE": key}
        for words in (["verify"], ["realm", "list"], ["keys", "rotate-realm", "--yes"]):
            result = run(*words, **settings)
            self.assertEqual(result.returncode, 1)
            self.assertIn("another master key", result.stderr)

    def test_a_command_says_that_its_database_cannot_be_reached(self):
        nowhere = "postgresql://urd_app@127.0.0.1:1/urd"
        for words in (["verify"], ["realm", "list"]):
            with self.subTest(words=words):
                result = run(
                    *words, URD_DATABASE_URL=nowhere,
                    URD_MASTER_KEY_FILE=self.values["URD_MASTER_KEY_FILE"])
                self.assertEqual(result.returncode, 1)
                self.assertIn("the database cannot be reached", result.stderr)
                self.assertIn("Connection refused", result.stderr)
                self.assertIn("urd doctor", result.stderr)
        doctor = run("doctor", URD_DATABASE_URL=nowhere)
        self.assertIn("port 1 failed: Connection refused", doctor.stdout)
        nobody = self.values["URD_DATABASE_URL"].replace("//urd_app@", "//nobody:hunter2@")
        doctor = run("doctor", URD_DATABASE_URL=nobody)
        self.assertIn('role "nobody" does not exist', doctor.stdout)
        self.assertNotIn("hunter2", doctor.stdout + doctor.stderr)

    def test_a_port_that_is_taken_is_named(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            port = listener.getsockname()[1]
            code, output = self.refused(URD_LISTEN_PORT=str(port))
        self.assertEqual(code, 1, output)
        self.assertIn(str(port), output)

    def test_secrets_come_from_files_and_credentials(self):
        secret = os.path.join(self.folder, "database_url")
        with open(secret, "w") as file:
            file.write(self.values["URD_DATABASE_URL"] + "\n")
        with open(self.values["URD_MASTER_KEY_FILE"]) as key:
            with open(os.path.join(self.folder, "master_key"), "w") as file:
                file.write(key.read())
        os.chmod(os.path.join(self.folder, "master_key"), 0o600)
        nothing = {"URD_DATABASE_URL": "", "URD_MASTER_KEY_FILE": ""}
        self.serve(**nothing, CREDENTIALS_DIRECTORY=self.folder).ready()
        self.serve(**{**nothing, "URD_MASTER_KEY_FILE": self.values["URD_MASTER_KEY_FILE"]},
                   URD_DATABASE_URL_FILE=secret).ready()

    def test_serve_takes_a_socket_over_and_reports_to_systemd(self):
        """As under systemd: a socket as descriptor 3, and a place to say that it is ready."""
        place = os.path.join(self.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, socket.socket() as open_:
            manager.bind(place)
            manager.settimeout(60)
            open_.bind(("127.0.0.1", 0))
            open_.listen()
            script = f'exec 3<&{open_.fileno()}; LISTEN_PID=$$ exec "$0" serve'
            server = self.serve(
                program=["sh", "-c", script, str(BINARY)],
                pass_fds=(open_.fileno(),),
                LISTEN_FDS="1",
                LISTEN_FDNAMES="public",
                NOTIFY_SOCKET=place,
                WATCHDOG_USEC="1000000",
            )
            server.url = f"http://127.0.0.1:{open_.getsockname()[1]}"

            def hears(word):
                for _ in range(100):
                    if word in manager.recv(4096).decode():
                        return True
                return False

            self.assertTrue(hears("READY=1"), server.text())
            self.assertTrue(hears("WATCHDOG=1"), server.text())
            self.assertEqual(server.ask("/")[0], 200)
            server.process.send_signal(signal.SIGTERM)
            self.assertTrue(hears("STOPPING=1"), server.text())
            self.assertEqual(server.process.wait(timeout=60), 0)

    def test_a_newer_schema_is_refused(self):
        self.database.sql(
            "insert into urd.migration (version, name, digest) values (999, 'later', '')"
        )
        try:
            check = run(
                "migrate", "--check",
                URD_DATABASE_OWNER_URL=self.values["URD_DATABASE_OWNER_URL"],
            )
            self.assertEqual(check.returncode, 1, check.stderr)
            self.assertIn("newer", check.stderr)
            code, output = self.refused()
            self.assertEqual(code, 1, output)
            self.assertIn("newer", output)
        finally:
            self.database.sql("delete from urd.migration where version = 999")

    def test_a_clock_that_differs_from_the_databases_is_logged_once(self):
        self.database.sql(
            "create schema later; create function later.clock_timestamp() returns timestamptz "
            "language sql as $$ select pg_catalog.clock_timestamp() + interval '1 hour' $$; "
            "grant usage on schema later to urd_app")
        address = self.values["URD_DATABASE_URL"] + "?options=-csearch_path%3Dlater,pg_catalog"
        told = self.serve(URD_DATABASE_URL=address).ready().lines("clock.differs")
        self.assertEqual([line["level"] for line in told], ["warning"])
        self.assertAlmostEqual(told[0]["milliseconds"], 3_600_000, delta=2000)
        self.assertEqual(self.serve().ready().lines("clock.differs"), [])
        doctor = run("doctor", URD_DATABASE_URL=address)
        self.assertRegex(doctor.stdout, r"the database's clock differs from ours by \d{7} ms")

    def test_the_doctor_finds_a_running_installation_sound(self):
        result = run(
            "doctor", "--json",
            URD_DATABASE_URL=self.values["URD_DATABASE_URL"],
            URD_DATABASE_OWNER_URL=self.values["URD_DATABASE_OWNER_URL"],
            URD_MASTER_KEY_FILE=self.values["URD_MASTER_KEY_FILE"],
        )
        self.assertEqual(result.returncode, 0, result.stdout)
        verdicts = {check["check"]: check["verdict"] for check in json.loads(result.stdout)["checks"]}
        for name in ("database", "role", "history", "durability", "schema", "mails", "master key",
                     "owner"):
            self.assertEqual(verdicts[name], "fine", name)

    def test_the_doctor_warns_of_a_superuser(self):
        address = self.values["URD_DATABASE_URL"].replace("urd_app@", "postgres@")
        result = run("doctor", "--json", URD_DATABASE_URL=address)
        self.assertEqual(result.returncode, 1)
        wrong = {c["check"] for c in json.loads(result.stdout)["checks"] if c["verdict"] == "wrong"}
        self.assertLessEqual({"role", "history"}, wrong)


class WithoutDatabase(FrontDoorCase):
    def test_serve_waits_for_postgresql_and_recovers_from_its_outages(self):
        first = self.start().ready()
        values = first.values()
        clients = f"/api/admin/realms/{values['URD_REALM']}/clients"
        key = values["URD_ADMIN_KEY"]
        first.end()
        # Started before PostgreSQL.
        server = Server(values)
        self.addCleanup(server.close)
        eventually(
            lambda: server.ask("/health/live", private=True)[0] == 200, "it lives before it is ready"
        )
        self.assertEqual(server.ask("/health/ready", private=True)[0], 503)
        self.assertIn(server.ask(clients, key=key)[0], (0, 503))
        again = self.start().ready()
        server.ready()
        self.assertEqual(server.ask(clients, key=key)[0], 200)
        # Gone: no 4xx because of an outage.
        again.end()
        status, body = server.ask(clients, key=key)
        self.assertEqual(status, 503, body)
        eventually(
            lambda: server.ask("/health/ready", private=True)[0] == 503, "it says that it isn't ready"
        )
        self.assertIsNone(server.process.poll())
        self.start().ready()
        server.ready()
        eventually(lambda: server.ask(clients, key=key)[0] == 200, "it answers again")
        self.assertEqual(server.end(), 0)

    def test_serve_can_be_stopped_while_it_waits_for_postgresql(self):
        key = os.path.join(self.folder, "key")
        with open(key, "w") as file:
            file.write(os.urandom(32).hex())
        os.chmod(key, 0o600)
        server = Server(
            {
                "URD_DATABASE_URL": f"postgresql://urd_app@{'%2Fnowhere'}:5432/urd",
                "URD_MASTER_KEY_FILE": key,
            }
        )
        self.addCleanup(server.close)
        eventually(
            lambda: server.ask("/health/live", private=True)[0] == 200, "it lives without a database"
        )
        self.assertEqual(server.end(), 0, server.text())


if __name__ == "__main__":
    unittest.main()
