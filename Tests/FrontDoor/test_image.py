"""The container image, unpacked and started as the compose file and the Kubernetes manifests say: as a user without rights on
a root that cannot be written to, in a network in which the services have the names that they have there."""

import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

import yaml

from front_door import BINARY, PATIENCE, ROOT, eventually

INSIDE = "URD_TEST_CONTAINERS"
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
MANIFESTS = list(yaml.safe_load_all((ROOT / "deploy/kubernetes/urd.yaml").read_text()))
MAIL_SERVER = ROOT / "Tests/HTTPClientTests/servers/smtp_server.py"
PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))
PASSWORD = "made-for-this-test"


def is_possible():
    try:
        return os.geteuid() == 0 and subprocess.run(
            ["unshare", "--net", "--mount", "ip", "link", "set", "lo", "up"], timeout=10).returncode == 0
    except OSError:
        return False


def schemas():
    """Those of Kubernetes' own objects, as a validator of others has them."""
    folder = ROOT / ".build/interop/kubernetes_validate/kubernetes-json-schema"
    return max(folder.glob("v1.*-local-strict"), key=lambda path: int(path.name.split(".")[1]))


class Manifests(unittest.TestCase):
    def test_each_manifest_is_of_its_schema(self):
        import jsonschema
        folder = schemas()
        known = {"https://kubernetes.io/api/_definitions.json":
                 json.loads((folder / "_definitions.json").read_text())}
        for one in MANIFESTS:
            group, _, version = one["apiVersion"].rpartition("/")
            name = "-".join([one["kind"].lower(), *[group.split(".")[0]] * bool(group), version])
            schema = json.loads((folder / f"{name}.json").read_text())
            resolver = jsonschema.RefResolver.from_schema(schema, store=known)
            jsonschema.validate(one, schema, resolver=resolver)
            broken = {**one, "spec": 7, "data": 7}
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(broken, schema, resolver=resolver)

    def test_both_start_the_same_image_without_rights(self):
        version = subprocess.run([BINARY, "--version"], capture_output=True, text=True).stdout.split()[1]
        images = {COMPOSE["services"][name]["image"] for name in ("setup", "urd")}
        for one in MANIFESTS:
            pod = one.get("spec", {}).get("template", {}).get("spec")
            if not pod:
                continue
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            for container in pod["containers"]:
                images.add(container["image"])
                self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
        self.assertEqual(images, {f"urd:{version}"})


@unittest.skipUnless(is_possible(), "needs a network of its own")
class OwnNetwork(unittest.TestCase):
    def test_in_a_network_of_its_own(self):
        folder = tempfile.mkdtemp(prefix="urd-image-", dir="/tmp")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        done = subprocess.run(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private",
             sys.executable, "-B", __file__, "Containers"],
            env={**os.environ, INSIDE: folder}, capture_output=True, text=True, timeout=400)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Ran 2 tests", done.stderr)


@unittest.skipUnless(os.environ.get(INSIDE), "runs inside")
class Containers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        cls.folder = os.environ[INSIDE]
        os.chmod(cls.folder, 0o755)
        built = subprocess.run([ROOT / "deploy/make-image.sh", BINARY, f"{cls.folder}/image"],
                               check=True, capture_output=True, text=True).stdout.split()[-1]
        cls.image = json.loads(subprocess.run(
            ["skopeo", "inspect", "--config", f"oci:{built}"], check=True, capture_output=True).stdout)
        cls.layers = sum(
            layer["size"] for layer in json.loads(subprocess.run(
                ["skopeo", "inspect", "--raw", f"oci:{built}"], check=True, capture_output=True).stdout)["layers"])
        subprocess.run(["umoci", "unpack", "--image", built, f"{cls.folder}/bundle"], check=True, capture_output=True)
        cls.root = f"{cls.folder}/bundle/rootfs"
        hosts = pathlib.Path(cls.root, "etc/hosts")
        hosts.write_text("127.0.0.1 localhost database mail\n")
        pathlib.Path(cls.root, "proc").mkdir()
        pathlib.Path(cls.root, "dev").mkdir()
        # As a container runtime leaves it: nothing but volumes can be written to.
        subprocess.run(["mount", "--bind", cls.root, cls.root], check=True)
        for place in ("proc", "dev"):
            subprocess.run(["mount", "--rbind", f"/{place}", f"{cls.root}/{place}"], check=True)
        for place in ("etc/urd", "var/lib/urd", "tmp"):
            volume = f"{cls.folder}/volumes/{place}"
            shutil.copytree(f"{cls.root}/{place}", volume)
            owner = os.stat(f"{cls.root}/{place}")
            os.chown(volume, owner.st_uid, owner.st_gid)
            subprocess.run(["mount", "--bind", volume, f"{cls.root}/{place}"], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", cls.root], check=True)
        cls.processes = []
        cls.start_database()
        cls.mails = cls.begin([sys.executable, "-B", MAIL_SERVER, "--port", "1025"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert cls.mails.stdout.readline().strip() == "1025"

    @classmethod
    def tearDownClass(cls):
        for process in cls.processes:
            process.kill()
            process.wait()

    @classmethod
    def begin(cls, words, **more):
        process = subprocess.Popen(words, **more)
        cls.processes.append(process)
        return process

    @classmethod
    def start_database(cls):
        data = f"{cls.folder}/postgres"
        os.mkdir(data)
        shutil.chown(data, "postgres")
        password = f"{cls.folder}/password"
        pathlib.Path(password).write_text(PASSWORD)
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        subprocess.run([*as_postgres, PROGRAMS / "initdb", "-N", "-A", "scram-sha-256", "-U", "postgres",
                        f"--pwfile={password}", "-D", f"{data}/data"], check=True, capture_output=True, cwd="/tmp")
        cls.begin([*as_postgres, PROGRAMS / "postgres", "-D", f"{data}/data", "-c", "fsync=off",
                   "-c", f"unix_socket_directories={data}"], cwd="/tmp",
                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(lambda: subprocess.run(
            [PROGRAMS / "pg_isready", "-q", "-h", "127.0.0.1"]).returncode == 0, "PostgreSQL is up")

    def container(self, service, **more):
        """What a runtime makes of a service of the compose file."""
        told = COMPOSE["services"][service]
        config = self.image["config"]
        values = dict(line.split("=", 1) for line in config["Env"])
        values.update(told.get("environment", {}))
        given = {"POSTGRES_PASSWORD": PASSWORD}
        words = [re.sub(r"\$\{(\w+)(?::-([^}]*))?\}", lambda m: given.get(m[1]) or m[2], word)
                 for word in told.get("command", config["Cmd"])]
        user = told.get("user", config["User"])
        return subprocess.Popen(
            ["/usr/sbin/chroot", f"--userspec={user}", self.root, *config["Entrypoint"], *words],
            env=values, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)

    def inside(self, *words, **values):
        return subprocess.run(["/usr/sbin/chroot", "--userspec=65532:65532", self.root, "/usr/bin/urd", *words],
                              env=values, capture_output=True, text=True, timeout=PATIENCE)

    def sign_in(self, address):
        """Types a mail address on the sign-in page."""
        with urllib.request.urlopen("http://localhost:8080/login?next=%2Faccount", timeout=PATIENCE) as page:
            cookies = [line.split(";")[0] for line in page.headers.get_all("Set-Cookie")]
            form = page.read().decode()
        fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form))
        request = urllib.request.Request(
            page.url, urllib.parse.urlencode({**fields, "email": address, "by": "email_code"}).encode(),
            {"Origin": "http://localhost:8080", "Cookie": "; ".join(cookies)})
        urllib.request.urlopen(request, timeout=PATIENCE).close()

    def test_the_image_is_small_and_has_no_shell(self):
        self.assertLess(self.layers, 60 << 20)
        self.assertEqual(self.image["config"]["User"], "65532:65532")
        programs = []
        for place, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if os.path.join(place, name) not in (
                f"{self.root}/proc", f"{self.root}/dev")]
            programs += [f"{place}/{name}"[len(self.root):] for name in names
                         if os.access(f"{place}/{name}", os.X_OK) and ".so" not in name]
        self.assertEqual(programs, ["/usr/bin/urd"])

    def test_the_compose_file_brings_up_a_realm_that_mails_codes(self):
        self.assertEqual(self.inside("health").returncode, 1)
        for _ in range(2):
            setup = self.container("setup")
            told, _ = setup.communicate(timeout=PATIENCE)
            self.assertEqual(setup.returncode, 0, told)
            self.assertNotIn(PASSWORD, told)
        urd = self.container("urd")
        self.processes.append(urd)
        check = COMPOSE["services"]["urd"]["healthcheck"]["test"][2:]
        eventually(lambda: urd.poll() is not None or self.inside(*check).returncode == 0, "urd is ready")
        self.assertIsNone(urd.poll(), urd.stdout.read() if urd.poll() is not None else "")
        with urllib.request.urlopen("http://localhost:8080/account", timeout=PATIENCE) as answer:
            form = answer.read().decode()
            self.assertIn("localhost", answer.url)
        self.assertIn("<form", form)
        secrets = {name: (pathlib.Path(self.root, "etc/urd") / name).read_text().strip()
                   for name in ("master.key", "database-url")}
        request = urllib.request.Request(
            "http://localhost:8080/.well-known/openid-configuration")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            self.assertTrue(json.load(answer)["issuer"].startswith("http://localhost"))
        # The same node as Kubernetes starts it: secrets are files of a folder, and are found by their names.
        folder = pathlib.Path(self.root, "tmp/credentials")
        folder.mkdir(exist_ok=True)
        for name, key in (("master_key", "master.key"), ("database_url", "database-url")):
            (folder / name).write_text(secrets[key] + "\n")
            os.chmod(folder / name, 0o400)
            os.chown(folder / name, 65532, 65532)
        shown = self.inside("realm", "list", CREDENTIALS_DIRECTORY="/tmp/credentials")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("main", shown.stdout)
        self.sign_in("ann@example.org")
        arrived, _, _ = select.select([self.mails.stdout], [], [], PATIENCE)
        self.assertTrue(arrived, "no mail came")
        self.assertIn("ann@example.org", self.mails.stdout.readline())
        urd.send_signal(signal.SIGTERM)
        self.assertEqual(urd.wait(timeout=PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
