"""What a person of a tenant's app has at hand: an authenticator, and keys of devices."""

import base64
import hashlib
import json
import uuid

from browser import encode

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
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
