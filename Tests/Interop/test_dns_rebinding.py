"""Webhooks whose names lead inward, always or from the second look on: in a network of its own, with a resolver
that answers as it likes."""

import datetime
import http.server
import os
import pathlib
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid

from token_tool import missing
from urd_process import Client, Server, Urd, eventually

MISSING = missing("cryptography")
if not MISSING:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

INSIDE = "URD_TEST_NETWORK"
# Addresses of this network alone: nothing leaves it.
PUBLIC, SILENT, INNER = "93.184.216.34", "93.184.216.35", "10.20.30.40"
MAPPED = socket.inet_pton(socket.AF_INET6, f"::ffff:{INNER}")
TRANSLATED = socket.inet_pton(socket.AF_INET6, f"64:ff9b::{INNER}")
PORT = 8443


class Resolver:
    """Answers for names below `example`: what it says depends on how often it was asked."""

    def __init__(self):
        self.asked = {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def records(self, name, kind):
        count = self.asked[name, kind] = self.asked.get((name, kind), 0) + 1
        word = name.split(".")[0]
        if kind == 1:
            return {
                "steady": [PUBLIC],
                "flips": [PUBLIC if count == 1 else INNER],
                "alternates": [INNER if count % 2 else PUBLIC],
                "inner": [INNER], "loopback": ["127.0.0.1"], "nowhere": ["0.0.0.0"],
                "both": [SILENT, INNER],
            }.get(word, [])
        return {"mapped": [MAPPED], "translated": [TRANSLATED]}.get(word, []) if kind == 28 else []

    def serve(self):
        while True:
            query, sender = self.socket.recvfrom(4096)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode())
                at += 1 + query[at]
            question = query[12:at + 5]
            kind = struct.unpack(">H", query[at + 1:at + 3])[0]
            answers = b""
            found = self.records(".".join(labels), kind)
            for value in found:
                data = value if isinstance(value, bytes) else socket.inet_aton(value)
                answers += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data
            head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, len(found), 0, 0)
            self.socket.sendto(head + question + answers, sender)


class Trap:
    """Counts who comes where nobody may come."""

    def __init__(self, address):
        self.count = 0
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((address, PORT))
        self.socket.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.socket.accept()
            self.count += 1
            connection.close()


class Receiver:
    """At the public address, over TLS. It closes each connection, so that each message looks the name up."""

    def __init__(self, folder):
        self.hosts = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                receiver.hosts.append(self.headers["Host"].split(".")[0])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.file, key = certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, key)
        self.server = http.server.ThreadingHTTPServer((PUBLIC, PORT), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def certificate(folder):
    file, key_file = f"{folder}/certificate.pem", f"{folder}/key.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "hooks.example")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name)
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("*.hooks.example")]), False)
        .add_extension(x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256()))
    pathlib.Path(file).write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pathlib.Path(key_file).write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))
    os.chmod(file, 0o644)
    return file, key_file


def furnish(folder):
    """This network has a loopback interface, and one resolver."""
    for words in (["link", "set", "lo", "up"], ["addr", "add", f"{PUBLIC}/32", "dev", "lo"],
                  ["addr", "add", f"{SILENT}/32", "dev", "lo"],
                  ["addr", "add", f"{INNER}/32", "dev", "lo"]):
        subprocess.run(["ip", *words], check=True)
    for path, text in (("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:2\n"),
                       ("/etc/nsswitch.conf", "hosts: files dns\npasswd: files\ngroup: files\n")):
        mine = os.path.join(folder, os.path.basename(path))
        pathlib.Path(mine).write_text(text)
        subprocess.run(["mount", "--bind", mine, os.path.realpath(path)], check=True)


def is_possible():
    probe = ["unshare", "--net", "--mount", "ip", "link", "set", "lo", "up"]
    try:
        return subprocess.run(probe, capture_output=True, timeout=10).returncode == 0
    except OSError:
        return False


@unittest.skipUnless(is_possible(), "needs a network of its own")
@unittest.skipIf(os.environ.get(INSIDE), "runs outside")
class OwnNetwork(unittest.TestCase):
    def test_in_a_network_of_its_own(self):
        done = subprocess.run(
            ["unshare", "--net", "--mount", sys.executable, "-B", __file__, "Names"],
            env={**os.environ, INSIDE: "1"}, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Ran 1 test", done.stderr)


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(os.environ.get(INSIDE), "runs inside")
class Names(unittest.TestCase):
    words = ["steady", "flips", "alternates", "inner", "loopback", "nowhere", "both", "mapped",
             "translated"]

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="urd-names-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o755)
        furnish(self.folder)
        self.resolver = Resolver()
        self.receiver = Receiver(self.folder)
        self.traps = [Trap(INNER), Trap("127.0.0.1"), Trap("::1")]
        self.urd = Urd()
        self.addCleanup(self.urd.close)
        self.node = Server(self.urd.values, URD_OUTGOING_CA_FILE=self.receiver.file).ready()
        self.addCleanup(self.node.close)
        # In development webhooks may lead anywhere: its node is frozen, and loses its place.
        os.kill(self.urd.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.urd.pid, signal.SIGCONT)
        self.api = Client(self.node.url, self.urd.key)
        self.addCleanup(self.api.close)

    def admin(self, method, path, body=None):
        status, answer, _ = self.api.call(method, self.urd.realm + path, body)
        self.assertIn(status, range(200, 300), answer)
        return answer

    def register(self):
        self.admin("POST", "/accounts", {"email": f"{uuid.uuid4().hex[:12]}@example.org"})

    def test_no_name_leads_inward_however_it_is_answered(self):
        hooks = {word: self.admin("POST", "/webhooks", {
            "url": f"https://{word}.hooks.example:{PORT}/hook", "name": word,
            "types": ["account.registered"]})["id"] for word in self.words}
        for turn in range(3):
            self.register()
            eventually(lambda: self.receiver.hosts.count("steady") > turn, "it is delivered", 120)
            for hook in hooks.values():
                self.admin("POST", f"/webhooks/{hook}/pause")
                self.admin("POST", f"/webhooks/{hook}/resume", {})

        def outcomes(word):
            return {one["outcome"]
                    for one in self.admin("GET", f"/webhooks/{hooks[word]}/attempts")["items"]}

        def is_refused(word):
            if outcomes(word) - {"delivered"}:
                return True
            # A sender's thread keeps what the resolver said for a minute. Where one thread sent all three events, the
            # name was looked up once.
            time.sleep(2)
            self.register()
            return False
        for word in self.words:
            if word != "steady":
                eventually(lambda: is_refused(word), f"{word} is refused", 150)
        self.assertEqual([trap.count for trap in self.traps], [0, 0, 0])
        for word in ("inner", "loopback", "nowhere", "mapped", "translated"):
            self.assertEqual(outcomes(word), {"not_public"}, word)
        self.assertIn("flips", self.receiver.hosts)
        self.assertIn("not_public", outcomes("flips"))
        self.assertIn("not_public", outcomes("alternates"))
        self.assertNotIn("delivered", outcomes("both"))


if __name__ == "__main__":
    unittest.main()
