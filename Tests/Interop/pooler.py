"""Something between a node and PostgreSQL, as poolers and floating addresses are: one address before
servers that may change."""

import os
import socket
import struct
import threading


class Pooler:
    """Passes on what clients of one port say. `target` is the socket of the server that new clients
    get. With `by_transaction` each transaction of a client may go to another session of the server, as
    with poolers that give a session away between two transactions; so it is for all clients, from their
    next transaction on."""

    def __init__(self, target, port):
        self.target = target
        self.by_transaction = False
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        sessions = []
        try:
            startup = self.startup(client)
            for number in range(2):
                session = socket.socket(socket.AF_UNIX)
                session.connect(self.target)
                sessions.append(session)
                session.sendall(startup)
                said = until_ready(session, client if number == 0 else None)
                if not said:
                    return
            turn = 0
            while request := self.request(client):
                sessions[turn].sendall(request)
                if request[-5:-4] == b"X":
                    return
                if not until_ready(sessions[turn], client):
                    return
                if self.by_transaction:
                    turn = 1 - turn
        except OSError:
            pass
        finally:
            for one in [client, *sessions]:
                one.close()

    @staticmethod
    def startup(client):
        """Without encryption, whatever the client would like."""
        while True:
            length = struct.unpack("!i", exactly(client, 4))[0]
            body = exactly(client, length - 4)
            if struct.unpack("!i", body[:4])[0] in (80877103, 80877104):
                client.sendall(b"N")
                continue
            return struct.pack("!i", length) + body

    @staticmethod
    def request(client):
        """All messages up to one that the server answers by being ready again."""
        said = b""
        while True:
            kind, message = one_message(client)
            if not kind:
                return b""
            said += message
            if kind in (b"Q", b"S", b"X"):
                return said


def until_ready(session, client):
    """Passes an answer on up to its end. False: the server ended the session."""
    while True:
        kind, message = one_message(session)
        if not kind:
            return False
        if client:
            client.sendall(message)
        if kind == b"Z":
            return True


def one_message(source):
    try:
        head = exactly(source, 5)
    except (OSError, EOFError):
        return b"", b""
    return head[:1], head + exactly(source, struct.unpack("!i", head[1:])[0] - 4)


def exactly(source, count):
    data = b""
    while len(data) < count:
        piece = source.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def socket_of(folder, port):
    return os.path.join(folder, f".s.PGSQL.{port}")
