"""What gateways say of messages that they took: as Twilio, Meta and a webhook's gateway say it, signed as they sign
it. A receipt is on record once, and changes nothing of what is sent or of what counts."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import secrets
import shutil
import sys
import tempfile
import unittest
import urllib.parse
import uuid

from phone import Phone
from token_tool import missing, rerun
from urd_process import PATIENCE, Urd, eventually, together

MISSING = missing("h2", "cryptography")
if not MISSING:
    from message_gateways import ACCOUNT, AUTH_TOKEN, HOOK_TOKEN, Gateways, base64_free
    from push_providers import Certificates

REALM = "/api/admin/realms/demo"
HOST = "id.receipts.example"
BASE = f"https://{HOST}/api/messages/receipts"
RECEIPT_SECRET, VERIFY_TOKEN = secrets.token_hex(16), secrets.token_hex(16)
counter = 0


def setUpModule():
    global urd, gateways, folder
    folder = tempfile.mkdtemp(prefix="urd-receipts-", dir="/tmp")
    os.chmod(folder, 0o755)
    certificates = Certificates(folder)
    gateways = Gateways(certificates)
    urd = Urd(**{"URD_OUTGOING_NETWORKS": "127.0.0.0/8",
                 "URD_OUTGOING_CA_FILE": certificates.authority})
    call("PATCH", REALM + "/settings", {
        "phone_sign_in": True, "phone_countries": ["CH"], "otp_resend_delay": 0,
        "links_base_url": f"https://{HOST}", "phone_channels": ["sms", "whatsapp"],
        "rate_limits": {"phone-code": {"source": None, "target": None},
                        "phone-block": {"target": None}}})


def tearDownModule():
    urd.close()
    gateways.close()
    shutil.rmtree(folder, ignore_errors=True)


def call(method, path, body=None):
    status, answer, _ = urd.api.call(method, path, body)
    assert status < 300, (status, answer)
    return answer


def number():
    global counter
    counter += 1
    return f"+4178{1240000 + counter}"


def send(path, body, headers, method="POST"):
    """As a gateway calls, to the realm's own host."""
    place = urllib.parse.urlsplit(urd.values["URD_URL"])
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
    try:
        connection.request(method, path, body=body, headers={
            "Host": f"demo.localhost:{place.port}", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def twilio_signature(url, form, token):
    text = url + "".join(name + form[name] for name in sorted(form))
    return base64.b64encode(hmac.new(token.encode(), text.encode(), hashlib.sha1).digest()).decode()


def by_twilio(mail, status, token=None, url=None, path=None, more=(), **changed):
    form = {"MessageSid": "SM" + "1" * 32, "MessageStatus": status, "To": "+41781240001",
            "AccountSid": ACCOUNT, **dict(more)}
    signature = twilio_signature(
        url or f"{BASE}/sms/{mail}", form, token or base64_free(AUTH_TOKEN))
    form.update(changed)
    return send(path or f"/api/messages/receipts/sms/{mail}", urllib.parse.urlencode(form), {
        "Content-Type": "application/x-www-form-urlencoded", "X-Twilio-Signature": signature})[0]


def by_meta(statuses, secret=None, changed=None):
    body = json.dumps({"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": [{
        "field": "messages", "value": {"messaging_product": "whatsapp", "statuses": statuses}}]}]})
    tag = hmac.new((secret or RECEIPT_SECRET).encode(), body.encode(), hashlib.sha256).hexdigest()
    return send("/api/messages/receipts/whatsapp", changed or body, {
        "Content-Type": "application/json", "X-Hub-Signature-256": "sha256=" + tag})[0]


def by_hook(mail, status, token=None, **more):
    return send("/api/messages/receipts/sms", json.dumps({"id": mail, "status": status, **more}), {
        "Content-Type": "application/json",
        "Authorization": "Bearer " + (HOOK_TOKEN if token is None else token)})[0]


def told(mail):
    """What is on record of a message since it was taken."""
    rows = urd.sql(
        "select type, data ->> 'gateway_code' from urd.event "
        "where stream = '%s' and type in ('mail.delivered', 'mail.undelivered') "
        "order by position" % uuid.UUID(mail))
    return [(kind, code or None) for kind, code in (
        row.split("|") for row in rows.splitlines())]


class Gateway(unittest.TestCase):
    def ready(self, channel, kind, **change):
        for other in ("sms", "whatsapp"):
            urd.api.call("DELETE", f"{REALM}/message-gateways/{other}")
        if kind == "whatsapp_cloud":
            change = {"receipt_secret": RECEIPT_SECRET, "verify_token": VERIFY_TOKEN, **change}
        call("PUT", f"{REALM}/message-gateways/{channel}", {**gateways.settings(kind), **change})

    def message(self, channel, kind):
        """A message that a gateway took; its id."""
        self.ready(channel, kind)
        to = number()
        status, body, _ = Phone(urd).call("POST", "/api/account/native/otp/request", {"Phone": to})
        self.assertEqual(status, 200, body)
        message = eventually(
            lambda: [m for m in gateways.taken if m["to"] == to], "it is taken")[0]
        return message, to


class Receipts(Gateway):
    def test_twilio_is_told_where_receipts_go_and_says_that_a_message_arrived(self):
        message, to = self.message("sms", "twilio")
        url = message["callback"]
        self.assertTrue(url.startswith(BASE + "/sms/"), url)
        mail = url.rsplit("/", 1)[1]
        for status in ("queued", "sent"):
            self.assertEqual(by_twilio(mail, status), 204)
        self.assertEqual(told(mail), [])
        self.assertEqual(by_twilio(mail, "delivered"), 204)
        self.assertEqual(told(mail), [("mail.delivered", None)])
        # Once, whatever is said later and however often.
        self.assertEqual(set(together(20, lambda _: by_twilio(mail, "delivered"))), {204})
        self.assertEqual(by_twilio(mail, "undelivered", more={"ErrorCode": "30003"}), 204)
        self.assertEqual(told(mail), [("mail.delivered", None)])

    def test_a_receipt_of_failure_neither_sends_again_nor_takes_the_code_back(self):
        message, to = self.message("sms", "twilio")
        mail = message["callback"].rsplit("/", 1)[1]
        answers = together(
            20, lambda _: by_twilio(mail, "undelivered", more={"ErrorCode": "30003"}))
        self.assertEqual(set(answers), {204})
        self.assertEqual(told(mail), [("mail.undelivered", "30003")])
        digits = [word for word in message["text"].replace(".", " ").split() if word.isdigit()]
        status, tokens, _ = Phone(urd).redeem(to, digits[0])
        self.assertEqual(status, 200, tokens)
        self.assertEqual(len([m for m in gateways.taken if m["to"] == to]), 1)

    def test_forged_receipts_of_twilio_are_refused_and_leave_nothing(self):
        message, _ = self.message("sms", "twilio")
        mail = message["callback"].rsplit("/", 1)[1]
        other = str(uuid.uuid4())
        self.assertEqual(by_twilio(mail, "delivered", token="another"), 403)
        self.assertEqual(by_twilio(mail, "delivered", url=f"{BASE}/sms/{other}"), 403)
        self.assertEqual(by_twilio(
            mail, "delivered", url=f"https://other.example/api/messages/receipts/sms/{mail}"), 403)
        self.assertEqual(by_twilio(mail, "sent", MessageStatus="delivered"), 403)
        self.assertEqual(by_twilio(mail, "delivered", Added="1"), 403)
        self.assertEqual(send(
            f"/api/messages/receipts/sms/{mail}", "MessageStatus=delivered",
            {"Content-Type": "application/x-www-form-urlencoded"})[0], 403)
        # Neither by the way of another kind, nor at a channel without a gateway.
        self.assertEqual(by_hook(mail, "delivered", base64_free(AUTH_TOKEN)), 403)
        self.assertEqual(by_meta([{"biz_opaque_callback_data": mail, "status": "delivered"}]), 404)
        # It is signed well, of a message that there is not.
        self.assertEqual(by_twilio(other, "delivered"), 404)
        self.assertEqual(told(mail), [])

    def test_whatsapp_says_in_lists_what_arrived_and_asks_first(self):
        message, _ = self.message("whatsapp", "whatsapp_cloud")
        mail = message["opaque"]
        state = {"id": "wamid.1", "recipient_id": "41781240001", "biz_opaque_callback_data": mail}
        asked = urllib.parse.urlencode({
            "hub.mode": "subscribe", "hub.challenge": "1158201444",
            "hub.verify_token": VERIFY_TOKEN})
        path = "/api/messages/receipts/whatsapp?"
        self.assertEqual(send(path + asked, None, {}, "GET"), (200, "1158201444"))
        wrong = asked.replace(VERIFY_TOKEN, "guessed")
        self.assertEqual(send(path + wrong, None, {}, "GET")[0], 403)
        failed = {**state, "status": "failed", "errors": [{"code": 131026, "title": "no"}]}
        others = {"id": "wamid.2", "status": "delivered", "recipient_id": "41790000000"}
        self.assertEqual(by_meta([failed], secret="another"), 403)
        self.assertEqual(by_meta([failed], changed=json.dumps({"entry": []})), 403)
        self.assertEqual(told(mail), [])
        # What others had the number send is none of ours, and no fault of Meta's.
        self.assertEqual(by_meta([others]), 204)
        self.assertEqual(by_meta([{**state, "status": "sent"}, others, failed]), 204)
        self.assertEqual(told(mail), [("mail.undelivered", "131026")])
        self.assertEqual(by_meta([{**state, "status": "read"}]), 204)
        self.assertEqual(
            told(mail), [("mail.undelivered", "131026"), ("mail.delivered", None)])
        unknown = {**state, "status": "delivered", "biz_opaque_callback_data": str(uuid.uuid4())}
        self.assertEqual(by_meta([unknown]), 404)

    def test_without_the_apps_secret_no_receipt_of_whatsapp_is_taken(self):
        message, _ = self.message("whatsapp", "whatsapp_cloud")
        call("PUT", f"{REALM}/message-gateways/whatsapp", gateways.settings("whatsapp_cloud"))
        state = {"biz_opaque_callback_data": message["opaque"], "status": "delivered"}
        self.assertEqual(by_meta([state]), 403)
        self.assertEqual(by_meta([state], secret="EAAaccesstoken"), 403)
        self.assertFalse(call("GET", f"{REALM}/message-gateways")["items"][0]["receipts"])

    def test_a_webhooks_gateway_shows_the_secret_that_it_is_called_with(self):
        message, _ = self.message("sms", "webhook")
        mail = message["id"]
        self.assertEqual(message["receipts"], BASE + "/sms")
        for token in ("", "another", HOOK_TOKEN + "x", HOOK_TOKEN[:-1]):
            self.assertEqual(by_hook(mail, "delivered", token), 403)
        self.assertEqual(by_hook(str(uuid.uuid4()), "delivered"), 404)
        self.assertEqual(by_hook("ann@example.org", "delivered"), 404)
        # A code is a word; what could be a person's name is not kept.
        self.assertEqual(by_hook(mail, "failed", code="Ann Example is away"), 204)
        self.assertEqual(told(mail), [("mail.undelivered", None)])
        self.assertEqual(by_hook(mail, "delivered"), 204)
        self.assertEqual(told(mail)[-1], ("mail.delivered", None))

    def test_a_receipt_is_none_of_another_realm(self):
        message, _ = self.message("sms", "webhook")
        # The other realm has a gateway with the same secret, and no such message.
        path = "/api/admin/realms/verify/message-gateways/sms"
        call("PUT", path, gateways.settings("webhook"))
        place = urllib.parse.urlsplit(urd.values["URD_VERIFY_URL"])
        status, _ = send("/api/messages/receipts/sms", json.dumps({
            "id": message["id"], "status": "delivered"}), {
                "Content-Type": "application/json", "Host": place.netloc,
                "Authorization": "Bearer " + HOOK_TOKEN})
        self.assertEqual(status, 404)
        self.assertEqual(told(message["id"]), [])
        call("DELETE", path)

    def test_a_mail_is_no_message_of_which_there_are_receipts(self):
        self.ready("sms", "webhook")
        status, _, _ = Phone(urd).call("POST", "/api/account/native/otp/request", {
            "Email": f"ann-{uuid.uuid4().hex[:8]}@example.org"})
        self.assertEqual(status, 200)

        mail = eventually(lambda: urd.sql(
            "select s.stream from urd.event s where s.type = 'mail.sent' and not exists (select "
            "from urd.event b where b.stream = s.stream and b.type = 'mail.begun') limit 1"),
            "the mail is sent")
        self.assertEqual(by_hook(mail, "delivered"), 404)

    def test_a_receipt_is_in_the_history_of_the_person(self):
        message, to = self.message("sms", "webhook")
        status, tokens, _ = Phone(urd).redeem(to, message["code"])
        self.assertEqual(status, 200, tokens)
        self.assertEqual(by_hook(message["id"], "delivered"), 204)
        status, body, _ = Phone(urd).call(
            "POST", "/api/account/native/otp/request", {"Phone": to})
        self.assertEqual(status, 200, body)
        again = eventually(lambda: [
            m for m in gateways.taken if m["to"] == to and m["id"] != message["id"]], "it is taken")
        self.assertEqual(by_hook(again[0]["id"], "failed", code=30003), 204)
        # The trail follows the log.
        eventually(lambda: "mail.undelivered" in [entry["type"] for entry in call(
            "GET", f"{REALM}/audit-trail?stream={again[0]['id']}")["items"]], "it is in the trail")
        # And by whom it is about, as the person's download and the history have it.
        about = eventually(lambda: urd.sql(
            "select distinct i.account from urd.event_index i join urd.event e using "
            "(realm, position) where e.type in ('mail.delivered', 'mail.undelivered') and "
            "e.stream in ('%s', '%s') and i.account is not null" % (
                message["id"], again[0]["id"])), "it is indexed")
        self.assertEqual(len(about.splitlines()), 1)


class TooMany(Gateway):
    """Behind the others, which come from the same network."""

    def test_receipts_are_limited_by_network(self):
        message, _ = self.message("sms", "webhook")
        limits = call("GET", REALM + "/settings")["rate_limits"]
        try:
            call("PATCH", REALM + "/settings", {"rate_limits": {
                **limits, "message-receipt": {"source": {"amount": 3, "seconds": 60}}}})
            answers = [by_hook(message["id"], "delivered", "guess") for _ in range(6)]
            self.assertIn(429, answers)
        finally:
            call("PATCH", REALM + "/settings", {"rate_limits": limits})


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
