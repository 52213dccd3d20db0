#!/usr/bin/env python3
"""Verifies what an Urd server hands out about its log, with nothing of Urd.

Written from the specifications alone (RFC 6962, RFC 8032, C2SP signed-note, tlog-checkpoint and
tlog-tiles) and from docs/tamper-evidence.md. Needs Python 3.9 and its standard library; signatures
are checked faster where the package `cryptography` is installed.

    verify_log.py proof FILE --key VKEY          an inclusion or consistency proof
    verify_log.py log --export FILE --key VKEY   an export of records and checkpoints
    verify_log.py tiles FOLDER --key VKEY        a folder of tiles, entries and a checkpoint
    verify_log.py case FILE --key VKEY           a case file; with --export FILE what it leaves out

VKEY is the log's public key in the form `<name>+<id>+<base64>`: get it from somebody you trust,
not from the server. Ends with 0 where all holds, with 1 and a reason where it does not.
"""

import argparse
import base64
import binascii
import hashlib
import gzip
import hmac
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


# Sealed fields: HKDF (RFC 5869) and AES-256-GCM (NIST SP 800-38D), plain where `cryptography` is not installed.


def expand(key, info, length):
    output, block, number = b"", b"", 1
    while len(output) < length:
        block = hmac.digest(key, block + info + bytes([number]), "sha256")
        output, number = output + block, number + 1
    return output[:length]


def _aes_tables():
    """The S-box, and what a byte in each place of a column becomes (FIPS 197)."""
    power, logarithm, value = [0] * 255, [0] * 256, 1
    for exponent in range(255):
        power[exponent], logarithm[value] = value, exponent
        value ^= value << 1 ^ (0x11B if value & 0x80 else 0)
        value &= 0xFF
    box = []
    for byte in range(256):
        inverse = power[-logarithm[byte] % 255] if byte else 0
        spread = inverse
        for shift in range(1, 5):
            spread ^= (inverse << shift | inverse >> (8 - shift)) & 0xFF
        box.append(spread ^ 0x63)
    tables = [[], [], [], []]
    for byte in box:
        double = byte << 1 ^ (0x11B if byte & 0x80 else 0)
        column = double << 24 | byte << 16 | byte << 8 | double ^ byte
        for place in range(4):
            tables[place].append((column >> 8 * place | column << 32 - 8 * place) & 0xFFFFFFFF)
    return box, tables


BOX, TABLES = _aes_tables()


class AES256:
    """Encrypts blocks, which is all that GCM needs."""

    def __init__(self, key):
        words = [int.from_bytes(key[place : place + 4], "big") for place in range(0, 32, 4)]
        constant = 1
        for number in range(8, 60):
            word = words[-1]
            if number % 8 == 0:
                word = (word << 8 | word >> 24) & 0xFFFFFFFF
            if number % 4 == 0:
                word = int.from_bytes(bytes(BOX[byte] for byte in word.to_bytes(4, "big")), "big")
            if number % 8 == 0:
                word ^= constant << 24
                constant <<= 1
            words.append(words[number - 8] ^ word)
        self.words = words

    def encrypt(self, block):
        state = [
            int.from_bytes(block[4 * place : 4 * place + 4], "big") ^ self.words[place]
            for place in range(4)
        ]
        first, second, third, fourth = TABLES
        for start in range(4, 56, 4):
            state = [
                first[state[place] >> 24]
                ^ second[state[(place + 1) % 4] >> 16 & 0xFF]
                ^ third[state[(place + 2) % 4] >> 8 & 0xFF]
                ^ fourth[state[(place + 3) % 4] & 0xFF]
                ^ self.words[start + place]
                for place in range(4)
            ]
        output = b""
        for place in range(4):
            word = int.from_bytes(
                bytes(BOX[state[(place + row) % 4] >> 24 - 8 * row & 0xFF] for row in range(4)),
                "big")
            output += (word ^ self.words[56 + place]).to_bytes(4, "big")
        return output


def plain_aes_gcm(key, nonce, sealed, associated):
    """What was sealed; None where it was not sealed under this key, or was changed."""
    cipher = AES256(key)
    secret = int.from_bytes(cipher.encrypt(bytes(16)), "big")
    # The secret times each byte in each place, for four bits at a time.
    powers, value = [], secret
    for _ in range(128):
        powers.append(value)
        value = value >> 1 ^ (0xE1 << 120 if value & 1 else 0)

    def times_secret(value):
        product = 0
        for place in range(128):
            if value >> 127 - place & 1:
                product ^= powers[place]
        return product

    content, tag = sealed[:-16], sealed[-16:]
    hashed = 0
    for part in (associated, content):
        for place in range(0, len(part), 16):
            block = part[place : place + 16].ljust(16, b"\0")
            hashed = times_secret(hashed ^ int.from_bytes(block, "big"))
    lengths = (8 * len(associated)).to_bytes(8, "big") + (8 * len(content)).to_bytes(8, "big")
    hashed = times_secret(hashed ^ int.from_bytes(lengths, "big"))
    mask = int.from_bytes(cipher.encrypt(nonce + b"\0\0\0\1"), "big")
    if len(tag) != 16 or not hmac.compare_digest((hashed ^ mask).to_bytes(16, "big"), tag):
        return None
    plain = b""
    for number, place in enumerate(range(0, len(content), 16)):
        block = content[place : place + 16]
        stream = cipher.encrypt(nonce + (number + 2).to_bytes(4, "big"))
        plain += bytes(one ^ other for one, other in zip(block, stream))
    return plain


try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    def aes_gcm(key, nonce, sealed, associated):
        try:
            return AESGCM(key).decrypt(nonce, sealed, associated)
        except (InvalidTag, ValueError):
            return None

except ImportError:
    aes_gcm = plain_aes_gcm


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


class CaseFile:
    """A case file (`urd-case/1`), line by line: what each proves, and that none is missing."""

    # Behind a line of a kind may stand these.
    BEHIND = {
        None: {"case"}, "case": {"record"}, "record": {"related"},
        "related": {"record", "opened", "stream"}, "opened": {"record", "stream"},
        "stream": {"stream", "leaves", "manifest"}, "leaves": {"leaves", "manifest"},
        "manifest": set(),
    }

    def __init__(self, key):
        self.key, self.number, self.chain, self.kind = key, 0, bytes(32), None
        self.position, self.records, self.opened_count = 0, {}, 0
        self.versions, self.streams, self.tree = {}, set(), Tree()

    def add(self, line):
        """One line, without its end."""
        self.number += 1
        try:
            self.read(line)
        except Bad as bad:
            raise Bad(f"line {self.number}: {bad}") from bad
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise Bad(f"line {self.number}: there is no good member {error}") from error

    def read(self, line):
        if self.kind == "manifest":
            raise Bad("something stands behind the manifest")
        if line[:9] != b'{"hash":"' or line[52:54] != b'",':
            raise Bad("the line does not begin with its hash")
        found = hashlib.sha256(self.chain + b"{" + line[54:]).digest()
        told = base64.urlsafe_b64encode(found).rstrip(b"=")
        members = parse(line)
        kind = members["line"]
        if kind not in self.BEHIND[self.kind]:
            raise Bad(f"a line '{kind}' cannot stand here, behind '{self.kind}'")
        # First what the line is about, so that of a forged one it is told what is wrong with it.
        self.READERS[kind](self, members)
        if told != line[9:52]:
            raise Bad(
                f"the line ('{kind}') is not what was written, or one before it is missing or moved")
        self.chain, self.kind = found, kind

    def case(self, line):
        if line["format"] != "urd-case/1":
            raise Bad("unknown format")
        self.id, self.about, self.realm = line["case"], line["about"], line["realm"]
        self.until, self.complete, self.open = whole(line["until"]), line["complete"], line["open"]
        self.size, self.root = self.key.checkpoint(line["checkpoint"])
        if not self.key.name.endswith("/" + self.realm):
            raise Bad(f"the case is of realm {self.realm}, the key of {self.key.name}")
        if not 0 < self.until <= self.size:
            raise Bad("the checkpoint does not cover what was looked at")

    def record(self, line):
        position, text = whole(line["position"]), line["record"]
        if not self.position < position <= self.until:
            raise Bad(f"position {position} is not between {self.position} and {self.until}")
        leaf = leaf_hash(text.encode())
        if included_root(leaf, position - 1, self.size, hashes(line["path"])) != self.root:
            raise Bad(f"the record of position {position} does not lead to the signed root")
        event = parse(text)
        if event["realm"] != self.realm:
            raise Bad(f"the record is of realm {event['realm']}")
        self.position, self.event, self.records[position] = position, event, leaf
        self.versions.setdefault(event["stream"], []).append(whole(event["version"]))

    def related(self, line):
        if line["position"] != self.position:
            raise Bad("it is not about the record before it")
        if not any(one.get(self.about["kind"]) == self.about["id"] for one in line["about"]):
            raise Bad("the record is not about the subject of the case")

    def opened(self, line):
        if line["position"] != self.position:
            raise Bad("it is not about the record before it")
        if not self.open:
            raise Bad("nothing was to be opened")
        if "sealed" not in self.event:
            raise Bad("the record has nothing sealed")
        if line["personal"] in ("opened", "unprovable"):
            self.opened_count += 1
        if line["personal"] != "opened":
            return
        sealed, key = unbase64url(line["sealed"]), unbase64url(line["key"])
        if base64.urlsafe_b64encode(hashlib.sha256(sealed).digest()).rstrip(b"=").decode() != (
            self.event["sealed"]
        ):
            raise Bad("the sealed bytes are not those of the record")
        event = self.event
        if expand(key, b"urd event commitment", 16) != sealed[:16]:
            raise Bad("the key is not the one that the event was sealed under")
        place = f"urd sealed/{self.realm}/{event['stream']}/{event['version']}/{event['type']}"
        plain = aes_gcm(
            expand(key, b"urd event encryption", 32), sealed[16:28], sealed[28:],
            place.encode())
        if plain is None:
            raise Bad("the sealed bytes do not open with the key")
        if parse(plain) != line["fields"]:
            raise Bad("the fields are not those that were sealed")

    def stream(self, line):
        versions = self.versions.get(line["stream"])
        if versions is None or line["stream"] in self.streams:
            raise Bad("no record is of the stream, or it was told of already")
        if versions != sorted(set(versions)):
            raise Bad("the versions of the stream are not in their order")
        told = (line["first"], line["last"], line["count"])
        if told != (versions[0], versions[-1], len(versions)):
            missing = sorted(set(range(line["first"], line["last"] + 1)) - set(versions))
            raise Bad(
                f"the records of the stream are versions {versions[0]} to {versions[-1]}, "
                f"{len(versions)} of them, and not as is said here; not there: {missing[:10]}")
        if line["complete"] != (versions == list(range(1, len(versions) + 1))):
            raise Bad("the stream is not as complete as is said here")
        self.streams.add(line["stream"])

    def leaves(self, line):
        if not self.complete:
            raise Bad("the file was not to have the leaves of the log")
        if line["from"] != self.tree.size + 1:
            raise Bad(f"the leaves go on at {self.tree.size + 1}, and not at {line['from']}")
        for leaf in hashes(line["leaves"]):
            self.tree.append(leaf)
            if self.records.get(self.tree.size, leaf) != leaf:
                raise Bad(f"position {self.tree.size}: the leaf is not that of the record")

    def manifest(self, line):
        if set(self.versions) != self.streams:
            raise Bad("a stream of the records is not told of")
        if self.complete and (self.tree.size != self.size or self.tree.root() != self.root):
            raise Bad("the leaves of the log do not have the signed root")
        counted = (self.number - 1, len(self.records), self.opened_count)
        if (line["lines"], line["records"], line["opened"]) != counted:
            raise Bad(f"the file has {counted[0]} lines before it, and not {line['lines']}")
        if line["digest"] != base64.urlsafe_b64encode(self.chain).rstrip(b"=").decode():
            raise Bad("the digest is not that of the lines before it")
        signed = self.key.open(line["signature"]).decode().split("\n")
        digest = base64.b64encode(self.chain).decode()
        if signed != [
            "urd-case/1", self.key.name, self.id, str(counted[0]), digest, ""
        ]:
            raise Bad("the signature is over another file")

    READERS = {
        "case": case, "record": record, "related": related, "opened": opened, "stream": stream,
        "leaves": leaves, "manifest": manifest,
    }

    def end(self):
        if self.kind != "manifest":
            raise Bad(f"line {self.number + 1}: the file ends without its manifest")
        streams = sum(
            versions == list(range(1, len(versions) + 1)) for versions in self.versions.values())
        return (
            f"case {self.id} about {self.about['kind']} {self.about['id']}: {len(self.records)} "
            f"records of {self.key.name} up to position {self.until}, "
            f"{self.opened_count} opened; {streams} of {len(self.streams)} streams "
            f"from their beginning" + (", with the leaves of the whole log" if self.complete else ""))

    def left_out(self, path, key):
        """Positions of an export whose records name the subject and are not in the file."""
        verify_export(path, key)
        name, positions = self.about["id"].encode(), []
        with open(path, "rb") as file:
            position = parse(file.readline())["first"] - 1
            for line in file:
                if line.startswith(b'{"checkpoint":'):
                    continue
                position += 1
                if position in self.records and leaf_hash(line[:-1]) != self.records[position]:
                    raise Bad(f"position {position}: the export has another record")
                if position <= self.until and position not in self.records and name in line:
                    positions.append(position)
        return positions


def unbase64url(text):
    return unbase64(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))


def unpacked(path):
    """The file, which may be compressed as it comes over HTTP."""
    with open(path, "rb") as file:
        isPacked = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if isPacked else open(path, "rb")


def verify_case(path, key, export=None):
    case = CaseFile(key)
    with unpacked(path) as file:
        for line in file:
            if not line.endswith(b"\n"):
                raise Bad(f"line {case.number + 1}: the file breaks off")
            case.add(line[:-1])
    answer = case.end()
    if export is not None:
        positions = case.left_out(export, key)
        answer += (
            f"; positions that name it and are not in the file: {positions}" if positions
            else "; no other record of the export names it")
    return answer


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
    case = modes.add_parser("case", help="a case file")
    case.add_argument("file")
    case.add_argument("--export", metavar="FILE", help="the log, to look for what is left out")
    for mode in (proof, log, tiles, case):
        mode.add_argument("--key", required=True, metavar="VKEY")
    options = parser.parse_args(arguments)
    try:
        key = Key(options.key)
        if options.mode == "proof":
            answer = verify_proof(options.file, key)
        elif options.mode == "log":
            answer = verify_export(options.export, key)
        elif options.mode == "case":
            answer = verify_case(options.file, key, options.export)
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
