"""What published clients send that ask for less than they should, byte for byte as they do: the two apps and the command
line of edu-ID, and the SDKs of Cotter. The demo realms have the settings that serve them; elsewhere all of it is
refused."""

import base64
import hashlib
import hmac
import http.client
import json
import secrets
import signal
import time
import unittest
import urllib.parse
import uuid

from federation_client import App as Version, OLD_JWT_BEARER, Site, Token, signed, together
from token_tool import missing, rerun
from urd_process import PATIENCE, Server, Urd
from verify_client import App, address, challenge_of

MISSING = missing("jose", "fido2", "cryptography", "jwcrypto")
if not MISSING:
    import flagship_client
    import test_federation_openid as openid
    import test_verify_breadth as breadth


def setUpModule():
    global urd, site, base
    urd = Urd()
    site = Site(urd.values)
    # Where these apps look for the service.
    base = site.url + "/eduid.php"


def tearDownModule():
    urd.close()


def settings(realm, **changes):
    status, body, _ = urd.api.call("PATCH", f"/api/admin/realms/{realm}/settings", changes)
    assert status == 200, body


def plain(data):
    """Base 64 in its first alphabet, without padding."""
    return base64.b64encode(data).decode().rstrip("=")


class OldApp:
    """The first app of edu-ID on iOS: it keeps answers as they are, reads the key from `jwk` and `k`, and writes
    whom it is for and from into a JWT, and nothing else. Every request goes out in the name of the address above."""

    def __init__(self, name="Ann's iPhone"):
        self.id, self.name = str(uuid.uuid4()).upper(), name
        version = site.values["URD_FEDERATION_CLIENT_ID"]
        self.built_in = {
            "jwk": {"use": "sig", "alg": "HS256", "kid": version},
            "k": site.values["URD_FEDERATION_CLIENT_KEY"], "aud": version}

    def jwt(self, token, audience=None, **more):
        jwk = token["jwk"]
        claims = {"iss": token.get("aud", self.id), "aud": audience or base, **more}
        head = {"typ": "JWT", "alg": jwk["alg"], "kid": jwk["kid"]}
        text = ".".join(plain(json.dumps(part).encode()) for part in (head, claims))
        tag = hmac.new(token["k"].encode(), text.encode(), hashlib.sha256).digest()
        return f"{text}.{plain(tag)}"

    def send(self, method, url, body, token, audience=None, **more):
        return site.call(method, url, body, "Bearer " + self.jwt(token, audience, **more))

    def shown(self):
        return self.jwt(self.built_in, sub=self.id, name=self.name)

    def register(self):
        status, self.client = site.call(
            "POST", base + "/token", {"grant_type": "client_credentials"},
            "Bearer " + self.shown())
        assert status == 200, self.client
        return self

    def sign_in(self, passphrase=None):
        status, answer = self.send("POST", base + "/token", {
            "grant_type": "password", "username": site.values["URD_FEDERATION_USER"],
            "password": passphrase or site.values["URD_FEDERATION_PASSPHRASE"]}, self.client)
        if status == 200:
            self.person = answer
        return status

    def profile(self):
        return self.send("GET", base + "/user-profile", None, self.person)


def opened():
    app = OldApp().register()
    assert app.sign_in() == 200
    return app


class OldInterface(unittest.TestCase):
    def test_edu_03_the_first_app_walks_from_its_device_to_another_app(self):
        app = opened()
        status, [profile] = app.profile()
        self.assertEqual((status, profile["mailaddress"]),
                         (200, site.values["URD_FEDERATION_USER"]))
        status, found = app.send(
            "POST", base + "/protocol-discovery/protocol", ["org.example.notes"], app.person)
        self.assertEqual(status, 200, found)
        [service] = [one for one in found if one["engineName"] == "Demo service"]
        endpoint = service["apis"]["org.ietf.oauth2"]["apiLink"] + "/token"
        status, assertion = app.send("POST", base + "/authorization", {
            "request_type": "code", "redirect_uri": endpoint, "client_id": app.id}, app.person)
        self.assertEqual(status, 200, assertion)
        status, held = site.call("POST", assertion["redirect_uri"], {
            "grant_type": OLD_JWT_BEARER, "assertion": assertion["code"]})
        self.assertEqual(status, 200, held)
        # The header and the code are one text.
        text = app.jwt(held, endpoint, sub="org.example.notes")
        body = {"grant_type": "authorization_code", "code": text, "client_id": "org.example.notes"}
        status, granted = site.call("POST", endpoint, body, "Bearer " + text)
        self.assertEqual((status, granted.get("token_type")), (200, "Bearer"), granted)
        self.assertEqual(site.call("POST", endpoint, body, "Bearer " + text)[0], 403)
        self.assertIn(
            site.call("POST", endpoint, {**body, "more": ""}, "Bearer " + text)[0], (400, 403))

    def test_edu_03_what_has_no_time_is_good_once_with_each_request(self):
        app = OldApp().register()
        self.assertEqual(site.call("POST", base + "/token", {"grant_type": "client_credentials"},
                                   "Bearer " + app.shown())[0], 403)
        # What shows a device is good once, with other bodies too and under either name of the surface.
        for url, more in ((base, {"more": ""}), (site.url, {})):
            self.assertEqual(site.call(
                "POST", url + "/token", {"grant_type": "client_credentials", **more},
                "Bearer " + app.shown())[0], 403)
        # Typed wrongly, and then rightly.
        self.assertEqual(app.sign_in("not the right one"), 403)
        self.assertEqual(app.sign_in(), 200)
        self.assertEqual(app.profile()[0], 200)
        token = "Bearer " + app.jwt(app.person)
        # Neither of the surface's two names makes it another request.
        for url in base, site.url:
            self.assertEqual(site.call("GET", url + "/user-profile", None, token)[0], 403)
        # Nor does the other alphabet make it another JWT.
        other = token.replace("+", "-").replace("/", "_")
        self.assertEqual(site.call("GET", base + "/user-profile", None, other)[0], 403)
        again = opened()
        answers = together(20, lambda _: again.profile()[0])
        self.assertEqual(sorted(answers), [200] + [403] * 19)

    def test_edu_03_what_has_no_time_is_good_once_where_the_realm_says_so(self):
        settings("federation", untimed_requests="once")
        self.addCleanup(settings, "federation", untimed_requests="once_per_request")
        app = opened()
        self.assertEqual(app.profile()[0], 200)
        for body in ["org.example.notes"], ["org.ietf.oauth2"]:
            self.assertEqual(app.send(
                "POST", base + "/protocol-discovery/protocol", body, app.person)[0], 403)

    def test_edu_03_what_has_no_time_is_refused_unless_the_realm_takes_it(self):
        taken = OldApp()
        settings("federation", untimed_requests="refused")
        self.addCleanup(settings, "federation", untimed_requests="once_per_request")
        self.assertEqual(site.call("POST", base + "/token", {"grant_type": "client_credentials"},
                                   "Bearer " + taken.shown())[0], 403)
        status, answer = Version(site).show()
        self.assertEqual(status, 200)
        self.assertFalse({"jwk", "k"} & set(answer))

    def test_edu_03_a_time_that_is_there_counts(self):
        """Leaving one of the two out frees from nothing, nor does an end that is past."""
        now = int(time.time())
        for case, claims in {
                "number alone": {"seq": 1}, "old": {"iat": now - 400}, "over": {"exp": now - 1},
                "not yet": {"nbf": now + 400}, "no number": {"iat": None}, "text": {"exp": "x"},
                }.items():
            app = OldApp()
            text = app.jwt(app.built_in, sub=app.id, name=app.name, **claims)
            self.assertEqual(site.call(
                "POST", base + "/token", {"grant_type": "client_credentials"},
                "Bearer " + text)[0], 403, case)
        app = opened()
        for case, claims in {
                "number alone": {"seq": Token.now()}, "old": {"iat": now - 400},
                "over": {"exp": now - 1}}.items():
            self.assertEqual(app.send(
                "GET", base + "/user-profile", None, app.person, **claims)[0], 403, case)
        # What another key signed, or nobody, uses nothing up.
        forged = {**app.person, "k": "x" * 100}
        self.assertEqual(app.send("GET", base + "/user-profile", None, forged)[0], 403)
        self.assertEqual(app.profile()[0], 200)

    def test_edu_03_the_command_line_asks_for_an_assertion(self):
        """The client of the reference server: MACs of whole seconds whose host has no port, and two JWTs whose `iss`
        is the device. (Its host has no port because it asks at the usual one.)"""
        device, version = str(uuid.uuid4()), site.values["URD_FEDERATION_CLIENT_ID"]
        app = Version(site, device=device)
        claims = {"iss": version, "aud": base + "/token", "sub": device, "name": "laptop"}
        status, client = site.call(
            "POST", base + "/token", {"grant_type": "client_credentials"},
            "Bearer " + signed(claims, app.version_key, version))
        self.assertEqual(status, 200, client)
        client = Token(site, client, version)
        status, person = site.call("POST", base + "/token", {
            "grant_type": "password", "username": site.values["URD_FEDERATION_USER"],
            "password": site.values["URD_FEDERATION_PASSPHRASE"]},
            client.mac("POST", base + "/token", sequence=int(time.time())))
        self.assertEqual(status, 200, person)
        person = Token(site, person, device)
        self.assertEqual(site.call(
            "GET", base + "/user-profile", None,
            person.mac("GET", base + "/user-profile", sequence=int(time.time())))[0], 200)
        url = base + "/authorization"
        text = "Bearer " + signed({"iss": device, "aud": url}, person.key, person.kid)
        body = {"request_type": "code", "client_id": device,
                "redirect_uri": site.values["URD_FEDERATION_SERVICE_URL"]}
        status, assertion = site.call("POST", url, body, text)
        self.assertEqual(status, 200, assertion)
        self.assertEqual(site.call("POST", url, body, text)[0], 403)
        status, held = site.call("POST", assertion["redirect_uri"], {
            "grant_type": OLD_JWT_BEARER, "assertion": assertion["code"]})
        self.assertEqual(status, 200, held)

    def test_edu_03_what_has_no_time_is_good_once_on_all_nodes_and_after_a_restart(self):
        global base
        # One issuer at all nodes, whatever port each listens at.
        issuer, before = "https://federation.localhost", base
        settings("federation", links_base_url=issuer)
        self.addCleanup(settings, "federation", links_base_url=None)
        base = issuer + "/eduid/eduid.php"

        def back():
            global base
            base = before
        self.addCleanup(back)
        node = Server(urd.values).ready()
        self.addCleanup(lambda: node.close())
        elsewhere = Site(urd.values)
        elsewhere.port = node.port
        app, other, last = opened(), opened(), opened()

        def ask(place, app):
            return place.call(
                "GET", base + "/user-profile", None, "Bearer " + app.jwt(app.person))[0]

        def show(place):
            return place.call("POST", base + "/token", {"grant_type": "client_credentials"},
                              "Bearer " + app.shown())[0]

        self.assertEqual([ask(site, app), ask(elsewhere, app), show(elsewhere)], [200, 403, 403])
        answers = together(20, lambda number: ask((site, elsewhere)[number % 2], other))
        self.assertEqual(sorted(answers), [200] + [403] * 19)
        self.assertEqual(ask(elsewhere, last), 200)
        node.end(signal.SIGKILL)
        node.close()
        node = Server(urd.values).ready()
        elsewhere = Site(urd.values)
        elsewhere.port = node.port
        for place in site, elsewhere:
            self.assertEqual([ask(place, one) for one in (app, other, last)], [403] * 3)
            self.assertEqual(show(place), 403)
        # The database remembers, and so many of one key at most.
        most = urd.sql("select max(n) from (select count(*) as n from urd.untimed_request"
                       " group by realm, token) t")
        self.assertLessEqual(int(most), 1000)

    def test_edu_03_the_memory_of_a_device_is_kept_and_has_an_end(self):
        """What came before is never forgotten for what comes after."""
        app = OldApp().register()
        before = app.shown()
        for number in range(99):
            app.name = f"Ann's iPhone {number}"
            app.register()
        app.name = "one too many"
        send = {"grant_type": "client_credentials"}
        self.assertEqual(site.call(
            "POST", base + "/token", send, "Bearer " + app.shown())[0], 403)
        self.assertEqual(site.call("POST", base + "/token", send, "Bearer " + before)[0], 403)
        # With a time it is shown as before.
        status, _ = Version(site, device=app.id).show()
        self.assertEqual(status, 200)


class Discovery(unittest.TestCase):
    """The newer app asks without a token, and puts each link behind the home page's."""

    def ask(self, *names):
        status, found = site.call("POST", site.url + "/protocol-discovery/protocol", list(names))
        self.assertEqual(status, 200, found)
        return {one["engineName"]: one for one in found}

    @staticmethod
    def joined(one):
        return one["homePageLink"] + one["apis"]["org.ietf.oauth2"]["apiLink"]

    def test_edu_12_the_newer_app_finds_services_without_a_token(self):
        status, body, _ = urd.api.call("POST", "/api/admin/realms/federation/clients", {
            "client_id": "relaying", "client_name": "Relaying", "profile": "federation_service",
            "redirect_uris": ["https://relaying.example/login/back"],
            "scope": "openid org.example.relayed", "service_description": {
                "engineName": "Relaying", "engineLink": "/", "homePageLink": "https://relaying.example/",
                "apis": {"org.ietf.oauth2": {"apiLink": "login/back"},
                         "org.example.relayed": {"apiLink": "https://relaying.example/notes"}}}})
        self.assertEqual(status, 201, body)
        found = self.ask("org.example.relayed")
        self.assertEqual(set(found), {"Relaying"})
        # The address that its assertions are for (`azp`).
        self.assertEqual(self.joined(found["Relaying"]), "https://relaying.example/login/back")
        self.assertEqual(found["Relaying"]["apis"]["org.example.relayed"]["apiLink"], "/notes")
        # One whose tokens come from elsewhere has the root of that host.
        one = self.ask("org.example.notes")["Demo service"]
        self.assertEqual(self.joined(one), site.url + "/services/demo-service")
        self.assertEqual(self.ask("org.example.notes", "org.example.relayed"), {})

    def test_edu_12_other_questions_need_a_token(self):
        for method, path, body in (
                ("POST", "/protocol-discovery/service", ["https://service.example"]),
                ("GET", "/service-discovery/user", None), ("GET", "/apps", None)):
            self.assertEqual(site.call(method, site.url + path, body)[0], 401, path)
        # A token that is not good is no missing one.
        path = site.url + "/protocol-discovery/protocol"
        self.assertEqual(site.call("POST", path, ["org.ietf.oauth2"], "Bearer x.y.z")[0], 403)
        settings("federation", unsigned_discovery=False)
        self.addCleanup(settings, "federation", unsigned_discovery=True)
        self.assertEqual(site.call("POST", path, ["org.ietf.oauth2"])[0], 401)


class LetIn(unittest.TestCase):
    def test_edu_10_people_see_and_end_which_apps_they_let_in(self):
        app, other = Version(site), Version(site, name="Ann's tablet")
        for one in app, other:
            one.register()
            one.person()
            one.join()
        status, granted = app.authorize_app()
        self.assertEqual(status, 200, granted)
        status, elsewhere = other.authorize_app()
        self.assertEqual(status, 200, elsewhere)
        url = site.url + "/apps"
        status, listed = app.user.call("GET", url)
        self.assertEqual(status, 200, listed)
        [mine] = [one for one in listed if one["current"]]
        self.assertEqual(
            (mine["app_id"], mine["client_id"], mine["service"], mine["service_name"],
             mine["scope"]),
            ("org.example.notes", "demo-service", "https://service.example", "Demo service",
             "org.example.notes"))
        # Not by the service's token, nor by another person, nor what is no app's.
        self.assertEqual(app.service.call("GET", url)[0], 403)
        self.assertEqual(app.service.call("DELETE", f"{url}/{mine['id']}")[0], 403)
        stranger = self.stranger()
        self.assertEqual(stranger.call("GET", url)[1], [])
        self.assertEqual(stranger.call("DELETE", f"{url}/{mine['id']}")[0], 404)
        self.assertEqual(app.user.call("DELETE", f"{url}/{uuid.uuid4()}")[0], 404)
        self.assertTrue(app.introspect(granted["access_token"])["active"])
        self.assertEqual(app.user.call("DELETE", f"{url}/{mine['id']}")[0], 204)
        self.assertFalse(app.introspect(granted["access_token"])["active"])
        self.assertIn(site.call("POST", app.service_url, {
            "grant_type": "refresh_token", "refresh_token": granted["refresh_token"]})[0], (400, 403))
        self.assertEqual(app.user.call("DELETE", f"{url}/{mine['id']}")[0], 404)
        # The app on the other device, and the service's token, go on.
        self.assertTrue(app.introspect(elsewhere["access_token"])["active"])
        self.assertEqual(app.authorize_app()[0], 200)

    def stranger(self):
        """Another person, on a device of their own."""
        openid.urd, openid.site = urd, site
        who, chosen = f"{uuid.uuid4().hex[:12]}@example.org", uuid.uuid4().hex + " of another"
        openid.admin("POST", "/accounts", {"email": who, "confirmed": True})
        browser = openid.SignedIn(who)
        page = browser.call("GET", "/account/security")
        self.assertEqual(
            browser.post(page, "/account/passphrase", passphrase=chosen).status, 303)
        app = Version(site)
        app.register()
        return app.person(user=who, passphrase=chosen)


class Cotter(unittest.TestCase):
    def test_cot_07_the_ios_sdk_gets_its_tokens_without_asking(self):
        app, who = App(urd), address()
        answer = app.exchange(app.body(app.walk(who)), tokens="")
        self.assertEqual(answer.status, 200, answer.text)
        # What its model of the answer cannot do without.
        for part, names in {
                "oauth_token": ("access_token", "id_token", "refresh_token", "expires_in",
                                "token_type", "auth_method"),
                "identifier": ("ID", "created_at", "identifier", "identifier_type", "public_key",
                               "device_type", "device_name", "expiry"),
                "token": ("identifier", "identifier_type", "receiver", "expire_at", "signature"),
                }.items():
            for name in names:
                self.assertIsNotNone(answer.json[part][name], name)
        # By the older route, as it refreshes.
        fresh = app.refresh(answer.json["oauth_token"]["refresh_token"], "/api/v0/token")
        self.assertEqual(fresh.status, 200, fresh.text)
        other = App(urd)
        refused = other.exchange(other.body(other.walk(address())), tokens="?oauth_token=false")
        self.assertNotIn("oauth_token", refused.json)
        settings("verify", tokens_unasked=False)
        self.addCleanup(settings, "verify", tokens_unasked=True)
        other = App(urd)
        self.assertNotIn(
            "oauth_token", other.exchange(other.body(other.walk(address())), tokens="").json)

    def person(self):
        breadth.urd = urd
        return breadth.Person()

    def test_cot_16_the_android_sdk_holds_numbers_of_events(self):
        person = self.person()
        device = person.device()
        for _ in range(3):
            event = person.ask()
            self.assertTrue(0 < event["ID"] < 2**31, event)
        self.assertEqual(person.respond(event, device.answer(event)).status, 200)
        taken = person.get(event)
        self.assertIn("oauth_token", taken.json)
        self.assertNotIn("oauth_token", person.get(event).json)
        # Of another kind: the same text in the same second would be the same signature.
        created = person.create(device.event("PAYMENT")).json
        self.assertTrue(0 < created.get("ID", 0) < 2**31, created)

    def test_cot_16_the_react_native_sdk_enrols_a_device_by_a_header_of_its_apps(self):
        """It shows no access token itself; the HTTP library that it shares with the app may (`axios.defaults`)."""
        person = self.person()
        device = breadth.Device(person.id, person.app.key)
        path = f"/api/v0/user/methods?cotter_user_id={person.id}&oauth_token=true"
        sent = {"method": "TRUSTED_DEVICE", "enrolled": True, "code": device.public,
                "algorithm": "ED25519", "device_name": "iPhone12,1 1.0.7", "device_type": "Apple"}
        alone = person.app.call("PUT", path, sent)
        self.assertEqual((alone.status, list(alone.json)), (403, ["msg"]), alone.text)
        answer = person.app.call("PUT", path, sent, **person.bearer)
        self.assertEqual(answer.status, 200, answer.text)
        # It reads both tokens, whichever it asked for.
        told = answer.json["oauth_token"]
        access, identity = (
            breadth.jwt.get_unverified_claims(told[name]) for name in ("access_token", "id_token"))
        self.assertEqual((identity["sub"], identity["type"]), (person.id, "client_id_token"))
        self.assertEqual((identity["identifier"], identity["exp"]), (person.who, access["exp"]))
        self.assertEqual(told["token_type"], "Bearer")
        self.assertNotIn("refresh_token", told)
        named = base64.urlsafe_b64encode(device.public.encode()).decode()
        self.assertTrue(person.enrolled("TRUSTED_DEVICE", named))

    def test_cot_16_the_react_native_sdks_devices_sign_in_and_let_others_in(self):
        person, unknown = self.person(), {"ip": "unknown", "location": "unknown"}
        device, other = person.device(), breadth.Device(person.id, person.app.key)
        # A second before the request below, whose answer would else be the same signature.
        signed_in = person.create(device.event(at=int(time.time()) - 1, **unknown))
        self.assertEqual(signed_in.status, 200, signed_in.text)
        fresh = person.app.refresh(signed_in.json["oauth_token"]["refresh_token"], "/api/v0/token")
        self.assertEqual(fresh.status, 200, fresh.text)
        # By a QR code, and without asking for tokens.
        shown = person.create(
            device.event("ENROLL_NEW_TRUSTED_DEVICE", new=other, device_type="Apple", **unknown), "")
        self.assertEqual((shown.status, shown.json["approved"]), (200, True), shown.text)
        # By a request, from an app that knows its person.
        asked = person.ask(**unknown)
        waiting = person.app.call("GET", f"/api/v0/event/new/{person.id}", **person.bearer).json
        self.assertEqual(waiting["ID"], asked["ID"])
        answer = person.respond(waiting, {
            **device.answer(waiting), "client_user_id": person.id, "issuer": person.app.key,
            **{name: waiting[name] for name in ("event", "ip", "location", "timestamp", "method")}})
        self.assertEqual((answer.status, answer.json["approved"]), (200, True), answer.text)
        self.assertIn("id_token", person.get(asked).json["oauth_token"])
        # Without an algorithm it takes a device away.
        gone = person.app.call("PUT", f"/api/v0/user/{person.id}?oauth_token=true", {
            "method": "TRUSTED_DEVICE", "enrolled": False, "code": other.public, "algorithm": None,
            "device_name": "iPhone12,1 1.0.7", "device_type": "Apple"}, **person.bearer)
        self.assertEqual(gone.status, 200, gone.text)
        self.assertFalse(person.enrolled("TRUSTED_DEVICE", other.path))

    def test_cot_16_a_device_that_knows_an_address_alone_asks_for_nobody(self):
        """The React Native SDK looks the person up by the API key alone, and asks as whom it finds."""
        person = self.person()
        found = person.app.call(
            "GET", "/api/v0/user?" + urllib.parse.urlencode({"identifier": person.who})).json
        self.assertEqual(found["ID"], str(uuid.UUID(int=0)))
        asked = person.ask(client_user_id=found["client_user_id"])
        self.assertFalse(asked["approved"])
        waiting = person.app.call("GET", f"/api/v0/event/new/{person.id}", **person.bearer)
        self.assertEqual((waiting.status, waiting.json), (200, None))
        self.assertNotIn("oauth_token", person.get(asked).json)

    def test_cot_05_what_the_javascript_client_adds_to_an_exchange_changes_nothing(self):
        app = App(urd)
        app.verifier = "".join(f"{secrets.randbelow(256):02x}" for _ in range(28))
        app.challenge = challenge_of(app.verifier)
        # After a provider it says the method that it read at its page's address.
        answer = app.exchange(
            app.body(app.walk(address())), "?oauth_token=true&auth_method=SOCIAL_LOGIN",
            Origin="http://localhost:4321")
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(answer.json["oauth_token"]["auth_method"], "OTP")

    def test_cot_13_the_loader_reads_its_tenant_without_a_header(self):
        app = App(urd)
        answer = app.call(
            "GET", f"/api/v0/company/info/{app.key}", API_KEY_ID=None,
            Origin="http://localhost:4321")
        self.assertEqual((answer.status, answer.json["api_key_id"]), (200, app.key), answer.text)
        self.assertEqual(
            answer.headers["Access-Control-Allow-Origin"], "http://localhost:4321")

    def test_cot_16_a_short_number_gives_tokens_to_the_network_that_asked_alone(self):
        person = self.person()
        device = person.device()
        event = person.ask()
        self.assertEqual(person.respond(event, device.answer(event)).status, 200)
        place = urllib.parse.urlsplit(urd.values["URD_VERIFY_URL"])
        far = http.client.HTTPConnection(
            place.hostname, place.port, timeout=PATIENCE, source_address=("127.0.0.7", 0))
        far.request("GET", f"/api/v0/event/get/{event['ID']}?oauth_token=true",
                    headers={"API_KEY_ID": person.app.key})
        answer = far.getresponse()
        self.assertEqual(answer.status, 200)
        told = json.loads(answer.read())
        self.assertNotIn("oauth_token", told)
        self.assertEqual((told["user_id"], told["client_user_id"], told["ip"]), ("", "", ""))
        far.close()
        self.assertIn("oauth_token", person.get(event).json)


class Official(unittest.TestCase):
    """The word `official` in `certified_apps`, with the demo's stores in the place of the real ones."""

    def app(self):
        app = flagship_client.App(urd.values, "Official")
        app.register()
        return app

    def test_coz_07_a_realm_trusts_the_official_app_by_one_word(self):
        for package in "io.cozy.flagship.mobile", "io.cozy.drive.mobile":
            app = self.app()
            nonce = app.challenge()
            status, body, _ = app.attest({
                "platform": "android", "issuer": "playintegrity", "challenge": nonce,
                "attestation": flagship_client.play_integrity(
                    urd.values, nonce, package, bytes.fromhex(
                        "BB67945277C1E18EE4EDEA902FBBB68E260325E541C19A125773D94ACF29B6D7"))})
            self.assertEqual(status, 204, body)
            app = self.app()
            device = flagship_client.AppleDevice(urd.values, "3AKXFMV43J." + package)
            self.assertEqual(app.certify_by_apple(device)[0], 204)
        # Other packages of the makers', or other certificates, are other apps.
        for package, digest in (
                ("io.cozy.pass.mobile", "BB67945277C1E18EE4EDEA902FBBB68E260325E541C19A125773D94ACF29B6D7"),
                ("io.cozy.flagship.mobile", "0D" * 32)):
            app = self.app()
            nonce = app.challenge()
            status, _, _ = app.attest({
                "platform": "android", "issuer": "playintegrity", "challenge": nonce,
                "attestation": flagship_client.play_integrity(
                    urd.values, nonce, package, bytes.fromhex(digest))})
            self.assertEqual(status, 400)
        # Without the word it is an app like any other.
        settings("flagship", certified_apps=["ios:DEMODEMO01.io.example.flagship"])
        app = self.app()
        device = flagship_client.AppleDevice(urd.values, "3AKXFMV43J.io.cozy.flagship.mobile")
        self.assertEqual(app.certify_by_apple(device)[0], 400)


if MISSING:
    OldInterface = Discovery = LetIn = Cotter = Official = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
