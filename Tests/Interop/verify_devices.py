"""What a person of a tenant's app has at hand: an authenticator, and keys of devices."""

import base64
import hashlib
import json
import time
import uuid

from browser import encode

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from fido2 import cbor
from fido2.cose import ES256


class Authenticator:
    """With one passkey, that knows its user by default."""

    def __init__(self, origin="http://localhost:8395"):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id, self.origin, self.user, self.count = uuid.uuid4().bytes, origin, None, 0

    def client_data(self, kind, options, origin=None):
        return json.dumps({
            "type": f"webauthn.{kind}", "challenge": options["challenge"],
            "origin": origin or self.origin, "crossOrigin": False}).encode()

    def data(self, domain, flags, attested=b""):
        return (hashlib.sha256(domain.encode()).digest() + bytes([flags])
                + self.count.to_bytes(4, "big") + attested)

    def create(self, options, flags=0x45, origin=None):
        self.user = options["user"]["id"]
        public = cbor.encode(ES256.from_cryptography_key(self.key.public_key()))
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        made = cbor.encode({
            "fmt": "none", "attStmt": {},
            "authData": self.data(options["rp"]["id"], flags, attested)})
        return self.credential(
            clientDataJSON=encode(self.client_data("create", options, origin)),
            attestationObject=encode(made))

    def get(self, options, flags=0x05, origin=None):
        client_data = self.client_data("get", options, origin)
        data = self.data(options["rpId"], flags)
        signature = self.key.sign(
            data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        return self.credential(
            clientDataJSON=encode(client_data), authenticatorData=encode(data),
            signature=encode(signature), userHandle=self.user)

    def credential(self, **response):
        return {"id": encode(self.id), "rawId": encode(self.id), "type": "public-key",
                "response": response, "clientExtensionResults": {}}


class Device:
    """A device with a key of Ed25519, of P-256 or of RSA, and its person's ID at one tenant."""

    def __init__(self, person, issuer, algorithm="ED25519", bits=2048):
        self.person, self.issuer, self.algorithm = person, issuer, algorithm
        if algorithm == "ED25519":
            self.key = ed25519.Ed25519PrivateKey.generate()
            raw = self.key.public_key().public_bytes(
                serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        else:
            self.key = (
                rsa.generate_private_key(65537, bits) if algorithm == "RSA"
                else ec.generate_private_key(ec.SECP256R1()))
            raw = self.key.public_key().public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.public = base64.b64encode(raw).decode()
        self.path = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    def sign(self, text):
        if self.algorithm == "ED25519":
            made = self.key.sign(text.encode())
        elif self.algorithm == "RSA":
            made = self.key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        else:
            made = self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
        return base64.b64encode(made).decode()

    def event(self, label="LOGIN", at=None, method="TRUSTED_DEVICE", new=None, **more):
        """A body that the device signed."""
        at = str(int(time.time()) if at is None else at)
        text = self.person + self.issuer + label + at + method + "true"
        body = {"client_user_id": self.person, "issuer": self.issuer, "event": label,
                "timestamp": at, "method": method, "public_key": self.public,
                "algorithm": self.algorithm, "approved": True}
        if new is not None:
            text += new.public
            body |= {"register_new_device": True, "new_device_public_key": new.public,
                     "new_device_algorithm": new.algorithm, "device_name": "Second"}
        return {**body, "code": self.sign(text), **more}

    def answer(self, event, approved=True, **more):
        text = (self.person + self.issuer + event["event"] + event["timestamp"]
                + "TRUSTED_DEVICE" + ("true" if approved else "false"))
        return {"public_key": self.public, "algorithm": self.algorithm, "approved": approved,
                "code": self.sign(text), **more}
