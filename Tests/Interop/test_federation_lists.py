"""Lists of a person who is signed in at thousands of places: each is answered within the time that a request has."""

import sys
import time
import unittest
import urllib.parse

from federation_client import App, Site
from token_tool import missing, rerun
from urd_process import Urd
from verify_client import Browser

MISSING = missing("jwcrypto")
# Of two kinds, so twice as many in all.
MANY = 10_000


def setUpModule():
    global urd, site
    urd = Urd()
    site = Site(urd.values)


def tearDownModule():
    urd.close()


class Thousands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.app = App(site)
        cls.app.register(), cls.app.person(), cls.app.join()
        status, granted = cls.app.authorize_app()
        assert status == 200, granted
        table = "urd.sessions_" + urd.sql(
            "select build from urd.projection_build"
            " where projection = 'sessions' and status = 'live'").strip()
        columns = ("account, opened_at, generation, refreshed_at, ended, ended_at, announced, version")
        # On as many devices, and as many apps on them.
        for holder in ("person", "application"):
            urd.sql(
                f"insert into {table} (realm, session, terms, {columns})"
                f" select s.realm, gen_random_uuid(), replace(s.terms, d.device, gen_random_uuid()::text), {columns}"
                f" from {table} s cross join lateral (select s.terms::json ->> 'federated_device' as device) d,"
                f" generate_series(1, {MANY}) where s.realm = 'federation'"
                f" and s.terms::json ->> 'holder' = '{holder}'")
        urd.sql(f"analyze {table}")

    def pages(self, path, limit, most):
        found, after = [], ""
        while len(found) < most:
            status, items, headers = self.call(f"{path}?limit={limit}{after}")
            self.assertEqual(status, 200, items)
            self.assertLessEqual(len(items), limit)
            found += [one["id"] for one in items]
            link = headers.get("Link")
            if link is None:
                break
            self.assertIn('rel="next"', link)
            place = urllib.parse.urlsplit(link[1:link.index(">")])
            after = "&after=" + dict(urllib.parse.parse_qsl(place.query))["after"]
        return found

    def call(self, path):
        started = time.monotonic()
        status, body = self.app.user.call("GET", site.url + path)
        self.assertLess(time.monotonic() - started, 10, path)
        return status, body, site.local.headers

    def test_devices_and_apps_come_in_pages(self):
        for path in ("/devices", "/apps"):
            status, items, headers = self.call(path)
            self.assertEqual((status, len(items)), (200, 1000), path)
            self.assertIn("after=", headers["Link"])
            found = self.pages(path, 300, 900)
            self.assertEqual(found, [one["id"] for one in items[:900]], path)
            self.assertEqual(len(set(found)), 900)
        self.assertEqual(self.call("/devices?limit=0")[0], 400)

    def test_the_account_page_answers(self):
        origin = f"{self.app.base.scheme}://{self.app.base.netloc}"
        browser = Browser(origin)
        browser.address = ("127.0.0.1", site.port)
        page = browser.call("GET", "/login")
        signed_in = browser.post(
            page, "/login", email=urd.values["URD_FEDERATION_USER"], by="passphrase",
            passphrase=urd.values["URD_FEDERATION_PASSPHRASE"])
        self.assertEqual(signed_in.status, 303, signed_in.text)
        started = time.monotonic()
        page = browser.call("GET", "/account/sessions")
        self.assertEqual(page.status, 200, page.text)
        self.assertLess(time.monotonic() - started, 10)
        self.assertEqual(page.text.count('name="device"'), 100)
        place = page.text.split('href="/account/sessions?devices=', 1)[1].split('"', 1)[0]
        following = browser.call("GET", "/account/sessions?devices=" + place)
        self.assertEqual(following.status, 200)
        self.assertEqual(following.text.count('name="device"'), 100)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
