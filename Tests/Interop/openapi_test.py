"""Whether /openapi.json is a valid OpenAPI 3.1 document in the eyes of others.

    python3 openapi_test.py http://127.0.0.1:8080     asks a server
    python3 openapi_test.py openapi.json              reads a file

Needs openapi-spec-validator (PyPI). Where schemathesis is installed and URD_ADMIN_KEY is set, the
server is also held to its document: every operation is called with its examples and with values at
the edges of its schemas.

Exit status: 0 valid, 1 not, 77 skipped because the validator is not installed.
"""

import json
import os
import shutil
import subprocess
import sys
import urllib.request

SKIPPED = 77

# A run would otherwise revoke the key that it works with.
NOT_CALLED = ["revokeAdminKey"]

CHECKS = [
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "ignored_auth",
]


def read(place):
    if place.startswith(("http://", "https://")):
        with urllib.request.urlopen(place.rstrip("/") + "/openapi.json", timeout=30) as answer:
            return json.load(answer)
    with open(place, encoding="utf-8") as file:
        return json.load(file)


def validate(document):
    """The document against the specification, and each example against its schema."""
    from jsonschema import Draft202012Validator
    from openapi_spec_validator import OpenAPIV31SpecValidator

    faults = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for error in OpenAPIV31SpecValidator(document).iter_errors()
    ]
    components = {"components": document["components"]}
    for where, schema, example in examples(document):
        validator = Draft202012Validator({**components, **schema})
        faults += [f"{where}: {error.message}" for error in validator.iter_errors(example)]
    return faults


def examples(document):
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            for parameter in operation.get("parameters", []):
                if "example" in parameter:
                    yield f"{where} {parameter['name']}", parameter["schema"], parameter["example"]
            bodies = [operation.get("requestBody", {})] + list(operation["responses"].values())
            for body in bodies:
                for content in body.get("content", {}).values():
                    if "example" in content:
                        yield where, content["schema"], content["example"]


def exercise(url, key):
    """Holds the server to its document; True when it keeps to it."""
    command = [
        "schemathesis", "run", url.rstrip("/") + "/openapi.json", "--no-color",
        "--header", f"Authorization: Bearer {key}", "--phases", "examples,coverage",
        "--checks", ",".join(CHECKS), "--continue-on-failure",
    ]
    for operation in NOT_CALLED:
        command += ["--exclude-operation-id", operation]
    return subprocess.run(command, check=False).returncode == 0


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    try:
        import openapi_spec_validator  # noqa: F401
    except ImportError:
        print("skipped: openapi-spec-validator is not installed")
        return SKIPPED
    place = arguments[0]
    document = read(place)
    faults = validate(document)
    for fault in faults:
        print(fault)
    if faults:
        return 1
    count = sum(len(operations) for operations in document["paths"].values())
    print(f"valid: {count} operations")
    key = os.environ.get("URD_ADMIN_KEY")
    if place.startswith("http") and key and shutil.which("schemathesis"):
        return 0 if exercise(place, key) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
