"""Attacks on people and clients that browsers stand between, by the names that they go by, over a real
socket; in Chromium where only a browser shows whether they come to something.

An attacker's page is at another port of `localhost`: another origin, but the same site, so that cookies
with SameSite come along. What does no harm from there does none from afar.
"""

import base64
import http.client
import json
import secrets
import unittest
import urllib.parse
import uuid

from browser import Page
from pages import Reader
from person import Form, Person, fetch
from phone import code, inbox
from relying_site import RelyingSite, claims
from urd_process import PATIENCE, Urd

PAGES = ("/login", "/register", "/logged-out", "/account", "/account/security", "/account/sessions",
         "/account/activity", "/account/data", "/account/delete", "/logout", "/device")
MARKUP = "\"'><img src=x onerror=hacked=1><script>hacked=1</script><svg/onload=hacked=1>"


def setUpModule():
    global urd, site, metadata
    urd = Urd(lawful=True)
    settings(registration="jit_on_otp", otp_resend_delay=0)
    site = f"http://localhost:{urd.values['URD_URL'].rsplit(':', 1)[1].strip('/')}"
    metadata = fetch(f"{site}/.well-known/openid-configuration")


def tearDownModule():
    urd.close()


def settings(**members):
    status, body, _ = urd.api.call("PATCH", f"{urd.realm}/settings", members)
    assert status == 200, body


class Attack(unittest.TestCase):
    def client(self, **members):
        client = RelyingSite(urd, metadata, **{"consent": "none", **members})
        self.addCleanup(client.close)
        return client

    def person(self, signed_in=True):
        person = Person(urd, site)
        if signed_in:
            self.sign_in(person)
        return person

    def sign_in(self, person):
        # Whoever is signed in is asked once more.
        _, _, page = person.call("GET", "/login?next=/account")
        before = len(inbox(urd, person.email))
        page = self.ask_for_code(person, page)
        status, place, _ = self.submit(
            person, page, "/login/code", code=code(urd, person.email, before))
        self.assertEqual((status, place), (303, "/account"))

    def submit(self, person, page, action, **members):
        place, form = next(
            (place, form) for place, form in Form(page).forms
            if urllib.parse.urlsplit(place).path == action)
        return person.call("POST", place, {**form, **members})

    def ask_for_code(self, person, page, **members):
        """The page on which it is typed."""
        status, place, _ = self.submit(person, page, "/login", email=person.email, **members)
        self.assertEqual((status, place.partition("?")[0]), (303, "/login/code"))
        return person.call("GET", place)[2]

    def is_signed_in(self, person):
        return person.call("GET", "/account")[0] == 200

    def code_for(self, person, client, **members):
        place, _ = person.go(client.begin(**members))
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))["code"]


class InABrowser(Attack):
    def setUp(self):
        self.reader = Reader(site)
        self.addCleanup(self.reader.close)
        self.evil = Page()
        self.addCleanup(self.evil.close)

    def victim(self):
        """Somebody who is signed in with the browser."""
        self.reader.go("/login")
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        self.reader.fill("email", email)
        self.reader.press("Send me a code")
        self.reader.fill("code", code(urd, email))
        self.reader.press("Sign in")
        self.assertEqual(self.reader.place(), "/account")
        return email

    def send_from_evil(self, path, **members):
        """A form that sends itself from the attacker's page."""
        self.reader.go(self.evil.origin)
        self.reader.leave(lambda: self.reader.browser.run(
            """(action, members) => {
                const form = document.createElement("form");
                form.method = "post"; form.action = action;
                for (const [name, value] of Object.entries(members)) {
                    const input = document.createElement("input");
                    input.name = name; input.value = value; form.append(input);
                }
                document.body.append(form); form.submit();
            }""", site + path, members))


class Clickjacking(InABrowser):
    def test_every_page_forbids_frames(self):
        client, person = self.client(consent="needed"), self.person()
        places = [*PAGES, client.begin(), client.begin(redirect_uri="https://evil.example")]
        for url in places:
            for _ in range(5):
                place = urllib.parse.urlsplit(url)
                connection = http.client.HTTPConnection("localhost", int(site.rsplit(":")[-1]))
                cookies = "; ".join(f"{n}={v}" for n, v in person.cookies["localhost"].items())
                connection.request(
                    "GET", place.path + "?" * bool(place.query) + place.query,
                    headers={"Cookie": cookies})
                answer = connection.getresponse()
                answer.read()
                connection.close()
                self.assertEqual(answer.headers["X-Frame-Options"], "DENY", url)
                self.assertIn("frame-ancestors 'none'", answer.headers["Content-Security-Policy"])
                url = answer.headers["Location"]
                if not url or not url.startswith("/"):
                    break

    def test_a_frame_around_the_consent_page_is_empty(self):
        self.victim()
        client = self.client(consent="needed")
        for address in (site + "/account", client.begin()):
            self.reader.go(self.evil.origin)
            self.reader.browser.run("""async (address) => {
                const frame = document.createElement("iframe");
                frame.src = address;
                document.body.append(frame);
                await new Promise((done) => { frame.onload = done; setTimeout(done, 9000); });
            }""", address)
            tree = self.reader.browser.call("Page.getFrameTree")["frameTree"]
            self.assertEqual(
                [child["frame"]["url"] for child in tree["childFrames"]],
                ["chrome-error://chromewebdata/"])


class RequestForgery(InABrowser):
    def test_csrf_a_form_of_another_page_does_nothing(self):
        self.victim()
        ended = "select count(*) from urd.event where type = 'browser.ended'"
        before = urd.sql(ended)
        for path, members in (
                ("/logout", {}), ("/account/delete", {"totp": ""}), ("/account/sessions/end-all", {}),
                ("/device", {"user_code": "BCDF-GHJK", "decision": "allow"}),
                ("/consent", {"decision": "allow", "continue": "AAAA"})):
            with self.subTest(path):
                self.send_from_evil(path, form="AAAA", **members)
                self.assertIn("This page has expired", self.reader.text())
                self.reader.go("/account")
                self.assertEqual(self.reader.place(), "/account", "The victim is signed in still.")
        self.assertEqual(urd.sql(ended), before)

    def test_csrf_a_token_of_the_attackers_own_is_of_no_use(self):
        attacker, victim = self.person(), self.person()
        _, _, page = attacker.call("GET", "/logout")
        token = next(form["form"] for place, form in Form(page).forms if place == "/logout")
        status, _, _ = victim.call("POST", "/logout", {"form": token})
        self.assertEqual(status, 403)
        self.assertTrue(self.is_signed_in(victim))

    def test_csrf_requests_without_a_form_are_refused_by_their_origin(self):
        victim = self.person()
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"},
                        {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
            _, _, page = victim.call("GET", "/logout")
            form = next(form for place, form in Form(page).forms if place == "/logout")
            status, _, _ = victim.call("POST", "/logout", form, **headers)
            self.assertEqual(status, 403, headers)
        self.assertTrue(self.is_signed_in(victim))

    def test_login_csrf_nobody_is_signed_in_to_the_attackers_account(self):
        attacker = self.person(signed_in=False)
        _, _, page = attacker.call("GET", "/login")
        page = self.ask_for_code(attacker, page)
        form = next(form for place, form in Form(page).forms if place.startswith("/login/code?"))
        form["code"] = code(urd, attacker.email)
        self.reader.go("/login")
        self.send_from_evil("/login/code", **form)
        self.reader.go("/account")
        self.assertIn("/login", self.reader.place())

    def test_login_csrf_a_login_leads_back_to_the_browser_that_asked(self):
        # The client tells by `state`: it comes back as it was sent, whatever it is.
        person, client = self.person(), self.client()
        for state in ("a b+c%20&x=y", "ä€😀", "x" * 500):
            place, _ = person.go(client.begin(state=state))
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))
            self.assertEqual(query["state"], state)


class SessionFixation(InABrowser):
    def test_a_planted_cookie_signs_nobody_in(self):
        person, attacker = self.person(signed_in=False), self.person(signed_in=False)
        planted = self.person().cookies["localhost"]["__Host-urd"]
        person.cookies["localhost"] = {"__Host-urd": planted}
        self.sign_in(person)
        self.assertNotEqual(person.cookies["localhost"]["__Host-urd"], planted)
        # What was the attacker's own has ended, and is not the victim's.
        attacker.cookies["localhost"] = {"__Host-urd": planted}
        self.assertFalse(self.is_signed_in(attacker))
        self.assertTrue(self.is_signed_in(person))

    def test_a_neighbouring_host_cannot_plant_a_session_cookie(self):
        neighbour = self.evil.origin.replace("localhost", "evil.localhost")
        self.reader.go(neighbour)
        self.assertEqual(self.reader.browser.run("""() => {
            for (const more of ["; Domain=localhost", ""])
                document.cookie = "__Host-urd=AAAA; Path=/; Secure" + more;
            return location.hostname;
        }"""), "evil.localhost")
        self.reader.go("/login")
        found = self.reader.browser.call("Network.getCookies", urls=[site])["cookies"]
        self.assertNotIn("__Host-urd", [cookie["name"] for cookie in found])

    def test_no_script_reads_the_session_cookies(self):
        self.victim()
        self.assertNotIn("urd", self.reader.browser.run("() => document.cookie"))
        found = self.reader.browser.call("Network.getCookies", urls=[site])["cookies"]
        self.assertEqual(
            {(cookie["name"], cookie["httpOnly"], cookie["secure"], cookie["sameSite"])
             for cookie in found},
            {("__Host-urd", True, True, "Lax"), ("__Host-urd-form", True, True, "Lax")})


class OpenRedirect(Attack):
    ELSEWHERE = (
        "https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil",
        "https:evil.example", "javascript:alert(1)", "/account/../../evil", "/account@evil.example",
        "http://localhost@evil.example", "%2F%2Fevil.example", "/account\r\nLocation: //evil.example")

    def test_a_sign_in_leads_to_pages_of_this_site(self):
        for place in self.ELSEWHERE:
            with self.subTest(place):
                person, asked = self.person(signed_in=False), {"next": place, "continue": place}
                query = urllib.parse.urlencode(asked)
                _, _, page = person.call("GET", f"/login?{query}")
                page = self.ask_for_code(person, page, **asked)
                status, to, _ = self.submit(
                    person, page, "/login/code", code=code(urd, person.email), **asked)
                self.assertEqual((status, to), (303, "/account"))
                _, to, _ = person.call("GET", f"/login?{query}")
                self.assertNotIn("evil", to or "")

    def test_an_answer_goes_to_addresses_that_were_registered(self):
        client, person = self.client(redirect_uris=["https://shop.example/back"]), self.person()
        for wrong in (
                "https://shop.example/back/", "https://shop.example/back?x=1",
                "https://shop.example/back#x", "https://shop.example/Back",
                "https://shop.example/back/../evil", "https://shop.example/%62ack",
                "https://shop.example:443/back", "https://shop.example:8443/back",
                "http://shop.example/back", "https://shop.example.evil.example/back",
                "https://shop.example@evil.example/back", "https://evil.example/back",
                "https://shop.example\\@evil.example/back", "https://SHOP.example/back",
                "//shop.example/back", "/back", "javascript:alert(1)", "data:text/html,x",
                "https://shop.example/back\0", "https://shop.example/back ", "*", "null"):
            for more in ({}, {"prompt": "none"}, {"scope": "nonsense"}, {"response_type": "token"},
                         {"response_mode": "form_post"}):
                with self.subTest(wrong=wrong, more=more):
                    status, place, _ = person.call(
                        "GET", client.begin(redirect_uri=wrong, **more))
                    self.assertEqual((status, place), (400, None))
        status, place, _ = person.call(
            "GET", client.begin(redirect_uri="https://shop.example/back"))
        self.assertEqual((status, place.partition("?")[0]), (303, "https://shop.example/back"))

    def test_a_logout_leads_to_addresses_that_were_registered(self):
        client, person = self.client(), self.person()
        place, _ = person.go(client.begin())
        client.brought.append(("GET", "/back", dict(urllib.parse.parse_qsl(
            urllib.parse.urlsplit(place).query)), {}))
        hint = client.tokens()["id_token"]
        for wrong in ("https://evil.example", client.bye + "/", client.bye + "?x=1", client.back):
            for more in ({"id_token_hint": hint}, {"client_id": client.id}, {}):
                _, place, _ = person.call(
                    "GET", metadata["end_session_endpoint"] + "?" + urllib.parse.urlencode(
                        {"post_logout_redirect_uri": wrong, **more}))
                place = urllib.parse.urljoin(site, place or "")
                self.assertTrue(place.startswith(site), place)


class MixUp(Attack):
    def test_every_answer_names_its_issuer(self):
        self.assertIs(metadata["authorization_response_iss_parameter_supported"], True)
        client, person = self.client(), self.person()
        for members in ({}, {"scope": "nonsense"}, {"prompt": "login none"}):
            place, _ = person.go(client.begin(**members))
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(place).query)
            self.assertEqual(query["iss"], [site], place)
            self.assertEqual(query["state"], [client.state])


class CodeInjection(Attack):
    def is_refused(self, answer):
        status, body = answer
        self.assertEqual((status, body["error"]), (400, "invalid_grant"), body)

    def test_a_stolen_code_is_refused_in_the_attackers_own_login(self):
        client, victim = self.client(), self.person()
        stolen = self.code_for(victim, client)
        client.begin()  # The attacker's: another verifier.
        self.is_refused(client.redeem(stolen))

    def test_a_code_is_its_clients_alone(self):
        client, other, victim = self.client(), self.client(), self.person()
        stolen = self.code_for(victim, client)
        other.begin()
        self.is_refused(other.redeem(
            stolen, code_verifier=client.verifier, redirect_uri=client.back))

    def test_a_code_is_for_the_address_that_it_was_sent_to(self):
        client, victim = self.client(), self.person()
        # Left out it says nothing, and the challenge says whose the code is.
        for wrong in (client.bye, client.back + "/"):
            stolen = self.code_for(victim, client)
            status, body = client.redeem(stolen, redirect_uri=wrong)
            self.assertEqual(status, 400, body)
            self.assertIn(body["error"], ("invalid_grant", "invalid_request"))
        # Where nothing else says whose it is, and where the verifier does not.
        for asked, form in (
                ({"code_challenge": None, "code_challenge_method": None}, {}),
                ({}, {}), ({}, {"code_verifier": secrets.token_urlsafe(48)})):
            status, body = client.post(
                grant_type="authorization_code", redirect_uri="",
                code=self.code_for(victim, client, **asked), **form)
            self.assertEqual((status, body["error"]), (400, "invalid_grant"), body)

    def test_a_code_used_twice_ends_its_session(self):
        client, victim = self.client(), self.person()
        stolen = self.code_for(victim, client)
        status, tokens = client.redeem(stolen)
        self.assertEqual(status, 200, tokens)
        self.is_refused(client.redeem(stolen))
        self.is_refused(client.post(
            grant_type="refresh_token", refresh_token=tokens["refresh_token"]))

    def test_an_id_token_is_for_the_login_it_was_asked_for_in(self):
        client, victim = self.client(), self.person()
        stolen = self.code_for(victim, client)
        status, tokens = client.redeem(stolen)
        self.assertEqual((status, claims(tokens["id_token"])["nonce"]), (200, client.nonce))


class Downgrade(Attack):
    def test_pkce_a_sent_challenge_must_be_answered(self):
        client, victim = self.client(), self.person()
        for wrong in (None, "", "a" * 43, secrets.token_urlsafe(48)):
            form = {"grant_type": "authorization_code", "redirect_uri": client.back,
                    "code": self.code_for(victim, client)}
            if wrong is not None:
                form["code_verifier"] = wrong
            status, body = client.post(**form)
            self.assertEqual((status, body.get("error")), (400, "invalid_grant"), body)

    def test_pkce_removed_from_the_request_is_noticed_at_the_token_endpoint(self):
        # RFC 9700, section 4.8.2: a client with a secret may do without, but not half.
        client, victim = self.client(), self.person()
        given = self.code_for(victim, client, code_challenge=None, code_challenge_method=None)
        status, body = client.redeem(given)
        self.assertEqual((status, body["error"]), (400, "invalid_grant"))

    def test_pkce_is_never_plain_and_never_omitted_by_a_public_client(self):
        public, victim = self.client(token_endpoint_auth_method="none"), self.person()
        for members in (
                {"code_challenge": None, "code_challenge_method": None},
                {"code_challenge_method": "plain"}, {"code_challenge_method": None},
                {"code_challenge_method": "s256"}, {"code_challenge": ""}):
            place, _ = victim.go(public.begin(**members))
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(place).query))
            self.assertEqual(query["error"], "invalid_request", members)
            self.assertNotIn("code", query)

    def test_no_response_type_puts_tokens_into_addresses(self):
        client, victim = self.client(), self.person()
        self.assertEqual(metadata["response_types_supported"], ["code"])
        for kind in ("token", "id_token", "code token", "code id_token", "none"):
            place, _ = victim.go(client.begin(response_type=kind))
            self.assertIn("error=unsupported_response_type", place)
            self.assertNotIn("token=", place)


class ParameterPollution(Attack):
    def test_repeated_parameters_are_refused_at_the_authorization_endpoint(self):
        client, other, person = self.client(), self.client(), self.person()
        for name, value in (
                ("client_id", other.id), ("redirect_uri", "https://evil.example"),
                ("response_type", "code"), ("scope", "openid"), ("state", "other"),
                ("code_challenge", "A" * 43), ("code_challenge_method", "plain"),
                ("nonce", "other"), ("prompt", "none"), ("response_mode", "form_post")):
            first = client.begin(**{"prompt": "none", "response_mode": "query"})
            for url in (f"{first}&{name}={urllib.parse.quote(value, safe='')}",
                        first.replace("?", f"?{name}={urllib.parse.quote(value, safe='')}&")):
                with self.subTest(name):
                    status, place, _ = person.call("GET", url)
                    self.assertNotIn("code=", place or "")
                    self.assertNotIn("evil.example", place or "")
                    self.assertTrue(status == 400 or "error=" in place, (status, place))

    def test_repeated_parameters_are_refused_at_the_token_endpoint(self):
        client, person = self.client(), self.person()
        for name, value in (
                ("code", "other"), ("grant_type", "refresh_token"), ("redirect_uri", client.bye),
                ("code_verifier", "a" * 43), ("client_id", client.id)):
            form = {"grant_type": "authorization_code", "code": self.code_for(person, client),
                    "redirect_uri": client.back, "code_verifier": client.verifier,
                    "client_id": client.id}
            text = urllib.parse.urlencode(form)
            more = urllib.parse.urlencode({name: value})
            for body in (f"{text}&{more}", f"{more}&{text}"):
                status, answer = self.send(client, body)
                self.assertEqual((status, answer["error"]), (400, "invalid_request"), name)

    def send(self, client, body):
        place = urllib.parse.urlsplit(metadata["token_endpoint"])
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
        basic = base64.b64encode(f"{client.id}:{client.secret}".encode()).decode()
        try:
            connection.request("POST", place.path, body, {
                "Content-Type": "application/x-www-form-urlencoded",
                "Authorization": f"Basic {basic}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def test_repeated_fields_are_refused_in_a_pages_form(self):
        person = self.person()
        _, _, page = person.call("GET", "/logout")
        form = next(form for place, form in Form(page).forms if place == "/logout")
        status, _, _ = person.call("POST", "/logout", [*form.items(), *form.items()])
        self.assertEqual(status, 400)
        self.assertTrue(self.is_signed_in(person))


class Scripting(InABrowser):
    """Cross-site scripting: whatever is echoed is text."""

    def is_harmless(self):
        browser = self.reader.browser
        self.assertEqual(browser.run(
            "() => [typeof window.hacked, document.querySelectorAll('[onerror],[onload],img[src=x]')"
            ".length, [...document.querySelectorAll('a')].filter("
            "(a) => a.protocol === 'javascript:').length]"),
            ["undefined", 0, 0], self.reader.text())

    def test_markup_in_every_field_of_a_login_is_escaped(self):
        settings(display_name=MARKUP[:60])
        self.addCleanup(lambda: settings(display_name="Demo"))
        client = self.client(consent="needed", client_name=MARKUP)
        reader = self.reader
        query = urllib.parse.urlencode({"next": MARKUP, "continue": MARKUP})
        reader.go(f"/login?{query}")
        self.is_harmless()
        reader.go(client.begin(
            login_hint=MARKUP, state=MARKUP, ui_locales=MARKUP, acr_values=MARKUP,
            scope="openid email"))
        self.is_harmless()
        self.assertIn("<script>hacked=1</script>", reader.text(), "The client's name is shown.")
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        reader.browser.run("""(text) => {
            for (const input of document.querySelectorAll("input")) input.type = "text";
            document.querySelector("input[name=email]").value = text;
        }""", MARKUP)
        reader.press("Send me a code")
        self.is_harmless()
        self.assertIn("Enter a complete e-mail address", reader.text())
        reader.fill("email", email)
        reader.press("Send me a code")
        reader.browser.run("() => { document.querySelector('input[name=code]').maxLength = 64 }")
        reader.fill("code", MARKUP[:60])
        reader.press("Sign in")
        self.is_harmless()
        reader.fill("code", code(urd, email))
        reader.press("Sign in")
        self.is_harmless()
        self.assertIn("/consent", reader.place())
        reader.press("Allow")
        self.assertEqual(client.brought[-1][2]["state"], MARKUP)

    def test_markup_in_answers_and_errors_is_escaped(self):
        self.victim()
        client, reader = self.client(), self.reader
        for url in (
                client.begin(client_id=MARKUP), client.begin(redirect_uri=MARKUP),
                client.begin(redirect_uri="javascript:hacked=1"), f"/device?user_code={MARKUP}",
                f"/{urllib.parse.quote(MARKUP)}", f"/device?done={MARKUP}",
                f"/magic-login?userId={urllib.parse.quote(MARKUP)}&token={urllib.parse.quote(MARKUP)}",
                "/connect/authorize?continue=" + urllib.parse.quote(MARKUP),
                metadata["end_session_endpoint"] + "?" + urllib.parse.urlencode(
                    {"id_token_hint": MARKUP, "state": MARKUP, "client_id": MARKUP,
                     "logout_hint": MARKUP, "post_logout_redirect_uri": "javascript:hacked=1"})):
            with self.subTest(url):
                reader.go(url.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20"))
                self.is_harmless()
        reader.go(client.begin(response_mode="form_post", state=MARKUP))
        reader.until("() => location.pathname === '/back'")
        self.assertEqual(client.brought[-1][2]["state"], MARKUP)

    def test_markup_in_a_user_agent_is_escaped(self):
        self.reader.browser.call("Network.setUserAgentOverride", userAgent=MARKUP)
        self.victim()
        for path in ("/account/sessions", "/account/activity", "/account/data"):
            self.reader.go(path)
            self.is_harmless()

    def test_a_clients_links_cannot_run_scripts(self):
        for name in ("client_uri", "policy_uri", "tos_uri", "logo_uri"):
            status, body, _ = urd.api.call("POST", urd.clients, {
                "redirect_uris": ["https://shop.example/back"], name: "javascript:hacked=1"})
            self.assertEqual(status, 400, body)


class Leaks(InABrowser):
    def test_referrers_contain_no_code_and_no_request(self):
        client = self.client(consent="needed")
        self.reader.go(client.begin())
        self.reader.fill("email", email := f"{uuid.uuid4().hex[:12]}@example.org")
        self.reader.press("Send me a code")
        self.reader.fill("code", code(urd, email))
        self.reader.press("Sign in")
        self.reader.press("Allow")
        method, _, members, headers = client.brought[-1]
        self.assertEqual((method, "code" in members), ("GET", True))
        self.assertIn(headers["Referer"], (None, f"{site}/"))

    def test_other_origins_cannot_read_what_the_browser_may(self):
        self.victim()
        self.reader.go(self.evil.origin)
        for path in ("/account", "/connect/userinfo", "/api/account/sessions", "/login",
                     "/login/passkey/begin"):
            with self.subTest(path):
                self.assertEqual(self.reader.browser.run("""async (url) => {
                    try {
                        const answer = await fetch(url, {credentials: "include"});
                        return answer.status + (await answer.text());
                    } catch (error) { return error.name; }
                }""", site + path), "TypeError")

    def test_scripts_of_other_origins_read_the_routes_for_public_clients(self):
        """An application that runs in a browser alone gets its tokens there, by no cookie (decision 0048)."""
        self.reader.go(self.evil.origin)
        answer = self.reader.browser.run("""async (url) => {
            const answer = await fetch(url, {
                method: "POST", headers: {DPoP: "x"}, body: new URLSearchParams({
                    grant_type: "refresh_token", client_id: "demo-native", refresh_token: "x"})});
            return answer.status + " " + (await answer.json()).error;
        }""", site + "/connect/token")
        self.assertEqual(answer, "400 invalid_dpop_proof")


if __name__ == "__main__":
    unittest.main()
