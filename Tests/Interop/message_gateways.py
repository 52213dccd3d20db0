"""What stands for message gateways: over TLS, with a certificate of our own, and as strict with credentials
and shapes as Twilio and Meta say they are."""

import base64
import http.server
import json
import re
import threading
import time
import urllib.parse

ACCOUNT, AUTH_TOKEN, SENDER = "AC" + "0" * 32, "an auth token of twilio", "+15005550006"
NUMBER_ID, ACCESS_TOKEN, TEMPLATE = "106540352242922", "EAAaccesstoken", "sign_in_code"
HOOK_TOKEN = "a-token-of-the-hook"
E164 = re.compile(r"^\+[1-9]\d{4,14}$")


class Gateways:
    """All three at one port. What was taken is in `taken`; `failing` says what it answers instead."""

    def __init__(self, certificates):
        gateways = self
        self.taken, self.calls, self.failing, self.lock = [], [], {}, threading.Lock()
        self.slow, self.closes = 0, False

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = gateways.answer(self.path, self.headers, body)
                if gateways.closes:
                    self.close_connection = True
                    return
                data = json.dumps(answer).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.socket = certificates.context("http/1.1").wrap_socket(
            self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"https://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def settings(self, kind):
        return {
            "twilio": {"kind": "twilio", "account": ACCOUNT, "secret": base64_free(AUTH_TOKEN),
                       "sender": SENDER, "address": self.address},
            "whatsapp_cloud": {"kind": "whatsapp_cloud", "account": NUMBER_ID,
                               "secret": ACCESS_TOKEN, "template": TEMPLATE,
                               "address": self.address},
            "webhook": {"kind": "webhook", "secret": HOOK_TOKEN,
                        "address": self.address + "/hook"},
        }[kind]

    def answer(self, path, headers, body):
        kind = ("twilio" if path.startswith("/2010-04-01/") else
                "webhook" if path.startswith("/hook") else "whatsapp_cloud")
        with self.lock:
            self.calls.append((kind, path))
            failing = self.failing.get(kind)
        if self.slow:
            time.sleep(self.slow)
        if failing:
            return failing, {"message": "not now"}
        status, answer, message = getattr(self, kind)(path, headers, body)
        if message:
            with self.lock:
                self.taken.append({"by": kind, **message})
        return status, answer

    def twilio(self, path, headers, body):
        if path != f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json":
            return 404, {"code": 20404}, None
        wanted = base64.b64encode(f"{ACCOUNT}:{base64_free(AUTH_TOKEN)}".encode()).decode()
        if headers["Authorization"] != f"Basic {wanted}":
            return 401, {"code": 20003, "message": "Authenticate"}, None
        form = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
        if form.get("From") != SENDER or not form.get("Body") or len(form["Body"]) > 1600:
            return 400, {"code": 21606}, None
        if not E164.match(form.get("To", "")):
            return 400, {"code": 21211}, None
        return 201, {"sid": "SM" + "1" * 32, "status": "queued"}, {
            "to": form["To"], "text": form["Body"], "callback": form.get("StatusCallback")}

    def whatsapp_cloud(self, path, headers, body):
        if not re.fullmatch(rf"/v\d+\.0/{NUMBER_ID}/messages", path):
            return 404, {"error": {"code": 100}}, None
        if headers["Authorization"] != f"Bearer {ACCESS_TOKEN}":
            return 401, {"error": {"code": 190}}, None
        message = json.loads(body)
        template = message["template"]
        parts = {part["type"]: part["parameters"][0]["text"] for part in template["components"]}
        if (message["messaging_product"] != "whatsapp" or message["type"] != "template"
                or template["name"] != TEMPLATE or set(parts) != {"body", "button"}
                or parts["body"] != parts["button"] or message["to"].startswith("+")):
            return 400, {"error": {"code": 132000}}, None
        return 200, {"messages": [{"id": "wamid.1"}]}, {
            "to": "+" + message["to"], "text": parts["body"],
            "opaque": message.get("biz_opaque_callback_data")}

    def webhook(self, path, headers, body):
        if headers["Authorization"] != f"Bearer {HOOK_TOKEN}":
            return 401, {}, None
        message = json.loads(body)
        assert headers["Idempotency-Key"] == message["id"]
        return 202, {}, {name: message.get(name)
                         for name in ("id", "to", "text", "code", "receipts")}


def base64_free(text):
    """As Twilio's tokens are: without spaces."""
    return text.replace(" ", "")
