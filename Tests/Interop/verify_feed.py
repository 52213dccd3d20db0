#!/usr/bin/env python3
"""Shows that a feed withheld nothing and changed nothing, while it is read. With nothing of Urd.

    curl -N -H "Authorization: Bearer $KEY" -H "Accept: application/x-ndjson" \\
        "$URL/api/admin/realms/demo/feed?from=start&leaves=all&include=record" | verify_feed.py VKEY

Each event's record has to have the leaf that the feed says, each position has to have a leaf, and the root
of all leaves (RFC 6962) has to be the one that a checkpoint signs. Ends with 1 and a reason where not."""

import base64
import hashlib
import json
import sys

import verify_log


def leaf_of(record):
    return hashlib.sha256(b"\0" + record.encode()).digest()


class Tree:
    """The perfect subtrees of the leaves so far, largest first: their heights and hashes."""

    def __init__(self):
        self.size, self.parts, self.waiting = 0, [], []

    def grow(self, size):
        """Takes waiting leaves in until there are so many."""
        assert size <= self.size + len(self.waiting), f"events up to {size} are missing"
        while self.size < size:
            height, node = 0, self.waiting.pop(0)
            while self.parts and self.parts[-1][0] == height:
                node = hashlib.sha256(b"\1" + self.parts.pop()[1] + node).digest()
                height += 1
            self.parts.append((height, node))
            self.size += 1

    def root(self):
        node = self.parts[-1][1]
        for _, left in reversed(self.parts[:-1]):
            node = hashlib.sha256(b"\1" + left + node).digest()
        return node


def unbase64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def verify(lines, key, tell=print):
    tree = Tree()
    for entry in (json.loads(line) for line in lines if line.strip()):
        place, data = tree.size + len(tree.waiting) + 1, entry.get("data")
        if entry["type"] == "urd.leaves":
            assert data["from"] == place, f"position {place} is missing"
            tree.waiting += map(unbase64, data["leaves"])
        elif entry["type"] == "urd.checkpoint":
            _, size, root = key.open(data["checkpoint"]).decode().split("\n")[:3]
            tree.grow(int(size))
            assert tree.root() == base64.b64decode(root), f"the first {size} are not those signed"
            tell(f"{size} events are as they were signed")
        elif not entry["type"].startswith("urd."):
            assert entry["position"] == place, f"position {place} is missing"
            assert leaf_of(entry["record"]) == unbase64(entry["leaf"]), f"{place} was changed"
            tree.waiting.append(leaf_of(entry["record"]))


if __name__ == "__main__":
    try:
        verify(sys.stdin, verify_log.Key(sys.argv[1]))
    except (AssertionError, IndexError, verify_log.Bad) as error:
        sys.exit(f"verify_feed: {error}")
