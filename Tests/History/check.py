"""Holds what callers were told against the log. The log is a total order, so this is linear in time and no search.

A ledger entry is one request, as a dictionary: `kind`, `id`, `caller`, `node`, `begun` and `ended` (seconds of one clock; what
was never answered ended at infinity), `outcome` ("ok", "refused" or "unknown") and what the kind needs:

    command       command (its id), what, thing, value, position     a command of the administration
    open          code, session                                      a mailed code that became a session
    grant         session                                            client_credentials
    refresh       session, shown, got                                numbers of the token shown and of its successor
    end           session                                            a revoked token, or a session that an administrator ends
    log-out       account, command, position                         all sessions of an account
    see-session   session, active                                    introspection
    see-client    thing, value (None: there is none)                 a client as an administrator reads it
    see-sessions  account, at, sessions                              a list that names its position
    see-events    after, items, head                                 a page of the log
    see-trail     wanted, at                                         a list that was to wait for a position

`Checker.round` takes the entries of one round and the events that came meanwhile. What it keeps from round to round is what
is alive."""

import bisect
import collections
import math

# An answer of a tail that is lost is good until a node can have known: docs/caches.md.
GRACE = 10
# Within the leeway a refresh token's successor is one (docs/decisions/0095), less what a request takes.
LEEWAY = 10
NEVER = math.inf

FINDINGS = {
    "missing": "an acknowledged command is not in the log",
    "doubled": "a command is in the log more than once",
    "misplaced": "the log has the command elsewhere than its answer said",
    "out-of-order": "a command was answered before another was begun, and has the higher position",
    "stale-read": "a read shows less than had been acknowledged before it began",
    "early-read": "a read shows what was begun only after it had ended",
    "wrong-read": "a read that names a position shows something else than the log there",
    "unfaithful-read": "a read that was to wait for a position did not",
    "lost-tail-read": "a read shows what went with a lost tail, long after",
    "refresh-taken-twice": "a refresh token has two successors",
    "code-taken-twice": "a mailed code opened two sessions",
    "honest-refused": "a credential was refused that its holder had used as told",
    "feed-gap": "a feed left a position out, or came to one twice",
    "feed-differs": "a feed showed another event than the log has",
    "feed-behind": "a feed did not come to the end of the log",
    "rewound": "a reader was told of a loss where nothing may be lost",
    "unasked": "the log has a command that no caller sent",
    "log-gap": "the log's positions or the versions of a stream have a gap",
    "unexpected": "an answer that no caller should get",
}


class Finding:
    def __init__(self, name, what, *entries):
        self.name, self.what, self.entries = name, what, entries

    def __repr__(self):
        return f"{self.name}: {FINDINGS[self.name]}: {self.what}"


class Session:
    __slots__ = ("opened", "ended", "account", "generations")

    def __init__(self, opened, account):
        self.opened, self.ended, self.account = opened, NEVER, account
        self.generations = {}  # number: the position that it came to be at


class Loss:
    """A tail that is known to be lost: of what was acknowledged or shown in this time. Where nothing of it was acknowledged,
    what was shown alone: PostgreSQL that is started again shows commits that waited for their standby."""

    def __init__(self, cut, over, acknowledged=True):
        self.cut, self.over, self.acknowledged = cut, over, acknowledged

    def covers(self, entry):
        return self.acknowledged and entry["ended"] >= self.cut and entry["begun"] <= self.over


class Checker:
    def __init__(self, prefix="h-"):
        # What callers name begins so: what else is in the log they did not ask for.
        self.prefix = prefix
        self.head, self.ids = 0, {}
        self.sessions, self.accounts = {}, collections.defaultdict(set)
        self.versions = {}  # of each stream: its last, and where it is
        self.clients = {}  # by name: [(position, value)]
        self.streams = {}  # the client's name of a stream
        self.commands, self.values = {}, collections.Counter()
        self.asked, self.asked_before = set(), set()
        self.findings = []

    def find(self, name, what, *entries):
        self.findings.append(Finding(name, what, *entries))

    # The log.

    def take(self, event):
        """The next event: position, id, stream, version, type, command, data."""
        position, stream = event["position"], event["stream"]
        if position != self.head + 1:
            self.find("log-gap", f"after position {self.head} comes {position}")
        if event["version"] != self.versions.get(stream, (event["version"] - 1, 0))[0] + 1:
            self.find("log-gap", f"version {event['version']} of {stream} at {position}")
        self.versions[stream] = event["version"], position
        self.head = position
        self.ids[position] = event["id"]
        places = self.commands.setdefault(event["command"], [position, position])
        if position > places[1] + 1:
            self.find("doubled", f"command {event['command']} at {places[1]} and {position}")
        places[1] = position
        self.note(event["type"], position, stream, event["data"])

    def note(self, type, position, stream, data):
        if type == "session.opened":
            session = self.sessions[stream] = Session(position, data.get("account"))
            session.generations[0] = position
            if session.account:
                self.accounts[session.account].add(stream)
        elif type == "session.refreshed" and stream in self.sessions:
            self.sessions[stream].generations.setdefault(data["generation"], position)
        elif type == "session.ended":
            self.end(stream, position)
        elif type in ("account.stamp_rotated", "account.disabled"):
            for session in self.accounts[stream]:
                self.end(session, position)
        elif type in ("client.registered", "client.updated"):
            name = self.streams.setdefault(stream, data.get("client_id"))
            value = data.get("client_name")
            self.clients.setdefault(name, []).append((position, value))
            if value and value.startswith(self.prefix):
                self.values[value] += 1
                if self.values[value] > 1:
                    self.find("doubled", f"{value} is in the log again at {position}")
                if value not in self.asked and value not in self.asked_before:
                    self.find("unasked", f"{value} at {position}")

    def end(self, stream, position):
        if session := self.sessions.get(stream):
            session.ended = min(session.ended, position)

    # One round.

    def round(self, entries, events, losses=(), feed=(), rewinds=(), settled=None):
        """The findings of one round. `settled` is the position that a feed had to come to."""
        entries.sort(key=lambda entry: entry["begun"])
        self.findings, self.losses = [], losses
        start = self.head
        self.asked = {entry["value"] for entry in entries if entry["kind"] == "command" and entry.get("value")}
        for event in events:
            self.take(event)
        acknowledged = self.acknowledged(entries)
        self.order(acknowledged)
        self.reads(entries, acknowledged, start)
        self.once(entries)
        self.honesty(entries)
        self.feed(feed, rewinds, start, settled)
        for entry in entries:
            # Accounts are never erased here: without a loss each is there.
            is_missed = entry["kind"] == "see-sessions" and entry["outcome"] == "refused" and not self.in_doubt(entry)
            if entry.get("unexpected") or is_missed:
                self.find("unexpected", entry.get("unexpected") or entry["error"], entry)
        self.forget(start)
        return self.findings

    def excused(self, entry):
        """Whether what this entry was told may be lost."""
        return any(loss.covers(entry) for loss in self.losses)

    def acknowledged(self, entries):
        """What was acknowledged, each thing once: its position, the first begin and the first answer."""
        things = {}
        for entry in entries:
            key = self.key(entry)
            if key is None:
                continue
            thing = things.setdefault(key, {"begun": entry["begun"], "ended": NEVER, "entry": entry, "lost": False})
            if entry["outcome"] == "ok":
                # Each answer of a command has to be the first one's.
                if thing.get("told") and key[0] == "command":
                    self.position(entry)
                if entry["ended"] < thing["ended"]:
                    thing["ended"], thing["entry"] = entry["ended"], entry
                thing["told"] = True
        found = []
        for key, thing in things.items():
            if not thing.get("told"):
                continue
            position = self.position(thing["entry"])
            if position is not None:
                found.append((position, thing["begun"], thing["ended"], thing["entry"]))
        return found

    def key(self, entry):
        kind = entry["kind"]
        if kind in ("command", "log-out"):
            return "command", entry["command"]
        if kind == "open":
            return "code", entry["code"]
        if kind == "grant":
            return ("grant", entry["session"]) if entry["outcome"] == "ok" else None
        if kind == "refresh":
            # Who repeats a token has the successor that another request made: all that showed it are one thing.
            return "refresh", entry["session"], entry["shown"]
        return None

    def position(self, entry):
        """Where the log has what was acknowledged; a finding, where it has not."""
        kind, excused = entry["kind"], self.excused(entry)
        if kind in ("command", "log-out"):
            places = self.commands.get(entry["command"])
            if places is None:
                if not excused:
                    self.find("missing", f"{entry['what']} {entry.get('value') or entry.get('account')} was told "
                              f"{entry['position']}", entry)
                return None
            # A command that changed nothing has no event, and tells where the log stood.
            if places[1] != entry["position"] and not excused:
                self.find("misplaced", f"{entry['what']} was told {entry['position']} and is at {places[1]}", entry)
            return places[1]
        session = self.sessions.get(entry["session"])
        if session is None:
            if not excused:
                self.find("missing", f"session {entry['session']} ({kind})", entry)
            return None
        if kind != "refresh":
            return session.opened
        place = session.generations.get(entry["got"])
        if place is None and not excused:
            self.find("missing", f"number {entry['got']} of session {entry['session']}", entry)
        return place

    def order(self, acknowledged):
        """Real time: the one with the lower position began before the one with the higher was answered."""
        latest, holder = -NEVER, None
        for position, begun, ended, entry in sorted(acknowledged, key=lambda one: one[0]):
            if ended < latest and not self.excused(entry) and not self.excused(holder[1]):
                self.find("out-of-order", f"{entry['id']} at {position} was answered before {holder[1]['id']} at "
                          f"{holder[0]} began", entry, holder[1])
            if begun > latest:
                latest, holder = begun, (position, entry)

    # Reads.

    def span(self, entry):
        """From which position on, and before which, the log is as the read shows it; None, where it never is."""
        kind = entry["kind"]
        if kind == "see-session":
            session = self.sessions.get(entry["session"])
            if session is None:
                # One that went with a lost tail is not good.
                return None if entry["active"] else (0, NEVER)
            return (session.opened, session.ended) if entry["active"] else (session.ended, NEVER)
        if kind == "see-client":
            versions = self.clients.get(entry["thing"], [])
            if entry["value"] is None:
                return 0, versions[0][0] if versions else NEVER
            for number, (position, value) in enumerate(versions):
                if value == entry["value"]:
                    return position, versions[number + 1][0] if number + 1 < len(versions) else NEVER
            return None
        if kind == "see-sessions":
            return entry["at"], entry["at"] + 1
        if kind == "see-events":
            return entry["head"], entry["head"] + 1
        if kind == "see-trail":
            return entry["at"], NEVER
        return None

    def reads(self, entries, acknowledged, start):
        seen = []
        for entry in entries:
            if entry["kind"].startswith("see-") and entry["outcome"] == "ok":
                seen.append((entry, self.span(entry)))
        # What was known before: by answers, in their order, and by what reads had shown.
        facts = [(ended, position) for position, _, ended, entry in acknowledged if not self.excused(entry)]
        facts += [(entry["ended"], span[0]) for entry, span in seen
                  if span and span[0] < NEVER and not self.excused(entry)]
        facts += self.ended(entries)
        facts.sort()
        times, known, highest = [], [], start
        for moment, position in facts:
            highest = max(highest, position)
            times.append(moment)
            known.append(highest)
        # What began later: the lowest position of all that did.
        later = sorted((begun, position) for position, begun, _, entry in acknowledged if not self.excused(entry))
        begins, lowest = [begun for begun, _ in later], [NEVER] * (len(later) + 1)
        for number in range(len(later) - 1, -1, -1):
            lowest[number] = min(lowest[number + 1], later[number][1])
        for entry, span in seen:
            place = bisect.bisect_left(times, entry["begun"])
            least = known[place - 1] if place else start
            limit = lowest[bisect.bisect_right(begins, entry["ended"])]
            self.read(entry, span, least, limit)

    def ended(self, entries):
        """What ended, and was said to have."""
        for entry in entries:
            if entry["kind"] == "end" and entry["outcome"] == "ok" and not self.excused(entry):
                session = self.sessions.get(entry["session"])
                if session and session.ended < NEVER:
                    yield entry["ended"], session.ended
                else:
                    self.find("missing", f"the end of session {entry['session']}", entry)

    def read(self, entry, span, least, limit):
        if self.in_doubt(entry):
            return
        if span is None:
            name = "lost-tail-read" if self.losses else "wrong-read"
            self.find(name, f"{entry['id']} shows {self.shown(entry)}, which the log does not have", entry)
            return
        first, end = span
        if first == NEVER:
            self.find("wrong-read", f"{entry['id']} shows {self.shown(entry)}, and the log has no such thing", entry)
        elif end <= least:
            self.find("stale-read", f"{entry['id']} shows {self.shown(entry)}, as the log was before {end}; "
                      f"{least} was known", entry)
        elif first >= limit:
            self.find("early-read", f"{entry['id']} shows {self.shown(entry)} of {first}; {limit} began later", entry)
        if entry["kind"] == "see-sessions" and not entry.get("more"):
            self.listed(entry, limit)
        if entry["kind"] == "see-events":
            self.paged(entry)
        if entry["kind"] == "see-trail" and entry["at"] < entry["wanted"]:
            self.find("unfaithful-read", f"{entry['id']} is at {entry['at']}, asked for {entry['wanted']}", entry)

    def in_doubt(self, entry):
        return any(entry["ended"] >= loss.cut and entry["begun"] <= loss.over + GRACE for loss in self.losses)

    @staticmethod
    def shown(entry):
        for name in ("active", "value", "sessions"):
            if name in entry:
                return f"{entry.get('session') or entry.get('thing') or entry.get('account')} as {entry[name]}"
        return f"position {entry.get('at', entry.get('head'))}"

    def listed(self, entry, limit):
        """The list has all up to the position that it names, which is asked for first: it may have what came just then."""
        at, those = entry["at"], self.accounts[entry["account"]]
        steps = {place for stream in those for place in (self.sessions[stream].opened, self.sessions[stream].ended)}
        for step in sorted({at} | {step for step in steps if at < step < limit}):
            there = {stream for stream in those if self.sessions[stream].opened <= step < self.sessions[stream].ended}
            if there == set(entry["sessions"]):
                return
        self.find("wrong-read", f"{entry['id']} lists {sorted(entry['sessions'])} at {at}, and the log has nowhere from "
                  "there on", entry)

    def paged(self, entry):
        expected = entry["after"] + 1
        for position, id in entry["items"]:
            if position != expected:
                self.find("feed-gap", f"a page has {position} where {expected} comes", entry)
            if self.ids.get(position, id) != id:
                self.find("wrong-read", f"{entry['id']} has another event at {position}", entry)
            expected = position + 1

    # Once.

    def once(self, entries):
        successors, codes = collections.defaultdict(list), collections.defaultdict(dict)
        for entry in entries:
            if entry["outcome"] != "ok":
                continue
            if entry["kind"] == "refresh":
                successors[entry["session"], entry["shown"]].append(entry)
            if entry["kind"] == "open":
                codes[entry["code"]].setdefault(entry["session"], entry)
        for code, opened in codes.items():
            if len(opened) > 1:
                self.find("code-taken-twice", f"{code} opened {', '.join(opened)}", *opened.values())
        for (session, shown), several in successors.items():
            first = several[0]
            for other in several[1:]:
                if other["got"] == first["got"] or self.excused(other):
                    continue
                # Later than the leeway a repeat gets a new one, if nobody showed the old one meanwhile.
                was_shown = any(
                    one["ended"] < other["begun"] for one in successors.get((session, first["got"]), ()))
                if was_shown or other["ended"] - first["begun"] < LEEWAY:
                    self.find("refresh-taken-twice", f"number {shown} of {session} became {first['got']} and "
                              f"{other['got']}", first, other)

    def honesty(self, entries):
        """Who did as told is refused nothing, but where somebody may have ended the session."""
        self.codes(entries)
        ends = {}
        for entry in entries:
            if entry["kind"] in ("end", "log-out"):
                thing = entry.get("session") or entry.get("account")
                ends[thing] = min(entry["begun"], ends.get(thing, NEVER))
        for entry in entries:
            if entry["outcome"] != "refused" or self.in_doubt(entry):
                continue
            if entry["kind"] in ("command", "log-out") and not any(loss.acknowledged for loss in self.losses):
                # Names are each caller's own, and a repeat has the first outcome.
                self.find("honest-refused", f"{entry['what']} {entry.get('value') or entry.get('account')}: "
                          f"{entry.get('error')}", entry)
            if entry["kind"] in ("see-events", "see-trail") and not self.losses:
                self.find("rewound", f"{entry['id']}: {entry.get('error')}", entry)
            if entry["kind"] != "refresh":
                continue
            session = self.sessions.get(entry["session"])
            account = session and session.account
            begun = min(ends.get(entry["session"], NEVER), ends.get(account, NEVER))
            if begun > entry["ended"] and not entry.get("tainted"):
                self.find("honest-refused", f"session {entry['session']}, number {entry['shown']}: "
                          f"{entry.get('error')}", entry)

    def codes(self, entries):
        """A code that came to its mailbox last is good once."""
        answers = collections.defaultdict(list)
        for entry in entries:
            if entry["kind"] == "open" and not entry.get("tainted"):
                answers[entry["code"]].append(entry)
        for code, several in answers.items():
            outcomes = {entry["outcome"] for entry in several}
            if "refused" in outcomes and "ok" not in outcomes and not any(map(self.in_doubt, several)):
                refused = next(entry for entry in several if entry["outcome"] == "refused")
                self.find("honest-refused", f"code {code}: {refused.get('error')}", *several)

    # Feeds.

    def feed(self, frames, rewinds, start, settled):
        """`frames` are positions and ids in the order that they came in, as each was kept in the end."""
        if rewinds and not self.losses:
            self.find("rewound", f"kept to {rewinds}")
        last = None
        for position, id in frames:
            if last is not None and position != last + 1:
                self.find("feed-gap", f"after {last} came {position}")
            last = position
            if position > start and self.ids.get(position) != id:
                self.find("feed-differs", f"at {position}: {id}, and the log has {self.ids.get(position)}")
        if settled is not None and (last or 0) < settled:
            self.find("feed-behind", f"at {last}, and the log at {settled}")

    def forget(self, start):
        """What is over, and was over when the round began, is asked for no more."""
        for stream, session in list(self.sessions.items()):
            if session.ended <= start or (not session.account and session.opened <= start):
                del self.sessions[stream]
                self.accounts[session.account].discard(stream)
        self.versions = {stream: last for stream, last in self.versions.items() if last[1] > start}
        self.clients = {name: versions for name, versions in self.clients.items() if versions[-1][0] > start}
        self.streams = {stream: name for stream, name in self.streams.items() if name in self.clients}
        self.commands = {name: places for name, places in self.commands.items() if places[1] > start}
        self.ids = {position: id for position, id in self.ids.items() if position > start}
        self.values = collections.Counter({value: 1 for value in self.values if value in self.asked})
        self.asked_before = self.asked
