"""A receiver of webhooks that answers what it is told, and keeps what came."""

import http.server
import json
import socket
import ssl
import threading
import time

from urd_process import eventually, free_port


def listening(server, port, handler):
    try:
        return server(("127.0.0.1", port), handler)
    except OSError:
        return None


class Receiver:
    """Takes messages, answers what it is told, and keeps what came."""

    def __init__(self, certificate=None):
        """`certificate`: the files of a certificate and its key; without them there is no TLS."""
        self.port = free_port()
        self.certificate = certificate
        self.answer = lambda message: (204, {})
        self.taken = []
        self.seen = []
        self.lock = threading.Lock()
        self.server = None
        self.start()

    @property
    def url(self):
        return f"http{'s' if self.certificate else ''}://127.0.0.1:{self.port}/hook"

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                message = {
                    "headers": {name.lower(): value for name, value in self.headers.items()},
                    "body": body, "json": json.loads(body), "at": time.monotonic()}
                status, headers, *answer = receiver.answer(message)
                answer = b"".join(answer)
                with receiver.lock:
                    receiver.seen.append(message)
                    if 200 <= status < 300:
                        receiver.taken.append(message)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True
            open = set()

            def get_request(self):
                connection, place = super().get_request()
                self.open.add(connection)
                return connection, place

            def close_request(self, request):
                self.open.discard(request)
                super().close_request(request)

            def handle_error(self, *_):
                pass

        # While nobody listened, a connection that goes out may have been given the port.
        self.server = eventually(lambda: listening(Server, self.port, Handler), "the port is free")
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            # Nothing is said on connections that were kept, either.
            for connection in list(self.server.open):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is gone
            self.server = None

    def ids(self):
        with self.lock:
            return [one["headers"]["webhook-id"] for one in self.taken]
