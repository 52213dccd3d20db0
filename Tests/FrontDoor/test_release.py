"""The lists of what a release is made of (SBOM): complete, in the published forms, and the same for the same binary."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from front_door import BINARY, PATIENCE, ROOT


def lists(folder):
    subprocess.run([ROOT / "deploy/make-sbom.py", BINARY, folder], check=True, capture_output=True, timeout=PATIENCE)
    return [pathlib.Path(folder, f"urd.{kind}.json").read_bytes() for kind in ("spdx", "cdx")]


class BillOfMaterials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            cls.first, cls.second = lists(one), lists(two)
        cls.spdx, cls.cdx = map(json.loads, cls.first)
        cls.loaded = set(re.findall(r"^\s*(\S+) => /", subprocess.run(
            ["ldd", BINARY], capture_output=True, text=True, check=True).stdout, re.M))
        cls.sum = hashlib.sha256(BINARY.read_bytes()).hexdigest()

    def test_the_same_binary_has_the_same_lists(self):
        self.assertEqual(self.first, self.second)

    def test_each_library_is_listed_with_its_sum_and_its_package(self):
        files = {file["name"]: file["hashes"][0]["content"]
                 for part in self.cdx["components"] for file in part.get("components", [])}
        self.assertEqual(set(files), self.loaded)
        comments = " ".join(part.get("comment", "") for part in self.spdx["packages"])
        for name, sum in files.items():
            self.assertIn(f"{name} (SHA256 {sum})", comments)
        versions = {part["name"]: part.get("version") for part in self.cdx["components"] if "deb/debian" in part.get("purl", "")}
        self.assertGreater(len(versions), 15)
        for name, version in versions.items():
            said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", name], capture_output=True, text=True).stdout
            self.assertIn(version, said.splitlines(), name)
        for name in ("libpq5", "libssl3", "libc6", "libmicrohttpd12"):
            self.assertIn(name, versions)

    def test_spdx_holds_together(self):
        self.assertEqual((self.spdx["spdxVersion"], self.spdx["dataLicense"]), ("SPDX-2.3", "CC0-1.0"))
        ids = [part["SPDXID"] for part in self.spdx["packages"]]
        self.assertEqual(len(ids), len(set(ids)))
        for part in self.spdx["packages"]:
            self.assertRegex(part["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertLessEqual({"name", "versionInfo", "downloadLocation", "licenseDeclared", "copyrightText"}, set(part))
        known = {*ids, "SPDXRef-DOCUMENT"}
        for one in self.spdx["relationships"]:
            self.assertLessEqual({one["spdxElementId"], one["relatedSpdxElement"]}, known)
        self.assertEqual({one["relatedSpdxElement"] for one in self.spdx["relationships"]
                          if one["relationshipType"] == "DESCRIBES"}, {"SPDXRef-urd"})
        [own] = [part for part in self.spdx["packages"] if part["SPDXID"] == "SPDXRef-urd"]
        self.assertEqual(own["checksums"], [{"algorithm": "SHA256", "checksumValue": self.sum}])
        self.assertRegex(self.spdx["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_cyclonedx_holds_together(self):
        self.assertEqual((self.cdx["bomFormat"], self.cdx["specVersion"]), ("CycloneDX", "1.5"))
        self.assertRegex(self.cdx["serialNumber"], r"^urn:uuid:[0-9a-f-]{36}$")
        references = [part["bom-ref"] for part in self.cdx["components"]]
        self.assertEqual(len(references), len(set(references)))
        [own] = self.cdx["dependencies"]
        self.assertLessEqual(set(own["dependsOn"]), set(references))
        self.assertEqual(self.cdx["metadata"]["component"]["hashes"], [{"alg": "SHA-256", "content": self.sum}])
        self.assertIn("swift", references)

    def test_a_signature_holds_for_what_was_signed_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            def minisign(*words):
                return subprocess.run(["minisign", *words], cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
                                      stdin=subprocess.DEVNULL).returncode

            self.assertEqual(minisign("-G", "-W", "-p", "urd.pub", "-s", "urd.key"), 0)
            sums = pathlib.Path(folder, "SHA256SUMS")
            sums.write_bytes(b"0" * 64 + b"  urd.deb\n")
            self.assertEqual(minisign("-S", "-s", "urd.key", "-m", "SHA256SUMS"), 0)
            page = (ROOT / "docs/releases.md").read_text()
            [command] = re.findall(r"^minisign (.+)$", page, re.M)
            self.assertEqual(minisign(*command.split()), 0)
            sums.write_bytes(b"1" * 64 + b"  urd.deb\n")
            self.assertNotEqual(minisign(*command.split()), 0)


if __name__ == "__main__":
    unittest.main()
