"""What is good once in the verify profile stays so where fifty use it at once at two nodes, where a node dies in the
middle, and where the nodes' clocks are an hour off."""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

import test_verify_breadth as breadth
from flagship_client import App as Flagship, device_hash
from phone import inbox
from test_clocks import HOUR, SHIM
from test_verify_breadth import Person, new_pin, settings
from token_tool import missing, rerun
from urd_process import Server, eventually, together
from verify_client import App, Browser, address

MISSING = missing("jose", "fido2", "cryptography")
PASSWORD, OWNER = "seven purple otters dance", "owner@flagship.localhost"


def setUpModule():
    breadth.setUpModule()
    global urd, home
    urd = breadth.urd
    status, told, _ = urd.api.call("PATCH", "/api/admin/realms/flagship/settings", {"rate_limits": {
        policy: {"source": None, "target": None} for policy in ("installation", "owner-mail", "owner-sign-in")}})
    assert status == 200, told
    home = urllib.parse.urlsplit(urd.values["URD_VERIFY_URL"]).port


def tearDownModule():
    breadth.tearDownModule()


def digits_of(who, act):
    """What is mailed by what is done, beside notices."""
    known = {letter["text"] for letter in inbox(urd, who)}
    answer = act()
    return answer, eventually(lambda: next((
        found[0] for letter in inbox(urd, who) if letter["text"] not in known
        for found in [re.search(r"\b\d{6}\b", letter["text"])] if found), None), "a code")


class Once:
    """Something that is good once: `use` says at which node, and answers the status and what came of it."""

    def at(self, app, port):
        other = App(urd, key=app.key)
        other.verifier, other.port = app.verifier, port
        return other


class Code(Once):
    def __init__(self):
        self.person = Person()
        self.sent = self.person.app.walk(self.person.who)
        self.body = self.person.app.body(self.sent)

    def use(self, port):
        answer = self.at(self.person.app, port).exchange(self.body)
        return answer.status, answer.status == 200 and answer.json["oauth_token"]["access_token"]


class Refresh(Once):
    def __init__(self):
        self.person = Person()

    def use(self, port):
        answer = self.at(self.person.app, port).refresh(self.person.tokens["refresh_token"])
        # All who ask within the leeway have the same successor.
        return answer.status, answer.status == 200 and answer.json["refresh_token"].split("_")[-1]


class PINReset(Once):
    def __init__(self):
        self.person = Person()
        self.person.pin()
        path = f"/api/v0/user/reset/start/{self.person.id}"
        answer, self.digits = digits_of(
            self.person.who, lambda: self.person.app.call("POST", path, {"method": "PIN"}))
        self.number = answer.json["challenge_id"]

    def use(self, port):
        pin = new_pin()
        answer = self.at(self.person.app, port).call(
            "POST", f"/api/v0/user/reset/respond/{self.person.id}", {
                "method": "PIN", "reset_code": self.digits, "challenge_id": self.number,
                "new_code": pin})
        return answer.status, answer.status == 200 and pin


class Approved(Once):
    def __init__(self):
        self.person = Person()
        device = self.person.device()
        self.event = self.person.ask()
        assert self.person.respond(self.event, device.answer(self.event)).status == 200

    def use(self, port):
        answer = self.person.get(self.event, app=self.at(self.person.app, port))
        tokens = answer.status == 200 and answer.json.get("oauth_token")
        return answer.status, tokens and tokens["access_token"]


class Approval(Once):
    """The answer of the device itself."""

    def __init__(self):
        self.person = Person()
        self.device = self.person.device()
        self.event = self.person.ask()
        self.answer = self.device.answer(self.event)

    def use(self, port):
        answer = self.person.respond(
            self.event, self.answer, app=self.at(self.person.app, port))
        return answer.status, answer.status == 200 and "approved"


class Signature(Once):
    def __init__(self):
        self.person = Person()
        self.body = self.person.device().event()

    def use(self, port):
        answer = self.person.create(self.body, app=self.at(self.person.app, port))
        return answer.status, answer.status == 200 and answer.json["oauth_token"]["access_token"]


class Passphrase(Once):
    """The second step of a change of the flagship's passphrase."""

    password = PASSWORD

    def __init__(self):
        self.app = self.first()
        current = device_hash(Passphrase.password, self.app.host, 100_000)
        (status, told, _), self.digits = digits_of(OWNER, lambda: self.app.call(
            "PUT", "/settings/passphrase", {"current_passphrase": current}, bearer=self.app.access))
        assert status == 200, told
        self.token = told["two_factor_token"]
        Passphrase.password = self.next = PASSWORD + str(random.random())

    @classmethod
    def first(cls):
        if getattr(cls, "app_of_all", None) is None:
            app = Flagship(urd.values)
            app.register()
            assert app.certify_by_google()[0] == 204
            answer = app.onboard(PASSWORD)
            assert answer[0] == 200, answer
            mode = {"auth_mode": "two_factor_mail"}

            def put(**more):
                return app.call("PUT", "/settings/instance/auth_mode", {**mode, **more},
                                bearer=app.access)

            (status, told, _), digits = digits_of(OWNER, put)
            assert status == 204, told
            answer = put(two_factor_activation_code=digits)
            assert answer[0] == 204, answer
            cls.app_of_all = app
        return cls.app_of_all

    def use(self, port):
        other = Flagship(urd.values)
        other.address = ("127.0.0.1", port)
        status, told, _ = other.call("PUT", "/settings/passphrase", {
            "new_passphrase": device_hash(self.next, self.app.host, 100_000),
            "iterations": 100_000, "two_factor_token": self.token,
            "two_factor_passcode": self.digits}, bearer=self.app.access)
        return status, status == 204 and "changed"


KINDS = [Code, Refresh, PINReset, Approved, Approval, Signature, Passphrase]


class Races(unittest.TestCase):
    def test_what_is_good_once_is_so_for_fifty_at_two_nodes(self):
        node = Server(urd.values).ready()
        self.addCleanup(node.close)
        for kind in KINDS:
            with self.subTest(kind=kind.__name__):
                once = kind()
                answers = together(50, lambda number: once.use([home, node.port][number % 2]))
                # A node hashes so many passphrases and PINs at once, and says of more that it is busy.
                allowed = {503} if kind in (Passphrase, PINReset) else set()
                for answer in answers:
                    self.assertNotIsInstance(answer, Exception)
                    self.assertTrue(200 <= answer[0] < 500 or answer[0] in allowed, answer)
                good = [told for _, told in answers if told]
                self.assertTrue(good, answers)
                if kind is Refresh:
                    self.assertEqual(len(set(good)), 1, good)
                else:
                    self.assertEqual(len(good), 1, [status for status, _ in answers])

    def test_fifty_that_begin_in_a_frame_are_all_told_the_same_and_nothing_is_sent(self):
        app, who = App(urd), address()
        query = urllib.parse.urlencode({
            "api_key": app.key, "domain": "http://localhost:8395", "type": "EMAIL",
            "challenge": app.challenge, "state": app.state, "id": "x"})
        answers = together(50, lambda _: app.call(
            "POST", "/signup/begin?" + query, {"identifier": " " + who.upper()},
            Origin=app.site))
        self.assertEqual({(answer.status, answer.text) for answer in answers},
                         {(200, f'{{"identifier":"{who.upper().lower()}"}}')})
        self.assertEqual(inbox(urd, who), [])


class Kills(unittest.TestCase):
    def test_what_is_good_once_is_so_where_a_node_dies_in_the_middle(self):
        cut = 0
        for kind in KINDS:
            for _ in range(3):
                with self.subTest(kind=kind.__name__):
                    once, node = kind(), Server(urd.values).ready()

                    def use(_):
                        try:
                            return once.use(node.port)
                        except OSError:
                            return 0, False
                        except Exception:  # An answer that was cut off.
                            return 0, False

                    kill = threading.Timer(random.uniform(0, 0.08), node.process.send_signal,
                                           [signal.SIGKILL])
                    kill.start()
                    first = together(4, use)
                    kill.join()
                    node.close()
                    cut += sum(status == 0 for status, _ in first)
                    again = [once.use(home) for _ in range(2)]
                    for status, _ in [*first, *again]:
                        self.assertTrue(status == 0 or 200 <= status < 500, (first, again))
                    good = [told for _, told in [*first, *again] if told]
                    self.assertLessEqual(len(set(good) if kind is Refresh else good), 1, good)
        self.assertGreater(cut, 0, "no request was cut off")


class Clocks(unittest.TestCase):
    """Two nodes an hour off, either way, beside one that is right."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="urd-verify-clocks-", dir="/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        source, shim = (os.path.join(cls.folder, name) for name in ("clock.c", "clock.so"))
        pathlib.Path(source).write_text(SHIM)
        compiler = shutil.which("cc") or shutil.which("clang")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
        cls.nodes = []
        for off in (-HOUR, HOUR):
            node = Server(urd.values, LD_PRELOAD=shim, SECONDS_OFF=str(off)).ready()
            cls.addClassCleanup(node.close)
            cls.nodes.append(node.port)
        cls.pairs = [(first, second) for first in [home, *cls.nodes]
                     for second in [home, *cls.nodes] if first != second]

    def test_a_mailed_code_of_one_node_is_good_at_each_other(self):
        for first, second in self.pairs:
            with self.subTest(first=first, second=second):
                app, who = App(urd), address()
                browser = Browser(app.site, first)
                (page, path), typed = digits_of(who, lambda: app.ask(browser, who))
                browser.address = (browser.address[0], second)
                answer = browser.post(page, path, code=typed)
                self.assertEqual(answer.status, 303, answer.text)
                app.port = first
                exchanged = app.exchange(app.body(answer.sent()))
                self.assertEqual(exchanged.status, 200, exchanged.text)
                tokens = exchanged.json["oauth_token"]
                app.port = second
                self.assertEqual(app.call(
                    "POST", "/verify", {"oauth_token": tokens}).json, {"success": True})
                self.assertEqual(app.refresh(tokens["refresh_token"]).status, 200)

    def test_what_is_good_once_is_good_at_a_node_with_another_clock_and_once(self):
        for kind in KINDS:
            for port in self.nodes:
                with self.subTest(kind=kind.__name__, port=port):
                    once = kind()
                    status, told = once.use(port)
                    self.assertTrue(told, (status, told))
                    if kind is not Refresh:
                        self.assertEqual(once.use(home)[1] or None, None)

    def test_a_code_that_is_over_is_so_at_each_node(self):
        settings(code_lifetime=10)
        try:
            codes = [Code() for _ in range(3)]
            time.sleep(12)
            for once, port in zip(codes, [home, *self.nodes]):
                app = once.at(once.person.app, port)
                answer = app.exchange(once.body)
                self.assertEqual((answer.status, answer.json["msg"]), (400, "Challenge Expired"))
        finally:
            settings(code_lifetime=None)


if MISSING:
    Races = Kills = Clocks = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
