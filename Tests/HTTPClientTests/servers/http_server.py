"""An HTTP server for tests. Its first line of output is its port; it ends with its standard input.

usage: http_server.py [--certificate FILE --key FILE]

/echo            what was asked, as JSON          /status/N     an empty answer with that status
/bytes/N         N bytes with their length        /stream/N     N bytes without their length
/headers/N       N headers                        /redirect?to  a redirect
/hang            no answer                        /drip         a byte each 100 ms
/short           fewer bytes than promised        /garbage      no HTTP
/closing          no answer, and the end of the connection; /closing/count: how often it was asked
/gzip            packed, whoever asked            /trailer      chunked, with a trailer
/headless        a status line and no more        /cut          an end inside of the headers
/slow/MS/STATUS  an answer after that time, or none; /slow: how many were asked for, and how many at once
"""

import argparse
import gzip
import json
import socketserver
import ssl
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler

parser = argparse.ArgumentParser()
parser.add_argument("--certificate")
parser.add_argument("--key")
options = parser.parse_args()

connections = 0
closings = 0
slow = {"all": 0, "now": 0, "most": 0}
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        global connections
        connections += 1
        self.number = connections
        super().setup()

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", length=True, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if length:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def serve(self):
        global closings
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        place = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(place.query))
        word, _, rest = place.path[1:].partition("/")
        if word == "echo":
            value = {
                "method": self.command,
                "target": self.path,
                "headers": [[name.lower(), value] for name, value in self.headers.items()],
                "body": body.decode("latin-1"),
                "connection": self.number,
            }
            self.answer(200, json.dumps(value).encode(), Content_Type="application/json")
        elif word == "status":
            self.answer(int(rest))
        elif word == "bytes":
            self.answer(200, b"x" * int(rest))
        elif word == "stream":
            self.answer(200, b"x" * int(rest), length=False)
        elif word == "headers":
            self.answer(200, **{f"X_{n}": "y" * 1000 for n in range(int(rest))})
        elif word == "redirect":
            self.answer(302, Location=query["to"])
        elif word == "hang":
            time.sleep(3600)
        elif word == "drip":
            self.send_response(200)
            self.send_header("Content-Length", "10000")
            self.end_headers()
            for _ in range(10000):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.1)
        elif word == "short":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"x")
            self.close_connection = True
        elif word == "garbage":
            self.wfile.write(b"hello\r\n\r\n")
            self.close_connection = True
        elif word == "closing" and rest:
            self.answer(200, str(closings).encode())
        elif word == "closing":
            closings += 1
            self.close_connection = True
        elif word == "slow" and rest:
            pause, _, status = rest.partition("/")
            with lock:
                slow["all"] += 1
                slow["now"] += 1
                slow["most"] = max(slow["most"], slow["now"])
            time.sleep(int(pause) / 1000)
            with lock:
                slow["now"] -= 1
            if status == "none":
                self.close_connection = True
            else:
                self.answer(int(status))
        elif word == "slow":
            self.answer(200, ("%(all)d %(most)d" % slow).encode())
        elif word in ("headless", "cut"):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"Content-Le" * (word == "cut"))
            self.close_connection = True
        elif word == "gzip":
            self.answer(200, gzip.compress(b"x" * 100000), Content_Encoding="gzip")
        elif word == "trailer":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.send_header("X-Who", "head")
            self.end_headers()
            self.wfile.write(b"3\r\nabc\r\n0\r\nX-Who: trailer\r\nX-More: trailer\r\n\r\n")
        else:
            self.answer(404)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
if options.certificate:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(options.certificate, options.key)
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
sys.stdout.write(f"{server.server_address[1]}\n")
sys.stdout.flush()
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
