"""The key that a realm's secrets follow from is replaced, by its commands and beside two servers, while
people are signed in."""

import json
import threading
import unittest
import urllib.parse
import uuid

from phone import Phone, code, inbox
from urd_process import Server, Urd, eventually


def setUpModule():
    global urd, nodes, phones
    urd, nodes = Urd(), []
    nodes.append(Server(urd.values).ready())
    phones = [Phone(urd), Phone(urd, url=nodes[0].url)]
    phones[1].host = "demo.localhost:" + str(urllib.parse.urlsplit(urd.values["URD_URL"]).port)


def tearDownModule():
    for node in nodes:
        node.close()
    urd.close()


def command(*words):
    ended = urd.command("keys", *words, "--realm", "demo")
    assert ended.returncode == 0, ended.stderr
    return ended


def subject(phone, tokens):
    status, answer, _ = phone.call("GET", "/connect/userinfo", token=tokens["access_token"])
    return answer["sub"] if status == 200 else status


class Replaced(unittest.TestCase):
    def test_secrets_of_the_old_derive_key_are_accepted_until_it_is_retired(self):
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        idle = phones[0].sign_in(email)
        active = phones[1].sign_in(email)
        name = subject(phones[0], idle)
        self.assertEqual(name, subject(phones[1], active))
        before = len(inbox(urd, email))
        self.assertEqual(phones[0].request_code(email)[0], 200)
        mailed = code(urd, email, before)

        # Tokens that one server makes are shown to the other at once, all the while.
        over, refused, seen = threading.Event(), [], [active]

        def walk():
            turn = 0
            # So often that no rate is exceeded.
            while not over.wait(0.3):
                maker, reader = phones[turn % 2], phones[(turn + 1) % 2]
                status, tokens, _ = maker.refresh(seen[-1]["refresh_token"])
                if status != 200:
                    refused.append((status, tokens))
                    return
                seen.append(tokens)
                told = subject(reader, tokens)
                if told != name:
                    refused.append(told)
                turn += 1

        walker = threading.Thread(target=walk)
        walker.start()
        try:
            ended = command("rotate-derive", "--json", "--yes")
            self.assertEqual(json.loads(ended.stdout), {"accepted": 2, "realm": "demo"})
        finally:
            over.set()
            walker.join()
        self.assertEqual(refused, [])
        self.assertGreater(len(seen), 5)

        status, tokens, _ = phones[1].redeem(email, mailed)
        self.assertEqual(status, 200, tokens)
        self.assertEqual(subject(phones[0], tokens), name)
        self.assertEqual(subject(phones[0], idle), name)
        status, fresh, _ = phones[0].refresh(seen[-1]["refresh_token"])
        self.assertEqual(status, 200, fresh)

        ended = command("retire-derive", "--json", "--yes")
        self.assertEqual(json.loads(ended.stdout), {"destroyed": 1, "realm": "demo"})
        for phone in phones:
            eventually(lambda: subject(phone, idle) == 401, "the old key is refused")
            self.assertEqual(subject(phone, fresh), name)
            status, answer, _ = phone.refresh(idle["refresh_token"])
            self.assertEqual((status, answer["error"]), (400, "invalid_grant"))
        self.assertEqual(phones[1].refresh(fresh["refresh_token"])[0], 200)
        self.assertEqual(subject(phones[0], phones[0].sign_in(email)), name)
        self.assertEqual(urd.command("verify").returncode, 0)

    def test_there_is_nothing_to_retire_before_a_rotation(self):
        realm = f"r{uuid.uuid4().hex[:8]}"
        status, _, _ = urd.api.call(
            "POST", "/api/admin/realms", {"realm": realm, "display_name": realm})
        self.assertEqual(status, 201)
        ended = urd.command("keys", "retire-derive", "--yes", "--realm", realm)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("rotate-derive", ended.stderr)
        for words in ("rotate-derive", "retire-derive"):
            ended = urd.command("keys", words, "--yes", "--realm", "nobody")
            self.assertEqual(ended.returncode, 1)
            self.assertIn("There is no realm", ended.stderr)


if __name__ == "__main__":
    unittest.main()
