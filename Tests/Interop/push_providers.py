"""What stands for Google and Apple where notifications go out: over TLS, with a certificate of our own,
and as strict with tokens, headers and sizes as they say they are."""

import base64
import datetime
import http.server
import ipaddress
import json
import os
import re
import socket
import ssl
import threading
import time
import urllib.parse

import h2.config
import h2.connection
import h2.events
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

from urd_process import free_port

TOPIC = "io.example.flagship"
TEAM, KEY_ID = "TEAM000001", "KEY0000001"
PROJECT, EMAIL = "demo-1", "push@demo-1.iam.gserviceaccount.com"


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()).decode()


def verified(text, public, algorithm, key_id):
    """The claims of a token, if it is one of this key's."""
    signed, signature = text.rsplit(".", 1)
    header = json.loads(unpadded(signed.split(".")[0]))
    if header["alg"] != algorithm or header["kid"] != key_id:
        return None
    signature = unpadded(signature)
    try:
        if algorithm == "RS256":
            public.verify(signature, signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        else:
            pair = (int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
            public.verify(
                utils.encode_dss_signature(*pair), signed.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return None
    return json.loads(unpadded(signed.split(".")[1]))


class Certificates:
    """An authority, and a server's certificate for this machine."""

    def __init__(self, folder):
        self.authority = os.path.join(folder, "ca.pem")
        self.server = os.path.join(folder, "server.pem")
        now = datetime.datetime.now(datetime.timezone.utc)
        root, leaf = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Push stand-in")])

        def build(subject, key):
            return (
                x509.CertificateBuilder().subject_name(subject).issuer_name(name)
                .public_key(key.public_key()).serial_number(x509.random_serial_number())
                .not_valid_before(now - datetime.timedelta(hours=1))
                .not_valid_after(now + datetime.timedelta(days=1)))

        ca = build(name, root).add_extension(
            x509.BasicConstraints(True, None), critical=True).sign(root, hashes.SHA256())
        place = x509.SubjectAlternativeName(
            [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        own = build(
            x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")]), leaf
        ).add_extension(place, critical=False).sign(root, hashes.SHA256())
        encoding = serialization.Encoding.PEM
        with open(self.authority, "wb") as file:
            file.write(ca.public_bytes(encoding))
        with open(self.server, "wb") as file:
            file.write(pem(leaf).encode() + own.public_bytes(encoding))
        for path in (self.authority, self.server):
            os.chmod(path, 0o644)

    def context(self, *protocols):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server)
        context.set_alpn_protocols(list(protocols))
        return context


class Provider:
    """What was taken, and how devices are answered."""

    def __init__(self):
        self.taken, self.faults, self.answers = [], [], {}
        self.tokens = set()
        # Closed: whoever brings something has to wait.
        self.gate = threading.Event()
        self.gate.set()
        self.waiting = threading.Event()

    def take(self, device, message):
        self.waiting.set()
        self.gate.wait(60)
        status, body = self.answers.get(device, (200, {}))
        if status == 200:
            self.taken.append((device, message))
        return status, body

    def of(self, device):
        return [message for name, message in self.taken if name == device]

    def expect(self, holds, what):
        """A defect of the caller's is remembered for the test."""
        if not holds:
            self.faults.append(what)


class Google(Provider):
    def __init__(self, certificates):
        super().__init__()
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.port = free_port()
        google = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = google.answer(self.path, self.headers, body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json; charset=UTF-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.server.socket = certificates.context("http/1.1").wrap_socket(
            self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def account(self):
        return {
            "type": "service_account", "project_id": PROJECT, "private_key_id": "k1",
            "private_key": pem(self.key), "client_email": EMAIL,
            "token_uri": self.address + "/token"}

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, headers, body):
        if path == "/token":
            return self.token(dict(urllib.parse.parse_qsl(body.decode())))
        shown = headers["Authorization"] or ""
        if path != f"/v1/projects/{PROJECT}/messages:send":
            return 404, {"error": {"code": 404, "status": "NOT_FOUND"}}
        if not shown.startswith("Bearer ") or shown[7:] not in self.tokens:
            return 401, {"error": {"code": 401, "status": "UNAUTHENTICATED"}}
        self.expect(headers["Content-Type"] == "application/json", "type")
        message = json.loads(body)["message"]
        self.expect(len(body) - len(message["token"]) <= 4096, "size")
        self.expect(all(isinstance(v, str) for v in message["data"].values()), "data")
        self.expect(message["android"]["priority"] in ("HIGH", "NORMAL"), "priority")
        self.expect(re.fullmatch(r"\d+s", message["android"]["ttl"]), "ttl")
        return self.take(message["token"], message)

    def token(self, form):
        claims = verified(form["assertion"], self.key.public_key(), "RS256", "k1")
        now = time.time()
        good = (
            claims and form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
            and claims["iss"] == EMAIL and claims["aud"] == self.address + "/token"
            and claims["scope"] == "https://www.googleapis.com/auth/firebase.messaging"
            and abs(claims["iat"] - now) < 60 and claims["exp"] - claims["iat"] <= 3600)
        if not good:
            return 400, {"error": "invalid_grant"}
        token = "ya29." + os.urandom(18).hex()
        self.tokens.add(token)
        return 200, {"access_token": token, "expires_in": 3599, "token_type": "Bearer"}

    UNREGISTERED = 404, {"error": {
        "code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND",
        "details": [{
            "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
            "errorCode": "UNREGISTERED"}]}}


class Apple(Provider):
    """HTTP/2 over TLS, and nothing else."""

    def __init__(self, certificates):
        super().__init__()
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.context = certificates.context("h2")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    @property
    def address(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def settings(self):
        return {"team_id": TEAM, "key_id": KEY_ID, "private_key": pem(self.key), "topic": TOPIC,
                "address": self.address}

    def close(self):
        self.listener.close()

    def serve(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.speak, args=(plain,), daemon=True).start()

    def speak(self, plain):
        try:
            with self.context.wrap_socket(plain, server_side=True) as line:
                self.expect(line.selected_alpn_protocol() == "h2", "protocol")
                self.converse(line)
        except (OSError, ssl.SSLError):
            plain.close()

    def converse(self, line):
        connection = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        line.sendall(connection.data_to_send())
        headers, bodies = {}, {}
        while data := line.recv(65536):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    headers[event.stream_id] = dict(event.headers)
                    bodies[event.stream_id] = b""
                elif isinstance(event, h2.events.DataReceived):
                    bodies[event.stream_id] += event.data
                    connection.acknowledge_received_data(
                        event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    number = event.stream_id
                    status, answer = self.answer(headers.pop(number), bodies.pop(number))
                    body = json.dumps(answer).encode() if status != 200 else b""
                    connection.send_headers(
                        number, [(":status", str(status)), ("apns-id", os.urandom(8).hex())],
                        end_stream=not body)
                    if body:
                        connection.send_data(number, body, end_stream=True)
            line.sendall(connection.data_to_send())

    def answer(self, headers, body):
        shown = headers.get("authorization", "")
        claims = shown.startswith("bearer ") and verified(
            shown[7:], self.key.public_key(), "ES256", KEY_ID)
        if not claims or claims["iss"] != TEAM or abs(claims["iat"] - time.time()) > 3600:
            return 403, {"reason": "InvalidProviderToken"}
        self.tokens.add(shown)
        place = re.fullmatch(r"/3/device/([0-9a-f]+)", headers[":path"])
        if headers[":method"] != "POST" or not place:
            return 404, {"reason": "BadPath"}
        if headers.get("apns-topic") != TOPIC:
            return 400, {"reason": "BadTopic"}
        if len(body) > 4096:
            return 413, {"reason": "PayloadTooLarge"}
        self.expect(headers.get("apns-push-type") == "alert", "push type")
        self.expect(headers.get("apns-priority") in ("5", "10"), "priority")
        self.expect(int(headers["apns-expiration"]) > time.time(), "expiration")
        self.expect(len(headers.get("apns-collapse-id", "").encode()) <= 64, "collapse id")
        return self.take(place.group(1), {"headers": headers, **json.loads(body)})
