"""The documents that describe events, under the validators of others.

Schemas of event types by python-jsonschema, against one sample of every event and against what a running
server recorded; records of OCSF by ocsf-json-schema; the AsyncAPI document by the rules of its
specification that matter to readers, as a schema of our own.
"""

import json
import pathlib
import unittest
import urllib.error
import urllib.request

import pinned
from feed_client import Feed
from phone import Phone
from token_tool import missing, rerun
from urd_process import Urd

pinned.use()
MISSING = missing("jsonschema", "ocsf_json_schema")
if not MISSING:
    import jsonschema
    from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

    DRAFT = jsonschema.Draft202012Validator

LINES = "application/x-ndjson"
TESTS = pathlib.Path(__file__).resolve().parents[1]
LIST = TESTS / "IdentityTests" / "golden" / "events.txt"
RECORDS = TESTS / "APITests" / "golden" / "ocsf.txt"
REFERENCE = {
    "type": "object", "required": ["$ref"], "additionalProperties": False,
    "properties": {"$ref": {"type": "string", "pattern": "^#/"}},
}
# What of AsyncAPI 3.0.0 this document uses. Members that are not said here are refused.
ASYNCAPI = {
    "type": "object", "additionalProperties": False,
    "required": ["asyncapi", "info", "channels", "operations", "components"],
    "properties": {
        "asyncapi": {"const": "3.0.0"},
        "defaultContentType": {"const": "application/json"},
        "info": {
            "type": "object", "required": ["title", "version"], "additionalProperties": False,
            "properties": {
                "title": {"type": "string"}, "version": {"type": "string"},
                "description": {"type": "string"},
                "license": {"type": "object", "required": ["name"]},
            },
        },
        "servers": {"type": "object", "additionalProperties": {
            "type": "object", "required": ["host", "protocol"], "additionalProperties": False,
            "properties": {
                "host": {"type": "string"}, "protocol": {"enum": ["http", "https"]},
                "description": {"type": "string"}, "variables": {"type": "object"},
            },
        }},
        "channels": {"type": "object", "minProperties": 2, "additionalProperties": {
            "type": "object", "required": ["address", "messages"], "additionalProperties": False,
            "properties": {
                "address": {"type": ["string", "null"]}, "title": {"type": "string"},
                "description": {"type": "string"}, "parameters": {"type": "object"},
                "servers": {"type": "array", "items": REFERENCE},
                "messages": {"type": "object", "additionalProperties": REFERENCE},
            },
        }},
        "operations": {"type": "object", "additionalProperties": {
            "type": "object", "required": ["action", "channel"], "additionalProperties": False,
            "properties": {
                "action": {"enum": ["send", "receive"]}, "channel": REFERENCE,
                "summary": {"type": "string"}, "security": {"type": "array", "items": REFERENCE},
                "bindings": {"type": "object", "required": ["http"]},
            },
        }},
        "components": {
            "type": "object", "additionalProperties": False,
            "properties": {
                "messages": {
                    "type": "object", "propertyNames": {"pattern": r"^[\w.-]+$"},
                    "additionalProperties": {
                        "type": "object", "required": ["name", "payload"],
                        "additionalProperties": False,
                        "properties": {
                            "name": {"type": "string"}, "title": {"type": "string"},
                            "summary": {"type": "string"}, "contentType": {"type": "string"},
                            "headers": {"type": "object", "required": ["type", "properties"]},
                            "payload": {"type": "object", "required": ["allOf"]},
                        },
                        "patternProperties": {"^x-urd-": {}},
                    },
                },
                "schemas": {
                    "type": "object", "propertyNames": {"pattern": r"^[\w.-]+$"},
                    "additionalProperties": {"type": "object", "required": ["type"]},
                },
                "securitySchemes": {"type": "object", "additionalProperties": {
                    "type": "object", "required": ["type"],
                    "properties": {"type": {"enum": ["http", "httpApiKey"]}},
                }},
            },
        },
    },
}


def setUpModule():
    global urd
    urd = Urd()


def tearDownModule():
    urd.close()


def fetch(path):
    with urllib.request.urlopen(urd.values["URD_URL"] + path, timeout=30) as answer:
        return answer.headers["Content-Type"], json.load(answer)


def schema_of(event_type, known={}):
    if event_type not in known:
        kind, schema = fetch(f"/schemas/events/{event_type}/1")
        assert kind == "application/schema+json"
        DRAFT.check_schema(schema)
        known[event_type] = DRAFT(schema, format_checker=DRAFT.FORMAT_CHECKER)
    return known[event_type]


def samples():
    """Type, fields that never leave, open fields and personal fields of one of every event."""
    shapes, written = LIST.read_text(encoding="utf-8").split("\n\n")
    hidden = {}
    for line in shapes.split("\n"):
        words = line.split(" ")
        hidden[words[0]] = {
            word.split(":")[0].rstrip("?") for word in words[3:] if ":never-leaves" in word}
    reader = json.JSONDecoder()
    for line in written.strip().split("\n"):
        name, rest = line.split(" ", 1)
        fields, end = reader.raw_decode(rest)
        personal = reader.raw_decode(rest[end:].lstrip())[0] if rest[end:].strip() else {}
        yield name, hidden[name], fields, personal


class Schemas(unittest.TestCase):
    def test_every_sample_is_valid_with_and_without_its_personal_fields(self):
        count = 0
        for name, hidden, fields, personal in samples():
            validator = schema_of(name)
            shown = {key: value for key, value in fields.items() if key not in hidden}
            opened = {key: value for key, value in personal.items() if key not in hidden}
            with self.subTest(name):
                validator.validate(shown)
                validator.validate({**shown, **opened, "$address": "192.0.2.1"})
                # What never leaves has no place in it, and nothing is missed without being said.
                for key in hidden & set(fields):
                    self.assertFalse(validator.is_valid({**shown, key: fields[key]}))
                self.assertFalse(validator.is_valid({**shown, "added": 1}))
                for key in validator.schema["required"]:
                    less = {other: value for other, value in shown.items() if other != key}
                    self.assertFalse(validator.is_valid(less), key)
            count += 1
        self.assertGreater(count, 150)

    def test_every_field_that_a_schema_requires_is_checked_for_its_type(self):
        for name, hidden, fields, _ in samples():
            validator = schema_of(name)
            shown = {key: value for key, value in fields.items() if key not in hidden}
            for key in shown:
                self.assertFalse(validator.is_valid({**shown, key: None}), f"{name}.{key}")

    def test_what_a_server_records_is_valid(self):
        Phone(urd).sign_in("ann@example.org")
        urd.api.call("POST", urd.clients, {"client_name": "C", "redirect_uris": ["https://c.example/"]})
        answer = urd.api.call("GET", f"{urd.realm}/events?limit=200")
        events = answer[1]["items"]
        self.assertGreater(len(events), 10)
        for event in events:
            with self.subTest(event["type"]):
                schema_of(event["type"]).validate(event["data"])

    def test_an_unknown_type_is_a_problem_with_the_name_that_was_meant(self):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            fetch("/schemas/events/sesion.ended/1")
        self.assertEqual(caught.exception.code, 404)
        problem = json.load(caught.exception)
        self.assertEqual(problem["type"], "/problems/no-such-event-type")
        self.assertIn("session.ended", problem["detail"])

    def test_the_envelope_is_a_valid_schema(self):
        kind, schema = fetch("/schemas/events/envelope")
        self.assertEqual(kind, "application/schema+json")
        DRAFT.check_schema(schema)
        self.assertIn("cursor", schema["required"])


class AsyncAPI(unittest.TestCase):
    def test_the_document_keeps_to_the_specification(self):
        _, document = fetch("/asyncapi.json")
        DRAFT(ASYNCAPI).validate(document)
        channels = {name: set(channel["messages"]) for name, channel in document["channels"].items()}
        self.assertEqual(set().union(*channels.values()), set(document["components"]["messages"]))
        self.assertLess(channels["clientFeed"], channels["feed"])
        self.assertFalse(channels["feed"] & channels["webhook"])
        types = {name for name in channels["feed"] if not name.startswith(("urd.", "line.urd."))}
        self.assertEqual({name for name in channels["replay"] if not name.startswith(("urd.", "line.urd."))}, types)
        self.assertEqual(channels["webhook"], {f"webhook.{name}" for name in types} | {"urd.test", "log.rewound"})

    def test_every_sample_is_valid_as_the_payload_of_its_message(self):
        _, document = fetch("/asyncapi.json")
        envelope = {
            "id": "evt_" + "A" * 22, "revision": 1, "schema": "/schemas", "realm": "acme",
            "epoch": 1, "position": 1, "cursor": "1:1", "at": "2026-11-21T01:23:45.123456Z",
            "stream": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "version": 1,
            "command": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a11", "actor": "system",
            "leaf": "A" * 43, "personal": "none",
        }
        for name, hidden, fields, _ in samples():
            message = document["components"]["messages"][f"{name}.1"]
            payload = dict(message["payload"], components=document["components"])
            shown = {key: value for key, value in fields.items() if key not in hidden}
            event = dict(envelope, type=name, data=shown)
            with self.subTest(name):
                DRAFT(payload).validate(event)
                self.assertFalse(DRAFT(payload).is_valid(dict(event, type="other")))
                posted = document["components"]["messages"][f"webhook.{name}.1"]
                payload = dict(posted["payload"], components=document["components"])
                body = {"type": name, "timestamp": event["at"], "data": event}
                DRAFT(payload).validate(body)
                for wrong in (event, dict(body, type="other"), dict(body, data=dict(event, type="other"))):
                    self.assertFalse(DRAFT(payload).is_valid(wrong))


class Frames(unittest.TestCase):
    """What feeds and replays send, under the schemas of the document: all of it, in both forms."""

    @classmethod
    def setUpClass(cls):
        cls.document = fetch("/asyncapi.json")[1]

    def setUp(self):
        self.seen = set()

    def payload(self, name):
        message = self.document["components"]["messages"][name]
        return DRAFT(dict(message["payload"], components=self.document["components"]))

    def open(self, path, query, accept, key=None):
        return Feed(urd.values["URD_URL"], key or urd.key, None, query, accept=accept,
                    path=urd.realm + path)

    def frames(self, feed, accept):
        """Each frame that comes, once it was found to be as the document says."""
        for name, frame in (self.lines(feed) if accept == LINES else self.events(feed)):
            self.seen.add(name)
            yield name, frame

    def lines(self, feed):
        for line in feed.lines():
            if not line:
                continue
            entry = json.loads(line)
            name = entry["type"]
            if name.startswith("urd."):
                self.payload("line." + name).validate(entry)
                self.assertFalse(self.payload("line." + name).is_valid(dict(entry, type="urd.other")))
            else:
                self.payload(name + ".1").validate(entry)
            yield name, entry

    def events(self, feed):
        fields = {}
        for line in feed.lines():
            name, _, value = line.decode().partition(": ")
            if line and name:
                fields[name] = value
            if line or "data" not in fields:
                continue
            name, data = fields["event"], json.loads(fields["data"])
            if name.startswith("urd."):
                headers = {key: fields[key] for key in ("id", "event") if key in fields}
                DRAFT(self.document["components"]["messages"][name]["headers"]).validate(headers)
                self.payload(name).validate(data)
            else:
                self.payload(name + ".1").validate(data)
            fields = {}
            yield name, data

    def until(self, frames, wanted):
        for name, frame in frames:
            if name == wanted:
                return frame
        self.fail(f"no {wanted} came")

    def test_every_frame_of_a_feed_and_of_a_replay_is_as_the_document_says(self):
        for accept in ("text/event-stream", LINES):
            with self.subTest(accept):
                self.seen = set()
                with self.open("/feed", "from=start&leaves=all&type=client.*", accept) as feed:
                    frames = self.frames(feed, accept)
                    self.until(frames, "urd.leaves")
                    self.until(frames, "urd.checkpoint")
                made = urd.api.call("POST", urd.realm + "/subscriptions", {"name": "frames"})[1]
                query = f"subscription={made['id']}"
                with self.open("/feed", query, accept) as first:
                    frames = self.frames(first, accept)
                    self.until(frames, "urd.progress")
                    with self.open("/feed", query + "&take_over=true", accept) as second:
                        self.until(frames, "urd.taken_over")
                        frames = self.frames(second, accept)
                        self.until(frames, "urd.progress")
                        urd.api.call("DELETE", f"{urd.realm}/subscriptions/{made['id']}")
                        error = self.until(frames, "urd.error")
                        self.assertIn("no-such-subscription", json.dumps(error))
                with self.open("/replay", "from=start&speed=0", accept) as feed:
                    self.until(self.frames(feed, accept), "urd.replayed")
                with self.open("/replay", "from=start&speed=1", accept) as feed:
                    self.until(self.frames(feed, accept), "urd.clock")
                words = {name for name in self.document["components"]["messages"] if name.startswith("urd.")}
                self.assertEqual({name for name in self.seen if name.startswith("urd.")}, words - {"urd.test"})

    def test_the_items_of_a_list_that_waits_are_payloads_of_events(self):
        page = urd.api.call("GET", urd.realm + "/events?limit=50&wait=1")[1]
        self.assertTrue(page["items"])
        for item in page["items"]:
            self.payload(item["type"] + ".1").validate(item)


class OCSF(unittest.TestCase):
    def test_every_record_is_valid_in_version_1_8(self):
        schemas = OcsfJsonSchemaEmbedded(get_ocsf_schema(version="1.8.0"))
        known, classes = {}, set()
        for line in RECORDS.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            kind = record["class_uid"]
            if kind not in known:
                name = schemas.lookup_class_name_from_uid(class_uid=kind)
                known[kind] = DRAFT(schemas.get_class_schema(class_name=name, profiles=[]))
            with self.subTest(record["metadata"]["event_code"]):
                known[kind].validate(record)
                self.assertEqual(record["type_uid"], kind * 100 + record["activity_id"])
                self.assertFalse(known[kind].is_valid(dict(record, invented=1)))
            classes.add(kind)
        self.assertEqual(classes, {2004, 3001, 3002, 3004, 3005, 6003})


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main()
