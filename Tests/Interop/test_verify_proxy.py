"""The verify profile behind nginx with deploy/nginx.conf as it stands, but for places of this machine. Its
clients send headers with underscores, which nginx drops unless it is told to keep them."""

import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
import uuid

from urd_process import PATIENCE, Urd, eventually, free_port
from verify_client import App

ROOT = pathlib.Path(__file__).resolve().parents[2]
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
DIRECTIVE = "underscores_in_headers on;"


def setUpModule():
    global urd
    if not os.path.exists(NGINX):
        raise unittest.SkipTest("there is no nginx: deploy/install-packages.sh test")
    urd = Urd()


def tearDownModule():
    urd.close()


class Proxy:
    """nginx in front of a server at this port."""

    def __init__(self, upstream, change=lambda text: text):
        self.folder = tempfile.mkdtemp(prefix="urd-nginx-", dir="/tmp")
        if os.geteuid() == 0:
            os.chmod(self.folder, 0o777)
        self.port = free_port()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
             "-subj", "/CN=localhost", "-keyout", f"{self.folder}/key",
             "-out", f"{self.folder}/certificate"],
            check=True, capture_output=True, timeout=PATIENCE)
        text = change((ROOT / "deploy" / "nginx.conf").read_text())
        for pattern, place in (
                (r"(?m)^( *ssl_certificate) .*;", rf"\1 {self.folder}/certificate;"),
                (r"(?m)^( *ssl_certificate_key) .*;", rf"\1 {self.folder}/key;"),
                (r"(?m)^ *listen \[::\].*\n", ""), (r"listen 443", f"listen 127.0.0.1:{self.port}"),
                (r"127\.0\.0\.1:8080", f"127.0.0.1:{upstream}")):
            text, times = re.subn(pattern, place, text)
            assert times == 1, pattern
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        path = pathlib.Path(self.folder, "nginx.conf")
        path.write_text(
            f"daemon off; worker_processes 1; pid {self.folder}/pid;\n"
            f"events {{}}\nhttp {{ access_log off; {temporary}\n{text}\n}}\n")
        self.process = subprocess.Popen(
            [NGINX, "-c", str(path), "-e", f"{self.folder}/errors"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(self.listens, "nginx listens")

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            assert self.process.poll() is None, pathlib.Path(self.folder, "errors").read_text()
            return False

    def post(self, path, body, headers):
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=PATIENCE, context=ssl._create_unverified_context())
        try:
            connection.request("POST", path, json.dumps(body), {
                "Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()), answer.headers
        finally:
            connection.close()

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the headers of the request, as they came through."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        text = json.dumps(dict(self.headers)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def without_the_directive(text):
    assert text.count(DIRECTIVE) == 1
    return text.replace(DIRECTIVE, "")


class Headers(unittest.TestCase):
    def proxy(self, port, *change):
        proxy = Proxy(port, *change)
        self.addCleanup(proxy.close)
        return proxy

    def exchange(self, proxy):
        """What an exchange of a code that nobody got is answered with."""
        app = App(urd)
        body = app.body({"code": "x", "challenge_id": "1"})
        return proxy.post("/api/v0/verify/get_identity", body, {"API_KEY_ID": app.key})[:2]

    def test_cot_17_an_exchange_behind_the_documented_nginx_is_known_by_its_api_key(self):
        port = urllib.parse.urlsplit(urd.values["URD_URL"]).port
        status, body = self.exchange(self.proxy(port))
        self.assertEqual((status, "code is not valid" in body["msg"]), (400, True), body)
        status, body = self.exchange(self.proxy(port, without_the_directive))
        self.assertEqual((status, "API_KEY_ID is not valid" in body["msg"]), (403, True), body)

    def test_cot_17_headers_with_underscores_pass_the_documented_nginx_unchanged(self):
        echo = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), Echo)
        threading.Thread(target=echo.serve_forever, daemon=True).start()
        self.addCleanup(echo.server_close)
        self.addCleanup(echo.shutdown)
        shown = {"API_KEY_ID": "key", "API_SECRET_KEY": "secret"}
        _, headers, _ = self.proxy(echo.server_port).post("/", {}, shown)
        self.assertEqual({name: headers.get(name) for name in shown}, shown)
        _, headers, _ = self.proxy(echo.server_port, without_the_directive).post("/", {}, shown)
        self.assertEqual({name: headers.get(name) for name in shown}, dict.fromkeys(shown))

    def test_cot_10_the_refresh_cookie_behind_the_documented_nginx_is_partitioned(self):
        app, proxy = App(urd), self.proxy(urllib.parse.urlsplit(urd.values["URD_URL"]).port)
        status, body, headers = proxy.post(
            "/api/v0/verify/get_identity?oauth_token=true",
            app.body(app.walk(f"{uuid.uuid4().hex}@example.org")),
            {"API_KEY_ID": app.key, "Origin": "http://localhost:4321"})
        self.assertEqual(status, 200, body)
        name, _, attributes = headers["Set-Cookie"].partition("=")
        self.assertEqual(name, "__Secure-urd-refresh")
        for part in (f"Path=/api/v0/token/{app.key}", "Secure", "HttpOnly", "Partitioned"):
            self.assertIn(part, attributes.split("; "))


if __name__ == "__main__":
    unittest.main()
