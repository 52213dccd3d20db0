"""The table in docs/analysts/doors.md, cell by cell: what each way that analysts ask a realm's log does with what is sealed, with
what never leaves, with an erased person, with a key of another realm, and with a hole in the log."""

import json
import pathlib
import re
import unittest
import urllib.parse
import uuid

import test_case_files as cases
from analyst_role import Analyst
from feed_client import Feed
from phone import Phone
from test_case_files import call
from urd_process import Urd, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs/analysts/doors.md"
REASON = "Incident 4711"


def setUpModule():
    global urd
    urd = cases.urd = Urd()
    call("POST", "/api/admin/realms", {"realm": "elsewhere", "display_name": "Elsewhere"})


def tearDownModule():
    urd.close()


def head():
    return int(urd.sql(f"select position from urd.realm_log where realm = '{urd.values['URD_REALM']}'"))


def table():
    """The cells of the table, by door and column."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in TABLE.read_text().splitlines() if line.startswith("|")]
    columns = rows[0][1:]
    return {row[0]: dict(zip(columns, row[1:])) for row in rows[2:]}


class Person:
    """An account with a mail address that nobody else has, whose owner signed in."""

    def __init__(self, realm=None):
        self.mail = f"{uuid.uuid4().hex}@example.org"
        self.realm = realm or urd.realm
        self.id = call("POST", self.realm + "/accounts", {
            "email": self.mail, "first_name": "Ann", "confirmed": True})["id"]
        if realm is None:
            Phone(urd).sign_in(self.mail)
        for turn in ("disable", "enable"):
            call("POST", f"{self.realm}/accounts/{self.id}/{turn}")


class Doors:
    """The ways to ask, each as its status and the bytes that came; None where they broke off."""

    def __init__(self, person, key=None, open=False, reason=REASON):
        self.person, self.key, self.open, self.reason = person, key, open, reason
        self.realm = urd.realm
        self.name = urd.values["URD_REALM"]

    def ask(self, door):
        return getattr(self, door.replace(" ", "_").replace("-", "_").lower())()

    def get(self, path):
        return cases.raw(self.realm + path, self.key)

    def opening(self, sign="?", reason=None):
        if not self.open:
            return ""
        words = {"open": "true"}
        if reason and self.reason:
            words[reason] = self.reason
        return sign + urllib.parse.urlencode(words)

    def audit_trail(self):
        return self.get("/audit-trail?limit=200&order=newest" + self.opening("&"))

    def login_history(self):
        return self.get("/login-history?limit=200" + self.opening("&", "open_reason"))

    def counts_of_sign_ins(self):
        return self.get("/login-history/counts?group_by=device" + self.opening("&"))

    def list_of_events(self):
        found, after = b"", ""
        while True:
            status, body = self.get(f"/events?limit=200{after}" + self.opening("&"))
            if status != 200:
                return status, found + body
            found += body
            page = json.loads(body)
            if not page["more"]:
                return status, found
            after = f"&after={page['next']}"

    def feed(self):
        return self.stream("feed", "from=start&to=internal" + self.opening("&"))

    def replay(self):
        return self.stream("replay", "speed=1000000&max_gap=0&to=internal" + self.opening("&"))

    def stream(self, path, query):
        last, found = head(), b""
        with Feed(urd.values["URD_URL"], self.key or urd.key, self.name, query, patience=5,
                  path=f"{self.realm}/{path}") as feed:
            if feed.status != 200:
                return feed.status, feed.body
            try:
                for entry in feed.entries():
                    found += json.dumps(entry).encode() + b"\n"
                    if entry.get("position", 0) >= last:
                        break
            except TimeoutError:
                pass
        return 200, found

    def export(self):
        return self.get("/export" + self.opening())

    def findings(self):
        return self.get("/findings?limit=200" + self.opening("&"))

    def state_of_an_account(self):
        return self.get(
            f"/as-of/{head()}/accounts/{self.person.id}" + self.opening("?", "reason"))

    def difference(self):
        return self.get(f"/as-of/1/diff/{head()}/accounts/{self.person.id}" + self.opening())

    def case_file(self):
        body = {"about": {"kind": "account", "id": self.person.id}, "complete": True}
        if self.reason:
            body["reason"] = self.reason
        return self.job("/cases", {**body, "open": True} if self.open else body, "file")

    def what_if(self):
        body = {"policy": {"max_sessions": 1}}
        return self.job("/what-if", {**body, "open": True} if self.open else body, "result")

    def state_of_a_realm(self):
        return self.job(f"/as-of/{head()}" + self.opening(), None, "accounts?limit=200",
                        path="/as-of-builds")

    def job(self, asked, body, file, path=None):
        answers = []

        def taken():
            answers.append(urd.api.call("POST", self.realm + asked, body, key=self.key))
            return answers[-1][0] != 429
        eventually(taken, "a place for a job", patience=60)
        status, answer, _ = answers[-1]
        if status != 202:
            return status, json.dumps(answer).encode()
        place = f"{path or asked}/{answer['id']}"
        state = eventually(lambda: (lambda now: now["state"] not in ("waiting", "running") and now)(
            call("GET", self.realm + place, key=self.key)), "the job ends")
        if state["state"] != "ready":
            return 500, json.dumps(state).encode()
        found = self.get(f"{place}/{file}")
        call("DELETE", self.realm + place, key=self.key)
        return found

    def sql(self):
        analyst = Doors.analyst
        views = analyst.ask(
            "select string_agg(viewname, ' ') from pg_views where schemaname = 'analyst'").split()
        return 200, "\n".join(
            analyst.ask(f"select to_json(r) from analyst.{view} r") for view in views).encode()


class Cells(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.person = Person()
        Doors.analyst = Analyst(urd, urd.values["URD_REALM"])
        cls.followed()

    @classmethod
    def followed(cls):
        name = urd.values["URD_REALM"]
        eventually(lambda: urd.sql(
            "select count(*) from urd.projection_progress p join urd.projection_build b "
            "using (projection, build) join urd.realm_log h using (realm) "
            f"where b.status = 'live' and p.realm = '{name}' and p.position < h.position") == "0",
            "the read models follow")

    def compare(self, column, found):
        told = {door: cells[column] for door, cells in table().items()}
        self.assertEqual(told, found)

    def test_no_door_shows_what_is_sealed_without_being_asked(self):
        found = {}
        for door in table():
            status, body = Doors(self.person).ask(door)
            self.assertEqual(status, 200, (door, body))
            found[door] = "shown" if self.person.mail.encode() in body else "sealed"
            # It is about this realm, and so says something.
            self.assertGreater(len(body), 20, door)
        self.compare("sealed fields", found)

    def test_what_is_opened_is_on_record_before_it_is_shown(self):
        found = {}
        for door in table():
            if door == "SQL":
                found[door] = "–"
                continue
            before = self.disclosures()
            status, body = Doors(self.person, open=True).ask(door)
            if status == 400:
                found[door] = "–"
                self.assertEqual(self.disclosures(), before, door)
                continue
            self.assertEqual(status, 200, (door, body))
            shown = self.person.mail.encode() in body
            on_record = self.disclosures() > before
            self.assertTrue(on_record or not shown, door)
            found[door] = "on record" if on_record else "nothing"
        self.compare("with `open`", found)

    def test_nothing_is_opened_without_a_reason(self):
        found = {}
        for door in table():
            if table()[door]["with `open`"] == "–":
                found[door] = "–"
                continue
            before = self.disclosures()
            status, body = Doors(self.person, open=True, reason=None).ask(door)
            self.assertNotIn(self.person.mail.encode(), body or b"")
            self.assertEqual(self.disclosures(), before, door)
            found[door] = json.loads(body)["type"].removeprefix("/problems/") if status == 400 else "opened"
        self.compare("without a reason", found)

    def disclosures(self):
        return int(urd.sql(
            f"select count(*) from urd.event where realm = '{urd.values['URD_REALM']}' "
            "and type = 'personal_data.opened'"))

    def test_no_door_shows_what_never_leaves(self):
        call("POST", urd.clients, {
            "client_name": "Secretive", "grant_types": ["client_credentials"]})
        hidden = urd.sql(
            "select string_agg(d.value #>> '{}', ' ') from urd.event e cross join lateral json_each(e.data) d "
            "join urd.event_field f on f.type = e.type and f.field = d.key "
            f"where e.realm = '{urd.values['URD_REALM']}' and f.visibility = 'never-leaves' "
            "and length(d.value #>> '{}') > 20").split()
        self.assertTrue(hidden)
        self.followed()
        found = {}
        # Of a client, so that its events are in the file.
        client = urd.sql(
            "select stream from urd.event e where type = 'client.registered' and "
            f"realm = '{urd.values['URD_REALM']}' and data ->> 'secret_digest' is not null limit 1")
        for door in table():
            doors = Doors(self.person)
            if door == "case file":
                status, body = doors.job("/cases", {
                    "about": {"kind": "client", "id": client}, "reason": REASON}, "file")
            else:
                status, body = doors.ask(door)
            self.assertEqual(status, 200, (door, body))
            shown = [value for value in hidden if value.encode() in body]
            found[door] = "in its record" if shown else "no"
        self.compare("never leaves", found)

    def test_no_door_shows_an_erased_person(self):
        person = Person()
        self.followed()
        for door in table():
            if "on record" in table()[door]["with `open`"] and door != "login history":
                self.assertIn(person.mail.encode(), Doors(person, open=True).ask(door)[1], door)
        call("POST", f"{urd.realm}/accounts/{person.id}/erase")
        self.followed()
        found = {}
        for door in table():
            asks_open = table()[door]["with `open`"] == "on record"
            status, body = Doors(person, open=asks_open).ask(door)
            self.assertIn(status, (200, 404), (door, body))
            found[door] = "shown" if person.mail.encode() in body else "nothing"
        self.compare("an erased person", found)

    def test_no_door_opens_to_a_key_of_another_realm(self):
        key = call("POST", "/api/admin/keys", {
            "name": "elsewhere", "realms": ["elsewhere"],
            "permissions": ["events.read", "events.open", "audit.read", "history.read"]})["key"]
        other = Analyst(urd, "elsewhere")
        stranger = Person("/api/admin/realms/elsewhere")
        found = {}
        for door in table():
            if door == "SQL":
                rows = "\n".join(
                    other.ask(f"select to_json(r) from analyst.{view} r")
                    for view in ("events_v1", "accounts_v1", "admin_acts_v1"))
                eventually(lambda: stranger.id in other.ask(
                    "select string_agg(account::text, ' ') from accounts_v1"), "its own realm")
                found[door] = "rows" if self.person.id in rows else "no rows"
                continue
            status, body = Doors(self.person, key=key).ask(door)
            self.assertNotIn(self.person.id.encode(), body)
            found[door] = str(status)
        self.compare("a key of another realm", found)

    def test_z_no_door_steps_over_a_hole_in_the_log(self):
        """An event in the middle of the person's stream is taken away."""
        self.assert_holes_are_noticed(
            {door: cells["a hole in the log"] for door, cells in table().items()}, 1)

    def test_z_states_miss_the_last_event_of_a_stream(self):
        self.assert_holes_are_noticed(
            dict.fromkeys(("state of an account", "difference", "case file"), "log-damaged"), 0)

    def assert_holes_are_noticed(self, told, later):
        """What each door says of an event of a person that was taken away, behind which others come or none."""
        person = Person()
        for _ in range(later):
            call("POST", f"{urd.realm}/accounts/{person.id}/disable")
        self.followed()
        name = urd.values["URD_REALM"]
        hole = int(urd.sql(
            f"select max(position) from urd.event where realm = '{name}' and type = 'account.enabled' "
            f"and stream = '{person.id}'"))
        row = f"where realm = '{name}' and position = {hole}"
        found = {}
        for door in told:
            # A sealer that reads its tree again just then halts, until it looks again.
            for _ in range(4):
                urd.sealed(name)
                urd.sql(f"create table public.hole as select * from urd.event {row}")
                urd.sql(f"delete from urd.event {row}")
                try:
                    found[door] = self.at_the_hole(door, person, hole)
                finally:
                    urd.sql("insert into urd.event select * from public.hole; drop table public.hole")
                if found[door] != "not sealed":
                    break
        self.assertEqual(told, found)
        for door in told:
            status, body = Doors(person).ask(door)
            self.assertEqual((status, body is None), (200, False), door)

    def at_the_hole(self, door, person, hole):
        status, body = Doors(person).ask(door)
        if body is None:
            return "breaks off"
        # A case file ends so where a checkpoint is late: then it says nothing of the hole.
        if b'"fault": "not_sealed"' in body:
            return "not sealed"
        # How far a list is, is no event's position.
        events = re.sub(rb'"next": ?[^,]+, ?"position": ?\d+', b"", body)
        positions = [int(found) for found in re.findall(rb'"position": ?(\d+)', events)]
        if re.search(rb"log[-_]damaged", body):
            if positions and status == 200 or door == "list of events":
                self.assertEqual(max(positions), hole - 1, door)
                return "ends before it, log-damaged"
            return "log-damaged"
        self.assertEqual(status, 200, (door, body[:300]))
        return "what is known"


if __name__ == "__main__":
    unittest.main()
