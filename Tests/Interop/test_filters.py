"""Filters of the audit trail and the login history, compared with another reader of SCIM filters
(scim2-filter-parser) and an evaluation in Python over the exported log."""

import concurrent.futures
import datetime
import http.client
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest
import urllib.parse

import pinned

pinned.use()

from scim2_filter_parser import ast, lexer, parser  # noqa: E402

from urd_process import PATIENCE, Urd, eventually  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = int(os.environ.get("URD_SEED", random.SystemRandom().randrange(2**32)))
COUNT = 10_000
AUDIENCE = "https://api.example.org"

# Attributes that are compared as texts, each with what of a record it is.
TEXTS = {
    "type": lambda record: [record["type"]],
    "actor": lambda record: [record["meta"]["actor"]],
    "outcome": lambda record: outcome(record),
}
FIELDS = ["reason", "method", "amr", "channel"]
WORDS = ["eq", "ne", "gt", "ge", "lt", "le", "sw", "co", "ew", "pr"]


def setUpModule():
    global urd, records
    urd = Urd()
    chance = random.Random(SEED)
    call("PATCH", "/settings", {"roles": {AUDIENCE: {"admin": [], "editor": []}}})
    accounts = []
    for number in range(8):
        accounts.append(call("POST", "/accounts", {
            "email": f"person{number}@example.org", "first_name": "Ann", "confirmed": True})["id"])
        call("POST", "/clients", {
            "client_name": f"Client {number}", "redirect_uris": ["https://shop.example/back"]})
    for _ in range(60):
        path = "/accounts/" + chance.choice(accounts)
        if chance.random() < 0.5:
            call("POST", f"{path}/{chance.choice(['disable', 'enable'])}")
        else:
            roles = chance.sample(["admin", "editor"], chance.randrange(3))
            call("PUT", f"{path}/roles", {"roles": {AUDIENCE: roles}})
    for secret in ("wrong", "other"):
        refuse(secret)
    realm = urd.values["URD_REALM"]
    eventually(lambda: urd.sql(
        f"select min(position) from urd.audit_trail_position where realm = '{realm}'")
        == urd.sql(f"select position from urd.realm_log where realm = '{realm}'"), "the trail")
    records = exported()


def tearDownModule():
    urd.close()


def call(method, path, body=None):
    status, answer, _ = urd.api.call(method, urd.realm + path, body)
    assert status in (200, 201, 204), (method, path, status, answer)
    return answer


def refuse(secret):
    """Somebody says to be a client and does not show it."""
    place = urllib.parse.urlsplit(urd.values["URD_REALM_URL"])
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=PATIENCE)
    form = urllib.parse.urlencode({
        "grant_type": "client_credentials", "client_id": urd.values["URD_CLIENT_ID"],
        "client_secret": secret})
    connection.request("POST", "/connect/token", form, {
        "Host": place.netloc, "Content-Type": "application/x-www-form-urlencoded"})
    answer = connection.getresponse()
    assert answer.status in (400, 401), (answer.status, answer.read())
    connection.close()


def exported():
    return [json.loads(line) for line in urd.log()]


def outcome(record):
    if record["type"] in ("session.opened", "browser.opened"):
        return ["signed_in"]
    if record["type"].endswith("refused"):
        return ["refused"]
    return values(record["data"].get("outcome"))


def values(value):
    if value is None:
        return []
    return [part for part in value if part is not None] if isinstance(value, list) else [value]


def microseconds(text):
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    start = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (moment - start) // datetime.timedelta(microseconds=1)


def time_text(moment):
    start = datetime.datetime(1970, 1, 1)
    return (start + datetime.timedelta(microseconds=moment)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Evaluation:
    """What the other reader's tree says of a record."""

    def __init__(self, text):
        self.tree = parser.SCIMParser().parse(lexer.SCIMLexer().tokenize(text))

    def holds(self, position, record):
        return self.node(self.tree, position, record)

    def node(self, node, position, record):
        if isinstance(node, ast.Filter):
            return self.node(node.expr, position, record) != node.negated
        if isinstance(node, ast.LogExpr):
            parts = (self.node(part, position, record) for part in (node.expr1, node.expr2))
            return all(parts) if node.op.lower() == "and" else any(parts)
        assert isinstance(node, ast.AttrExpr), node
        sub = node.attr_path.sub_attr
        name = (node.attr_path.attr_name + (f".{sub.value}" if sub else "")).lower()
        wanted = node.comp_value.value if node.comp_value else None
        return self.compare(node.value.lower(), *self.found(name, wanted, position, record))

    def found(self, name, wanted, position, record):
        """The values of an attribute, and the wanted one in their type."""
        if name == "position":
            return [position], wanted and int(wanted)
        if name == "at":
            return [record["at"]], wanted and microseconds(wanted)
        if name == "stream":
            return [record["stream"]], wanted and wanted.lower()
        if name in TEXTS:
            return TEXTS[name](record), wanted
        found = values(record["data"].get(name.removeprefix("fields.")))
        if name in KINDS["integer"]:
            return [one for one in found if type(one) is int], wanted and int(wanted)
        if name in KINDS["boolean"]:
            return [one for one in found if type(one) is bool], wanted and wanted == "true"
        if wanted is None:
            return found, None
        return [one for one in found if isinstance(one, str)], wanted

    def compare(self, word, found, wanted):
        if word == "pr":
            return bool(found)
        if word == "ne":
            return not self.compare("eq", found, wanted)
        if isinstance(wanted, str):
            wanted = wanted.encode()
            found = [one.encode() for one in found]
        return any({
            "eq": lambda one: one == wanted, "gt": lambda one: one > wanted,
            "ge": lambda one: one >= wanted, "lt": lambda one: one < wanted,
            "le": lambda one: one <= wanted, "sw": lambda one: one.startswith(wanted),
            "co": lambda one: wanted in one, "ew": lambda one: one.endswith(wanted),
        }[word](one) for one in found)


# A text, or one of several; or a list of those.
TEXT = re.compile(r"\[?(text|[^\[\]]*\|[^\[\]]*)\]?")
KINDS = {"integer": {"fields.generation", "fields.count", "fields.attempt"},
         "boolean": {"fields.confirmed", "fields.long_run"}}


class Generator:
    """Filters that both read: values without quotes in them, and numbers of one digit. Where `and` and `or`
    meet there are parentheses, because the other reader ranks them alike."""

    def __init__(self, chance):
        self.chance = chance
        self.texts = {}
        for record in records:
            for name, find in TEXTS.items():
                self.texts.setdefault(name, set()).update(find(record))
            for name, value in record["data"].items():
                found = [one for one in values(value) if isinstance(one, str) and '"' not in one
                         and "\\" not in one]
                self.texts.setdefault("fields." + name, set()).update(found)
        self.texts = {name: sorted(found) for name, found in self.texts.items() if found}
        known = fields()
        for name in FIELDS:
            self.texts.setdefault(name, self.texts.get("fields." + name, ["otp"]))
        self.names = [
            name for name in self.texts
            if not name.startswith("fields.") or name[7:] in known]

    def text(self):
        self.left = 18
        return self.alternatives(0)

    def alternatives(self, depth):
        count = self.chance.choice([1, 1, 2, 3]) if depth < 4 else 1
        word = self.case(self.chance.choice(["and", "or"]))
        return f" {word} ".join(self.part(depth) for _ in range(count))

    def part(self, depth):
        self.left -= 1
        if depth < 4 and self.left > 3 and self.chance.random() < 0.4:
            negated = self.chance.choice(["", "", self.case("not") + self.chance.choice(["", " "])])
            return f"{negated}({self.alternatives(depth + 1)})"
        return self.comparison()

    def case(self, word):
        return self.chance.choice([word, word, word.upper()])

    def comparison(self):
        kind = self.chance.randrange(12)
        if kind == 0:
            words = ["eq", "ne", "gt", "ge", "lt", "le"]
            return f"position {self.case(self.chance.choice(words))} {self.chance.randrange(10)}"
        if kind == 1:
            words = ["eq", "ne", "gt", "ge", "lt", "le"]
            moment = self.chance.choice(records)["at"] + self.chance.choice([-1, 0, 0, 1])
            return f'at {self.chance.choice(words)} "{time_text(moment)}"'
        if kind == 2:
            stream = self.chance.choice(records)["stream"]
            return f'stream {self.chance.choice(["eq", "ne"])} "{self.case(stream)}"'
        if kind == 3:
            name = self.chance.choice(sorted(KINDS["integer"]))
            word = self.chance.choice(["eq", "ne", "gt", "le"])
            return f"{name} {word} {self.chance.randrange(10)}"
        if kind == 4:
            name = self.chance.choice(sorted(KINDS["boolean"]))
            return f'{name} {self.chance.choice(["eq", "ne"])} {self.chance.choice(["true", "false"])}'
        name = self.chance.choice(self.names)
        word = self.chance.choice(WORDS)
        if word == "pr":
            return f"{self.case(name)} {self.case(word)}"
        value = self.chance.choice(self.texts[name])
        if word in ("sw", "co", "ew", "gt", "le"):
            start = self.chance.randrange(len(value) + 1)
            end = self.chance.randrange(start, len(value) + 1)
            value = {"sw": value[:end], "ew": value[start:]}.get(word, value[start:end])
        return f'{self.case(name)} {self.case(word)} "{value}"'


def fields():
    """Names of fields that hold text wherever they are open, and are nowhere secret."""
    rows = urd.sql("select json_agg(f) from urd.event_field f")
    kinds = {}
    for row in json.loads(rows):
        kinds.setdefault(row["field"], set()).add(
            "text" if row["visibility"] == "open" and TEXT.fullmatch(row["kind"]) else
            "sealed" if row["visibility"] == "personal" else "other")
    return {name for name, found in kinds.items() if "other" not in found and "text" in found}


def ask(text, path="/audit-trail", more=""):
    found, after = [], ""
    while True:
        query = urllib.parse.urlencode({"filter": text}) + "&limit=200" + more + after
        status, answer, _ = urd.api.call("GET", f"{urd.realm}{path}?{query}")
        if status != 200:
            return answer
        found += [item["position"] for item in answer["items"]]
        if not answer["more"]:
            # Mails go their way meanwhile.
            return [position for position in found if position <= len(records)]
        after = "&after=" + answer["next"]


class Filters(unittest.TestCase):
    def test_filters_find_what_another_reader_finds_in_the_exported_log(self):
        generator = Generator(random.Random(SEED + 1))
        texts = [generator.text() for _ in range(COUNT)]
        texts = [text if len(text) <= 2000 else "position pr" for text in texts]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(ask, texts))
        sizes = set()
        for text, answer in zip(texts, answers):
            other = Evaluation(text)
            wanted = [position for position, record in enumerate(records, 1)
                      if other.holds(position, record)]
            self.assertEqual(answer, wanted, f"seed {SEED}: {text}")
            sizes.add(len(wanted))
        self.assertGreater(len(sizes), 50)

    def test_newest_first_is_the_same_backwards(self):
        generator = Generator(random.Random(SEED + 2))
        for _ in range(100):
            text = generator.text()
            if len(text) <= 2000:
                self.assertEqual(
                    ask(text, more="&order=newest"), ask(text)[::-1], f"seed {SEED}: {text}")

    def test_unknown_is_false_below_not(self):
        for name in ("outcome", "reason", "fields.client_name"):
            for word in ("gt", "le", "co", "eq"):
                text = f'{name} {word} "r"'
                both = ask(text) + ask(f"not ({text})")
                self.assertEqual(sorted(both), list(range(1, len(records) + 1)), text)
        self.assertTrue(ask('outcome eq "refused" and reason pr'), "somebody was refused")

    def test_and_binds_before_or(self):
        self.assertEqual(
            ask("position eq 1 or position eq 2 and position eq 3"), [1])
        self.assertEqual(
            ask("position eq 1 and position eq 2 or position eq 3"), [3])

    def test_what_one_reader_refuses_the_other_refuses(self):
        chance = random.Random(SEED + 3)
        generator = Generator(chance)
        refused = 0
        for _ in range(300):
            text = generator.comparison()
            place = chance.randrange(len(text))
            for broken in (text[:place], text + " and", f"({text}", f"{text})", f"{text} {text}"):
                try:
                    Evaluation(broken).holds(1, records[0])
                    continue
                except Exception:
                    refused += 1
                answer = ask(broken)
                self.assertIsInstance(answer, dict, f"seed {SEED}: {broken}")
                self.assertIn(answer["type"], ("/problems/invalid-filter", "/problems/invalid-parameter"))
        self.assertGreater(refused, 500)

    def test_a_question_by_mail_address_opens_nothing(self):
        found = call("GET", "/audit-trail?mail=person1@example.org&limit=200")["items"]
        self.assertTrue(found)
        registered = next(item for item in found if item["type"] == "account.registered")
        about = {item["position"] for item in call(
            "GET", f"/events?account={registered['stream']}&limit=200&min_position={urd.head()}")["items"]}
        self.assertLessEqual(
            {position for position in about if position <= len(records)},
            {item["position"] for item in found})
        self.assertNotIn("personal_data.opened", {record["type"] for record in exported()})


class TestPage(unittest.TestCase):
    """The commands of docs/analysts/filters.md, run as they stand."""

    def test_every_command_of_the_page_works(self):
        page = (ROOT / "docs" / "analysts" / "filters.md").read_text()
        blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
        self.assertEqual(len(blocks), 1)
        with tempfile.TemporaryDirectory(prefix="urd-page-", dir="/tmp") as desk:
            os.symlink(os.path.join(urd.folder, "data"), os.path.join(desk, ".dev"))
            os.symlink(ROOT / ".build", os.path.join(desk, ".build"))
            result = subprocess.run(
                ["bash", "-ec", "\n".join(blocks)], cwd=desk, text=True, timeout=PATIENCE,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout)
        for word in ("account.registered", "client.registered"):
            self.assertIn(word, result.stdout)


if __name__ == "__main__":
    unittest.main()
