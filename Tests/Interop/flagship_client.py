"""The flagship app as a stranger would write it: standard library and `cryptography`.

It walks the first open of the app, and stands for the phone and for the stores behind it: Apple's
App Attest and Google's Play Integrity with the keys of `urd dev`, which go through the same code
as the real ones.
"""

import base64
import datetime
import hashlib
import html
import http.client
import json
import os
import time
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, keywrap, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

TEAM = "DEMODEMO01.io.example.flagship"
PACKAGE = "io.example.flagship"
DIGEST = bytes([0x0D]) * 32


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def device_hash(password, host, rounds):
    """What a device makes of a passphrase, so that nobody else hears it."""
    salt = ("me@" + host.split(":")[0]).encode()
    key = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds, 32)
    return base64.b64encode(
        hashlib.pbkdf2_hmac("sha256", key, password.encode(), 1, 32)).decode()


class App:
    """One installation."""

    def __init__(self, values, name="Phone"):
        place = urllib.parse.urlsplit(values["URD_FLAGSHIP_URL"])
        self.values = values
        self.address = ("127.0.0.1", place.port)
        self.host = values["URD_FLAGSHIP_HOST"]
        self.name = name
        self.id = self.secret = self.registration = None
        self.access = self.refresh = None

    def call(self, method, path, body=None, form=None, bearer=None, headers=None):
        """Status, JSON if it is any, and headers."""
        sent = {"Host": self.host, "Accept": "application/json"}
        data = None
        if form is not None:
            data = urllib.parse.urlencode(form).encode()
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        elif body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        if bearer:
            sent["Authorization"] = f"Bearer {bearer}"
        sent.update(headers or {})
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        try:
            connection.request(method, path, body=data, headers=sent)
            answer = connection.getresponse()
            text = answer.read()
            try:
                return answer.status, json.loads(text), answer.headers
            except ValueError:
                return answer.status, text.decode(), answer.headers
        finally:
            connection.close()

    # Registration

    def register(self, **more):
        status, body, _ = self.call("POST", "/auth/register", {
            "redirect_uris": ["cozy://"], "client_name": self.name, "software_id": "amiral",
            "client_kind": "mobile", **more}, headers={"Authorization": "null"})
        assert status == 201, body
        self.id, self.secret = body["client_id"], body["client_secret"]
        self.registration = body["registration_access_token"]
        return body

    def information(self):
        return self.call("GET", f"/auth/register/{self.id}", bearer=self.registration)

    def unregister(self):
        return self.call("DELETE", f"/auth/register/{self.id}", bearer=self.registration)[0]

    # Certification

    def challenge(self):
        # The app sends the text `null`.
        status, body, _ = self.call(
            "POST", f"/auth/clients/{self.id}/challenge", bearer=self.registration,
            body=None, headers={"Content-Type": "application/json"})
        assert status == 201, body
        return body["nonce"]

    def attest(self, body):
        return self.call(
            "POST", f"/auth/clients/{self.id}/attestation", body, bearer=self.registration)

    def certify_by_apple(self, device=None):
        device = device or AppleDevice(self.values)
        nonce = self.challenge()
        return self.attest(device.attestation(nonce))

    def certify_by_google(self):
        nonce = self.challenge()
        return self.attest({
            "platform": "android", "issuer": "playintegrity", "challenge": nonce,
            "attestation": play_integrity(self.values, nonce)})

    # Signing in

    def members(self, **more):
        return {"client_id": self.id, "client_secret": self.secret, **more}

    def prelogin(self):
        return self.call("GET", "/public/prelogin")

    def onboard(self, password, rounds=100_000, token=None):
        return self.keep(self.call("POST", "/settings/passphrase/flagship", self.members(
            register_token=token or self.values["URD_FLAGSHIP_TOKEN"],
            passphrase=device_hash(password, self.host, rounds), hint="otters", key="k",
            public_key="pub", private_key="priv", iterations=rounds)))

    def login(self, password, **more):
        _, known, _ = self.prelogin()
        typed = device_hash(password, self.host, known["KdfIterations"])
        return self.keep(self.call(
            "POST", "/auth/login/flagship", self.members(passphrase=typed, **more)))

    def keep(self, answer):
        if answer[0] == 200:
            self.access, self.refresh = answer[1]["access_token"], answer[1]["refresh_token"]
        return answer

    def renew(self):
        answer = self.call("POST", "/auth/access_token", form=self.members(
            grant_type="refresh_token", refresh_token=self.refresh))
        if answer[0] == 200:
            self.access = answer[1]["access_token"]
        return answer

    def session_code(self):
        return self.call("POST", "/auth/session_code", bearer=self.access)

    # Apps and konnectors

    def open(self, slug):
        """All that a web app is opened with."""
        return self.call("GET", f"/apps/{slug}/open", bearer=self.access)

    def konnector_token(self, slug):
        return self.call("POST", f"/auth/tokens/konnectors/{slug}", bearer=self.access)

    def link(self, slug, **query):
        """Of a web app, for a web view that is to be signed in."""
        query["session_code"] = self.session_code()[1]["session_code"]
        return f"http://{slug}.{self.host}/?" + urllib.parse.urlencode(query)


class WebView:
    """The browser in the app: it keeps cookies, and fills forms in."""

    def __init__(self, app):
        self.app, self.cookies, self.page = app, {}, ""

    def ask(self, method, path, form=None):
        headers = {"Accept": "text/html", "Cookie": "; ".join(
            f"{name}={value}" for name, value in self.cookies.items())}
        status, self.page, answered = self.app.call(method, path, form=form, headers=headers)
        for line in answered.get_all("Set-Cookie") or []:
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return status, answered.get("Location")

    def hidden(self, name):
        """The value of a hidden input of the page."""
        start = f'<input type="hidden" name="{name}" value="'
        return html.unescape(self.page.split(start, 1)[1].split('"', 1)[0])


class Authorization:
    """A request for everything, with PKCE."""

    def __init__(self, app):
        self.app, self.verifier = app, url64(os.urandom(32))
        self.members = {
            "state": url64(os.urandom(12)), "client_id": app.id, "redirect_uri": "cozy://",
            "response_type": "code", "scope": "*", "code_challenge_method": "S256",
            "code_challenge": url64(hashlib.sha256(self.verifier.encode()).digest())}

    @property
    def path(self):
        return "/auth/authorize?" + urllib.parse.urlencode(self.members)

    def redeem(self, location):
        query = dict(urllib.parse.parse_qsl(location.split("?", 1)[1].rstrip("#")))
        assert query["state"] == self.members["state"] and query["code"] == query["access_code"]
        return self.app.keep(self.app.call("POST", "/auth/access_token", form=self.app.members(
            grant_type="authorization_code", code=query["access_code"],
            code_verifier=self.verifier)))


# CBOR, as far as a device writes it.

def cbor(value):
    def head(major, number):
        if number < 24:
            return bytes([major << 5 | number])
        for code, size in ((24, 1), (25, 2), (26, 4)):
            if number < 1 << 8 * size:
                return bytes([major << 5 | code]) + number.to_bytes(size, "big")
        raise ValueError(number)

    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    return head(5, len(value)) + b"".join(cbor(k) + cbor(v) for k, v in value.items())


class AppleIssuer:
    """Whoever signs the certificates of phones, below the demo's root."""

    def __init__(self, values):
        root = serialization.load_der_private_key(
            base64.b64decode(values["URD_FLAGSHIP_APPLE_KEY"]), None)
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Between")])
        self.key = ec.generate_private_key(ec.SECP256R1())
        above = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Urd demo store")])
        self.certificate = certificate(
            self.name, above, self.key.public_key(), root, authority=True)


def certificate(subject, issuer, key, signer, *extensions, authority=False):
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
        .public_key(key).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=3))
        .add_extension(x509.BasicConstraints(authority, None), critical=True))
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


class AppleDevice:
    """A phone, with a key in its hardware that the demo's Apple vouches for."""

    def __init__(self, values, app=TEAM, issuer=None):
        self.issuer = issuer or AppleIssuer(values)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.app = app
        self.counter = 0

    @property
    def point(self):
        return self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)

    def attestation(self, challenge):
        name = hashlib.sha256(self.point).digest()
        numbers = self.key.public_key().public_numbers()
        cose = cbor({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"),
                     -3: numbers.y.to_bytes(32, "big")})
        data = (hashlib.sha256(self.app.encode()).digest() + b"\x40" + bytes(4)
                + b"appattest" + bytes(7) + len(name).to_bytes(2, "big") + name + cose)
        nonce = hashlib.sha256(data + hashlib.sha256(challenge.encode()).digest()).digest()
        extension = x509.UnrecognizedExtension(
            x509.ObjectIdentifier("1.2.840.113635.100.8.2"),
            b"\x30\x24\xa1\x22\x04\x20" + nonce)
        leaf = certificate(
            x509.Name([]), self.issuer.name, self.key.public_key(), self.issuer.key, extension)
        chain = [leaf, self.issuer.certificate]
        statement = cbor({
            "fmt": "apple-appattest", "attStmt": {"x5c": chain, "receipt": b"r"},
            "authData": data})
        return {
            "platform": "ios", "challenge": challenge,
            "attestation": base64.b64encode(statement).decode(),
            "keyId": base64.b64encode(name).decode()}

    def assertion(self, challenge):
        self.counter += 1
        data = (hashlib.sha256(self.app.encode()).digest() + b"\x40"
                + self.counter.to_bytes(4, "big"))
        nonce = hashlib.sha256(data + hashlib.sha256(challenge.encode()).digest()).digest()
        signature = self.key.sign(nonce, ec.ECDSA(hashes.SHA256()))
        return {"challenge": challenge, "assertion": base64.b64encode(
            cbor({"signature": signature, "authenticatorData": data})).decode()}


def play_integrity(values, nonce, package=PACKAGE, digest=DIGEST):
    """Google's word on an app: signed, and then encrypted."""
    verdict = {
        "requestDetails": {"requestPackageName": package, "nonce": nonce,
                           "timestampMillis": str(int(time.time() * 1000))},
        "appIntegrity": {"appRecognitionVerdict": "PLAY_RECOGNIZED", "packageName": package,
                         "certificateSha256Digest": [url64(digest)], "versionCode": "1"},
        "deviceIntegrity": {"deviceRecognitionVerdict": ["MEETS_DEVICE_INTEGRITY"]},
        "accountDetails": {"appLicensingVerdict": "LICENSED"}}
    key = serialization.load_der_private_key(
        base64.b64decode(values["URD_FLAGSHIP_PLAY_SIGNING_KEY"]), None)
    signed = url64(b'{"alg":"ES256"}') + "." + url64(json.dumps(verdict).encode())
    r, s = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    signed += "." + url64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    outer = base64.b64decode(values["URD_FLAGSHIP_PLAY_DECRYPTION_KEY"])
    inner, initial = os.urandom(32), os.urandom(12)
    header = url64(b'{"alg":"A256KW","enc":"A256GCM"}')
    sealed = AESGCM(inner).encrypt(initial, signed.encode(), header.encode())
    return ".".join([
        header, url64(keywrap.aes_key_wrap(outer, inner)), url64(initial), url64(sealed[:-16]),
        url64(sealed[-16:])])
