"""The captcha hook of the page for tenants (COT-14): three services share `siteverify`, for which a server of
our own stands here. Nothing is sent to anybody who has not solved the task."""

import http.server
import json
import os
import secrets
import shutil
import ssl
import tempfile
import threading
import unittest
import urllib.parse
import uuid

from phone import code, inbox
from token_tool import missing, rerun
from urd_process import Urd
from verify_client import App, Browser

MISSING = missing("cryptography", "h2")
if not MISSING:
    from push_providers import Certificates

SECRET = secrets.token_urlsafe(24)
KINDS = {
    "recaptcha": ("g-recaptcha", "https://www.google.com/recaptcha/"),
    "hcaptcha": ("h-captcha", "https://hcaptcha.com"),
    "turnstile": ("cf-turnstile", "https://challenges.cloudflare.com"),
}


class Service(http.server.ThreadingHTTPServer):
    """Takes what begins with `solved-` for this secret, each once."""

    def __init__(self, certificates):
        self.asked, self.used, self.answers = [], set(), True
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = dict(urllib.parse.parse_qsl(body))
                service.asked.append(form)
                told = form.get("response", "")
                good = (form.get("secret") == SECRET and told.startswith("solved-")
                        and told not in service.used)
                service.used.add(told)
                # Some tell a score as well.
                data = json.dumps({"success": good, "score": 0.5}).encode()
                self.send_response(200 if service.answers else 500)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.server)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self.server_port}/siteverify"


def setUpModule():
    global folder, service, urd, site
    folder = tempfile.mkdtemp(prefix="urd-captcha-", dir="/tmp")
    os.chmod(folder, 0o755)
    certificates = Certificates(folder)
    service = Service(certificates)
    urd = Urd(
        URD_OUTGOING_NETWORKS="127.0.0.0/8", URD_OUTGOING_CA_FILE=certificates.authority)
    site = urd.values["URD_VERIFY_URL"]


def tearDownModule():
    urd.close()
    service.shutdown()
    service.server_close()
    shutil.rmtree(folder, ignore_errors=True)


def settings(**changes):
    status, body, _ = urd.api.call("PATCH", "/api/admin/realms/verify/settings", changes)
    assert status == 200, body


def address():
    return f"ann-{uuid.uuid4().hex[:10]}@example.org"


class Captcha(unittest.TestCase):
    def setUp(self):
        service.answers = True
        settings(captcha="turnstile", captcha_site_key="site-key", captcha_address=service.url)
        done = urd.command(
            "realm", "captcha-secret", "verify", "--secret", SECRET,
            URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
        self.assertEqual(done.returncode, 0, done.stderr)

    def send(self, who, field="cf-turnstile-response", solved=None, kind="EMAIL"):
        app, browser = App(urd), Browser(site)
        path = "/app?" + app.query(kind)
        page = browser.call("GET", path)
        form = {"input": who}
        if solved is not None:
            form[field] = solved
        return app, browser, browser.post(page, path, **form)

    def test_cot_14_each_service_has_its_widget_and_its_field(self):
        for kind, (name, source) in KINDS.items():
            settings(captcha=kind)
            page = Browser(site).call("GET", "/app?" + App(urd).query())
            self.assertIn(f'class="{name}" data-sitekey="site-key"', page.text)
            policy = page.headers["Content-Security-Policy"]
            for rule in ("script-src", "frame-src"):
                self.assertRegex(policy, f"{rule}[^;]*{source}")
            who, solved = address(), f"solved-{uuid.uuid4()}"
            _, _, answer = self.send(who, f"{name}-response", solved)
            self.assertEqual(answer.status, 303, answer.text)
            self.assertEqual(service.asked[-1], {"secret": SECRET, "response": solved})
            code(urd, who)

    def test_cot_14_without_a_solved_task_nothing_is_sent(self):
        who = address()
        spent = f"solved-{uuid.uuid4()}"
        self.assertEqual(self.send(address(), solved=spent)[2].status, 303)
        for solved in (None, "", "wrong", spent, "x" * 8000):
            _, _, answer = self.send(who, solved=solved)
            self.assertEqual(answer.status, 400)
            self.assertIn("not a robot", answer.text)
        _, _, answer = self.send(who, "g-recaptcha-response", f"solved-{uuid.uuid4()}")
        self.assertEqual(answer.status, 400)
        service.answers = False
        _, _, answer = self.send(who, solved=f"solved-{uuid.uuid4()}")
        self.assertEqual(answer.status, 400)
        self.assertEqual(inbox(urd, who), [])

    def test_cot_14_a_frame_asks_for_it_as_well(self):
        app, who = App(urd), address()
        query = urllib.parse.urlencode({
            "api_key": app.key, "domain": "http://localhost:4321", "type": "EMAIL",
            "state": app.state, "challenge": app.challenge})
        page = Browser(site).call("GET", "/signup?" + query)
        self.assertIn('class="cf-turnstile"', page.text)
        body = {"identifier": who, "captcha": "wrong"}
        self.assertEqual(app.call("POST", "/signup/send?" + query, body).status, 400)
        self.assertEqual(inbox(urd, who), [])
        body["captcha"] = f"solved-{uuid.uuid4()}"
        sent = app.call("POST", "/signup/send?" + query, body)
        self.assertEqual(sent.status, 200, sent.text)
        checked = app.call("POST", "/signup/check?" + query, {
            "to": sent.json["to"], "code": code(urd, who)})
        self.assertEqual(checked.status, 200, checked.text)

    def test_cot_14_without_a_captcha_nothing_is_loaded_from_elsewhere(self):
        settings(captcha="none")
        page = Browser(site).call("GET", "/app?" + App(urd).query())
        self.assertNotIn("https:", page.headers["Content-Security-Policy"])
        self.assertEqual(self.send(address())[2].status, 303)

    def test_the_secret_is_shown_nowhere(self):
        status, body, _ = urd.api.call(
            "GET", "/api/admin/realms/verify/events?limit=200")
        self.assertEqual(status, 200, body)
        self.assertIn("captcha.secret_set", json.dumps(body))
        self.assertNotIn(SECRET, json.dumps(body))


if MISSING:
    Captcha = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
