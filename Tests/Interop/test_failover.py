"""An asynchronous standby is promoted without the tail of the log: whatever a node that only reads had
kept of that tail is gone a moment later, before anybody appends. docs/caches.md lists what nodes keep;
each line of it that a lost tail could live on in is looked at here, over HTTP."""

import base64
import unittest
import uuid

from phone import Phone
from standby_pair import StandbyPair
from urd_process import eventually

CONFIDENTIAL = {"grant_types": ["client_credentials"], "introspects_all_tokens": True}


def setUpModule():
    """A node that only reads keeps all it can of what is then lost. Nothing is asked of it that would
    make it append."""
    global pair, reader, kept, lost
    pair = StandbyPair()
    reader, kept, lost = pair.node(), {}, {}
    for client in ("kept", "dropped"):
        kept[client] = made(client)
    kept["tokens"] = native().sign_in(somebody())
    kept["session"] = native().sign_in(somebody())
    kept["keys"] = key_ids(reader)
    kept["grants"] = discovery(reader)["grant_types_supported"]
    pair.cut_off()

    assert urd().command(
        "signing-key", "rotate", "--realm", urd().values["URD_REALM"], "--algorithm",
        "ES256", "--yes").returncode == 0
    admin("POST", f"{urd().realm}/hosts", {"host": "lost.localhost"})
    admin("POST", "/api/admin/realms", {"realm": "lost", "display_name": "Lost"})
    admin("POST", "/api/admin/realms/lost/hosts", {"host": "other.localhost"})
    admin("DELETE", f"{urd().clients}/dropped")
    lost["client"] = made("lost")
    lost["tokens"] = native().sign_in(somebody())
    status, _, _ = native().call(
        "POST", "/api/account/logout-everywhere", token=kept["session"]["access_token"])
    assert status == 204, status
    admin("PATCH", f"{urd().realm}/settings", {"native_grants": False})
    # The tail's last change is far behind the first one of the log that takes its place.
    for number in range(30):
        made(f"filler-{number}")
    warm()
    pair.fail_over()


def tearDownModule():
    pair.close()


def urd():
    return pair.urd


def admin(method, path, body=None, api=None):
    status, answer, _ = (api or urd().api).call(method, path, body)
    assert status < 300, (path, status, answer)
    return answer


def made(name):
    answer = admin("POST", urd().clients, {"client_id": name, **CONFIDENTIAL})
    return answer["client_id"], answer["client_secret"]


def somebody():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def native(url=None, host="demo.localhost"):
    """A phone that speaks to a node under the one name that all of them have."""
    phone = Phone(urd(), url=url)
    phone.host = host + ":" + urd().values["URD_URL"].rsplit(":", 1)[1].strip("/")
    return phone


def get(node, path, host="demo.localhost"):
    return native(node.url, host).call("GET", path)


def discovery(node):
    status, answer, _ = get(node, "/.well-known/openid-configuration")
    assert status == 200, answer
    return answer


def key_ids(node):
    status, answer, _ = get(node, "/.well-known/jwks")
    assert status == 200, answer
    return {key["kid"] for key in answer["keys"]}


def introspect(node, client, token):
    pair = base64.b64encode(":".join(client).encode()).decode()
    status, answer, _ = native(node.url).call(
        "POST", "/connect/introspect", form={"token": token}, Authorization=f"Basic {pair}")
    return status, answer.get("active")


def warm():
    """The reader has all of the lost tail, and answers from what it keeps."""
    for _ in range(2):
        eventually(lambda: key_ids(reader) - kept["keys"], "it shows the key that will be lost")
        for host in ("lost.localhost", "other.localhost"):
            eventually(
                lambda: get(reader, "/.well-known/openid-configuration", host)[0] == 200, host)
        eventually(
            lambda: introspect(reader, lost["client"], lost["tokens"]["access_token"])
            == (200, True), "it knows the client and the session that will be lost")
        assert introspect(reader, kept["kept"], kept["session"]["access_token"]) == (200, False)
        assert introspect(reader, kept["kept"], kept["tokens"]["access_token"]) == (200, True)
        assert introspect(reader, kept["dropped"], "x")[0] == 401
        eventually(lambda: discovery(reader)["grant_types_supported"] != kept["grants"],
                   "it shows the setting that will be lost")
    assert reader.ask("/health/ready", private=True)[0] == 200


class ANodeThatOnlyReads(unittest.TestCase):
    def test_a_read_only_node_moves_the_epoch_before_the_next_append(self):
        eventually(
            lambda: pair.standby("select min(epoch) || ' ' || max(epoch) from urd.realm_log")
            == "2 2", "the epoch moves", 10)

    def test_a_read_only_node_shows_no_signing_key_of_the_lost_tail(self):
        eventually(lambda: key_ids(reader) == kept["keys"], "the lost key is gone", 10)

    def test_a_read_only_node_shows_no_setting_of_the_lost_tail(self):
        eventually(lambda: discovery(reader)["grant_types_supported"] == kept["grants"],
                   "the lost setting is gone", 10)

    def test_a_read_only_node_serves_no_host_of_the_lost_tail(self):
        for host in ("lost.localhost", "other.localhost"):
            eventually(
                lambda: get(reader, "/.well-known/openid-configuration", host)[0] == 404,
                f"{host} leads nowhere", 10)

    def test_a_read_only_node_forgets_the_lost_tails_clients_and_deletions(self):
        token = kept["tokens"]["access_token"]
        eventually(lambda: introspect(reader, lost["client"], token)[0] == 401, "no client", 10)
        eventually(
            lambda: introspect(reader, kept["dropped"], token) == (200, True),
            "the client is there again", 10)

    def test_a_read_only_node_forgets_the_lost_tails_sessions_and_logouts(self):
        client = kept["kept"]
        eventually(lambda: introspect(reader, client, lost["tokens"]["access_token"])
                   == (200, False), "the session is gone", 10)
        self.assertEqual(introspect(reader, client, kept["tokens"]["access_token"]), (200, True))
        # The log-out was lost with the tail: only a synchronous standby saves it.
        self.assertEqual(introspect(reader, client, kept["session"]["access_token"]), (200, True))

    def test_a_read_only_node_learns_of_the_next_change_at_a_smaller_position(self):
        eventually(lambda: key_ids(reader) == kept["keys"], "the lost key is gone", 10)
        # Whoever appends is another node, which never saw the lost tail.
        writer = pair.node()
        path = urd().realm
        admin("POST", f"{path}/disable", api=writer.api)
        eventually(lambda: get(reader, "/.well-known/jwks")[0] == 403, "the realm is closed", 10)
        admin("POST", f"{path}/enable", api=writer.api)
        eventually(lambda: get(reader, "/.well-known/jwks")[0] == 200, "the realm is open", 10)


class AnOldPrimaryThatComesBack(unittest.TestCase):
    def test_an_old_primary_that_comes_back_is_refused_by_nodes_and_commands(self):
        writer = pair.node()
        before = position(writer, f"before-{uuid.uuid4().hex[:6]}")
        self.assertEqual(before[1], "2")
        fork = pair.hosts[0]
        pair.bring_back()
        events = "select count(*) from urd.event where data ->> 'client_id' like 'after-%'"
        # Those that run, whose connections end; and one that starts now and has seen nothing.
        for host in pair.hosts:
            pair.psql(host, "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                      " where application_name like 'urd%' and usename = 'urd_app'")
        fresh = pair.node()
        for node in (reader, writer, fresh):
            eventually(lambda: node.ask("/health/ready", private=True)[0] == 200, "it is ready")
            self.assertEqual(position(node, f"after-{uuid.uuid4().hex[:6]}")[1], "2")
        made = urd().command(
            "client", "register", "--realm", urd().values["URD_REALM"], "--client-id",
            "after-cli", "--grant-types", "client_credentials", URD_DATABASE_URL=pair.address)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(pair.psql(fork, events), "0")
        self.assertEqual(pair.standby(events), "4")


def position(node, name):
    """Where a client stands that is registered at this node: realm, epoch and position."""
    for _ in range(3):
        status, _, headers = node.api.call(
            "POST", urd().clients, {"client_id": name, **CONFIDENTIAL})
        if status == 201:
            return headers["Urd-Position"].split(":")
    raise AssertionError(f"{name}: {status}")


if __name__ == "__main__":
    unittest.main()
