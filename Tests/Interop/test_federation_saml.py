"""EDU-06: assertions of SAML 2.0 that another issuer made, shown to a service of the federation profile. They are
written here and signed by xmlsec1."""

import base64
import json
import datetime
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse
import uuid

from federation_client import App, Site, Token
from token_tool import missing, rerun
from urd_process import Server, Urd, eventually, together
from front_door import BINARY  # found by way of urd_process

MISSING = missing("jwcrypto")
ISSUER = "https://idp.example/metadata"
JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
GRANT = "urn:ietf:params:oauth:grant-type:saml2-bearer"
OLD_GRANT = "urn:ietf:param:oauth:grant-type:saml2-bearer"
MAIL = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256"
SHA1 = "http://www.w3.org/2000/09/xmldsig#sha1"
RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
RSA_SHA1 = "http://www.w3.org/2000/09/xmldsig#rsa-sha1"

DOCUMENT = """<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{id}" Version="2.0" \
IssueInstant="{issued}"><saml:Issuer>{issuer}</saml:Issuer>\
<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo>\
<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>\
<ds:SignatureMethod Algorithm="{signature}"/><ds:Reference URI="#{id}"><ds:Transforms>\
<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>\
<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>\
<ds:DigestMethod Algorithm="{digest}"/><ds:DigestValue/></ds:Reference></ds:SignedInfo>\
<ds:SignatureValue/></ds:Signature>\
<saml:Subject><saml:NameID Format="{format}">{name}</saml:NameID>\
<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">\
<saml:SubjectConfirmationData NotOnOrAfter="{until}" Recipient="{recipient}"/>\
</saml:SubjectConfirmation></saml:Subject>\
<saml:Conditions NotBefore="{since}" NotOnOrAfter="{until}"><saml:AudienceRestriction>\
<saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>\
<saml:AuthnStatement AuthnInstant="{issued}"><saml:AuthnContext><saml:AuthnContextClassRef>\
urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml:AuthnContextClassRef>\
</saml:AuthnContext></saml:AuthnStatement></saml:Assertion>"""


def setUpModule():
    global urd, site, folder
    folder = pathlib.Path(tempfile.mkdtemp(prefix="urd-saml-", dir="/tmp"))
    for name in ("idp", "stranger"):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
             folder / f"{name}.key", "-out", folder / f"{name}.crt", "-subj", "/CN=" + name,
             "-days", "2"], check=True, capture_output=True, timeout=60)
    urd = Urd()
    site = Site(urd.values)
    trust(["idp"])


def tearDownModule():
    urd.close()
    shutil.rmtree(folder, ignore_errors=True)


def trust(names):
    issuers = {ISSUER: {
        "certificates": [(folder / f"{name}.crt").read_text() for name in names],
        "subject": "email"}} if names else {}
    status, body, _ = urd.api.call(
        "PATCH", "/api/admin/realms/federation/settings", {"assertion_issuers": issuers})
    assert status == 200, body


def instant(seconds):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def recorded(event, more):
    return eventually(lambda: urd.sql(
        f"select 1 from urd.event where realm = 'federation' and type = '{event}' and {more} limit 1"
    ).strip(), "it is on record")


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        app = App(site)
        app.register()
        app.person()
        cls.endpoint = app.assertion_for()["redirect_uri"]

    def assertion(self, key="idp", **change):
        members = {
            "id": "_" + uuid.uuid4().hex, "issued": instant(0), "issuer": ISSUER,
            "signature": RSA_SHA256, "digest": SHA256, "format": MAIL,
            "name": site.values["URD_FEDERATION_USER"], "since": instant(-60),
            "until": instant(300), "recipient": self.endpoint, "audience": self.endpoint, **change}
        template = folder / "template.xml"
        template.write_text(DOCUMENT.format(**members))
        signed = subprocess.run(
            ["xmlsec1", "--sign", "--privkey-pem", folder / f"{key}.key", "--id-attr:ID",
             "urn:oasis:names:tc:SAML:2.0:assertion:Assertion", template],
            check=True, capture_output=True, timeout=60).stdout
        return signed[signed.index(b"<saml:"):]

    def show(self, document, grant=GRANT):
        text = base64.urlsafe_b64encode(document).rstrip(b"=").decode()
        return site.call("POST", self.endpoint, {"grant_type": grant, "assertion": text})

    def refused(self, document):
        status, answer = self.show(document)[:2]
        self.assertEqual((status, answer["error"]), (403, "invalid_grant"), answer)
        return answer

    def test_edu_06_an_assertion_of_saml_gives_a_token_of_the_service(self):
        for grant in (GRANT, OLD_GRANT):
            status, answer = self.show(self.assertion(), grant)[:2]
            self.assertEqual(status, 200, answer)
            self.assertEqual(answer["token_type"], "mac")
            self.assertLessEqual({"access_token", "kid", "mac_key"}, set(answer))
        recorded("session.opened", f"data ->> 'method' = '{GRANT}'")

    def test_edu_06_an_assertion_of_saml_is_good_once(self):
        document = self.assertion()
        answers = together(50, lambda number: self.show(document)[0])
        self.assertEqual(sorted(answers), [200] + [403] * 49)
        recorded("session.refused",
                 f"data ->> 'method' = '{GRANT}' and data ->> 'reason' = 'invalid_assertion'")

    def test_a_request_with_an_assertion_of_saml_counts_once(self):
        place = "/api/admin/realms/federation/settings"
        kept = urd.api.call("GET", place)[1]["rate_limits"]

        def limit(rates):
            status, body, _ = urd.api.call("PATCH", place, {"rate_limits": rates})
            self.assertEqual(status, 200, body)

        limit({**kept, "oauth-token": {"source": {"amount": 6, "seconds": 3600}}})
        try:
            statuses = [self.show(b"no xml")[0] for _ in range(8)]
            self.assertEqual(statuses, [403] * 6 + [429] * 2)
        finally:
            limit(kept)

    def test_edu_06_a_jwt_that_is_no_assertion_is_on_record_once_in_a_while(self):
        other = Site(urd.values)
        app = App(other)
        app.register(), app.person()
        good = app.assertion_for()["code"]
        for document in ("x.y.z", good[:-4] + "AAAA", "a" * 60_000) * 7:
            self.assertEqual(site.call("POST", self.endpoint, {
                "grant_type": JWT_GRANT, "assertion": document})[0], 403)
        refused = f"data ->> 'method' = '{JWT_GRANT}' and data ->> 'reason' = 'invalid_assertion'"
        recorded("session.refused", refused)
        found = urd.sql("select count(*) || ' ' || max(length(data::text)) from urd.event"
                        f" where type = 'session.refused' and {refused}").split()
        self.assertEqual(found[0], "1")
        self.assertLess(int(found[1]), 2000)

    def test_edu_01_an_assertion_of_a_device_by_another_key_is_on_record(self):
        client_id = site.values["URD_FEDERATION_CLIENT_ID"]
        self.assertEqual(App(site).show(key="x" * 43)[0] // 100, 4)
        recorded("session.refused", f"data ->> 'client_id' = '{client_id}' "
                 "and data ->> 'reason' = 'invalid_client'")

    def test_edu_06_what_is_wrong_with_an_assertion_of_saml_is_not_said(self):
        good = self.assertion()
        twice = good.replace(b"<saml:Subject>", b"<saml:Subject/><saml:Subject>")
        entity = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + good
        answers = [self.refused(document) for document in (
            self.assertion(key="stranger"), self.assertion(issuer="https://other.example"),
            self.assertion(audience="https://other.example"),
            self.assertion(recipient="https://other.example/token"),
            self.assertion(until=instant(-120)), self.assertion(since=instant(600)),
            self.assertion(signature=RSA_SHA1), self.assertion(digest=SHA1),
            self.assertion(name="nobody@example.org"), twice, entity,
            good.replace(site.values["URD_FEDERATION_USER"].encode(), b"eve@example.org"),
            b"<a/>", b"no xml")]
        self.assertEqual(len({str(answer) for answer in answers}), 1, answers)
        self.assertEqual(self.show(good)[0], 200)

    def test_edu_06_a_session_ends_with_the_trust_in_its_issuer(self):
        status, answer = self.show(self.assertion())[:2]
        self.assertEqual(status, 200)
        refresh = {"grant_type": "refresh_token", "refresh_token": answer["refresh_token"]}
        status, answer = site.call("POST", self.endpoint, refresh)[:2]
        self.assertEqual(status, 200, answer)
        trust([])
        try:
            self.assertNotEqual(self.show(self.assertion())[0], 200)
            again = {**refresh, "refresh_token": answer["refresh_token"]}
            self.assertNotEqual(site.call("POST", self.endpoint, again)[0], 200)
        finally:
            trust(["idp"])

    def test_edu_06_all_that_came_of_an_assertion_ends_with_the_trust_in_its_issuer(self):
        """The rows of the table in docs/federation.md: what is tried answers 200, or says that a token is good."""
        status, answer = self.show(self.assertion())[:2]
        self.assertEqual(status, 200)
        app = App(site)
        app.service_url, app.client_id = self.endpoint, site.values["URD_FEDERATION_SERVICE_ID"]
        app.service = Token(site, answer, app.client_id)
        code = app.app_code()
        status, of_app = app.authorize_app()
        self.assertEqual(status, 200, of_app)

        def refreshed(text):
            status, next_one = site.call(
                "POST", self.endpoint, {"grant_type": "refresh_token", "refresh_token": text})[:2]
            return status == 200 and next_one

        rows = {
            "service token": lambda: app.service.call("GET", site.url + "/user-profile")[0] == 200,
            "app token": lambda: app.introspect(of_app["access_token"])["active"],
            "code for an app": lambda: app.authorize_app(code=code)[0] == 200,
            "another code for an app": lambda: app.authorize_app()[0] == 200,
            "refresh of the app": lambda: refreshed(of_app["refresh_token"]),
            "refresh of the service": lambda: refreshed(answer["refresh_token"]),
        }
        for row in ("service token", "app token"):
            self.assertTrue(rows[row](), row)
        trust([])
        try:
            for row, is_good in rows.items():
                self.assertFalse(is_good(), row)
        finally:
            trust(["idp"])

    def test_edu_06_the_token_of_an_assertion_of_saml_signs_requests(self):
        status, answer = self.show(self.assertion())[:2]
        self.assertEqual(status, 200, answer)
        held = Token(site, answer, site.values["URD_FEDERATION_CLIENT_ID"])
        status, told = held.call("POST", site.url + "/revoke", {"token": answer["access_token"]})
        self.assertEqual(status, 200, told)
        refresh = {"grant_type": "refresh_token", "refresh_token": answer["refresh_token"]}
        self.assertEqual(site.call("POST", self.endpoint, refresh)[0], 403)

    def forward(self, document, grant=GRANT, scope="org.example.notes", client=None):
        """The service shows it at the token endpoint of OpenID."""
        text = base64.urlsafe_b64encode(document).rstrip(b"=").decode()
        name = client or (site.values["URD_FEDERATION_SERVICE_ID"],
                          site.values["URD_FEDERATION_SERVICE_KEY"])
        basic = base64.b64encode(":".join(name).encode()).decode()
        return site.call("POST", self.openid, authorization="Basic " + basic, form={
            "grant_type": grant, "assertion": text, "scope": scope})

    @property
    def openid(self):
        return f"{site.base.scheme}://{site.base.netloc}/connect/token"

    def openid_assertion(self, **change):
        return self.assertion(**{"audience": self.openid, "recipient": self.openid, **change})

    def test_edu_06_a_service_forwards_an_assertion_of_saml_to_the_openid_token_endpoint(self):
        issuer = f"{site.base.scheme}://{site.base.netloc}"
        for grant, audience in ((GRANT, self.openid), (OLD_GRANT, issuer)):
            status, answer = self.forward(self.openid_assertion(audience=audience), grant)
            self.assertEqual(status, 200, answer)
            self.assertEqual(answer["token_type"], "Bearer")
            self.assertEqual(answer["scope"], "org.example.notes")
            self.assertIn("refresh_token", answer)
        listed = site.call("GET", issuer + "/.well-known/openid-configuration")[1]
        self.assertIn(GRANT, listed["grant_types_supported"])

    def test_edu_06_what_is_wrong_with_it_is_not_said_at_the_openid_token_endpoint(self):
        good, texts = self.openid_assertion(), {}
        for case, document in {
                "stranger": self.openid_assertion(key="stranger"),
                "issuer": self.openid_assertion(issuer="https://other.example"),
                "the service's own endpoint": self.assertion(),
                "audience": self.openid_assertion(audience=self.endpoint),
                "recipient": self.openid_assertion(recipient=self.endpoint),
                "over": self.openid_assertion(until=instant(-120)),
                "early": self.openid_assertion(since=instant(600)),
                "SHA-1": self.openid_assertion(signature=RSA_SHA1),
                "nobody": self.openid_assertion(name="nobody@example.org"),
                "changed": good.replace(
                    site.values["URD_FEDERATION_USER"].encode(), b"eve@example.org"),
                "no xml": b"no xml"}.items():
            status, answer = self.forward(document)
            self.assertEqual((status, answer["error"]), (400, "invalid_grant"), (case, answer))
            texts[case] = json.dumps(answer)
        used = self.openid_assertion()
        self.assertEqual(self.forward(used)[0], 200)
        texts["used"] = json.dumps(self.forward(used)[1])
        self.assertEqual(len(set(texts.values())), 1, texts)
        app = (site.values["URD_FEDERATION_CLIENT_ID"], site.values["URD_FEDERATION_CLIENT_KEY"])
        self.assertEqual(self.forward(good, client=app)[0], 400)
        self.assertEqual(self.forward(good, client=(app[0], "wrong"))[0], 401)
        self.assertEqual(self.show(good)[0], 403)
        self.assertEqual(self.forward(good)[0], 200)

    def test_edu_06_an_assertion_of_saml_is_good_once_at_both_endpoints_and_on_two_nodes(self):
        issuer = f"{site.base.scheme}://{site.base.netloc}"
        node = Server(urd.values).ready()
        try:
            other = Site(urd.values)
            other.port = node.port
            document = self.assertion(audience=issuer, recipient=self.openid)
            here = site
            text = base64.urlsafe_b64encode(document).rstrip(b"=").decode()
            basic = base64.b64encode(
                f'{site.values["URD_FEDERATION_SERVICE_ID"]}:'
                f'{site.values["URD_FEDERATION_SERVICE_KEY"]}'.encode()).decode()

            def show(number):
                return (here, other)[number % 2].call(
                    "POST", self.openid, authorization="Basic " + basic,
                    form={"grant_type": GRANT, "assertion": text})[0]

            answers = together(40, show)
            self.assertEqual(answers.count(200), 1, answers)
        finally:
            node.close()

    def test_the_command_of_the_document_trusts_an_issuer(self):
        """docs/federation.md, with `idp.crt` in the folder."""
        document = (pathlib.Path(__file__).parents[2] / "docs" / "federation.md").read_text()
        [block] = [part.split("```")[0] for part in document.split("```\n")
                   if part.startswith("urd realm set --assertion-issuers")]
        trust([])
        try:
            script = 'urd() { "$URD" "$@" --realm federation; }\n' + block.replace(
                "https://idp.example/metadata", ISSUER)
            done = subprocess.run(
                ["bash", "-e", "-c", script], cwd=folder, capture_output=True, text=True,
                timeout=60, env={**os.environ, **urd.values, "URD": str(BINARY)})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.show(self.assertion())[0], 200)
        finally:
            trust(["idp"])

    def test_an_issuer_has_keys_of_one_kind(self):
        for issuer in ({"certificates": []}, {"certificates": ["x"]},
                       {"certificates": [(folder / "idp.crt").read_text()], "jwks": {"keys": []}}):
            status, body, _ = urd.api.call(
                "PATCH", "/api/admin/realms/federation/settings",
                {"assertion_issuers": {ISSUER: issuer}})
            self.assertEqual(status, 400, body)

    def test_a_certificate_that_no_assertion_could_be_verified_by_is_refused_by_name(self):
        for number, kind in enumerate((["rsa:1024"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-521"], ["ed25519"])):
            with self.subTest(kind):
                crt = folder / f"odd{number}.crt"
                subprocess.run(
                    ["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-keyout", folder / "odd.key",
                     "-out", crt, "-subj", "/CN=odd", "-days", "2"],
                    check=True, capture_output=True, timeout=60)
                status, body, _ = urd.api.call(
                    "PATCH", "/api/admin/realms/federation/settings",
                    {"assertion_issuers": {ISSUER: {"certificates": [crt.read_text()]}}})
                self.assertEqual((status, body["field"]), (400, "assertion_issuers"), body)
                self.assertIn("certificates/0", body["detail"])


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main()
