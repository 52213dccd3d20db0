"""Where sign-ins come from: databases of addresses that the operator brings, read anew when they are replaced; what is recorded,
shown, found and erased."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import uuid

from phone import Phone
from phone import code as mailed_code
from phone import inbox
from token_tool import missing, rerun
from urd_process import PATIENCE, Server, Urd, eventually

MISSING = missing("netaddr")
if not MISSING:
    import places

ROOT = pathlib.Path(__file__).resolve().parents[2]


def setUpModule():
    global urd, server, folder, city, system
    folder = tempfile.TemporaryDirectory(prefix="urd-places-", dir="/tmp")
    os.chmod(folder.name, 0o755)
    city, system = os.path.join(folder.name, "city.mmdb"), os.path.join(folder.name, "asn.mmdb")
    places.replace(city, places.city_bytes(city))
    places.replace(system, places.system_bytes(system))
    urd = Urd(lawful=True)
    call("PATCH", "/settings", {"rate_limits": {
        "native-otp": {"source": None, "sign-ups": None}, "oauth-token": {"source": None}}})
    server = Server(
        urd.values, URD_TRUSTED_PROXIES="127.0.0.1", URD_GEO_DATABASE=f"{city},{system}").ready()
    eventually(lambda: len(read()) == 2, "both databases are read")


def tearDownModule():
    server.close()
    urd.close()
    folder.cleanup()


def call(method, path, body=None):
    status, answer, _ = urd.api.call(method, urd.realm + path, body)
    assert status < 300, (method, path, status, answer)
    return answer


def read():
    return server.lines("geo.database_read")


def refused():
    return server.lines("geo.database_refused")


class Somebody:
    """A person with an account, who signs in from anywhere: behind a proxy that is believed."""

    def __init__(self):
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"
        self.account = call("POST", "/accounts", {"email": self.email, "confirmed": True})["id"]
        self.phone = Phone(urd, url=server.url)

    def sign_in(self, address):
        before = len(inbox(urd, self.email))
        status, body, _ = self.phone.call(
            "POST", "/api/account/native/otp/request", {"Email": self.email},
            X_Forwarded_For=address)
        assert status == 200, body
        status, body = self.redeem(mailed_code(urd, self.email, before), address)
        assert status == 200, body
        return self.last("signed_in")

    def fail(self, address):
        assert self.redeem("000000", address)[0] == 400
        return self.last("refused")

    def redeem(self, code, address):
        form = {"grant_type": "urn:cocoar:otp", "client_id": "demo-native",
                "username": self.email, "otp_code": code, "scope": "openid"}
        return self.phone.call("POST", "/connect/token", form=form, X_Forwarded_For=address)[:2]

    def last(self, outcome):
        found = self.history(f"outcome={outcome}")
        count = len(getattr(self, outcome, []))
        eventually(lambda: len(self.history(f"outcome={outcome}")) > count, "the history follows")
        found = self.history(f"outcome={outcome}")
        setattr(self, outcome, found)
        return found[0]

    def history(self, query=""):
        return call("GET", f"/accounts/{self.account}/login-history?{query}")["items"]


def place(login):
    return {name: login[name] for name in ("country", "asn", "area") if name in login}


IN_ZURICH = {"country": "CH", "asn": 3303, "area": "N47E008"}
IN_NEW_YORK = {"country": "US", "area": "N40W075"}


class TestPlaces(unittest.TestCase):
    def test_both_outcomes_say_where_from_wherever_sign_ins_are_shown(self):
        ann = Somebody()
        self.assertEqual(place(ann.fail(places.IN_ZURICH)), IN_ZURICH)
        good = ann.sign_in(places.IN_ZURICH)
        self.assertEqual(place(good), IN_ZURICH)
        self.assertNotIn("city", good)
        opened = ann.history("open=true&open_reason=Incident")[0]
        self.assertEqual((opened["city"], opened["coordinates"]), ("Zurich", "47.3769,8.5417"))
        self.assertEqual(opened["address"], places.IN_ZURICH)
        # Flat fields, filters, counts.
        event = call("GET", f"/events/{good['position']}")
        self.assertEqual(place(event["data"]), IN_ZURICH)
        self.assertNotIn("city", json.dumps(event["data"]))
        self.assertEqual(len(ann.history("filter=country+eq+%22CH%22+and+asn+eq+3303")), 2)
        self.assertEqual(ann.history("country=FR"), [])
        self.assertEqual(len(ann.history("asn=3303")), 2)
        self.assertEqual(ann.history("asn=3304"), [])
        counts = call("GET", "/login-history/counts?group_by=country")["items"]
        self.assertIn("CH", [count.get("value") for count in counts])
        # OCSF.
        status, exported = server.ask(
            f"{urd.realm}/export?format=ocsf&from={good['position']}&to={good['position']}", urd.key)
        self.assertEqual(status, 200, exported)
        record = json.loads(exported.splitlines()[0])
        self.assertEqual(record["src_endpoint"]["location"], {"country": "CH"})
        self.assertEqual(record["src_endpoint"]["autonomous_system"], {"number": 3303})
        # SQL.
        row = urd.sql(
            "select country, asn, area from urd.login_history where realm = 'demo' and position = "
            + str(good["position"]))
        self.assertEqual(row, "CH|3303|N47E008")
        columns = urd.sql(
            "select string_agg(column_name, ' ') from information_schema.columns where "
            "table_schema = 'analyst' and table_name = 'sign_ins_v1'").split()
        self.assertTrue({"country", "asn", "area"} <= set(columns), columns)
        self.assertFalse({"city", "coordinates"} & set(columns))

    def test_what_is_not_public_or_not_known_has_no_place(self):
        ann = Somebody()
        for address in places.PRIVATE + [places.NOWHERE]:
            self.assertEqual(place(ann.fail(address)), {}, address)
        self.assertEqual(place(ann.sign_in("10.9.9.9")), {})
        # What stands for an IPv4 address is that one.
        self.assertEqual(place(ann.fail("::ffff:" + places.IN_ZURICH)), IN_ZURICH)
        self.assertEqual(place(ann.fail("2001:4860::1")), IN_NEW_YORK)

    def test_a_realm_may_record_none(self):
        ann = Somebody()
        call("PATCH", "/settings", {"record_places": False})
        self.addCleanup(lambda: call("PATCH", "/settings", {"record_places": True}))
        eventually(lambda: place(ann.fail(places.IN_ZURICH)) == {}, "the setting is known")

    def test_a_replaced_file_is_read_anew_and_a_broken_one_is_not(self):
        ann = Somebody()
        before = ann.sign_in(places.IN_ZURICH)
        whole = places.city_bytes(city)
        self.addCleanup(lambda: self.put(whole))
        # Moved to Berlin.
        moved = places.city_bytes(city, **{"81.2.69.0/24": places.BERLIN})
        self.put(moved)
        self.assertEqual(ann.sign_in(places.IN_ZURICH)["country"], "DE")
        # Half a file, a file that is cut off beneath the server, none, another one.
        known = len(refused())
        places.replace(city, moved[:len(moved) // 2])
        eventually(lambda: len(refused()) > known, "half a file is refused")
        self.assertTrue(refused()[-1]["in_use"], refused()[-1])
        self.assertEqual(ann.sign_in(places.IN_ZURICH)["country"], "DE")
        doctor = urd.command("doctor", URD_GEO_DATABASE=f"{city},{system}")
        words = " ".join(doctor.stdout.split())
        self.assertIn("only a part of one", words)
        self.assertIn("Test-ASN", words)
        self.put(moved)
        known = len(refused())
        os.truncate(city, 100)
        eventually(lambda: len(refused()) > known, "what was cut off is refused")
        self.assertEqual(ann.sign_in(places.IN_ZURICH)["country"], "DE")
        known = len(refused())
        os.remove(city)
        eventually(lambda: len(refused()) > known, "its absence is told")
        self.assertEqual(ann.sign_in(places.IN_ZURICH)["country"], "DE")
        self.assertEqual(server.process.poll(), None)
        # What is on record stays as it was, also where a read model is built anew.
        self.put(whole)
        rows = [(login["position"], place(login)) for login in ann.history()]
        self.assertEqual(rows[-1], (before["position"], IN_ZURICH))
        self.assertEqual({one.get("country") for _, one in rows}, {"CH", "DE"})
        done = urd.command("projections", "rebuild", "login_history")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        eventually(lambda: [(login["position"], place(login)) for login in ann.history()] == rows,
                   "the same rows")
        metrics = server.ask("/metrics", private=True)[1]
        self.assertIn("urd_geo_database_built_timestamp_seconds{path=\"" + city, metrics)
        self.assertRegex(metrics, r"urd_geo_database_refused_total [3-9]")

    def put(self, data):
        known = len(read())
        places.replace(city, data)
        eventually(lambda: len(read()) > known, "the new one is read")

    def test_what_is_closer_than_a_square_is_erased_with_the_person(self):
        ann = Somebody()
        ann.fail(places.IN_ZURICH)
        ann.sign_in(places.IN_ZURICH)
        self.assertTrue(all("city" in login for login in ann.history("open=true&open_reason=Incident")))
        call("POST", f"/accounts/{ann.account}/erase")
        left = ann.history("open=true&open_reason=Incident")
        self.assertEqual(len(left), 2)
        for login in left:
            self.assertEqual(place(login), IN_ZURICH)
            self.assertFalse({"city", "coordinates", "address"} & set(login), login)

    def test_two_countries_and_a_journey_that_nobody_makes_are_found(self):
        ann, slow = Somebody(), Somebody()
        first = ann.sign_in(places.IN_ZURICH)["position"]
        second = ann.sign_in(places.IN_NEW_YORK)["position"]
        slow.sign_in(places.IN_ZURICH)
        slow.sign_in(places.IN_ZURICH)

        def found(account, rule):
            return call("GET", f"/findings?account={account}&rule={rule}")["items"]

        for rule in ("several_countries", "impossible_travel"):
            eventually(lambda: found(ann.account, rule), f"{rule} is raised")
            finding = found(ann.account, rule)[0]
            self.assertEqual(finding["positions"], [first, second])
            self.assertEqual(finding["places"], ["CH N47E008", "US N40W075"])
            self.assertIn("CH N47E008", finding["message"])
            self.assertIn("US N40W075", finding["message"])
            self.assertEqual(found(slow.account, rule), [])
        self.assertEqual(finding["counts"]["distance"], 6222)
        # Erased, the account keeps its findings.
        call("POST", f"/accounts/{ann.account}/erase")
        self.assertEqual(len(found(ann.account, "impossible_travel")), 1)
        row = urd.sql(
            "select array_to_string(places, ', ') from urd.findings where realm = 'demo' and "
            f"rule = 'impossible_travel' and account = '{ann.account}'")
        self.assertEqual(row, "CH N47E008, US N40W075")


class TestPage(unittest.TestCase):
    page = (ROOT / "docs/analysts/place.md").read_text()

    def test_every_command_of_the_page_works(self):
        Somebody().sign_in(places.IN_NEW_YORK)
        blocks = re.findall(r"```sh\n(.*?)```", self.page, re.S)
        self.assertEqual(len(blocks), 1)
        with tempfile.TemporaryDirectory(prefix="urd-page-", dir="/tmp") as desk:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(desk, ".build"))
            result = subprocess.run(
                ["bash", "-ec", "\n".join(blocks)], cwd=desk, text=True, timeout=PATIENCE,
                env={**os.environ, "URD_GEO_DATABASE": city},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout)
        for word in ("Test-City", "N40W075", "US"):
            self.assertIn(word, result.stdout)

    def test_the_setting_of_the_realm_is_set_as_the_page_says(self):
        command = re.search(r"`urd (realm set demo --record-places false)`", self.page)[1]
        for words in (command, command.replace("false", "true")):
            done = urd.command(
                *words.split(), URD_URL=urd.values["URD_URL"], URD_ADMIN_KEY=urd.key)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def load_tests(loader, standard, pattern):
    return rerun(__file__) if MISSING else standard


if __name__ == "__main__":
    unittest.main()
