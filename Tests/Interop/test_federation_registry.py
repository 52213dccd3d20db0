"""The registry of what services offer: what they publish at /services.txt is found, kept, and given while their host is
down."""

import contextlib
import socket
import unittest

from federation_client import App, Site
from token_tool import missing, rerun
from urd_process import Urd, eventually

MISSING = missing("jwcrypto", "cryptography")
if not MISSING:
    from publisher import Publisher


def setUpModule():
    global urd, site, publisher
    publisher = Publisher()
    urd = Urd(URD_OUTGOING_NETWORKS="127.0.0.0/8", URD_OUTGOING_CA_FILE=publisher.ca_file)
    site = Site(urd.values)


def tearDownModule():
    urd.close()
    publisher.close()


class Registry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.app = App(site)
        cls.app.register()
        cls.app.person()
        cls.home = f"https://127.0.0.1:{publisher.server.server_port}"

    def service(self, name, host):
        status, answer, _ = urd.api.call("POST", "/api/admin/realms/federation/clients", {
            "client_id": name, "client_name": name, "profile": "federation_service",
            "redirect_uris": [f"https://{name}.example"], "service_description_uri": host})
        self.assertEqual(status, 201, answer)

    def found(self, *names):
        status, engines = self.app.user.call(
            "POST", site.url + "/protocol-discovery/protocol", list(names))
        self.assertEqual(status, 200, engines)
        return engines

    def test_edu_13_what_a_service_publishes_is_found_and_kept_while_its_host_is_down(self):
        publisher.documents["/services.txt"] = (
            b"# services\napplication/x-rsd+json; /rsd.json\nttl: 300\n")
        publisher.documents["/rsd.json"] = {
            "engineName": "Published", "engineLink": "/moodle/", "homePageLink": self.home + "/",
            "apis": {"org.example.published": {"apiLink": "api", "apiVersion": "2"}}}
        self.service("published", self.home)
        self.found("org.ietf.oauth2")
        eventually(lambda: self.found("org.example.published"), "it is crawled")
        [engine] = self.found("org.example.published")
        self.assertEqual(engine["engineLink"], self.home + "/moodle/")
        self.assertEqual(
            engine["apis"]["org.example.published"]["apiLink"], self.home + "/moodle/api")
        asked = publisher.asked.count("/services.txt")
        self.found("org.ietf.oauth2")
        self.assertEqual(publisher.asked.count("/services.txt"), asked, "asked before its time")
        publisher.documents.clear()
        self.assertEqual(len(self.found("org.example.published")), 1)
        kept = urd.sql(
            "select count(*) from urd.event where type = 'client.updated'"
            " and data::text like '%org.example.published%'")
        self.assertEqual(kept, "1")

    def test_edu_13_the_list_is_below_the_services_address_or_at_its_host_and_may_be_the_document(self):
        def offer(name):
            return {"engineName": name, "engineLink": f"/{name}/", "homePageLink": self.home + "/",
                    "apis": {f"org.example.{name}": {"apiLink": "api"}}}

        publisher.documents["/below/services.txt"] = b"application/x-rsd+json; rsd.json\n"
        publisher.documents["/below/rsd.json"] = offer("below")
        publisher.documents["/direct/services.txt"] = offer("direct")
        publisher.documents["/lost/services.txt"] = b"text/html; /\n"
        publisher.documents["/services.txt"] = b"application/x-rsd+json; /root.json\n"
        publisher.documents["/root.json"] = offer("root")
        for name, address in {
                "below": "/below/", "direct": "/direct", "lost": "/lost?page=1"}.items():
            self.service(name, self.home + address)
        self.found("org.ietf.oauth2")
        for name, kind in {"below": "below", "direct": "direct", "lost": "root"}.items():
            eventually(lambda: self.found(f"org.example.{kind}"), f"{name} is crawled")
            [engine] = self.found(f"org.example.{kind}")
            self.assertEqual(
                engine["apis"][f"org.example.{kind}"]["apiLink"], f"{self.home}/{kind}/api")

    def test_a_change_shows_no_secret_that_stays(self):
        path = "/api/admin/realms/federation/clients/" + site.values["URD_FEDERATION_SERVICE_ID"]
        for change in ({"client_name": "Another name"}, {"client_name": "Demo service"}):
            status, changed, _ = urd.api.call("PATCH", path, change)
            self.assertEqual((status, changed.get("client_secret")), (200, None))

    def test_edu_13_a_host_that_does_not_answer_delays_its_own_service_alone(self):
        with contextlib.ExitStack() as open_ones:
            for number in range(8):
                silent = open_ones.enter_context(socket.create_server(("127.0.0.1", 0)))
                self.service(f"silent-{number}", f"https://127.0.0.1:{silent.getsockname()[1]}")
            publisher.documents["/services.txt"] = b"application/x-rsd+json; /late.json\n"
            publisher.documents["/late.json"] = {
                "engineName": "Late", "engineLink": "/", "homePageLink": self.home + "/",
                "apis": {"org.example.late": {"apiLink": "api"}}}
            self.service("late", self.home)
            self.found("org.ietf.oauth2")
            # Each of the silent ones is waited for five seconds.
            eventually(lambda: self.found("org.example.late"), "it is crawled", patience=20)

    def test_edu_13_a_document_elsewhere_or_at_a_forbidden_address_is_not_fetched(self):
        before = len(publisher.asked)
        publisher.documents["/away/services.txt"] = b""
        self.service("private", "https://10.255.255.1")
        publisher.documents["/services.txt"] = (
            b"application/x-rsd+json; https://localhost:1/rsd.json\n")
        self.service("away", self.home.replace("127.0.0.1", "127.0.0.1"))
        self.found("org.ietf.oauth2")
        eventually(lambda: len(publisher.asked) > before, "the list is read")
        self.assertNotIn("/rsd.json", publisher.asked[before:])


if MISSING:
    Registry = None
    load_tests = lambda *_: rerun(__file__)  # noqa: E731

if __name__ == "__main__":
    unittest.main()
