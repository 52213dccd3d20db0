"""The feed in a browser, behind a proxy that adds what EventSource cannot send: the key. The page never
sees it."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import uuid

from browser import Browser
from feed_client import Feed
from urd_process import Urd, eventually, free_port

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
PAGE = "<!doctype html><title>Feed</title><p>Events"

# What docs/subscribe/feed.md shows, with places of this machine.
PROXY = """
daemon off; worker_processes 1; pid %(folder)s/pid; error_log %(folder)s/errors;
events {}
http {
    access_log off;
    client_body_temp_path %(folder)s/a; proxy_temp_path %(folder)s/b;
    fastcgi_temp_path %(folder)s/c; uwsgi_temp_path %(folder)s/d; scgi_temp_path %(folder)s/e;
    server {
        listen 127.0.0.1:%(port)d;
        location = / { default_type text/html; return 200 '%(page)s'; }
        location = /events {
            proxy_pass %(url)s/api/admin/realms/%(realm)s/feed$is_args$args;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Authorization "Bearer %(key)s";
            proxy_set_header Cookie "";
            proxy_read_timeout 60s;
        }
    }
}
"""


class Proxy:
    """nginx as Debian has it, with its usual buffers."""

    def __init__(self, urd, key):
        self.folder = tempfile.mkdtemp(prefix="urd-nginx-", dir="/tmp")
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        path = pathlib.Path(self.folder, "nginx.conf")
        path.write_text(PROXY % {
            "folder": self.folder, "port": self.port, "url": urd.values["URD_URL"], "page": PAGE,
            "realm": urd.values["URD_REALM"], "key": key})
        if os.geteuid() == 0:
            os.chmod(self.folder, 0o777)
        self.process = subprocess.Popen(
            [NGINX, "-c", str(path), "-e", f"{self.folder}/errors"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def setUpModule():
    global urd, proxy
    if not os.path.exists(NGINX):
        raise unittest.SkipTest("there is no nginx: deploy/install-packages.sh test")
    urd = Urd()
    status, made, _ = urd.api.call("POST", "/api/admin/keys", {
        "name": "page", "realms": [urd.values["URD_REALM"]], "permissions": ["events.read"]})
    assert status == 201, made
    proxy = Proxy(urd, made["key"])
    eventually(lambda: reaches(proxy.port), "nginx listens")


def tearDownModule():
    if "proxy" in globals():
        proxy.close()
    urd.close()


def reaches(port):
    import socket
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def register():
    name = f"feed-{uuid.uuid4().hex[:12]}"
    status, answer, _ = urd.api.call("POST", urd.clients, {
        "client_id": name, "token_endpoint_auth_method": "none",
        "grant_types": ["urn:cocoar:otp"]})
    assert status == 201, answer
    return name


FOLLOW = """(query) => {
    window.seen = []; window.named = []; window.opened = 0;
    const source = window.source = new EventSource('/events?' + query);
    source.onopen = () => { window.opened += 1; };
    source.onmessage = event => window.seen.push([event.lastEventId, JSON.parse(event.data).type,
        (JSON.parse(event.data).data || {}).client_id]);
    source.addEventListener('client.registered', event => window.named.push(
        [event.lastEventId, JSON.parse(event.data).data.client_id]));
}"""


class EventSource(unittest.TestCase):
    def setUp(self):
        self.browser = Browser(proxy.url + "/", proxy.url)

    def tearDown(self):
        self.browser.close()

    def until(self, script, wanted, patience=20):
        found = None
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            found = self.browser.run(script)
            if wanted(found):
                return found
            time.sleep(0.05)
        raise AssertionError(f"{script}: {found}")

    def test_a_page_hears_of_named_events_and_of_unnamed_ones(self):
        self.browser.run(FOLLOW, "type=client.registered")
        self.until("() => window.opened", lambda count: count == 1)
        name = register()
        self.until("() => window.named", lambda named: named and named[-1][1] == name)
        self.browser.run("() => { window.source.close(); }")
        self.browser.run(FOLLOW, "type=client.registered&unnamed=true")
        self.until("() => window.opened", lambda count: count == 1)
        name = register()
        seen = self.until("() => window.seen", lambda seen: seen and seen[-1][2] == name)
        self.assertEqual(seen[-1][1], "client.registered")

    def test_a_page_goes_on_by_itself_behind_the_last_event_that_it_saw(self):
        self.browser.run(FOLLOW, "from=now&type=client.registered")
        self.until("() => window.opened", lambda count: count == 1)
        names = [register()]
        self.until("() => window.named", lambda named: len(named) == 1)
        proxy.process.terminate()
        proxy.process.wait()
        # Nobody is there to hear of these.
        names += [register(), register()]
        proxy.process = subprocess.Popen(
            [NGINX, "-c", f"{proxy.folder}/nginx.conf", "-e", f"{proxy.folder}/errors"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            named = self.until("() => window.named", lambda named: len(named) >= 3, 40)
        except AssertionError:
            # Where nobody listened it gives up for good, as the standard says: the page asks again.
            state = self.browser.run("() => window.source.readyState")
            self.assertEqual(state, 2)
            raise
        self.assertEqual([name for _, name in named], names)

    def test_each_event_passes_the_proxy_at_once(self):
        with Feed(proxy.url.replace("localhost", "127.0.0.1"), "none", "", path="/events",
                  query="type=client.registered", accept="text/event-stream") as feed:
            self.assertEqual(feed.status, 200)
            lines = feed.lines()
            while not next(lines).startswith(b"data: "):
                pass
            for _ in range(20):
                began = time.monotonic()
                name = register()
                while name.encode() not in next(lines):
                    pass
                self.assertLess(time.monotonic() - began, 1)


if __name__ == "__main__":
    unittest.main()
