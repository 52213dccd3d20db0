"""A running Urd for tests that speak to it as strangers do: over sockets, SQL and signals."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "FrontDoor"))

import verify_laws  # noqa: E402
from front_door import BINARY, PATIENCE, Run, Server, eventually, free_port, prepared, run  # noqa: E402,F401

# An event as verify_laws.py takes it: the record's members, without the digest of what is sealed.
RECORDS = """select json_build_object(
    'at', (extract(epoch from at) * 1000000)::bigint, 'command', command, 'data', data, 'meta', meta, 'realm', realm,
    'stream', stream, 'subject', subject, 'type', type, 'version', version,
    'is_sealed', sealed is not null) from urd.event where realm = '%s' order by position"""


class Urd:
    """One `urd dev` in a folder of its own; `close` leaves nothing behind."""

    def __init__(self, *words, lawful=False, **settings):
        # Whether its logs have to keep all laws in the end: not where a test changes a log behind its back.
        self.lawful = lawful
        self.folder = tempfile.mkdtemp(prefix="urd-interop-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.run = None
        try:
            data = os.path.join(self.folder, "data")
            prepared(data, *words)
            self.run = Run(data, *words, **settings)
            self.values = self.run.ready().values()
        except BaseException:
            self.close()
            raise
        self.pid = self.run.process.pid
        self.key = self.values["URD_ADMIN_KEY"]
        self.realm = "/api/admin/realms/" + self.values["URD_REALM"]
        self.clients = self.realm + "/clients"
        self.api = Client(self.values["URD_URL"], self.key)

    def close(self):
        broken = []
        try:
            if hasattr(self, "api"):
                self.api.close()
                if self.lawful and self.alive():
                    broken = self.broken_laws()
        finally:
            if self.run:
                self.run.end(signal.SIGTERM)
                self.run.output.close()
            shutil.rmtree(self.folder, ignore_errors=True)
        assert not broken, broken

    def broken_laws(self):
        """What the laws of the log say of every realm (docs/laws.md), and where both programs differ in it."""
        broken, last = [], {}
        try:
            realms = self.sql("select realm from urd.realm_log where position > 0").split()
        except subprocess.CalledProcessError:
            return []  # The test ended the database.
        for realm in realms:
            log = verify_laws.Laws()
            for line in self.sql(RECORDS % realm).split("\n"):
                log.take(json.loads(line))
            broken += [{"realm": realm, **one} for one in verify_laws.result(log)["violations"]]
            last[realm] = log.position
        told = self.command("verify", "--laws", "--json")
        assert told.stdout, told.stderr
        # Events that came between the two are for neither.
        others = {
            (one["realm"], wrong["law"], wrong["position"]) for one in json.loads(told.stdout)
            for wrong in one["laws"]["violations"] if wrong["position"] <= last.get(one["realm"], 0)}
        differing = others ^ {(one["realm"], one["law"], one["position"]) for one in broken}
        return broken + [{"differing": one} for one in sorted(differing)]

    def alive(self):
        return self.run.process.poll() is None

    def ready(self):
        """Whether it says that it can serve, and the parts that say they cannot."""
        status, body = self.private("/health/ready")
        parts = json.loads(body)["components"]
        return status, {name: part for name, part in parts.items() if not part["ready"]}

    def attention(self):
        """The parts that an operator must look at, whether requests can be served or not."""
        told = json.loads(self.private("/health/ready")[1])
        parts = {name: part for name, part in told["components"].items() if "attention" in part}
        assert told["attention"] == bool(parts), told
        return parts

    def private(self, path):
        place = urllib.parse.urlsplit(self.values["URD_PRIVATE_URL"])
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def command(self, *words, **more):
        """A command of urd with everything that dev.env says, and with settings of its own."""
        names = ("DATABASE_URL", "DATABASE_OWNER_URL", "MASTER_KEY_FILE", "CHECKPOINT_DIRECTORY")
        settings = {f"URD_{name}": self.values[f"URD_{name}"] for name in names}
        return run(*words, **{**settings, **more})

    def head(self, realm=None):
        """Where a realm's log ends now, as `min_position` takes it."""
        return self.sql(
            "select realm || ':' || epoch || ':' || position from urd.realm_log"
            f" where realm = '{realm or self.values['URD_REALM']}'")

    def sealed(self, realm):
        """Waits until the log that is there now is sealed, and is its length."""
        last = int(self.sql(f"select position from urd.realm_log where realm = '{realm}'"))
        size = f"select coalesce(max(size), 0) from urd.checkpoint where realm = '{realm}'"
        eventually(lambda: int(self.sql(size)) >= last, "a log that is sealed", patience=120)
        return last

    def log(self, realm=None):
        """What `urd log export` has of each event, once all of them are sealed: position n is the n-th."""
        realm = realm or self.values["URD_REALM"]
        self.sealed(realm)
        result = self.command("log", "export", "--realm", realm)
        assert result.returncode == 0, result.stderr
        lines = result.stdout.split("\n")[1:-1]
        return [line for line in lines if not line.startswith('{"checkpoint":')]

    @contextlib.contextmanager
    def frozen_database(self):
        """PostgreSQL stands still, with all that it was about to do."""
        postmaster = self.run.postmaster()
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(postmaster)], capture_output=True, text=True, check=True)
        stopped = [postmaster, *(int(word) for word in children.stdout.split())]
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in reversed(stopped):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def sql(self, statement):
        """As the superuser, whom no trigger and no privilege stops."""
        return subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.superuser(), "-c",
             "set session_replication_role = replica; " + statement],
            capture_output=True, text=True, check=True, timeout=PATIENCE,
        ).stdout.strip()

    def superuser(self):
        return self.values["URD_DATABASE_OWNER_URL"].replace("//urd_owner@", "//postgres@")


class Client:
    """Calls the API; one connection for each thread."""

    def __init__(self, url, key):
        place = urllib.parse.urlsplit(url)
        self.address = (place.hostname, place.port)
        self.key = key
        self.local = threading.local()
        self.connections = []

    def close(self):
        for connection in self.connections:
            connection.close()

    def call(self, method, path, body=None, key=None, **headers):
        """The status, the body as JSON, and the headers."""
        connection = getattr(self.local, "connection", None)
        # The server ends connections on which nothing happened for a while.
        if connection is not None and time.monotonic() - self.local.used > 20:
            connection.close()
        if connection is None:
            connection = self.local.connection = http.client.HTTPConnection(
                *self.address, timeout=PATIENCE)
            self.connections.append(connection)
        sent = {"Authorization": f"Bearer {key or self.key}"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        if body is not None:
            body = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        self.local.used = time.monotonic()
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            self.local.connection = None
            raise
        return answer.status, json.loads(data) if data else None, answer.headers

    def raw(self, data, patience=10):
        """All that comes back for these bytes until the server closes."""
        with socket.create_connection(self.address, timeout=patience) as connection:
            try:
                connection.sendall(data)
            except OSError:
                pass
            received = b""
            try:
                while piece := connection.recv(65536):
                    received += piece
            except OSError:
                pass
        return received

    def request(self, method, path, *headers, body=b"", content="application/json", key=True):
        """The bytes of a request, with nothing added that was not asked for but a host."""
        lines = [f"{method} {path} HTTP/1.1", "Host: urd.example", "Connection: close"]
        if key:
            lines.append(f"Authorization: Bearer {self.key}")
        if body:
            lines += [f"Content-Type: {content}", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


def status(answer):
    """The status of the first response in these bytes; 0 if there is none."""
    first = answer.split(b"\r\n", 1)[0].split(b" ")
    return int(first[1]) if len(first) > 1 and first[0].startswith(b"HTTP/") else 0


def together(count, act):
    """What `act` returns for each number, all begun at the same moment."""
    results = [None] * count
    start = threading.Barrier(count)

    def one(number):
        start.wait()
        try:
            results[number] = act(number)
        except Exception as error:  # an exception is a result to be looked at
            results[number] = error

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
