#!/usr/bin/python3 -B
"""Writes what a binary of Urd is made of: NAME.spdx.json (SPDX 2.3) and NAME.cdx.json (CycloneDX 1.5).

usage: deploy/make-sbom.py BINARY FOLDER [--name NAME] [--version VERSION]

Listed are the binary, each library that it loads with the Debian package that it is from, and the toolchain that compiled it.
The same binary on the same machine has the same files, byte for byte: times are those of its commit."""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # RFC 9562, for URLs


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def commit():
    """The commit, if there is one, and its time."""
    try:
        name, seconds = said("git", "log", "-1", "--format=%H %ct").split()
    except (OSError, subprocess.CalledProcessError, ValueError):
        name, seconds = None, os.environ.get("SOURCE_DATE_EPOCH", "0")
    time = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    return name, time.strftime("%Y-%m-%dT%H:%M:%SZ")


def libraries(binary):
    """Name and file of each library that is loaded with it."""
    found = re.findall(r"^\s*(\S+) => (/\S+) \(", said("ldd", str(binary)), re.M)
    return sorted((name, os.path.realpath(path)) for name, path in found)


def package(path):
    """The Debian package of a file; nothing for one that no package brought."""
    for name in (path, path.replace("/usr/lib/", "/lib/", 1)):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            owner = found.stdout.split(": ")[0].split(",")[0]
            form = "${Package} ${Version} ${Architecture} ${source:Package}"
            name, version, architecture, source = said("dpkg-query", "-W", "-f", form, owner).split()
            return {"name": name, "version": version, "architecture": architecture, "source": source}
    return None


def components(binary):
    """What is loaded, by package, each with its files; and what compiled it."""
    parts = {}
    for name, path in libraries(binary):
        owner = package(path)
        key = owner["name"] if owner else name
        part = parts.setdefault(key, {"name": key, "version": "", "purl": None, "files": []})
        if owner:
            part["version"] = owner["version"]
            part["purl"] = (f"pkg:deb/debian/{owner['name']}@{owner['version'].replace('+', '%2B').replace('~', '%7E')}"
                            f"?arch={owner['architecture']}&upstream={owner['source']}")
        part["files"].append((name, digest(path)))
    swift = re.search(r"Swift version (\S+)", said("swift", "--version"))
    parts["swift"] = {
        "name": "swift", "version": swift[1], "purl": f"pkg:github/swiftlang/swift@swift-{swift[1]}-RELEASE", "files": []}
    return [parts[name] for name in sorted(parts)]


def spdx(name, version, binary, sources, time, parts):
    def item(id, name, version, purl, **more):
        references = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
        return {"SPDXID": id, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "copyrightText": "NOASSERTION", "licenseConcluded": "NOASSERTION",
                "licenseDeclared": "NOASSERTION", **({"externalRefs": references} if purl else {}), **more}

    own = item(
        "SPDXRef-urd", name, version, f"pkg:generic/urd@{version}", primaryPackagePurpose="APPLICATION",
        licenseDeclared="Apache-2.0", checksums=[{"algorithm": "SHA256", "checksumValue": binary}],
        **({"sourceInfo": f"commit {sources}"} if sources else {}))
    packages, relations = [own], [
        {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-urd"}]
    for part in parts:
        id = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", part["name"])
        files = ", ".join(f"{file} (SHA256 {sum})" for file, sum in part["files"])
        packages.append(item(id, part["name"], part["version"] or "NOASSERTION", part["purl"],
                             **({"comment": files} if files else {})))
        relations.append(
            {"spdxElementId": "SPDXRef-urd", "relationshipType": "DYNAMIC_LINK", "relatedSpdxElement": id}
            if part["files"] else
            {"spdxElementId": id, "relationshipType": "BUILD_TOOL_OF", "relatedSpdxElement": "SPDXRef-urd"})
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
        "documentNamespace": f"https://urd.example/spdx/{name}-{version}-{binary[:16]}",
        "creationInfo": {"created": time, "creators": ["Tool: make-sbom"]},
        "packages": packages, "relationships": relations}


def cyclonedx(name, version, binary, sources, time, parts):
    own = {"type": "application", "bom-ref": "urd", "name": name, "version": version,
           "purl": f"pkg:generic/urd@{version}", "licenses": [{"license": {"id": "Apache-2.0"}}],
           "hashes": [{"alg": "SHA-256", "content": binary}]}
    if sources:
        own["properties"] = [{"name": "commit", "value": sources}]
    items = []
    for part in parts:
        item = {"type": "library" if part["files"] else "application", "bom-ref": part["name"], "name": part["name"],
                "scope": "required" if part["files"] else "excluded"}
        if part["version"]:
            item["version"] = part["version"]
        if part["purl"]:
            item["purl"] = part["purl"]
        if part["files"]:
            item["components"] = [
                {"type": "file", "name": file, "hashes": [{"alg": "SHA-256", "content": sum}]}
                for file, sum in part["files"]]
        items.append(item)
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, f'{name} {version} {binary}')}",
        "metadata": {"timestamp": time, "component": own}, "components": items,
        "dependencies": [{"ref": "urd", "dependsOn": [part["name"] for part in parts if part["files"]]}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--name", default="urd")
    parser.add_argument("--version")
    asked = parser.parse_args()
    version = asked.version or said(str(asked.binary.resolve()), "--version").split()[1]
    sources, time = commit()
    facts = (asked.name, version, digest(asked.binary), sources, time, components(asked.binary))
    asked.folder.mkdir(parents=True, exist_ok=True)
    for kind, content in (("spdx", spdx(*facts)), ("cdx", cyclonedx(*facts))):
        path = asked.folder / f"{asked.name}.{kind}.json"
        path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
        print(path)


if __name__ == "__main__":
    main()
