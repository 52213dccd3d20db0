"""Clients of the federation profile against `urd dev`, from the compatibility sheet: EDU-01 to EDU-16 are named where
they are tested. What they sign and read goes through jwcrypto."""

import base64
import hashlib
import hmac
import json
import time
import unittest
import uuid

from federation_client import (
    JWT_BEARER, OLD_JWT_BEARER, App, Site, Token, read, signed, together)
from token_tool import missing, rerun
from urd_process import Urd

MISSING = missing("jwcrypto")


def setUpModule():
    global urd, site
    urd = Urd()
    site = Site(urd.values)


def tearDownModule():
    urd.close()


def admin(method, path, body=None):
    status, answer, _ = urd.api.call(method, "/api/admin/realms/federation" + path, body)
    assert status in (200, 201, 204), (status, answer)
    return answer


def version(name):
    made = admin("POST", "/clients", {
        "client_id": name, "client_name": name, "profile": "federation_app"})
    return made["client_secret"]


def service(name, **members):
    made = admin("POST", "/clients", {
        "client_id": name, "client_name": name, "profile": "federation_service",
        "redirect_uris": [f"https://{name}.example"],
        "scope": "org.ietf.oauth2 org.example.notes", **members})
    return made["client_secret"]


class Walk(unittest.TestCase):
    def test_edu_09_from_the_device_to_the_app_and_back_to_nothing(self):
        """Device, user, assertion, service, app authorization, refresh, revoke of the top: all below is dead."""
        app = App(site)
        device = app.register()
        user = app.person()
        profile = user.call("GET", site.url + "/user-profile")
        self.assertEqual(profile[0], 200)
        held = app.join()
        status, granted = app.authorize_app()
        self.assertEqual(status, 200, granted)
        self.assertEqual(granted["expires_in"], 86000)
        self.assertEqual(granted["scope"], "org.example.notes")
        self.assertTrue(app.introspect(granted["access_token"])["active"])
        status, next_pair = site.call("POST", app.service_url, {
            "grant_type": "refresh_token", "refresh_token": granted["refresh_token"]})
        self.assertEqual(status, 200, next_pair)
        self.assertNotEqual(next_pair["refresh_token"], granted["refresh_token"])
        self.assertTrue(app.introspect(next_pair["access_token"])["active"])

        status, _ = device.call(
            "POST", site.url + "/revoke", {"token": device.answer["access_token"]})
        self.assertEqual(status, 200)
        self.assertEqual(device.call("GET", site.url + "/user-profile")[0], 403)
        self.assertEqual(user.call("GET", site.url + "/user-profile")[0], 403)
        self.assertEqual(held.call("GET", site.url + "/user-profile")[0], 403)
        self.assertFalse(app.introspect(next_pair["access_token"])["active"])
        for url, token in (
                (app.token_url, user.answer["refresh_token"]),
                (app.service_url, held.answer["refresh_token"]),
                (app.service_url, next_pair["refresh_token"])):
            status, _ = site.call(
                "POST", url, {"grant_type": "refresh_token", "refresh_token": token})
            self.assertEqual(status, 403, "a refresh brought a revoked token back")
        self.assertEqual(app.issue()[0], 403)
        self.assertEqual(app.sign_in()[0], 403)

    def test_edu_09_a_token_ends_its_own_tree_and_no_other(self):
        first, second = App(site), App(site)
        first.register(), second.register()
        first.person(), second.person()
        revoke = site.url + "/revoke"
        for token in (
                second.user.answer["access_token"], second.user.answer["refresh_token"],
                first.client.answer["access_token"], "nothing"):
            self.assertEqual(first.user.call("POST", revoke, {"token": token})[0], 200)
        self.assertEqual(second.user.call("GET", site.url + "/user-profile")[0], 200)
        self.assertEqual(first.user.call("GET", site.url + "/user-profile")[0], 200)
        self.assertEqual(site.call("POST", revoke, {"token": "x"})[0], 401)
        # As a form, by a refresh token.
        status, _ = first.user.call(
            "POST", revoke, form={"token": first.user.answer["refresh_token"]})
        self.assertEqual(status, 200)
        self.assertEqual(first.user.call("GET", site.url + "/user-profile")[0], 403)
        # The device's own token is above it, and goes on.
        self.assertEqual(first.sign_in()[0], 200)


    def test_edu_09_a_service_that_is_called_as_a_token_could_be_ends_its_tokens(self):
        name = uuid.uuid4().hex[:10]
        own = Token(site, {"kid": name, "mac_key": service(name)}, name)
        app = App(site)
        app.register(), app.person(), app.join(f"https://{name}.example")
        revoke, gone = site.url + "/revoke", {"token": app.service.answer["access_token"]}
        stranger = Token(site, {"kid": name, "mac_key": "x" * 43}, name)
        self.assertEqual(stranger.call_by_jwt("POST", revoke, gone)[0], 403)
        self.assertEqual(app.service.call("GET", site.url + "/user-profile")[0], 200)
        self.assertEqual(own.call_by_jwt("POST", revoke, gone)[0], 200)
        self.assertEqual(app.service.call("GET", site.url + "/user-profile")[0], 403)
        # The person's token has a name of ten signs as well, and ends itself.
        status, _ = app.user.call_by_jwt("POST", revoke, {"token": app.user.answer["access_token"]})
        self.assertEqual(status, 200)
        self.assertEqual(app.user.call("GET", site.url + "/user-profile")[0], 403)


class Devices(unittest.TestCase):
    def test_edu_01_a_device_gets_a_token_by_the_key_of_its_version(self):
        app = App(site)
        status, answer = app.show()
        self.assertEqual(status, 200, answer)
        self.assertEqual(len(answer["access_token"]), 50)
        self.assertEqual(len(answer["kid"]), 10)
        self.assertEqual(len(answer["mac_key"]), 100)
        self.assertEqual((answer["token_type"], answer["mac_algorithm"]), ("mac", "HS256"))
        self.assertNotIn("expires_in", answer)

    def test_edu_01_what_is_wrong_with_an_assertion_gets_no_token(self):
        app = App(site)
        now = int(time.time())
        for case, (more, claims) in {
                "key": ({"key": "another key"}, {}), "kid": ({"kid": "other"}, {}),
                "audience": ({}, {"aud": "https://other.example/token"}),
                "issuer": ({}, {"iss": "ch.eduid.app.0"}), "subject": ({}, {"sub": None}),
                "name": ({}, {"name": None}), "expired": ({}, {"exp": now - 1}),
                "not yet": ({}, {"nbf": now + 400}), "no time": ({}, {"nbf": "soon"}),
                "a number ahead of the time": ({}, {"seq": (now + 400) * 1_000_000}),
                "the highest number": ({}, {"seq": 2**53 - 1}), "no number": ({}, {"seq": "x"}),
                "old": ({}, {"iat": now - 400}), "future": ({}, {"iat": now + 400}),
                "without time": ({}, {"iat": None}),
                "several audiences": ({}, {"aud": [app.token_url, "https://o.example"]}),
        }.items():
            status, answer = app.show(**more, **claims)
            self.assertEqual(status, 403, (case, answer))
        # None of them used up a number that an honest device has; what begins now has begun.
        self.assertEqual(app.show(nbf=now)[0], 200)
        # jwcrypto makes no such token, an attacker does.
        import json
        from federation_client import encode
        none = encode(json.dumps({"alg": "none", "kid": app.client_id}).encode())
        body = encode(json.dumps(app.assertion()).encode())
        for text in (f"{none}.{body}.", f"{none}.{body}.AAAA", "x.y.z", "x"):
            status, _ = site.call(
                "POST", app.token_url, {"grant_type": "client_credentials"}, "Bearer " + text)
            self.assertEqual(status, 403)
        status, _ = site.call("POST", app.token_url, {"grant_type": "client_credentials"})
        self.assertEqual(status, 401)

    def test_edu_16_an_app_may_write_the_alphabet_of_base64_and_fractions(self):
        app = App(site)
        app.register()
        url = site.url + "/token"
        while True:
            # As an app for iOS writes it, which drops the padding alone.
            now = time.time()
            claims = {"iss": app.client_id, "aud": url, "iat": now, "exp": now + 60.5,
                      "seq": Token.now(), "name": "Ann? Ann~ Ann>", "share": 1.5}
            head, body = (
                base64.b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
                for part in [{"alg": "HS256", "kid": app.client.kid}, claims])
            tag = base64.b64encode(hmac.new(
                app.client.key.encode(), f"{head}.{body}".encode(), hashlib.sha256
            ).digest()).rstrip(b"=").decode()
            if "+" in tag or "/" in tag:
                break
        ask = {"grant_type": "password", "username": site.values["URD_FEDERATION_USER"],
               "password": site.values["URD_FEDERATION_PASSPHRASE"]}
        other = tag.replace("+", "-", 1) if "+" in tag else tag.replace("/", "_", 1)
        forged = tag[:-2] + ("EE" if tag.endswith("AA") else "AA")
        for signature, expected in [(forged, 403), (other + "/+", 403), (tag, 200),
                                    (tag.replace("+", "-").replace("/", "_"), 403)]:
            status, answer = site.call("POST", url, ask, f"Bearer {head}.{body}.{signature}")
            self.assertEqual(status, expected, (signature, answer))

    def test_edu_01_the_address_above_the_token_endpoint_is_an_audience_too(self):
        app = App(site)
        self.assertEqual(app.show(aud=site.url)[0], 200)
        for other in (site.url + "/authorization", f"{site.base.scheme}://{site.base.netloc}"):
            self.assertEqual(app.show(aud=other)[0], 403, other)

    def test_edu_01_a_rejected_version_gets_no_token_and_its_tokens_are_dead(self):
        name = f"ch.eduid.app.{uuid.uuid4().hex[:6]}"
        app = App(site, name, version(name))
        app.register()
        app.person()
        admin("POST", f"/clients/{name}/disable")
        self.assertEqual(app.show()[0], 403)
        self.assertEqual(app.user.call("GET", site.url + "/user-profile")[0], 403)
        self.assertEqual(app.sign_in()[0], 403)
        status, _ = site.call("POST", app.token_url, {
            "grant_type": "refresh_token", "refresh_token": app.user.answer["refresh_token"]})
        self.assertEqual(status, 403)
        # Upgraded, the same device gets a token again.
        newer = App(site, device=app.device)
        newer.register()
        self.assertEqual(newer.sign_in()[0], 200)

    def test_edu_01_an_upgrade_ends_the_old_token(self):
        name = f"ch.eduid.app.{uuid.uuid4().hex[:6]}"
        old = App(site, name, version(name))
        old.register()
        newer = App(site, device=old.device)
        newer.register()
        self.assertEqual(old.sign_in()[0], 403)
        self.assertEqual(newer.sign_in()[0], 200)
        admin("POST", f"/clients/{name}/disable")
        self.assertEqual(newer.sign_in()[0], 200)

    def test_edu_01_an_assertion_that_was_overheard_does_not_put_the_device_out(self):
        app = App(site)
        token = "Bearer " + signed(app.assertion(), app.version_key, app.client_id)
        body = {"grant_type": "client_credentials"}
        status, answer = site.call("POST", app.token_url, body, token)
        self.assertEqual(status, 200)
        self.assertEqual(site.call("POST", app.token_url, body, token)[0], 403)
        self.assertEqual(
            app.sign_in(client=Token(site, answer, app.client_id))[0], 200)

    def test_edu_02_nobody_signs_in_without_a_registered_device(self):
        app = App(site)
        body = {
            "grant_type": "password", "username": site.values["URD_FEDERATION_USER"],
            "password": site.values["URD_FEDERATION_PASSPHRASE"]}
        self.assertEqual(site.call("POST", app.token_url, body)[0], 401)
        app.register()
        stranger = Token(site, {"kid": "AAAAAAAAAA", "mac_key": "x" * 100}, app.client_id)
        self.assertEqual(stranger.call("POST", app.token_url, body)[0], 403)
        # A person's token is no device's.
        app.person()
        self.assertEqual(app.user.call("POST", app.token_url, body)[0], 403)

    def test_edu_02_no_answer_tells_whether_there_is_an_account(self):
        app = App(site)
        app.register()
        known = app.sign_in(passphrase="not the right one at all")
        unknown = app.sign_in(user=f"{uuid.uuid4().hex}@example.org")
        nonsense = app.sign_in(user="no address")
        self.assertEqual(known[0], 403)
        self.assertEqual(known, unknown)
        self.assertEqual(known, nonsense)

    def test_codes_are_not_for_this_endpoint(self):
        app = App(site)
        for more in ({}, {"code": "x", "redirect_uri": "https://shop.example", "client_id": "x"}):
            status, answer = site.call("POST", app.token_url, {"grant_type": "authorization_code", **more})
            self.assertEqual((status, answer["error"]), (403, "invalid_scope"))

    def test_what_is_not_known_in_a_request_is_ignored(self):
        """RFC 6749 section 3.2."""
        app = App(site)
        status, answer = app.show()
        self.assertEqual(status, 200)
        status, person = Token(site, answer, app.client_id).call("POST", app.token_url, {
            "grant_type": "password", "username": site.values["URD_FEDERATION_USER"],
            "password": site.values["URD_FEDERATION_PASSPHRASE"], "client_id": app.client_id,
            "scope": "any", "more": {"of": ["it"]}})
        self.assertEqual(status, 200, person)

    def test_edu_10_people_see_and_disconnect_their_devices(self):
        mine, other = App(site, name="Mine"), App(site, name="Other")
        mine.register(), other.register()
        mine.person(), other.person()
        status, devices = mine.user.call("GET", site.url + "/devices")
        self.assertEqual(status, 200, devices)
        named = {device["name"]: device for device in devices}
        self.assertTrue(named["Mine"]["current"])
        self.assertEqual(named["Other"]["os"], "Android 17")
        other.join()
        url = f'{site.url}/devices/{named["Other"]["id"]}'
        self.assertEqual(mine.user.call("DELETE", url)[0], 204)
        self.assertEqual(other.user.call("GET", site.url + "/user-profile")[0], 403)
        self.assertEqual(other.service.call("GET", site.url + "/user-profile")[0], 403)
        self.assertEqual(mine.user.call("DELETE", url)[0], 404)
        self.assertEqual(mine.user.call("GET", site.url + "/user-profile")[0], 200)

    def test_edu_10_a_device_is_found_and_disconnected_among_many_sessions(self):
        apps = [App(site, name=f"Of many {number}") for number in range(12)]
        for app in apps:
            app.register(), app.person()
        own, stolen = apps[:2]
        stolen.join()
        # More than a page of any list.
        for _ in range(300):
            self.assertEqual(stolen.authorize_app()[0], 200)
        status, devices = own.user.call("GET", site.url + "/devices")
        self.assertEqual(status, 200, devices)
        named = {device["name"]: device["id"] for device in devices}
        self.assertEqual({app.name for app in apps} - named.keys(), set())
        self.assertEqual(
            own.user.call("DELETE", f"{site.url}/devices/{named[stolen.name]}")[0], 204)
        for token in (stolen.user, stolen.service):
            self.assertEqual(token.call("GET", site.url + "/user-profile")[0], 403)
        self.assertNotEqual(stolen.authorize_app()[0], 200)
        self.assertEqual(own.user.call("GET", site.url + "/user-profile")[0], 200)
        # The person signs in on it again: that is another matter.
        stolen.person()
        self.assertEqual(stolen.user.call("GET", site.url + "/user-profile")[0], 200)

    def test_edu_10_administrators_list_devices_and_disconnect_one_by_its_session(self):
        app, other = App(site, name="Kept from them"), App(site)
        app.register(), other.register()
        app.person(), other.person()
        app.join()
        account = urd.api.call(
            "GET", "/api/admin/realms/federation/accounts",
            Email=site.values["URD_FEDERATION_USER"])[1]["items"][0]["id"]

        def listed():
            told = json.dumps(answer := admin("GET", f"/accounts/{account}/devices"))
            self.assertNotIn("Kept from them", told)
            return {device["id"]: device for device in answer["items"]}

        def sessions():
            items = admin("GET", f"/accounts/{account}/sessions?limit=200")["items"]
            return {session["id"] for session in items}

        own = {device["name"]: device["id"] for device in app.user.call(
            "GET", site.url + "/devices")[1]}["Kept from them"]
        device = listed()[own]
        self.assertEqual((device["type"], device["os"]), ("phone", "Android 17"))
        self.assertEqual(device["client_id"], site.values["URD_FEDERATION_CLIENT_ID"])
        [session] = device["sessions"]
        before = sessions()
        self.assertIn(session, before)
        admin("DELETE", f"/accounts/{account}/sessions/{session}")
        self.assertNotIn(own, listed())
        self.assertEqual(app.user.call("GET", site.url + "/user-profile")[0], 403)
        self.assertEqual(app.service.call("GET", site.url + "/user-profile")[0], 403)
        # What stood below it is over as well, and is not listed: the service's token, with the person's.
        self.assertEqual(len(before - sessions()), 2)
        # The token of the device above it, too, ends all of them.
        other_id = other.user.call("GET", site.url + "/devices")[1]
        other_id = next(each["id"] for each in other_id if each["current"])
        self.assertIn(other_id, listed())
        gone = {"token": other.client.answer["access_token"]}
        self.assertIn(other.client.call("POST", site.url + "/revoke", gone)[0], (200, 204))
        self.assertNotIn(other_id, listed())


class Resting(unittest.TestCase):
    """What is not good while a client is disabled: it is listed, and what is ended then stays ended."""

    def setUp(self):
        self.version, self.service = (f"{kind}-{uuid.uuid4().hex[:8]}" for kind in ("app", "svc"))
        self.app = App(site, self.version, version(self.version))
        service(self.service)
        self.app.register(), self.app.person(), self.app.join(f"https://{self.service}.example")
        status, self.other = self.app.authorize_app()
        self.assertEqual(status, 200, self.other)

    def listed(self, app, kind, client):
        status, items = app.user.call("GET", f"{site.url}/{kind}")
        self.assertEqual(status, 200, items)
        return [item for item in items if item["client_id"] == client]

    def able(self, client, is_able):
        admin("POST", f"/clients/{client}/{'enable' if is_able else 'disable'}")

    def test_edu_09_a_services_token_is_given_back_while_the_service_is_disabled(self):
        self.able(self.service, False)
        self.assertEqual(self.app.service.call("GET", site.url + "/user-profile")[0], 403)
        gone = {"token": self.app.service.answer["access_token"]}
        self.assertEqual(self.app.user.call("POST", site.url + "/revoke", gone)[0], 200)
        self.able(self.service, True)
        self.assertEqual(self.app.service.call("GET", site.url + "/user-profile")[0], 403)
        # The other app's token was below it.
        self.assertEqual(self.listed(self.app, "apps", self.service), [])

    def test_edu_10_an_app_is_listed_and_ended_while_its_service_is_disabled(self):
        [permission] = self.listed(self.app, "apps", self.service)
        self.assertNotIn("resting", permission)
        self.able(self.service, False)
        [resting] = self.listed(self.app, "apps", self.service)
        # Of a service that is disabled no more is told than its name.
        named = {key: permission[key] for key in permission if not key.startswith("service")}
        self.assertEqual(resting, {**named, "resting": True})
        url = f"{site.url}/apps/{permission['id']}"
        self.assertEqual(self.app.user.call("DELETE", url)[0], 204)
        self.assertEqual(self.listed(self.app, "apps", self.service), [])
        self.assertEqual(self.app.user.call("DELETE", url)[0], 404)
        self.able(self.service, True)
        self.assertEqual(self.listed(self.app, "apps", self.service), [])
        again = {"grant_type": "refresh_token", "refresh_token": self.other["refresh_token"],
                 "client_id": "org.example.notes"}
        self.assertNotEqual(site.call("POST", self.app.service_url, again)[0], 200)
        self.assertEqual(self.app.service.call("GET", site.url + "/user-profile")[0], 200)

    def test_edu_10_a_device_is_listed_and_signed_out_while_its_version_is_rejected(self):
        other = App(site)
        other.register(), other.person()
        [device] = self.listed(other, "devices", self.version)
        self.assertNotIn("resting", device)
        self.able(self.version, False)
        [resting] = self.listed(other, "devices", self.version)
        self.assertEqual(resting, {**device, "resting": True})
        url = f"{site.url}/devices/{device['id']}"
        self.assertEqual(other.user.call("DELETE", url)[0], 204)
        self.assertEqual(self.listed(other, "devices", self.version), [])
        self.able(self.version, True)
        for token in (self.app.user, self.app.service):
            self.assertEqual(token.call("GET", site.url + "/user-profile")[0], 403)
        self.assertEqual(other.user.call("DELETE", url)[0], 404)


class Signatures(unittest.TestCase):
    """EDU-03."""

    @classmethod
    def setUpClass(cls):
        cls.app = App(site)
        cls.app.register()
        cls.app.person()
        cls.url = site.url + "/user-profile"

    def get(self, authorization):
        return site.call("GET", self.url, None, authorization)[0]

    def test_edu_03_a_mac_or_a_jwt_of_the_tokens_key_is_taken(self):
        user = self.app.user
        self.assertEqual(user.call("GET", self.url)[0], 200)
        self.assertEqual(user.call_by_jwt("GET", self.url)[0], 200)
        self.assertEqual(self.get(user.mac("GET", self.url, f"{user.now() / 1e6:.6f}")), 200)

    def test_edu_03_a_request_is_good_once_and_no_older_one_after_it(self):
        user = self.app.user
        first, second = user.mac("GET", self.url), user.mac("GET", self.url)
        self.assertEqual(self.get(second), 200)
        self.assertEqual(self.get(second), 403)
        self.assertEqual(self.get(first), 403)
        token = user.jwt(self.url)
        self.assertEqual(self.get(token), 200)
        self.assertEqual(self.get(token), 403)

    def test_edu_03_of_fifty_with_one_number_one_is_answered(self):
        authorization = self.app.user.mac("GET", self.url)
        statuses = [result[0] for result in together(
            50, lambda _: site.call("GET", self.url, None, authorization))]
        self.assertEqual(statuses.count(200), 1, statuses)

    def test_edu_03_what_is_not_of_this_request_is_refused(self):
        user = self.app.user
        now = user.now()
        for case, authorization in {
                "path": user.mac("GET", site.url + "/devices"),
                "method": user.mac("POST", self.url),
                "host": user.mac("GET", self.url, host="other.example"),
                "key": user.mac("GET", self.url, key="x" * 100),
                "old": user.mac("GET", self.url, now - 310_000_000),
                "future": user.mac("GET", self.url, now + 310_000_000),
                "no number": user.mac("GET", self.url, "soon"),
                "audience": user.jwt(self.url, aud="https://other.example"),
                "issuer": user.jwt(self.url, iss="other"),
                "expired": user.jwt(self.url, exp=int(time.time()) - 1),
                "not yet": user.jwt(self.url, nbf=int(time.time()) + 400),
                "a number ahead of the time": user.jwt(self.url, seq=now + 400_000_000),
                "no such number": user.jwt(self.url, seq="x"),
                "a text": "Bearer " + user.answer["access_token"],
                "twice": user.mac("GET", self.url) + ",ts=1"}.items():
            self.assertEqual(self.get(authorization), 403, case)
        self.assertEqual(site.call("GET", self.url)[0], 401)
        # None of them used up a number that an honest request has.
        self.assertEqual(user.call("GET", self.url)[0], 200)

    def test_edu_16_times_may_be_texts_and_a_far_end_ends_nothing_later(self):
        user = self.app.user
        now = int(time.time())
        three_years = now + 3 * 365 * 86_400
        self.assertEqual(
            self.get(user.jwt(self.url, iat=str(now - 30), exp=str(three_years))), 200)
        # A JWT of six minutes ago is over, whatever it says of its end.
        self.assertEqual(
            self.get(user.jwt(self.url, iat=str(now - 360), exp=str(three_years))), 403)


class Profiles(unittest.TestCase):
    def test_edu_04_the_profile_has_attributes_and_affiliations(self):
        app = App(site)
        app.register()
        app.person()
        status, profiles = app.user.call("GET", site.url + "/user-profile")
        self.assertEqual(status, 200)
        [profile] = profiles
        self.assertEqual(profile["attributes"]["given_name"], "Ann")
        self.assertEqual(profile["affiliations"], ["student"])

    def test_edu_04_a_profile_has_the_members_that_apps_of_the_reference_server_read(self):
        app = App(site)
        app.register(), app.person()
        [profile] = app.user.call("GET", site.url + "/user-profile")[1]
        self.assertEqual(profile["extra"]["name"], "Ann Example")
        for name in ("mailaddress", "userid", "user_id"):
            self.assertEqual(profile[name], site.values["URD_FEDERATION_USER"])
        service("nomail", federation_attributes=["name"])
        app.join("https://nomail.example")
        [profile] = app.service.call("GET", site.url + "/user-profile")[1]
        self.assertNotIn("mailaddress", profile)
        self.assertEqual(profile["extra"], {"name": "Ann Example"})

    def test_edu_04_an_assertion_says_of_a_name_that_nobody_knows_that_it_is_empty(self):
        app = App(site)
        app.register(), app.person()
        service("nonames", federation_attributes=["email"])
        account = urd.api.call(
            "GET", "/api/admin/realms/federation/accounts",
            Email=site.values["URD_FEDERATION_USER"])[1]["items"][0]["id"]
        admin("PATCH", f"/accounts/{account}", {"last_name": None})
        try:
            claims = read(app.assertion_for()["code"], site.values["URD_FEDERATION_SERVICE_KEY"])
            self.assertEqual(
                (claims["given_name"], claims["family_name"], claims["name"]), ("Ann", "", "Ann"))
            from jwcrypto import jws
            message = jws.JWS()
            message.deserialize(app.assertion_for("https://nonames.example")["code"])
            self.assertNotIn("family_name", json.loads(message.objects["payload"]))
        finally:
            admin("PATCH", f"/accounts/{account}", {"last_name": "Example"})

    def test_edu_04_each_service_is_told_its_own_attributes(self):
        service("filtered", federation_attributes=["email", "affiliations"])
        app = App(site)
        app.register()
        app.person()
        answer = app.assertion_for("https://filtered.example")
        from jwcrypto import jws
        message = jws.JWS()
        message.deserialize(answer["code"])
        import json
        claims = json.loads(message.objects["payload"])
        self.assertEqual(claims["affiliations"], ["student"])
        self.assertNotIn("given_name", claims)
        app.join("https://filtered.example")
        [profile] = app.service.call("GET", site.url + "/user-profile")[1]
        self.assertEqual(set(profile["attributes"]), {"email"})
        self.assertEqual(profile["affiliations"], ["student"])
        app.join()
        [profile] = app.service.call("GET", site.url + "/user-profile")[1]
        self.assertEqual(profile["affiliations"], [])

    def test_edu_04_who_knows_the_old_passphrase_sets_another(self):
        app = App(site)
        app.register()
        app.person()
        url = site.url + "/user-profile"
        old, new = site.values["URD_FEDERATION_PASSPHRASE"], "several unrelated " + uuid.uuid4().hex
        for body in ({"oldpassword": "wrong", "newpassword": new},
                     {"oldpassword": old, "newpassword": "short"}, {}):
            self.assertEqual(app.user.call("POST", url, body)[0], 403)
        self.assertEqual(
            app.user.call("POST", url, {"oldpassword": old, "newpassword": new})[0], 204)
        site.values["URD_FEDERATION_PASSPHRASE"] = new
        self.assertEqual(app.sign_in(passphrase=old)[0], 403)
        self.assertEqual(app.sign_in()[0], 200)


class Assertions(unittest.TestCase):
    def setUp(self):
        self.app = App(site)
        self.app.register()
        self.app.person()

    def test_edu_05_an_assertion_is_signed_by_the_services_key(self):
        answer = self.app.assertion_for()
        self.assertEqual(answer["state"], "s1")
        claims = read(answer["code"], site.values["URD_FEDERATION_SERVICE_KEY"])
        self.assertEqual(claims["aud"], answer["redirect_uri"])
        self.assertEqual(claims["sub"], site.values["URD_FEDERATION_USER"])
        self.assertEqual(claims["azp"], self.app.client_id)
        self.assertEqual(claims["exp"] - claims["iat"], 3600)
        self.assertEqual(claims["name"], "Ann Example")
        self.assertEqual(len(claims["jti"]), 10)

    def test_edu_05_an_assertion_for_an_app_that_names_its_device_names_the_device(self):
        key = site.values["URD_FEDERATION_SERVICE_KEY"]
        status, answer = self.app.issue(client_id=self.app.device)
        self.assertEqual(status, 200, answer)
        self.assertEqual(read(answer["code"], key)["azp"], self.app.device)
        self.assertEqual(self.app.redeem(answer)[0], 200)
        status, answer = self.app.issue(client_id=None)
        self.assertEqual((status, read(answer["code"], key)["azp"]), (200, self.app.client_id))
        other = App(site)
        other.register()
        for named in (other.device, self.app.device.upper(), self.app.user.kid):
            self.assertEqual(self.app.issue(client_id=named)[0], 403, named)

    def test_edu_05_a_service_is_known_by_its_token_endpoint_as_well(self):
        here = f'{site.url}/services/{site.values["URD_FEDERATION_SERVICE_ID"]}/token'
        service("outside", federation_endpoint="https://outside.example/login/token")
        for address, endpoint in (
                (here, here), (here + "/", here),
                ("https://outside.example/login/token", "https://outside.example/login/token")):
            status, answer = self.app.issue(address)
            self.assertEqual((status, answer.get("redirect_uri")), (200, endpoint), answer)
            status, [engine] = self.app.user.call(
                "POST", site.url + "/protocol-discovery/service", [address])
            # Apps add the endpoint's name to the link of the protocol.
            link = engine["apis"]["org.ietf.oauth2"]["apiLink"]
            self.assertEqual(link + "/token", endpoint)
        moved = site.url + "/services/outside/token"
        self.assertEqual(self.app.issue(moved)[0], 404)

    def test_edu_05_or_by_the_realms_where_the_service_wants_that(self):
        import json
        from jwcrypto import jwk, jws
        service("ours", assertion_signed_response_alg="ES256")
        answer = self.app.assertion_for("https://ours.example")
        origin = f"{site.base.scheme}://{site.base.netloc}"
        keys = jwk.JWKSet.from_json(json.dumps(site.call("GET", origin + "/.well-known/jwks.json")[1]))
        message = jws.JWS()
        message.deserialize(answer["code"])
        message.verify(keys.get_key(message.jose_header["kid"]))
        self.assertEqual(self.app.redeem(answer)[0], 200)

    def test_edu_05_an_assertion_is_encrypted_for_a_service_that_wants_that(self):
        import json
        from jwcrypto import jwe, jwk
        keys = {
            "RSA-OAEP-256": jwk.JWK.generate(kty="RSA", size=2048, use="enc", kid="e1"),
            "ECDH-ES": jwk.JWK.generate(kty="EC", crv="P-256", use="enc", kid="e2")}
        public = {"keys": [json.loads(key.export_public()) for key in keys.values()]}
        for number, (algorithm, key) in enumerate(keys.items()):
            name = f"sealed{number}"
            secret = service(
                name, assertion_encrypted_response_alg=algorithm, jwks=public)
            answer = self.app.assertion_for(f"https://{name}.example")
            message = jwe.JWE(algs=[algorithm, "A256GCM"])
            message.deserialize(answer["code"], key)
            self.assertEqual(message.jose_header["alg"], algorithm)
            claims = read(message.payload.decode(), secret)
            self.assertEqual((claims["sub"], claims["aud"]),
                             (site.values["URD_FEDERATION_USER"], answer["redirect_uri"]))
            # The other key does not open it, and the text says nothing.
            other = [k for k in keys.values() if k is not key][0]
            with self.assertRaises(Exception):
                jwe.JWE(algs=[algorithm, "A256GCM"]).deserialize(answer["code"], other)
            self.assertNotIn(claims["jti"], answer["code"])

    def test_edu_05_a_service_without_a_key_to_encrypt_to_gets_nothing_readable(self):
        import json
        from jwcrypto import jwk
        key = jwk.JWK.generate(kty="RSA", size=2048, use="sig", kid="s1")
        service(
            "keyless", assertion_encrypted_response_alg="RSA-OAEP-256",
            jwks={"keys": [json.loads(key.export_public())]})
        status, answer = self.app.issue("https://keyless.example")
        self.assertEqual(status, 501, answer)
        self.assertNotIn("code", answer)

    def test_edu_05_only_for_registered_services_and_people(self):
        self.assertEqual(self.app.issue("https://unknown.example")[0], 404)
        self.assertEqual(self.app.issue(user=self.app.client)[0], 403)
        self.assertEqual(self.app.issue(client_id="other")[0], 403)
        self.assertEqual(self.app.issue(request_type="token")[0], 400)
        status, _ = site.call("POST", site.url + "/authorization", {"request_type": "code"})
        self.assertEqual(status, 401)

    def test_edu_06_both_spellings_of_the_grant_are_taken(self):
        for grant in (JWT_BEARER, OLD_JWT_BEARER):
            status, answer = self.app.redeem(self.app.assertion_for(), grant)
            self.assertEqual(status, 200, answer)
            self.assertEqual(answer["token_type"], "mac")
        # A JWT is no assertion of SAML.
        for spelling in ("param", "params"):
            status, answer = self.app.redeem(
                self.app.assertion_for(), f"urn:ietf:{spelling}:oauth:grant-type:saml2-bearer")
            self.assertEqual((status, answer["error"]), (403, "invalid_grant"))

    def test_edu_06_an_assertion_is_good_once(self):
        answer = self.app.assertion_for()
        results = together(50, lambda _: self.app.redeem(answer))
        statuses = [status for status, _ in results]
        self.assertEqual(statuses.count(200), 1, statuses)
        self.assertTrue(set(statuses) <= {200, 403, 429, 503}, statuses)
        self.assertEqual(self.app.redeem(answer)[0], 403)

    def test_edu_06_at_its_own_service_alone(self):
        service("elsewhere")
        answer = self.app.assertion_for()
        url = site.url + "/services/elsewhere/token"
        self.assertEqual(self.app.redeem(answer, url=url)[0], 403)
        self.assertEqual(self.app.redeem(answer, url=site.url + "/services/none/token")[0], 404)
        # A forger who holds the key of a service makes none that was not issued.
        key = site.values["URD_FEDERATION_SERVICE_KEY"]
        claims = read(answer["code"], key)
        forged = signed(
            {**claims, "jti": "AAAAAAAAAA"}, key, site.values["URD_FEDERATION_SERVICE_ID"],
            typ="federation-assertion+jwt")
        self.assertEqual(self.app.redeem({**answer, "code": forged})[0], 403)
        longer = signed({**claims, "aud": url}, key, site.values["URD_FEDERATION_SERVICE_ID"])
        self.assertEqual(self.app.redeem({**answer, "code": longer})[0], 403)
        self.assertEqual(self.app.redeem(answer)[0], 200)

    def test_edu_07_protocols_are_the_scope_of_another_app(self):
        self.app.join()
        status, answer = self.app.authorize_app(["org.example.notes", "org.ietf.oauth2"])
        self.assertEqual(status, 200, answer)
        self.assertEqual(answer["scope"], "org.example.notes org.ietf.oauth2")
        shown = self.app.introspect(answer["access_token"])
        self.assertEqual(shown["scope"], "org.example.notes org.ietf.oauth2")
        status, answer = self.app.authorize_app("org.example.unknown")
        self.assertEqual((status, answer["error"]), (403, "invalid_scope"))

    def test_edu_07_a_request_and_a_code_for_an_app_are_two_kinds_of_jwt(self):
        self.app.join()
        endpoint = self.app.service_url
        for kind, expected in (
                (None, 200), ("JWT", 200), ("federation-assertion+jwt", 403), ("at+jwt", 403)):
            status, _ = self.app.authorize_app(code=self.app.app_code(kind=kind))
            self.assertEqual(status, expected, kind)
        # One that is both, by its number and by its time, which leaves no number for what comes later.
        for both in (self.app.service.jwt(endpoint, sub="org.example.notes"),
                     "Bearer " + self.app.app_code(iat=int(time.time()) + 60, exp=None)):
            status, _ = site.call("POST", endpoint, {
                "grant_type": "authorization_code", "code": both.split(" ")[1],
                "scope": "org.example.notes"}, both)
            self.assertEqual(status, 403)
        # What is signed for a service by its own key says so.
        key, name = (site.values[f"URD_FEDERATION_SERVICE_{part}"] for part in ("KEY", "ID"))
        for kind, expected in (("JWT", 403), (None, 403), ("federation-assertion+jwt", 200)):
            answer = self.app.assertion_for()
            again = signed(read(answer["code"], key), key, name, **({"typ": kind} if kind else {}))
            self.assertEqual(self.app.redeem({**answer, "code": again})[0], expected, kind)

    def test_edu_07_a_code_for_an_app_is_good_once_and_of_its_token(self):
        self.app.join()
        code = self.app.app_code()
        self.assertEqual(self.app.authorize_app(code=code)[0], 200)
        self.assertEqual(self.app.authorize_app(code=code)[0], 403)
        # Its signature in the other alphabet of Base64: the same code.
        head, claims, signature = next(
            parts for parts in iter(lambda: self.app.app_code().split("."), None)
            if set(parts[2]) & set("-_"))
        spellings = [signature, signature.replace("-", "+").replace("_", "/")]
        statuses = [self.app.authorize_app(code=".".join([head, claims, spelling]))[0]
                    for spelling in spellings]
        self.assertEqual(statuses, [200, 403])
        stranger = App(site)
        stranger.register(), stranger.person(), stranger.join()
        self.assertEqual(self.app.authorize_app(code=stranger.app_code())[0], 403)
        other = self.app.app_code(aud="https://other.example/token")
        self.assertEqual(self.app.authorize_app(code=other)[0], 403)
        for claims in ({"iss": "garbage"}, {"iss": None}, {"nbf": int(time.time()) + 400}):
            self.assertEqual(self.app.authorize_app(code=self.app.app_code(**claims))[0], 403, claims)
        for issuer in (self.app.device, self.app.service.kid, site.values["URD_FEDERATION_SERVICE_ID"]):
            self.assertEqual(self.app.authorize_app(code=self.app.app_code(iss=issuer))[0], 200, issuer)
        # The person's token is not one of the service.
        self.assertEqual(self.app.authorize_app(token=self.app.user)[0], 403)

    def test_edu_07_of_fifty_that_refresh_with_one_token_all_get_the_same(self):
        self.app.join()
        _, granted = self.app.authorize_app()
        body = {"grant_type": "refresh_token", "refresh_token": granted["refresh_token"]}
        results = together(50, lambda _: site.call("POST", self.app.service_url, body))
        given = {answer["refresh_token"] for status, answer in results if status == 200}
        self.assertEqual(len(given), 1, results)

    def test_edu_08_a_service_refuses_a_person_and_the_app_hears_of_it(self):
        key = service("picky")
        url = "https://picky.example"
        self.app.join(url)
        people = site.url + "/services/picky/people"
        picky = Token(site, {"kid": "picky", "mac_key": key}, "picky")
        body = {"sub": site.values["URD_FEDERATION_USER"], "refused": True}
        self.assertEqual(picky.call_by_jwt("POST", people, body)[0], 204)
        self.assertEqual(self.app.service.call("GET", site.url + "/user-profile")[0], 403)
        status, answer = self.app.redeem(self.app.assertion_for(url))
        self.assertEqual((status, answer["error"]), (403, "access_denied"))
        self.assertEqual(
            picky.call_by_jwt("POST", people, {**body, "refused": False})[0], 204)
        self.assertEqual(self.app.redeem(self.app.assertion_for(url))[0], 200)
        # No service speaks for another one.
        self.assertEqual(picky.call_by_jwt(
            "POST", f'{site.url}/services/{site.values["URD_FEDERATION_SERVICE_ID"]}/people',
            body)[0], 403)

    def test_edu_14_a_service_learns_of_its_own_assertions_alone(self):
        key, other = site.values["URD_FEDERATION_SERVICE_KEY"], service("curious")
        answer = self.app.assertion_for()
        body = {"grant_type": "validate", "jti": read(answer["code"], key)["jti"]}
        own = Token(site, {"kid": site.values["URD_FEDERATION_SERVICE_ID"], "mac_key": key},
                    site.values["URD_FEDERATION_SERVICE_ID"])
        status, told = own.call_by_jwt("POST", self.app.token_url, body)
        self.assertEqual(status, 200, told)
        self.assertEqual(told["email"], site.values["URD_FEDERATION_USER"])
        self.assertEqual(told["azp"], self.app.client_id)
        curious = Token(site, {"kid": "curious", "mac_key": other}, "curious")
        self.assertEqual(curious.call_by_jwt("POST", self.app.token_url, body)[0], 404)
        self.assertEqual(site.call("POST", self.app.token_url, body)[0], 401)

    def test_edu_14_a_validation_names_who_shows_the_assertion_as_the_assertion_does(self):
        key, name = (site.values["URD_FEDERATION_SERVICE_" + part] for part in ("KEY", "ID"))
        own = Token(site, {"kid": name, "mac_key": key}, name)
        for named in (self.app.device, self.app.client_id, None):
            claims = read(self.app.issue(client_id=named)[1]["code"], key)
            status, told = own.call_by_jwt("POST", self.app.token_url, {
                "grant_type": "validate", "jti": claims["jti"]})
            self.assertEqual((status, told["azp"]), (200, claims["azp"]), named)
            self.assertEqual(claims["azp"], named or self.app.client_id)
        # What a device calls itself stands nowhere that can be read.
        rows = urd.sql("select string_agg(t::text, ' ') from urd.event t"
                       " where type = 'federated_assertion.issued'")
        self.assertNotIn(self.app.device, rows)

    def test_edu_15_a_service_forwards_an_assertion_and_gets_an_id_token(self):
        import base64
        import hashlib
        import json
        from jwcrypto import jwk, jws
        key = service("relying", scope="openid email org.ietf.oauth2")
        origin = f"{site.base.scheme}://{site.base.netloc}"
        metadata = site.call("GET", origin + "/.well-known/openid-configuration")[1]
        self.assertTrue(any("jwt-bearer" in grant for grant in metadata["grant_types_supported"]))
        for name in ("issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint",
                     "introspection_endpoint", "revocation_endpoint", "end_session_endpoint",
                     "jwks_uri"):
            self.assertIn(name, metadata)
        basic = "Basic " + base64.b64encode(f"relying:{key}".encode()).decode()

        def forward(answer, scope="openid", authorization=basic):
            return site.call(
                "POST", metadata["token_endpoint"], authorization=authorization, form={
                    "grant_type": JWT_BEARER, "assertion": answer["code"], "scope": scope})

        answer = self.app.assertion_for("https://relying.example")
        for wrong in ({"scope": "email"}, {"scope": ""}):
            status, told = forward(answer, **wrong)
            self.assertEqual((status, told["error"]), (400, "invalid_request"), told)
        status, told = forward(self.app.assertion_for())
        self.assertEqual((status, told["error"]), (400, "invalid_request"), told)
        self.assertEqual(
            forward(answer, authorization="Basic cmVseWluZzp3cm9uZw==")[0], 401)
        status, granted = forward(answer)
        self.assertEqual(status, 200, granted)
        self.assertEqual(granted["token_type"], "Bearer")
        keys = jwk.JWKSet.from_json(json.dumps(site.call("GET", metadata["jwks_uri"])[1]))
        message = jws.JWS()
        message.deserialize(granted["id_token"])
        message.verify(keys.get_key(message.jose_header["kid"]))
        half = hashlib.sha256(granted["access_token"].encode()).digest()[:16]
        self.assertEqual(
            json.loads(message.payload)["at_hash"],
            base64.urlsafe_b64encode(half).rstrip(b"=").decode())
        self.assertEqual(forward(answer)[0], 400)
        # What is above it ends it.
        info = metadata["userinfo_endpoint"]
        bearer = "Bearer " + granted["access_token"]
        self.assertEqual(site.call("GET", info, authorization=bearer)[0], 200)
        self.app.client.call(
            "POST", site.url + "/revoke", {"token": self.app.client.answer["access_token"]})
        self.assertEqual(site.call("GET", info, authorization=bearer)[0], 401)

    def test_edu_11_the_usage_manager_lists_the_services_of_a_person(self):
        service("usedone"), service("unusedone")
        usage = site.url + "/service-discovery/user"
        self.app.join("https://usedone.example")
        status, used = self.app.user.call("GET", usage)
        self.assertEqual(status, 200)
        links = [engine["engineLink"] for engine in used]
        self.assertIn("https://usedone.example", links)
        self.assertNotIn("https://unusedone.example", links)
        self.assertEqual(site.call("GET", usage)[0], 401)
        self.assertEqual(self.app.client.call("GET", usage)[0], 403)

    def test_edu_12_all_protocols_that_are_named_must_be_there(self):
        service("speaker", scope="org.ietf.oauth2 org.example.rare org.example.notes")
        url = site.url + "/protocol-discovery/protocol"

        def found(*names):
            status, engines = self.app.user.call("POST", url, list(names))
            self.assertEqual(status, 200, engines)
            return [engine["engineName"] for engine in engines]

        self.assertEqual(found("org.example.rare"), ["speaker"])
        self.assertEqual(found("org.example.rare", "org.example.notes"), ["speaker"])
        self.assertEqual(found("org.example.rare", "org.example.none"), [])
        self.assertIn("Demo service", found("org.ietf.oauth2"))
        self.assertEqual(self.app.user.call("POST", url, [])[0], 400)
        # The demo realm tells strangers too, for an app that asks without a token.
        admin("PATCH", "/settings", {"unsigned_discovery": False})
        self.addCleanup(admin, "PATCH", "/settings", {"unsigned_discovery": True})
        self.assertEqual(site.call("POST", url, ["org.ietf.oauth2"])[0], 401)

    def test_edu_12_and_13_services_are_found_by_address_with_whole_links(self):
        url = site.url + "/protocol-discovery/service"
        status, engines = self.app.user.call(
            "POST", url, [site.values["URD_FEDERATION_SERVICE_URL"] + "/"])
        self.assertEqual(status, 200)
        [engine] = engines
        self.assertEqual(engine["engineLink"], "https://service.example/")
        self.assertEqual(
            engine["apis"]["org.example.notes"]["apiLink"], "https://service.example/notes")
        self.assertEqual(self.app.user.call("POST", url, ["https://none.example"]), (200, []))


class Probes(unittest.TestCase):
    def test_edu_01_the_addresses_of_the_reference_server_are_taken_as_well(self):
        old = Site(site.values)
        old.url = site.url + "/eduid.php"
        self.assertEqual(site.call("GET", old.url)[0], 403)
        for path in ("/nothing", "/eduid.php"):
            self.assertEqual(site.call("GET", old.url + path)[0], 501, path)
        app = App(old)
        app.register()
        app.person()
        app.join()
        self.assertEqual(app.user.call("GET", old.url + "/user-profile")[0], 200)
        self.assertEqual(app.user.call_by_jwt("GET", site.url + "/user-profile")[0], 200)
        self.assertEqual(app.authorize_app()[0], 200)
        for audience in (old.url, site.url, app.token_url, site.url + "/token"):
            self.assertEqual(app.show(aud=audience)[0], 200, audience)
        # A MAC is of the very path that is asked.
        app.register(), app.person()
        other = app.user.mac("GET", site.url + "/user-profile")
        self.assertEqual(site.call("GET", old.url + "/user-profile", None, other)[0], 403)

    def test_the_base_answers_403_and_an_unknown_service_501(self):
        self.assertEqual(site.call("GET", site.url)[0], 403)
        self.assertEqual(site.call("GET", site.url + "/nothing")[0], 501)
        self.assertEqual(site.call("POST", site.url + "/nothing")[0], 501)


if MISSING:
    Walk = Devices = Signatures = Profiles = Assertions = Probes = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
