"""A run: rounds of calls and faults, each followed by a moment in which all is well and everything is checked."""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import time

import plan
import verify_laws
from callers import Caller, Ledger, World
from check import FINDINGS, Checker
from cluster import REALM, Cluster
from faults import Lane
from front_door import eventually
from reader import Reader

EVENTS = """select json_build_object('position', position, 'id', 'evt_' || rtrim(translate(encode(substr(leaf, 1, 16),
    'base64'), '+/', '-_'), '='), 'stream', stream, 'version', version, 'type', type, 'command', command, 'data', data)
    from urd.event where realm = '%s' and position > %d order by position"""
# As verify_laws.py takes it.
RECORDS = """select json_build_object('at', (extract(epoch from at) * 1000000)::bigint, 'command', command, 'data', data,
    'meta', meta, 'realm', realm, 'stream', stream, 'subject', subject, 'type', type, 'version', version,
    'is_sealed', sealed is not null) from urd.event where realm = '%s' order by position"""
FORGET = """create function public.forget() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger forget before insert on urd.command for each row execute function public.forget()"""


class Run:
    def __init__(self, asked, rounds):
        self.asked, self.rounds = asked, rounds
        self.length = asked.length / rounds
        self.operations, self.faults = collections.Counter(), collections.Counter()
        self.findings = []
        self.events = self.reads_of_feed = self.lost = 0

    def run(self):
        begun = time.monotonic()
        self.say(f"seed {self.asked.seed}, {self.rounds} rounds of {self.length:.0f} s, {self.asked.callers} callers")
        numbers = range(self.asked.from_round, self.asked.from_round + self.rounds)
        for first in range(0, self.rounds, self.asked.fresh):
            self.life(numbers[first:first + self.asked.fresh])
        self.seconds = time.monotonic() - begun
        return self.tell()

    def life(self, numbers):
        """Some rounds on one database, from its first day on, and what is verified in the end."""
        self.checker, self.done = Checker(), []
        self.cluster = Cluster(self.asked.disk)
        try:
            if self.asked.broken == "commands":
                self.cluster.primary.ask(FORGET, strict=True)
            self.world = World(self.cluster)
            self.reader = Reader(self.cluster)
            self.reader.start()
            for number in numbers:
                self.round(number)
            self.reader.close()
            self.verify(numbers[-1])
        except BaseException:
            self.keep("stopped")
            raise
        finally:
            self.cluster.close()

    @staticmethod
    def say(line):
        print(line, file=sys.stderr, flush=True)

    # One round.

    def round(self, number):
        self.world.begin()
        callers = [
            Caller(f"r{number}c{one}", one, self.world, plan.Steps(self.asked.seed, number, one),
                   Ledger(f"{self.cluster.folder}/ledger-{one}"))
            for one in range(self.asked.callers)]
        faults = plan.draw(self.asked.seed, number, self.length, self.asked.faults)
        lanes = [
            Lane(name, self.cluster, [fault for fault in faults if fault.lane == name], self.world,
                 self.asked.broken == "failover")
            for name in ("node", "database")]
        for thread in [*callers, *lanes]:
            thread.start()
        time.sleep(self.length)
        for lane in lanes:
            lane.is_over.set()
        for lane in lanes:
            lane.join()
        # What waits is answered before callers go.
        self.cluster.heal()
        self.world.is_over.set()
        for caller in callers:
            caller.join()
        for thread in [*callers, *lanes]:
            if thread.error:
                raise thread.error
        self.losses = [loss for lane in lanes for loss in lane.losses]
        if self.losses or self.asked.broken == "failover":
            self.cluster.accept_losses()
        self.lost += sum(loss.acknowledged for loss in self.losses)
        self.done = [fault for lane in lanes for fault in lane.done]
        self.faults.update(fault["kind"] for fault in self.done)
        self.check(number, callers)

    def check(self, number, callers):
        head = self.settled()
        self.reader.come_to(head)
        entries = [entry for caller in callers for entry in caller.ledger.entries()]
        for entry in entries:
            self.operations[entry["kind"], entry["outcome"]] += 1
        frames, rewinds = self.reader.take(head)
        self.reads_of_feed += len(frames)
        before = self.checker.head
        found = self.checker.round(entries, self.log(before), self.losses, frames, rewinds, head)
        self.events += self.checker.head - before
        kinds = collections.Counter(one["outcome"] for one in entries)
        self.say(f"round {number}: {len(entries)} operations ({kinds['ok']} ok, {kinds['refused']} refused, "
                 f"{kinds['unknown']} unknown), {len(self.done)} faults, log at {self.checker.head}, "
                 f"{len(found)} findings")
        if found:
            for one in found[:10]:
                self.say(f"  {one}")
            self.findings += [{"round": number, "name": one.name, "what": one.what} for one in found]
            self.keep(f"round-{number}", entries, found)
        for caller in callers:
            caller.ledger.clear()
            caller.ledger.file.close()

    def settled(self):
        """Where the log is once nothing moves any more."""
        heads = []

        def still():
            heads.append(self.cluster.primary.ask(f"select position from urd.realm_log where realm = '{REALM}'"))
            time.sleep(0.3)
            return len(heads) > 6 and len(set(heads[-6:])) == 1 and heads[-1]

        return int(eventually(still, "the log stands still"))

    def log(self, after, statement=EVENTS, realm=REALM):
        """Its events, one after the other."""
        primary = self.cluster.primary
        words = ["psql", "-XqAt", "-v", "FETCH_COUNT=1000", "-c", statement % ((realm, after) if after is not None else realm),
                 f"postgresql://postgres@/urd?host={primary.folder}"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                yield json.loads(line)
        assert process.returncode == 0, process.returncode

    def keep(self, name, entries=(), found=()):
        """What somebody needs who looks into it: the ledger, the faults, what nodes and servers wrote."""
        place = pathlib.Path(self.asked.keep, f"{self.asked.seed}-{name}")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for file in pathlib.Path(self.cluster.folder).glob("*.log"):
            shutil.copy(file, place)
        for database in self.cluster.databases:
            shutil.copy(f"{database.folder}/log", place / f"db{database.number}.log")
        with open(place / "ledger.jsonl", "w") as file:
            for entry in entries:
                file.write(json.dumps(entry) + "\n")
        with open(place / "findings.txt", "w") as file:
            for one in found:
                file.write(f"{one}\n" + "".join(f"    {json.dumps(entry)}\n" for entry in one.entries))
        (place / "faults.json").write_text(json.dumps(self.done, indent=1))

    # In the end.

    def verify(self, number):
        """What Urd says of its log, and what the laws say of it, by both programs."""
        found = []
        for realm in self.cluster.heads(self.cluster.primary):
            eventually(lambda: self.is_sealed(realm), f"the log of {realm} is sealed", 120)
        for words in (["verify"], ["verify", "--laws", "--json"]):
            told = self.cluster.command(*words)
            if told.returncode:
                found.append({"name": " ".join(["urd", *words]), "what": self.violations(told)})
        for realm in self.cluster.heads(self.cluster.primary):
            laws = verify_laws.Laws()
            for record in self.log(None, RECORDS, realm):
                laws.take(record)
            found += [{"name": "verify_laws.py", "realm": realm, "what": one}
                      for one in verify_laws.result(laws)["violations"]]
        if found:
            for one in found[:10]:
                self.say(f"  {json.dumps(one)}")
            self.findings += [{"round": number, **one} for one in found]
            self.keep(f"end-{number}")

    @staticmethod
    def violations(told):
        """What a verification that found something says of it."""
        try:
            return [{"realm": one["realm"], "finding": one.get("finding"), "laws": one.get("laws", {}).get("violations")}
                    for one in json.loads(told.stdout)]
        except ValueError:
            return (told.stdout + told.stderr)[-2000:]

    def is_sealed(self, realm):
        return self.cluster.primary.ask(
            "select h.position <= coalesce((select max(c.size) from urd.checkpoint c where c.realm = h.realm), 0)"
            f" from urd.realm_log h where h.realm = '{realm}'") == "t"

    def tell(self):
        asked = self.asked
        operations = collections.defaultdict(dict)
        for (kind, outcome), count in sorted(self.operations.items()):
            operations[kind][outcome] = count
        total = sum(self.operations.values())
        verdict = "anomalies" if self.findings else "none found"
        if asked.json:
            pathlib.Path(asked.json).write_text(json.dumps({
                "seed": asked.seed, "seconds": round(asked.length), "rounds": self.rounds, "callers": asked.callers,
                "took": round(self.seconds), "operations": operations, "operations_in_all": total,
                "faults": dict(self.faults), "events": self.events, "frames_of_feed": self.reads_of_feed,
                "findings": self.findings, "verdict": verdict}, indent=1, ensure_ascii=False) + "\n")
        print(f"{'operation':16}{'ok':>9}{'refused':>9}{'unknown':>9}")
        for kind, outcomes in operations.items():
            print(f"{kind:16}" + "".join(f"{outcomes.get(name, 0):9}" for name in ("ok", "refused", "unknown")))
        print("\nfault              times")
        for kind in plan.FAULTS:
            print(f"{kind:18}{self.faults[kind]:6}")
        print(f"\nseed {asked.seed}: {asked.length:.0f} s of calls in {self.rounds} rounds, {total} operations, "
              f"{sum(self.faults.values())} faults, {self.events} events, {self.lost} known losses")
        for name, count in collections.Counter(one["name"] for one in self.findings).items():
            print(f"  {count} × {name}: {FINDINGS.get(name, '')}")
        print(f"anomalies: {len(self.findings)}")
        return 1 if self.findings else 0
