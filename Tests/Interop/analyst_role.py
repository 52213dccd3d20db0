"""A role of PostgreSQL that reads the views of one realm, as analysts have it."""

import json
import subprocess
import uuid

from urd_process import PATIENCE


class Analyst:
    """A role that `urd analyst add` made."""

    def __init__(self, urd, realm):
        self.name = f"analyst_{uuid.uuid4().hex[:8]}"
        made = json.loads(urd.command(
            "analyst", "add", self.name, "--realm", realm, "--json").stdout)
        self.password = made["password"]
        self.address = urd.values["URD_DATABASE_OWNER_URL"].replace(
            "//urd_owner@", f"//{self.name}@")

    def psql(self, sql):
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.address], input=sql,
            env={"PGPASSWORD": self.password, "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, timeout=PATIENCE)

    def ask(self, sql):
        done = self.psql(sql)
        assert done.returncode == 0, (sql, done.stderr)
        return done.stdout.strip()

    def rows(self, sql):
        return json.loads(self.ask(f"select coalesce(json_agg(r), '[]') from ({sql.rstrip(';')}) r"))

    def refused(self, sql):
        done = self.psql(sql)
        assert done.returncode != 0, (sql, done.stdout)
        return done.stderr
