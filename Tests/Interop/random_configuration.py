"""Configurations by chance, drawn from the JSON Schema that Urd publishes: names, lists and texts as unkind as it allows.

What the schema does not say, such as which scopes a client may have with which grants, the server says: `plan` names the
places that it refuses, and `without` takes them out."""

import json
import random
import re
import re._parser

UNKIND = "aZ09 -_.,:;#'\"\\/{}[]&*!|>%@`~=?+^$<()é日本🙂\u0301\u200d\u00df\u0130"
TEXTS = ["null", "true", "no", "0x1f", "1e3", "- a", "a: b", "a #b", "~", "'", '"', "é", "日本", "🙂", "<<", "a/b",
         "{}", "? x", "| y", "%Y", "@a", "`b`", "\\n", "=", "2026-11-30", "e\u0301"]
ADDRESSES = ["https://a.example/in", "https://xn--bcher-kva.example:8443/a?b=%C3%A9", "http://127.0.0.1:1/",
             "https://" + "a" * 60 + ".example/" + "b" * 1_900]
# What a member has to look like where the schema speaks of any text or object.
KNOWN = {
    "issuer": ["https://login.example.org", "https://login.example.org/a"], "types": ["account.*", "client.registered"],
    "not_types": ["account.*", "session.*"], "filter": ["actor == 'me'", "type == 'client.registered'"],
    "phone_countries": ["DE", "CH", "AT"], "native_apps": ["com.example.app"], "passkey_origins": ["https://a.example"],
    "resources": ["https://api.example.org", "urn:example:a"], "unchecked_resources": ["https://a.example"],
    "unchecked_scopes": ["read", "a:b"],
    "roles": [{"https://api.example.org": {"reader": [], "writer": ["reader"]}}, {}],
    "kind": ["webhook", "twilio", "whatsapp_cloud", "app", "konnector"], "team_id": ["TEAM000001", "a" * 20],
    "key_id": ["KEY1", "1" * 20], "topic": ["org.example.app", "a" * 200], "account": ["AC1", "4915112345"],
    "sender": ["+4915112345678", "Shop"], "certified_apps": ["org.example.certified"], "may_act": ["walks"],
    "scope": ["openid  email", "openid", "profile a:b email"],
    "client_name": TEXTS, "name": TEXTS, "display_name": TEXTS,
}
# Names that are one name where letters of one kind alone are kept, or in capital letters.
ALIKE = ["a-b", "a.b", "a_b", "A-B", "日本", "🙂🙂", "a/b", "a"]
# Members without which little of a thing would be taken.
NEEDED = {"redirect_uris", "grant_types"}


class Draw:
    """Draws values for schemas; the same ones for the same seed."""

    def __init__(self, schema, rules, seed):
        self.kinds = schema["properties"]["realms"]["additionalProperties"]["properties"]
        self.random = random.Random(seed)
        self.rules = rules  # the thresholds of each, as they are by default
        self.secrets = 0

    def chance(self, share):
        return self.random.random() < share

    def pick(self, values):
        return self.random.choice(list(values))

    def configuration(self, before):
        """All kinds anew or, of a configuration before, as it might be edited: things go, come, change and get other names."""
        after = {}
        for kind, schema in self.kinds.items():
            known = before.get(kind)
            if kind in before and self.chance(0.2):
                continue
            if known is None or "propertyNames" not in schema:
                after[kind] = self.value(schema, kind)
                continue
            after[kind] = self.edited(known, schema, kind)
        for client in after.get("clients", {}).values():
            if after.get("apps") and self.chance(0.5):
                client["app"] = self.pick(after["apps"])
        return after

    def edited(self, known, schema, kind):
        things = {}
        for name, thing in known.items():
            if self.chance(0.2):
                continue
            if self.chance(0.2) and kind != "finding_rules":
                name = self.name(schema, kind)
            if self.chance(0.4):
                thing = {**thing, **self.thing(name, schema, kind)}
            things[name] = thing
        if self.chance(0.5):
            name = self.name(schema, kind)
            things[name] = self.thing(name, schema, kind)
        return things

    def name(self, schema, kind):
        return self.pick(self.rules) if kind == "finding_rules" else self.value(schema["propertyNames"], "")

    def thing(self, name, schema, kind):
        if kind == "finding_rules":
            thresholds = {inner: value + self.pick([0, 1]) for inner, value in self.rules[name].items()
                          if self.chance(0.5)}
            return {"enabled": self.chance(0.5), **thresholds}
        return self.value(schema["additionalProperties"], kind)

    def value(self, schema, name):
        if "anyOf" in schema:
            schemas = [inner for inner in schema["anyOf"] if inner.get("type") != "null"]
            return None if self.chance(0.1) else self.value(self.pick(schemas), name)
        if "enum" in schema:
            return self.pick(schema["enum"])
        return getattr(self, schema.get("type", "object"))(schema, name)

    def boolean(self, schema, name):
        return self.chance(0.5)

    def integer(self, schema, name):
        least, most = schema["minimum"], schema["maximum"]
        return self.pick([least, most, self.random.randint(least, most)])

    def array(self, schema, name):
        most = min(schema.get("maxItems", 3), 3)
        values = []
        for _ in range(self.random.randint(schema.get("minItems", 0), most)):
            value = self.value(schema["items"], name)
            if value not in values:
                values.append(value)
        return values

    def object(self, schema, name):
        if "propertyNames" in schema or isinstance(schema.get("additionalProperties"), dict):
            if "propertyNames" not in schema:
                schema = {"propertyNames": {"type": "string", "pattern": "^[A-Za-z-]{1,20}$"}, **schema}
            names = [self.name(schema, name) for _ in range(self.random.randint(0, 3))]
            return {inner: self.thing(inner, schema, name) for inner in names}
        if not (members := schema.get("properties")):
            return self.pick(KNOWN.get(name, [{}]))
        share = min(0.6, 8 / len(members))
        return {inner: self.value(members[inner], inner) for inner in members
                if inner in NEEDED or inner in schema.get("required", []) or self.chance(share)}

    def string(self, schema, name):
        pattern, most = schema.get("pattern"), schema.get("maxLength", 100)
        if pattern and "env:" in pattern:
            self.secrets += 1
            return f"env:SECRET_{self.secrets}"
        if name.endswith(("uri", "uris", "url", "address", "endpoint", "targets", "audiences")) and self.chance(0.9):
            return self.pick(ADDRESSES)
        if name in KNOWN and self.chance(0.8 if pattern else 0.95):
            return self.pick(KNOWN[name])
        if not pattern:
            return self.pick(TEXTS)[:most]
        for _ in range(20):
            text = self.matching(re._parser.parse(pattern), self.pick(["long", "some", "some", "short"]))
            if schema.get("minLength", 0) <= len(text) <= most and re.search(pattern, text):
                return text
        return self.pick(TEXTS)[:most]

    def matching(self, parsed, length):
        """A text of a regular expression: the longest there is, the shortest, or one between."""
        text = ""
        for operation, value in parsed:
            operation = str(operation)
            if operation == "LITERAL":
                text += chr(value)
            elif operation == "IN":
                text += self.character(value)
            elif operation == "MAX_REPEAT":
                least, most, inner = value
                count = {"long": most, "short": least}.get(length)
                if count is None:
                    count = self.random.randint(least, min(most, least + 12))
                text += "".join(self.matching(inner, length) for _ in range(count))
            elif operation == "SUBPATTERN":
                text += self.matching(value[3], length)
            elif operation == "BRANCH":
                text += self.matching(self.pick(value[1]), length)
            else:
                assert operation == "AT", operation
        return text

    def character(self, parts):
        has = [range(value[0], value[1] + 1) if str(part) == "RANGE" else [value]
               for part, value in parts if str(part) in ("RANGE", "LITERAL")]
        if str(parts[0][0]) == "NEGATE":
            return self.pick(letter for letter in UNKIND if not any(ord(letter) in some for some in has))
        return chr(self.pick(self.pick(has)))


def without(configuration, path):
    """Takes out what stands at a path, or the nearest that stands around it. Names may have slashes in them."""
    place, rest, found = configuration, path, None
    while rest and isinstance(place, (dict, list)):
        names = place if isinstance(place, dict) else [str(index) for index in range(len(place))]
        fitting = [name for name in names if rest == name or rest.startswith(name + "/")]
        if not fitting:
            break
        name = max(fitting, key=len)
        rest = rest[len(name) + 1:]
        found = place, name if isinstance(place, dict) else int(name)
        place = place[found[1]]
    if found:
        del found[0][found[1]]


def secrets(value, path=()):
    """Each secret that a configuration names: its path, and its place."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from secrets(inner, (*path, name))
    elif isinstance(value, str) and value.startswith("env:"):
        yield path, value[4:]


def secret(path, number):
    """A secret of the form that a member has, another one for each number."""
    if path[-1] == "service_account":
        return json.dumps({
            "type": "service_account", "project_id": number.replace("_", "-"), "private_key_id": "k",
            "private_key": KEYS["rsa"], "client_email": "a@p.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token"})
    return KEYS["ec"] if path[0] == "push_apns" else f"generated-{number}"


def key(kind):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    made = ec.generate_private_key(ec.SECP256R1()) if kind == "ec" else rsa.generate_private_key(65537, 2048)
    return made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


KEYS = {}
