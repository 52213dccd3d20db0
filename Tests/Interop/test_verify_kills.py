"""The verify profile where a server dies in the middle, and where two serve it: a code is good once, whichever of
them is asked, and what was answered is on record."""

import http.client
import json
import random
import signal
import subprocess
import threading
import unittest
import urllib.parse

from urd_process import PATIENCE, Server, Urd, eventually, together
from verify_client import App, Browser, address

CODES = 12
KILLS = 4


def setUpModule():
    global urd, browser
    urd = Urd()
    urd.api.call("PATCH", "/api/admin/realms/verify/settings", {
        "rate_limits": {"oauth-token": {"source": None, "client": None, "target": None}}})
    # It is recognised from then on, and gets codes without a mail.
    browser = Browser(urd.values["URD_VERIFY_URL"])
    App(urd).walk(address(), browser=browser)


def tearDownModule():
    urd.close()


class Code:
    """One code of the recognised browser, and what redeems it."""

    def __init__(self):
        app = App(urd)
        path = "/app?" + app.query()
        page = browser.call("GET", path)
        answer = browser.post(page, "/app/continue?" + app.query())
        assert answer.status == 303, answer.text
        self.body = json.dumps(app.body(answer.sent()))
        self.key = app.key

    def redeem(self, port):
        """The status at this node; 0 where no answer came."""
        place = urllib.parse.urlsplit(urd.values["URD_VERIFY_URL"])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request(
                "POST", "/api/v0/verify/get_identity?oauth_token=true", body=self.body,
                headers={"Host": place.netloc, "API_KEY_ID": self.key,
                         "Content-Type": "application/json"})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()


def opened():
    return int(urd.sql(
        "select count(*) from urd.event where realm = 'verify' and type = 'session.opened'"))


class Kills(unittest.TestCase):
    def test_a_code_is_redeemed_at_most_once_through_a_kill_in_the_middle(self):
        cut = 0
        for _ in range(KILLS):
            node = Server(urd.values).ready()
            codes, before = [Code() for _ in range(CODES)], opened()
            kill = threading.Timer(random.uniform(0, 0.05), node.process.send_signal,
                                   [signal.SIGKILL])
            kill.start()
            first = together(CODES, lambda number: codes[number].redeem(node.port))
            kill.join()
            node.close()
            cut += sum(status == 0 for status in first)
            self.assertLessEqual(set(first), {0, 200}, first)
            # Whoever got no answer asks again, elsewhere.
            port = urllib.parse.urlsplit(urd.values["URD_URL"]).port
            again = together(CODES, lambda number: codes[number].redeem(port))
            for answered, repeated in zip(first, again):
                self.assertIn(repeated, (200, 400))
                self.assertFalse(answered == 200 and repeated == 200, "a code was good twice")
            # Each was redeemed once, whether or not its answer came.
            self.assertEqual(opened() - before, CODES)
        self.assertGreater(cut, 0, "no request was cut off")


class LostConnection(unittest.TestCase):
    def test_a_connection_that_is_lost_at_a_read_that_was_begun_early_uses_up_no_code(self):
        """The passkeys are asked for before the code is redeemed, and needed after it."""
        code, before = Code(), opened()
        table = urd.sql("select 'urd.passkeys_' || build from urd.projection_build"
                        " where projection = 'passkeys' and status = 'live'")
        holder = subprocess.Popen(["psql", "-XqAt", urd.superuser()], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, text=True)
        answers = []
        port = urllib.parse.urlsplit(urd.values["URD_URL"]).port
        asking = threading.Thread(target=lambda: answers.append(code.redeem(port)))
        cut = (f"select count(pg_terminate_backend(pid)) from pg_locks"
               f" where relation = '{table}'::regclass and not granted")
        try:
            holder.stdin.write(f"begin; lock table {table} in access exclusive mode;\n")
            holder.stdin.flush()
            eventually(lambda: urd.sql(
                f"select count(*) from pg_locks where relation = '{table}'::regclass"
                " and mode = 'AccessExclusiveLock' and granted") == "1", "the table is locked")
            asking.start()
            eventually(lambda: urd.sql(cut) != "0", "the read waits, and its connection is cut")
        finally:
            holder.communicate("commit;\n", timeout=60)
        asking.join(PATIENCE)
        if answers == [503]:
            answers.append(code.redeem(port))
        self.assertEqual(answers[-1:], [200], answers)
        self.assertEqual(opened() - before, 1)


class TwoNodes(unittest.TestCase):
    def test_a_code_that_is_redeemed_at_two_nodes_at_once_is_good_at_one(self):
        node = Server(urd.values).ready()
        try:
            ports = [node.port, urllib.parse.urlsplit(urd.values["URD_URL"]).port]
            for _ in range(5):
                code, before = Code(), opened()
                answers = together(50, lambda number: code.redeem(ports[number % 2]))
                self.assertEqual(sorted(set(answers)), [200, 400])
                self.assertEqual(answers.count(200), 1, answers)
                self.assertEqual(opened() - before, 1)
        finally:
            node.close()


if __name__ == "__main__":
    unittest.main()
