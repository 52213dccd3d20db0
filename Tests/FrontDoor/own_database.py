"""A PostgreSQL of a test's own, beside that of `urd dev`."""

import os
import pathlib
import shutil
import subprocess

from front_door import PATIENCE, FrontDoorCase

PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))


class OwnDatabase(FrontDoorCase):
    """Each test has a PostgreSQL of its own, of which the superuser alone needs no password."""

    settings = "-c fsync=off"

    def setUp(self):
        super().setUp()
        self.sockets = f"{self.folder}/postgres"
        os.mkdir(self.sockets)
        if os.geteuid() == 0:
            shutil.chown(self.sockets, "postgres")
        self.database("initdb", "-N", "-A", "trust", "-U", "postgres", "-D", f"{self.sockets}/data")
        hba = pathlib.Path(self.sockets, "data/pg_hba.conf")
        hba.write_text("local all postgres trust\nlocal all all scram-sha-256\n")
        self.start_database()

    def tearDown(self):
        self.stop_database()
        super().tearDown()

    def database(self, program, *words, **more):
        return subprocess.run(
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", PROGRAMS / program, *words]
            if os.geteuid() == 0 else [PROGRAMS / program, *words],
            cwd="/tmp", check=True, text=True, stdout=subprocess.DEVNULL, timeout=PATIENCE, **more)

    def start_database(self):
        options = f"-c listen_addresses= -c unix_socket_directories={self.sockets} {self.settings}"
        self.database("pg_ctl", "-D", f"{self.sockets}/data", "-o", options, "-w", "-l",
                      f"{self.sockets}/log", "start")

    def stop_database(self):
        """As a crash would."""
        self.database("pg_ctl", "-D", f"{self.sockets}/data", "-m", "immediate", "stop")

    @property
    def administrator(self):
        return f"postgresql://postgres@/postgres?host={self.sockets}"

    def sql(self, statement, database="urd"):
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statement,
             f"postgresql://postgres@/{database}?host={self.sockets}"],
            check=True, capture_output=True, text=True, timeout=PATIENCE).stdout.strip()
