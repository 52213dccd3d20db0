"""OpenID Shared Signals: a receiver as others would write it, against Urd behind TLS.

The first two classes are the modules of the OpenID Foundation's plans for SSF transmitters
(`openid-ssf-transmitter-test-plan`, `openid-ssf-transmitter-caep-test-plan`), each under its own name,
with what it asserts. Each signal is verified by PyJWT and by joserfc. They are brought about by real acts:
sessions that end, an authenticator app that is enrolled, an installation that its store vouches for.
"""

import base64
import datetime
import http.client
import http.server
import json
import os
import re
import signal
import ssl
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import uuid

import pinned
from token_tool import missing, rerun

pinned.use()
MISSING = missing("jwt", "joserfc", "pyotp", "cryptography")
if not MISSING:
    import joserfc.jwk
    import joserfc.jwt
    import jwt
    import pyotp
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    from flagship_client import App
    from phone import Phone
    from urd_process import Run, Urd, eventually, together

EVENTS = "https://schemas.openid.net/secevent/"
REVOKED = EVENTS + "caep/event-type/session-revoked"
CREDENTIAL = EVENTS + "caep/event-type/credential-change"
COMPLIANCE = EVENTS + "caep/event-type/device-compliance-change"
VERIFICATION = EVENTS + "ssf/event-type/verification"
UPDATED = EVENTS + "ssf/event-type/stream-updated"
PUSH, POLL = "urn:ietf:rfc:8935", "urn:ietf:rfc:8936"
WANTED = [REVOKED, CREDENTIAL, COMPLIANCE]
NOWHERE = str(uuid.UUID(int=7))


def setUpModule():
    global urd, demo, flagship, receiver, issuer, certificate
    certificate = Certificate()
    urd = Urd(URD_OUTGOING_CA_FILE=certificate.file)
    demo = Door(certificate, "localhost", urd.realm)
    flagship = Door(certificate, "flagship.localhost", "/api/admin/realms/flagship")
    receiver = Receiver(certificate)
    issuer = demo.url
    demo.set(registration="jit_on_otp")


def tearDownModule():
    for part in (receiver, flagship, demo, urd, certificate):
        part.close()


# -- The parts that are not Urd -----------------------------------------------------------------------


class Certificate:
    """Of this machine, under its name."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="urd-signals-")
        self.file = os.path.join(self.folder.name, "certificate.pem")
        self.key = os.path.join(self.folder.name, "key.pem")
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
        now = datetime.datetime.now(datetime.timezone.utc)
        made = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
            .add_extension(x509.BasicConstraints(True, None), True)
            .sign(key, hashes.SHA256()))
        with open(self.file, "wb") as file:
            file.write(made.public_bytes(serialization.Encoding.PEM))
        with open(self.key, "wb") as file:
            file.write(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()))
        os.chmod(self.folder.name, 0o755)
        os.chmod(self.file, 0o644)

    def close(self):
        self.folder.cleanup()


class Patient(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *more):
        # Whom it answers may have been killed.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(*more)


class Listener:
    """A server over TLS at `https://localhost:<port>`."""

    def __init__(self, certificate, handler):
        self.server = Patient(("127.0.0.1", 0), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.file, certificate.key)
        self.server.socket = context.wrap_socket(
            self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"https://localhost:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Door(Listener):
    """Stands before a realm of Urd and ends TLS, as a proxy does; the realm's issuer is there."""

    def __init__(self, certificate, host, realm):
        port = int(urd.values["URD_URL"].rsplit(":", 1)[1].strip("/"))
        self.realm = realm

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                sent = {name: value for name, value in self.headers.items()
                        if name.lower() not in ("host", "connection")}
                try:
                    connection.request(self.command, self.path, body=body,
                                       headers={**sent, "Host": f"{host}:{port}"})
                    answer = connection.getresponse()
                    data = answer.read()
                    self.send_response(answer.status)
                    for name, value in answer.getheaders():
                        if name.lower() not in ("content-length", "connection", "date",
                                                "server", "transfer-encoding"):
                            self.send_header(name, value)
                    if answer.status != 204:
                        self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True
                finally:
                    connection.close()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

            def log_message(self, *_):
                pass

        super().__init__(certificate, Handler)
        self.set(links_base_url=self.url)

    def set(self, **settings):
        status, answer, _ = urd.api.call("PATCH", f"{self.realm}/settings", settings)
        assert status == 200, answer


class Receiver(Listener):
    """Takes what is pushed, by the path that it is pushed to."""

    def __init__(self, certificate):
        self.taken, self.answers, self.lock = {}, {}, threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                with receiver.lock:
                    receiver.taken.setdefault(self.path, []).append((dict(self.headers), body))
                    status, answer = receiver.answers.get(self.path, lambda _: (202, b""))(body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        super().__init__(certificate, Handler)

    def at(self, path):
        with self.lock:
            return list(self.taken.get(path, []))


class Ours:
    """A client of the realm with its token, that talks to the transmitter as its metadata says."""

    def __init__(self, scope="ssf.read ssf.manage", method="client_secret_basic", door=None,
                 **metadata):
        self.method, self.door = method, door or demo
        if method == "private_key_jwt":
            self.key = ec.generate_private_key(ec.SECP256R1())
            public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
            metadata["jwks"] = {"keys": [{**public, "alg": "ES256", "use": "sig"}]}
        status, answer, _ = urd.api.call("POST", f"{self.door.realm}/clients", {
            "client_name": "SIEM", "grant_types": ["client_credentials"], "scope": scope,
            "token_endpoint_auth_method": method, **metadata})
        assert status == 201, answer
        self.id, self.secret = answer["client_id"], answer.get("client_secret")
        self.scope = scope
        self.token = self.fetch_token()
        self.transmitter = self.metadata()

    def metadata(self):
        status, answer, headers = ask("GET", self.door.url + "/.well-known/ssf-configuration")
        assert status == 200, answer
        assert headers["Content-Type"] == "application/json", headers
        return answer

    def fetch_token(self):
        form, headers = {"grant_type": "client_credentials", "scope": self.scope}, {}
        if self.method == "client_secret_basic":
            pair = f"{self.id}:{self.secret}".encode()
            headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        elif self.method == "client_secret_post":
            form |= {"client_id": self.id, "client_secret": self.secret}
        else:
            now = int(time.time())
            form |= {
                "client_assertion_type":
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": jwt.encode(
                    {"iss": self.id, "sub": self.id, "aud": self.door.url, "iat": now,
                     "exp": now + 60, "jti": str(uuid.uuid4())}, self.key, algorithm="ES256")}
        status, answer, _ = ask("POST", self.door.url + "/connect/token", form=form, **headers)
        assert status == 200, answer
        assert answer["expires_in"] <= 3600
        return answer["access_token"]

    def call(self, method, url, body=None, token=None, **more):
        return ask(method, url, body, Authorization=f"Bearer {token or self.token}", **more)

    def endpoint(self, name, **query):
        url = self.transmitter[f"{name}_endpoint"]
        return url + ("?" + urllib.parse.urlencode(query) if query else "")

    def create(self, delivery=None, requested=WANTED, **more):
        body = {"events_requested": requested, **more}
        if delivery:
            body["delivery"] = delivery
        status, stream, _ = self.call("POST", self.endpoint("configuration"), body)
        assert status == 201, (status, stream)
        return stream

    def push(self, path=None, header=None, **more):
        path = path or f"/{uuid.uuid4()}"
        delivery = {"method": PUSH, "endpoint_url": receiver.url + path}
        if header:
            delivery["authorization_header"] = header
        return path, self.create(delivery, **more)

    def status(self, stream, value, **more):
        status, answer, _ = self.call(
            "POST", self.endpoint("status"),
            {"stream_id": stream["stream_id"], "status": value, **more})
        assert status == 200, answer
        return answer

    def verify(self, stream, state):
        status, answer, _ = self.call(
            "POST", self.endpoint("verification"),
            {"stream_id": stream["stream_id"], "state": state})
        assert status == 204, answer

    def poll(self, stream, wait=False, ack=(), **more):
        body = {"returnImmediately": not wait, **more}
        if ack:
            body["ack"] = list(ack)
        status, answer, _ = self.call("POST", stream["delivery"]["endpoint_url"], body)
        assert status == 200, (status, answer)
        return answer

    def signals(self, stream, ack=True):
        """All that there is now, verified; confirmed, if nothing else is said."""
        found = {}
        while True:
            answer = self.poll(stream)
            sets = {name: check(text, stream) for name, text in answer["sets"].items()}
            assert all(name == claims["jti"] for name, claims in sets.items())
            found |= sets
            if ack and sets:
                self.poll(stream, ack=sets, maxEvents=0)
            if not answer.get("moreAvailable") or not ack:
                return list(found.values())

    def wait_for(self, stream, event, count=1):
        seen = []

        def look():
            seen.extend(one for one in self.signals(stream) if event in one["events"])
            return len(seen) >= count

        eventually(look, f"{event} comes", patience=60)
        return seen


def ask(method, url, body=None, form=None, data=None, **headers):
    """The status, the body as JSON where it is, and the headers."""
    place = urllib.parse.urlsplit(url)
    assert place.scheme == "https", url
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    if form is not None:
        data = urllib.parse.urlencode(form).encode()
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    connection = http.client.HTTPSConnection(
        place.hostname, place.port, timeout=60,
        context=ssl.create_default_context(cafile=certificate.file))
    try:
        connection.request(
            method, place.path + ("?" + place.query if place.query else ""), body=data,
            headers=headers)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    try:
        return answer.status, json.loads(content) if content else None, answer.headers
    except ValueError:
        return answer.status, content.decode(), answer.headers


known_keys = {}


def published(issuer, kid):
    """The key of this name at the transmitter's `jwks_uri`, which is read again for a new name."""
    if (issuer, kid) not in known_keys:
        metadata = ask("GET", issuer + "/.well-known/ssf-configuration")[1]
        for one in ask("GET", metadata["jwks_uri"])[1]["keys"]:
            known_keys[issuer, one["kid"]] = one
    return known_keys[issuer, kid]


def check(token, stream):
    """The claims of a signal, as RFC 8417 and the interoperability profile want them."""
    head = jwt.get_unverified_header(token)
    assert head["typ"] == "secevent+jwt" and head["alg"] == "RS256", head
    public = published(stream["iss"], head["kid"])
    key = jwt.PyJWK(public)
    assert key.key.key_size >= 2048
    other = joserfc.jwt.decode(
        token, joserfc.jwk.RSAKey.import_key(public), algorithms=["RS256"])
    assert other.header["typ"] == "secevent+jwt", other.header
    claims = jwt.decode(
        token, key.key, algorithms=["RS256"], audience=stream["aud"], issuer=stream["iss"],
        options={"require": ["iss", "aud", "iat", "jti"]})
    assert other.claims == claims
    assert "sub" not in claims and "exp" not in claims, claims
    assert claims["iat"] <= time.time() + 1
    assert claims["txn"] and claims["sub_id"]["format"]
    assert len(claims["events"]) == 1, claims
    for kind, event in claims["events"].items():
        if "/caep/" in kind:
            assert event["reason_admin"]["en"] and isinstance(event["event_timestamp"], int)
            assert event["initiating_entity"] in ("admin", "user", "policy", "system")
    return claims


def state_of(claims):
    return claims["events"].get(VERIFICATION, {}).get("state")


def somebody():
    """A person with an account, and their tokens."""
    email = f"{uuid.uuid4().hex[:12]}@example.org"
    phone = Phone(urd, "localhost")
    return phone, phone.sign_in(email)


def log_out(phone, tokens):
    status, answer, _ = phone.call(
        "POST", "/connect/revoke",
        form={"token": tokens["refresh_token"], "client_id": phone.client})
    assert status == 200, answer


def enroll(phone, tokens):
    """An authenticator app of the person's."""
    status, begun, _ = phone.call(
        "POST", "/connect/totp/enroll/begin", token=tokens["access_token"])
    assert status == 200, begun
    code = pyotp.parse_uri(begun["OtpAuthUri"]).now()
    status, answer, _ = phone.call(
        "POST", "/connect/totp/enroll", {"Code": code}, token=tokens["access_token"])
    assert status == 200, answer


def session_of(tokens):
    return jwt.decode(tokens["id_token"], options={"verify_signature": False})["sid"]


def subject(tokens):
    return jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"]


# -- The modules of the plans -------------------------------------------------------------------------


class StreamControl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ours = Ours()

    def tearDown(self):
        for stream in self.ours.call("GET", self.ours.endpoint("configuration"))[1]:
            url = self.ours.endpoint("configuration", stream_id=stream["stream_id"])
            self.assertEqual(self.ours.call("DELETE", url)[0], 204)

    def wrong(self):
        return f"invalid:{uuid.uuid4()}"

    def test_openid_ssf_transmitter_metadata(self):
        answer = self.ours.metadata()
        self.assertEqual(answer["issuer"], issuer)
        for name in ("jwks_uri", "configuration_endpoint", "status_endpoint",
                     "verification_endpoint", "add_subject_endpoint",
                     "remove_subject_endpoint"):
            self.assertTrue(answer[name].startswith("https://"), name)
        self.assertEqual(answer["spec_version"], "1_0")
        self.assertIn(answer["default_subjects"], ("ALL", "NONE"))
        self.assertEqual(answer["delivery_methods_supported"], [PUSH, POLL])
        self.assertIn({"spec_urn": "urn:ietf:rfc:6749"}, answer["authorization_schemes"])
        self.assertFalse([name for name, value in answer.items() if value == []])
        keys = ask("GET", answer["jwks_uri"])[1]["keys"]
        self.assertTrue(any(key["kty"] == "RSA" for key in keys))

    def test_openid_ssf_stream_control_happy_path(self):
        for delivery in (None, {"method": POLL},
                         {"method": PUSH, "endpoint_url": receiver.url + "/happy"}):
            with self.subTest(delivery=delivery):
                self.walk(delivery)

    def walk(self, delivery):
        ours = self.ours
        stream = ours.create(delivery)
        self.assertEqual(stream["iss"], issuer)
        self.assertEqual(stream["aud"], ours.id)
        self.assertEqual(set(stream["events_delivered"]), set(WANTED))
        self.assertEqual(stream["delivery"]["method"], (delivery or {"method": POLL})["method"])
        url = ours.endpoint("configuration")
        one = ours.endpoint("configuration", stream_id=stream["stream_id"])
        self.assertEqual(ours.call("GET", one)[:2], (200, stream))
        self.assertEqual(ours.call("GET", url)[:2], (200, [stream]))
        status, changed, _ = ours.call("PATCH", url, {
            "stream_id": stream["stream_id"], "description": "Changed"})
        self.assertEqual((status, changed), (200, {**stream, "description": "Changed"}))
        status, replaced, _ = ours.call("PUT", url, {
            **stream, "events_requested": [REVOKED, "urn:unknown"],
            "events_delivered": stream["events_delivered"]})
        self.assertEqual(status, 200, replaced)
        self.assertEqual(replaced["events_delivered"], [REVOKED])
        self.assertNotIn("description", replaced)
        query = ours.endpoint("status", stream_id=stream["stream_id"])
        self.assertEqual(ours.call("GET", query)[1]["status"], "enabled")
        for value in ("enabled", "paused", "disabled"):
            answer = ours.status(stream, value, reason="On trial")
            self.assertEqual(answer["status"], value)
            self.assertEqual(ours.call("GET", query)[1], answer)
        self.assertEqual(ours.call("DELETE", one)[0], 204)
        self.assertEqual(ours.call("GET", one)[0], 404)
        self.assertEqual(ours.call("GET", url)[:2], (200, []))

    def test_openid_ssf_stream_control_error_create_stream_with_broken_input(self):
        status, _, _ = ask(
            "POST", self.ours.endpoint("configuration"), data=b";{ broken",
            Authorization=f"Bearer {self.ours.token}", Content_Type="application/json")
        self.assertEqual(status, 400)

    def test_openid_ssf_stream_control_error_create_stream_with_invalid_token(self):
        status, _, headers = self.ours.call(
            "POST", self.ours.endpoint("configuration"), {}, token=self.wrong())
        self.assertEqual(status, 401)
        self.assertIn("Bearer", headers["WWW-Authenticate"])

    def test_openid_ssf_stream_control_error_create_stream_with_duplicate_config(self):
        body = {"delivery": {"method": POLL}, "events_requested": WANTED}
        url = self.ours.endpoint("configuration")
        self.assertEqual(self.ours.call("POST", url, body)[0], 201)
        self.assertIn(self.ours.call("POST", url, body)[0], (201, 409))

    def test_openid_ssf_stream_control_error_read_stream_with_invalid_token(self):
        stream = self.ours.create()
        url = self.ours.endpoint("configuration", stream_id=stream["stream_id"])
        self.assertEqual(self.ours.call("GET", url, token=self.wrong())[0], 401)

    def test_openid_ssf_stream_control_read_unknown_stream(self):
        for name in (NOWHERE, "nothing"):
            url = self.ours.endpoint("configuration", stream_id=name)
            self.assertEqual(self.ours.call("GET", url)[0], 404)

    def test_openid_ssf_stream_control_error_update_stream_with_invalid_token(self):
        body = {"stream_id": self.ours.create()["stream_id"]}
        url = self.ours.endpoint("configuration")
        self.assertEqual(self.ours.call("PATCH", url, body, token=self.wrong())[0], 401)

    def test_openid_ssf_stream_control_error_update_stream_with_invalid_body(self):
        self.refuse_bodies("PATCH")

    def test_openid_ssf_stream_control_update_unknown_stream(self):
        url = self.ours.endpoint("configuration")
        self.assertEqual(self.ours.call("PATCH", url, {"stream_id": NOWHERE})[0], 404)

    def test_openid_ssf_stream_control_error_replace_stream_with_invalid_body(self):
        self.refuse_bodies("PUT")

    def test_openid_ssf_stream_control_error_replace_stream_with_invalid_token(self):
        body = {"stream_id": self.ours.create()["stream_id"]}
        url = self.ours.endpoint("configuration")
        self.assertEqual(self.ours.call("PUT", url, body, token=self.wrong())[0], 401)

    def test_openid_ssf_stream_control_replace_unknown_stream(self):
        url = self.ours.endpoint("configuration")
        self.assertEqual(self.ours.call("PUT", url, {"stream_id": NOWHERE})[0], 404)

    def test_openid_ssf_stream_control_error_delete_stream_with_invalid_token(self):
        stream = self.ours.create()
        url = self.ours.endpoint("configuration", stream_id=stream["stream_id"])
        self.assertEqual(self.ours.call("DELETE", url, token=self.wrong())[0], 401)

    def test_openid_ssf_stream_control_delete_unknown_stream(self):
        url = self.ours.endpoint("configuration", stream_id=NOWHERE)
        self.assertEqual(self.ours.call("DELETE", url)[0], 404)

    def refuse_bodies(self, method):
        stream, url = self.ours.create(), self.ours.endpoint("configuration")
        status, _, _ = ask(
            method, url, data=b";{ broken", Authorization=f"Bearer {self.ours.token}",
            Content_Type="application/json")
        self.assertEqual(status, 400)
        for body in ({}, {"stream_id": stream["stream_id"], "aud": "another"},
                     {"stream_id": stream["stream_id"], "delivery": {"method": "urn:pigeon"}},
                     {"stream_id": stream["stream_id"], "events_delivered": ["urn:a"]}):
            self.assertEqual(self.ours.call(method, url, body)[0], 400, body)

    def test_openid_ssf_stream_subject_control(self):
        stream = self.ours.create()
        body = {"stream_id": stream["stream_id"],
                "subject": {"format": "email", "email": "example.user@example.com"}}
        add, remove = self.ours.endpoint("add_subject"), self.ours.endpoint("remove_subject")
        self.assertEqual(self.ours.call("POST", add, {**body, "verified": True})[0], 200)
        self.assertEqual(self.ours.call("POST", remove, body)[0], 204)
        self.assertEqual(self.ours.call("POST", add, body, token=self.wrong())[0], 401)
        self.assertEqual(
            self.ours.call("POST", add, {**body, "stream_id": NOWHERE})[0], 404)
        self.assertEqual(
            self.ours.call("POST", add, {"stream_id": stream["stream_id"]})[0], 400)


class Delivery(unittest.TestCase):
    def setUp(self):
        self.ours = Ours()

    def verified(self, path, stream, state):
        """The verification with this state, once it was pushed."""
        def look():
            return [(headers, check(body, stream)) for headers, body in receiver.at(path)
                    if state_of(check(body, stream)) == state]
        return eventually(look, "the verification is pushed", patience=10)[0]

    def test_openid_ssf_transmitter_stream_verification_push(self):
        header = f"Bearer {uuid.uuid4()}"
        path, stream = self.ours.push(header=header)
        self.assertNotIn(header, json.dumps(stream))
        state = str(uuid.uuid4())
        self.ours.verify(stream, state)
        headers, claims = self.verified(path, stream, state)
        self.assertEqual(headers["Content-Type"], "application/secevent+jwt")
        self.assertEqual(headers["Accept"], "application/json")
        self.assertEqual(headers["Authorization"], header)
        self.assertEqual(
            claims["sub_id"], {"format": "opaque", "id": stream["stream_id"]})
        unsolicited = [one for one in receiver.at(path) if not state_of(check(one[1], stream))]
        self.assertLessEqual(len(unsolicited), 10)

    def test_openid_ssf_transmitter_stream_verification_error_push_no_auth(self):
        path, stream = self.ours.push()
        self.ours.verify(stream, "without")
        headers, _ = self.verified(path, stream, "without")
        self.assertNotIn("Authorization", headers)

    def test_openid_ssf_transmitter_stream_verification_poll_only(self):
        stream = self.ours.create({"method": POLL})
        self.ours.verify(stream, "polled")
        first = self.ours.poll(stream, maxEvents=10)["sets"]
        states = [state_of(check(token, stream)) for token in first.values()]
        # The one that nobody asked for, and the one that was.
        self.assertEqual(sorted(states, key=str), [None, "polled"])
        # What is not confirmed comes again, byte for byte.
        self.assertEqual(self.ours.poll(stream, maxEvents=10)["sets"], first)

    def test_openid_ssf_transmitter_stream_verification_poll_and_ack(self):
        stream = self.ours.create({"method": POLL})
        self.ours.verify(stream, "confirmed")
        first = self.ours.poll(stream, maxEvents=10)["sets"]
        self.assertEqual(len(first), 2)
        self.assertEqual(self.ours.poll(stream, ack=first, maxEvents=10)["sets"], {})

    def test_openid_ssf_transmitter_stream_verification_ack_only(self):
        stream = self.ours.create({"method": POLL})
        self.ours.verify(stream, "confirmed")
        first = self.ours.poll(stream, maxEvents=10)["sets"]
        self.assertEqual(self.ours.poll(stream, ack=first, maxEvents=0)["sets"], {})
        self.assertEqual(self.ours.poll(stream, maxEvents=10)["sets"], {})

    def told(self, kind, act, door=None):
        """Does something while a receiver polls and another is pushed to: what each of them is told."""
        ours = Ours(door=door)
        path, pushed = ours.push()
        polled = ours.create()
        act()
        by_poll = ours.wait_for(polled, kind)[0]
        by_push = eventually(
            lambda: [one for _, body in receiver.at(path)
                     if kind in (one := check(body, pushed))["events"]],
            f"{kind} is pushed", patience=60)[0]
        self.assertEqual(by_push["events"], by_poll["events"])
        self.assertEqual(by_push["sub_id"], by_poll["sub_id"])
        self.assertEqual(by_push["txn"], by_poll["txn"])
        self.assertNotEqual(by_push["jti"], by_poll["jti"])
        return by_poll["sub_id"], by_poll["events"][kind]

    def test_openid_ssf_transmitter_stream_caep_interop(self):
        phone, tokens = somebody()
        user = {"format": "iss_sub", "iss": issuer, "sub": subject(tokens)}
        with self.subTest("credential-change"):
            about, event = self.told(CREDENTIAL, lambda: enroll(phone, tokens))
            self.assertEqual(about, user)
            self.assertEqual(
                (event["credential_type"], event["change_type"]), ("app", "create"))
            self.assertEqual(event["reason_admin"], {"en": "totp.confirmed"})
        with self.subTest("session-revoked"):
            about, event = self.told(REVOKED, lambda: log_out(phone, tokens))
            self.assertEqual(about, {
                "format": "complex", "user": user,
                "session": {"format": "opaque", "id": session_of(tokens)},
                "tenant": {"format": "opaque", "id": urd.values["URD_REALM"]}})
            self.assertEqual(event["reason_admin"], {"en": "session.ended: revoked"})
            self.assertIn(event["initiating_entity"], ("user", "system"))
        with self.subTest("device-compliance-change"):
            app = App(urd.values)
            app.register()
            about, event = self.told(
                COMPLIANCE, lambda: self.assertEqual(app.certify_by_google()[0], 204), flagship)
            self.assertEqual((about["format"], about["tenant"]["id"]), ("complex", "flagship"))
            self.assertEqual(
                (event["previous_status"], event["current_status"]),
                ("not-compliant", "compliant"))
            self.assertEqual(event["reason_admin"], {"en": "client.certified"})


class Faults(unittest.TestCase):
    """What is pushed while something dies: each signal comes, in order, and twice only by one name."""

    def setUp(self):
        self.ours = Ours()
        self.path, self.stream = self.ours.push(requested=[REVOKED])
        self.ended = {}

    def revoke(self, people=2, sessions=2):
        """Ends some sessions of some people, one after the other."""
        for _ in range(people):
            email = f"{uuid.uuid4().hex[:12]}@example.org"
            phone = Phone(urd, "localhost")
            for tokens in [phone.sign_in(email) for _ in range(sessions)]:
                log_out(phone, tokens)
                self.ended.setdefault(subject(tokens), []).append(session_of(tokens))

    def told(self):
        """The sessions of each person in the order of their first signals; and what each is called."""
        order, names = {}, {}
        for _, body in receiver.at(self.path):
            claims = check(body, self.stream)
            if REVOKED not in claims["events"]:
                continue
            person = claims["sub_id"]["user"]["sub"]
            session = claims["sub_id"]["session"]["id"]
            names.setdefault(session, set()).add((claims["jti"], body))
            if session not in order.setdefault(person, []):
                order[person].append(session)
        return order, names

    def check_all(self):
        eventually(lambda: self.told()[0] == self.ended, "all signals come, in order", 90)
        # The same name and the same bytes in each attempt.
        self.assertFalse([one for one in self.told()[1].values() if len(one) != 1])

    def restart(self):
        run = urd.run
        run.end(signal.SIGKILL)
        run.output.close()
        urd.api.close()
        urd.run = Run(run.data, port=run.port, URD_OUTGOING_CA_FILE=certificate.file).ready()
        urd.values = urd.run.values()

    def test_signals_survive_a_server_that_is_killed(self):
        for _ in range(3):
            # While the receiver thinks, the server dies: it cannot know whether the receiver has it.
            receiver.answers[self.path] = lambda _: (time.sleep(0.3), (202, b""))[1]
            self.revoke()
            time.sleep(0.2)
            self.restart()
        receiver.answers.pop(self.path)
        self.check_all()

    def test_signals_survive_a_database_that_is_killed(self):
        for _ in range(3):
            self.revoke()
            before = urd.run.postmaster()
            os.kill(before, signal.SIGKILL)

            def is_back():
                try:
                    return urd.run.postmaster() != before and urd.run.sql("select 1") == "1"
                except Exception:
                    return False

            eventually(is_back, "PostgreSQL is back")
            eventually(lambda: urd.ready()[0] == 200, "the server is ready")
        self.check_all()

    def test_signals_wait_for_a_receiver_that_fails(self):
        fails = [500, 400]
        receiver.answers[self.path] = lambda _: (fails.pop(), b"") if fails else (202, b"")
        self.revoke(people=3)
        self.check_all()

    def test_a_signal_that_its_receiver_refuses_is_not_sent_again(self):
        refused = []

        def answer(body):
            if REVOKED in jwt.decode(body, options={"verify_signature": False})["events"]:
                refused.append(body)
                return 400, json.dumps({"err": "invalid_request"}).encode()
            return 202, b""

        receiver.answers[self.path] = answer
        self.revoke(people=1, sessions=2)
        eventually(lambda: len(refused) == 2, "both were refused")
        self.ours.verify(self.stream, "after")
        eventually(
            lambda: any(state_of(check(body, self.stream)) == "after"
                        for _, body in receiver.at(self.path)),
            "a later signal comes")
        self.assertEqual(len(refused), 2)

    def test_what_is_pushed_is_counted_and_a_receiver_that_fails_is_found(self):
        def counted(outcome):
            text = urd.private("/metrics")[1]
            found = re.search(
                rf'urd_subscription_attempts_total{{kind="ssf",outcome="{outcome}"}} (\d+)', text)
            return int(found[1]) if found else 0

        eventually(lambda: counted("delivered") > 0, "what was taken is counted")
        receiver.answers[self.path] = lambda _: (500, b"")
        before = counted("failed")
        self.ours.verify(self.stream, "failing")
        eventually(lambda: counted("failed") > before, "failures are counted")
        urd.sql("update urd.ssf_cursor set failing_since = now() - interval '2 hours' "
                f"where stream = '{self.stream['stream_id']}'")
        found = urd.command("doctor").stdout
        self.assertRegex(
            found, rf"{self.stream['stream_id']} of {self.ours.id} in \w+: nothing was taken")
        receiver.answers.pop(self.path)

    def test_the_sets_of_a_poll_are_written_in_the_order_of_the_log(self):
        kinds = [EVENTS + "risc/event-type/account-disabled", EVENTS + "risc/event-type/account-enabled"]
        stream = self.ours.create(requested=kinds)
        self.ours.signals(stream)
        account = urd.api.call(
            "POST", urd.realm + "/accounts", {"email": f"{uuid.uuid4().hex[:12]}@example.org"})[1]["id"]
        for word in ["disable", "enable"] * 4:
            self.assertEqual(urd.api.call("POST", f"{urd.realm}/accounts/{account}/{word}")[0] // 100, 2)

        def all_there():
            sets = self.ours.poll(stream)["sets"]
            return sets if len(sets) == 8 else None
        tokens = eventually(all_there, "all are there").values()
        claims = [jwt.decode(token, options={"verify_signature": False}) for token in tokens]
        self.assertEqual([list(one["events"]) for one in claims], [[kind] for kind in kinds * 4])
        places = [int(one["txn"].split(":")[1]) for one in claims]
        self.assertEqual(places, sorted(places))

    def test_the_answer_to_a_poll_says_that_there_is_more_where_there_is(self):
        ours = Ours()
        stream = ours.create()
        eventually(lambda: ours.poll(stream)["sets"], "the verification is there")
        ours.verify(stream, "second")
        # A client of SGNL (caep.dev, ssfreceiver) reads an answer whose members are all maps of texts.
        two = ours.poll(stream)
        self.assertEqual((list(two), len(two["sets"])), (["sets"], 2))
        one = ours.poll(stream, maxEvents=1)
        self.assertEqual((one["moreAvailable"], len(one["sets"])), (True, 1))
        self.assertEqual(ours.poll(stream, ack=two["sets"], maxEvents=0), {"sets": {}})
        self.assertEqual(ours.poll(stream), {"sets": {}})

    def test_an_empty_text_says_nothing_but_as_the_state_of_a_verification(self):
        ours = Ours()
        path, stream = ours.push(description="A stream")
        # A client of SGNL (caep.dev-receiver) has a reason in each request.
        self.assertEqual(
            ours.status(stream, "paused", reason=""),
            {"stream_id": stream["stream_id"], "status": "paused"})
        ours.status(stream, "enabled", reason="")
        status, answer, _ = ours.call("PATCH", ours.endpoint("configuration"), {
            "stream_id": stream["stream_id"], "description": ""})
        self.assertEqual((status, "description" in answer), (200, False), answer)
        ours.verify(stream, "")
        eventually(lambda: any(state_of(check(token, stream)) == "" for _, token in receiver.at(path)),
                   "the state came back")

    def test_a_long_poll_ends_with_the_next_signal(self):
        stream = self.ours.create(requested=[REVOKED])
        self.ours.signals(stream)
        phone, tokens = somebody()
        answers = together(2, lambda number: (
            self.ours.poll(stream, wait=True) if number == 0
            else (time.sleep(1), log_out(phone, tokens))))
        self.assertEqual(len(answers[0]["sets"]), 1, answers)

    def test_a_long_poll_of_a_client_that_is_disabled_ends_at_once_without_signals(self):
        other = Ours()
        stream = other.create(requested=[REVOKED])
        other.signals(stream)
        phone, tokens = somebody()

        def disable():
            time.sleep(1)
            status, answer, _ = urd.api.call(
                "POST", f"{other.door.realm}/clients/{other.id}/disable")
            assert status < 300, answer
            log_out(phone, tokens)

        began = time.monotonic()
        answers = together(2, lambda number: (
            other.poll(stream, wait=True) if number == 0 else disable()))
        self.assertEqual(answers[0]["sets"], {})
        self.assertLess(time.monotonic() - began, 8)
        url = stream["delivery"]["endpoint_url"]
        self.assertEqual(other.call("POST", url, {"returnImmediately": True})[0], 401)

    def test_a_receiver_sees_no_stream_of_another_and_pushes_lead_to_no_address(self):
        other = Ours()
        url = other.endpoint("configuration", stream_id=self.stream["stream_id"])
        self.assertEqual(other.call("GET", url)[0], 404)
        self.assertEqual(other.call("DELETE", url)[0], 404)
        self.assertEqual(
            other.call("POST", issuer + "/ssf/poll/" + self.stream["stream_id"], {})[0], 404)
        for endpoint in ("http://localhost/a", "https://127.0.0.1/a", "https://[::1]/a",
                         "https://169.254.169.254/latest", "https://a@localhost/", "ftp://a/b",
                         "https://localhost/#a"):
            status, _, _ = other.call("POST", other.endpoint("configuration"), {
                "delivery": {"method": PUSH, "endpoint_url": endpoint}})
            self.assertEqual(status, 400, endpoint)

    def test_a_header_holds_no_second_line(self):
        url = self.ours.endpoint("configuration")
        for header in ("Bearer a\r\nX-Evil: b", "Bearer a\nX-Evil: b", "Bearer \x00", "B\u00e4rer",
                       "", "a" * 1025, ["Bearer a"], {"a": "b"}):
            status, answer, _ = self.ours.call("POST", url, {"delivery": {
                "method": PUSH, "endpoint_url": receiver.url + "/header",
                "authorization_header": header}})
            self.assertEqual(status, 400, (header, answer))

    def test_large_bodies_and_fifty_polls_at_once_are_answered(self):
        stream = self.ours.create(requested=[REVOKED])
        for url in (self.ours.endpoint("configuration"), stream["delivery"]["endpoint_url"]):
            status, _, _ = self.ours.call("POST", url, {"description": "a" * 70_000})
            self.assertEqual(status, 413)
        deep = b"[" * 50_000
        status, _, _ = ask("POST", self.ours.endpoint("configuration"), data=deep,
                           Authorization=f"Bearer {self.ours.token}",
                           Content_Type="application/json")
        self.assertEqual(status, 400)
        first = self.ours.poll(stream)["sets"]
        self.assertEqual(len(first), 1)
        answers = together(50, lambda _: self.ours.poll(stream, ack=first))
        self.assertEqual([one["sets"] for one in answers], [{}] * 50)

    def test_earlier_signals_are_sent_again_by_the_same_names(self):
        stream = self.ours.create(requested=[REVOKED])
        phone, tokens = somebody()
        log_out(phone, tokens)
        told = self.ours.wait_for(stream, REVOKED)
        replay = issuer + "/ssf/replay"
        status, answer, _ = self.ours.call(
            "POST", replay, {"stream_id": stream["stream_id"], "from": "0:0"})
        self.assertEqual(status, 200, answer)
        again = self.ours.wait_for(stream, REVOKED)
        self.assertEqual([one["jti"] for one in again], [one["jti"] for one in told])
        status, answer, _ = self.ours.call(
            "POST", replay, {"stream_id": stream["stream_id"], "from": again[0]["txn"]})
        self.assertEqual((status, answer["from"]), (200, again[0]["txn"]))
        self.assertEqual(self.ours.signals(stream), [])

    def test_every_way_to_authenticate_gets_a_token(self):
        for method in ("client_secret_basic", "client_secret_post", "private_key_jwt"):
            with self.subTest(method=method):
                self.assertIn("delivery", Ours(method=method).create())


def load_tests(loader, standard, pattern):
    return rerun(__file__) if MISSING else standard


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
