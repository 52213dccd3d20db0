"""Three nodes, and a PostgreSQL with a standby, each in a network of its own, and what can happen to them."""

import contextlib
import json
import mmap
import os
import pathlib
import re
import shutil
import signal
import socketserver
import subprocess
import tempfile
import threading
import time
import urllib.request

import front_door
from front_door import BINARY, environment, eventually, run, written

PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))
REALM, HOST, PORT = "main", "history.localhost", 8080
OUTSIDE = "10.77.0.1"
NODES = 3
SERVERS = 2
# Everything is on one machine: what one side does not hear of within this time it never will.
SETTINGS = """
listen_addresses = '*'
unix_socket_directories = '{folder}'
fsync = off
wal_level = replica
wal_log_hints = on
hot_standby = on
max_wal_size = 96MB
min_wal_size = 32MB
wal_keep_size = 64MB
wal_sender_timeout = 4s
wal_receiver_timeout = 4s
wal_retrieve_retry_interval = 500ms
tcp_keepalives_idle = 3
tcp_keepalives_interval = 1
tcp_keepalives_count = 3
max_connections = 120
shared_buffers = 64MB
log_min_messages = warning
"""
# A clock that is set while the process runs: seconds in a file that it maps.
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static volatile long *off;

__attribute__((constructor)) static void map(void) {
    int file = open(getenv("CLOCK_FILE"), O_RDONLY);
    void *place = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (place != MAP_FAILED) off = place;
}

int clock_gettime(clockid_t id, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    if (result == 0 && off && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) time->tv_sec += *off;
    return result;
}
"""


def may_divide_networks():
    """Whether this process may make networks and mounts of its own."""
    probe = ["unshare", "--net", "--mount", "sh", "-c", "ip link set lo up && iptables -L -n >/dev/null"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(probe, capture_output=True, timeout=20).returncode == 0
    return False


def shell(*words, strict=True):
    return subprocess.run(
        [str(word) for word in words], check=strict, capture_output=True, text=True, timeout=120, cwd="/tmp").stdout


class Network:
    """A network of its own, with one address at the bridge."""

    def __init__(self, name, address):
        self.name, self.address = name, address
        self.holder = subprocess.Popen(
            ["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL, start_new_session=True)
        own = os.stat("/proc/self/ns/net").st_ino
        eventually(lambda: os.stat(f"/proc/{self.holder.pid}/ns/net").st_ino != own, "a network of its own", 10)
        shell("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", self.holder.pid)
        shell("ip", "link", "set", name, "master", "switch", "up")
        self.run("ip", "addr", "add", f"{address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.run("ip", "link", "set", "lo", "up")

    @property
    def prefix(self):
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--"]

    def run(self, *words, strict=True):
        return shell(*self.prefix, *words, strict=strict)

    def cut(self, other):
        """Nothing passes between here and there any more, in silence."""
        for chain, flag in (("INPUT", "-s"), ("OUTPUT", "-d")):
            self.run("iptables", "-w", "-I", chain, flag, other, "-j", "DROP")

    def join(self, other):
        for chain, flag in (("INPUT", "-s"), ("OUTPUT", "-d")):
            self.run("iptables", "-w", "-D", chain, flag, other, "-j", "DROP", strict=False)

    def join_all(self):
        self.run("iptables", "-w", "-F")

    def close(self):
        self.holder.kill()
        self.holder.wait()


class Inbox(socketserver.ThreadingTCPServer):
    """A mail server that keeps the last code of each address."""

    allow_reuse_address = daemon_threads = True

    def __init__(self):
        super().__init__((OUTSIDE, 2525), Session)
        self.codes = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Session(socketserver.StreamRequestHandler):
    timeout = 30

    def handle(self):
        with contextlib.suppress(OSError):
            self.say("220 history")
            to = None
            while line := self.rfile.readline().decode(errors="replace").strip():
                word = line[:4].upper()
                if word == "RCPT":
                    to = re.search(r"<([^>]+)>", line)[1].lower()
                if word == "DATA":
                    self.say("354 go on")
                    lines = []
                    while (part := self.rfile.readline()) not in (b".\r\n", b""):
                        lines.append(part.decode(errors="replace"))
                    if found := re.search(r"^\s*(\d{6})\s*$|\b(\d{6})\b", "".join(lines).partition("\r\n\r\n")[2], re.M):
                        self.server.codes.setdefault(to, []).append(found[1] or found[2])
                self.say("221 bye" if word == "QUIT" else "250 history")
                if word == "QUIT":
                    return

    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")


class Database:
    """One server of PostgreSQL."""

    def __init__(self, number, folder, disk):
        self.number = number
        self.network = Network(f"db{number}", f"10.77.0.2{number}")
        self.address = self.network.address
        self.folder = f"{folder}/db{number}"
        os.mkdir(self.folder)
        self.data = f"{self.folder}/data"
        os.mkdir(self.data)
        self.disk = disk
        shell("mount", "-t", "tmpfs", "-o", f"size={disk},mode=0700", "history", self.data)
        for place in (self.folder, self.data):
            shutil.chown(place, "postgres", "postgres")
        os.chmod(self.data, 0o700)
        self.process = self.log = None

    def program(self, name, *words, strict=True):
        return subprocess.run(
            [*self.network.prefix, "setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
             PROGRAMS / name, *words], cwd="/tmp", check=strict, capture_output=True, text=True, timeout=300)

    def make(self):
        self.program("initdb", "-N", "-A", "trust", "-U", "postgres", "-D", self.data)
        with open(f"{self.data}/postgresql.conf", "a") as file:
            file.write(SETTINGS.format(folder=self.folder))
        self.trust()

    def trust(self):
        pathlib.Path(self.data, "pg_hba.conf").write_text(
            "local all all trust\nhost all all 10.77.0.0/24 trust\nhost replication all 10.77.0.0/24 trust\n")

    def start(self):
        self.log = open(f"{self.folder}/log", "a")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self.data}/postmaster.pid")
        self.process = subprocess.Popen(
            [*self.network.prefix, "setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
             str(PROGRAMS / "postgres"), "-D", self.data, "-c", f"unix_socket_directories={self.folder}"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd="/tmp", start_new_session=True)

    def up(self, patience=60):
        eventually(lambda: self.ask("select 1") == "1", f"db{self.number} answers", patience)

    def family(self):
        """The server and all its processes."""
        if not self.process or self.process.poll() is not None:
            return []
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [self.process.pid, *map(int, listed.stdout.split())]

    def signal(self, number):
        for pid in self.family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        """All processes at once, as a machine that loses its power; what they wrote is on the disk."""
        pids = self.family()
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()
            self.log.close()
        # Shared memory is gone with the last of them.
        eventually(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), "all have ended", 30)
        self.process = None

    def ask(self, statement, strict=False, database="urd", patience=30):
        """As the superuser, past all networks; empty where it cannot be asked."""
        try:
            told = subprocess.run(
                ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statement,
                 f"postgresql://postgres@/{database if database else 'postgres'}?host={self.folder}&connect_timeout=3"],
                capture_output=True, text=True, timeout=patience)
        except subprocess.TimeoutExpired:
            if strict:
                raise
            return ""
        if strict and told.returncode:
            raise AssertionError(f"{statement}: {told.stderr}")
        return told.stdout.strip()

    def set(self, name, value):
        self.ask(f"alter system set {name} = '{value}'", strict=True)
        self.ask("select pg_reload_conf()", strict=True)

    def fill(self):
        """Nothing is left, or next to nothing where the server writes just then: the disk is no larger than what is on it."""
        for turn in range(100):
            facts = os.statvfs(self.data)
            with contextlib.suppress(subprocess.CalledProcessError):
                return self.resize((facts.f_blocks - facts.f_bfree + turn) * facts.f_frsize)
        raise AssertionError("the disk does not get full")

    def free(self):
        self.resize(self.disk)

    def resize(self, size):
        shell("mount", "-o", f"remount,size={size}", self.data)

    def close(self):
        with contextlib.suppress(Exception):
            self.signal(signal.SIGCONT)
            self.kill()
        shell("umount", "-l", self.data, strict=False)
        self.network.close()


class Node:
    """One `urd serve`, with a clock that can be set."""

    def __init__(self, number, cluster):
        self.number, self.cluster = number, cluster
        self.network = Network(f"node{number}", f"10.77.0.1{number}")
        self.address = self.network.address
        self.log = open(f"{cluster.folder}/node{number}.log", "w+")
        self.clock_file = f"{cluster.folder}/clock{number}"
        pathlib.Path(self.clock_file).write_bytes(bytes(8))
        self.process = None

    def start(self):
        settings = {
            **self.cluster.settings, "URD_LISTEN_ADDRESS": "0.0.0.0", "URD_LISTEN_PORT": str(PORT),
            "URD_PRIVATE_ADDRESS": "0.0.0.0", "URD_PRIVATE_PORT": "8081", "URD_REQUEST_DEADLINE": "4s",
            "URD_SMTP_HOST": OUTSIDE, "URD_SMTP_PORT": "2525", "URD_SMTP_SECURITY": "none",
            "LD_PRELOAD": self.cluster.clock, "CLOCK_FILE": self.clock_file}
        self.process = subprocess.Popen(
            [*self.network.prefix, str(BINARY), "serve"], env=environment(**settings), stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, start_new_session=True)

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"node {self.number} ended by itself:\n{written(self.log)[-3000:]}")
        try:
            with urllib.request.urlopen(f"http://{self.address}:8081/health/ready", timeout=3) as answer:
                return answer.status == 200
        except OSError:
            return False

    def set_clock(self, seconds):
        with open(self.clock_file, "r+b") as file, mmap.mmap(file.fileno(), 8) as place:
            place[:] = seconds.to_bytes(8, "little", signed=True)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def signal(self, number):
        self.process.send_signal(number)

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        self.log.close()
        self.network.close()


class Cluster:
    """All of it. Run it in a process whose networks and mounts are its own."""

    def __init__(self, disk="2g"):
        self.folder = tempfile.mkdtemp(prefix="urd-history-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.parts, self.losses = [], []
        try:
            self.make(disk)
        except BaseException:
            self.close()
            raise

    def make(self, disk):
        shell("ip", "link", "set", "lo", "up")
        shell("ip", "link", "add", "name", "switch", "type", "bridge")
        shell("ip", "addr", "add", f"{OUTSIDE}/24", "dev", "switch")
        shell("ip", "link", "set", "switch", "up")
        self.inbox = Inbox()
        self.databases = [Database(number + 1, self.folder, disk) for number in range(SERVERS)]
        self.parts += self.databases
        self.primary, self.standby = self.databases
        self.primary.make()
        self.primary.start()
        eventually(lambda: self.primary.ask("select 1", database="") == "1", "the database answers", 60)
        self.install()
        self.rebuild_standby()
        self.clock = f"{self.folder}/clock.so"
        source = pathlib.Path(self.folder, "clock.c")
        source.write_text(CLOCK)
        compiler = shutil.which("cc") or shutil.which("clang")
        shell(compiler, "-shared", "-fPIC", "-o", self.clock, source, "-ldl")
        self.nodes = [Node(number + 1, self) for number in range(NODES)]
        self.parts += self.nodes
        for node in self.nodes:
            node.start()
        self.whole()

    def install(self):
        """Master key, roles, schema, realm and an administrator's key, as on a first day."""
        etc = f"{self.folder}/etc"
        made = run("setup", "--directory", etc, "--host", HOST, "--realm", REALM, "--database-admin-url",
                   f"postgresql://postgres@/postgres?host={self.primary.folder}")
        assert made.returncode == 0, made.stderr
        servers = ",".join(f"{database.address}:5432" for database in self.databases)
        os.mkdir(f"{self.folder}/checkpoints")
        self.settings = {
            "URD_DATABASE_URL": f"postgresql://urd_app@{servers}/urd",
            "URD_DATABASE_OWNER_URL": f"postgresql://urd_owner@{servers}/urd",
            "URD_MASTER_KEY_FILE": f"{etc}/master.key", "URD_CHECKPOINT_DIRECTORY": f"{self.folder}/checkpoints"}
        made = self.command("admin", "key", "create", "--name", "history", "--json")
        assert made.returncode == 0, made.stderr
        answer = json.loads(made.stdout)
        self.key, self.key_id = answer["key"], answer["id"]

    def command(self, *words):
        return run(*words, **self.settings)

    # What the standby is to the primary.

    def rebuild_standby(self):
        """The standby as a copy of what the primary has now, and from then on what is committed is on both."""
        standby, primary = self.standby, self.primary
        # Without it the server's control file is that of the timeline before, and nothing is rewound.
        primary.ask("checkpoint", strict=True, patience=120)
        conninfo = f"host={primary.address} port=5432 user=postgres application_name=standby connect_timeout=3"
        rewound = os.path.exists(f"{standby.data}/PG_VERSION") and not standby.program(
            "pg_rewind", "--no-sync", "-D", standby.data, "--source-server", conninfo + " dbname=postgres",
            strict=False).returncode
        if rewound:
            pathlib.Path(standby.data, "standby.signal").touch()
            shutil.chown(f"{standby.data}/standby.signal", "postgres")
            with open(f"{standby.data}/postgresql.auto.conf", "a") as file:
                file.write(f"primary_conninfo = '{conninfo}'\nsynchronous_standby_names = ''\n")
        else:
            for entry in pathlib.Path(standby.data).iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            standby.program("pg_basebackup", "-D", standby.data, "--no-sync", "--write-recovery-conf",
                            "--checkpoint=fast", "--wal-method=stream", "-d", conninfo)
        standby.start()
        # One that cannot follow after all is copied anew.
        try:
            standby.up(20)
            self.synchronize(20)
        except AssertionError:
            if not rewound:
                raise
            standby.kill()
            pathlib.Path(standby.data, "PG_VERSION").unlink()
            self.rebuild_standby()

    def synchronize(self, patience=60):
        reached = self.primary.ask("select pg_current_wal_lsn()", strict=True)
        eventually(
            lambda: self.primary.ask("select count(*) from pg_stat_replication where state = 'streaming'"
                                     f" and replay_lsn >= '{reached}'") == "1", "the standby follows", patience)
        self.primary.set("synchronous_standby_names", "*")
        eventually(
            lambda: self.primary.ask("select sync_state from pg_stat_replication") in ("sync", "quorum"),
            "the standby is synchronous", patience)

    def fail_over(self):
        """The primary dies, and the standby is the primary."""
        self.primary.signal(signal.SIGCONT)
        self.primary.kill()
        self.promote()

    def promote(self):
        self.standby.ask("select pg_promote()", strict=True)
        eventually(lambda: self.standby.ask("select pg_is_in_recovery()") == "f", "the standby takes writes", 60)
        self.primary, self.standby = self.standby, self.primary
        # It has nobody behind it until the other one is rebuilt.
        self.primary.set("synchronous_standby_names", "")

    def cut_off_standby(self):
        """What is committed from now on is on the primary alone, and acknowledged."""
        written = self.primary.ask("select pg_current_wal_lsn()", strict=True)
        eventually(
            lambda: self.standby.ask(f"select pg_last_wal_replay_lsn() >= '{written}'::pg_lsn") == "t",
            "the standby catches up", 30)
        moment = time.monotonic()
        self.standby.set("primary_conninfo", "")
        eventually(lambda: self.standby.ask("select count(*) from pg_stat_wal_receiver") == "0", "it is cut off", 30)
        self.primary.set("synchronous_standby_names", "")
        return moment

    def heads(self, database):
        rows = database.ask("select realm, epoch, position from urd.realm_log", strict=True)
        return {row.split("|")[0]: tuple(map(int, row.split("|")[1:])) for row in rows.splitlines()}

    def restore(self):
        """Both servers run, and one follows the other."""
        for database in self.databases:
            database.network.join_all()
            database.free()
            database.signal(signal.SIGCONT)
        if not self.primary.family():
            self.primary.process and self.primary.kill()
            self.primary.start()
        self.primary.up(120)
        try:
            if not self.standby.family():
                raise AssertionError
            self.synchronize(15)
        except AssertionError:
            self.standby.process and self.standby.kill()
            self.primary.set("synchronous_standby_names", "")
            self.rebuild_standby()

    # What all is well means.

    def heal(self):
        """Everything that was done to them is undone, and all of them serve."""
        for node in self.nodes:
            node.network.join_all()
            node.set_clock(0)
            if node.process.poll() is None:
                node.signal(signal.SIGCONT)
            else:
                node.start()
        self.restore()
        self.whole()

    def whole(self):
        for node in self.nodes:
            eventually(node.is_ready, f"node {node.number} is ready", 90)

    def accept_losses(self):
        """As the operator does who was told of a loss."""
        for realm in self.heads(self.primary):
            told = self.command("log", "accept", "--realm", realm)
            if size := re.search(r"--size (\d+)", told.stderr):
                done = self.command("log", "accept", "--realm", realm, "--size", size[1], "--yes")
                assert done.returncode == 0, done.stderr

    def close(self):
        for part in reversed(self.parts):
            part.close()
        if hasattr(self, "inbox"):
            self.inbox.shutdown()
        if os.environ.get("URD_HISTORY_KEEP") != "1":
            shutil.rmtree(self.folder, ignore_errors=True)


assert front_door
