"""A reader of the realm's feed, from its start and over all nodes, that keeps what came in which order."""

import http.client
import json
import threading
import time

from cluster import HOST, PORT, REALM

PATH = f"/api/admin/realms/{REALM}/feed"
# Something is said every fifteen seconds; a node that says less is left.
PATIENCE = 17


class Reader(threading.Thread):
    def __init__(self, cluster):
        super().__init__(name="reader", daemon=True)
        self.cluster, self.cursor = cluster, None
        self.frames, self.rewinds = [], []
        self.lock = threading.Lock()
        self.connection, self.is_closed, self.turn = None, False, 0

    @property
    def position(self):
        return int(self.cursor.split(":")[1]) if self.cursor else 0

    def run(self):
        while not self.is_closed:
            self.turn += 1
            try:
                self.follow(self.cluster.nodes[self.turn % len(self.cluster.nodes)].address)
            except (OSError, http.client.HTTPException, ValueError, AttributeError):
                time.sleep(0.1)

    def follow(self, address):
        self.connection = http.client.HTTPConnection(address, PORT, timeout=PATIENCE)
        headers = {"Host": f"{HOST}:{PORT}", "Authorization": f"Bearer {self.cluster.key}",
                   "Accept": "application/x-ndjson"}
        if self.cursor:
            headers["Last-Event-ID"] = self.cursor
        self.connection.request("GET", PATH + "?to=internal" + ("" if self.cursor else "&from=start"), headers=headers)
        with self.connection.getresponse() as answer:
            if answer.status == 409:
                return self.rewind(json.loads(answer.read()))
            if answer.status != 200:
                time.sleep(0.2)
                return
            # Lines as they come: what is behind a line that broke off is asked for again.
            while line := answer.readline():
                if not line.endswith(b"\n"):
                    return
                if line.strip() and self.take_frame(json.loads(line)):
                    return

    def take_frame(self, frame):
        """Whether the feed ends with it."""
        if frame["type"] == "urd.error":
            return True
        with self.lock:
            if not frame["type"].startswith("urd."):
                self.frames.append((frame["position"], frame["id"]))
            self.cursor = frame.get("cursor", self.cursor)
        return False

    def rewind(self, told):
        """What was read of a tail that is lost is undone."""
        with self.lock:
            self.rewinds.append(told["kept_to"])
            self.frames = [frame for frame in self.frames if frame[0] <= told["kept_to"]]
            self.cursor = told["cursor"]

    def come_to(self, head, patience=60):
        """Waits until it has read up to there; its node may have vanished without a word."""
        begun = again = time.monotonic()
        while self.position < head and time.monotonic() < begun + patience:
            if time.monotonic() > again + 3:
                again = time.monotonic()
                self.drop()
            time.sleep(0.05)

    def drop(self):
        connection = self.connection
        if connection and connection.sock:
            try:
                connection.sock.shutdown(2)
            except OSError:
                pass

    def take(self, head):
        """What came since it was asked last, up to there."""
        with self.lock:
            frames = [frame for frame in self.frames if frame[0] <= head]
            self.frames = [frame for frame in self.frames if frame[0] > head]
            rewinds, self.rewinds = self.rewinds, []
        return frames, rewinds

    def close(self):
        self.is_closed = True
        self.drop()
