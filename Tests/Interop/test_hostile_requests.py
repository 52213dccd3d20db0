"""What strangers may send to Urd: each gets a clear refusal, and the process stays the same."""

import collections
import json
import os
import resource
import socket
import subprocess
import time
import unittest
import uuid

from urd_process import Urd, eventually, status, together

HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
GOOD = {"client_name": "Shop", "redirect_uris": ["https://shop.example/back"]}


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


class Hostile(unittest.TestCase):
    def tearDown(self):
        self.assertTrue(urd.alive(), urd.run.text())
        self.assertEqual(urd.api.call("GET", "/api/admin/realms")[0], 200)

    def send(self, method, path, *headers, **more):
        return status(urd.api.raw(urd.api.request(method, path, *headers, **more)))

    def post(self, body):
        return self.send("POST", urd.clients, body=body)


class Bodies(Hostile):
    def test_malformed_json_is_a_bad_request(self):
        for body in (
            b'{"client_name":"a","client_name":"b"}', b'{"a":1,"\\u0061":2}',
            '{"\u00e9":1,"e\u0301":2}'.encode(), b"[" * 100_000, b'{"jwks":' * 70 + b"1" + b"}" * 70,
            b'{"access_token_lifetime":1e999}', b'{"access_token_lifetime":60.0}',
            b'{"access_token_lifetime":99999999999999999999999999}',
            b'{"access_token_lifetime":-9223372036854775808}', b'{"client_name":"\\ud800"}',
            b'{"client_name":"\\udc00\\ud800"}', b'{"client_name":"a\\u0000b"}',
            b'{"client_name":"a\x00b"}', b'{"client_name":"\xc0\xaf"}',
            b'{"client_name":"\xed\xa0\x80"}', b"\xef\xbb\xbf{}", b"null", b"[]", b"{} x",
            b'{"__proto__":{}}', b'{"client_name":"a\\u202eb"}', b'{"\xe2\x84\xaa":1}',
        ):
            with self.subTest(body=body[:60]):
                self.assertEqual(self.post(body), 400)

    def test_members_that_clients_may_not_set_are_refused(self):
        for more in ({"client_secret": "abc"}, {"secret_digest": "abc"}, {"enabled": False},
                     {"client_id_issued_at": 1}, {"id": str(uuid.uuid4())}):
            with self.subTest(more=more):
                self.assertEqual(self.post(json.dumps({**GOOD, **more}).encode()), 400)

    def test_unsafe_addresses_are_refused(self):
        for address in (
            "javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
            "http://shop.example/", "https://shop.example/#f", "https://u:p@shop.example/",
            "https://shop.example\\@evil.example/", "https://shop.example/../x", "//shop.example/",
            "https:///x", "https://*.example/", "https://shop.example:99999/", "shop://x",
            "https://%61.example/", "https://shop.example/ ", "blob:https://x",
        ):
            with self.subTest(address=address):
                body = json.dumps({**GOOD, "redirect_uris": [address]}).encode()
                self.assertEqual(self.post(body), 400)

    def test_oversized_bodies_are_413_and_too_many_headers_431(self):
        self.assertEqual(self.post(b'{"client_name":"' + b"a" * 10_000_000 + b'"}'), 413)
        pieces = (b"10000\r\n" + b"a" * 65536 + b"\r\n") * 32
        chunked = urd.api.request(
            "POST", urd.clients, "Transfer-Encoding: chunked", "Content-Type: application/json")
        self.assertEqual(status(urd.api.raw(chunked + pieces + b"0\r\n\r\n")), 413)
        self.assertEqual(self.send("GET", urd.clients, "X-A: " + "a" * 33_000), 431)
        self.assertEqual(
            self.send("GET", urd.clients, *(f"X-{number}: a" for number in range(3000))), 431)
        self.assertEqual(self.send("GET", "/" + "a" * 40_000), 431)


class Framing(Hostile):
    def test_an_ambiguous_content_length_is_refused(self):
        for headers, body in (
            (("Content-Length: 2", "Transfer-Encoding: chunked"), b"0\r\n\r\n"),
            (("Content-Length: 2", "Content-Length: 3"), b"{}"), (("Content-Length: -1",), b""),
            (("Content-Length: +2",), b"{}"), (("Content-Length: 2, 2",), b"{}"),
            (("Transfer-Encoding: chunked",), b"ZZ\r\n{}\r\n0\r\n\r\n"),
        ):
            with self.subTest(headers=headers):
                head = urd.api.request(
                    "POST", urd.clients, "Content-Type: application/json", *headers)
                self.assertEqual(status(urd.api.raw(head + body)), 400)
        for headers in (("Content-Length: 18446744073709551617",),
                        ("Transfer-Encoding: chunked",)):
            with self.subTest(headers=headers):
                head = urd.api.request("POST", urd.clients, *headers)
                self.assertEqual(status(urd.api.raw(head + b"ffffffffffffffffff\r\n{}")), 413)

    def test_a_malformed_request_head_is_refused(self):
        for head in (
            b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nX-A : b\r\nConnection: close\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\nConnection: close\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\nConnection: close\r\n\r\n",
            b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            b"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GET /\r\n\r\n",
        ):
            with self.subTest(head=head[:60]):
                self.assertIn(status(urd.api.raw(head, patience=3)), (0, 400))

    def test_pipelined_requests_are_answered_one_by_one(self):
        many = urd.api.request("GET", "/problems/busy").replace(b"Connection: close\r\n", b"")
        answer = urd.api.raw(many * 50 + urd.api.request("GET", "/"))
        self.assertEqual(answer.count(b"HTTP/1.1 200"), 51)

    def test_a_crowd_of_idle_connections_keeps_no_client_out(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (HARD, HARD))
        idle = []
        try:
            for number in range(min(9000, HARD - 200)):
                idle.append(socket.create_connection(urd.api.address, timeout=10))
            for _ in range(20):
                self.assertEqual(self.send("GET", "/api/admin/realms"), 200)
        finally:
            for connection in idle:
                connection.close()
            urd.api.close()  # ours had nothing to ask, and gave way

    def test_a_process_with_few_file_descriptors_survives_a_crowd(self):
        """The runtime ends a process that has no descriptor left (decision 0047)."""
        small = Urd(prefix=("prlimit", "--nofile=400:400"))
        idle = []
        try:
            address = small.api.address
            for _ in range(3):
                for _ in range(700):
                    idle.append(socket.create_connection(address, timeout=10))
                time.sleep(3)  # the runtime looks at its threads every second
                self.assertEqual(status(small.api.raw(
                    small.api.request("GET", "/api/admin/realms"))), 200)
                while idle:
                    idle.pop().close()
                self.assertEqual(eventually(lambda: status(small.api.raw(
                    small.api.request("GET", "/api/admin/realms"))), "an answer", 20), 200)
            self.assertTrue(small.alive(), small.run.text())
        finally:
            for connection in idle:
                connection.close()
            small.close()

    def test_a_thousand_idle_connections_keep_no_client_out(self):
        idle = []
        try:
            for number in range(1000):
                idle.append(socket.create_connection(urd.api.address, timeout=10))
                if number % 2:
                    head = urd.api.request("POST", urd.clients, "Content-Length: 1000")
                    idle[-1].sendall(head + b"{")
            self.assertEqual(self.send("GET", "/api/admin/realms"), 200)
        finally:
            for connection in idle:
                connection.close()


class Paths(Hostile):
    def test_a_path_has_one_spelling(self):
        realms = "/api/admin/realms"
        for path, expected in (
            ("/api/admin//realms", 404), ("//api/admin/realms", 404), (realms + "/", 404),
            (realms + "/demo/../demo", 404), (realms + "/demo/%2e%2e/demo", 404),
            (realms + "/..;/realms", 404), (realms + "/demo%2fclients", 400),
            (realms + "/demo;x=1", 400), (realms + "/demo%00", 400), (realms + "/%ff", 400),
            (realms + "/%", 400), (realms + "/DEMO", 400), ("/API/admin/realms", 404),
            ("/api/%61dmin/realms", 404), (realms + "#x", 400), ("/metrics", 404),
            ("/health/ready", 404),
        ):
            with self.subTest(path=path):
                self.assertEqual(self.send("GET", path), expected)

    def test_queries_are_read_strictly(self):
        for query in (
            "limit=1&limit=2", "limit=0", "limit=201", "limit=-1", "limit=1e1", "limit=01",
            "limit=99999999999999999999", "after=x", "after=", "after=%00", "foo=1", "=",
        ):
            with self.subTest(query=query):
                self.assertEqual(self.send("GET", "/api/admin/realms?" + query), 400)

    def test_methods_cannot_be_smuggled(self):
        path = f"{urd.clients}/{urd.values['URD_CLIENT_ID']}"
        self.assertEqual(
            self.send("POST", path, "X-HTTP-Method-Override: DELETE", body=b"{}"), 405)
        self.assertEqual(self.send("get", path), 501)
        self.assertEqual(self.send("GET", path), 200)


class Keys(Hostile):
    def test_every_operation_needs_a_key_with_the_right(self):
        other = urd.api.call(
            "POST", "/api/admin/realms", {"realm": "other", "display_name": "Other"})
        self.assertIn(other[0], (201, 409))
        narrow = urd.api.call(
            "POST", "/api/admin/keys", {"name": "narrow", "realms": ["demo"]})[1]["key"]
        forged = narrow[:-5] + ("AAAAA" if narrow[-5:] != "AAAAA" else "BBBBB")
        document = urd.api.call("GET", "/openapi.json")[1]
        names = {
            "realm": "other", "position": "1", "level": "0", "index": "0", "host": "a.example",
            "client_id": urd.values["URD_CLIENT_ID"], "problem": "busy",
        }
        seen = 0
        for path, operations in document["paths"].items():
            for name in ("key_id", "app_id", "subject"):
                names[name] = str(uuid.uuid4())
            place = path.replace("{", "%(").replace("}", ")s") % collections.defaultdict(
                lambda: "1", names)
            for method, operation in operations.items():
                # What a realm's host answers knows other callers.
                if not path.startswith("/api/admin/") or not operation.get("security"):
                    continue
                seen += 1
                with self.subTest(operation=operation["operationId"]):
                    self.assertEqual(self.send(method.upper(), place, key=False), 401)
                    self.assertEqual(
                        self.send(method.upper(), place, body=b"not json", key=False), 401)
                    self.assertEqual(urd.api.call(method.upper(), place, key=forged)[0], 401)
                    self.assertEqual(urd.api.call(method.upper(), place, key=narrow)[0], 403)
        self.assertGreater(seen, 30)
        self.assertEqual(urd.api.call("GET", urd.clients, key=narrow)[0], 200)

    def test_an_admin_key_has_one_place_and_one_spelling(self):
        line = f"Authorization: Bearer {urd.key}"
        for headers in (
            (line, line), (line.replace("Bearer ", "Bearer  "),), (line + "\t,x",),
            (line.upper(),), ("Authorization: Basic YTpi",),
            ("Authorization: Bearer " + "a" * 20_000,), ("X-Api-Key: " + urd.key,),
        ):
            with self.subTest(headers=headers[0][:30]):
                self.assertEqual(self.send("GET", urd.clients, *headers, key=False), 401)
        self.assertEqual(
            self.send("GET", f"{urd.clients}?access_token={urd.key}", key=False), 401)


class Races(Hostile):
    def statuses(self, results):
        for result in results:
            if isinstance(result, Exception):
                raise result
        return collections.Counter(result[0] for result in results)

    def test_a_name_claimed_at_once_goes_to_one(self):
        body = {"realm": "raced", "display_name": "Raced"}
        found = self.statuses(
            together(50, lambda _: urd.api.call("POST", "/api/admin/realms", body)))
        self.assertEqual(found, {201: 1, 409: 49})
        body = {**GOOD, "client_id": "raced"}
        found = self.statuses(together(50, lambda _: urd.api.call("POST", urd.clients, body)))
        self.assertEqual(found, {201: 1, 409: 49})

    def test_a_repeated_write_happens_once_and_gets_the_first_answer(self):
        key = str(uuid.uuid4())
        results = together(
            50, lambda _: urd.api.call("POST", urd.clients, GOOD, Idempotency_Key=key))
        self.assertEqual(self.statuses(results), {201: 50})
        self.assertEqual(len({json.dumps(result[1], sort_keys=True) for result in results}), 1)
        self.assertEqual(len({result[2]["Urd-Position"] for result in results}), 1)
        other = {**GOOD, "client_name": "Other"}
        self.assertEqual(urd.api.call("POST", urd.clients, other, Idempotency_Key=key)[0], 422)

    def test_each_simultaneous_new_secret_is_an_event(self):
        urd.api.call("POST", urd.clients, {**GOOD, "client_id": "rotated"})
        path = urd.clients + "/rotated/rotate-secret"
        results = together(20, lambda _: urd.api.call("POST", path))
        found = self.statuses(results)
        self.assertLessEqual(set(found), {200, 503})
        secrets = {result[1]["client_secret"] for result in results if result[0] == 200}
        self.assertEqual(len(secrets), found[200])
        for result in results:
            if result[0] == 503:
                self.assertIn("Retry-After", result[2])
        events = urd.sql(
            "select count(*) from urd.event e join urd.clients c on c.client = e.stream"
            " and c.realm = e.realm where c.client_id = 'rotated'"
            " and e.type = 'client.secret_rotated'")
        self.assertEqual(int(events), found[200])

    def test_nothing_is_registered_while_the_realm_is_disabled(self):
        urd.api.call(
            "POST", "/api/admin/realms", {"realm": "shut", "display_name": "Shut"})
        realm = "/api/admin/realms/shut"

        def act(number):
            if number % 2:
                return urd.api.call("POST", realm + "/clients", GOOD)
            return urd.api.call("POST", realm + ("/disable" if number % 4 else "/enable"))

        found = self.statuses(together(40, act))
        self.assertLessEqual(set(found), {200, 201, 409, 503})
        closed = False
        for kind in urd.sql(
                "select type from urd.event where realm = 'shut' order by position").split():
            closed = {"realm.disabled": True, "realm.enabled": False}.get(kind, closed)
            self.assertFalse(closed and kind == "client.registered")

    def test_a_deleted_client_stays_deleted(self):
        for turn in range(3):
            name = f"deleted-{turn}"
            urd.api.call("POST", urd.clients, {**GOOD, "client_id": name})
            found = self.statuses(together(
                20, lambda number: urd.api.call("DELETE", f"{urd.clients}/{name}") if number == 9
                else urd.api.call("PUT", f"{urd.clients}/{name}", GOOD)))
            self.assertLessEqual(set(found), {200, 204, 404, 503})
            if found[204]:
                self.assertEqual(urd.api.call("GET", f"{urd.clients}/{name}")[0], 404)


class Secrets(Hostile):
    def test_no_personal_data_and_no_secret_is_stored_readable(self):
        contact, agent = f"canary-{uuid.uuid4()}@person.example", f"Canary/{uuid.uuid4()}"
        made = urd.api.call(
            "POST", urd.clients, {**GOOD, "client_id": "canary", "contacts": [contact]},
            User_Agent=agent)
        self.assertEqual(made[0], 201)
        key = urd.api.call("POST", "/api/admin/keys", {"name": "canary"}, User_Agent=agent)[1]
        self.send("GET", f"{urd.clients}?access_token={key['key']}")
        self.send("GET", f"{urd.clients}?{contact}=1")
        self.send("GET", f"{urd.realm}/{contact}")
        path = f"{urd.clients}/canary"
        self.assertEqual(urd.api.call("GET", path)[1]["contacts"], [contact])
        with open(urd.values["URD_MASTER_KEY_FILE"]) as file:
            master = file.read().strip()
        secrets = [made[1]["client_secret"], key["key"], key["key"][-43:], master,
                   urd.key, urd.values["URD_CLIENT_SECRET"]]
        self.assert_nowhere([contact, agent, *secrets])
        subject = urd.sql(
            "select subject from urd.event where type = 'client.registered'"
            " and data ->> 'client_id' = 'canary'")
        erased = urd.api.call("POST", f"{urd.realm}/subjects/{subject}/erase")
        self.assertEqual(erased[0], 200)
        self.assertNotIn("contacts", urd.api.call("GET", path)[1])
        self.assert_nowhere([contact, agent])
        self.assertEqual(urd.command("verify").returncode, 0)

    def assert_nowhere(self, canaries):
        places = {
            "dump": subprocess.run(
                ["pg_dump", urd.superuser()], capture_output=True, text=True, check=True).stdout,
            "output": urd.run.text(),
            "metrics": urd.private("/metrics")[1],
            "events": json.dumps(urd.api.call("GET", urd.realm + "/events?limit=200")[1]),
            "trail": json.dumps(urd.api.call("GET", urd.realm + "/audit-trail?limit=200")[1]),
        }
        for canary in canaries:
            for place, text in places.items():
                self.assertNotIn(canary, text, place)
                self.assertNotIn(canary.encode().hex(), text, place)
            found = subprocess.run(
                ["grep", "-rlaF", "-e", canary, urd.run.cluster()], capture_output=True, text=True)
            self.assertEqual(found.stdout, "")


if __name__ == "__main__":
    unittest.main()
