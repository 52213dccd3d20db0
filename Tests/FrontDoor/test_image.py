"""The container image, unpacked and started as the compose file and the chart for Kubernetes say: as a user without rights on
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

from chart import IS_POSSIBLE, TRIAL, notes, one, rendered
from front_door import BINARY, PATIENCE, ROOT, eventually

INSIDE = "URD_TEST_CONTAINERS"
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
MAIL_SERVER = ROOT / "Tests/HTTPClientTests/servers/smtp_server.py"
PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))
PASSWORD = "made-for-this-test"


def is_possible():
    try:
        return os.geteuid() == 0 and subprocess.run(
            ["unshare", "--net", "--mount", "ip", "link", "set", "lo", "up"], timeout=10).returncode == 0
    except OSError:
        return False


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
        self.assertIn("Ran 3 tests", done.stderr)


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
        hosts.write_text("127.0.0.1 localhost database mail urd-trial\n")
        pathlib.Path(cls.root, "proc").mkdir()
        pathlib.Path(cls.root, "dev").mkdir()
        pathlib.Path(cls.root, "run/credentials/urd").mkdir(parents=True)
        # As a container runtime leaves it: nothing but volumes can be written to.
        subprocess.run(["mount", "--bind", cls.root, cls.root], check=True)
        for place in ("proc", "dev"):
            subprocess.run(["mount", "--rbind", f"/{place}", f"{cls.root}/{place}"], check=True)
        for place in ("etc/urd", "var/lib/urd", "run/credentials/urd", "tmp"):
            volume = f"{cls.folder}/volumes/{place}"
            shutil.copytree(f"{cls.root}/{place}", volume)
            owner = os.stat(f"{cls.root}/{place}")
            os.chown(volume, owner.st_uid, owner.st_gid)
            subprocess.run(["mount", "--bind", volume, f"{cls.root}/{place}"], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", cls.root], check=True)
        cls.processes = []
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

    def start_database(self):
        """A new one, at the one port."""
        data = tempfile.mkdtemp(prefix="postgres-", dir=self.folder)
        shutil.chown(data, "postgres")
        password = f"{self.folder}/password"
        pathlib.Path(password).write_text(PASSWORD)
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        subprocess.run([*as_postgres, PROGRAMS / "initdb", "-N", "-A", "scram-sha-256", "-U", "postgres",
                        f"--pwfile={password}", "-D", f"{data}/data"], check=True, capture_output=True, cwd="/tmp")
        server = self.begin([*as_postgres, PROGRAMS / "postgres", "-D", f"{data}/data", "-c", "fsync=off",
                             "-c", f"unix_socket_directories={data}"], cwd="/tmp",
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.send_signal, signal.SIGQUIT)
        eventually(lambda: subprocess.run(
            [PROGRAMS / "pg_isready", "-q", "-h", "127.0.0.1"]).returncode == 0, "PostgreSQL is up")

    def container(self, user, words, **values):
        """What a runtime makes of the image."""
        config = self.image["config"]
        ours = dict(line.split("=", 1) for line in config["Env"])
        return self.begin(
            ["/usr/sbin/chroot", f"--userspec={user}", self.root, *config["Entrypoint"], *(words or config["Cmd"])],
            env={**ours, **values}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def service(self, name):
        """What a runtime makes of a service of the compose file."""
        told = COMPOSE["services"][name]
        given = {"POSTGRES_PASSWORD": PASSWORD}
        words = [re.sub(r"\$\{(\w+)(?::-([^}]*))?\}", lambda m: given.get(m[1]) or m[2], word)
                 for word in told.get("command", [])]
        return self.container(told["user"], words, **told.get("environment", {}))

    def pod(self, manifests, kind, name):
        """What a kubelet makes of a pod with one container: its secrets are files of its group."""
        spec = one(manifests, kind, name)["spec"]["template"]["spec"]
        [box] = spec["containers"]
        user = "{runAsUser}:{runAsGroup}".format(**spec["securityContext"])
        secrets = {volume["name"]: volume["secret"] for volume in spec["volumes"] if "secret" in volume}
        for mount in box["volumeMounts"]:
            if mount["name"] not in secrets:
                continue
            folder = pathlib.Path(self.folder, "volumes", mount["mountPath"].lstrip("/"))
            secret = secrets[mount["name"]]
            for old in folder.iterdir():
                old.unlink()
            for key, value in one(manifests, "Secret", secret["secretName"])["stringData"].items():
                (folder / key).write_text(value)
                os.chmod(folder / key, secret["defaultMode"] | 0o040)
                os.chown(folder / key, 0, spec["securityContext"]["fsGroup"])
        values = {each["name"]: each["value"] for each in box["env"]}
        for source in box.get("envFrom", []):
            values.update(one(manifests, "ConfigMap", source["configMapRef"]["name"])["data"])
        return self.container(user, box.get("args", []), **values), values

    def inside(self, *words, **values):
        return subprocess.run(["/usr/sbin/chroot", "--userspec=65532:65532", self.root, "/usr/bin/urd", *words],
                              env=values, capture_output=True, text=True, timeout=PATIENCE)

    def sign_in(self, address):
        """Types a mail address on the sign-in page, and has a mail."""
        with urllib.request.urlopen("http://localhost:8080/login?next=%2Faccount", timeout=PATIENCE) as page:
            cookies = [line.split(";")[0] for line in page.headers.get_all("Set-Cookie")]
            form = page.read().decode()
        fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form))
        request = urllib.request.Request(
            page.url, urllib.parse.urlencode({**fields, "email": address, "by": "email_code"}).encode(),
            {"Origin": "http://localhost:8080", "Cookie": "; ".join(cookies)})
        urllib.request.urlopen(request, timeout=PATIENCE).close()
        arrived, _, _ = select.select([self.mails.stdout], [], [], PATIENCE)
        self.assertTrue(arrived, "no mail came")
        self.assertIn(address, self.mails.stdout.readline())

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
        self.start_database()
        self.assertEqual(self.inside("health").returncode, 1)
        for _ in range(2):
            setup = self.service("setup")
            told, _ = setup.communicate(timeout=PATIENCE)
            self.assertEqual(setup.returncode, 0, told)
            self.assertNotIn(PASSWORD, told)
        urd = self.service("urd")
        check = COMPOSE["services"]["urd"]["healthcheck"]["test"][2:]
        eventually(lambda: urd.poll() is not None or self.inside(*check).returncode == 0, "urd is ready")
        self.assertIsNone(urd.poll(), urd.stdout.read() if urd.poll() is not None else "")
        with urllib.request.urlopen("http://localhost:8080/account", timeout=PATIENCE) as answer:
            form = answer.read().decode()
            self.assertIn("localhost", answer.url)
        self.assertIn("<form", form)
        request = urllib.request.Request(
            "http://localhost:8080/.well-known/openid-configuration")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            self.assertTrue(json.load(answer)["issuer"].startswith("http://localhost"))
        self.sign_in("ann@example.org")
        self.end(urd)

    @unittest.skipUnless(IS_POSSIBLE, "Helm is for x86-64 here")
    def test_the_chart_brings_up_a_trial_that_mails_codes(self):
        manifests = rendered(TRIAL)
        self.start_database()
        subprocess.run(
            ["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "postgres"], check=True,
            input=one(manifests, "Secret", "urd-trial")["stringData"]["roles.sql"], text=True,
            env={"PATH": os.environ["PATH"], "PGPASSWORD": PASSWORD})
        job, _ = self.pod(manifests, "Job", "urd-migrate-1")
        told, _ = job.communicate(timeout=PATIENCE)
        self.assertEqual(job.returncode, 0, told)
        urd, values = self.pod(manifests, "Deployment", "urd")
        [box] = one(manifests, "Deployment")["spec"]["template"]["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in box["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            asked = box[probe]["httpGet"]
            eventually(lambda: urd.poll() is not None or self.is_well(ports[asked["port"]], asked["path"]), probe)
            self.assertIsNone(urd.poll(), urd.stdout.read() if urd.poll() is not None else "")
        for line in notes(TRIAL).splitlines():
            if " -- /usr/bin/urd " in line:
                done = self.inside(*line.split(" -- /usr/bin/urd ")[1].split(), **values)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.sign_in("bob@example.org")
        self.end(urd)

    def is_well(self, port, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
                return answer.status == 200
        except OSError:
            return False

    def end(self, urd):
        urd.send_signal(signal.SIGTERM)
        urd.communicate(timeout=PATIENCE)
        self.assertEqual(urd.returncode, 0)


if __name__ == "__main__":
    unittest.main()
