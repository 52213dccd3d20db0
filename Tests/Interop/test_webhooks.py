"""Webhooks, from an administrator who creates one to a receiver that checks each message by Standard
Webhooks, through crashes of the server and of the receiver."""

import base64
import http.server
import json
import os
import random
import signal
import threading
import time
import unittest
import uuid

import pinned
from token_tool import missing
from urd_process import PATIENCE, Run, Urd, eventually, free_port

pinned.use()
MISSING = missing("cryptography", "standardwebhooks")
if not MISSING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from standardwebhooks.webhooks import Webhook, WebhookVerificationError

ROUNDS = int(os.environ.get("URD_WEBHOOK_ROUNDS", "5"))


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


class Receiver:
    """Takes messages, answers what it is told, and keeps what came."""

    def __init__(self, port=None):
        self.port = port or free_port()
        self.answer = lambda message: (204, {})
        self.taken = []
        self.seen = []
        self.lock = threading.Lock()
        self.server = None
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/hook"

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                message = {
                    "headers": {name.lower(): value for name, value in self.headers.items()},
                    "body": body, "json": json.loads(body)}
                status, headers = receiver.answer(message)
                with receiver.lock:
                    receiver.seen.append(message)
                    if 200 <= status < 300:
                        receiver.taken.append(message)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def ids(self):
        with self.lock:
            return [one["headers"]["webhook-id"] for one in self.taken]


def admin(method, path, body=None, expected=range(200, 300)):
    status, answer, _ = urd.api.call(method, urd.realm + path, body)
    assert status in expected, (status, answer)
    return answer


def create(receiver, **more):
    return admin("POST", "/webhooks", {
        "url": receiver.url, "name": "receiver", "types": ["account.registered"], **more})


def register():
    return admin("POST", "/accounts", {"email": f"{uuid.uuid4().hex[:12]}@example.org"})["id"]


def registered(receiver):
    with receiver.lock:
        return [one["json"]["data"]["stream"] for one in receiver.taken]


@unittest.skipIf(MISSING, MISSING)
class Webhooks(unittest.TestCase):
    def setUp(self):
        self.receivers = []
        self.hooks = []

    def tearDown(self):
        for hook in self.hooks:
            urd.api.call("DELETE", f"{urd.realm}/webhooks/{hook['id']}")
        for receiver in self.receivers:
            receiver.stop()

    def receiver(self, **more):
        receiver = Receiver()
        self.receivers.append(receiver)
        hook = create(receiver, **more)
        self.hooks.append(hook)
        return receiver, hook

    def shown(self, hook):
        return admin("GET", "/webhooks/" + hook["id"])

    def test_a_signed_event_arrives_and_the_cursor_moves_after_its_yes(self):
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (500, {})
        account = register()
        eventually(lambda: receiver.seen, "a message came")
        eventually(lambda: self.shown(hook).get("waiting") == 1, "it waits to be tried again")
        receiver.answer = lambda message: (200, {})
        eventually(lambda: receiver.taken, "it was taken at the second attempt")
        message = receiver.taken[0]
        self.assertEqual(message["json"]["data"]["stream"], account)
        self.assertEqual(message["json"]["type"], "account.registered")
        Webhook(hook["secret"]).verify(message["body"], message["headers"])
        with self.assertRaises(WebhookVerificationError):
            Webhook(hook["secret"]).verify(message["body"] + b" ", message["headers"])
        self.assertEqual(receiver.seen[0]["headers"]["webhook-id"],
                         message["headers"]["webhook-id"])
        self.assertEqual(receiver.seen[0]["body"], message["body"])
        self.assertNotIn("@example.org", message["body"].decode())
        position = message["json"]["data"]["position"]
        eventually(lambda: int(self.shown(hook)["cursor"].split(":")[1]) >= position
                   and self.shown(hook)["waiting"] == 0, "the cursor has moved")
        attempts = admin("GET", f"/webhooks/{hook['id']}/attempts")["items"]
        self.assertEqual([one["status"] for one in attempts], [200, 500])

    def test_both_signatures_are_sent_and_both_secrets_while_they_rotate(self):
        receiver, hook = self.receiver(signature="v1a", headers={"X-Team": "crm"})
        new = admin("POST", f"/webhooks/{hook['id']}/secret", {"keep_old": 3600})
        register()
        eventually(lambda: receiver.taken, "a message came")
        message = receiver.taken[0]
        self.assertEqual(message["headers"]["x-team"], "crm")
        for secret in (hook["secret"], new["secret"]):
            Webhook(secret).verify(message["body"], message["headers"])
        signed = (f"{message['headers']['webhook-id']}.{message['headers']['webhook-timestamp']}."
                  .encode() + message["body"])
        signatures = message["headers"]["webhook-signature"].split(" ")
        self.assertEqual([one.split(",")[0] for one in signatures], ["v1", "v1a", "v1", "v1a"])
        for text, key in zip(signatures[1::2], (new["public_key"], hook["public_key"])):
            Ed25519PublicKey.from_public_bytes(
                base64.b64decode(key.removeprefix("whpk_"))
            ).verify(base64.b64decode(text.removeprefix("v1a,")), signed)
        listed = json.dumps(admin("GET", "/webhooks"))
        self.assertNotIn(new["secret"], listed)
        self.assertIn("X-Team", listed)

    def test_a_redirect_is_not_followed_and_410_disables(self):
        elsewhere = Receiver()
        self.receivers.append(elsewhere)
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (302, {"Location": elsewhere.url})
        register()
        eventually(lambda: receiver.seen, "a message came")
        receiver.answer = lambda message: (410, {})
        register()
        eventually(lambda: self.shown(hook)["state"] == "disabled", "it is disabled")
        self.assertEqual(self.shown(hook)["reason"], "gone")
        self.assertEqual(elsewhere.seen, [])
        receiver.answer = lambda message: (204, {})
        admin("POST", f"/webhooks/{hook['id']}/resume", {"from": "stop"})
        eventually(lambda: len(set(registered(receiver))) == 2, "nothing of the gap is lost")

    def test_a_receiver_that_hangs_holds_up_no_other(self):
        hanging, _ = self.receiver()
        release = threading.Event()
        hanging.answer = lambda message: (release.wait(30), (204, {}))[1]
        receiver, _ = self.receiver()
        began = time.monotonic()
        accounts = [register() for _ in range(10)]
        eventually(lambda: set(accounts) <= set(registered(receiver)), "the other one has all")
        self.assertLess(time.monotonic() - began, 10)
        release.set()

    def test_deleting_ends_at_once(self):
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (500, {})
        register()
        eventually(lambda: receiver.seen, "a message came")
        admin("DELETE", "/webhooks/" + hook["id"])
        self.hooks.remove(hook)
        time.sleep(1)
        count = len(receiver.seen)
        register()
        time.sleep(6)
        self.assertEqual(len(receiver.seen), count)
        rows = "select count(*) from urd.subscription_cursor where subscription = '%s'"
        eventually(lambda: urd.sql(rows % hook["id"]) == "0", "its rows are gone")

    def test_events_are_sent_again_with_the_same_ids(self):
        receiver, hook = self.receiver()
        for _ in range(3):
            register()
        eventually(lambda: len(receiver.taken) == 3, "all came")
        first = receiver.taken[0]["json"]["data"]["position"]
        admin("POST", f"/webhooks/{hook['id']}/replay", {"from": first})
        eventually(lambda: len(receiver.taken) == 6, "all came again")
        self.assertEqual(set(receiver.ids()[:3]), set(receiver.ids()[3:]))
        self.assertEqual(receiver.taken[3]["headers"]["urd-replay"], "true")
        admin("POST", f"/webhooks/{hook['id']}/deliveries/{first}/resend")
        eventually(lambda: len(receiver.taken) == 7, "one came again")
        self.assertEqual(receiver.ids()[6], receiver.ids()[0])

    def test_what_happens_while_it_is_paused_comes_later(self):
        receiver, hook = self.receiver()
        admin("POST", f"/webhooks/{hook['id']}/pause")
        account = register()
        time.sleep(1)
        self.assertEqual(receiver.seen, [])
        admin("POST", f"/webhooks/{hook['id']}/resume", {})
        eventually(lambda: account in registered(receiver), "it came")

    def test_a_test_message_is_answered_in_line(self):
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (418, {})
        outcome = admin("POST", f"/webhooks/{hook['id']}/test")
        self.assertEqual((outcome["status"], outcome["outcome"]), (418, "refused"))
        self.assertTrue(receiver.seen[0]["json"]["data"]["test"])
        Webhook(hook["secret"]).verify(receiver.seen[0]["body"], receiver.seen[0]["headers"])

    def test_a_webhook_is_created_on_the_command_line(self):
        receiver = Receiver()
        self.receivers.append(receiver)
        done = urd.command(
            "webhook", "create", "--realm", urd.values["URD_REALM"], "--name", "CLI", "--url",
            receiver.url, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        hook = json.loads(done.stdout)
        self.hooks.append(hook)
        account = register()
        eventually(lambda: account in registered(receiver), "the event came")
        Webhook(hook["secret"]).verify(
            receiver.taken[0]["body"], receiver.taken[0]["headers"])


@unittest.skipIf(MISSING, MISSING)
class Crashes(unittest.TestCase):
    def test_nothing_is_lost_when_the_server_or_the_receiver_is_killed(self):
        global urd
        receivers = {order: Receiver() for order in ("stream", "strict", "none")}
        hooks = {order: create(receiver, order=order, types=["account.*"])
                 for order, receiver in receivers.items()}
        accounts = []
        for _ in range(ROUNDS):
            for _ in range(random.randrange(2, 8)):
                account = register()
                admin("POST", f"/accounts/{account}/disable")
                accounts.append(account)
            victim = random.choice(list(receivers.values()))
            victim.stop()
            time.sleep(random.random() / 4)
            os.kill(urd.pid, signal.SIGKILL)
            urd.run.process.wait(PATIENCE)
            urd.run.output.close()
            victim.start()
            urd.api.close()
            urd.run = Run(os.path.join(urd.folder, "data"))
            urd.values = urd.run.ready().values()
            urd.pid = urd.run.process.pid
            urd.api = type(urd.api)(urd.values["URD_URL"], urd.key)
        for order, receiver in receivers.items():
            with self.subTest(order):
                eventually(lambda: set(accounts) <= set(registered(receiver)), "all came")
                self.check(order, receiver, hooks[order], accounts)
        for order, hook in hooks.items():
            admin("DELETE", "/webhooks/" + hook["id"])
            receivers[order].stop()

    def check(self, order, receiver, hook, accounts):
        def complete():
            with receiver.lock:
                kinds = {(one["json"]["data"]["stream"], one["json"]["type"])
                         for one in receiver.taken}
            return all((account, kind) in kinds for account in accounts
                       for kind in ("account.registered", "account.disabled"))
        eventually(complete, "no event is lost")
        first, bodies = [], {}
        for message in receiver.taken:
            Webhook(hook["secret"])
            identity = message["headers"]["webhook-id"]
            self.assertEqual(bodies.setdefault(identity, message["body"]), message["body"])
            if bodies[identity] is message["body"]:
                first.append(message["json"]["data"])
        if order == "strict":
            positions = [one["position"] for one in first]
            self.assertEqual(positions, sorted(positions))
        if order == "stream":
            for account in accounts:
                versions = [one["version"] for one in first if one["stream"] == account]
                self.assertEqual(versions, sorted(versions))


if __name__ == "__main__":
    unittest.main()
