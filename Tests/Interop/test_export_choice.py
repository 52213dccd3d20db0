"""Exports that a filter chooses events for, and exports and case files that come compressed: read by curl and Python's gzip,
resumed, and cut."""

import gzip
import hashlib
import http.client
import json
import socket
import subprocess
import unittest
import urllib.parse
import zlib

import test_case_files
from test_case_files import ask, call, raw, ready
from test_export import END, split
from urd_process import PATIENCE, Urd, eventually

PREDICATES = {
    'type sw "account."': lambda e: e["type"].startswith("account."),
    'actor sw "admin:" and not (type eq "account.disabled")':
        lambda e: e["actor"].startswith("admin:") and e["type"] != "account.disabled",
    'position gt 10 and position le 30 or type eq "client.registered"':
        lambda e: 10 < e["position"] <= 30 or e["type"] == "client.registered",
    'type in ["account.enabled", "account.disabled"]':
        lambda e: e["type"] in ("account.enabled", "account.disabled"),
}


def setUpModule():
    global urd, ann, ben
    urd = test_case_files.urd = Urd()
    ann, ben = person("ann"), person("ben")
    for number in range(60):
        call("POST", urd.clients, {
            "client_name": f"Shop {number}", "redirect_uris": ["https://shop.example/back"]})


def tearDownModule():
    urd.close()


def person(name):
    id = call("POST", urd.realm + "/accounts", {
        "email": f"{name}@example.org", "first_name": name.title(), "confirmed": True})["id"]
    for turn in range(10):
        call("POST", f"{urd.realm}/accounts/{id}/{['disable', 'enable'][turn % 2]}")
    return id


def exported(query=""):
    status, body = raw(f"{urd.realm}/export{query}")
    assert status == 200, (status, body)
    return body


def chosen(text, more=""):
    return split(exported(f"?filter={urllib.parse.quote(text)}{more}"))


def answer(path, coding):
    """The head of an answer and its body as it came over the wire, without its chunks; and whether it was whole."""
    place = urllib.parse.urlsplit(urd.values["URD_URL"])
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {urd.key}"}
    if coding is not None:
        headers["Accept-Encoding"] = coding
    try:
        connection.putrequest("GET", path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        got = connection.getresponse()
        return got.headers, got.read()
    finally:
        connection.close()


class FilterTests(unittest.TestCase):
    def test_lines_are_those_that_meet_the_filter_and_the_last_line_says_so(self):
        everything, footer, _ = split(exported())
        self.assertEqual((footer["data"]["filtered"], "filter" in footer["data"]), (False, False))
        for text, holds in PREDICATES.items():
            wanted = [e for e in everything if holds(e)]
            self.assertGreater(len(everything), len(wanted))
            self.assertGreater(len(wanted), 3, text)
            events, footer, before = chosen(text)
            self.assertEqual([e for e in events if e["position"] <= everything[-1]["position"]], wanted, text)
            data = footer["data"]
            self.assertEqual((data["filtered"], data["filter"], data["count"]), (True, text, len(events)))
            self.assertEqual(data["sha256"], hashlib.sha256(before).hexdigest())
        _, footer, _ = split(exported("?type=account.*"))
        self.assertTrue(footer["data"]["filtered"])

    def test_whom_events_are_about_is_asked_of_the_index(self):
        about = [e["position"] for e in call(
            "GET", f"{urd.realm}/events?limit=1000&account={ann}&min_position={urd.head()}")["items"]]
        self.assertGreater(len(about), 10)
        for text in (f'account eq "{ann}"', 'mail eq "ann@example.org"'):
            events, footer, _ = chosen(text)
            self.assertLessEqual(set(about), {e["position"] for e in events}, text)
            self.assertNotIn(ben, {e["stream"] for e in events}, text)
            # No address stands in a file.
            if text.startswith("mail"):
                self.assertNotIn("ann@example.org", json.dumps(footer))
                again, _, _ = chosen(footer["data"]["filter"])
                self.assertEqual(len(again), len(events), footer["data"]["filter"])
            else:
                self.assertEqual(footer["data"]["filter"], text)
        # With conditions of other kinds beside it: all of them hold.
        events, _, _ = chosen(f'account eq "{ann}"', "&type=account.enabled")
        self.assertEqual({(e["type"], e["stream"]) for e in events}, {("account.enabled", ann)})

    def test_it_goes_on_behind_any_line_with_the_same_filter(self):
        text = 'type sw "account."'
        whole, footer, _ = chosen(text, "&to=60")
        for place in (1, 7, len(whole) - 1):
            rest, end, _ = chosen(text, f"&to=60&after={whole[place - 1]['cursor']}")
            self.assertEqual(rest, whole[place:])
            self.assertEqual(end["data"]["cursor"], footer["data"]["cursor"])

    def test_a_filter_that_is_none_is_told_where(self):
        for text, place in (('type eq', 7), ('secret_digest eq "x"', 0)):
            told = call("GET", f"{urd.realm}/export?filter={urllib.parse.quote(text)}", expected=400)
            self.assertTrue(told["type"].endswith("invalid-filter"), told)
            self.assertEqual(told["at"], place, told)

    def test_every_form_and_the_command_take_it(self):
        text = 'type sw "client."'
        for form in ("csv", "ocsf", "cloudevents"):
            body = exported(f"?format={form}&filter={urllib.parse.quote(text)}")
            self.assertIn(b"Shop" if form == "csv" else b"client", body)
            self.assertNotIn(b"account.enabled", body)
        done = urd.command("export", "--filter", text, "--realm", urd.values["URD_REALM"])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({line["type"].split(".")[0] for line in lines[:-1]}, {"client"})
        self.assertEqual(lines[-1]["data"]["filter"], text)
        shown = urd.command(
            "events", "tail", "--filter", 'type eq "account.enabled" and stream eq "' + ann + '"', "--json",
            "--limit", "3", "--realm", urd.values["URD_REALM"])
        events = [json.loads(line) for line in shown.stdout.splitlines()]
        self.assertEqual([(e["type"], e["stream"]) for e in events], [("account.enabled", ann)] * 3)
        refused = urd.command("events", "tail", "--filter", "nothing eq 1", "--realm", urd.values["URD_REALM"])
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--filter", refused.stderr)


class GzipTests(unittest.TestCase):
    def test_python_reads_what_was_asked_for_compressed(self):
        path = f"{urd.realm}/export?to=70"
        head, plain = answer(path, None)
        self.assertEqual((head["Content-Encoding"], head["Vary"]), (None, "Accept-Encoding"))
        head, packed = answer(path, "gzip")
        self.assertEqual((head["Content-Encoding"], head["Vary"]), ("gzip", "Accept-Encoding"))
        self.assertLess(len(packed), len(plain) / 3)
        events, footer, before = split(gzip.decompress(packed))
        self.assertEqual([e["position"] for e in events], list(range(1, 71)))
        self.assertEqual(footer["data"]["sha256"], hashlib.sha256(before).hexdigest())
        self.assertEqual(before, split(plain)[2])

    def test_codings_that_are_not_wanted_are_not_used(self):
        path = f"{urd.realm}/export?to=5"
        for coding, packs in (
                ("gzip, deflate, br", True), ("br;q=1.0, gzip;q=0.8, *;q=0.1", True), ("x-gzip", True),
                ("*", True), ("GZIP", True), ("gzip;q=0", False), ("*;q=0", False), ("identity", False),
                ("deflate, br", False), ("", False), ("identity, gzip;q=0.5", False),
                ("gzip;q=nonsense", False), ("gzip;q=0.001", True)):
            head, body = answer(path, coding)
            self.assertEqual(head["Content-Encoding"] == "gzip", packs, coding)
            lines = gzip.decompress(body) if packs else body
            self.assertEqual(len(lines.splitlines()), 6, coding)

    def test_curl_reads_it(self):
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--fail", "--compressed", "-H",
             f"Authorization: Bearer {urd.key}", f"{urd.values['URD_URL']}{urd.realm}/export?to=70"],
            capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(split(done.stdout)[0]), 70)

    def test_a_stream_that_was_cut_is_noticed_and_goes_on_behind_its_last_line(self):
        packed = answer(f"{urd.realm}/export?to=100", "gzip")[1]
        for cut in (len(packed) // 3, len(packed) // 2, len(packed) - 1, len(packed) - 9):
            with self.assertRaises(EOFError):
                gzip.decompress(packed[:cut])
            lines = zlib.decompressobj(31).decompress(packed[:cut]).split(b"\n")[:-1]
            events = [json.loads(line) for line in lines if END.encode() not in line]
            if not events:
                continue
            rest, footer, _ = split(gzip.decompress(answer(
                f"{urd.realm}/export?to=100&after={events[-1]['cursor']}", "gzip")[1]))
            self.assertEqual([e["position"] for e in events + rest], list(range(1, 101)))

    def test_an_export_that_breaks_off_has_no_end(self):
        call("POST", "/api/admin/realms", {"realm": "holed", "display_name": "Holed"})
        for number in range(3):
            call("POST", "/api/admin/realms/holed/accounts", {
                "email": f"p{number}@example.org", "first_name": "Ann", "confirmed": True})
        urd.sql("delete from urd.event where realm = 'holed' and position = 3")
        with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
            answer("/api/admin/realms/holed/export", "gzip")

    def test_case_files_are_compressed_unless_something_is_opened_in_them(self):
        for opens in (False, True):
            job = ready(ask(ann, open=opens))
            head, body = answer(f"{urd.realm}/cases/{job['id']}/file", "gzip")
            if opens:
                self.assertEqual((head["Content-Encoding"], head["Vary"]), (None, None))
                self.assertIn(b"ann@example.org", body)
            else:
                self.assertEqual(head["Content-Encoding"], "gzip")
                body = gzip.decompress(body)
            holds, said = test_case_files.verified(
                body.splitlines(keepends=True), key=urd.command(
                    "log", "key", "--realm", urd.values["URD_REALM"]).stdout.strip())
            self.assertTrue(holds, said)

    def test_answers_that_are_no_export_and_no_case_file_are_not_compressed(self):
        for path in (f"{urd.realm}/events", f"{urd.realm}/accounts", f"{urd.realm}/feed?limit=1",
                     "/api/admin/openapi.json"):
            place = urllib.parse.urlsplit(urd.values["URD_URL"])
            with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as line:
                line.sendall(
                    f"GET {path} HTTP/1.1\r\nHost: urd\r\nAuthorization: Bearer {urd.key}\r\n"
                    "Accept-Encoding: gzip\r\nAccept: */*\r\n\r\n".encode())
                head = line.recv(65536).split(b"\r\n\r\n")[0].lower()
            self.assertNotIn(b"content-encoding", head, path)


if __name__ == "__main__":
    unittest.main()
