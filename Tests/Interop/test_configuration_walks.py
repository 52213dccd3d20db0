"""Configurations by chance: what was applied has nothing left to do, and what is exported says all of it, in another realm too.
Two walks of three steps; a hundred of six with URD_LONG_TESTS=1. URD_CONFIGURATION_SEED repeats one that failed."""

import copy
import json
import os
import pathlib
import random
import tempfile
import unittest

import jsonschema
import yaml

import random_configuration
from random_configuration import Draw, secret, secrets, without
from urd_process import Urd

IS_LONG = os.environ.get("URD_LONG_TESTS") == "1"
WALKS, STEPS = (100, 6) if IS_LONG else (2, 3)


def setUpModule():
    global urd, desk, schema, rules, check
    urd = Urd()
    desk = tempfile.TemporaryDirectory(prefix="urd-configuration-", dir="/tmp")
    schema = urd.api.call("GET", "/schemas/configuration")[1]
    listed = urd.api.call("GET", f"{urd.realm}/finding-rules")[1]["items"]
    rules = {rule["rule"]: rule["defaults"] for rule in listed}
    check = jsonschema.Draft202012Validator(schema)
    random_configuration.KEYS.update({kind: random_configuration.key(kind) for kind in ("ec", "rsa")})


def tearDownModule():
    desk.cleanup()
    urd.close()


class Walk:
    """A realm, and configurations that follow each other in it."""

    def __init__(self, seed):
        self.seed, self.draw = seed, Draw(schema, rules, seed)
        self.realm = f"walk-{seed}"
        self.held = {}  # the secrets that the realm has, by their paths
        self.taken = set()

    def ask(self, word, configuration, values, **more):
        status, body, _ = urd.api.call(
            "POST", f"/api/admin/realms/{self.realm}/configuration/{word}",
            {"configuration": configuration, "secrets": {f"env:{name}": text for name, text in values.items()}, **more})
        assert status == 200, self.told(word, status, body)
        return body

    def told(self, *what):
        return f"seed {self.seed}: " + json.dumps(what)[:4000]

    def step(self, before, prunes):
        configuration = self.draw.configuration(before)
        values = {place: secret(path, place) for path, place in secrets(configuration)}
        while errors := (plan := self.ask("plan", configuration, values, prune=prunes))["errors"]:
            refused = copy.deepcopy(configuration)
            # From the end: what stands before it in a list keeps its place.
            for error in sorted(errors, key=lambda error: error["path"], reverse=True):
                without(configuration, error["path"])
            assert refused != configuration, self.told("refused without a place", errors)
        applied = self.ask("apply", configuration, values, prune=prunes, plan=plan["plan"])
        assert applied.get("changes") == plan["changes"], self.told("applied", applied, plan["changes"])
        again = self.ask("plan", configuration, values, prune=prunes)
        assert again["changes"] == again["errors"] == [], self.told("a second plan", prunes, again)
        self.taken.update(
            (kind, name) for kind, things in configuration.items() for thing in (
                things.values() if "propertyNames" in self.draw.kinds[kind] else [things])
            for name in thing)
        self.held.update({path: values[place] for path, place in secrets(configuration)})
        return configuration

    def exported(self, realm):
        """The configuration of a realm as the command line writes it, and the values of its secrets."""
        done = urd.command("export-config", "--realm", realm)
        assert done.returncode == 0, self.told(done.stderr)
        document = yaml.safe_load(done.stdout)
        pathlib.Path(desk.name, f"{realm}.yaml").write_text(done.stdout)
        faults = [fault.message for fault in check.iter_errors(document)]
        assert not faults, self.told("the schema", faults)
        places = list(secrets(document["realms"][realm]))
        assert len({place for _, place in places}) == len(places), self.told("secrets at one place", places)
        return document["realms"][realm], {place: self.held[path] for path, place in places}

    def run(self):
        before = {}
        for _ in range(STEPS):
            before = self.step(before, prunes=self.draw.chance(0.5))
            exported, values = self.exported(self.realm)
            assert "nothing to do" in self.command("plan", self.realm, values, "--prune")
        # A host belongs to one realm.
        exported.pop("hosts", None)
        other = self.realm + "-again"
        pathlib.Path(desk.name, f"{other}.yaml").write_text(json.dumps({"realms": {other: exported}}))
        self.command("apply", other, values, "--yes")
        copied, _ = self.exported(other)
        self.unplaced(copied)
        self.unplaced(exported)
        assert copied == exported, self.told("another realm", exported, copied)

    def command(self, verb, realm, values, *options):
        done = urd.command(verb, os.path.join(desk.name, f"{realm}.yaml"), *options, **values)
        assert done.returncode == 0, self.told(done.stdout, done.stderr)
        return done.stdout

    def unplaced(self, configuration):
        """Where a secret stands is named after its realm."""
        for path, _ in secrets(copy.deepcopy(configuration)):
            place = configuration
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = "env:"


class Walks(unittest.TestCase):
    def test_what_was_applied_has_nothing_left_to_do_and_its_export_makes_the_same_of_another_realm(self):
        given = os.environ.get("URD_CONFIGURATION_SEED")
        first = int(given or random.SystemRandom().randrange(1 << 30))
        print(f"URD_CONFIGURATION_SEED={first}", flush=True)
        taken = set()
        for number in range(WALKS):
            walk = Walk(first + number)
            walk.run()
            taken |= walk.taken
        kinds = {kind for kind, _ in taken}
        print(f"{WALKS} walks had {len(taken)} members of {len(kinds)} kinds", flush=True)
        if IS_LONG:
            self.assertEqual(kinds, set(walk.draw.kinds))


if __name__ == "__main__":
    unittest.main()
