"""`urd dev`, end to end: what it starts, what it leaves, and what it does when it is hurt."""

import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from front_door import BINARY, PATIENCE, FrontDoorCase, eventually, working_in


class Dev(FrontDoorCase):
    finds_nothing = True

    def test_dev_starts_and_describes_itself_in_dev_env(self):
        one = self.start().ready()
        self.assertEqual(stat.S_IMODE(os.stat(one.file).st_mode), 0o600)
        values = one.values()
        self.assertLessEqual(
            {
                "URD_URL", "URD_DATABASE_URL", "URD_DATABASE_OWNER_URL", "URD_ADMIN_KEY",
                "URD_REALM", "URD_CLIENT_ID", "URD_CLIENT_SECRET", "URD_MASTER_KEY_FILE",
                "URD_CHECKPOINT_DIRECTORY",
            },
            set(values),
        )
        self.assertEqual(values["URD_URL"], f"http://127.0.0.1:{one.port}")
        for line in pathlib.Path(one.file).read_text().splitlines():
            self.assertRegex(line, r"^URD_[A-Z_]+=[A-Za-z0-9%@:/._+=,-]*$")
        key = pathlib.Path(values["URD_MASTER_KEY_FILE"])
        self.assertEqual(stat.S_IMODE(key.stat().st_mode), 0o600)
        self.assertEqual(len(bytes.fromhex(key.read_text().strip())), 32)
        self.assertEqual(one.sql("select current_user"), "urd_owner")
        self.assertEqual(one.sql("show listen_addresses"), "")
        self.assertEqual(one.sql("select rolsuper from pg_roles where rolname = current_user"), "f")

    def test_dev_names_its_issuers(self):
        one = self.start().ready()
        port = one.port
        issuers = [f"http://localhost:{port} (demo)", f"http://demo.localhost:{port} (demo, app demo)",
                   f"http://flagship.localhost:{port} (flagship)",
                   f"http://127.0.0.1:{port} (verify)"]
        # It says so once dev.env is written.
        eventually(lambda: f"Urd is ready: http://localhost:{port}\n" in one.text(), "it says so")
        text = one.text()
        for issuer in issuers:
            self.assertIn(issuer, text)
        # Any other host leads to no realm, and says where they are.
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/.well-known/openid-configuration",
            headers={"Host": f"nobody.example:{port}"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)
        self.assertEqual(refused.exception.code, 404)
        answer = refused.exception.read().decode()
        for issuer in issuers:
            self.assertIn(issuer, answer)

    def test_dev_ends_on_each_signal_and_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                one = self.start().ready()
                self.assertEqual(one.end(number), 0, one.text())
                self.assert_nothing_left(one)

    def test_dev_under_nohup_outlives_the_terminal(self):
        one = self.start(prefix=["nohup"]).ready()
        one.process.send_signal(signal.SIGHUP)
        self.assertEqual(one.sql("select 1"), "1")
        self.assertIsNone(one.process.poll())
        self.assertEqual(one.end(signal.SIGTERM), 0)
        self.assert_nothing_left(one)

    def test_dev_can_be_ended_while_it_starts(self):
        one = self.start()
        eventually(lambda: os.path.exists(self.data + "/postgres"), "it began")
        self.assertEqual(one.end(), 0, one.text())
        self.assert_nothing_left(one)
        self.start().ready()

    def test_dev_keeps_its_data_and_keys_over_a_restart(self):
        first = self.start().ready()
        first.sql("create table public.kept (word text)")
        first.sql("insert into public.kept values ('here')")
        keys = first.values()
        first.end()
        second = self.start().ready()
        self.assertEqual(second.sql("select word from public.kept"), "here")
        for name in ("URD_ADMIN_KEY", "URD_CLIENT_ID", "URD_CLIENT_SECRET", "URD_REALM"):
            self.assertEqual(second.values()[name], keys[name])

    def test_devs_inbox_keeps_its_port_if_it_is_free(self):
        first = self.start().ready()
        place = first.values()["URD_INBOX_URL"]
        first.end()
        second = self.start().ready()
        self.assertEqual(second.values()["URD_INBOX_URL"], place)
        second.end()
        port = urllib.parse.urlsplit(place).port
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen()
            third = self.start().ready()
            self.assertNotEqual(third.values()["URD_INBOX_URL"], place)

    def test_dev_fresh_starts_empty_and_keeps_foreign_files(self):
        first = self.start().ready()
        first.sql("create table public.kept (word text)")
        key = pathlib.Path(self.data, "master.key").read_text()
        first.end()
        foreign = pathlib.Path(self.data, "notes.txt")
        foreign.write_text("mine")
        second = self.start("--fresh").ready()
        self.assertEqual(second.sql("select to_regclass('public.kept') is null"), "t")
        self.assertNotEqual(pathlib.Path(self.data, "master.key").read_text(), key)
        self.assertEqual(foreign.read_text(), "mine")

    def test_dev_fresh_keeps_a_foreign_database(self):
        os.makedirs(self.data + "/postgres/data")
        uid = os.getuid() or 65534
        os.chown(self.data + "/postgres", uid, -1)
        pathlib.Path(self.data, "postgres/data/PG_VERSION").write_text("15\n")
        one = self.start("--fresh")
        self.assertEqual(one.process.wait(timeout=30), 1)
        self.assertIn("was not made by urd dev", one.text())
        self.assertTrue(os.path.exists(self.data + "/postgres/data/PG_VERSION"))

    def test_a_second_dev_on_the_same_data_is_refused(self):
        first = self.start().ready()
        second = self.start()
        self.assertEqual(second.process.wait(timeout=30), 1)
        self.assertIn(f"already runs on {self.data} (process {first.process.pid})", second.text())
        self.assertEqual(first.sql("select 1"), "1")

    def test_two_devs_on_their_own_data_run_together(self):
        first = self.start().ready()
        second = self.start(data=self.data + "-2").ready()
        self.assertNotEqual(first.values()["URD_DATABASE_URL"], second.values()["URD_DATABASE_URL"])

    def test_dev_names_a_port_in_use(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            port = listener.getsockname()[1]
            one = self.start(port=port)
            self.assertEqual(one.process.wait(timeout=30), 1)
        self.assertIn(f"Port {port} is taken", one.text())
        self.assertIn("URD_PORT=", one.text())

    def test_dev_does_not_replace_a_lost_master_key(self):
        first = self.start().ready()
        first.end()
        os.unlink(self.data + "/master.key")
        second = self.start()
        self.assertEqual(second.process.wait(timeout=30), 1)
        self.assertIn("master key is not", second.text())
        self.assertFalse(os.path.exists(self.data + "/master.key"))

    def test_dev_runs_in_a_folder_with_a_long_name_or_spaces(self):
        for name in ("x" * 150, "two words, and 'quotes'"):
            with self.subTest(name=name):
                one = self.start(data=os.path.join(self.folder, name)).ready()
                self.assertEqual(one.sql("select 1"), "1")
                host = one.values()["URD_DATABASE_URL"].split("@")[1].split(":")[0]
                folder = urllib.parse.unquote(host)
                self.assertEqual(one.end(), 0)
                self.assert_nothing_left(one)
                if folder.startswith("/tmp/urd-socket-"):
                    self.assertFalse(os.path.exists(folder))


class Hurt(FrontDoorCase):
    finds_nothing = True

    def test_a_killed_dev_takes_postgresql_along(self):
        one = self.start().ready()
        one.sql("create table public.kept (word text)")
        one.end(signal.SIGKILL)
        self.assert_nothing_left(one)
        again = self.start().ready()
        self.assertEqual(again.sql("select to_regclass('public.kept') is null"), "f")

    def test_a_demo_history_that_was_cut_off_is_not_taken_for_whole(self):
        self.start().ready().end()
        one = self.start("--demo-history")
        eventually(lambda: "100 of 2000 people" in one.text(), "some of it is made")
        one.end(signal.SIGKILL)
        again = self.start("--demo-history")
        eventually(lambda: again.process.poll() is not None, "it ends")
        self.assertIn("cut off", again.text())
        self.assertIn("--fresh", again.text())

    def test_postgresql_that_is_killed_while_it_starts_is_started_again(self):
        one = self.start().ready()
        one.sql("create table public.kept (word text)")
        killed = set()
        deadline = time.monotonic() + PATIENCE
        # Seven processes, of which some have not begun to answer.
        while len(killed) < 7:
            self.assertLess(time.monotonic(), deadline, one.text())
            self.assertIsNone(one.process.poll(), one.text())
            try:
                server = one.postmaster()
                if server not in killed:
                    os.kill(server, signal.SIGKILL)
                    killed.add(server)
            except (OSError, ValueError, IndexError):
                pass  # there is none just now
            time.sleep(0.02)

        def answers():
            try:
                return one.sql("select to_regclass('public.kept') is null") == "f"
            except subprocess.CalledProcessError:
                return False
        eventually(answers, "it answers again")
        self.assertIn("does not start again", one.text())

    def test_a_server_left_behind_is_stopped_by_the_next_dev(self):
        one = self.start().ready()
        # Stopped, it cannot follow urd into death at once.
        server = one.postmaster()
        os.kill(server, signal.SIGSTOP)
        one.end(signal.SIGKILL)
        again = self.start()
        eventually(lambda: "left behind" in again.text(), "the leftover is noticed")
        os.kill(server, signal.SIGCONT)
        again.ready()
        self.assertNotEqual(again.postmaster(), server)
        self.assertEqual(again.sql("select 1"), "1")

    def test_a_pid_file_with_another_programs_number_does_no_harm(self):
        one = self.start().ready()
        one.end()
        file = pathlib.Path(one.cluster(), "postmaster.pid")
        file.write_text(f"{os.getpid()}\n{one.cluster()}\n0\n5432\n/nowhere\n\n")
        shutil.chown(file, os.stat(one.cluster()).st_uid, os.stat(one.cluster()).st_gid)
        again = self.start().ready()
        self.assertEqual(again.sql("select 1"), "1")

    def test_a_killed_server_is_restarted_by_dev(self):
        one = self.start().ready()
        server = one.postmaster()
        os.kill(server, signal.SIGKILL)

        def answers():
            try:
                return one.postmaster() != server and one.sql("select 1") == "1"
            except Exception:
                return False

        eventually(answers, "PostgreSQL is back")
        self.assertEqual(one.end(), 0)
        self.assert_nothing_left(one)


@unittest.skipUnless(os.getuid() == 0, "needs root")
class AsRoot(FrontDoorCase):
    finds_nothing = True

    def test_devs_server_does_not_run_as_root(self):
        one = self.start().ready()
        self.assertNotEqual(os.stat(f"/proc/{one.postmaster()}").st_uid, 0)

    def test_dev_as_root_in_a_private_folder_puts_its_database_elsewhere(self):
        os.chmod(self.folder, 0o700)
        one = self.start().ready()
        self.assertIn("who cannot enter", one.text())
        one.sql("create table public.kept (word text)")
        place = one.cluster()
        self.assertFalse(place.startswith(self.folder))
        one.end()
        again = self.start().ready()
        self.assertEqual(again.cluster(), place)
        self.assertEqual(again.sql("select to_regclass('public.kept') is null"), "f")
        again.end()
        fresh = self.start("--fresh").ready()
        self.assertFalse(os.path.exists(place))
        self.assertEqual(fresh.sql("select 1"), "1")

    def test_dev_runs_under_a_normal_user(self):
        binary = os.path.join(self.folder, "urd")
        shutil.copy(BINARY, binary)
        home = os.path.join(self.folder, "home")
        os.mkdir(home)
        shutil.chown(home, 65534, 65534)
        one = self.start(
            data=home + "/data",
            binary=binary,
            prefix=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"],
            cwd=home,
        ).ready()
        self.assertEqual(os.stat(f"/proc/{one.postmaster()}").st_uid, 65534)
        self.assertEqual(one.sql("select 1"), "1")
        self.assertEqual(one.end(), 0)
        self.assert_nothing_left(one)
        # What a user began, root goes on with.
        again = self.start(data=home + "/data").ready()
        self.assertEqual(os.stat(f"/proc/{again.postmaster()}").st_uid, 65534)


if __name__ == "__main__":
    unittest.main()
