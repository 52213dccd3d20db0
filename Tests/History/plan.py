"""What a seed stands for: which faults befall which part when, and what each caller does next."""

import random

NODES, SERVERS = 3, 2

# How often each comes, beside the others of its lane. What befalls nodes goes on beside what befalls the database.
NODE_FAULTS = {
    "node-kill": 3,            # kill -9, and started again
    "node-freeze": 3,          # SIGSTOP
    "node-cut-database": 3,    # the network between a node and both servers of the database
    "node-cut-callers": 2,     # the network between a node and its callers
    "node-clock": 2,           # a clock that is wrong by an hour, or by half a minute
}
DATABASE_FAULTS = {
    "database-kill": 3,        # kill -9 of all processes, and started again
    "database-freeze": 2,      # SIGSTOP of all processes
    "database-full": 2,        # not a byte is left on its disk
    "standby-cut": 2,          # the network between primary and standby: commits wait
    "failover": 3,             # the primary dies, the synchronous standby is promoted: nothing may be lost
    "failover-behind": 3,      # the same, where the primary was started again while the standby was cut off
    "failover-lossy": 1,       # an asynchronous standby is promoted: a known tail is lost
}
FAULTS = [*NODE_FAULTS, *DATABASE_FAULTS]

OPERATIONS = {
    "refresh": 26, "refresh-twice": 2, "introspect": 26, "grant": 12, "register": 4, "update": 6, "rotate": 4, "see-client": 8,
    "see-sessions": 5, "see-events": 3, "see-trail": 2, "sign-in": 2, "revoke": 1, "end-session": 1, "log-out": 0.3,
}


class Fault:
    def __init__(self, lane, at, kind, target, seconds, detail):
        self.lane, self.at, self.kind = lane, at, kind
        self.target, self.seconds, self.detail = target, seconds, detail

    def told(self):
        return {"at": round(self.at, 2), "kind": self.kind, "target": self.target,
                "seconds": round(self.seconds, 2), "detail": self.detail}


def draw(seed, number, length, kinds):
    """The faults of one round, in two lanes that go on side by side."""
    faults = []
    for lane, weights in (("node", NODE_FAULTS), ("database", DATABASE_FAULTS)):
        chance = random.Random(f"{seed}/{number}/{lane}")
        wanted = {kind: weight for kind, weight in weights.items() if kind in kinds}
        at = chance.uniform(1, 4)
        while wanted and at < length - 3:
            (kind,) = chance.choices(list(wanted), list(wanted.values()))
            seconds = chance.uniform(0.3, 6)
            faults.append(Fault(lane, at, kind, chance.randrange(NODES), seconds, {
                "clock": chance.choice([-3600, -30, 30, 3600]), "pause": chance.uniform(0.2, 2.5)}))
            # A failover takes its own time on top: the next one comes when it is over.
            at += seconds + chance.uniform(1, 5)
    return faults


class Steps:
    """What a caller does, one thing after the other: the kind, and numbers to choose by."""

    def __init__(self, seed, number, caller):
        self.chance = random.Random(f"{seed}/{number}/caller/{caller}")
        self.kinds, self.weights = list(OPERATIONS), list(OPERATIONS.values())

    def next(self):
        (kind,) = self.chance.choices(self.kinds, self.weights)
        return kind, [self.chance.random() for _ in range(4)]
