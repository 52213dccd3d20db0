"""An app of the federation profile, a service and a device, over an independent JOSE library (jwcrypto)."""

import base64
import hashlib
import hmac
import http.client
import itertools
import json
import threading
import time
import urllib.parse
import uuid

from urd_process import PATIENCE

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
OLD_JWT_BEARER = "urn:ietf:param:oauth:grant-type:jwt-bearer"


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def shared_key(text):
    from jwcrypto import jwk
    return jwk.JWK(kty="oct", k=encode(text.encode()))


def signed(claims, key, kid, **header):
    from jwcrypto import jws
    token = jws.JWS(json.dumps(claims).encode())
    token.add_signature(
        shared_key(key), None, json.dumps({"alg": "HS256", "kid": kid, **header}), None)
    return token.serialize(compact=True)


def read(token, key):
    """The claims of a token that this key signed."""
    from jwcrypto import jws
    message = jws.JWS()
    message.deserialize(token)
    message.verify(shared_key(key))
    return json.loads(message.payload)


class Site:
    """The host of a realm: names below localhost are not found on every machine, and the header names it."""

    def __init__(self, values):
        self.values = values
        self.base = urllib.parse.urlsplit(values["URD_FEDERATION_URL"])
        self.port = urllib.parse.urlsplit(values["URD_URL"]).port
        self.url = values["URD_FEDERATION_URL"]
        self.local = threading.local()

    def connection(self):
        # The server ends connections on which nothing happened for a while.
        if time.monotonic() - getattr(self.local, "used", 0) > 20:
            self.local.connection = None
        self.local.used = time.monotonic()
        if getattr(self.local, "connection", None) is None:
            self.local.connection = http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=PATIENCE)
        return self.local.connection

    def call(self, method, url, body=None, authorization=None, form=None):
        place = urllib.parse.urlsplit(url)
        path = place.path + ("?" + place.query if place.query else "")
        headers = {"Host": place.netloc}
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body), "application/json"
        if form is not None:
            data = urllib.parse.urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if authorization:
            headers["Authorization"] = authorization
        connection = self.connection()
        try:
            connection.request(method, path, body=data, headers=headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            self.local.headers = answer.headers
        except (OSError, http.client.HTTPException):
            connection.close()
            self.local.connection = None
            raise
        return answer.status, json.loads(text) if text else None


class Token:
    """A token that signs requests by its key."""

    last = itertools.count(int(time.time() * 1_000_000))

    def __init__(self, site, answer, issuer):
        self.site, self.answer, self.issuer = site, answer, issuer
        self.kid, self.key = answer["kid"], answer["mac_key"]

    def mac(self, method, url, sequence=None, host=None, key=None, kid=None):
        place = urllib.parse.urlsplit(url)
        moment = str(sequence if sequence is not None else self.now())
        path = place.path + ("?" + place.query if place.query else "")
        text = f"{method} {path} HTTP/1.1\n{moment}\n{host or place.netloc}\n"
        tag = hmac.new((key or self.key).encode(), text.encode(), hashlib.sha256).digest()
        return f"MAC kid={kid or self.kid},ts={moment},mac={base64.b64encode(tag).decode()}"

    @staticmethod
    def now():
        """Microseconds, never twice."""
        Token.stamp = max(getattr(Token, "stamp", 0) + 1, int(time.time() * 1_000_000))
        return Token.stamp

    def jwt(self, url, **claims):
        now = int(time.time())
        return "Bearer " + signed(
            {"iss": self.issuer, "aud": url, "iat": now, "exp": now + 60, "seq": self.now(),
             **claims}, self.key, self.kid)

    def call(self, method, url, body=None, **more):
        return self.site.call(method, url, body, self.mac(method, url), **more)

    def call_by_jwt(self, method, url, body=None):
        return self.site.call(method, url, body, self.jwt(url))


class App:
    """One installation."""

    def __init__(self, site, client_id=None, key=None, device=None, name="Ann's phone"):
        self.site = site
        self.client_id = client_id or site.values["URD_FEDERATION_CLIENT_ID"]
        self.version_key = key or site.values["URD_FEDERATION_CLIENT_KEY"]
        self.device, self.name = device or str(uuid.uuid4()), name
        self.token_url = site.url + "/token"

    def assertion(self, **claims):
        now = int(time.time())
        members = {
            "iss": self.client_id, "aud": self.token_url, "sub": self.device, "name": self.name,
            "iat": now, "exp": now + 300, "seq": Token.now(), "device_type": "phone",
            "os": "Android 17", **claims}
        return {name: value for name, value in members.items() if value is not None}

    def show(self, key=None, kid=None, header=None, **claims):
        return self.site.call(
            "POST", self.token_url, {"grant_type": "client_credentials"},
            "Bearer " + signed(
                self.assertion(**claims), key or self.version_key, kid or self.client_id,
                **(header or {})))

    def register(self):
        status, answer = self.show()
        assert status == 200, (status, answer)
        self.client = Token(self.site, answer, self.client_id)
        return self.client

    def sign_in(self, user=None, passphrase=None, client=None):
        return (client or self.client).call("POST", self.token_url, {
            "grant_type": "password",
            "username": user or self.site.values["URD_FEDERATION_USER"],
            "password": passphrase or self.site.values["URD_FEDERATION_PASSPHRASE"]})

    def person(self, **who):
        status, answer = self.sign_in(**who)
        assert status == 200, (status, answer)
        self.user = Token(self.site, answer, self.client_id)
        return self.user

    def issue(self, service=None, user=None, **members):
        return (user or self.user).call_by_jwt("POST", self.site.url + "/authorization", {
            "request_type": "code",
            "redirect_uri": service or self.site.values["URD_FEDERATION_SERVICE_URL"],
            "client_id": self.client_id, "state": "s1", **members})

    def assertion_for(self, service=None):
        status, answer = self.issue(service)
        assert status == 200, (status, answer)
        return answer

    def redeem(self, answer, grant=JWT_BEARER, url=None):
        return self.site.call(
            "POST", url or answer["redirect_uri"],
            {"grant_type": grant, "assertion": answer["code"]})

    def join(self, service=None):
        answer = self.assertion_for(service)
        self.service_url = answer["redirect_uri"]
        status, token = self.redeem(answer)
        assert status == 200, (status, token)
        self.service = Token(self.site, token, self.client_id)
        return self.service

    def app_code(self, application="org.example.notes", token=None, kind=None, **claims):
        now = int(time.time())
        token = token or self.service
        return signed(
            {"iss": self.client_id, "aud": self.service_url, "sub": application,
             "client_id": application, "iat": now, "exp": now + 60, "jti": str(uuid.uuid4()),
             **claims}, token.key, token.kid, **({"typ": kind} if kind else {}))

    def authorize_app(self, scope="org.example.notes", code=None, token=None):
        return (token or self.service).call("POST", self.service_url, {
            "grant_type": "authorization_code", "code": code or self.app_code(), "scope": scope})

    def introspect(self, text):
        basic = base64.b64encode(
            f'{self.site.values["URD_FEDERATION_SERVICE_ID"]}:'
            f'{self.site.values["URD_FEDERATION_SERVICE_KEY"]}'.encode()).decode()
        origin = f"{self.base.scheme}://{self.base.netloc}"
        return self.site.call(
            "POST", origin + "/connect/introspect", form={"token": text},
            authorization="Basic " + basic)[1]

    @property
    def base(self):
        return self.site.base


def together(count, work):
    """What comes of so many calls at once."""
    gate, results, lock = threading.Barrier(count), [], threading.Lock()

    def run(number):
        gate.wait()
        try:
            result = work(number)
        except (OSError, http.client.HTTPException) as failure:
            result = (0, str(failure))
        with lock:
            results.append(result)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
