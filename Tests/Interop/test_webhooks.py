"""Webhooks, from an administrator who creates one to a receiver that checks each message by Standard
Webhooks."""

import base64
import http.client
import json
import threading
import time
import unittest
import urllib.parse
import uuid
from email.utils import formatdate

import pinned
from token_tool import missing
from urd_process import PATIENCE, Urd, eventually, together
from webhook_receiver import Receiver

pinned.use()
MISSING = missing("cryptography", "standardwebhooks")
if not MISSING:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


def admin(method, path, body=None, expected=range(200, 300)):
    status, answer, _ = urd.api.call(method, urd.realm + path, body)
    assert status in expected, (status, answer)
    return answer


def events(kind, after=None):
    """Of this type, as the list of the log shows them."""
    found = []
    while True:
        page = admin("GET", "/events?limit=200" + (f"&after={after}" if after else ""))
        found += [one for one in page["items"] if one["type"] == kind]
        after = page.get("next")
        if not page["items"] or len(page["items"]) < 200 or not after:
            return found


def public(path):
    """What everybody is shown at the realm's host."""
    place = urllib.parse.urlsplit(urd.values["URD_REALM_URL"])
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": place.netloc})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (answer.status, body)
        return json.loads(body)
    finally:
        connection.close()


def webhook_keys():
    return public("/.well-known/urd-webhook-keys.json")["keys"]


def signers(message, keys):
    """The names of the keys that the message is signed by."""
    headers = message["headers"]
    signed = (f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode()
              + message["body"])
    found = []
    for text in headers["webhook-signature"].split(" "):
        if not text.startswith("v1a,"):
            continue
        for one in keys:
            key = Ed25519PublicKey.from_public_bytes(
                base64.b64decode(one["public_key"].removeprefix("whpk_")))
            try:
                key.verify(base64.b64decode(text.removeprefix("v1a,")), signed)
                found.append(one["kid"])
            except InvalidSignature:
                pass
    return found


def metric(series):
    for line in urd.private("/metrics")[1].splitlines():
        if line.startswith(series + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


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

    def test_both_secrets_sign_while_they_rotate(self):
        receiver, hook = self.receiver(headers={"X-Team": "crm"})
        new = admin("POST", f"/webhooks/{hook['id']}/secret", {"keep_old": 3600})
        register()
        eventually(lambda: receiver.taken, "a message came")
        message = receiver.taken[0]
        self.assertEqual(message["headers"]["x-team"], "crm")
        for secret in (hook["secret"], new["secret"]):
            Webhook(secret).verify(message["body"], message["headers"])
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
        # They are of three streams, and come in any order.
        earliest = min(receiver.taken, key=lambda one: one["json"]["data"]["position"])
        first = earliest["json"]["data"]["position"]
        self.assertEqual(
            admin("POST", f"/webhooks/{hook['id']}/replay", {"from": first}), {"queued": 3})
        # At least once: what was taken while its runner ended may come another time, with the same id.
        ids = set(receiver.ids()[:3])

        def replayed():
            with receiver.lock:
                return [one["headers"]["webhook-id"] for one in receiver.taken
                        if one["headers"].get("urd-replay") == "true"]
        eventually(lambda: set(replayed()) == ids, "all came again")
        before = len(receiver.taken)

        def resent():
            # Asked for while the last answer is not on record yet, it is that one.
            admin("POST", f"/webhooks/{hook['id']}/deliveries/{first}/resend")
            time.sleep(0.5)
            return earliest["headers"]["webhook-id"] in receiver.ids()[before:]
        eventually(resent, "one came again")
        self.assertEqual(set(receiver.ids()), ids)

    def test_a_replay_that_is_repeated_under_its_key_is_queued_once(self):
        receiver, hook = self.receiver()
        for _ in range(3):
            register()
        eventually(lambda: len(receiver.taken) == 3, "all came")
        first = min(one["json"]["data"]["position"] for one in receiver.taken)
        path = f"{urd.realm}/webhooks/{hook['id']}"

        def again():
            with receiver.lock:
                return [one["headers"]["webhook-id"] for one in receiver.taken
                        if one["headers"].get("urd-replay") == "true"]

        def ask(more, body, key):
            status, answer, headers = urd.api.call("POST", path + more, body, Idempotency_Key=key)
            self.assertEqual(status, 200, answer)
            return answer, headers["Urd-Position"]
        asked = ask("/replay", {"from": first}, "replay-1")
        self.assertEqual(asked[0], {"queued": 3})
        eventually(lambda: len(set(again())) == 3 and self.shown(hook)["waiting"] == 0, "all came again")
        # What is done is not queued anew, by one repeat or by many at once.
        self.assertEqual(set(together(20, lambda _: json.dumps(ask("/replay", {"from": first}, "replay-1")))),
                         {json.dumps(asked)})
        self.assertEqual(self.shown(hook)["waiting"], 0)
        time.sleep(2)
        self.assertEqual(len(again()), 3)
        # The same of what was given up.
        receiver.answer = lambda message: (500, {})
        register()
        eventually(lambda: self.shown(hook)["waiting"] == 1, "it waits")
        admin("POST", f"/webhooks/{hook['id']}/pause")
        give_up = f"update urd.delivery set given_up = true where subscription = '{hook['id']}'"
        urd.sql(give_up)
        asked = ask("/redeliver", None, "redeliver-1")
        self.assertEqual(asked[0], {"queued": 1})
        urd.sql(give_up)
        self.assertEqual(ask("/redeliver", None, "redeliver-1"), asked)
        self.assertEqual(self.shown(hook)["given_up"], 1)
        self.assertEqual(ask("/redeliver", None, "redeliver-2")[0], {"queued": 1})

    def test_a_realm_has_fifty_webhooks_however_many_are_asked_for_at_once(self):
        body = {"url": "https://127.0.0.1:65535/", "name": "many", "types": ["account.erased"]}
        there = len(admin("GET", "/webhooks?limit=200")["items"])
        answers = []

        def ask():
            answers.append(urd.api.call("POST", urd.realm + "/webhooks", body)[:2])

        askers = [threading.Thread(target=ask) for _ in range(64)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        self.hooks += [answer for status, answer in answers if status == 201]
        self.assertEqual(len(self.hooks), 50 - there)
        refused = {(status, answer["type"]) for status, answer in answers if status != 201}
        self.assertEqual(refused, {(409, "/problems/too-many-webhooks")})
        self.assertEqual(len(admin("GET", "/webhooks?limit=200")["items"]), 50)

    def test_what_happens_while_it_is_paused_comes_later(self):
        receiver, hook = self.receiver()
        admin("POST", f"/webhooks/{hook['id']}/pause")
        account = register()
        time.sleep(1)
        self.assertEqual(receiver.seen, [])
        admin("POST", f"/webhooks/{hook['id']}/resume", {})
        eventually(lambda: account in registered(receiver), "it came")

    def test_a_webhook_that_is_resumed_tries_at_once_what_waits(self):
        receiver, hook = self.receiver(order="none")
        receiver.answer = lambda message: (500, {})
        account = register()
        # After its second failure it would wait for five minutes.
        eventually(lambda: len(receiver.seen) == 2, "it was tried twice", 20)
        receiver.answer = lambda message: (204, {})
        admin("POST", f"/webhooks/{hook['id']}/pause")
        admin("POST", f"/webhooks/{hook['id']}/resume", {})
        eventually(lambda: account in registered(receiver), "it came", 10)
        # A receiver that was not there at all is not given a rest of minutes either.
        receiver.stop()
        account = register()
        failures = (f"select failures from urd.subscription_cursor where subscription = '{hook['id']}'")
        eventually(lambda: int(urd.sql(failures) or 0) >= 2, "it rests", 20)
        receiver.start()
        admin("POST", f"/webhooks/{hook['id']}/pause")
        admin("POST", f"/webhooks/{hook['id']}/resume", {})
        eventually(lambda: account in registered(receiver), "it came too", 10)

    def test_a_rest_ends_where_it_is_sent_elsewhere_or_resumed(self):
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (503, {"Retry-After": formatdate(time.time() + 3600, usegmt=True)})
        account = register()
        rest = ("select extract(epoch from rests_until - now()) from urd.subscription_cursor "
                f"where subscription = '{hook['id']}'")
        eventually(lambda: float(urd.sql(rest) or 0) > 3000, "it rests as it was asked to", 20)
        receiver.answer = lambda message: (204, {})
        admin("PATCH", f"/webhooks/{hook['id']}", {"name": "Other"})
        time.sleep(2)
        self.assertEqual(receiver.taken, [])
        admin("POST", f"/webhooks/{hook['id']}/resume", {})
        eventually(lambda: account in registered(receiver), "it came", 10)
        receiver.answer = lambda message: (503, {"Retry-After": "3600"})
        account = register()
        eventually(lambda: float(urd.sql(rest) or 0) > 3000, "it rests again", 20)
        receiver.answer = lambda message: (204, {})
        admin("PATCH", f"/webhooks/{hook['id']}", {"url": receiver.url + "/new"})
        eventually(lambda: account in registered(receiver), "it came too", 10)

    def test_what_is_ready_to_be_sent_is_held_by_a_pause_and_by_a_failure(self):
        receiver, hook = self.receiver(order="none")
        path = f"/webhooks/{hook['id']}"
        begun, release = [], threading.Event()
        answer = [204]

        def slowly(message):
            begun.append(message)
            release.wait(30)
            return answer[0], {}
        receiver.answer = slowly
        admin("POST", path + "/pause")
        accounts = {register() for _ in range(100)}
        admin("POST", path + "/resume", {})
        eventually(lambda: len(begun) == 32, "as many as may are under way")
        time.sleep(1)
        self.assertEqual(len(begun), 32)
        admin("POST", path + "/pause")
        # The service learns of it a moment after that is on record.
        time.sleep(2)
        release.set()
        eventually(lambda: len(receiver.seen) == 32, "they are answered")
        time.sleep(1)
        self.assertEqual(len(begun), 32)
        # Each was delivered once, and what was only ready comes after.
        release.clear()
        answer[0] = 503
        admin("POST", path + "/resume", {})
        eventually(lambda: len(begun) == 64, "the next are under way")
        time.sleep(1)
        release.set()
        eventually(lambda: len(receiver.seen) == 64, "they are answered too")
        time.sleep(1)
        self.assertEqual(len(begun), 64)
        answer[0] = 204
        eventually(lambda: set(registered(receiver)) == accounts, "all come in the end", 30)
        self.assertEqual(len(registered(receiver)), 100)

    def test_what_is_under_way_ends_before_the_webhook_goes_on(self):
        receiver, hook = self.receiver(order="strict", types=["account.registered"])
        (under_way, most, lock) = ([0], [0], threading.Lock())

        def slowly(message):
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            time.sleep(3)
            with lock:
                under_way[0] -= 1
            return 204, {}
        receiver.answer = slowly
        path = f"/webhooks/{hook['id']}"
        accounts = []
        changes = [("PATCH", "", {"name": "Other"}), ("POST", "/secret", {}), ("POST", "/redeliver", None),
                   ("POST", "/test", None)]
        for method, more, body in changes + [("POST", "/pause", None)]:
            accounts.append(register())
            eventually(lambda: under_way[0] == 1, "it is under way", 20)
            if more == "/test":
                # The test itself is another call.
                admin("PATCH", path, {"name": "First"})
                admin("PATCH", path, {"name": "Second"})
            else:
                admin(method, path + more, body)
            if more == "/pause":
                admin("POST", path + "/resume", {})
        accounts.append(register())
        eventually(lambda: set(accounts) <= set(registered(receiver)), "all came", 60)
        self.assertEqual(registered(receiver), accounts)
        self.assertEqual((len(receiver.seen), most[0]), (len(accounts), 1))

        def outcomes():
            return [one["outcome"] for one in admin("GET", path + "/attempts")["items"]]
        # An attempt is kept once its answer is read, a moment after the receiver gave it.
        eventually(lambda: len(outcomes()) >= len(accounts), "all attempts are kept")
        self.assertEqual(outcomes(), ["delivered"] * len(accounts))

    def test_what_waits_keeps_the_order_that_is_named_now(self):
        for order in ("stream", "strict"):
            receiver, hook = self.receiver(order="none", types=["account.*"])
            path = f"/webhooks/{hook['id']}"
            receiver.answer = lambda message: (500, {})
            accounts = [register() for _ in range(2)]
            for _ in range(3):
                for account in accounts:
                    admin("POST", f"/accounts/{account}/disable")
                    admin("POST", f"/accounts/{account}/enable")
            eventually(lambda: self.shown(hook).get("waiting", 0) == 14 and len(receiver.seen) >= 14, "all of it waits", 30)
            with receiver.lock:
                receiver.seen.clear()
            admin("PATCH", path, {"order": order})
            admin("POST", path + "/pause")
            admin("POST", path + "/resume", {})
            # The first of each lane alone is tried.
            lanes = 2 if order == "stream" else 1

            def tried():
                with receiver.lock:
                    return {one["json"]["data"]["position"] for one in receiver.seen}
            eventually(lambda: len(tried()) >= lanes, "each lane is tried")
            time.sleep(3)
            self.assertEqual(len(tried()), lanes, order)
            receiver.answer = lambda message: (204, {})
            admin("POST", path + "/pause")
            admin("POST", path + "/resume", {})
            eventually(lambda: len(receiver.taken) >= 14, "all came", 60)
            for account in accounts if order == "stream" else [None]:
                positions = [one["json"]["data"]["position"] for one in receiver.taken
                             if account in (None, one["json"]["data"]["stream"])]
                self.assertEqual(positions, sorted(positions), order)

    def test_a_webhook_of_a_disabled_realm_is_sent_no_test(self):
        receiver, hook = self.receiver()
        admin("POST", "/disable")
        try:
            refused = admin("POST", f"/webhooks/{hook['id']}/test", expected=(409,))
            self.assertEqual(refused["type"], "/problems/realm-disabled")
            self.assertEqual(receiver.seen, [])
        finally:
            admin("POST", "/enable")

    def test_a_webhook_that_is_resumed_elsewhere_drops_what_waits_but_erasures(self):
        receiver, hook = self.receiver(
            order="none", types=["account.registered", "account.erased"], include=["personal"])
        receiver.answer = lambda message: (500, {})
        left, erased = register(), register()
        admin("POST", f"/accounts/{erased}/erase")
        eventually(lambda: len(receiver.seen) >= 3, "all of it was tried")
        admin("POST", f"/webhooks/{hook['id']}/pause")
        receiver.answer = lambda message: (204, {})
        passed_over = register()
        admin("POST", f"/accounts/{passed_over}/erase")
        admin("POST", f"/webhooks/{hook['id']}/resume", {"from": "now"})
        wanted = register()

        def came():
            with receiver.lock:
                return {(one["json"]["type"], one["json"]["data"]["stream"])
                        for one in receiver.taken}
        expected = {("account.registered", wanted), ("account.erased", erased),
                    ("account.erased", passed_over)}
        eventually(lambda: came() >= expected, "erasures and what is new came")
        time.sleep(1)
        self.assertEqual(came(), expected)
        self.assertNotIn(left, registered(receiver))

    def fail_since(self, hook, hours):
        """As if nothing had been taken for so long, and the webhook had not been resumed meanwhile."""
        admin("POST", f"/webhooks/{hook['id']}/pause")
        time.sleep(1)
        urd.sql("update urd.subscription_cursor set runs = runs + 1,"
                f" blocked_since = now() - interval '{hours} hours' where subscription = '{hook['id']}'")
        admin("POST", f"/webhooks/{hook['id']}/resume", {})

    def test_the_contact_is_warned_after_twelve_hours_and_told_after_five_days(self):
        urd.api.call("PATCH", urd.realm + "/settings", {"contact": "night@example.org"})
        receiver, hook = self.receiver(name="Night shift")
        receiver.answer = lambda message: (500, {})
        account = register()
        eventually(lambda: receiver.seen, "it was tried")
        self.fail_since(hook, 11)
        time.sleep(1)
        inbox = "/inbox?to=night@example.org"
        self.assertEqual(json.loads(urd.private(inbox)[1]), [])
        self.fail_since(hook, 13)
        mails = eventually(lambda: json.loads(urd.private(inbox)[1]), "a mail came")
        self.assertIn("Night shift", mails[0]["subject"])
        self.assertEqual(self.shown(hook)["state"], "active")
        self.assertEqual(len(mails), 1)
        self.fail_since(hook, 121)
        eventually(lambda: self.shown(hook)["state"] == "disabled", "it is disabled")
        self.assertEqual(self.shown(hook)["reason"], "failing")
        eventually(lambda: len(json.loads(urd.private(inbox)[1])) == 2, "another mail came")
        # What it missed is kept, and a resume after days does not end it again.
        receiver.answer = lambda message: (204, {})
        later = register()
        admin("POST", f"/webhooks/{hook['id']}/resume", {})
        eventually(lambda: {account, later} <= set(registered(receiver)), "nothing is lost")
        self.assertEqual(self.shown(hook)["state"], "active")
        urd.api.call("PATCH", urd.realm + "/settings", {"contact": None})

    def test_a_test_message_is_answered_in_line(self):
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (418, {})
        outcome = admin("POST", f"/webhooks/{hook['id']}/test")
        self.assertEqual((outcome["status"], outcome["outcome"]), (418, "refused"))
        self.assertTrue(receiver.seen[0]["json"]["data"]["test"])
        Webhook(hook["secret"]).verify(receiver.seen[0]["body"], receiver.seen[0]["headers"])

    def test_a_long_answer_is_a_yes_of_which_the_beginning_is_kept(self):
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (200, {}, b"x" * (2 << 20))
        register()
        attempts = eventually(
            lambda: admin("GET", f"/webhooks/{hook['id']}/attempts")["items"], "it was tried")
        self.assertEqual([(one["status"], one["outcome"]) for one in attempts], [(200, "delivered")])
        self.assertEqual(attempts[0]["answer"], "x" * 4096)

    def test_what_cannot_be_sent_again_is_not_promised(self):
        receiver, hook = self.receiver()
        register()
        eventually(lambda: receiver.taken, "it came")
        path = f"/webhooks/{hook['id']}/deliveries"
        self.assertEqual(admin("POST", f"{path}/99999999/resend", expected=(404,))["type"],
                         "/problems/no-such-event")
        other = events("realm.created")[0]["position"]
        refused = admin("POST", f"{path}/{other}/resend", expected=(400,))
        self.assertEqual(refused["field"], "position")
        self.assertIn("realm.created", refused["detail"])

    def test_a_place_behind_the_end_of_the_log_is_refused(self):
        receiver, hook = self.receiver()
        body = {"name": "x", "url": receiver.url, "starts_after": 1_000_000_000}
        for path, sent in (("/webhooks", body), (f"/webhooks/{hook['id']}/resume", {"starts_after": 1_000_000_000})):
            self.assertEqual(admin("POST", path, sent, expected=(400,))["field"], "starts_after")

    def test_an_address_that_nothing_is_sent_to_is_refused_at_once(self):
        for url in ("https://10.0.0.1/x", "https://169.254.169.254/x", "https://[fd00::1]/x",
                    "https://[64:ff9b::a00:1]/x", "https://example.org:22/x", "https://example.org:80/x"):
            body = {"name": "x", "url": url}
            self.assertEqual(admin("POST", "/webhooks", body, expected=(400,))["field"], "url", url)
        receiver, hook = self.receiver()
        admin("PATCH", f"/webhooks/{hook['id']}", {"url": "https://10.0.0.1/x"}, expected=(400,))
        told = admin("PATCH", f"/webhooks/{hook['id']}", {"headers": {"Host": "x"}}, expected=(400,))
        self.assertIn("Urd itself sends", told["detail"])

    def test_a_test_that_is_not_answered_in_time_says_so(self):
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (time.sleep(9), (204, {}))[1]
        done = admin("POST", f"/webhooks/{hook['id']}/test")
        self.assertEqual((done["outcome"], done["status"]), ("timeout", 0))

    def test_a_webhook_with_personal_data_is_changed_by_who_may_open_it(self):
        receiver, hook = self.receiver(include=["personal"])
        key = urd.api.call("POST", "/api/admin/keys", {
            "name": "hooks", "realms": [urd.values["URD_REALM"]],
            "permissions": ["subscriptions.manage"]})[1]["key"]
        path = f"{urd.realm}/webhooks/{hook['id']}"
        for method, more, body in (
                ("PATCH", "", {"name": "Other"}), ("POST", "/secret", {}), ("POST", "/resume", {}),
                ("POST", "/replay", {"from": 1}), ("POST", "/redeliver", None),
                ("POST", "/deliveries/1/resend", None)):
            status, answer, _ = urd.api.call(method, path + more, body, key=key)
            self.assertEqual(status, 403, (more, answer))
            self.assertIn("events.open", answer["detail"])
        # To send less takes no such permission.
        self.assertEqual(urd.api.call("POST", path + "/pause", None, key=key)[0], 200)
        self.assertEqual(urd.api.call("PATCH", path, {"include": []}, key=key)[0], 200)
        self.assertEqual(urd.api.call("DELETE", path, None, key=key)[0], 204)

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
        tested = urd.command("webhook", "test", hook["id"], "--realm", urd.values["URD_REALM"], "--json")
        self.assertEqual((tested.returncode, json.loads(tested.stdout)["outcome"]), (0, "delivered"), tested)
        Webhook(hook["secret"]).verify(
            receiver.taken[0]["body"], receiver.taken[0]["headers"])

    def test_the_other_forms_are_cloud_events_and_records_of_ocsf(self):
        clouds, _ = self.receiver(format="cloudevents", types=["account.*"])
        records, _ = self.receiver(format="ocsf", types=["account.*"])
        account = register()
        eventually(lambda: clouds.taken and records.taken, "both came")
        event = clouds.taken[0]
        self.assertEqual(event["headers"]["content-type"], "application/cloudevents+json")
        self.assertEqual((event["json"]["specversion"], event["json"]["subject"]), ("1.0", account))
        # By the host alone, so that all nodes say the same.
        host = urllib.parse.urlsplit(urd.values["URD_REALM_URL"]).hostname
        self.assertEqual(event["json"]["source"], "https://" + host)
        self.assertEqual(event["json"]["id"], event["headers"]["webhook-id"])
        record = records.taken[0]["json"][0]
        self.assertEqual((record["class_uid"], record["user"]["uid"]), (3001, account))
        self.assertEqual(record["metadata"]["uid"], event["json"]["id"])

    def test_personal_data_is_on_record_before_it_leaves_and_erasures_follow_it(self):
        receiver, hook = self.receiver(include=["personal"], to="audit")
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        account = admin("POST", "/accounts", {"email": email})["id"]
        eventually(lambda: receiver.taken, "it came")
        envelope = receiver.taken[0]["json"]["data"]
        self.assertEqual((envelope["data"]["email"], envelope["personal"]), (email, "opened"))
        told = [one for one in events("personal_data.streamed")
                if one["data"]["subscription"] == hook["id"]]
        self.assertEqual([one["data"]["subjects"] for one in told], [[account]])
        self.assertLessEqual(told[0]["data"]["from"], envelope["position"])
        self.assertGreaterEqual(told[0]["data"]["to"], envelope["position"])
        # A second one within a minute waits for the next record.
        second = register()
        time.sleep(2)
        self.assertNotIn(second, registered(receiver))
        # Neither the record nor its delivery makes another one.
        admin("PATCH", f"/webhooks/{hook['id']}", {"include": [], "types": ["session.*"]})
        urd.command("account", "erase", account, "--realm", urd.values["URD_REALM"], "--yes")
        eventually(lambda: any(one["json"]["type"] == "account.erased" for one in receiver.taken),
                   "the erasure came, whatever the filter says")
        count = len([one for one in events("personal_data.streamed")
                     if one["data"]["subscription"] == hook["id"]])
        self.assertEqual(count, 1)

    def test_an_erasure_that_is_owed_comes_as_a_record_of_ocsf_too(self):
        receiver, hook = self.receiver(format="ocsf", include=["personal"], types=["session.*"])
        account = register()
        admin("PATCH", f"/webhooks/{hook['id']}", {"include": []})
        urd.command("account", "erase", account, "--realm", urd.values["URD_REALM"], "--yes")
        eventually(lambda: receiver.taken, "the erasure came")
        record, = receiver.taken[0]["json"]
        self.assertEqual(
            (record["class_uid"], record["activity_name"], record["user"]["uid"]),
            (3001, "account.erased", account))

    def test_what_waits_of_a_type_that_is_not_known_halts_the_webhook(self):
        receiver, hook = self.receiver(types=["account.*"])
        receiver.answer = lambda message: (500, {})
        account = register()
        eventually(lambda: self.shown(hook).get("waiting") == 1, "it waits to be tried again")
        admin("POST", f"/webhooks/{hook['id']}/pause")
        position = receiver.seen[0]["json"]["data"]["position"]
        before = len(receiver.seen)
        receiver.answer = lambda message: (204, {})

        def rename(name):
            # As a later version would have written it.
            urd.sql(f"update urd.event set type = '{name}' where position = {position} "
                    f"and realm = '{urd.values['URD_REALM']}'")
        rename("account.baked")
        try:
            admin("POST", f"/webhooks/{hook['id']}/resume", {})
            eventually(lambda: "does not know" in (self.shown(hook).get("halted") or ""), "it halts")
            self.assertEqual([one["data"]["position"] for one in events("subscription.halted")
                              if one["stream"] == hook["id"]], [position])
            self.assertEqual(len(receiver.seen), before)
            self.assertIn(hook["id"], urd.command("doctor").stdout)
        finally:
            rename("account.registered")
        admin("POST", f"/webhooks/{hook['id']}/pause")
        admin("POST", f"/webhooks/{hook['id']}/resume", {})
        eventually(lambda: account in registered(receiver), "it goes on once it can be sent")

    def test_410_disables_also_what_an_administrator_pauses_meanwhile(self):
        receiver, hook = self.receiver()
        answered = threading.Event()
        receiver.answer = lambda message: (answered.wait(10), (410, {}))[1]
        register()
        # It is kept only once it is answered: until then the attempt is under way.
        time.sleep(1)
        admin("POST", f"/webhooks/{hook['id']}/pause")
        answered.set()
        eventually(lambda: self.shown(hook)["state"] == "disabled", "it is disabled")
        self.assertEqual(self.shown(hook)["reason"], "gone")
        # What another address answered says nothing of this one.
        other, moved = self.receiver()
        answered.clear()
        other.answer = receiver.answer
        register()
        time.sleep(1)
        new = Receiver()
        self.receivers.append(new)
        admin("PATCH", f"/webhooks/{moved['id']}", {"url": new.url})
        answered.set()
        eventually(lambda: new.taken, "what was refused there came here")
        self.assertEqual(self.shown(moved)["state"], "active")

    def test_what_is_erased_between_two_attempts_is_not_sent(self):
        receiver, _ = self.receiver(include=["personal"], to="audit")
        receiver.answer = lambda message: (400, {})
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        account = admin("POST", "/accounts", {"email": email})["id"]
        eventually(lambda: receiver.seen, "the first attempt came")
        self.assertEqual(receiver.seen[0]["json"]["data"]["data"]["email"], email)
        urd.command("account", "erase", account, "--realm", urd.values["URD_REALM"], "--yes")
        receiver.answer = lambda message: (204, {})
        eventually(lambda: account in registered(receiver), "another attempt came")
        again = next(one for one in receiver.taken if one["json"]["data"]["stream"] == account)
        self.assertEqual(again["headers"]["webhook-id"], receiver.seen[0]["headers"]["webhook-id"])
        self.assertEqual(again["json"]["data"]["personal"], "erased")
        self.assertNotIn(email.encode(), again["body"])

    def test_keys_of_the_realm_sign_and_are_rotated_with_an_overlap(self):
        receiver, hook = self.receiver(signature="v1a")
        register()
        eventually(lambda: receiver.taken, "a message came")
        first = webhook_keys()
        active = [one for one in first if one["phase"] == "active"]
        self.assertEqual(len(active), 1)
        self.assertEqual(signers(receiver.taken[0], first), [active[0]["kid"]])
        for _ in range(2):
            done = urd.command("signing-key", "rotate", "--realm", urd.values["URD_REALM"],
                               "--algorithm", "Ed25519", "--yes")
            self.assertEqual(done.returncode, 0, done.stderr)
        second = webhook_keys()
        self.assertEqual([one["phase"] for one in second], ["retired", "active", "published"])
        register()
        eventually(lambda: len(receiver.taken) == 2, "another came")
        self.assertEqual(sorted(signers(receiver.taken[1], second)),
                         sorted(one["kid"] for one in second if one["phase"] != "published"))
        Webhook(hook["secret"]).verify(receiver.taken[1]["body"], receiver.taken[1]["headers"])
        # They sign no tokens, and are not shown as if they did.
        tokens = public("/.well-known/jwks.json")
        self.assertFalse({one["kid"] for one in tokens["keys"]}
                         & {one["kid"] for one in second})

    def test_a_hole_in_the_log_halts_it_and_raises_an_alarm(self):
        # Where it names its types, the log is read by them.
        for types in (["account.*"], ["account.registered"]):
            with self.subTest(types=types):
                self.halt_at_a_hole(types)

    def halt_at_a_hole(self, types):
        receiver, hook = self.receiver(types=types)
        admin("POST", f"/webhooks/{hook['id']}/pause")
        # The service ends what it delivers a moment after that is on record.
        time.sleep(2)
        register()
        position = int(urd.sql(
            "select max(position) from urd.event where type = 'account.registered'"))
        row = "where type = 'account.registered' and position = %d" % position
        urd.sql("create table public.hole as select * from urd.event " + row)
        urd.sql("delete from urd.event " + row)
        try:
            admin("POST", f"/webhooks/{hook['id']}/resume", {})
            eventually(lambda: "missing" in (self.shown(hook).get("halted") or ""), "it halts")
            last = register()
            # The list ends at the hole, says so, and goes on behind it for who wants that.
            epoch = admin("GET", "/events?limit=1")["next"].split(":")[0]
            before = admin("GET", f"/events?limit=200&after={epoch}:{max(0, position - 3)}")
            self.assertEqual((before["next"], before["more"]), (f"{epoch}:{position - 1}", True))
            status, problem, _ = urd.api.call(
                "GET", f"{urd.realm}/events?after={before['next']}")
            self.assertEqual((status, problem["type"]), (500, "/problems/log-damaged"))
            halted = [one for one in events("subscription.halted", f"{epoch}:{position}")
                      if one["stream"] == hook["id"]]
            self.assertEqual([one["data"]["position"] for one in halted], [position])
            told = urd.command("doctor").stdout
            self.assertIn(hook["id"], told)
            self.assertIn("halted", told)
            self.assertGreater(metric('urd_subscription_halted_total{kind="webhook"}'), 0)
            self.assertNotIn(last, registered(receiver))
        finally:
            urd.sql("insert into urd.event select * from public.hole; drop table public.hole")
        admin("POST", f"/webhooks/{hook['id']}/pause")
        admin("POST", f"/webhooks/{hook['id']}/resume", {})
        eventually(lambda: last in registered(receiver), "it goes on where it stopped")
        eventually(lambda: self.shown(hook)["halted"] is None, "and is well again")

    def test_what_it_lags_behind_and_what_came_of_attempts_is_measured(self):
        receiver, hook = self.receiver()
        receiver.answer = lambda message: (500, {})
        register()
        eventually(lambda: metric('urd_subscription_lag_events{kind="webhook"}') > 0, "it lags")
        attempts = 'urd_subscription_attempts_total{kind="webhook",outcome="refused"}'
        eventually(lambda: metric(attempts) > 0, "the attempt is counted")
        receiver.answer = lambda message: (410, {})
        register()
        eventually(lambda: metric('urd_subscription_disabled{kind="webhook"}') == 1, "it is disabled")
        page = urd.private("/deliveries")
        self.assertEqual(page[0], 200)
        self.assertIn("account.registered → receiver", page[1])

    def test_the_contact_is_told_that_it_was_disabled(self):
        urd.api.call("PATCH", urd.realm + "/settings", {"contact": "ops@example.org"})
        receiver, hook = self.receiver(name="Billing")
        receiver.answer = lambda message: (410, {})
        register()
        eventually(lambda: self.shown(hook)["state"] == "disabled", "it is disabled")
        mails = eventually(
            lambda: json.loads(urd.private("/inbox?to=ops@example.org")[1]), "a mail came")
        self.assertIn("Billing", mails[0]["subject"])
        urd.api.call("PATCH", urd.realm + "/settings", {"contact": None})

    def test_a_test_shows_what_an_event_of_a_type_looks_like(self):
        for form in ("standard", "cloudevents", "ocsf"):
            receiver, hook = self.receiver(format=form)
            before = len(receiver.seen)
            tried = admin("POST", f"/webhooks/{hook['id']}/test", {"type": "account.disabled"})
            self.assertEqual((tried["type"], tried["outcome"]), ("account.disabled", "delivered"))
            message = receiver.seen[before]
            self.assertTrue(message["headers"]["webhook-id"].startswith("test_"), message["headers"])
            body = message["json"]
            if form == "ocsf":
                self.assertEqual(body[0]["class_uid"], 3001)
                continue
            self.assertIs(body["data"]["test"], True)
            name = {"standard": "account.disabled", "cloudevents": "dev.urd.account.disabled"}
            self.assertEqual(body["type"], name[form])
        problem = admin(
            "POST", f"/webhooks/{hook['id']}/test", {"type": "account.disable"}, expected=(400,))
        self.assertIn("did you mean account.disabled?", problem["detail"])

    def test_a_repeated_test_sends_nothing_and_is_answered_alike(self):
        receiver, hook = self.receiver()
        path = f"{urd.realm}/webhooks/{hook['id']}/test"
        first = urd.api.call("POST", path, None, Idempotency_Key="one")
        second = urd.api.call("POST", path, None, Idempotency_Key="one")
        self.assertEqual(first[:2], second[:2])
        self.assertEqual(len(receiver.seen), 1)
        listed = admin("GET", f"/webhooks/{hook['id']}/attempts")["items"]
        self.assertEqual([one["type"] for one in listed], ["urd.test"])


if __name__ == "__main__":
    unittest.main()
