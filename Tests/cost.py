"""What each operation costs: the table of the counts that `urd-bench --counts` left, beside the last one on record.

usage: python3 Tests/cost.py FOLDER [--record --why TEXT] [--on FILE]

`make cost` ends with it. The record is Tests/Benchmarks/cost.json: one entry for each day that was kept, the newest
last. A figure that is 3 % higher than in the entry before fails, here and in the tests of the record, unless the
entry's `why` has a line that begins with the operation's name.
"""

import argparse
import collections
import datetime
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "Tests" / "Benchmarks" / "cost.json"
MOST = 1.03
# Of a server at rest, by the second.
IDLE = "idle"

# Which part of a request a function of ours is for: the first of these that its module and type match. What is not
# ours (Swift's runtime, libc, OpenSSL) or is a tool of many parts (JSON, Values) counts for who called it.
LAYERS = [
    ("behind the answer", r"EventStore (Sealer|SealingRound|SealedTree|Tamper|TileFrontier|Signed|Note)"
     r"|ReadModels (ProjectionFollower|Following|EventRing|LogFollower|Step)"
     r"|urd (Outbox|Mailer|DeliveryRecord|Finding|Webhook|Signal|Logout|Notif|Lease|Realms|Block)|ReadModels DueWork"),
    ("HTTP", r"(HTTPServer|HTTP) |libmicrohttpd"),
    ("queue and lane", r"EventStore (Committer|Admission|Lane|Flight|Pending|CommitHub|CommitStanding|CommitMetrics)"
     r"|Postgres |Threads |libpq"),
    ("encode and seal", r"EventStore (EncodedCommit|CommitEncoder|EventSeal|Record|Keyring|KeyCache|RealmKeys|Sealing|PostgresLog)"),
    ("gather and decide", r"(EventSourcing|Identity|EventStore|ReadModels) "),
    ("routing", r"API (Router|Route|Surface|Table|Host|Place|Path|Call|Parameter|Schema|Shape)"),
    ("admission", r"API (Rate|Limit|KnownClient|ClientAuth|Access|Admin|Context|Realm|Permit|Uniform)"),
    ("answer", r"(API|JOSE|OneTimeCodes|Mail|HTML|urd) "),
]
LAYERS = [(name, re.compile(pattern)) for name, pattern in LAYERS]
MANGLED = re.compile(r"\$s(\d+)")


def owner(name, library):
    """`Module Type` of a function of ours, as far as its mangled name says; the library's name otherwise."""
    if "libmicrohttpd" in library or "libpq" in library:
        return pathlib.Path(library).name.split(".")[0] + " "
    words, rest = [], name
    found = MANGLED.search(rest)
    while found and len(words) < 2:
        start, length = found.end(), int(found[1])
        words.append(rest[start:start + length])
        rest = rest[start + length:]
        found = re.match(r"[A-Z]?(?:E|A[A-Z])?(\d+)", rest)
    return " ".join(words) + ("" if len(words) > 1 else " ")


def layer(name, library):
    known = owner(name, library)
    return next((title for title, pattern in LAYERS if pattern.match(known)), None)


class Profile:
    """What callgrind wrote: instructions of each function, and of what each called."""

    def __init__(self, path):
        self.own = collections.Counter()
        self.calls = collections.defaultdict(collections.Counter)
        self.library = {}
        names = {"fn": {}, "ob": {}, "fl": {}}
        library = function = called = called_library = None
        calling = False
        for line in path.read_text(errors="replace").splitlines():
            key, _, value = line.partition("=")
            if key in ("fn", "cfn", "ob", "cob", "cfi", "cfl", "fi", "fe", "fl") and value:
                table = names[key[-2:]] if key[-2:] in names else names["fl"]
                number, _, text = value.partition(" ")
                if text:
                    table[number] = text
                text = table.get(number, number)
                if key == "ob":
                    library = text
                elif key == "cob":
                    called_library = text
                elif key == "fn":
                    function, called_library = text, None
                    self.library.setdefault(function, library or "")
                elif key == "cfn":
                    called = text
                    self.library.setdefault(called, called_library or library or "")
            elif key == "calls":
                calling = True
            elif line and line[0] in "0123456789+-*" and function:
                cost = int(line.split()[1])
                if calling:
                    self.calls[called][function] += cost
                    calling, called_library = False, None
                else:
                    self.own[function] += cost

    def layers(self):
        """Instructions by layer. A function of no layer gives what it cost to those who called it, by what they spent
        in it, and they to theirs."""
        found, left = collections.Counter(), dict(self.own)
        titles = {name: layer(name, self.library.get(name, "")) for name in self.library}
        for _ in range(40):
            onward = collections.Counter()
            for name, cost in left.items():
                title = titles.get(name)
                callers = self.calls.get(name)
                if title or not callers or cost < 1:
                    found[title or "what calls nobody of ours"] += cost
                    continue
                whole = sum(callers.values()) or 1
                for caller, share in callers.items():
                    onward[caller] += cost * share / whole
            left = onward
        found["what calls nobody of ours"] += sum(left.values())
        return found


def figures(folder):
    """Each operation with what it costs, without what the server would have spent at rest."""
    counts = {row["name"]: row for row in json.loads((folder / "counts.json").read_text())}
    rest = counts.pop(IDLE)

    def net(span, resting, member):
        by_second = resting[member] / resting["seconds"]
        return max(0, (span[member] - by_second * span["seconds"]) / span["count"])

    rows = {}
    for name, row in counts.items():
        counted, timed = row["instructions"], row["times"]
        rows[name] = {
            "instructions": round(net(counted, rest["instructions"], "server")),
            "server_us": round(net(timed, rest["times"], "server") / 1000, 1),
            "database_us": round(net(timed, rest["times"], "database") / 1000, 1),
            "wal_bytes": round(net(timed, rest["times"], "log")),
        }
    second = {
        "instructions": round(rest["instructions"]["server"] / rest["instructions"]["seconds"]),
        "server_us": round(rest["times"]["server"] / rest["times"]["seconds"] / 1000, 1),
        "database_us": round(rest["times"]["database"] / rest["times"]["seconds"] / 1000, 1),
        "wal_bytes": round(rest["times"]["log"] / rest["times"]["seconds"]),
    }
    return {**rows, IDLE: second}


def rises(before, after):
    """The operations whose instructions rose by 3 % or more, with both figures."""
    return {
        name: (before[name]["instructions"], row["instructions"]) for name, row in after.items()
        if name != IDLE and name in before and row["instructions"] >= before[name]["instructions"] * MOST}


def unexplained(before, after, why):
    return {
        name: both for name, both in rises(before, after).items()
        if not any(line.startswith(name) for line in why)}


def table(rows):
    """As Markdown."""
    lines = [
        "| operation | instructions | server µs | PostgreSQL µs | WAL bytes |", "|---|---|---|---|---|"]
    for name, row in rows.items():
        title = "a second at rest" if name == IDLE else name
        lines.append(
            f"| {title} | {row['instructions']:,} | {row['server_us']:,} | {row['database_us']:,} "
            f"| {row['wal_bytes']:,} |")
    return "\n".join(lines)


def shares(folder, names):
    """Instructions by layer for each operation, gross: what the server does at rest is behind the answer."""
    titles = ["HTTP", "routing", "admission", "gather and decide", "encode and seal", "queue and lane",
              "answer", "behind the answer", "what calls nobody of ours"]
    lines = ["| operation | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
    counts = {row["name"]: row for row in json.loads((folder / "counts.json").read_text())}
    for name in names:
        path = folder / f"{name}.profile"
        if name == IDLE or not path.exists():
            continue
        found = Profile(path).layers()
        each = counts[name]["instructions"]["count"]
        lines.append(f"| {name} | " + " | ".join(f"{found[title] / each / 1000:,.0f}" for title in titles) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--record", action="store_true", help="keep these figures as the newest entry")
    parser.add_argument("--why", action="append", default=[], help="why one rose: OPERATION: REASON")
    parser.add_argument("--on", type=pathlib.Path, default=RECORD, help="the record")
    asked = parser.parse_args()
    rows = figures(asked.folder)
    layers = shares(asked.folder, rows)
    text = f"{table(rows)}\n\nThousands of instructions of one, by layer, with the server's rest:\n\n{layers}\n"
    (asked.folder / "cost.txt").write_text(text)
    (asked.folder / "cost.json").write_text(json.dumps(rows, indent=2) + "\n")
    print(text)
    record = json.loads(asked.on.read_text()) if asked.on.exists() else []
    bad = unexplained(record[-1]["operations"], rows, asked.why) if record else {}
    for name, (before, after) in bad.items():
        print(f"{name}: {before:,} instructions on record, {after:,} now. "
              f"Mend it, or say why: --record --why '{name}: …'", file=sys.stderr)
    if asked.record and not bad:
        day = datetime.date.today().isoformat()
        record.append({"day": day, "why": asked.why, "operations": rows})
        asked.on.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
