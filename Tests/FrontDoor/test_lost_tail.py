"""A database that was set back as a whole, its volume as it was before: what was signed since is gone."""

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request

from front_door import FrontDoorCase, eventually, run


class LostTail(FrontDoorCase):
    def command(self, values, *words):
        names = ("DATABASE_URL", "DATABASE_OWNER_URL", "MASTER_KEY_FILE", "CHECKPOINT_DIRECTORY")
        return run(*words, **{f"URD_{name}": values[f"URD_{name}"] for name in names})

    def register(self, values, name):
        request = urllib.request.Request(
            f"{values['URD_URL']}/api/admin/realms/{values['URD_REALM']}/clients", method="POST",
            data=json.dumps(
                {"client_name": name, "redirect_uris": ["https://shop.example/back"]}).encode(),
            headers={"Authorization": f"Bearer {values['URD_ADMIN_KEY']}",
                     "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.assertEqual(answer.status, 201)

    def is_halted(self, values, realm):
        """What the node's metrics say of its sealer; nothing before it has looked."""
        with urllib.request.urlopen(values["URD_PRIVATE_URL"] + "/metrics", timeout=30) as answer:
            found = re.search(
                rf'^urd_sealer_halted{{realm="{realm}"}} ([01])$', answer.read().decode(), re.M)
        return found and found[1] == "1"

    def state(self, one, realm):
        row = one.sql(
            "select h.position, h.epoch, coalesce(max(c.size), 0) from urd.realm_log h "
            f"left join urd.checkpoint c on c.realm = h.realm where h.realm = '{realm}' "
            "group by 1, 2")
        return tuple(int(part) for part in row.split("|"))

    def sealed(self, one, realm):
        def whole():
            head, _, size = self.state(one, realm)
            return head == size and head
        return eventually(whole, "all is sealed")

    def test_a_lost_tail_is_noticed_reported_and_accepted_by_a_running_server(self):
        one = self.start().ready()
        values = one.values()
        realm = values["URD_REALM"]
        before = self.sealed(one, realm)
        cluster = one.cluster()
        self.assertEqual(one.end(signal.SIGTERM), 0)
        kept = os.path.join(self.folder, "kept")
        subprocess.run(["cp", "-a", cluster, kept], check=True)

        one = self.start(port=one.port).ready()
        for number in range(3):
            self.register(one.values(), f"Shop {number}")
        lost = self.sealed(one, realm)
        self.assertGreater(lost, before)
        self.assertEqual(one.end(signal.SIGTERM), 0)
        shutil.rmtree(cluster)
        os.rename(kept, cluster)

        # The same system and the same timeline: the checkpoint file alone knows of it.
        one = self.start(port=one.port).ready()
        values = one.values()
        eventually(lambda: self.is_halted(values, realm), "the sealer halts")
        eventually(lambda: self.state(one, realm)[1] > 1, "the epoch is raised")
        self.register(values, "Another shop")
        verified = self.command(values, "verify", "--realm", realm)
        self.assertEqual(verified.returncode, 1)
        self.assertIn("the log ends before what was signed", verified.stdout)

        # What is lost is said before anything is accepted, and nothing is accepted by saying it.
        head, epoch, size = self.state(one, realm)
        told = self.command(values, "log", "accept", "--realm", realm)
        self.assertEqual(told.returncode, 1, told.stdout)
        self.assertIn(f"ends at position {head}", told.stderr)
        self.assertIn(f"what stood at positions {size + 1} to {lost} then is lost", told.stderr)
        self.assertIn(f"urd log accept --realm {realm} --size {lost}", told.stderr)
        less = self.command(values, "log", "accept", "--realm", realm, "--size", str(lost - 1),
                            "--yes")
        self.assertEqual(less.returncode, 1)
        self.assertIn(f"has size {lost}, more than {lost - 1}", less.stderr)
        self.assertTrue(self.is_halted(values, realm))
        self.assertEqual(self.state(one, realm), (head, epoch, size))

        done = self.command(
            values, "log", "accept", "--realm", realm, "--size", str(lost), "--json",
            "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"checkpoints of up to {lost} events", done.stderr)
        accepted = json.loads(done.stdout)
        self.assertGreater(accepted.pop("epoch"), epoch)
        self.assertEqual(
            accepted, {"realm": realm, "size": lost, "sealed": size, "head": head})
        # The node that runs goes on by itself, long before it would look again.
        eventually(lambda: self.is_halted(values, realm) is False, "the sealer goes on", 30)
        self.assertGreater(self.sealed(one, realm), head)
        folder = values["URD_CHECKPOINT_DIRECTORY"]
        self.assertIn(f"{realm}.given-up-{lost}", os.listdir(folder))
        self.assertEqual(self.command(values, "verify", "--realm", realm).returncode, 0)
        # On record, by whom.
        trail = self.command(
            values, "audit", "list", "--realm", realm, "--type", "log.loss_accepted", "--json")
        entries = json.loads(trail.stdout)["items"]
        self.assertEqual([entry["actor"].split(":")[0] for entry in entries], ["operator"])
        # There is nothing more to accept.
        again = self.command(values, "log", "accept", "--realm", realm)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("knows of no loss", again.stderr)
