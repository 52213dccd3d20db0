"""The chart for Kubernetes: what Helm makes of it is valid, holds together, and is what the plain manifests say."""

import copy
import json
import pathlib
import subprocess
import tempfile
import unittest

import yaml

from chart import CHART, IS_POSSIBLE, TRIAL, helm, notes, one, rendered
from front_door import BINARY, ROOT

SCHEMAS = ROOT / ".build/interop/kubernetes_validate/kubernetes-json-schema"
OPERATOR = "monitoring.coreos.com/v1"
SECRETS = {"values": {
    "master_key": "0f" * 32, "database_url": "postgresql://urd_app:a@db/urd",
    "database_owner_url": "postgresql://urd_owner:b@db/urd", "smtp_password": "c"}}
WAYS = {
    "as it is": {},
    "to try it": TRIAL,
    "with secrets and more": {
        "secrets": SECRETS, "replicas": 3, "nodeSelector": {"disk": "fast"}, "tolerations": [{"operator": "Exists"}],
        "image": {"repository": "registry.example.org/urd", "tag": "7", "pullSecrets": ["registry"]},
        "ingress": {"className": "nginx", "annotations": {"a/b": "c"}, "hosts": ["a.example.org", "b.example.org"]},
        "networkPolicy": {"clients": [{"podSelector": {"matchLabels": {"app": "ingress"}}}]},
        "monitoring": {"enabled": True, "labels": {"release": "prometheus"}}},
    "with less": {"ingress": {"enabled": False}, "networkPolicy": {"enabled": False}},
}


def validator(manifest):
    """Kubernetes' own schema of an object, as a validator of others has it."""
    import jsonschema
    folder = max(SCHEMAS.glob("v1.*-local-strict"), key=lambda path: int(path.name.split(".")[1]))
    group, _, version = manifest["apiVersion"].rpartition("/")
    name = "-".join([manifest["kind"].lower(), *[group.split(".")[0]] * bool(group), version])
    known = {"https://kubernetes.io/api/_definitions.json": json.loads((folder / "_definitions.json").read_text())}
    schema = json.loads((folder / f"{name}.json").read_text())
    return jsonschema.Draft7Validator(schema, resolver=jsonschema.RefResolver.from_schema(schema, store=known))


def pods(manifests):
    return [each["spec"]["template"] for each in manifests if each["kind"] in ("Deployment", "Job")]


@unittest.skipUnless(IS_POSSIBLE, "Helm is for x86-64 here")
class Chart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ways = {name: rendered(values) for name, values in WAYS.items()}

    def test_lint_has_nothing_to_say(self):
        done = helm("lint", "--strict", CHART)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_plain_manifests_are_the_chart_as_it_is(self):
        plain = yaml.safe_load_all((ROOT / "deploy/kubernetes/urd.yaml").read_text())
        self.assertEqual(list(plain), self.ways["as it is"],
                         "helm template urd deploy/kubernetes/chart >deploy/kubernetes/urd.yaml")

    def test_each_manifest_is_of_its_schema(self):
        kinds = set()
        for manifests in self.ways.values():
            for manifest in manifests:
                kinds.add(manifest["kind"])
                if manifest["apiVersion"] == OPERATOR:
                    continue
                schema = validator(manifest)
                schema.validate(manifest)
                broken = copy.deepcopy(manifest)
                broken["metadata"]["misspelt"] = {}
                self.assertFalse(schema.is_valid(broken))
        self.assertEqual(kinds, {
            "ConfigMap", "Deployment", "Ingress", "Job", "NetworkPolicy", "PodDisruptionBudget", "PrometheusRule",
            "Secret", "Service", "ServiceMonitor"})

    def test_pods_have_no_rights_and_the_image_of_this_version(self):
        version = subprocess.run([BINARY, "--version"], capture_output=True, text=True).stdout.split()[1]
        images = set()
        for manifests in self.ways.values():
            for pod in pods(manifests):
                spec = pod["spec"]
                self.assertTrue(spec["securityContext"]["runAsNonRoot"])
                self.assertFalse(spec["automountServiceAccountToken"])
                # A service named urd would be told as URD_PORT, which is no setting.
                self.assertFalse(spec["enableServiceLinks"])
                for container in spec["containers"]:
                    images.add(container["image"])
                    rights = container["securityContext"]
                    self.assertTrue(rights["readOnlyRootFilesystem"])
                    self.assertFalse(rights["allowPrivilegeEscalation"])
                    self.assertEqual(rights["capabilities"], {"drop": ["ALL"]})
        compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
        self.assertEqual({name for name in images if "urd" in name}, {f"urd:{version}", "registry.example.org/urd:7"})
        self.assertEqual({compose[name]["image"] for name in ("setup", "urd", "database", "mail")},
                         images - {"registry.example.org/urd:7"})

    def test_what_is_named_is_there(self):
        for way, manifests in self.ways.items():
            templates = [pod for pod in pods(manifests) if pod["metadata"]["labels"]]
            for manifest in manifests:
                spec = manifest.get("spec", {})
                selector = spec.get("selector") or spec.get("podSelector")
                if manifest["kind"] in ("Job", "Ingress", "PrometheusRule", "ServiceMonitor"):
                    continue
                if selector:
                    wanted = selector.get("matchLabels", selector).items()
                    chosen = [pod for pod in templates if wanted <= pod["metadata"]["labels"].items()]
                    self.assertEqual(len(chosen), 1, (way, manifest["kind"]))
                    named = {port["name"] for box in chosen[0]["spec"]["containers"] for port in box.get("ports", [])}
                    for port in spec.get("ports", []):
                        self.assertTrue({port.get("targetPort", port["port"])} <= named | {5432, 1025, 8025})
            made = {(each["kind"], each["metadata"]["name"]) for each in manifests}
            for pod in pods(manifests):
                for volume in pod["spec"]["volumes"]:
                    if "secret" in volume and way not in ("as it is", "with less"):
                        self.assertIn(("Secret", volume["secret"]["secretName"]), made)
                for box in pod["spec"]["containers"]:
                    for source in box.get("envFrom", []):
                        self.assertIn(("ConfigMap", source["configMapRef"]["name"]), made)
                    self.assertLessEqual({mount["name"] for mount in box["volumeMounts"]},
                                         {volume["name"] for volume in pod["spec"]["volumes"]})

    def test_the_schema_comes_before_the_nodes_and_secrets_before_it(self):
        manifests = self.ways["with secrets and more"]
        weights = {}
        for manifest in manifests:
            marks = manifest["metadata"].get("annotations", {})
            if "helm.sh/hook" in marks:
                self.assertEqual(marks["helm.sh/hook"], "pre-install,pre-upgrade")
                weights[manifest["metadata"]["name"]] = int(marks["helm.sh/hook-weight"])
        self.assertEqual(weights, {"urd": -1, "urd-owner": -1, "urd-migrate": 0})
        self.assertNotIn("database_owner_url", one(manifests, "Secret")["stringData"])
        # The database of a trial is no hook: what migrates it is none either.
        self.assertFalse([each for each in self.ways["to try it"] if "annotations" in each["metadata"]])

    def test_other_settings_are_other_pods(self):
        marks = [one(rendered({"settings": {"URD_DRAIN": drain}}), "Deployment")
                 ["spec"]["template"]["metadata"]["annotations"] for drain in ("1s", "2s")]
        self.assertNotEqual(*marks)

    def test_the_operator_has_the_alerts_as_they_are(self):
        alerts = yaml.safe_load((ROOT / "deploy/prometheus/urd-alerts.yml").read_text())
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(helm("package", CHART, "--destination", folder).returncode, 0)
            [packed] = pathlib.Path(folder).iterdir()
            for chart in (CHART, packed):
                rule = one(rendered({"monitoring": {"enabled": True}}, chart), "PrometheusRule")
                self.assertEqual(rule["spec"], alerts)
        manifests = self.ways["with secrets and more"]
        monitor, service = one(manifests, "ServiceMonitor"), one(manifests, "Service", "urd-nodes")
        self.assertLessEqual(monitor["spec"]["selector"]["matchLabels"].items(), service["metadata"]["labels"].items())
        self.assertFalse(monitor["spec"]["selector"]["matchLabels"].items()
                         <= one(manifests, "Service")["metadata"]["labels"].items())
        self.assertEqual(service["metadata"]["labels"][monitor["spec"]["jobLabel"]], "urd")
        self.assertEqual(monitor["spec"]["endpoints"][0]["port"], service["spec"]["ports"][0]["name"])

    def test_what_cannot_be_is_refused(self):
        for values in ({"replica": 2}, {"replicas": 0}, {"settings": {"SMTP_HOST": "a"}}, {"trial": {"enabled": True}},
                       {"secrets": {"values": {"master_key": "0f" * 32}}}, {"image": {"tags": "7"}},
                       {"trial": {"enabled": True, "password": "a'; drop table b"}}):
            done = helm("template", "urd", CHART, values=values)
            self.assertNotEqual(done.returncode, 0, values)
            self.assertIn("don't meet the specifications", done.stderr)

    def test_the_notes_name_commands_that_are_there(self):
        for values in (None, TRIAL):
            words = [line.split(" -- /usr/bin/urd ")[1].split() for line in notes(values).splitlines() if " -- " in line]
            self.assertGreaterEqual(len(words), 2)
            for command in words:
                done = subprocess.run([BINARY, *command[:2], "--help"], capture_output=True, text=True)
                for word in command[2:]:
                    if word.startswith("--"):
                        self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
