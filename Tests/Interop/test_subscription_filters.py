"""Webhooks and subscriptions of the feed with a filter that asks whom events are about, which events do not always say
themselves."""

import json
import subprocess
import time
import unittest
import uuid

from feed_client import Feed
from phone import Phone
from urd_process import Urd, eventually
from webhook_receiver import Receiver


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


def admin(method, path, body=None, expected=range(200, 300)):
    status, answer, _ = urd.api.call(method, urd.realm + path, body)
    assert status in expected, (status, answer)
    return answer


class Person:
    """Signs in, signs out, and is disabled: some of what happens does not name the account."""

    def __init__(self):
        self.mail = f"{uuid.uuid4().hex[:12]}@example.org"
        self.id = admin("POST", "/accounts", {"email": self.mail, "confirmed": True})["id"]

    def act(self):
        Phone(urd).sign_in(self.mail)
        session = admin("GET", f"/accounts/{self.id}/sessions")["items"][0]["id"]
        admin("DELETE", f"/accounts/{self.id}/sessions/{session}")
        return session


class WhomTests(unittest.TestCase):
    def setUp(self):
        self.receiver = Receiver()
        self.hooks = []

    def tearDown(self):
        for hook in self.hooks:
            urd.api.call("DELETE", f"{urd.realm}/webhooks/{hook}")
        self.receiver.stop()

    def webhook(self, filter, **more):
        made = admin("POST", "/webhooks", {
            "url": self.receiver.url, "name": "receiver", "to": "audit", "filter": filter, **more})
        self.hooks.append(made["id"])
        return made

    def came(self, replays=False):
        with self.receiver.lock:
            return [(one["json"]["type"], one["json"]["data"]["stream"]) for one in self.receiver.taken
                    if (one["headers"].get("urd-replay") == "true") == replays]

    def test_a_webhook_is_sent_what_is_about_its_person_alone(self):
        ann, ben = Person(), Person()
        hook = self.webhook(f'mail eq "{ann.mail}" and type ne "account.registered"')
        self.assertNotIn(ann.mail, json.dumps(hook))
        self.assertIn(ann.id, hook["filter"])
        theirs, hers = ben.act(), ann.act()
        admin("POST", f"/accounts/{ann.id}/disable")
        eventually(lambda: ("account.disabled", ann.id) in self.came(), "it came")
        came = self.came()
        # What ends a session names no account.
        self.assertIn(("session.ended", hers), came)
        self.assertIn(("session.opened", hers), came)
        streams = {stream for _, stream in came}
        self.assertFalse({theirs, ben.id} & streams, came)
        self.assertNotIn(("account.registered", ann.id), came)
        # The log has no address either.
        self.assertEqual(urd.sql(
            f"select count(*) from urd.event where type like 'subscription.%' and data::text like '%{ann.mail}%'"), "0")

    def test_a_replay_leaves_out_what_the_filter_does_not_want(self):
        ann, ben = Person(), Person()
        theirs, hers = ben.act(), ann.act()
        first = int(urd.sql(f"select min(position) from urd.event where stream = '{ann.id}'"))
        for filter in (f'account eq "{ann.id}"', f'stream eq "{hers}"'):
            with self.receiver.lock:
                self.receiver.taken.clear()
            hook = self.webhook(filter)
            queued = admin("POST", f"/webhooks/{hook['id']}/replay", {"from": first})["queued"]
            eventually(lambda: ("session.ended", hers) in self.came(True), "it came again")
            eventually(lambda: admin("GET", f"/webhooks/{hook['id']}")["waiting"] == 0, "all is done")
            with self.receiver.lock:
                ids = {one["headers"]["webhook-id"] for one in self.receiver.taken}
            self.assertEqual(len(ids), queued, filter)
            self.assertFalse({theirs, ben.id} & {stream for _, stream in self.came(True)}, filter)
            admin("DELETE", f"/webhooks/{hook['id']}")

    def waiting(self, hook):
        return [one["type"] for one in admin("GET", f"/webhooks/{hook['id']}/deliveries")["items"]]

    def test_what_waits_is_sent_by_the_new_terms_or_not_at_all(self):
        for narrowed in ("types", "not_types", "streams", "filter", "format"):
            self.receiver.answer = lambda message: (500, {})
            ann, ben = Person(), Person()
            first = int(urd.sql(f"select min(position) from urd.event where stream = '{ann.id}'"))
            # Few of the internal ones have a record of OCSF.
            hook = self.webhook(
                None, order="none", starts_after=first - 1,
                **{"to": "internal"} if narrowed == "format" else {"types": ["account.*", "invite.created"]})
            for person in (ann, ben):
                admin("POST", f"/accounts/{person.id}/disable")
            admin("POST", "/invites", {})
            eventually(lambda: len(self.waiting(hook)) >= 5, "all of it waits", 30)
            terms = {
                "types": {"types": ["account.disabled"]}, "not_types": {"not_types": ["account.registered"]},
                "streams": {"streams": [ann.id]}, "filter": {"filter": f'account eq "{ann.id}"'},
                "format": {"format": "ocsf"}}[narrowed]
            with self.receiver.lock:
                self.receiver.taken.clear()
            path = f"/webhooks/{hook['id']}"
            admin("PATCH", path, terms)
            self.receiver.answer = lambda message: (204, {})
            admin("POST", f"{path}/resume", {})
            eventually(lambda: admin("GET", path)["waiting"] == 0, "all is done", 30)
            with self.receiver.lock:
                taken = [one["json"] for one in self.receiver.taken]
            if narrowed == "format":
                self.assertTrue(taken)
                self.assertNotIn([], taken)
            elif narrowed in ("types", "not_types"):
                kinds = [one["type"] for one in taken]
                self.assertEqual(kinds.count("account.disabled"), 2, (narrowed, kinds))
                self.assertNotIn("account.registered", kinds, narrowed)
            else:
                streams = {one["data"]["stream"] for one in taken}
                self.assertEqual(streams, {ann.id}, narrowed)
            admin("DELETE", path)

    def test_an_erasure_that_is_owed_is_sent_whatever_the_new_terms_say(self):
        self.receiver.answer = lambda message: (500, {})
        ann = Person()
        hook = self.webhook(None, types=["account.*"], include=["personal"])
        admin("POST", f"/accounts/{ann.id}/disable")
        admin("POST", f"/accounts/{ann.id}/erase")
        eventually(lambda: {"account.disabled", "account.erased"} <= set(self.waiting(hook)), "both wait", 30)
        path = f"/webhooks/{hook['id']}"
        admin("PATCH", path, {"types": ["session.ended"], "include": []})
        self.receiver.answer = lambda message: (204, {})
        admin("POST", f"{path}/resume", {})
        eventually(lambda: admin("GET", path)["waiting"] == 0, "all is done", 30)
        with self.receiver.lock:
            self.assertEqual({one["json"]["type"] for one in self.receiver.taken}, {"account.erased"})

    def test_personal_data_is_on_record_for_whom_it_was_sent_alone(self):
        before = urd.sql(f"select max(position) from urd.event where realm = '{urd.values['URD_REALM']}'")
        ann, ben = Person(), Person()
        body = {"filter": f'account eq "{ann.id}"', "include": ["personal"], "types": ["account.*"]}
        hook = self.webhook(**body, starts_after=int(before))
        eventually(lambda: ("account.registered", ann.id) in self.came(), "it came")
        subscription = admin("POST", "/subscriptions", {"name": "Index", "from": f"1:{before}", **body})["id"]
        with Feed(urd.values["URD_URL"], urd.key, urd.values["URD_REALM"], f"subscription={subscription}") as feed:
            shown = feed.events(1)[0]
            self.assertEqual((shown["stream"], shown["data"]["email"]), (ann.id, ann.mail))
            # All is read, and nothing else of it was sent.
            admin("POST", f"/accounts/{ben.id}/disable")
            admin("POST", f"/accounts/{ann.id}/disable")
            last = feed.events(1)[0]
            self.assertEqual((last["type"], last["stream"]), ("account.disabled", ann.id))
        for reader in (hook["id"], subscription):
            told = json.loads(urd.sql(
                "select json_agg(data -> 'subjects') from urd.event where type = 'personal_data.streamed' "
                f"and data ->> 'subscription' = '{reader}'"))
            self.assertEqual({one for each in told for one in each}, {ann.id})

    def test_a_feed_is_sent_what_is_about_its_client_alone(self):
        ann = Person()
        client = admin("POST", "/clients", {
            "client_id": "other-shop", "client_name": "Other", "redirect_uris": ["https://shop.example/back"]})
        subscription = admin("POST", "/subscriptions", {
            "name": "Index", "from": "now", "to": "internal",
            "filter": f'client eq "{client["client_id"]}"'})
        self.assertNotIn(client["client_id"], subscription["filter"])
        with Feed(urd.values["URD_URL"], urd.key, urd.values["URD_REALM"],
                  f"subscription={subscription['id']}") as feed:
            ann.act()
            admin("POST", f"/clients/{client['client_id']}/disable")
            shown = feed.events(1)[0]
            self.assertEqual(shown["type"], "client.disabled")

    def test_what_the_index_has_not_reached_waits(self):
        ann, ben = Person(), Person()
        hook = self.webhook(f'account eq "{ann.id}"')
        table = urd.sql("select 'urd.event_index_' || build from urd.projection_build "
                        "where projection = 'event_index' and status = 'live'")
        holder = subprocess.Popen(
            ["psql", "-XqAt", urd.superuser()], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            text=True)
        try:
            holder.stdin.write(f"begin; lock table {table} in share mode;\n")
            holder.stdin.flush()
            eventually(lambda: urd.sql(
                f"select count(*) from pg_locks where relation = '{table}'::regclass and mode = 'ShareLock' and granted"
            ) == "1", "it is held")
            for person in (ben, ann):
                admin("POST", f"/accounts/{person.id}/disable")
            time.sleep(1.5)
            self.assertEqual(self.came(), [])
            position = int(admin("GET", f"/webhooks/{hook['id']}")["cursor"].split(":")[1])
            self.assertLess(position, int(urd.sql(f"select max(position) from urd.event where stream = '{ben.id}'")))
        finally:
            holder.communicate("commit;\n", timeout=60)
        eventually(lambda: self.came(), "it came")
        self.assertEqual(self.came(), [("account.disabled", ann.id)])

    def test_names_and_addresses_that_are_none_are_refused(self):
        for filter, expected in (
                ('client eq "nobody"', "a client of the realm"), ('mail eq "nobody"', "a mail address"),
                ('address eq "here"', "an IP address"), ("weather pr", "an attribute")):
            for path in ("/webhooks", "/subscriptions"):
                status, answer, _ = urd.api.call("POST", urd.realm + path, {
                    "name": "x", "filter": filter, **({"url": self.receiver.url} if path == "/webhooks" else {})})
                self.assertEqual((status, answer["type"].rsplit("/", 1)[-1], answer["field"]),
                                 (400, "invalid-filter", "filter"), answer)
                self.assertIn(expected, answer["detail"])


if __name__ == "__main__":
    unittest.main()
