"""The command line as people meet it: examples of help, tables, questions, completion."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import socketserver
import subprocess
import tempfile
import threading
import time
import unittest

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from feed_client import Feed
from flagship_client import App
from phone import Phone
from publisher import Publisher
from urd_process import PATIENCE, Urd, eventually, free_port

BINARY = pathlib.Path(os.environ.get(
    "URD_BINARY", pathlib.Path(__file__).resolve().parents[2] / ".build" / "debug" / "urd"))

# They run until they are stopped.
RUNNING = {"dev": "Ctrl-C stops everything", "serve": "server.listening", "events tail": '{"actor"'}

# An installation of this machine, and a database of another: test_setup and test_engine run them elsewhere.
ELSEWHERE = {"setup", "doctor engine"}

# The others follow in the order of help.
FIRST = [
    "realm create", "host assign", "app create", "client register", "account register",
    "registration-token create", "provider set", "provider link", "web-app register",
    "invite create", "admin key create", "push-provider set fcm", "push-provider set apns",
    "owner appoint",
]
LAST = [
    "client update", "client change", "client rotate-secret", "client disable", "client enable",
    "client delete", "app delete", "host release", "realm disable", "realm enable",
    "provider unlink", "provider remove", "push-provider remove fcm", "push-provider remove apns",
    "web-app remove", "registration-token revoke", "invite revoke", "account end-session",
    "account log-out", "account disable", "account enable", "account delete",
    "account cancel-deletion", "account erase", "subject erase", "admin key revoke",
    "keys rotate-realm", "projections rollback", "keys rotate-master",
    "analyst remove",
]


def setUpModule():
    global urd, desk
    urd = Urd()
    desk = tempfile.TemporaryDirectory(prefix="urd-line-", dir="/tmp")
    # PostgreSQL of `urd dev` runs as a user of its own.
    os.chmod(desk.name, 0o755)


def tearDownModule():
    desk.cleanup()
    urd.close()


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("URD_")}
    # As `. .dev/dev.env` leaves it, and `urd` on the path.
    folder = pathlib.Path(desk.name, "bin")
    folder.mkdir(exist_ok=True)
    link = folder / "urd"
    if not link.exists():
        link.symlink_to(BINARY.resolve())
    return {**clean, **urd.values, "PATH": f"{folder}:{clean['PATH']}", **more}


def shell(line, code=0, **more):
    done = subprocess.run(
        ["bash", "-c", line], cwd=desk.name, env=environment(**more), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=PATIENCE)
    assert code is None or done.returncode == code, (line, done.stdout, done.stderr)
    return done


def read(line):
    return json.loads(shell(f"urd {line} --json").stdout)


def commands():
    """The name of every command, in the order of help."""
    listed = re.findall(r"^  (\S+(?: \S+)*)(?:  |$)", shell("urd help all").stdout, re.M)
    return [name for name in listed if name]


def examples(name):
    page = shell(f"urd {name} --help").stdout
    block = page.split("\nExamples:\n")[1].split("\n\n")[0]
    lines = re.sub(r" \\\n +", " ", block).split("\n")
    return [line.strip() for line in lines], "--yes" in page


class Refusal(socketserver.StreamRequestHandler):
    """A mail server that knows none of the recipients (RFC 5321)."""

    def handle(self):
        self.wfile.write(b"220 mail.example\r\n")
        for line in self.rfile:
            verb = line[:4].upper()
            reply = {b"RCPT": b"550 unknown", b"QUIT": b"221 bye", b"DATA": b"554 no recipients"}
            self.wfile.write(reply.get(verb, b"250 mail.example") + b"\r\n")
            if verb == b"QUIT":
                return


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """A provider, and a mail server of another Urd: what examples need that `urd dev` has not."""
        cls.provider = Publisher()
        issuer = f"https://127.0.0.1:{cls.provider.server.server_port}"
        cls.provider.documents.update({
            "/.well-known/openid-configuration": {
                "issuer": issuer, "authorization_endpoint": f"{issuer}/authorize",
                "token_endpoint": f"{issuer}/token", "jwks_uri": f"{issuer}/keys",
                "userinfo_endpoint": f"{issuer}/person"},
            "/person": {"sub": "248289761001"}})
        cls.outgoing = {
            "URD_OUTGOING_NETWORKS": "127.0.0.0/8", "URD_OUTGOING_CA_FILE": cls.provider.ca_file}
        shell(f"urd provider set corp --name Acme --issuer {issuer} --client-id urd "
              "--client-secret hush --realm flagship")
        cls.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusal)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        port = str(cls.server.server_address[1])
        cls.mailing = Urd(
            URD_SMTP_HOST="127.0.0.1", URD_SMTP_PORT=port, URD_SMTP_SECURITY="none")

    @classmethod
    def tearDownClass(cls):
        cls.mailing.close()
        cls.server.shutdown()
        cls.server.server_close()
        cls.provider.close()

    def refused_mail(self):
        """A mail that the mail server refused for good."""
        Phone(self.mailing).request_code("ann@example.org")

        def failed():
            line = "urd mail list --failed --json"
            return json.loads(shell(line, **self.mailing.values).stdout)["items"]

        eventually(failed, "the mail failed")
        return failed()[0]["id"]

    def undelivered_notification(self):
        """A notification of an installation, whose owner has neither devices nor mails."""
        shell("urd realm set flagship --notification-mails false")
        attributes = {"category": "plain", "title": "Hello", "message": "World"}
        status, body, _ = self.app.call(
            "POST", "/notifications",
            {"data": {"type": "io.cozy.notifications", "attributes": attributes}},
            bearer=self.app.access, headers={"Content-Type": "application/vnd.api+json"})
        self.assertEqual(status, 201, body)
        failed = "notification list --realm flagship --failed"
        eventually(lambda: read(failed)["items"], "the notification failed")
        return read(failed)["items"][0]["id"]

    def fill(self):
        """What stands in a realm before somebody tries the examples."""
        shell("urd realm create --realm home --display-name Home")
        shell("urd realm set home --profile flagship")
        shell("urd account register --realm home --email camille@example.org --confirmed true")
        shell("urd realm set demo --roles '{\"https://api.example.org\":{\"editor\":[]}}'")
        shell("urd client register --client-id partner --grant-types client_credentials "
              "--contacts ops@partner.example")
        for name in ("one", "two", "three"):
            shell(f"urd webhook create --realm demo --name {name} --url https://127.0.0.1:1024/")
        shell("urd webhook create --realm demo --name all --to internal --url https://127.0.0.1:1024/")
        account = rsa.generate_private_key(65537, 2048)
        key = ec.generate_private_key(ec.SECP256R1())

        def pem(one):
            return one.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()).decode()

        pathlib.Path(desk.name, "apns.p8").write_text(pem(key))
        pathlib.Path(desk.name, "policy.json").write_text('{"max_sessions": 3}')
        # Nothing differs from it, so that the examples end with 0.
        pathlib.Path(desk.name, "urd.yaml").write_text("realms: {home: {hosts: []}}\n")
        pathlib.Path(desk.name, "users.csv").write_text("id,email\n1,moved-in@example.org\n")
        pathlib.Path(desk.name, "realm.json").write_text(json.dumps({"realm": "shop", "users": [
            {"id": "u1", "username": "moved", "email": "moved@example.org", "enabled": True, "emailVerified": True}]}))
        release = pathlib.Path(desk.name, "release")
        release.mkdir()
        (release / "urd.deb").write_text("a package")
        for words in ("sha256sum urd.deb >SHA256SUMS", "minisign -G -W -p ../urd.pub -s ../urd.key",
                      "minisign -S -s ../urd.key -m SHA256SUMS -t 'urd 0.1.0'"):
            subprocess.run(words, shell=True, cwd=release, check=True, stdout=subprocess.DEVNULL)
        for name in ("auth-token", "token"):
            pathlib.Path(desk.name, name).write_text("of-a-gateway")
        pathlib.Path(desk.name, "account.json").write_text(json.dumps({
            "client_email": "push@demo.iam.gserviceaccount.com", "project_id": "demo",
            "private_key": pem(account), "private_key_id": "k1"}))
        old = pathlib.Path(urd.values["URD_MASTER_KEY_FILE"]).read_text()
        for name, text in (("old.key", old), ("new.key", os.urandom(32).hex())):
            path = pathlib.Path(desk.name, name)
            path.write_text(text)
            path.chmod(0o600)
        self.app = App(urd.values)
        self.app.register(notifications={"plain": {}})
        self.assertEqual(self.app.certify_by_apple()[0], 204)
        self.assertEqual(self.app.onboard("seven purple otters dance")[0], 200)
        self.notification = self.undelivered_notification()
        # `proof` and `log` speak of what the sealer has signed.
        eventually(lambda: shell("urd log checkpoint --realm demo", code=None).returncode == 0,
                   "the log is sealed")

    def named(self, word, command=""):
        """The id that a word in capitals stands for."""
        if word == "APP":
            return next(one["id"] for one in read("app list")["items"] if one["slug"] == "shop")
        if word == "TOKEN":
            return read("registration-token list")["items"][0]["id"]
        if word == "SESSION":
            return read("account sessions ann@example.org")["items"][0]["id"]
        if word == "SUBJECT":
            lines = shell("urd events tail --type client.registered --limit 50 --json").stdout
            made = [json.loads(line) for line in lines.splitlines()]
            return next(one["subject"] for one in made
                        if one["data"].get("client_id") == "partner")
        if word == "INVITE":
            return read("invite list")["items"][0]["id"]
        if word == "KEY":
            return next(one["id"] for one in read("admin key list")["items"]
                        if one["name"] == "deployment" and one.get("revoked_at") is None)
        if word == "WEBHOOK":
            # The one that wants the first event is kept for its example.
            return next(one["id"] for one in read("webhook list")["items"]
                        if (one["name"] == "all") == (command == "webhook resend"))
        if word == "SUBSCRIPTION":
            subscription = read("subscription list")["items"][0]["id"]
            self.read_by(subscription, 42)
            return subscription
        if word == "FINDING":
            return self.finding()
        if word == "WEBAPP":
            return read("web-app list --realm flagship")["items"][0]["id"]
        if word == "SIZE":
            return shell("urd log checkpoint --realm demo").stdout.splitlines()[1]
        if word == "INSTALLATION":
            return self.app.id
        if word == "NOTIFICATION":
            return self.notification
        if word == "MAIL":
            return self.refused_mail()
        raise AssertionError(f"an example needs {word}")

    def finding(self):
        """One that is open."""
        shell("urd finding set-rule many_sessions --sessions 2 --realm demo")
        email = f"finder{os.urandom(4).hex()}@example.org"
        shell(f"urd account register --email {email} --confirmed true")
        for _ in range(2):
            Phone(urd).sign_in(email)
        mine = f"finding list --account {email} --state open"
        eventually(lambda: read(mine)["items"], "it is found")
        return read(mine)["items"][0]["id"]

    def read_by(self, subscription, position):
        """What a reader was not sent, it cannot confirm."""
        end = urd.api.call("GET", urd.realm + "/events?limit=1000")[1]["next"]
        for number in range(int(end.split(":")[1]), position + 1):
            urd.api.call("POST", urd.realm + "/accounts", {"email": f"reader{number}@example.org"})
        with Feed(urd.values["URD_URL"], urd.key, "demo",
                  f"subscription={subscription}&take_over=true") as feed:
            for entry in feed.entries():
                if int(entry["cursor"].split(":")[1]) >= position:
                    return

    def run_example(self, name, line, asks):
        # Before ids stand in it, which may have these digits.
        line = line.replace("8090", str(free_port())).replace("8091", str(free_port()))
        line = line.replace("/tmp/urd-data", os.path.join(desk.name, "data"))
        for word in re.findall(r"(?<= )[A-Z]{3,}(?= |$)", line):
            line = line.replace(f" {word}", " " + self.named(word, name))
        if name in RUNNING and ("--follow" in line or name != "events tail"):
            return self.run_until_it_speaks(line, RUNNING[name])
        if asks and "--dry-run" not in line:
            line += " --yes"
        more = self.mailing.values if name == "mail resend" else {}
        if name in ("provider code", "provider delegate"):
            more = self.outgoing
        # Nobody listens where the webhook goes.
        done = shell(line, code=1 if name == "webhook test" else 0, **more)
        if ">" in line or "--csv" in line or "--json" in line or name in ("completion", "log key"):
            return
        # A result is a table or a sentence, and fits the terminal.
        if name not in ("proof", "log checkpoint", "log consistency", "log export"):
            for row in done.stdout.splitlines():
                # An address is to be copied whole.
                if "postgresql://" not in row:
                    self.assertLessEqual(len(row), 100, f"{line}: {row}")

    def run_until_it_speaks(self, line, text):
        process = subprocess.Popen(
            ["bash", "-c", "exec " + line], cwd=desk.name, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            seen, deadline = "", time.monotonic() + PATIENCE
            while text not in seen and time.monotonic() < deadline:
                if select.select([process.stdout], [], [], 1)[0]:
                    more = os.read(process.stdout.fileno(), 65536)
                    self.assertTrue(more, f"{line} ended: {seen}")
                    seen += more.decode()
            self.assertIn(text, seen)
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            process.wait(timeout=PATIENCE)
            process.stdout.close()

    def test_every_example_runs_and_no_table_is_wider_than_100_columns(self):
        self.fill()
        names = commands()
        self.assertGreater(len(names), 100)
        middle = [name for name in names if name not in FIRST + LAST]
        for name in [name for name in FIRST + middle + LAST if name not in ELSEWHERE]:
            if name == "account list":
                Phone(urd).sign_in("ann@example.org")
            lines = []
            with self.subTest(name=name):
                lines, asks = examples(name)
                self.assertTrue(lines, name)
            for line in lines:
                with self.subTest(line=line):
                    self.run_example(name, line, asks)
        # The server still has the old master key.
        shell("urd keys rotate-master --old new.key --master-key-file old.key --yes")
        self.assertEqual(set(FIRST + LAST) - set(names), set())


class Terminal:
    """A command on a terminal."""

    def __init__(self, *words):
        self.pid, self.place = pty.fork()
        if self.pid == 0:
            os.execve(str(BINARY), ["urd", *words], environment())
        self.seen = ""

    def until(self, text):
        deadline = time.monotonic() + PATIENCE
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.place], [], [], 1)[0]:
                self.seen += os.read(self.place, 4096).decode()
        return self.seen

    def type(self, text):
        os.write(self.place, text.encode() + b"\n")

    def end(self):
        try:
            while piece := os.read(self.place, 4096):
                self.seen += piece.decode()
        except OSError:  # the other side is closed
            pass
        os.close(self.place)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Questions(unittest.TestCase):
    def made(self, name):
        shell(f"urd client register --client-id {name} --client-name 'The {name}' "
              "--grant-types client_credentials")
        return name

    def test_a_destructive_command_on_a_terminal_needs_the_name_typed(self):
        name = self.made("asked")
        wrong = Terminal("client", "delete", name)
        wrong.until(f"Type {name} to confirm: ")
        self.assertIn("The asked", wrong.seen)
        wrong.type("yes")
        self.assertEqual(wrong.end(), 1)
        self.assertIn("nothing was changed", wrong.seen)
        shell(f"urd client show {name}")
        right = Terminal("client", "delete", name)
        right.until(f"Type {name} to confirm: ")
        right.type(name)
        self.assertEqual(right.end(), 0)
        self.assertIn(f"There is no client '{name}'", shell(f"urd client show {name}", code=1).stderr)

    def test_a_destructive_command_in_a_pipe_needs_yes_and_a_dry_run_changes_nothing(self):
        name = self.made("piped")
        refused = shell(f"urd client delete {name}", code=2)
        self.assertIn("give --yes", refused.stderr)
        told = read(f"client delete {name} --dry-run")
        self.assertEqual((told["dry_run"], told["name"]), (True, name))
        self.assertEqual(told["found"]["client_name"], "The piped")
        shell("urd account register --email gone@example.org")
        Phone(urd).sign_in("gone@example.org")
        shown = shell("urd account erase gone@example.org --dry-run").stdout
        self.assertRegex(shown, r"sessions +1\n")
        self.assertIn("Nothing was changed", shown)
        shell("urd account show gone@example.org")
        shell(f"urd client delete {name} --yes")
        shell(f"urd client show {name}", code=1)


class Words(unittest.TestCase):
    def test_realm_set_prints_only_what_changed(self):
        shell("urd realm set demo --unset otp_lifetime")
        before = read("realm settings demo")["otp_lifetime"]
        told = shell("urd realm set demo --otp-lifetime 301").stdout
        self.assertEqual(told, f"otp_lifetime: {before} → 301\n")
        self.assertEqual(
            shell("urd realm set --otp-lifetime 301").stdout, "Nothing changed.\n")
        shell("urd realm set demo --unset otp_lifetime")

    def test_log_out_counts_sessions_and_a_reset_says_when_there_were_none(self):
        shell("urd account register --email counted@example.org")
        phone = Phone(urd)
        phone.sign_in("counted@example.org")
        self.assertEqual(
            shell("urd account log-out counted@example.org --yes").stdout, "1 session ended.\n")
        self.assertEqual(
            shell("urd account log-out counted@example.org --yes").stdout, "0 sessions ended.\n")
        self.assertEqual(
            shell("urd account reset-two-factor counted@example.org --yes").stdout,
            "Nothing changed: the account has no authenticator app.\n")

    def test_a_new_secret_is_printed_last_on_a_line_of_its_own(self):
        made = shell("urd client register --client-id secretive "
                     "--grant-types client_credentials").stdout.splitlines()
        self.assertEqual(made[-2], "client_secret, shown once:")
        self.assertRegex(made[-1], r"^[\w-]{40,}$")
        again = shell("urd client rotate-secret secretive --yes").stdout.splitlines()
        self.assertEqual(again[-2], "client_secret, shown once:")
        self.assertNotEqual(made[-1], again[-1])

    def test_a_list_of_the_log_is_read_to_its_end_and_goes_on_behind_it(self):
        whole = read("events list --limit 100 --all")
        self.assertEqual([item["position"] for item in whole["items"]],
                         list(range(1, len(whole["items"]) + 1)))
        self.assertIs(whole["more"], False)
        shell("urd app create --slug later --name Later")
        since = read(f"events list --after {whole['next']}")
        self.assertEqual([item["type"] for item in since["items"]], ["app.created"])

    def test_lists_open_sealed_fields_filter_and_page_to_their_end(self):
        for number in range(5):
            shell(f"urd account register --email listed{number}@example.org --first-name Lee")
        one = shell("urd account list --limit 2 --all --open --csv").stdout
        rows = one.splitlines()
        self.assertEqual(len(rows) - 1, len(read("account list --limit 200")["items"]))
        self.assertEqual(len([row for row in rows if row.startswith("id,")]), 1)
        for number in range(5):
            self.assertIn(f"listed{number}@example.org", one)
        self.assertNotIn("listed0@", shell("urd account list --all").stdout)
        self.assertIn("listed0@", shell("urd account list --all --open").stdout)
        whole = read("account list --limit 2 --all")
        self.assertIsNone(whole["next"])
        self.assertEqual(len(whole["items"]), len(rows) - 1)
        chosen = shell("urd client list --columns client_id,scope").stdout.splitlines()
        self.assertEqual(chosen[0].split(), ["CLIENT_ID", "SCOPE"])
        self.assertGreater(
            max(map(len, shell("urd client list --wide").stdout.splitlines())), 150)
        wrong = shell("urd client list --columns clientid", code=2).stderr
        self.assertIn("did you mean client_id?", wrong)
        wrong = shell("urd audit list --type clent", code=2).stderr
        self.assertIn("did you mean client?", wrong)

    def test_a_name_that_does_not_exist_gets_the_nearest_one_suggested(self):
        account = read("account register --email misnamed@example.org")["id"]
        app = read("app create --slug corner-shop --name Shop")["id"]
        host = "near.example.org"
        shell("urd host assign --realm demo --host " + host)
        provider = ("--name Google --issuer https://accounts.example --client-id urd "
                    "--client-secret secret")
        shell(f"urd provider set google {provider}")
        shell("urd web-app register --slug drive --name Drive --origin https://drive.example.org "
              "--redirect-uris https://drive.example.org/back --realm flagship", code=None)
        shell("urd realm set demo --roles '{\"https://api.example.org\":{\"editor\":[]}}'")
        roles = '\'{"https://api.example.org":["editr"]}\''
        for line, said in (
                ("realm show demmo", "There is no realm 'demmo'. Did you mean 'demo'?"),
                ("realm set demmo --registration off", "Did you mean 'demo'?"),
                ("realm disable demmo --yes", "Did you mean 'demo'?"),
                ("realm disable demmo --dry-run", "Did you mean 'demo'?"),
                ("account list --realm demmo", "Did you mean 'demo'?"),
                ("events tail --realm demmo", "There is no realm 'demmo'. Did you mean 'demo'?"),
                ("verify --realm demmo", "Did you mean 'demo'?"),
                ("log checkpoint --realm demmo", "Did you mean 'demo'?"),
                ("keys rotate-realm --realm demmo --yes", "Did you mean 'demo'?"),
                ("client show demo-clinet",
                 "There is no client 'demo-clinet'. Did you mean 'demo-client'?"),
                ("client rotate-secret demo-clinet --yes", "Did you mean 'demo-client'?"),
                ("history client demo-clinet", "Did you mean 'demo-client'?"),
                ("app show corner-shp", "There is no app 'corner-shp'. Did you mean 'corner-shop'?"),
                ("invite create --app-id corner-shp", "Did you mean 'corner-shop'?"),
                ("host release neer.example.org --yes", f"Did you mean '{host}'?"),
                ("provider remove gogle --yes", "Did you mean 'google'?"),
                (f"account set-roles {account} --roles {roles}",
                 "There is no role 'editr'. Did you mean 'editor'?"),
                ("projections rebuild acounts", "Did you mean 'accounts'?")):
            self.assertIn(said, shell(f"urd {line}", code=1).stderr, line)
        # A name that nothing comes near to says where the names are; a slug is as good as an id.
        self.assertIn(
            "`urd client list --realm demo` names them.", shell("urd client show xyz", code=1).stderr)
        self.assertEqual(read("app show corner-shop")["id"], app)
        doctor = shell("urd doctor --security --realm demmo", code=1).stdout
        self.assertIn("did you mean demo?", " ".join(doctor.split()))
        # Over HTTP the caller is told nothing but that there is none.
        status, problem, _ = urd.api.call("GET", "/api/admin/realms/demmo")
        self.assertEqual((status, problem["title"]), (404, "There is no such realm."))
        self.assertNotIn("demo'", json.dumps(problem))

    def test_events_are_read_by_stream_actor_client_and_time(self):
        def tail(words):
            lines = shell(f"urd events tail --json {words}").stdout.splitlines()
            return [json.loads(line) for line in lines]

        account = read("account register --email filtered@example.org")["id"]
        before = tail("--limit 1")[0]["position"]
        shell(f"urd account disable {account} --yes")
        shell("urd client register --client-id filtered --grant-types client_credentials")
        mine = tail(f"--stream {account} --limit 100")
        self.assertEqual([event["type"] for event in mine][-1], "account.disabled")
        self.assertEqual({event["stream"] for event in mine}, {account})
        whole = tail("--from 1")
        for words, member in (("--actor", "actor"), ("--client", "client")):
            some = next(event[member] for event in reversed(whole) if event.get(member))
            wanted = [event["position"] for event in whole if event.get(member) == some]
            self.assertEqual(
                [event["position"] for event in tail(f"{words} '{some}' --limit 100000")], wanted)
        # More than the usual ten, and none of before.
        self.assertEqual(
            [event["position"] for event in tail("--since 1h")],
            [event["position"] for event in whole])
        late = next(event["at"] for event in whole if event["position"] == before + 1)
        self.assertEqual(tail(f"--since {late}")[0]["position"], before + 1)
        self.assertEqual(tail("--since now"), [])
        # Behind a cursor of a list, whose ids are the same.
        listed = read("events list --limit 3")
        self.assertEqual([event["id"] for event in listed["items"]],
                         [event["id"] for event in whole[:3]])
        self.assertEqual(tail(f"--from {listed['next']}")[0]["position"], 4)
        self.assertIn("beyond the head", shell("urd events tail --from 1:99999999", code=1).stderr)
        self.assertIn("--from 0:0", shell("urd events tail --from 77:5", code=1).stderr)
        self.assertIn("such as 3:48211", shell("urd events tail --from 1:x", code=2).stderr)

    def test_times_migrations_realms_and_the_doctor_print_plain_words(self):
        for since in ("yesterday", "24h", '"2 hours ago"'):
            self.assertTrue(read(f"audit list --since {since}")["items"], since)
        self.assertEqual(read("audit list --until yesterday")["items"], [])
        for line in ("migrate", "migrate --check"):
            self.assertRegex(shell(f"urd {line}").stdout, r"^Up to date \(version \d+\)\.\n$")
        self.assertEqual(read("realm show flagship")["realm"], "flagship")
        self.assertEqual(read("realm show --realm flagship")["realm"], "flagship")
        shell("urd realm show demo --realm flagship", code=2)
        doctor = shell("urd doctor").stdout
        self.assertEqual(doctor.count("Urd answers"), 2, doctor)
        missing = shell("urd realm list", code=1, URD_MASTER_KEY_FILE="/nowhere/master.key").stderr
        self.assertIn("A new key reads nothing that the old one sealed", missing)
        self.assertNotIn("openssl", missing)

    def test_bash_completes_words_topics_and_options(self):
        def completed(*words):
            script = (
                "source <(urd completion bash); "
                f"COMP_WORDS=({' '.join(map(repr, words))}); "
                f"COMP_CWORD={len(words) - 1}; _urd; echo \"${{COMPREPLY[@]}}\"")
            return shell(script).stdout.split()

        self.assertIn("client", completed("urd", "cl"))
        self.assertIn("register", completed("urd", "client", ""))
        self.assertEqual(completed("urd", "client", "reg"), ["register"])
        self.assertIn("--dry-run", completed("urd", "client", "delete", "web", "--"))
        self.assertIn("settings", completed("urd", "help", "s"))
        self.assertEqual(completed("urd", "completion", "z"), ["zsh"])


if __name__ == "__main__":
    unittest.main()
