"""The page for tenants in a frame of a tenant's page, in a real browser: the messages that the two exchange are
those of the profile's JavaScript client."""

import http.server
import json
import re
import secrets
import threading
import time
import unittest
import urllib.parse

from pages import Reader
from phone import another, code, inbox, mail
from urd_process import Urd
from verify_client import App, Browser, address


def setUpModule():
    global urd, site
    urd = Urd()
    site = urd.values["URD_VERIFY_URL"]


def tearDownModule():
    urd.close()


EMBEDDING = """<!doctype html><title>Shop</title><div id="form"></div><script>
const SITE = %(site)s, KEY = %(key)s, ID = "x7cotter-form", DOMAIN = %(domain)s;
const STATE = "s-" + Math.random().toString(36).slice(2), VERIFIER = %(verifier)s;
window.events = [];
window.begun = null;
const frame = document.createElement("iframe");
frame.style.width = "600px"; frame.style.height = "600px";
const tell = (data) => frame.contentWindow.postMessage(JSON.stringify(data), SITE);
addEventListener("message", async (event) => {
  let data;
  try { data = JSON.parse(event.data); } catch (error) { return; }
  if (event.origin !== SITE) return;
  const name = data.callbackName.replace(ID, "");
  window.events.push(name);
  if (name === "FIRST_LOAD") tell({action: "CONFIG", payload: %(config)s});
  if (name === "ON_BEGIN") {
    window.begun = data.payload;
    if (window.stops) tell({action: "ON_ERROR", errorMsg: window.stops});
    else tell({action: "CONTINUE_SUBMIT", payload: data.payload});
  }
  if (name === "ON_SUBMIT_AUTHORIZATION_CODE") {
    const {authorization_code, challenge_id, state, client_json} = data.payload;
    const answer = await fetch(SITE + "/api/v0/verify/get_identity?oauth_token=true", {
      method: "POST", credentials: "include",
      headers: {API_KEY_ID: KEY, "Content-Type": "application/json"},
      body: JSON.stringify({code_verifier: VERIFIER, authorization_code,
        challenge_id: parseInt(challenge_id), redirect_url: location.origin})});
    const told = await answer.json();
    window.result = {status: answer.status, sameState: state === STATE, client_json, ...told};
    tell(answer.ok ? {action: "DONE_SUCCESS"} : {action: "DONE_ERROR", payload: told});
  }
});
frame.src = encodeURI(`${SITE}/signup?challenge=%(challenge)s&type=%(kind)s&domain=${DOMAIN}`
  + `&api_key=${KEY}&redirect_url=undefined&state=${STATE}&id=${ID}%(more)s`);
document.getElementById("form").appendChild(frame);
window.refresh = async () => {
  const answer = await fetch(`${SITE}/api/v0/token/${KEY}`, {method: "POST",
    credentials: "include", headers: {API_KEY_ID: KEY, "Content-Type": "application/json"},
    body: JSON.stringify({grant_type: "refresh_token"})});
  return [answer.status, await answer.json()];
};
</script>"""


class Frame(unittest.TestCase):
    """COT-01: a tenant's page shows the form in a frame, in a real browser, and speaks with it by messages. The
    page is at another site than Urd, so that no cookie comes along."""

    @classmethod
    def setUpClass(cls):
        pages = cls.pages = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(pages.get(self.path, "").encode())

            def log_message(self, *_):
                pass

        cls.servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in "ab"]
        for server in cls.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.origins = [f"http://localhost:{server.server_port}" for server in cls.servers]

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.shutdown()
            server.server_close()

    def setUp(self):
        self.reader = Reader(site)
        self.addCleanup(self.reader.close)

    def open(self, kind="EMAIL", config="{}", domain=None, at=0, more=""):
        app = App(urd)
        self.pages["/"] = EMBEDDING % {
            "site": json.dumps(site), "key": json.dumps(app.key),
            "domain": json.dumps(domain or self.origins[0]), "config": config, "kind": kind,
            "more": more,
            "verifier": json.dumps(app.verifier), "challenge": app.challenge}
        self.reader.go(self.origins[at] + "/")
        return app

    def inside(self, act):
        """Acts within the frame, which is a target of its own for the browser."""
        browser, deadline = self.reader.browser, time.monotonic() + 30
        outer = browser.session
        while True:
            frames = [target for target in browser.call("Target.getTargets")["targetInfos"]
                      if target["type"] == "iframe" and target["url"].startswith(site)]
            if frames or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        session = browser.call(
            "Target.attachToTarget", targetId=frames[0]["targetId"], flatten=True)["sessionId"]
        try:
            browser.session = session
            return act()
        finally:
            browser.session = outer
            browser.call("Target.detachFromTarget", sessionId=session)

    def event(self, name):
        self.reader.until(f"() => window.events.includes('{name}')")

    def sign_in(self, who, button="Send me a code"):
        self.event("LOADED")
        before = len(inbox(urd, who))

        def begin():
            self.reader.fill("identifier", who)
            self.reader.click(button)

        self.inside(begin)
        digits = code(urd, who, before)

        def confirm():
            self.reader.until("() => !document.getElementById('frame-code').hidden")
            self.reader.fill("code", digits)
            self.reader.click("Confirm")

        self.inside(confirm)
        self.reader.until("() => window.result")
        return self.reader.browser.run("() => window.result")

    def test_cot_01_a_page_in_a_frame_proves_an_address_and_its_cookie_refreshes(self):
        who = address()
        self.open()
        result = self.sign_in(who)
        self.assertEqual((result["status"], result["sameState"]), (200, True))
        self.assertEqual(result["client_json"], {})
        self.assertEqual(result["user"]["identifier"], who)
        begun = self.reader.browser.run("() => window.begun")
        self.assertRegex(begun.pop("device_name"), "Chrom")
        self.assertEqual(begun, {
            "identifier": who, "identifier_type": "EMAIL", "device_type": "BROWSER",
            "client_json": {}, "auth_required": True})
        self.assertEqual(
            self.reader.browser.run("() => window.events"),
            ["FIRST_LOAD", "LOADED", "ON_BEGIN", "ON_SUBMIT_AUTHORIZATION_CODE"])
        self.inside(lambda: self.reader.until(
            "() => !document.getElementById('frame-done').hidden"))
        status, tokens = self.reader.browser.run("() => window.refresh()")
        self.assertEqual(status, 200, tokens)
        self.assertIn("access_token", tokens)

    def ask_for_link_and_open_it(self, who):
        """The link of the mail is opened in another browser than the frame's."""
        def begin():
            self.reader.fill("identifier", who)
            self.reader.click("Send me a link")

        self.inside(begin)
        text = mail(urd, who)["text"]
        link = "/" + re.search(r"https?://\S+/app/open\S+", text)[0].split("/", 3)[3]
        other = Browser(site)
        other.post(other.call("GET", link), link)

    def test_cot_03_a_page_in_a_frame_takes_phones_and_links(self):
        who = f"+4178{secrets.randbelow(10 ** 7):07}"
        self.open("PHONE")
        result = self.sign_in(who, "Send me a code by SMS")
        self.assertEqual(result["user"]["identifier"], who)
        who = address()
        self.open(config='{"authenticationMethod": "MAGIC_LINK"}')
        self.event("LOADED")
        self.ask_for_link_and_open_it(who)
        self.reader.until("() => window.result")
        result = self.reader.browser.run("() => window.result")
        self.assertEqual(result["oauth_token"]["auth_method"], "MAGIC_LINK")

    def test_a_frame_sends_a_code_at_once_to_the_address_that_the_page_knows(self):
        for asked, config in (
                ({"direct_login": "true", "input": "WHO"}, {}),
                ({"direct_login": "true"}, {"identifierFieldInitialValue": "WHO"}),
                ({}, {"skipIdentiferFormWithValue": "WHO", "skipIdentiferForm": True})):
            with self.subTest(asked=asked, config=config):
                who = address()
                more = {name: who if value == "WHO" else value for name, value in asked.items()}
                self.open(
                    config=json.dumps(config).replace("WHO", who),
                    more="&" + urllib.parse.urlencode(more, safe="@") if more else "")
                digits = code(urd, who)

                def confirm():
                    self.reader.until("() => !document.getElementById('frame-code').hidden")
                    self.reader.fill("code", digits)
                    self.reader.click("Confirm")

                self.inside(confirm)
                self.reader.until("() => window.result")
                result = self.reader.browser.run("() => window.result")
                self.assertEqual(result["user"]["identifier"], who)
                self.assertEqual(len(inbox(urd, who)), 1)

    def test_a_frame_asks_for_what_the_page_needs_before_it_sends_a_code_at_once(self):
        who = address()
        config = {"skipIdentiferForm": True, "skipIdentiferFormWithValue": who,
                  "additionalFields": [{"name": "name", "label": "Name"}]}
        self.open(config=json.dumps(config))
        self.event("LOADED")
        self.assertFalse(self.inside(lambda: self.reader.browser.run(
            "() => document.getElementById('frame-address').hidden")))
        time.sleep(1)
        self.assertNotIn("ON_BEGIN", self.reader.browser.run("() => window.events"))
        self.assertEqual(inbox(urd, who), [])

        def fill_in():
            self.reader.browser.run(
                "() => { document.getElementById('frame-more-0').value = 'Ann'; }")
            self.reader.click("Send me a code")

        self.inside(fill_in)
        self.event("ON_BEGIN")
        self.assertEqual(
            self.reader.browser.run("() => window.begun.client_json"), {"name": "Ann"})
        code(urd, who)
        # What the page knows already is enough.
        who, config["additionalFields"][0]["initialValue"] = address(), "Ann"
        self.open(config=json.dumps({**config, "skipIdentiferFormWithValue": who}))
        code(urd, who)

    def test_the_page_around_the_frame_hears_of_a_number_as_it_is_known_and_of_no_other_text(self):
        self.open("PHONE")
        self.event("LOADED")

        def begin(number):
            self.reader.fill("identifier", number)
            self.reader.click("Send me a code by SMS")

        self.inside(lambda: begin("+41 78"))
        self.event("ON_ERROR")
        self.assertNotIn("ON_BEGIN", self.reader.browser.run("() => window.events"))
        digits = f"{secrets.randbelow(10 ** 7):07}"
        self.inside(lambda: begin(f"+41 78 {digits[:3]} {digits[3:5]} {digits[5:]}"))
        self.event("ON_BEGIN")
        begun = self.reader.browser.run("() => window.begun")
        self.assertEqual(
            (begun["identifier"], begun["identifier_type"]), (f"+4178{digits}", "PHONE"))

    def test_a_page_says_by_which_channels_codes_go_and_sms_is_the_default(self):
        sms, whatsapp = "Send me a code by SMS", "Send me a code by WhatsApp"
        for config, more, shown in (
                ({}, "", [sms]), ({"phoneChannels": ["WHATSAPP"]}, "", [whatsapp]),
                ({"phoneChannels": ["SMS", "WHATSAPP"]}, "", [sms, whatsapp]),
                ({"phoneChannels": ["PIGEON"]}, "", [sms, whatsapp]),
                ({}, "&phone_channels[]=SMS&phone_channels[]=WHATSAPP", [sms, whatsapp])):
            self.open("PHONE", config=json.dumps(config), more=more)
            self.event("LOADED")
            self.assertEqual(
                self.inside(lambda: self.reader.browser.run(
                    "() => [...document.querySelectorAll('#frame-address button')]"
                    ".map((button) => button.textContent)")), shown, config)

    def test_the_buttons_of_a_frame_say_whether_a_code_or_a_link_is_sent(self):
        by_address = "&auth_method=MAGIC_LINK"
        for kind, config, more, shown in (
                ("EMAIL", {}, "", ["Send me a code"]),
                ("EMAIL", {"authenticationMethod": "MAGIC_LINK"}, "", ["Send me a link"]),
                ("EMAIL", {}, by_address, ["Send me a link"]),
                ("PHONE", {"phoneChannels": ["SMS", "WHATSAPP"]}, by_address,
                 ["Send me a link by SMS", "Send me a link by WhatsApp"])):
            self.open(kind, config=json.dumps(config), more=more)
            self.event("LOADED")
            self.assertEqual(
                self.inside(lambda: self.reader.browser.run(
                    "() => [...document.querySelectorAll('#frame-address button')]"
                    ".map((button) => button.textContent)")), shown, (config, more))

    def test_what_a_page_asks_beside_the_address_comes_back_to_it(self):
        who = address()
        self.open(config=json.dumps({"additionalFields": [
            {"name": "name", "label": "Your <b>name</b>", "placeholder": "Ann"},
            {"name": "plan", "initialValue": "gold", "optional": True}, {"label": "nothing"},
            # As the profile's JavaScript client has them.
            {"name": "seats", "label": "Seats", "type": "number", "initial_value": 3},
            {"name": "team", "label": "Team", "type": "file", "initial_value": "Blue"}]}))
        self.event("LOADED")
        self.assertEqual(
            self.inside(lambda: self.reader.browser.run(
                "() => [...document.querySelectorAll('[id^=frame-more]')]"
                ".map((input) => [input.type, input.value])")),
            [["text", ""], ["text", "gold"], ["number", "3"], ["text", "Blue"]])

        def begin():
            self.assertEqual(self.reader.faults(), [])
            self.reader.fill("identifier", who)
            self.reader.browser.run(
                "() => { document.getElementById('frame-more-0').value = 'Ann <Example>'; }")

        self.inside(begin)
        result = self.sign_in(who)
        told = {"name": "Ann <Example>", "plan": "gold", "seats": "3", "team": "Blue"}
        self.assertEqual(result["client_json"], told)
        self.assertEqual(
            self.reader.browser.run("() => window.begun.client_json"), told)

    def test_cot_03_a_page_shows_the_frame_for_links_by_its_other_address(self):
        for back in ("https://www.shop.example/", "ORIGIN/back?a=1"):
            with self.subTest(back=back):
                back = back.replace("ORIGIN", self.origins[0])
                app, who = App(urd), address()
                query = urllib.parse.urlencode({
                    "auth_method": "MAGIC_LINK", "code_challenge": app.challenge, "type": "EMAIL",
                    "domain": self.origins[0], "api_key": app.key, "state": app.state,
                    # As the script has it, which encodes what is encoded.
                    "redirect_url": urllib.parse.quote(back, safe=""), "id": "x7cotter-form",
                    "redirect_link": "true"})
                answer = Browser(site).call("GET", "/login?" + query)
                self.assertEqual(answer.status, 303)
                shown = Browser(site).call("GET", answer.location)
                if back.startswith("https"):
                    self.assertEqual(shown.status, 400)
                    self.assertIn(back, shown.text)
                    continue
                self.assertEqual(shown.status, 200, shown.text)
                self.open_at("/login?" + query, app)
                self.event("LOADED")
                self.ask_for_link_and_open_it(who)
                self.reader.until("() => window.submitted")
                told = self.reader.browser.run("() => window.submitted")
                self.assertEqual(told["state"], app.state)
                app.redirect = back
                tokens = app.exchange(app.body(
                    {"code": told["authorization_code"], "challenge_id": told["challenge_id"]}))
                self.assertEqual(tokens.status, 200, tokens.text)
                self.assertEqual(tokens.json["oauth_token"]["auth_method"], "MAGIC_LINK")
        # Without what a tenant's page says it is the page where people sign in.
        page = Browser(site).call("GET", "/login?domain=http://localhost&api_key=x")
        self.assertEqual(page.status, 200)

    def open_at(self, path, app):
        """A page that shows a frame by its address alone, and hears what it is told."""
        self.pages["/"] = """<!doctype html><title>Shop</title><script>
window.events = [];
const frame = document.createElement("iframe");
frame.style.width = "600px"; frame.style.height = "600px";
addEventListener("message", (event) => {
  const data = JSON.parse(event.data), name = data.callbackName.replace("x7cotter-form", "");
  window.events.push(name);
  const tell = (told) => frame.contentWindow.postMessage(JSON.stringify(told), "*");
  if (name === "FIRST_LOAD") tell({action: "CONFIG", payload: {authenticationMethod: "MAGIC_LINK"}});
  if (name === "ON_BEGIN") tell({action: "CONTINUE_SUBMIT", payload: data.payload});
  if (name === "ON_SUBMIT_AUTHORIZATION_CODE") window.submitted = data.payload;
});
frame.src = %s;
document.documentElement.append(frame);
</script>""" % json.dumps(site + path)
        self.reader.go(self.origins[0] + "/")

    def test_the_frame_for_a_passkey_goes_on_without_one(self):
        app = App(urd)
        query = {"type": "REGISTRATION", "domain": self.origins[0], "api_key": app.key,
                 "state": app.state, "id": "x7cotter-form", "identifier": address()}
        self.open_at("/webauthn?" + urllib.parse.urlencode(query), app)
        self.event("SKIP_WEBAUTHN")
        self.assertEqual(
            self.reader.browser.run("() => window.events"),
            ["FIRST_LOAD", "LOADED", "SKIP_WEBAUTHN"])
        query["domain"] = "https://evil.example"
        refused = Browser(site).call("GET", "/webauthn?" + urllib.parse.urlencode(query))
        self.assertEqual(refused.status, 400)
        self.assertIn("frame-ancestors 'none'", refused.headers["Content-Security-Policy"])

    def test_a_page_stops_a_submission_and_a_wrong_code_is_told_in_the_frame(self):
        self.open()
        self.event("LOADED")
        self.reader.browser.run("() => { window.stops = 'Members only' }")
        who = address()

        def begin():
            self.reader.fill("identifier", who)
            self.reader.click("Send me a code")
            self.reader.until("() => document.body.innerText.includes('Members only')")

        self.inside(begin)
        self.assertEqual(inbox(urd, who), [])

    def ask(self, who, button="Send me a code"):
        """The newest code once it is on its way, and its form is there."""
        before = len(inbox(urd, who))

        def press():
            if button == "Send me a code":
                self.reader.fill("identifier", who)
            self.reader.click(button)

        self.inside(press)
        digits = code(urd, who, before)
        self.inside(lambda: self.reader.until(
            "() => !document.getElementById('frame-code').hidden"))
        return digits

    def type(self, digits):
        def confirm():
            self.reader.fill("code", digits)
            self.reader.click("Confirm")

        self.inside(confirm)

    def errors(self):
        return self.reader.browser.run(
            "() => window.events.filter((name) => name === 'ON_ERROR').length")

    def test_another_code_is_sent_after_five_wrong_ones_without_a_reload(self):
        who = address()
        self.open()
        self.event("LOADED")
        digits = self.ask(who)
        for count in range(1, 6):
            self.type(another(digits))
            self.reader.until(
                "() => window.events.filter((name) => name === 'ON_ERROR').length === %d" % count)
        self.type(digits)
        self.reader.until(
            "() => window.events.filter((name) => name === 'ON_ERROR').length === 6")
        self.inside(lambda: self.reader.until(
            "() => document.body.innerText.includes('wrong or has expired')"))
        fresh = self.ask(who, "Send again")
        self.inside(lambda: self.reader.until(
            "() => document.body.innerText.includes('It was sent again')"
            " && !document.body.innerText.includes('wrong or has expired')"))
        self.type(fresh)
        self.reader.until("() => window.result")
        result = self.reader.browser.run("() => window.result")
        self.assertEqual(result["user"]["identifier"], who)
        # The page around has the person from its own exchange: see docs/verify.md.
        self.assertNotIn("ON_SUCCESS", self.reader.browser.run("() => window.events"))

    def test_the_address_is_changed_in_the_frame(self):
        first, second = address(), address()
        self.open()
        self.event("LOADED")
        self.ask(first)
        self.inside(lambda: self.reader.click("Use another address"))
        self.inside(lambda: self.reader.until(
            "() => !document.getElementById('frame-address').hidden"
            " && document.getElementById('frame-again').hidden"))
        self.type(self.ask(second))
        self.reader.until("() => window.result")
        result = self.reader.browser.run("() => window.result")
        self.assertEqual(result["user"]["identifier"], second)
        self.assertEqual(self.errors(), 0)

    def test_a_link_is_sent_again_and_the_newer_one_alone_goes_on(self):
        who = address()
        self.open(config='{"authenticationMethod": "MAGIC_LINK"}')
        self.event("LOADED")

        def begin():
            self.reader.fill("identifier", who)
            self.reader.click("Send me a link")
            self.reader.until("() => !document.getElementById('frame-wait').hidden")

        self.inside(begin)
        mail(urd, who)
        self.inside(lambda: self.reader.click("Send again"))
        text = mail(urd, who, 1)["text"]
        link = "/" + re.search(r"https?://\S+/app/open\S+", text)[0].split("/", 3)[3]
        other = Browser(site)
        other.post(other.call("GET", link), link)
        self.reader.until("() => window.result")
        self.assertEqual(
            self.reader.browser.run(
                "() => window.events.filter((name) => name.startsWith('ON_SUBMIT')).length"), 1)
        self.assertEqual(self.errors(), 0)

    def test_a_wait_that_ended_is_told_to_the_page_around(self):
        who = address()
        self.open(config='{"authenticationMethod": "MAGIC_LINK"}')
        self.event("LOADED")

        def begin():
            self.reader.fill("identifier", who)
            self.reader.click("Send me a link")
            self.reader.until("() => !document.getElementById('frame-wait').hidden")
            # What was sealed is none any more.
            self.reader.browser.run(
                "() => { const ask = window.fetch; window.fetch = (path, more) => ask("
                "path, {...more, body: JSON.stringify({to: 'over'})}); }")

        self.inside(begin)
        self.event("ON_ERROR")
        self.inside(lambda: self.reader.until(
            "() => document.body.innerText.includes('start again')"
            " && !document.getElementById('frame-address').hidden"))

    def test_what_the_app_could_not_use_is_told_in_the_readers_language(self):
        self.open()
        self.event("LOADED")
        self.reader.browser.run("() => tell({action: 'DONE_ERROR', payload: {}})")
        self.inside(lambda: self.reader.until(
            "() => document.getElementById('frame-error').innerText.includes('try again')"))
        # The browser's own language does not reach its frames here: what the script shows is in the page.
        page = Browser(site).call("GET", "/signup?" + urllib.parse.urlencode({
            "api_key": App(urd).key, "domain": self.origins[0], "type": "EMAIL", "state": "s",
            "challenge": App(urd).challenge}), Accept_Language="de")
        self.assertRegex(page.text, '<p id="frame-failed" hidden>[^<]*versuchen Sie es noch einmal')

    def test_the_page_of_a_frame_is_readable_and_works_by_keyboard(self):
        for kind in ("EMAIL", "PHONE"):
            self.reader.go("/signup?" + urllib.parse.urlencode({
                "api_key": App(urd).key, "domain": self.origins[0], "type": kind, "state": "s",
                "challenge": App(urd).challenge}))
            self.assertEqual(self.reader.faults(), [])

    def test_a_frame_is_shown_by_pages_of_its_own_domain_alone(self):
        self.open(at=1)  # A page at another origin than the frame's address says.
        time.sleep(2)
        self.assertEqual(self.reader.browser.run("() => window.events"), [])
        answer = Browser(site).call("GET", "/signup?" + urllib.parse.urlencode({
            "api_key": App(urd).key, "domain": self.origins[0], "type": "EMAIL", "state": "s",
            "challenge": App(urd).challenge}))
        self.assertIn(
            f"frame-ancestors {self.origins[0]};", answer.headers["Content-Security-Policy"])
        self.assertIsNone(answer.headers["X-Frame-Options"])
        self.assertIsNone(answer.headers["Set-Cookie"])
        refused = Browser(site).call("GET", "/signup?" + urllib.parse.urlencode({
            "api_key": App(urd).key, "domain": "https://evil.example", "type": "EMAIL",
            "state": "s", "challenge": App(urd).challenge}), Accept="application/json")
        self.assertEqual(refused.status, 400)
        self.assertIn("https://evil.example", refused.json["msg"])
        self.assertIn("frame-ancestors 'none'", refused.headers["Content-Security-Policy"])
        hosted = Browser(site).call("GET", "/app?" + App(urd).query())
        self.assertIn("frame-ancestors 'none'", hosted.headers["Content-Security-Policy"])


if __name__ == "__main__":
    unittest.main()
