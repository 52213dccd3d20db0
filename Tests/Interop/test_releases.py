"""A release that is signed and on record: verified by Urd, and by nothing of Urd."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from urd_process import BINARY, PATIENCE, Urd

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "0.1.0~git20261130.0123456789ab"
PACKAGE = f"urd_{VERSION}_amd64.deb"


def setUpModule():
    global urd
    urd = Urd(lawful=True)
    urd.command("realm", "create", "--realm", "releases", "--display-name", "Releases")


def tearDownModule():
    urd.close()


class Releases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(urd.folder, "release")
        cls.key, cls.other = pathlib.Path(urd.folder, "urd.pub"), pathlib.Path(urd.folder, "other.pub")
        for public in (cls.key, cls.other):
            cls.call("minisign", "-G", "-W", "-p", public, "-s", public.with_suffix(".key"))
        cls.place.mkdir()
        (cls.place / PACKAGE).write_bytes(os.urandom(1000))
        (cls.place / "urd.spdx.json").write_text(json.dumps(
            {"packages": [{"SPDXID": "SPDXRef-libc6"}, {"SPDXID": "SPDXRef-urd", "versionInfo": VERSION}]}))
        cls.sign(cls.place)
        cls.record(cls.place)
        cls.log = urd.command("log", "key", "--realm", "releases").stdout.strip()

    @classmethod
    def call(cls, *words, **more):
        return subprocess.run(words, check=True, capture_output=True, text=True, timeout=PATIENCE, **more).stdout

    @classmethod
    def sign(cls, place, version=VERSION, key="urd.key"):
        names = sorted(path.name for path in place.iterdir() if not path.name.startswith("SHA256SUMS"))
        (place / "SHA256SUMS").write_text(cls.call("sha256sum", "--", *names, cwd=place))
        cls.call("minisign", "-S", "-s", pathlib.Path(urd.folder, key), "-m", "SHA256SUMS", "-t", f"urd {version}", cwd=place)

    @classmethod
    def record(cls, place):
        return cls.call(ROOT / "deploy/record-release.sh", "releases", place, BINARY, env={**os.environ, **urd.values})

    def copy(self):
        place = pathlib.Path(urd.folder, self.id().rpartition(".")[2])
        shutil.rmtree(place, ignore_errors=True)
        return pathlib.Path(shutil.copytree(self.place, place))

    def verify(self, place, key=None, log=None, file=PACKAGE):
        """Whether it is whole, and what is said of each part."""
        done = urd.command("verify-release", str(place / file), "--key", str(key or self.key),
                           *(["--log-key", log] if log else []), "--json")
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if answer["whole"] else 1)
        return answer["whole"], {part["part"]: part["result"] for part in answer["parts"] if part["wrong"] or answer["whole"]}

    def test_a_release_is_what_was_signed_and_recorded(self):
        whole, parts = self.verify(self.place, log=self.log)
        self.assertTrue(whole, parts)
        self.assertEqual(parts["SHA256SUMS"], f"signed: urd {VERSION}")
        self.assertEqual((parts[PACKAGE], parts["urd.spdx.json"]), ("as signed", "as signed"))
        self.assertIn("on record at position 2", parts["SHA256SUMS.proof.json"])
        self.assertNotIn("SHA256SUMS.proof.json", self.verify(self.place)[1])

    def test_one_downloaded_file_is_enough(self):
        place = self.copy()
        (place / "urd.spdx.json").unlink()
        self.assertTrue(self.verify(place, log=self.log)[0])
        self.assertEqual(self.verify(place, file="urd_1_amd64.deb")[1], {"urd_1_amd64.deb": "not of this release"})

    def test_the_record_holds_without_urd(self):
        proof = self.place / "SHA256SUMS.proof.json"
        self.call(sys.executable, "-B", ROOT / "Tests/Interop/verify_log.py", "proof", proof, "--key", self.log)
        record = json.loads(json.loads(proof.read_text())["record"])
        digest = hashlib.sha256((self.place / "SHA256SUMS").read_bytes()).hexdigest()
        self.assertEqual(record["data"]["name"], f"urd {VERSION} sha256:{digest}")

    def test_a_change_is_named(self):
        for name in (PACKAGE, "urd.spdx.json"):
            place = self.copy()
            with open(place / name, "ab") as file:
                file.write(b" ")
            self.assertEqual(self.verify(place, log=self.log), (False, {name: "changed"}))
        place = self.copy()
        with open(place / "SHA256SUMS", "ab") as file:
            file.write(b"\n")
        self.assertEqual(self.verify(place)[1], {"SHA256SUMS": "not signed by this key"})
        self.assertEqual(self.verify(self.place, key=self.other)[1], {"SHA256SUMS": "not signed by this key"})

    def test_a_signature_that_is_altered_anywhere_is_none(self):
        place = self.copy()
        signature = place / "SHA256SUMS.minisig"
        lines = signature.read_text().splitlines()
        for number, at in ((1, 20), (2, -1), (3, 20)):
            changed = list(lines)
            letter = "A" if changed[number][at] != "A" else "B"
            changed[number] = changed[number][:at] + letter + (changed[number][at:][1:])
            signature.write_text("\n".join(changed) + "\n")
            self.assertEqual(self.verify(place)[1], {"SHA256SUMS": "not signed by this key"}, number)

    def test_a_list_of_another_version_is_named(self):
        place = self.copy()
        (place / "SHA256SUMS.proof.json").unlink()
        (place / "urd.spdx.json").write_text('{"packages": [{"SPDXID": "SPDXRef-urd", "versionInfo": "0.0.9"}]}')
        self.sign(place)
        self.assertEqual(self.verify(place)[1], {"urd.spdx.json": "of another version: 0.0.9"})

    def test_a_release_that_is_signed_and_not_on_record_is_named(self):
        place = self.copy()
        (place / PACKAGE).write_bytes(b"made by a thief of the key")
        self.sign(place)
        self.assertTrue(self.verify(place)[0])
        self.assertEqual(self.verify(place, log=self.log)[1],
                         {"SHA256SUMS.proof.json": "the record is of another release"})
        # The version is on record already, with other sums.
        with self.assertRaises(subprocess.CalledProcessError):
            self.record(place)
        proof = place / "SHA256SUMS.proof.json"
        told = json.loads((self.place / "SHA256SUMS.proof.json").read_text())
        old = hashlib.sha256((self.place / "SHA256SUMS").read_bytes()).hexdigest()
        new = hashlib.sha256((place / "SHA256SUMS").read_bytes()).hexdigest()
        proof.write_text(json.dumps({**told, "record": told["record"].replace(old, new)}))
        self.assertEqual(self.verify(place, log=self.log)[1],
                         {"SHA256SUMS.proof.json": "the record is not in the log"})
        demo = urd.command("log", "key", "--realm", "demo").stdout.strip()
        self.assertEqual(self.verify(self.place, log=demo)[1],
                         {"SHA256SUMS.proof.json": "its checkpoint is not signed by the log's key"})
        proof.unlink()
        self.assertEqual(self.verify(place, log=self.log)[1], {"SHA256SUMS.proof.json": "not there"})


if __name__ == "__main__":
    unittest.main()
