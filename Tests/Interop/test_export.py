"""Exports of a realm's events, read by what reads them elsewhere: csv and hashlib of Python, the schemas of OCSF 1.8, the
CloudEvents SDK, and DuckDB, which makes Parquet of them."""

import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import pinned
import test_case_files
from test_case_files import call, raw as raw_of
from token_tool import missing, rerun
from urd_process import PATIENCE, Urd, eventually, together

pinned.use()
MISSING = missing("jsonschema", "ocsf_json_schema", "cloudevents", "duckdb")
if not MISSING:
    import duckdb
    import jsonschema
    from cloudevents.core.formats.json import JSONFormat
    from cloudevents.core.v1.event import CloudEvent
    from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

ROOT = pathlib.Path(__file__).resolve().parents[2]
END = "urd.export_end"
FORMULA = "=cmd|' /C calc'!A0"


def setUpModule():
    global urd
    urd = test_case_files.urd = Urd()
    for number in range(6):
        id = call("POST", urd.realm + "/accounts", {
            "email": f"p{number}@example.org", "first_name": "Ann", "confirmed": True})["id"]
        call("POST", f"{urd.realm}/accounts/{id}/disable")
    call("PATCH", urd.realm + "/settings", {"roles": {"https://a.example": {"admin": []}}})
    call("PUT", f"{urd.realm}/accounts/{id}/roles", {"roles": {"https://a.example": ["admin"]}})
    call("POST", urd.clients, {
        "client_name": FORMULA, "redirect_uris": ["https://shop.example/back"]})


def tearDownModule():
    urd.close()


def exported(query="", key=None):
    status, body = raw_of(f"{urd.realm}/export{query}", key)
    assert status == 200, (status, body)
    return body


def listed():
    events, after = [], ""
    while True:
        page = call("GET", f"{urd.realm}/events?limit=1000{after}")
        events += page["items"]
        if not page["more"]:
            return events
        after = f"&after={page['next']}"


def split(body):
    """The lines, the footer's data, and the bytes before the footer."""
    lines = body.splitlines(keepends=True)
    return [json.loads(line) for line in lines[:-1]], json.loads(lines[-1]), b"".join(lines[:-1])


class LineTests(unittest.TestCase):
    def test_lines_are_the_events_of_the_list_and_the_footer_says_so(self):
        events, footer, before = split(exported())
        known = listed()
        self.assertEqual([e["id"] for e in events], [e["id"] for e in known[:len(events)]])
        self.assertEqual(events, known[:len(events)])
        self.assertEqual(footer["type"], END)
        data = footer["data"]
        self.assertEqual(data["sha256"], hashlib.sha256(before).hexdigest())
        self.assertEqual((data["count"], data["from"], data["to"]),
                         (len(events), 1, events[-1]["position"]))
        self.assertIn(f"urd/{urd.values['URD_REALM']}\n", data["checkpoint"])

    def test_an_export_goes_on_behind_any_of_its_lines(self):
        whole, _, _ = split(exported("?to=20"))
        for place in (1, 7, 19):
            rest, footer, _ = split(exported(f"?to=20&after={whole[place - 1]['cursor']}"))
            self.assertEqual(rest, whole[place:])
            self.assertEqual(footer["data"]["cursor"], whole[-1]["cursor"])
        nothing, footer, _ = split(exported(f"?to=20&after={whole[-1]['cursor']}"))
        self.assertEqual((nothing, footer["data"]["count"]), ([], 0))

    def test_positions_times_and_types_bound_an_export(self):
        events, footer, _ = split(exported("?from=5&to=9"))
        self.assertEqual([e["position"] for e in events], [5, 6, 7, 8, 9])
        events, footer, _ = split(exported("?type=account.*&not_type=account.disabled"))
        self.assertEqual({e["type"] for e in events},
                         {e["type"] for e in listed() if e["type"].startswith("account.")}
                         - {"account.disabled"})
        events, footer, _ = split(exported("?from=2099-01-01"))
        self.assertEqual(events, [])
        call("GET", urd.realm + "/export?to=99999999", expected=409)
        call("GET", urd.realm + "/export?after=1:99999999", expected=400)
        call("GET", urd.realm + "/export?format=xml", expected=400)

    def test_a_hole_ends_an_export_without_its_last_line(self):
        call("POST", "/api/admin/realms", {"realm": "holed", "display_name": "Holed"})
        for number in range(3):
            call("POST", "/api/admin/realms/holed/accounts", {
                "email": f"p{number}@example.org", "first_name": "Ann", "confirmed": True})
        path = "/api/admin/realms/holed/export"
        self.assertIn(END.encode(), raw_of(path)[1])
        urd.sql("delete from urd.event where realm = 'holed' and position = 3")
        status, body = raw_of(path)
        self.assertEqual(status, 200)
        self.assertTrue(body is None or END.encode() not in body)

    def test_rights(self):
        key = call("POST", "/api/admin/keys", {
            "name": "audit", "permissions": ["audit.read"]})["key"]
        call("GET", urd.realm + "/export", expected=403, key=key)
        call("GET", "/api/admin/realms/nowhere/export", expected=404)

    def test_nothing_personal_or_secret_leaves(self):
        for name in ("ndjson", "csv", "ocsf", "cloudevents"):
            body = exported(f"?format={name}")
            self.assertNotIn(b"@example.org", body)
            self.assertNotIn(b"secret_digest", body)


class LongTests(unittest.TestCase):
    """More events than are read at once, several times over."""

    PAGE = 500

    @classmethod
    def setUpClass(cls):
        cls.realm = "/api/admin/realms/long"
        call("POST", "/api/admin/realms", {"realm": "long", "display_name": "Long"})
        ids = [call("POST", cls.realm + "/accounts", {"email": f"p{number}@example.org"})["id"]
               for number in range(8)]

        def toggle(number):
            for turn in range(320):
                word = ("disable", "enable")[turn % 2]
                call("POST", f"{cls.realm}/accounts/{ids[number]}/{word}")
        for result in together(len(ids), toggle):
            assert result is None, result
        cls.head = int(urd.sql("select position from urd.realm_log where realm = 'long'"))
        assert cls.head > 5 * cls.PAGE, cls.head

    def whole(self, query):
        status, body = raw_of(f"{self.realm}/export?to={self.head}{query}")
        self.assertEqual(status, 200)
        return split(body)

    def test_an_export_of_many_pages_is_whole_and_in_order(self):
        for query in ("", "&after=1:777"):
            events, footer, before = self.whole(query)
            first = 1 if not query else 778
            self.assertEqual([e["position"] for e in events], list(range(first, self.head + 1)))
            data = footer["data"]
            self.assertEqual((data["count"], data["from"], data["to"]),
                             (len(events), first, self.head))
            self.assertEqual(data["sha256"], hashlib.sha256(before).hexdigest())
            known = dict(line.split() for line in urd.sql(
                "select position || ' ' || encode(leaf, 'hex') from urd.event where realm = 'long'"
            ).splitlines())
            for event in events:
                leaf = base64.urlsafe_b64decode(event["leaf"] + "=").hex()
                self.assertEqual(leaf, known[str(event["position"])])

    def test_a_filtered_export_of_many_pages_has_what_the_filter_wants(self):
        events, footer, _ = self.whole("&type=account.disabled")
        known = urd.sql("select string_agg(position::text, ' ' order by position) from urd.event "
                        "where realm = 'long' and type = 'account.disabled'").split()
        self.assertEqual([str(e["position"]) for e in events], known)
        self.assertEqual(footer["data"]["count"], 8 * 160)

    def test_z_a_hole_in_a_later_page_ends_an_export_without_its_last_line(self):
        hole = 3 * self.PAGE + 7
        urd.sql(f"delete from urd.event where realm = 'long' and position = {hole}")
        status, body = raw_of(f"{self.realm}/export?to={self.head}")
        self.assertEqual(status, 200)
        self.assertTrue(body is None or END.encode() not in body)
        # What lies before it is whole.
        status, body = raw_of(f"{self.realm}/export?to={hole - 1}")
        self.assertEqual(split(body)[1]["data"]["count"], hole - 1)


class FormatTests(unittest.TestCase):
    def test_csv_is_read_back_and_no_cell_is_a_formula(self):
        text = exported("?format=csv").decode()
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        footer = rows.pop()
        known = {e["id"]: e for e in listed()}
        for row in rows:
            event = known[row["id"]]
            self.assertEqual(json.loads(row["data"]), event["data"])
            self.assertEqual((row["type"], int(row["version"])), (event["type"], event["version"]))
            for cell in row.values():
                self.assertNotRegex(cell, r"^[=+\-@]")
        self.assertEqual(footer["type"], END)
        self.assertEqual(json.loads(footer["data"])["count"], len(rows))
        self.assertTrue(text.endswith("\r\n"))

    def test_records_keep_to_the_schemas_of_ocsf(self):
        schemas = OcsfJsonSchemaEmbedded(get_ocsf_schema(version="1.8.0"))
        records, footer, _ = split(exported("?format=ocsf"))
        self.assertGreater(len(records), 10)
        validators = {}
        for record in [*records, footer]:
            kind = record["class_uid"]
            if kind not in validators:
                name = schemas.lookup_class_name_from_uid(class_uid=kind)
                validators[kind] = jsonschema.Draft202012Validator(
                    schemas.get_class_schema(class_name=name, profiles=[]))
            errors = [e.message for e in validators[kind].iter_errors(record)]
            self.assertEqual(errors, [], record)
        self.assertEqual(footer["unmapped"]["data"]["count"], len(listed()))

    def test_an_ocsf_record_knows_whose_session_it_is_and_which_roles_are_new(self):
        records, _, _ = split(exported("?format=ocsf&type=account.roles_changed"))
        self.assertEqual([r["privileges"] for r in records], [["https://a.example#admin"]])

    def test_cloudevents_are_read_by_the_sdk(self):
        body = exported("?format=cloudevents")
        known = {e["id"]: e for e in listed()}
        lines = body.splitlines()
        for line in lines[:-1]:
            event = JSONFormat().read(CloudEvent, line)
            self.assertEqual(event.get_data(), known[event.get_id()]["data"])
            self.assertEqual(event.get_extension("urdcursor"), known[event.get_id()]["cursor"])
        footer = JSONFormat().read(CloudEvent, lines[-1])
        self.assertEqual(footer.get_type(), "dev.urd." + END)
        self.assertEqual(footer.get_data()["count"], len(lines) - 1)


class CommandTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="urd-export-", dir="/tmp")
        self.addCleanup(lambda: subprocess.run(["rm", "-r", self.folder], check=True))

    def follow(self, form="ndjson"):
        names = ("DATABASE_URL", "DATABASE_OWNER_URL", "MASTER_KEY_FILE", "CHECKPOINT_DIRECTORY")
        settings = {f"URD_{name}": urd.values[f"URD_{name}"] for name in names}
        process = subprocess.Popen(
            [ROOT / ".build/debug/urd", "export", "--realm", urd.values["URD_REALM"], "--follow",
             "--rotate", "1s", "--dir", self.folder, "--format", form],
            env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stderr.close()))
        return process

    def files(self):
        return sorted(name for name in os.listdir(self.folder) if name.endswith(".ndjson"))

    def positions(self):
        positions = []
        for name in self.files():
            events, footer, before = split(
                (pathlib.Path(self.folder) / name).read_bytes())
            self.assertEqual(footer["data"]["sha256"], hashlib.sha256(before).hexdigest())
            positions += [e["position"] for e in events]
        return positions

    def test_files_follow_one_another_without_a_gap_also_through_kills(self):
        process = self.follow()
        eventually(lambda: self.files(), "a first file")
        for turn in range(6):
            number = listed()[-1]["position"]
            call("POST", urd.realm + "/accounts", {
                "email": f"t{time.monotonic_ns()}@example.org", "first_name": "T",
                "confirmed": True})
            # Killed at another moment each time.
            time.sleep(0.35 * turn)
            process.send_signal(signal.SIGKILL)
            process.wait()
            process = self.follow()
        last = listed()[-1]["position"]
        eventually(lambda: self.positions()[-1:] == [last], "the last event in a file")
        self.assertEqual(self.positions(), list(range(1, last + 1)))
        eventually(lambda: all(
            os.path.exists(os.path.join(self.folder, name + ".sha256")) for name in self.files()),
            "a sum beside each file")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
        check = subprocess.run(
            ["bash", "-c", "sha256sum --check --strict *.sha256"], cwd=self.folder,
            capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.assertFalse([n for n in os.listdir(self.folder) if n.endswith(".part")])

    def test_an_export_goes_on_where_its_files_were_taken_away(self):
        process = self.follow()
        eventually(lambda: os.path.exists(os.path.join(
            self.folder, f".{urd.values['URD_REALM']}.ndjson.cursor")), "a kept cursor")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
        last = self.positions()[-1]
        for name in self.files():
            os.unlink(os.path.join(self.folder, name))
        call("POST", urd.realm + "/accounts", {
            "email": f"t{time.monotonic_ns()}@example.org", "first_name": "T", "confirmed": True})
        self.follow()
        eventually(lambda: self.files(), "the next file")
        self.assertEqual(self.positions()[0], last + 1)

    def test_a_folder_has_files_of_one_format(self):
        process = self.follow()
        eventually(lambda: self.files(), "a file")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
        before = self.files()
        other = self.follow("cloudevents")
        self.assertEqual(other.wait(timeout=PATIENCE), 1)
        self.assertIn(b"holds an export of --format ndjson", other.stderr.read())
        self.assertEqual(self.files(), before)

    def test_a_file_is_written_whole_or_not_at_all(self):
        out = os.path.join(self.folder, "events.ndjson")
        answer = urd.command(
            "export", "--realm", urd.values["URD_REALM"], "--out", out, "--to", "20")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(len(split(pathlib.Path(out).read_bytes())[0]), 20)
        self.assertIn(hashlib.sha256(pathlib.Path(out).read_bytes()).hexdigest(), answer.stdout)
        full = urd.command("export", "--realm", urd.values["URD_REALM"], "--out", "/dev/full/x")
        self.assertNotEqual(full.returncode, 0)


class PageTests(unittest.TestCase):
    """The commands of docs/analysts/export.md, run as they stand: DuckDB makes Parquet and reads it."""

    def test_every_command_of_the_page_works(self):
        page = (ROOT / "docs" / "analysts" / "export.md").read_text()
        blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
        self.assertEqual(len(blocks), 3)
        with tempfile.TemporaryDirectory(prefix="urd-page-", dir="/tmp") as desk:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(desk, ".build"))
            result = subprocess.run(
                ["bash", "-ec", "\n".join(blocks)], cwd=desk, text=True, timeout=PATIENCE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(result.returncode, 0, result.stdout)
            count = duckdb.sql(
                f"select count(*), max(version) from '{desk}/events.parquet'").fetchall()[0]
            lines = pathlib.Path(desk, "events.ndjson").read_text().splitlines()
            self.assertEqual(count[0], len(lines) - 1)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main()
