"""Codes that go to phones: through Twilio, WhatsApp's Cloud API and a webhook, as they say they want them, and
what becomes of a code where a gateway is down, slow or says no."""

import os
import re
import shutil
import signal
import sys
import tempfile
import unittest

from phone import Phone, another, inbox
from token_tool import missing, rerun
from urd_process import Client, Run, Urd, eventually

MISSING = missing("h2", "cryptography")
if not MISSING:
    from message_gateways import Gateways
    from push_providers import Certificates

REALM = "/api/admin/realms/demo"
OTP = "/api/account/native/otp/request"
OUTGOING = {}
SETTINGS = {
    "phone_sign_in": True, "phone_countries": ["CH", "DE"], "otp_resend_delay": 0,
    "phone_channels": ["sms", "whatsapp"],
    "rate_limits": {"phone-code": {"source": None, "target": None},
                    "phone-block": {"target": None}}}
counter = 0


def setUpModule():
    global own, urd, gateways, folder
    folder = tempfile.mkdtemp(prefix="urd-messages-", dir="/tmp")
    os.chmod(folder, 0o755)
    certificates = Certificates(folder)
    gateways = Gateways(certificates)
    OUTGOING.update({
        "URD_OUTGOING_NETWORKS": "127.0.0.0/8", "URD_OUTGOING_CA_FILE": certificates.authority})
    own = prepared()
    urd = own.urd


def tearDownModule():
    urd.close()
    gateways.close()
    shutil.rmtree(folder, ignore_errors=True)


def number():
    global counter
    counter += 1
    return f"+4178{1230000 + counter}"


def taken(to):
    with gateways.lock:
        return [message for message in gateways.taken if message["to"] == to]


class Messages(unittest.TestCase):
    def setUp(self):
        gateways.failing, gateways.slow, gateways.calls = {}, 0, []
        for channel in ("sms", "whatsapp"):
            urd.api.call("DELETE", f"{REALM}/message-gateways/{channel}")

    def set(self, channel, kind, **change):
        own.call("PUT", f"{REALM}/message-gateways/{channel}", {**gateways.settings(kind), **change})

    def ask(self, to):
        status, body, _ = Phone(urd).call("POST", OTP, {"Phone": to})
        self.assertEqual(status, 200, body)

    def sign_in(self, to, text):
        code = re.search(r"\b\d{6}\b", text)[0]
        status, tokens, _ = Phone(urd).redeem(to, code)
        self.assertEqual(status, 200, tokens)

    def test_a_code_reaches_a_phone_through_each_gateway(self):
        for channel, kind in (("sms", "twilio"), ("sms", "webhook"),
                              ("whatsapp", "whatsapp_cloud")):
            with self.subTest(kind):
                self.setUp()
                self.set(channel, kind)
                to = number()
                self.ask(to)
                message = eventually(lambda: taken(to), "it is taken")[0]
                self.assertEqual(message["by"], kind)
                self.sign_in(to, message["text"])
                self.assertEqual(len(taken(to)), 1)

    def test_without_a_gateway_messages_come_to_the_inbox_of_a_development_run(self):
        to = number()
        self.ask(to)
        letters = eventually(lambda: inbox(urd, to), "it is in the inbox")
        self.assertEqual(len(letters), 1)
        self.assertEqual((letters[0]["channel"], letters[0]["to"]), ("sms", to))
        self.sign_in(to, letters[0]["text"])

    def test_a_gateway_that_says_no_is_followed_by_the_next_channel(self):
        self.set("sms", "twilio", secret="another-token")
        self.set("whatsapp", "whatsapp_cloud")
        to = number()
        self.ask(to)
        self.assertEqual(eventually(lambda: taken(to), "it is taken")[0]["by"], "whatsapp_cloud")
        self.assertEqual([kind for kind, _ in gateways.calls], ["twilio", "whatsapp_cloud"])
        # The log tells by what it went.
        eventually(lambda: "whatsapp" == urd.sql(
            "select data ->> 'channel' from urd.event where type = 'mail.sent' and realm = 'demo' "
            "order by position desc limit 1"), "it is on record")
        # So does the history of who types the code, wrong or right.
        typed = re.search(r"\b\d{6}\b", taken(to)[0]["text"])[0]
        self.assertEqual(Phone(urd).redeem(to, another(typed))[0], 400)
        self.sign_in(to, typed)
        self.assertEqual(urd.sql(
            "select string_agg(type || ' ' || (data ->> 'channel'), ', ' order by position) from "
            "urd.event where realm = 'demo' and type in ('session.opened', 'session.refused')"
            " and position > (select max(position) from urd.event where type = 'mail.sent'"
            " and realm = 'demo')"), "session.refused whatsapp, session.opened whatsapp")

    def test_a_code_that_was_replaced_is_sent_no_more(self):
        self.set("sms", "twilio")
        gateways.failing = {"twilio": 429}
        to = number()
        self.ask(to)
        eventually(lambda: gateways.calls, "the gateway is called")
        gateways.failing = {}
        known = len(unsettled(urd, "pointless"))
        self.ask(to)
        self.sign_in(to, eventually(lambda: taken(to), "it is taken")[0]["text"])
        eventually(lambda: len(unsettled(urd, "pointless")) > known, "the first one is given up")
        self.assertEqual(len(taken(to)), 1)

    def test_a_message_that_was_perhaps_taken_is_not_sent_again(self):
        self.set("sms", "twilio")
        self.set("whatsapp", "whatsapp_cloud")
        # It took the request, and ended the connection without an answer.
        gateways.closes = True
        to = number()
        self.ask(to)
        eventually(lambda: [mail["state"] for mail in unsettled(urd)][:1] == ["failed"], "it is given up")
        gateways.closes = False
        self.assertEqual([kind for kind, _ in gateways.calls], ["twilio"])
        # Another request is another message.
        self.ask(to)
        both = eventually(lambda: len(taken(to)) == 2 and taken(to), "it is taken")
        self.sign_in(to, both[1]["text"])

    def test_a_message_that_was_not_taken_now_is_tried_again(self):
        self.set("sms", "twilio")
        gateways.failing = {"twilio": 429}
        to = number()
        self.ask(to)
        eventually(lambda: gateways.calls, "the gateway is called")
        gateways.failing = {}
        self.sign_in(to, eventually(lambda: taken(to), "it is taken")[0]["text"])
        self.assertEqual(len(taken(to)), 1)

    def test_a_killed_server_sends_no_message_twice(self):
        own = prepared()
        try:
            own.call("PUT", f"{REALM}/message-gateways/sms", gateways.settings("twilio"))
            verify = "/api/admin/realms/verify/settings"
            own.call("PATCH", verify, {
                "phone_channels": ["whatsapp"], "phone_countries": ["CH"], "rate_limits": {}})
            gateways.slow = 2
            to = number()
            self.assertEqual(Phone(own.urd).call("POST", OTP, {"Phone": to})[0], 200)
            eventually(lambda: gateways.calls, "the gateway is called")
            own.urd.run.end(signal.SIGKILL)
            gateways.slow = 0
            own.start_again()
            eventually(lambda: unsettled(own.urd), "it is given up")
            self.assertEqual(len(gateways.calls), 1)
            # What a developer set stays.
            kept = own.call("GET", verify)
            self.assertEqual(
                [kept.get(name) for name in ("phone_channels", "phone_countries", "rate_limits")],
                [["whatsapp"], ["CH"], {}])
        finally:
            own.urd.close()


class prepared:
    """A server that takes phone numbers, and calls the gateways of this test."""

    def __init__(self):
        self.urd = Urd(**OUTGOING)
        self.call("PATCH", REALM + "/settings", SETTINGS)

    def call(self, method, path, body=None):
        status, answer, _ = self.urd.api.call(method, path, body)
        assert status < 300, (status, answer)
        return answer

    def start_again(self):
        self.urd.api.close()
        self.urd.run.output.close()
        self.urd.run = Run(os.path.join(self.urd.folder, "data"), **OUTGOING)
        self.urd.values = self.urd.run.ready().values()
        self.urd.api = Client(self.urd.values["URD_URL"], self.urd.key)


def unsettled(urd, reason="unsettled"):
    items = urd.api.call("GET", REALM + "/mails?limit=200")[1]["items"]
    return [mail for mail in items if mail.get("reason") == reason]


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
