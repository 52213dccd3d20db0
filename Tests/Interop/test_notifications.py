"""Notifications, from the app that sends them to the devices that show them, over Google's and Apple's
own forms."""

import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
import uuid

from flagship_client import App, AppleDevice, Authorization, WebView
from token_tool import missing, rerun
from urd_process import PATIENCE, Server, Urd, eventually

MISSING = missing("h2", "cryptography")
if not MISSING:
    from push_providers import Apple, Certificates, Google

PASSWORD = "seven purple otters dance"
REALM = "/api/admin/realms/flagship"
CATEGORIES = {
    "plain": {}, "balance": {"stateful": True}, "news": {"collapsible": True}}


def setUpModule():
    global urd, google, apple, folder, outgoing, sender
    folder = tempfile.mkdtemp(prefix="urd-push-", dir="/tmp")
    os.chmod(folder, 0o755)
    certificates = Certificates(folder)
    google, apple = Google(certificates), Apple(certificates)
    outgoing = {
        "URD_OUTGOING_NETWORKS": "127.0.0.0/8", "URD_OUTGOING_CA_FILE": certificates.authority}
    urd = Urd(lawful=True, **outgoing)
    admin("PATCH", REALM + "/settings", {"rate_limits": {
        "installation": {"target": None}, "owner-mail": {"target": None},
        "owner-sign-in": {"target": None}, "notification": {"target": None}}})
    set_providers()
    sender = App(urd.values, "Everything")
    sender.register(notifications=CATEGORIES)
    assert sender.certify_by_apple(AppleDevice(urd.values))[0] == 204
    assert sender.onboard(PASSWORD)[0] == 200


def tearDownModule():
    urd.close()
    google.close()
    apple.close()
    shutil.rmtree(folder, ignore_errors=True)


def admin(method, path, body=None):
    status, answer, _ = urd.api.call(method, path, body)
    assert status < 300, (status, answer)
    return answer


def set_providers():
    admin("PUT", REALM + "/push-providers/fcm",
          {"service_account": google.account, "address": google.address})
    admin("PUT", REALM + "/push-providers/apns", apple.settings)


def device(name, platform, token, flagship=False):
    app = App(urd.values, name)
    app.register(notification_platform=platform, notification_device_token=token)
    if flagship:
        assert app.certify_by_apple(AppleDevice(urd.values))[0] == 204
    if flagship:
        assert app.login(PASSWORD)[0] == 200
    else:
        open_view(app)
    return app


def open_view(app):
    """Without a certificate an app goes on in a web view."""
    status, answer, _ = app.login(PASSWORD)
    assert status == 202, answer
    place = Authorization(app).path + "&session_code=" + answer["session_code"]
    assert WebView(app).ask("GET", place)[0] == 303


def notify(app=None, **attributes):
    """The id of what is to be told."""
    attributes = {"category": "plain", "title": "Hello", "message": "World", **attributes}
    status, body, headers = (app or sender).call(
        "POST", "/notifications",
        {"data": {"type": "io.cozy.notifications", "attributes": attributes}},
        bearer=sender.access, headers={"Content-Type": "application/vnd.api+json"})
    assert status == 201, body
    assert headers["Content-Type"] == "application/vnd.api+json"
    return body["data"]["id"]


def happened(name, notification):
    return int(urd.sql(
        f"select count(*) from urd.event where realm = 'flagship' and type = '{name}'"
        f" and stream = '{notification}'"))


def settled(name, notification, patience=PATIENCE):
    eventually(lambda: happened(name, notification), f"{name} of {notification}", patience)


def mailed(subject):
    url = urd.values["URD_INBOX_URL"] + "?to=owner@flagship.localhost"
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        mails = json.load(answer)
    return [mail for mail in mails if mail["subject"].startswith(subject)]


def fresh():
    """A device token as Apple gives it, which no other test has."""
    return uuid.uuid4().hex + uuid.uuid4().hex


class Routing(unittest.TestCase):
    def setUp(self):
        self.apps = []
        self.addCleanup(lambda: [app.unregister() for app in self.apps])
        self.addCleanup(lambda: self.assertEqual(google.faults + apple.faults, []))

    def device(self, *words, **more):
        self.apps.append(device(*words, **more))
        return self.apps[-1]

    def test_COZ_22_dedicated_apps_come_before_the_flagship_app_and_mail(self):
        """Scenario 8."""
        own, everything = "fcm-" + fresh(), fresh()
        before = len(google.tokens), len(apple.tokens)
        self.device("Banks", "firebase", own)
        self.device("iPhone", "apns", everything, flagship=True)
        notify(title="One", data={"appName": "Banks", "redirectLink": "banks/#/"})
        message = eventually(lambda: google.of(own), "the app is shown it")[0]
        self.assertEqual(message["notification"], {"title": "One", "body": "World"})
        self.assertEqual(message["data"]["redirectLink"], "banks/#/")
        self.assertEqual(apple.of(everything), [])
        google.answers[own] = 403, {"error": {"code": 403, "status": "PERMISSION_DENIED"}}
        notify(title="Two", data={"appName": "Banks"}, priority="high")
        shown = eventually(lambda: apple.of(everything), "the flagship app is shown it")[0]
        self.assertEqual(shown["aps"]["alert"], {"title": "Banks - Two", "body": "World"})
        self.assertEqual(shown["headers"]["apns-priority"], "10")
        notify(title="Three", data={"appName": ""})
        eventually(lambda: len(apple.of(everything)) == 2, "it is shown without a name")
        self.assertEqual(apple.of(everything)[1]["aps"]["alert"]["title"], "Three")
        apple.answers[everything] = 400, {"reason": "DeviceTokenNotForTopic"}
        notify(title="Four", data={"appName": "Banks"})
        mail = eventually(lambda: mailed("Four ("), "it comes by mail")[0]
        self.assertIn("World", mail["text"])
        self.assertIn("Banks couldn't deliver this to any of your devices", mail["text"])
        # Each provider gave out, or took, one token for all of it, if not one from before.
        self.assertLessEqual(len(google.tokens), before[0] + 1)
        self.assertLessEqual(len(apple.tokens), before[1] + 1)

    def test_COZ_22_a_state_is_sent_once_and_news_replaces_older_news(self):
        token = fresh()
        self.device("iPad", "apns", token)
        first = notify(category="balance", title="Low", state="low")
        self.assertEqual(notify(category="balance", title="Low", state="low"), first)
        later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=4)
        old = notify(category="news", title="Old", at=later.isoformat())
        new = notify(category="news", title="New", at=later.isoformat())
        settled("notification.superseded", old)
        settled("notification.pushed", first)
        self.assertEqual(happened("notification.pushed", new), 0)
        settled("notification.pushed", new)
        self.assertGreaterEqual(datetime.datetime.now(datetime.timezone.utc), later
                                - datetime.timedelta(seconds=1))
        titles = [message["aps"]["alert"]["title"] for message in apple.of(token)]
        self.assertEqual(titles, ["Low", "New"])
        collapse = apple.of(token)[1]["headers"]["apns-collapse-id"]
        self.assertRegex(collapse, r"^[0-9a-f-]{36}$")
        # Where nothing takes another's place, each has its own name.
        self.assertNotEqual(apple.of(token)[0]["headers"]["apns-collapse-id"], collapse)

    def test_COZ_22_a_device_unknown_to_its_provider_is_forgotten(self):
        android, phone = "fcm-" + fresh(), fresh()
        google.answers[android] = Google.UNREGISTERED
        apple.answers[phone] = 410, {"reason": "Unregistered", "timestamp": 1}
        gone, kept = self.device("Old", "firebase", android), self.device("Phone", "apns", phone)
        notification = notify(title="Gone")
        settled("notification.mailed", notification)
        self.assertEqual(gone.information()[1], {"error": "Client not found"})
        status, known, _ = kept.information()
        self.assertEqual(status, 200)
        self.assertNotIn("notification_device_token", known)

    def test_a_long_message_is_cut_and_a_hostile_one_breaks_nothing(self):
        token = fresh()
        self.device("Phone", "apns", token)
        notify(category="news", category_id="x\r\napns-priority: 1", message="😀\"" * 1000,
               title="Hello\r\napns-topic: evil", data={"aps": {"badge": 9}, "x": "y" * 1900})
        shown = eventually(lambda: apple.of(token), "it is shown")[0]
        self.assertEqual(shown["aps"]["alert"]["title"], "Hello apns-topic: evil")
        self.assertTrue(shown["aps"]["alert"]["body"].endswith("…"))
        self.assertNotIn("badge", shown["aps"])

    def test_private_provider_addresses_are_not_called_and_a_mail_goes_out(self):
        token = fresh()
        self.device("Phone", "apns", token)
        try:
            for address in ("https://10.0.0.1", "https://169.254.169.254", "https://[::1]:1"):
                admin("PUT", REALM + "/push-providers/apns",
                      {**apple.settings, "address": address})
                settled("notification.mailed", notify(title="Nobody"), 20)
            # A server that another authority vouches for is not one.
            self.assertEqual(apple.of(token), [])
        finally:
            set_providers()

    def test_an_outage_of_the_provider_is_waited_out(self):
        token = fresh()
        self.device("Phone", "apns", token)
        apple.answers[token] = 503, {"reason": "ServiceUnavailable"}
        notification = notify(title="Later")
        settled("notification.deferred", notification)
        del apple.answers[token]
        settled("notification.pushed", notification)
        self.assertEqual(len(apple.of(token)), 1)


class Administration(unittest.TestCase):
    def test_undelivered_notifications_are_listed_and_sent_again(self):
        admin("PATCH", REALM + "/settings", {"notification_mails": False})
        try:
            notification = notify(title="Nowhere")
            settled("notification.failed", notification)
        finally:
            admin("PATCH", REALM + "/settings", {"notification_mails": None})

        def listed():
            result = urd.command(
                "notification", "list", "--realm", "flagship", "--failed", "true", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            return [item["id"] for item in json.loads(result.stdout)["items"]]

        eventually(lambda: notification in listed(), "it is in the list")
        result = urd.command("notification", "resend", notification, "--realm", "flagship")
        self.assertEqual(result.returncode, 0, result.stderr)
        settled("notification.mailed", notification)
        eventually(lambda: notification not in listed(), "it is in the list no more")

    def test_providers_are_set_and_shown_without_their_keys(self):
        result = urd.command(
            "push-provider", "set", "apns", "--realm", "flagship", "--team-id",
            apple.settings["team_id"], "--key-id", apple.settings["key_id"], "--topic",
            apple.settings["topic"], "--private-key=" + apple.settings["private_key"],
            "--address", apple.address)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = urd.command("push-provider", "show", "--realm", "flagship", "--json")
        shown = json.loads(result.stdout)["items"]
        self.assertEqual([one["provider"] for one in shown], ["apns", "fcm"])
        self.assertNotIn("PRIVATE", result.stdout)


class NothingIsReadable(unittest.TestCase):
    def test_no_notification_text_and_no_device_name_is_stored_readable(self):
        canary = "canary" + uuid.uuid4().hex
        token = fresh()
        app = device("Phone", "apns", token)
        apple.answers[token] = 400, {"reason": canary + "-reason"}
        notification = notify(
            category="news", title=canary + "-title", message=canary + "-message",
            category_id=canary + "-id", state=canary + "-state", data={canary: canary})
        settled("notification.mailed", notification)
        eventually(lambda: mailed(canary), "it comes by mail")
        dump = subprocess.run(
            ["pg_dump", "--dbname", urd.superuser()], capture_output=True, text=True, check=True,
            timeout=PATIENCE).stdout
        keys = [key.split("\n")[1] for key in (
            apple.settings["private_key"], google.account["private_key"])]
        for secret in [canary, token, *google.tokens, *apple.tokens, *keys]:
            for form in (secret, secret.encode().hex()):
                self.assertNotIn(form, dump)
                self.assertNotIn(form, urd.run.text())
        app.unregister()


class Faults(unittest.TestCase):
    """A node that dies, and a database that goes away, while a provider has the message in its hands."""

    def setUp(self):
        # The node of `urd dev` stands still, so that those of this test do its work.
        os.kill(urd.pid, signal.SIGSTOP)
        self.addCleanup(lambda: os.kill(urd.pid, signal.SIGCONT))
        self.addCleanup(apple.gate.set)
        self.token = fresh()
        urd.sql("select pg_terminate_backend(pid) from pg_stat_activity"
                " where application_name like 'urd notifications%'")
        self.start()
        self.phone = App(urd.values, "Phone")
        self.reach(self.phone)
        self.phone.register(
            notification_platform="apns", notification_device_token=self.token)
        self.addCleanup(self.forget)
        open_view(self.phone)

    def start(self):
        self.node = Server(urd.values, **outgoing).ready()
        self.addCleanup(self.node.close)

    def forget(self):
        os.kill(urd.pid, signal.SIGCONT)
        self.phone.address = App(urd.values).address
        self.phone.unregister()

    def reach(self, app):
        app.address = ("127.0.0.1", self.node.port)
        return app

    def sender(self):
        app = App(urd.values)
        return self.reach(app)

    def test_a_killed_node_loses_no_notification(self):
        apple.gate.clear()
        apple.waiting.clear()
        first = notify(self.sender(), title="First")
        self.assertTrue(apple.waiting.wait(PATIENCE), "the provider has it")
        second = notify(self.sender(), title="Second")
        self.node.process.kill()
        self.node.process.wait()
        apple.gate.set()
        self.start()
        for notification in (first, second):
            settled("notification.pushed", notification)
            self.assertEqual(happened("notification.pushed", notification), 1)
        titles = [one["aps"]["alert"]["title"] for one in apple.of(self.token)]
        # What the provider had in its hands may be shown twice, and never not at all.
        self.assertLessEqual(titles.count("First"), 2)
        self.assertGreaterEqual(titles.count("First"), 1)
        self.assertEqual(titles.count("Second"), 1)

    def test_an_outage_of_postgresql_loses_no_record(self):
        apple.gate.clear()
        apple.waiting.clear()
        notification = notify(self.sender(), title="Outage")
        self.assertTrue(apple.waiting.wait(PATIENCE), "the provider has it")
        os.kill(urd.run.postmaster(), signal.SIGQUIT)
        os.kill(urd.pid, signal.SIGCONT)
        eventually(lambda: self.node.ask("/health/ready", private=True)[0] != 200, "the outage")
        apple.gate.set()
        settled_within(notification)
        self.assertEqual(happened("notification.pushed", notification), 1)
        titles = [one["aps"]["alert"]["title"] for one in apple.of(self.token)]
        self.assertIn(titles.count("Outage"), (1, 2))


def settled_within(notification):
    def look():
        try:
            return happened("notification.pushed", notification)
        except subprocess.CalledProcessError:
            return False
    eventually(look, "it is on record once the database is there again")


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
