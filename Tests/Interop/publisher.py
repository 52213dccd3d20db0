"""A server over TLS that publishes documents, with a certificate of its own."""

import datetime
import http.server
import ipaddress
import json
import os
import ssl
import tempfile
import threading
import uuid

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Publisher:
    """A server over TLS that shows keys, and says how often it was asked."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="urd-keys-")
        self.ca_file = os.path.join(self.folder.name, "certificate.pem")
        self.documents, self.asked = {}, []
        key_file = self.make_certificate()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.ca_file, key_file)
        publisher = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                publisher.asked.append(self.path)
                document = publisher.documents.get(self.path)
                if isinstance(document, str):
                    self.send_response(302)
                    self.send_header("Location", document)
                    self.end_headers()
                    return
                body = document if isinstance(document, bytes) else json.dumps(
                    document or {}).encode()
                self.send_response(200 if document else 404)
                self.send_header("Content-Type", "application/jwk-set+json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def make_certificate(self):
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
        now = datetime.datetime.now(datetime.timezone.utc)
        certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
                critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256()))
        with open(self.ca_file, "wb") as file:
            file.write(certificate.public_bytes(serialization.Encoding.PEM))
        os.chmod(self.folder.name, 0o755)
        os.chmod(self.ca_file, 0o644)
        key_file = os.path.join(self.folder.name, "key.pem")
        with open(key_file, "wb") as file:
            file.write(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()))
        return key_file

    def show(self, *keys):
        """The address of a document with these keys."""
        path = f"/{uuid.uuid4().hex}"
        self.documents[path] = {"keys": [key.jwk() for key in keys]}
        return path, f"https://127.0.0.1:{self.server.server_port}{path}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()
