#!/usr/bin/env python3
"""Verifies what an Urd server hands out about its log, with nothing of Urd.

Written from the specifications alone (RFC 6962, RFC 8032, C2SP signed-note, tlog-checkpoint and
tlog-tiles) and from docs/tamper-evidence.md. Needs Python 3.9 and its standard library; signatures
are checked faster where the package `cryptography` is installed.

    verify_log.py proof FILE --key VKEY          an inclusion or consistency proof
    verify_log.py log --export FILE --key VKEY   an export of records and checkpoints
    verify_log.py tiles FOLDER --key VKEY        a folder of tiles, entries and a checkpoint

VKEY is the log's public key in the form `<name>+<id>+<base64>`: get it from somebody you trust,
not from the server. Ends with 0 where all holds, with 1 and a reason where it does not.
"""

import argparse
import base64
import binascii
import hashlib
import json
import os
import sys


class Bad(Exception):
    """What was handed out does not hold."""


# Ed25519 (RFC 8032), plain and slow, for machines without the package `cryptography`.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
I = pow(2, (P - 1) // 4, P)


def _recover_x(y, sign):
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P)
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * I % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def _point(encoded):
    y = int.from_bytes(encoded, "little")
    x = _recover_x(y & (2**255 - 1), y >> 255)
    if x is None:
        return None
    y &= 2**255 - 1
    return (x, y, 1, x * y % P)


def _add(p, q):
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def _multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = _recover_x(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)


def plain_ed25519(public, signature, message):
    """Whether a signature is one of the message, by the equations of RFC 8032."""
    if len(public) != 32 or len(signature) != 64:
        return False
    key, commitment = _point(public), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= L:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    left = _multiply(scalar, BASE)
    right = _add(commitment, _multiply(int.from_bytes(digest, "little") % L, key))
    return not (left[0] * right[2] - right[0] * left[2]) % P and not (
        left[1] * right[2] - right[1] * left[2]
    ) % P


try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    def ed25519(public, signature, message):
        try:
            Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
            return True
        except (InvalidSignature, ValueError):
            return False

except ImportError:
    ed25519 = plain_ed25519


# Signed notes and checkpoints.


def unbase64(text):
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Bad(f"not base64: {text!r}") from error


class Key:
    """A public key that signs notes, under its name."""

    def __init__(self, text):
        parts = text.split("+", 2)
        if len(parts) != 3:
            raise Bad("a key has the form <name>+<id>+<base64>")
        self.name, identifier, content = parts[0], parts[1], unbase64(parts[2])
        if len(content) != 33 or content[0] != 1:
            raise Bad("only Ed25519 keys are known")
        digest = hashlib.sha256(self.name.encode() + b"\n" + content).digest()
        self.id, self.public = digest[:4], content[1:]
        if self.id.hex() != identifier:
            raise Bad("the key's id does not fit the key")

    def open(self, note):
        """The text of a note that this key signed."""
        try:
            data = note.encode("utf-8") if isinstance(note, str) else note
            data.decode("utf-8")
        except UnicodeError as error:
            raise Bad("a note is UTF-8") from error
        if any(byte < 0x20 and byte != 0x0A for byte in data):
            raise Bad("a note has no control characters")
        text, blank, rest = data.rpartition(b"\n\n")
        if not blank or not rest.endswith(b"\n"):
            raise Bad("a note has a blank line and signatures behind it")
        text += b"\n"
        found = False
        for line in rest[:-1].split(b"\n"):
            mark, _, tail = line.partition(b" ")
            name, _, signature = tail.partition(b" ")
            if mark != "\u2014".encode() or not name or not signature:
                raise Bad("a line behind the blank one is not a signature")
            content = unbase64(signature.decode())
            if name == self.name.encode() and content[:4] == self.id:
                if not ed25519(self.public, content[4:], text):
                    raise Bad("the signature of a checkpoint is bad")
                found = True
        if not found:
            raise Bad("a checkpoint is not signed by this key")
        return text

    def checkpoint(self, note):
        """Size and root of a signed checkpoint of this key's own log."""
        lines = self.open(note).decode().split("\n")
        if len(lines) < 4 or lines[-1] or "" in lines[:-1]:
            raise Bad("a checkpoint has three lines")
        if lines[0] != self.name:
            raise Bad(f"the checkpoint is of another log: {lines[0]}")
        digits = lines[1]
        if not digits.isascii() or not digits.isdecimal() or len(digits) > 18 or (
            digits[0] == "0" and digits != "0"
        ):
            raise Bad("the size of a checkpoint is a number")
        root = unbase64(lines[2])
        if len(root) != 32:
            raise Bad("a root has 32 bytes")
        return int(digits), root


# The tree of RFC 6962.


def leaf_hash(record):
    return hashlib.sha256(b"\x00" + record).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """The perfect subtrees of a tree that grows to the right, largest first."""

    def __init__(self, size=0, subtrees=()):
        if bin(size).count("1") != len(subtrees):
            raise Bad("the hashes before the first record do not fit its position")
        self.size, self.subtrees = size, list(subtrees)

    def append(self, leaf):
        size = self.size
        while size & 1:
            leaf = node_hash(self.subtrees.pop(), leaf)
            size >>= 1
        self.subtrees.append(leaf)
        self.size += 1

    def root(self):
        if not self.subtrees:
            return hashlib.sha256(b"").digest()
        root = self.subtrees[-1]
        for left in reversed(self.subtrees[:-1]):
            root = node_hash(left, root)
        return root


def root_of(hashes):
    tree = Tree()
    for value in hashes:
        tree.append(value)
    return tree.root()


def included_root(leaf, index, size, path):
    """The root that an inclusion path leads to (RFC 9162 section 2.1.3.2)."""
    node, last, value = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            raise Bad("the path is too long")
        if node & 1 or node == last:
            value = node_hash(sibling, value)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            value = node_hash(value, sibling)
        node, last = node >> 1, last >> 1
    if last:
        raise Bad("the path is too short")
    return value


def check_consistency(old, old_root, new, new_root, path):
    """RFC 9162 section 2.1.4.2."""
    if not 0 < old <= new:
        raise Bad("the older checkpoint is not the smaller one")
    if old == new:
        if path or old_root != new_root:
            raise Bad("two checkpoints of one size differ")
        return
    path = list(path)
    node, last = old - 1, new - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    if node == 0:
        path.insert(0, old_root)
    if not path:
        raise Bad("the path is too short")
    first = second = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise Bad("the path is too long")
        if node & 1 or node == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            second = node_hash(second, sibling)
        node, last = node >> 1, last >> 1
    if last or first != old_root or second != new_root:
        raise Bad("the newer checkpoint does not extend the older one")


# What can be verified.


def parse(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Bad(f"not JSON: {error}") from error


def whole(value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise Bad(f"not a whole number: {value!r}")
    return value


def hashes(values):
    decoded = [unbase64(value) for value in values]
    if any(len(value) != 32 for value in decoded):
        raise Bad("a hash has 32 bytes")
    return decoded


def verify_proof(path, key):
    with open(path, encoding="utf-8") as file:
        proof = parse(file.read())
    try:
        if proof["format"] == "urd-inclusion/1":
            size, root = key.checkpoint(proof["checkpoint"])
            position, record = whole(proof["position"]), proof["record"].encode()
            if not 0 < position <= size:
                raise Bad("the position is not below the size of the checkpoint")
            found = included_root(leaf_hash(record), position - 1, size, hashes(proof["path"]))
            if found != root:
                raise Bad("the record does not lead to the signed root")
            event = parse(proof["record"])
            return (
                f"position {position} of {key.name} ({event['type']}) is in the log of size {size}"
            )
        if proof["format"] == "urd-consistency/1":
            old, old_root = key.checkpoint(proof["old"])
            new, new_root = key.checkpoint(proof["new"])
            check_consistency(old, old_root, new, new_root, hashes(proof["path"]))
            return f"the log {key.name} of size {new} extends that of size {old}"
    except (KeyError, TypeError, AttributeError) as error:
        raise Bad(f"the proof has no good member {error}") from error
    raise Bad("unknown format")


def verify_export(path, key):
    """Each record must stand where the signed roots say; the last ones may not be signed yet."""
    with open(path, "rb") as file:
        header = parse(file.readline())
        try:
            if header["format"] != "urd-log/1":
                raise Bad("unknown format")
            first, last, realm = whole(header["first"]), whole(header["last"]), header["realm"]
            if not 0 < first <= last:
                raise Bad("the header's positions are not in order")
            tree = Tree(first - 1, hashes(header["before"]))
        except (KeyError, TypeError) as error:
            raise Bad(f"the header has no good member {error}") from error
        sealed, checkpoints, versions = first - 1, 0, {}
        for line in file:
            if not line.endswith(b"\n"):
                raise Bad(f"the file breaks off at position {tree.size + 1}")
            line = line[:-1]
            if line.startswith(b'{"checkpoint":'):
                size, root = key.checkpoint(note_of(parse(line)))
                if size != tree.size:
                    raise Bad(f"a checkpoint of size {size} stands behind position {tree.size}")
                if root != tree.root():
                    raise Bad(
                        f"positions {sealed + 1} to {size}: the records do not have the signed root"
                    )
                sealed, checkpoints = size, checkpoints + 1
                continue
            tree.append(leaf_hash(line))
            check_record(parse(line), tree.size, realm, versions, first == 1)
    if tree.size != last:
        raise Bad(f"the file ends at position {tree.size}, not at {last}")
    if checkpoints == 0:
        raise Bad("no checkpoint vouches for the records")
    rest = f", {last - sealed} more are not signed yet" if last > sealed else ""
    return f"positions {first} to {sealed} of {key.name} hold, {checkpoints} checkpoints{rest}"


def note_of(line):
    note = line.get("checkpoint") if isinstance(line, dict) else None
    if not isinstance(note, str):
        raise Bad("a checkpoint is a text")
    return note


def check_record(event, position, realm, versions, is_whole):
    try:
        stream, version = event["stream"], event["version"]
        whole(version)
        if event["realm"] != realm:
            raise Bad(f"position {position}: the record is of realm {event['realm']}")
    except (KeyError, TypeError) as error:
        raise Bad(f"position {position}: the record has no good member {error}") from error
    before = versions.get(stream)
    if before is None and is_whole:
        before = 0
    if before is not None and version != before + 1:
        raise Bad(f"position {position}: version {version} of its stream follows {before}")
    versions[stream] = version


def tile_path(level, index, width):
    parts = [f"{index % 1000:03d}"]
    while index >= 1000:
        index //= 1000
        parts.insert(0, f"x{index % 1000:03d}")
    return os.path.join("tile", str(level), *parts) + ("" if width == 256 else f".p/{width}")


def verify_tiles(folder, key):
    """Every entry must hash to its leaf, every tile to its place above, all to the signed root."""

    def content(path):
        try:
            with open(os.path.join(folder, path), "rb") as file:
                return file.read()
        except OSError as error:
            raise Bad(f"{path} is missing") from error

    size, root = key.checkpoint(content("checkpoint"))
    expected, level, tree = None, 0, {}
    while level == 0 or size >> (8 * level):
        count = size >> (8 * level)
        below = []
        for index in range((count + 255) // 256):
            width = min(256, count - 256 * index)
            path = tile_path(level, index, width)
            tile = content(path)
            if len(tile) != 32 * width:
                raise Bad(f"{path} has {len(tile)} bytes")
            values = [tile[place : place + 32] for place in range(0, len(tile), 32)]
            if level == 0:
                wanted = entry_hashes(content(tile_path("entries", index, width)), index, width)
            else:
                wanted = expected[256 * index : 256 * index + width]
            for place, (value, other) in enumerate(zip(values, wanted)):
                if value != other:
                    number = 256 * index + place
                    raise Bad(
                        f"position {number + 1}: the entry does not have the tile's hash"
                        if level == 0
                        else f"{path}: hash {place} is not that of its tile below"
                    )
            if width == 256:
                below.append(root_of(values))
            else:
                tree[level] = values
        expected = below
        level += 1
    if combine(tree) != root:
        raise Bad("the tiles do not have the signed root")
    return f"the log {key.name} of size {size} holds, tiles and entries"


def entry_hashes(bundle, index, width):
    values, place = [], 0
    while place < len(bundle):
        length = int.from_bytes(bundle[place : place + 2], "big")
        entry = bundle[place + 2 : place + 2 + length]
        if len(entry) != length:
            raise Bad(f"the bundle of entries {index} breaks off")
        values.append(leaf_hash(entry))
        place += 2 + length
    if len(values) != width:
        raise Bad(f"the bundle of entries {index} has {len(values)} entries")
    return values


def combine(partial):
    """The root over the unfinished tiles of every level, from the right."""
    root = None
    for level in sorted(partial):
        tree = Tree()
        for value in partial[level]:
            tree.append(value)
        for left in reversed(tree.subtrees):
            root = left if root is None else node_hash(left, root)
    return root if root is not None else hashlib.sha256(b"").digest()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    proof = modes.add_parser("proof", help="an inclusion or consistency proof")
    proof.add_argument("file")
    log = modes.add_parser("log", help="an export of records and checkpoints")
    log.add_argument("--export", required=True, metavar="FILE")
    tiles = modes.add_parser("tiles", help="a folder of tiles, entries and a checkpoint")
    tiles.add_argument("folder")
    for mode in (proof, log, tiles):
        mode.add_argument("--key", required=True, metavar="VKEY")
    options = parser.parse_args(arguments)
    try:
        key = Key(options.key)
        if options.mode == "proof":
            answer = verify_proof(options.file, key)
        elif options.mode == "log":
            answer = verify_export(options.export, key)
        else:
            answer = verify_tiles(options.folder, key)
    except Bad as bad:
        print(f"does not hold: {bad}", file=sys.stderr)
        return 1
    except (OSError, UnicodeError) as error:
        print(f"can't be read: {error}", file=sys.stderr)
        return 1
    print(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
