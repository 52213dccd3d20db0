"""A running Urd with a standby of its database, for failovers that lose the tail of the log."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.parse

from urd_process import PATIENCE, Client, Server, Urd, eventually

ROOTS = pathlib.Path("/usr/lib/postgresql")


class StandbyPair:
    """The PostgreSQL of an `urd dev`, and a server that streams from it asynchronously.

    In order: `cut_off`, and what is committed from then on is lost; `fail_over`, after which the
    standby is the primary; `bring_back`, after which the old primary is there again, as it was, and
    takes writes as if nothing had happened.

    The node of `urd dev` knows the first primary alone. `node` starts one that knows both."""

    def __init__(self, **environment):
        """The environment is of the standby's server."""
        self.environment = environment
        self.urd = Urd()
        self.nodes = []
        self.server = None
        self.folder = tempfile.mkdtemp(prefix="urd-standby-", dir="/tmp")
        try:
            self.make()
        except BaseException:
            self.close()
            raise

    def make(self):
        os.chmod(self.folder, 0o755)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        place = re.search(r"@([^/]+)/", self.urd.values["URD_DATABASE_URL"])[1]
        host, self.port = place.rsplit(":", 1)
        self.hosts = [host, urllib.parse.quote(self.folder, safe="")]
        self.address = self.at(*self.hosts)
        subprocess.run(
            [*self.as_server("pg_basebackup"), "-D", f"{self.folder}/data", "--no-sync",
             "--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream",
             "-d", self.at(self.hosts[0], role="postgres")],
            check=True, capture_output=True, timeout=PATIENCE, cwd="/")
        self.log = open(os.path.join(self.folder, "log"), "w")
        self.server = subprocess.Popen(
            [*self.as_server("postgres"), "-D", f"{self.folder}/data", "-c", "listen_addresses=",
             "-c", f"unix_socket_directories={self.folder}", "-c", f"port={self.port}",
             "-c", "fsync=off"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd="/",
            env={**os.environ, **self.environment}, start_new_session=True)
        eventually(lambda: self.standby("select 1", strict=False) == "1", "the standby answers")

    @staticmethod
    def as_server(program):
        newest = max(ROOTS.iterdir(), key=lambda path: int(path.name))
        command = [str(newest / "bin" / program)]
        return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command

    def at(self, *hosts, role="urd_app"):
        places = ",".join(f"{host}:{self.port}" for host in hosts)
        return f"postgresql://{role}@{places}/urd"

    def node(self, **settings):
        """A node whose address names both servers, the first primary first."""
        settings = {"URD_DATABASE_URL": self.address, **settings}
        server = Server(self.urd.values, **settings)
        self.nodes.append(server)
        server.api = Client(server.url, self.urd.key)
        return server.ready()

    def psql(self, host, statement, strict=True):
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.at(host, role="postgres"), "-c",
             statement],
            capture_output=True, text=True, check=strict, timeout=PATIENCE).stdout.strip()

    def primary(self, statement, **more):
        return self.psql(self.hosts[0], statement, **more)

    def standby(self, statement, **more):
        return self.psql(self.hosts[1], statement, **more)

    def cut_off(self):
        written = self.primary("select pg_current_wal_lsn()")
        eventually(
            lambda: self.standby(f"select pg_last_wal_replay_lsn() >= '{written}'::pg_lsn") == "t",
            "the standby catches up")
        self.standby("alter system set primary_conninfo = ''")
        self.standby("select pg_reload_conf()")
        eventually(
            lambda: self.standby("select count(*) from pg_stat_wal_receiver") == "0",
            "the standby receives nothing more")

    def holder(self, service):
        return self.primary(
            f"select holder from urd.lease where name = '{service}' and holder is not null")

    def take_over(self, service):
        """The node of `urd dev` knows the old primary alone: it is frozen until another one leads a service."""
        before = eventually(lambda: self.holder(service), "a node leads")
        os.kill(self.urd.pid, signal.SIGSTOP)
        eventually(lambda: self.holder(service) not in ("", before), "another one does")

    def postmaster(self):
        """Of the standby."""
        return int(pathlib.Path(self.folder, "data/postmaster.pid").read_text().split("\n")[0])

    def signal_standby(self, number):
        """The whole server, as if its machine were stopped or went on."""
        postmaster = self.postmaster()
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(postmaster)], capture_output=True, text=True)
        # runuser stops itself with its child, and does not go on with it.
        for pid in [self.server.pid, postmaster, *map(int, children.stdout.split())]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def fail_over(self):
        """The primary dies, and `urd dev` does not start it again before `bring_back`."""
        postmaster = self.urd.run.postmaster()
        os.kill(self.urd.pid, signal.SIGSTOP)
        os.kill(postmaster, signal.SIGQUIT)
        eventually(lambda: not self.primary("select 1", strict=False), "the primary is gone")
        self.promote()

    def promote(self):
        self.standby("select pg_promote()")
        eventually(
            lambda: self.standby("select pg_is_in_recovery()") == "f", "the standby takes writes")

    def bring_back(self):
        os.kill(self.urd.pid, signal.SIGCONT)
        eventually(
            lambda: self.primary("select 1", strict=False) == "1", "the old primary is back")

    def close(self):
        for node in self.nodes:
            node.api.close()
            node.close()
        if self.urd.alive():
            os.kill(self.urd.pid, signal.SIGCONT)
        self.urd.close()
        if self.server:
            if self.server.poll() is None:
                self.signal_standby(signal.SIGCONT)
                # What the server says to its parent does not pass by runuser.
                os.kill(self.postmaster(), signal.SIGQUIT)
                self.server.wait(timeout=PATIENCE)
            self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
