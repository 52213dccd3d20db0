"""What the tests of the front door share: starting `urd`, and looking at what it left."""

import fcntl
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("URD_BINARY", ROOT / ".build" / "debug" / "urd"))
PORTS = 300
FIRST_PORT = 20_000 + PORTS * int(os.environ.get("FRONT_DOOR_RUN", "39"))
PATIENCE = 90  # a slow machine under load; a test never waits longer than it must


turn = itertools.count(random.SystemRandom().randrange(PORTS))


def free_port():
    """From a range that is this run's own, and not from where the system takes ports for
    connections that go out: nobody else has it by the time that it is listened on again. One
    after the other, so that two who ask before they listen never get the same."""
    while True:
        port = FIRST_PORT + next(turn) % PORTS
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def environment(**more):
    """Ours without any setting of Urd, so that the caller's do not leak in."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("URD_", "PG")) and name != "CREDENTIALS_DIRECTORY"
    }
    clean.update(more)
    return clean


def run(*words, **more):
    """Runs a command of urd to its end."""
    return subprocess.run(
        [str(BINARY), *words],
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def working_in(folder):
    """The numbers of all processes whose working folder is in this one."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            place = os.readlink(f"/proc/{entry}/cwd")
        except OSError:
            continue
        if place == folder or place.startswith(folder + "/"):
            found.append(int(entry))
    return found


def eventually(condition, what, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError(f"did not happen within {patience} s: {what}")


def written(file):
    """All that a program has written so far. Its place in the file is the program's own too, so it
    must not be moved: what comes next would be written over the beginning."""
    number = file.fileno()
    return os.pread(number, os.fstat(number).st_size, 0).decode(errors="replace")


def hear_hangups():
    """Whoever runs the tests under nohup ignores them, and so would all that is started here."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def prepared(data, *words):
    """Copies what a first `urd dev` with these words leaves, which one test makes for all: a first start takes four
    times as long as one that finds its folder. Without FRONT_DOOR_PREPARED, the folder for it, nothing is copied."""
    place = os.environ.get("FRONT_DOOR_PREPARED")
    if not place or os.path.exists(data) or not set(words) <= {"--demo-history"}:
        return
    first = os.path.join(place, "history" if words else "plain")
    with open(first + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(first):
            one = Run(first + ".part", *words)
            try:
                one.ready()
            finally:
                one.end(signal.SIGTERM)
                one.output.close()
            os.rename(first + ".part", first)
    subprocess.run(["cp", "-a", first, data], check=True)
    # Its private port would be that of all copies.
    file = pathlib.Path(data, "dev.env")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith("URD_PRIVATE_URL=")))


class Run:
    """One `urd dev`."""

    patience = PATIENCE

    def __init__(self, data, *words, port=None, prefix=(), binary=BINARY, cwd=None, **more):
        self.data = str(data)
        self.port = port or free_port()
        self.file = os.path.join(self.data, "dev.env")
        self.output = tempfile.TemporaryFile(mode="w+")
        if "--demo-history" in words:
            # A month of sign-ins is written first.
            self.patience = 4 * PATIENCE
        before = self.stamp()
        self.process = subprocess.Popen(
            [*prefix, str(binary), "dev", *words],
            env=environment(URD_DATA=self.data, URD_PORT=str(self.port), **more),
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=cwd,
            preexec_fn=hear_hangups,
        )
        self.before = before

    def stamp(self):
        try:
            facts = os.stat(self.file)
            return (facts.st_mtime_ns, facts.st_ino)
        except OSError:
            return None

    def text(self):
        return written(self.output)

    def ready(self):
        def is_ready():
            if self.process.poll() is not None:
                raise AssertionError(f"urd dev ended ({self.process.returncode}):\n{self.text()}")
            return self.stamp() not in (None, self.before)

        eventually(is_ready, "dev.env is written", self.patience)
        return self

    def values(self):
        """dev.env as a shell reads it."""
        script = f'set -a; . "$1"; env -0'
        result = subprocess.run(
            ["sh", "-c", script, "sh", self.file], capture_output=True, env={}, check=True
        )
        pairs = (entry.split(b"=", 1) for entry in result.stdout.split(b"\0") if entry)
        return {name.decode(): value.decode() for name, value in pairs if name.startswith(b"URD_")}

    def sql(self, statement, role="URD_DATABASE_OWNER_URL"):
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.values()[role], "-c", statement],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        ).stdout.strip()

    def cluster(self):
        """The folder of the cluster's data."""
        elsewhere = os.path.join(self.data, "postgres-at")
        if os.path.exists(elsewhere):
            return pathlib.Path(elsewhere).read_text().strip() + "/data"
        return self.data + "/postgres/data"

    def postmaster(self):
        return int(pathlib.Path(self.cluster(), "postmaster.pid").read_text().split("\n")[0])

    def end(self, number=signal.SIGINT):
        """Sends a signal and waits; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)


class FrontDoorCase(unittest.TestCase):
    """Gives each test a folder, and leaves no process behind however the test ends."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="urd-front-door-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.data = os.path.join(self.folder, "data")
        self.runs = []

    def tearDown(self):
        for one in self.runs:
            one.end(signal.SIGTERM)
            elsewhere = os.path.join(one.data, "postgres-at")
            if os.path.exists(elsewhere):
                shutil.rmtree(pathlib.Path(elsewhere).read_text().strip(), ignore_errors=True)
            one.output.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Whether the first `urd dev` of a test finds no folder: where that start is the subject.
    finds_nothing = False

    def start(self, *words, **more):
        if not self.finds_nothing and "data" not in more:
            prepared(self.data, *words)
        one = Run(more.pop("data", self.data), *words, **more)
        self.runs.append(one)
        return one

    def assert_nothing_left(self, one):
        eventually(lambda: not working_in(one.cluster()), "PostgreSQL ended", 30)
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", one.port))


class Server:
    """One `urd serve` beside a run of `urd dev`, on the same database."""

    def __init__(self, values, *words, program=None, log=None, pass_fds=(), **more):
        self.port = free_port()
        self.private_port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.private_url = f"http://127.0.0.1:{self.private_port}"
        self.log = tempfile.TemporaryFile(mode="w+")
        settings = {
            "URD_DATABASE_URL": values.get("URD_DATABASE_URL", ""),
            "URD_MASTER_KEY_FILE": values.get("URD_MASTER_KEY_FILE", ""),
            "URD_LISTEN_PORT": str(self.port),
            "URD_PRIVATE_PORT": str(self.private_port),
        }
        settings.update(more)
        self.process = subprocess.Popen(
            program or [str(BINARY), "serve", *words],
            env=environment(**{name: value for name, value in settings.items() if value}),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pass_fds,
        )

    def text(self):
        return written(self.log)

    def lines(self, event):
        """The log lines of an event."""
        found = []
        for line in self.text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry.get("event") == event:
                found.append(entry)
        return found

    def ask(self, path, key=None, private=False, **more):
        """The status and the body of an answer; 0 while nobody listens."""
        request = urllib.request.Request(
            (self.private_url if private else self.url) + path, **more
        )
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, refusal.read().decode()
        except (urllib.error.URLError, ConnectionError):
            return 0, ""

    def ready(self):
        def is_ready():
            if self.process.poll() is not None:
                raise AssertionError(f"urd serve ended:\n{self.text()}")
            return self.ask("/health/ready", private=True)[0] == 200

        eventually(is_ready, "urd serve is ready")
        return self

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
