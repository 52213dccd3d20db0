"""Half a year of a small realm, lived over HTTP within seconds: people who join, sign in, are refused and go,
attackers, and administrators who change things meanwhile."""

import json
import random
import time
import uuid

from phone import Phone, code, inbox
from test_passkeys import PASSKEY, Key
from urd_process import eventually

# The first two are in the databases of `places`.
NETWORKS = ("81.2.69", "89.160.20", "203.0.113")
# Nobody is slowed down.
SETTINGS = {"uniform_delay": 0, "otp_resend_delay": 0, "rate_limits": {
    "native-otp": {"target": None, "source": None, "client": None, "app": None, "sign-ups": None},
    "passkey-begin": {"source": None, "client": None}, "oauth-token": {"source": None, "client": None}}}
SCENES = 36
OTP = "urn:cocoar:otp"


def address():
    return f"{random.choice(NETWORKS)}.{random.randrange(1, 255)}"


class Person:
    """An account whose owner has an app, two networks, and a passkey in two of three cases."""

    def __init__(self, urd, number):
        self.urd = urd
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"
        self.phone = Phone(urd)
        self.networks = [address(), address()]
        self.sign_in()
        self.id = self.phone.call("GET", "/connect/userinfo", token=self.tokens["access_token"])[1]["sub"]
        self.key = None
        if number % 3:
            self.enroll()

    def ask(self, grant, where=None, **members):
        return self.phone.call(
            "POST", "/connect/token", form={"grant_type": grant, "client_id": self.phone.client, **members},
            X_Forwarded_For=where or random.choice(self.networks))[:2]

    def take(self, answer):
        status, self.tokens = answer
        assert status == 200, self.tokens

    def begin(self, what, **more):
        status, begun, _ = self.phone.call("POST", f"/connect/passkey/{what}", **more)
        assert status == 200, begun
        return begun["ceremonyId"], begun["options"]

    def sign_in(self):
        before = len(inbox(self.urd, self.email))
        status, body, _ = self.phone.request_code(self.email)
        assert status == 200, body
        self.take(self.ask(OTP, username=self.email, otp_code=code(self.urd, self.email, before),
                           scope="openid offline_access"))

    def enroll(self):
        self.key = Key(origin="https://localhost")
        token = self.tokens["access_token"]
        ceremony, options = self.begin("enroll/begin", token=token)
        status, body, _ = self.phone.call("POST", "/connect/passkey/enroll", token=token, body={
            "ceremonyId": ceremony, "attestation": self.key.create(options)})
        assert status == 200, body

    def show_passkey(self):
        ceremony, options = self.begin("begin", form={"client_id": self.phone.client})
        self.take(self.ask(PASSKEY, ceremony_id=ceremony, assertion=json.dumps(self.key.get(options)),
                           scope="openid offline_access"))

    def come_back(self):
        (self.show_passkey if self.key else self.sign_in)()
        self.refresh()
        self.refresh()

    def refresh(self):
        self.take(self.ask("refresh_token", refresh_token=self.tokens["refresh_token"]))

    def fail(self, where=None):
        status, body = self.ask(OTP, where, username=self.email, otp_code="000000", scope="openid")
        assert status == 400, body

    def leave(self):
        assert self.phone.call("POST", "/connect/revoke", form={
            "client_id": self.phone.client, "token": self.tokens["refresh_token"]})[0] == 200

    def lose_token(self):
        """A copy of it is used once more."""
        stolen = self.tokens["refresh_token"]
        self.refresh()
        self.refresh()
        assert self.ask("refresh_token", address(), refresh_token=stolen)[0] == 400


class SmallRealm:
    """Its life in scenes. `scenes` has when each began, and whether it is of the realm itself and not of its people."""

    def __init__(self, urd):
        self.urd, self.people, self.scenes = urd, [], [(0, True)]
        self.admin("PATCH", "/settings", SETTINGS)

    def admin(self, method, path, body=None):
        status, answer, _ = self.urd.api.call(method, self.urd.realm + path, body)
        assert status < 300, (method, path, status, answer)
        return answer

    def begin(self, of_the_realm=False):
        self.scenes.append((time.time(), of_the_realm))

    def live(self):
        for number in range(SCENES):
            if number % 4 == 3:
                self.begin(of_the_realm=True)
                self.administer(number)
            self.begin()
            self.people.append(Person(self.urd, number))
            for earlier in {number // 3, number * 2 // 3, number}:
                self.people[earlier].come_back()
            self.people[number // 2].fail()
            if number % 3 == 0:
                self.people[number].leave()
            if number % 9 == 8:
                self.people[number // 2].lose_token()
                self.look_after(self.people[number - 2])
        self.begin()
        # Away for months.
        self.people[0].come_back()
        self.attack()

    def administer(self, number):
        self.admin("PATCH", "/settings", {"otp_resend_delay": number // 4 % 2})
        name = f"client-{number}"
        self.admin("POST", "/clients", {
            "client_id": name, "client_name": name.title(), "redirect_uris": ["https://shop.example/back"]})
        if number % 8 == 3:
            self.admin("POST", f"/clients/{name}/disable")

    def look_after(self, person):
        """What support does for people."""
        for turn in ("disable", "enable"):
            self.admin("POST", f"/accounts/{person.id}/{turn}")

    def attack(self):
        """Many networks guess one person's codes, and one network those of many people."""
        networks = [address() for _ in range(6)]
        for number in range(12):
            self.people[7].fail(networks[number % 6])
        thief = address()
        for number in range(26):
            self.people[number].fail(thief)
        found = {"brute_force", "credential_stuffing"}
        eventually(lambda: found <= {one["rule"] for one in self.admin("GET", "/findings?limit=200")["items"]},
                   "the rules find it")
