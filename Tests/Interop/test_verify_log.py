"""Tests of verify_log.py on published vectors, and on a small log that is made here."""

import base64
import contextlib
import hashlib
import io
import json
import os
import tempfile
import unittest

import verify_log as v

LEAVES = [
    bytes.fromhex(text)
    for text in [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ]
]
ROOTS = """
6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125
aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77
d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7
4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4
76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef
ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c
5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328
""".split()

# RFC 8032 section 7.1: public key, message, signature.
RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]

GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
GO_NOTE = (
    GO_TEXT + "\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZ"
    "SNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


class Signer:
    """Signs as RFC 8032 section 5.1.6 says, with the plain arithmetic of the verifier."""

    def __init__(self, name):
        self.name = name
        digest = hashlib.sha512(os.urandom(32)).digest()
        self.scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
        self.prefix = digest[32:]
        self.public = self.encode(v._multiply(self.scalar, v.BASE))
        self.id = hashlib.sha256(name.encode() + b"\n\x01" + self.public).digest()[:4]

    @staticmethod
    def encode(point):
        inverse = pow(point[2], v.P - 2, v.P)
        x, y = point[0] * inverse % v.P, point[1] * inverse % v.P
        return (y | (x & 1) << 255).to_bytes(32, "little")

    def sign(self, message):
        nonce = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), "little") % v.L
        commitment = self.encode(v._multiply(nonce, v.BASE))
        challenge = hashlib.sha512(commitment + self.public + message).digest()
        scalar = (nonce + int.from_bytes(challenge, "little") * self.scalar) % v.L
        return commitment + scalar.to_bytes(32, "little")

    @property
    def key(self):
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(bytes([1]) + self.public).decode()}"

    def checkpoint(self, size, root):
        text = f"{self.name}\n{size}\n{base64.b64encode(root).decode()}\n"
        signature = base64.b64encode(self.id + self.sign(text.encode())).decode()
        return f"{text}\n\u2014 {self.name} {signature}\n"


def subtree(records):
    return v.root_of(v.leaf_hash(record) for record in records)


def inclusion(index, records):
    if len(records) < 2:
        return []
    split = 1 << (len(records) - 1).bit_length() - 1
    left, right = records[:split], records[split:]
    if index < split:
        return inclusion(index, left) + [subtree(right)]
    return inclusion(index - split, right) + [subtree(left)]


def consistency(old, records, complete=True):
    if old == len(records):
        return [] if complete else [subtree(records)]
    split = 1 << (len(records) - 1).bit_length() - 1
    left, right = records[:split], records[split:]
    if old <= split:
        return consistency(old, left, complete) + [subtree(right)]
    return consistency(old - split, right, False) + [subtree(left)]


def encoded(values):
    return [base64.b64encode(value).decode() for value in values]


class Vectors(unittest.TestCase):
    def test_the_reference_tree_has_its_roots(self):
        tree = v.Tree()
        self.assertEqual(tree.root(), hashlib.sha256(b"").digest())
        for leaf, root in zip(LEAVES, ROOTS):
            tree.append(v.leaf_hash(leaf))
            self.assertEqual(tree.root().hex(), root)

    def test_both_ways_of_checking_a_signature_agree_with_rfc_8032(self):
        for public, message, signature in RFC_8032:
            public, message = bytes.fromhex(public), bytes.fromhex(message)
            signature = bytes.fromhex(signature)
            altered = bytes([signature[0] ^ 1]) + signature[1:]
            late = signature[:32] + bytes([signature[32] ^ 1]) + signature[33:]
            for check in (v.ed25519, v.plain_ed25519):
                self.assertTrue(check(public, signature, message))
                self.assertFalse(check(public, signature, message + b"!"))
                self.assertFalse(check(public, altered, message))
                self.assertFalse(check(public, late, message))
                self.assertFalse(check(public, signature[:-1], message))

    def test_a_scalar_that_is_too_large_is_refused(self):
        public, message, signature = (bytes.fromhex(part) for part in RFC_8032[1])
        scalar = int.from_bytes(signature[32:], "little") + v.L
        malleable = signature[:32] + scalar.to_bytes(32, "little")
        for check in (v.ed25519, v.plain_ed25519):
            self.assertFalse(check(public, malleable, message))

    def test_a_note_of_another_implementation_is_read(self):
        self.assertEqual(v.Key(GO_KEY).open(GO_NOTE), GO_TEXT.encode())
        for index in range(len(GO_NOTE.encode())):
            data = bytearray(GO_NOTE.encode())
            data[index] ^= 1
            with self.assertRaises(v.Bad, msg=f"byte {index}"):
                v.Key(GO_KEY).open(bytes(data))

    def test_a_key_is_checked_against_its_id(self):
        for text in [
            "",
            "a+b",
            GO_KEY.replace("c74f20a3", "c74f20a4"),
            GO_KEY.replace("ARpc", "AVpc"),
        ]:
            with self.assertRaises(v.Bad):
                v.Key(text)


class Files(unittest.TestCase):
    """Every proof, export and folder that is whole holds; every altered one does not."""

    @classmethod
    def setUpClass(cls):
        cls.signer = Signer("log.test/main")
        cls.records = [
            json.dumps(
                {
                    "at": number,
                    "realm": "main",
                    "stream": f"s{number % 5}",
                    "type": "thing.happened",
                    "version": number // 5 + 1,
                },
                separators=(",", ":"),
            ).encode()
            for number in range(300)
        ]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def note(self, size):
        return self.signer.checkpoint(size, subtree(self.records[:size]))

    def run_on(self, *arguments):
        silence = io.StringIO()
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            return v.main([*arguments, "--key", self.signer.key]) == 0

    def proof_holds(self, proof):
        path = os.path.join(self.folder, "proof.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(proof, file)
        return self.run_on("proof", path)

    def log_holds(self, lines):
        path = os.path.join(self.folder, "log.jsonl")
        with open(path, "wb") as file:
            file.write(b"".join(line + b"\n" for line in lines))
        return self.run_on("log", "--export", path)

    def test_an_inclusion_proof_is_verified(self):
        for size in (1, 2, 7, 300):
            for position in {1, size // 2 + 1, size}:
                proof = {
                    "format": "urd-inclusion/1",
                    "position": position,
                    "record": self.records[position - 1].decode(),
                    "path": encoded(inclusion(position - 1, self.records[:size])),
                    "checkpoint": self.note(size),
                }
                self.assertTrue(self.proof_holds(proof))
                for change in (
                    {"position": position + 1},
                    {"record": proof["record"] + " "},
                    {"path": proof["path"] + encoded([b"\0" * 32])},
                    {"checkpoint": self.note(size).replace("\n1", "\n2").replace("\n3", "\n4")},
                    {"format": "other"},
                    {"position": "x"},
                ):
                    if change.get("checkpoint") == proof["checkpoint"]:
                        continue
                    self.assertFalse(self.proof_holds({**proof, **change}), change)
                for name in proof:
                    rest = {key: value for key, value in proof.items() if key != name}
                    self.assertFalse(self.proof_holds(rest), name)

    def test_a_consistency_proof_is_verified(self):
        for old, new in ((1, 2), (4, 8), (6, 7), (100, 300), (300, 300)):
            proof = {
                "format": "urd-consistency/1",
                "old": self.note(old),
                "new": self.note(new),
                "path": encoded(consistency(old, self.records[:new])),
            }
            self.assertTrue(self.proof_holds(proof), (old, new))
            other = self.signer.checkpoint(old, b"\1" * 32)
            self.assertFalse(self.proof_holds({**proof, "old": other}))
            if proof["path"]:
                self.assertFalse(self.proof_holds({**proof, "path": proof["path"][:-1]}))
                self.assertFalse(
                    self.proof_holds({**proof, "old": proof["new"], "new": proof["old"]})
                )

    def export(self, first=1, last=300):
        before = v.Tree()
        for record in self.records[: first - 1]:
            before.append(v.leaf_hash(record))
        lines = [
            json.dumps(
                {
                    "format": "urd-log/1",
                    "realm": "main",
                    "first": first,
                    "last": last,
                    "before": encoded(before.subtrees),
                }
            ).encode()
        ]
        for position in range(first, last + 1):
            lines.append(self.records[position - 1])
            if position in (100, 290):
                lines.append(json.dumps({"checkpoint": self.note(position)}).encode())
        return lines

    def test_an_export_is_verified(self):
        self.assertTrue(self.log_holds(self.export()))
        self.assertTrue(self.log_holds(self.export(first=57)))
        lines = self.export()
        for place in (1, 50, 100, 102, 200):
            self.assertFalse(self.log_holds(lines[:place] + lines[place + 1 :]), "removed")
            self.assertFalse(self.log_holds(lines[:place] + lines[place : place + 1] + lines[place:]))
            altered = lines[place].replace(b"thing", b"other")
            self.assertFalse(self.log_holds(lines[:place] + [altered] + lines[place + 1 :]))
        swapped = lines[:50] + [lines[51], lines[50]] + lines[52:]
        self.assertFalse(self.log_holds(swapped))
        self.assertFalse(self.log_holds(lines[:-1]), "cut off")
        bare = [line for line in lines if not line.startswith(b'{"checkpoint"')]
        self.assertFalse(self.log_holds(bare), "nothing is signed")

    def write_tiles(self, size):
        def write(path, content):
            path = os.path.join(self.folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
            return path

        values, level, paths = [v.leaf_hash(record) for record in self.records[:size]], 0, []
        while values:
            above = []
            for start in range(0, len(values), 256):
                tile = values[start : start + 256]
                paths.append(
                    write(v.tile_path(level, start // 256, len(tile)), b"".join(tile))
                )
                if len(tile) == 256:
                    above.append(v.root_of(tile))
            values, level = above, level + 1
        for start in range(0, size, 256):
            bundle = self.records[start : min(size, start + 256)]
            content = b"".join(len(entry).to_bytes(2, "big") + entry for entry in bundle)
            paths.append(write(v.tile_path("entries", start // 256, len(bundle)), content))
        paths.append(write("checkpoint", self.note(size).encode()))
        return paths

    def test_a_logs_tiles_are_verified(self):
        for size in (1, 255, 256, 300):
            with tempfile.TemporaryDirectory() as self.folder:
                paths = self.write_tiles(size)
                self.assertTrue(self.run_on("tiles", self.folder), size)
                for path in paths:
                    with open(path, "rb") as file:
                        whole = file.read()
                    altered = bytearray(whole)
                    altered[len(altered) // 2] ^= 1
                    for content in (bytes(altered), whole[:-1], whole + b"\0"):
                        with open(path, "wb") as file:
                            file.write(content)
                        self.assertFalse(self.run_on("tiles", self.folder), path)
                    with open(path, "wb") as file:
                        file.write(whole)
                os.remove(paths[0])
                self.assertFalse(self.run_on("tiles", self.folder))

    def test_a_missing_entry_is_not_verified(self):
        self.assertFalse(self.run_on("proof", os.path.join(self.folder, "none")))
        self.assertFalse(self.run_on("log", "--export", os.path.join(self.folder, "none")))
        self.assertFalse(self.run_on("tiles", self.folder))
        for content in (b"", b"{}", b"[]", b"null", b"\xff", b'{"format":1}'):
            path = os.path.join(self.folder, "bad")
            with open(path, "wb") as file:
                file.write(content)
            self.assertFalse(self.run_on("proof", path), content)
            self.assertFalse(self.run_on("log", "--export", path), content)


if __name__ == "__main__":
    unittest.main()
