"""In which forms an app of the verify profile may write its API key and the keys of its devices: the two tables in
docs/verify.md, cell by cell."""

import base64
import http.client
import json
import pathlib
import unittest
import urllib.parse
import uuid

import test_verify_breadth as breadth
from test_verify_breadth import TRUSTED, Person
from token_tool import missing, rerun
from urd_process import PATIENCE

MISSING = missing("jose", "fido2", "cryptography")
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "verify.md"
if not MISSING:
    from verify_devices import Device


def setUpModule():
    breadth.setUpModule()
    global urd
    urd = breadth.urd


def tearDownModule():
    breadth.tearDownModule()


def table(head):
    lines = DOCUMENT.read_text().splitlines()
    [start] = [n for n, line in enumerate(lines) if line.startswith(head)]
    cells = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            return cells
        cells.append([cell.strip() for cell in line.split("|")[1:-1]])


def call(method, path, headers, body=None):
    """The headers as they are, also twice."""
    place = urllib.parse.urlsplit(urd.values["URD_VERIFY_URL"])
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)
    try:
        connection.putrequest(method, path)
        data = b"" if body is None else json.dumps(body).encode()
        for name, value in [*headers, ("Content-Type", "application/json"),
                            ("Content-Length", str(len(data)))]:
            connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def once_more(text):
    return base64.b64encode(text.encode()).decode()


# How the key comes along: in headers, in the query, or in the body.
FORMS = {
    "as it is": lambda key: ([("API_KEY_ID", key)], "", {}),
    "the header in small letters": lambda key: ([("api_key_id", key)], "", {}),
    "spaces around it": lambda key: ([("API_KEY_ID", f"  {key}\t")], "", {}),
    "two headers": lambda key: ([("API_KEY_ID", key)] * 2, "", {}),
    "two headers, with two keys": lambda key: (
        [("API_KEY_ID", str(uuid.uuid4())), ("API_KEY_ID", key)], "", {}),
    "the header with dashes": lambda key: ([("API-KEY-ID", key)], "", {}),
    "in the query": lambda key: ([], "api_key_id=" + key, {}),
    "in the body": lambda key: ([], "", {"api_key_id": key, "API_KEY_ID": key}),
    "in capitals": lambda key: ([("API_KEY_ID", key.upper())], "", {}),
    "in base64": lambda key: ([("API_KEY_ID", once_more(key))], "", {}),
    "not at all": lambda key: ([], "", {}),
}
PERSON = "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10"
ROUTES = [
    ("POST", "/verify/get_identity"), ("POST", "/token"), ("POST", "/token/custom"),
    ("GET", "/user?identifier=ann@example.org"), ("GET", f"/user/{PERSON}"),
    ("POST", "/user/create"), ("PUT", f"/user/methods?cotter_user_id={PERSON}"),
    ("GET", f"/user/enrolled/{PERSON}/PIN"), ("GET", f"/user/enrolled/{PERSON}/{TRUSTED}/AAAA"),
    ("POST", f"/user/reset/start/{PERSON}"), ("POST", f"/user/reset/respond/{PERSON}"),
    ("POST", "/event/create"), ("POST", "/event/create_pending"), ("GET", "/event/get/4711"),
    ("GET", f"/event/new/{PERSON}"), ("POST", "/event/respond/4711"),
    ("GET", "/webauthn/exists?identifier=ann@example.org"),
    ("POST", "/webauthn/login/begin?identifier=ann@example.org"), ("GET", "/notification/company")]

WAYS = {
    "with padding": lambda raw: base64.b64encode(raw).decode(),
    "without padding": lambda raw: base64.b64encode(raw).decode().rstrip("="),
    "of addresses, with padding": lambda raw: base64.urlsafe_b64encode(raw).decode(),
    "of addresses": lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("="),
    "with line breaks": lambda raw: "\r\n".join(broken(base64.b64encode(raw).decode())),
    "twice": lambda raw: once_more(base64.b64encode(raw).decode()),
    "both alphabets": lambda raw: base64.b64encode(raw).decode().replace("+", "-"),
    "hexadecimal": lambda raw: raw.hex(),
}


def broken(text):
    return text[:20], text[20:]


class Forms(unittest.TestCase):
    maxDiff = None

    def test_an_api_key_is_known_in_the_forms_of_the_table_at_each_route(self):
        key, found = urd.values["URD_VERIFY_API_KEY_ID"], []
        for form, shape in FORMS.items():
            headers, query, more = shape(key)
            words = set()
            for method, path in ROUTES:
                path = "/api/v0" + path + (f"{'&' if '?' in path else '?'}{query}" if query else "")
                status, text = call(method, path, headers, None if method == "GET" else more)
                self.assertLess(status, 500, (form, path))
                if status >= 400:
                    self.assertEqual(list(json.loads(text)), ["msg"], (form, path))
                words.add("unknown" if "API_KEY_ID is not valid" in text else
                          "refused" if "more than once" in text else "known")
            found.append([form, *sorted(words)])
        self.assertEqual(found, table("| the API key is written |"))

    def test_a_device_key_is_found_in_the_forms_of_the_table_at_each_route(self):
        found = [[form, *self.tried(shape)] for form, shape in WAYS.items()]
        self.assertEqual(found, table("| base64 is written |"))

    def tried(self, shape):
        """At each place, of a key and a signature that have both digits in which the alphabets differ."""
        person = Person()

        def device():
            while True:
                made = Device(person.id, person.app.key)
                if {"+", "/"} <= set(made.public):
                    return made

        def sign(label):
            while True:
                body = first.event(label=label)
                if {"+", "/"} <= set(body["code"]):
                    return body
                label += "x"

        def put(enrolled, code):
            return person.put({"method": TRUSTED, "enrolled": enrolled, "code": code})

        def written(made):
            return shape(base64.b64decode(made.public))

        first, other, new = device(), device(), device()
        answers = [put(True, written(other))]
        put(True, first.public)
        path = urllib.parse.quote(written(first), safe="")
        shown = person.app.call("GET", f"/api/v0/user/enrolled/{person.id}/{TRUSTED}/{path}")
        answers.append(shown)
        answers.append(person.create({**first.event(label="LOGIN1"), "public_key": written(first)}))
        new.public = written(new)
        answers.append(person.create(first.event(label="LOGIN2", new=new)))
        event = person.ask()
        answers.append(person.respond(event, {
            **first.answer(event), "public_key": written(first)}))
        body = sign("LOGIN3")
        answers.append(person.create({**body, "code": shape(base64.b64decode(body["code"]))}))
        answers.append(put(False, written(first)))
        return ["yes" if answer.status == 200 and '"enrolled":false' not in answer.text else "no"
                for answer in answers]


if MISSING:
    Forms = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
