"""A real browser with an authenticator that it plays itself: Chromium, spoken to over its DevTools
protocol through a pipe, which takes no library and opens no port."""

import base64
import contextlib
import fcntl
import http.server
import json
import os
import select
import shutil
import subprocess
import tempfile
import threading
import time

PATIENCE = 60
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--remote-debugging-pipe",
]
# In what the browser answers for a page that goes.
LEFT = ("navigated", "xecution context", "Promise was collected")

CREATE = """async (options) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({publicKey})).toJSON();
}"""
GET = """async (options) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await navigator.credentials.get({publicKey})).toJSON();
}"""


class Refused(Exception):
    """The browser threw: the name of what it threw comes first."""


class Left(AssertionError):
    """The page went away before it answered: what was asked of it may have been done or not."""


class Page(http.server.ThreadingHTTPServer):
    """An empty page at http://localhost, which browsers take for a safe place."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Sign in</title><p>Sign in.")

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.origin = f"http://localhost:{self.server_port}"

    def close(self):
        self.shutdown()
        self.server_close()


class Browser:
    """One tab at one page."""

    def __init__(self, address, origin=None):
        program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
        assert program, "there is no Chromium: deploy/install-packages.sh test"
        self.folder = tempfile.mkdtemp(prefix="urd-browser-", dir="/tmp")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        # Out of the way of the two numbers that the browser looks at.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in (theirs_in, theirs_out)]

        def connect():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(3, 4), preexec_fn=connect, start_new_session=True)
        for fd in (theirs_in, theirs_out, *high):
            os.close(fd)
        self.output, self.input = ours_out, ours_in
        self.pending, self.number, self.session = b"", 0, None
        try:
            target = self.call("Target.createTarget", url=address)["targetId"]
            self.session = self.call(
                "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            self.call("Runtime.enable")
            self.call("WebAuthn.enable")
            self.until_loaded(origin or address)
        except BaseException:
            self.close()
            raise

    def close(self):
        for fd in (self.output, self.input):
            os.close(fd)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                error = answer.get("error")
                if error and any(sign in error["message"] for sign in LEFT):
                    raise Left(method)
                assert not error, (method, error)
                return answer["result"]

    def receive(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.input], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            piece = os.read(self.input, 1 << 20)
            assert piece, "the browser is gone"
            self.pending += piece
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def until_loaded(self, address):
        deadline, where = time.monotonic() + PATIENCE, None
        while time.monotonic() < deadline:
            with contextlib.suppress(Left):
                where = self.run("() => [location.origin, document.readyState]")
            if where == [address, "complete"]:
                return
            time.sleep(0.05)
        raise AssertionError(f"the browser is still at {where}")

    def run(self, function, *arguments):
        """What a function of the page returns for these values."""
        given = ", ".join(json.dumps(argument) for argument in arguments)
        answer = self.call(
            "Runtime.evaluate", expression=f"({function})({given})", awaitPromise=True,
            returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"].get("exception", {})
            raise Refused(thrown.get("description") or json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def add_authenticator(self, **more):
        """One that keeps its keys, and knows its user without asking anybody."""
        options = {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
            "hasUserVerification": True, "isUserVerified": True,
            "automaticPresenceSimulation": True, **more}
        return self.call("WebAuthn.addVirtualAuthenticator", options=options)["authenticatorId"]

    def remove_authenticator(self, authenticator):
        self.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=authenticator)

    def set_user_verified(self, authenticator, is_verified):
        self.call(
            "WebAuthn.setUserVerified", authenticatorId=authenticator, isUserVerified=is_verified)

    def credentials(self, authenticator):
        return self.call("WebAuthn.getCredentials", authenticatorId=authenticator)["credentials"]

    def create(self, options):
        return self.run(CREATE, options)

    def get(self, options):
        return self.run(GET, options)


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
