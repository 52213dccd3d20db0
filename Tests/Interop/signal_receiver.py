"""A receiver of security signals that is made to be killed: it says yes to a signal only once that is on disk.

    signal_receiver.py CERTIFICATE KEY PORT FILE
"""

import http.server
import os
import ssl
import sys


def main(certificate, key, port, path):
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            os.write(file, body + b"\n")
            os.fsync(file)
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    class Patient(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *more):
            # Whom it answers may have been killed.
            if not isinstance(sys.exc_info()[1], OSError):
                super().handle_error(*more)

    server = Patient(("127.0.0.1", int(port)), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
