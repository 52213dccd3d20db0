"""A reader of feeds over a bare connection: it sees each byte as it comes, and how a response ends."""

import json
import os
import socket
import urllib.parse


class Feed:
    """One response of the feed. `end` tells how it ended: "whole" with its last chunk, or "cut"."""

    def __init__(self, url, key, realm, query="", cursor=None, accept="application/x-ndjson",
                 patience=30, window=None, path=None, headers=()):
        place = urllib.parse.urlsplit(url)
        self.socket = socket.socket()
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.settimeout(patience)
        self.socket.connect((place.hostname, place.port))
        lines = [
            f"GET {path or f'/api/admin/realms/{realm}/feed'}{'?' + query if query else ''} "
            "HTTP/1.1",
            "Host: urd.example", f"Authorization: Bearer {key}", f"Accept: {accept}", *headers]
        if cursor:
            lines.append(f"Last-Event-ID: {cursor}")
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        while line := self.file.readline().strip():
            name, _, value = line.decode().partition(":")
            self.headers[name.lower()] = value.strip()
        self.end, self.rest, self.whole = None, b"", []
        self.body = b""
        if self.status != 200:
            self.body = self.file.read(int(self.headers.get("content-length", 0)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def chunk(self):
        """The next piece of the body; empty at the end."""
        try:
            size = self.file.readline()
            count = int(size.split(b";")[0], 16) if size.endswith(b"\r\n") else None
            if count is None:
                self.end = "cut"
                return b""
            data = self.file.read(count)
            if len(data) < count or self.file.read(2) != b"\r\n":
                self.end = "cut"
                return b""
        except (ConnectionError, ValueError):
            self.end = "cut"
            return b""
        if count == 0:
            self.end = "whole"
        return data

    def lines(self):
        """Whole lines, without their ends."""
        while True:
            while self.whole:
                yield self.whole.pop(0)
            piece = self.chunk()
            if not piece:
                return
            *self.whole, self.rest = (self.rest + piece).split(b"\n")

    def entries(self):
        """What lines of JSON say."""
        for line in self.lines():
            if line:
                yield json.loads(line)

    def events(self, count=None):
        """The next events, without what is none."""
        found = []
        if count == 0:
            return found
        for entry in self.entries():
            if not entry["type"].startswith("urd."):
                found.append(entry)
            if len(found) == count:
                break
        return found


def append_lines(path):
    """A file to go on with behind its last whole line: a write that is killed may end at the end of a page."""
    with open(path, "a+b") as file:
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
    return open(path, "a", buffering=1)


def keep(path, text):
    """As a subscriber keeps its place: on the disk, and whole or not at all."""
    with open(path + ".new", "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
