"""What each kind of token of the federation profile may ask, cell by cell; and guards that no token shows."""

import time
import unittest
import uuid

from federation_client import App, Site, Token
from token_tool import missing, rerun
from urd_process import Urd

MISSING = missing("jwcrypto")
# By whom each may be asked. Every other token is refused with 403.
RIGHTS = [
    ("GET", "/user-profile", None, {"person", "service"}),
    ("POST", "/user-profile", {"oldpassword": "wrong"}, set()),
    ("POST", "/authorization", {"request_type": "code"}, {"person"}),
    ("GET", "/devices", None, {"person"}),
    ("DELETE", f"/devices/{uuid.UUID(int=1)}", None, {"person"}),
    ("GET", "/apps", None, {"person"}),
    ("DELETE", f"/apps/{uuid.UUID(int=1)}", None, {"person"}),
    ("GET", "/service-discovery/user", None, {"person"}),
    ("POST", "/protocol-discovery/protocol", ["org.ietf.oauth2"], {"person"}),
    ("POST", "/protocol-discovery/service", ["https://none.example"], {"person"}),
    ("POST", "/revoke", {"token": "none"}, {"device", "person", "service"}),
]


def setUpModule():
    global urd, site
    urd = Urd()
    site = Site(urd.values)


def tearDownModule():
    urd.close()


def make_service(name, **more):
    status, answer, _ = urd.api.call("POST", "/api/admin/realms/federation/clients", {
        "client_id": name, "client_name": name, "profile": "federation_service",
        "redirect_uris": [f"https://{name}.example"], **more})
    assert status == 201, answer
    return answer["client_secret"]


class Rights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.app = App(site)
        cls.app.register(), cls.app.person(), cls.app.join()
        cls.tokens = {
            "device": cls.app.client, "person": cls.app.user, "service": cls.app.service}

    def test_edu_03_each_route_takes_the_tokens_that_it_is_for(self):
        for method, path, body, right in RIGHTS:
            for holder, token in self.tokens.items():
                status, answer = token.call(method, site.url + path, body)
                if holder in right:
                    self.assertNotIn(status, (401, 403), (holder, method, path, answer))
                else:
                    self.assertEqual(status, 403, (holder, method, path, answer))

    def test_edu_04_the_passphrase_is_changed_by_the_persons_own_token_alone(self):
        url, known = site.url + "/user-profile", site.values["URD_FEDERATION_PASSPHRASE"]
        other = uuid.uuid4().hex + " of Ann"
        for holder in "device", "service":
            status, answer = self.tokens[holder].call(
                "POST", url, {"oldpassword": known, "newpassword": other})
            self.assertEqual(status, 403, (holder, answer))
        self.assertEqual(App.sign_in(self.app)[0], 200)
        self.assertEqual(App.sign_in(self.app, passphrase=other)[0], 403)

    def test_edu_02_a_person_signs_in_by_a_devices_token_alone(self):
        for holder, expected in ("person", 403), ("service", 403), ("device", 200):
            status, answer = self.app.sign_in(client=self.tokens[holder])
            self.assertEqual(status, expected, (holder, answer))

    def test_edu_07_another_app_is_authorized_by_the_services_own_token_alone(self):
        for holder, token in self.tokens.items():
            if holder != "service":
                code = self.app.app_code(token=token)
                self.assertEqual(self.app.authorize_app(code=code, token=token)[0], 403, holder)
        make_service("another", scope="org.example.notes")
        self.assertEqual(self.app.service.call(
            "POST", self.app.service_url.replace("/services/" + site.values[
                "URD_FEDERATION_SERVICE_ID"], "/services/another"),
            {"grant_type": "authorization_code", "code": self.app.app_code(),
             "scope": "org.example.notes"})[0], 403)

    def test_edu_07_a_service_without_protocols_authorizes_no_app(self):
        make_service("silent")
        app = App(site)
        app.register(), app.person(), app.join("https://silent.example")
        for scope in "org.example.notes", "openid", "":
            status, answer = app.authorize_app(scope=scope)
            self.assertEqual((status, answer["error"]), (403, "invalid_scope"), (scope, answer))

    def test_edu_14_a_services_own_request_is_good_once(self):
        key = make_service("asking")
        own = Token(site, {"kid": "asking", "mac_key": key}, "asking")
        url = site.url + "/token"
        body = {"grant_type": "validate", "jti": "0123456789"}
        text = own.jwt(url)
        self.assertEqual(site.call("POST", url, body, text)[0], 404)
        self.assertEqual(site.call("POST", url, body, text)[0], 403)
        self.assertEqual(site.call("POST", url, body, own.jwt(url))[0], 404)
        # An older one, that was not used, comes too late.
        late = own.jwt(url, seq=1, iat=int(time.time()))
        self.assertEqual(site.call("POST", url, body, late)[0], 403)


if MISSING:
    Rights = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
