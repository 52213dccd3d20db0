"""Accounts that move in from other systems: exports in the published forms, made here, with hashes of passphrases by
libraries that know nothing of Urd. Each signs in by the old hash, and the next time by Urd's own."""

import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

from person import Form, Person
from urd_process import BINARY, Urd, together

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests" / "ForeignHashesTests"))
import hashes  # noqa: E402

PASSPHRASE = "Grüße 7 Otter"


def setUpModule():
    global urd, site, folder
    urd = Urd(lawful=True)
    folder = tempfile.TemporaryDirectory()
    port = urd.values["URD_URL"].rsplit(":", 1)[1].strip("/")
    site = f"http://localhost:{port}"
    settings({"login_passphrase": True, "uniform_delay": 0, "roles": {
        "https://api.example": {"editor": [], "reader": []}}})


def tearDownModule():
    urd.close()
    folder.cleanup()


def settings(values):
    status, body, _ = urd.api.call("PATCH", urd.realm + "/settings", values)
    assert status == 200, body


def address():
    return f"{uuid.uuid4().hex[:12]}@example.org"


def write(name, content):
    path = pathlib.Path(folder.name) / f"{uuid.uuid4().hex[:8]}-{name}"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def run(path, source, *words, **more):
    if "--realm" not in words:
        words += ("--realm", urd.values["URD_REALM"])
    return urd.command("import", "accounts", str(path), "--from", source, *words, **more)


def told(path, source, *words):
    """What became of each record, and the summary."""
    done = run(path, source, "--json", *words)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines and "summary" in lines[-1], (done.stdout, done.stderr)
    return lines[:-1], lines[-1]["summary"]


def sign_in(email, passphrase, person=None):
    """By the form of the sign-in page: whether it leads to the account."""
    person = person or Person(urd, site)
    person.email = email
    _, _, page = person.call("GET", "/login")
    action, members = next(form for form in Form(page).forms if "passphrase" in form[1])
    status, place, page = person.call(
        "POST", action, {**members, "by": "passphrase", "email": email, "passphrase": passphrase})
    return status, place, page


def is_in(email, passphrase):
    status, place, _ = sign_in(email, passphrase)
    return status == 303 and place.startswith("/account")


def events(email=None, type=None):
    where = f" and type = '{type}'" if type else ""
    return urd.sql(f"select count(*) from urd.event where realm = 'demo'{where}").strip()


class Moving(unittest.TestCase):
    def signs_in_twice(self, email, passphrase=PASSPHRASE):
        before = int(events(type="passphrase.rehashed"))
        self.assertFalse(is_in(email, passphrase + "!"))
        self.assertTrue(is_in(email, passphrase), email)
        self.assertEqual(int(events(type="passphrase.rehashed")), before + 1)
        self.assertTrue(is_in(email, passphrase), email)
        self.assertFalse(is_in(email, passphrase + "!"))
        self.assertEqual(int(events(type="passphrase.rehashed")), before + 1)


class Hashes(Moving):
    def test_each_hash_signs_in_once_and_is_replaced(self):
        people = [(scheme, made, address()) for scheme, made in hashes.hashes(PASSPHRASE)]
        lines = [json.dumps({"id": email, "email": email, "email_verified": True,
                             "passphrase_hash": made}) for _, made, email in people]
        outcomes, summary = told(write("urd.ndjson", "\n".join(lines)), "urd")
        self.assertEqual(summary["imported"], len(people), outcomes)
        self.assertEqual(summary["passphrases"], len(people))
        for scheme, made, email in people:
            with self.subTest(scheme=scheme, made=made[:20]):
                self.signs_in_twice(email)
        log = urd.sql("select data::text from urd.event where type like 'passphrase.%'")
        for _, made, _ in people:
            self.assertNotIn(made[-20:], log)
        # It is in no answer either.
        status, body, _ = urd.api.call("GET", urd.realm + "/events?type=passphrase.*&limit=1000")
        self.assertEqual(status, 200)
        for _, made, _ in people:
            self.assertNotIn(made[-20:], json.dumps(body))


    def test_of_many_sign_ins_at_once_all_are_right(self):
        import argon2
        email = address()
        told(write("race.ndjson", json.dumps({
            "id": email, "email": email, "email_verified": True,
            "passphrase_hash": argon2.PasswordHasher(2, 16384, 1).hash(PASSPHRASE)})), "urd")
        before = int(events(type="passphrase.rehashed"))
        self.assertEqual(together(6, lambda _: is_in(email, PASSPHRASE)), [True] * 6)
        self.assertEqual(int(events(type="passphrase.rehashed")), before + 1)
        self.assertFalse(is_in(email, PASSPHRASE + "!"))


def corp():
    """A provider of the realm."""
    status, body, _ = urd.api.call("PUT", urd.realm + "/providers/corp", {
        "issuer": "https://login.example", "client_id": "urd", "client_secret": "s3cret", "name": "Corp"})
    assert status in (200, 201, 204), (status, body)


def account_of(email):
    """What the realm knows of the account, opened."""
    status, body, _ = urd.api.call("GET", urd.realm + "/accounts", Email=email)
    assert status == 200 and body["items"], (email, body)
    id = body["items"][0]["id"]
    return urd.api.call("GET", f"{urd.realm}/accounts/{id}?open=true&reason=Incident")[1]


def pbkdf2(passphrase, salt, rounds=1200):
    import hashlib
    return base64.b64encode(hashlib.pbkdf2_hmac("sha512", passphrase.encode(), salt, rounds, 64)).decode()


def keycloak_user(email, **more):
    salt = os.urandom(16)
    return {
        "id": str(uuid.uuid4()), "createdTimestamp": 1600000000000, "username": email, "enabled": True,
        "totp": False, "emailVerified": True, "firstName": "Ada", "lastName": "Byron", "email": email,
        "attributes": {"locale": ["de"], "department": ["R&D"]},
        "credentials": [{
            "id": str(uuid.uuid4()), "type": "password", "createdDate": 1600000000000,
            "secretData": json.dumps({"value": pbkdf2(PASSPHRASE, salt),
                                      "salt": base64.b64encode(salt).decode(), "additionalParameters": {}}),
            "credentialData": json.dumps({"hashIterations": 1200, "algorithm": "pbkdf2-sha512",
                                          "additionalParameters": {}})}],
        "disableableCredentialTypes": [], "requiredActions": [], "realmRoles": ["editor", "uma_authorization"],
        "federatedIdentities": [{"identityProvider": "google", "userId": uuid.uuid4().hex, "userName": email}],
        "notBefore": 0, "groups": [], **more}


class Guides(Moving):
    """Each guide of docs/moving-in.md, over an export in the published form."""

    def test_from_auth0(self):
        import bcrypt
        corp()
        people = [(uuid.uuid4().hex[:24], address()) for _ in range(3)]
        users = write("users.json", "\n".join(json.dumps({
            "user_id": f"auth0|{id}", "email": email, "email_verified": True, "given_name": "Ada",
            "family_name": "Byron", "name": "Ada Byron", "created_at": "2020-01-02T03:04:05.678Z",
            "user_metadata": {"score": 1.5}, "logins_count": 3, "blocked": False, "identities": [
                {"connection": "google-oauth2", "user_id": id, "provider": "google-oauth2", "isSocial": True},
                {"connection": "Users", "user_id": id, "provider": "auth0", "isSocial": False}]})
            for id, email in people))
        passwords = write("passwords.json", "\n".join(json.dumps({
            "_id": {"$oid": id}, "email_verified": True, "email": email,
            "passwordHash": bcrypt.hashpw(PASSPHRASE.encode(), bcrypt.gensalt(5)).decode(),
            "password_set_date": {"$date": "2020-01-02T03:04:05.678Z"}, "tenant": "demo",
            "connection": "Users", "_tmp_is_unique": True}) for id, email in people))
        words = ("--hashes", str(passwords), "--provider", "google-oauth2=corp")
        before = events(type="account.registered")
        _, summary = told(users, "auth0", *words, "--dry-run")
        self.assertEqual((summary["imported"], summary["passphrases"]), (3, 3))
        self.assertEqual(events(type="account.registered"), before)
        _, summary = told(users, "auth0", *words)
        self.assertEqual((summary["imported"], summary["refused"], summary["left_out"]),
                         (3, 0, {"user_metadata": 3}))
        ends = urd.head()
        _, summary = told(users, "auth0", *words)
        self.assertEqual((summary["imported"], summary["unchanged"]), (0, 3))
        self.assertEqual(urd.head(), ends)
        person = account_of(people[0][1])["person"]
        self.assertEqual((person["first_name"], person["last_name"], person["external_id"]),
                         ("Ada", "Byron", f"auth0|{people[0][0]}"))
        self.assertGreaterEqual(int(events(type="identity.linked")), 3)
        for _, email in people:
            self.signs_in_twice(email)

    def test_from_keycloak(self):
        emails = [address() for _ in range(3)]
        users = [keycloak_user(email) for email in emails]
        users[2]["enabled"] = False
        users[0]["clientRoles"] = {"shop-api": ["reader"], "realm-management": ["reader"]}
        users[1]["clientRoles"] = {"realm-management": ["reader"]}
        nameless = keycloak_user("x")
        nameless["email"] = None
        realm = write("realm.json", {
            "id": "shop", "realm": "shop", "roles": {"realm": [{"name": "editor"}]}, "enabled": True,
            "users": [*users, nameless], "clients": [{"clientId": "users", "users": "[{"}]})
        words = ("--audience", "https://api.example", "--client", "shop-api")
        outcomes, summary = told(realm, "keycloak", *words, "--dry-run")
        self.assertEqual((summary["imported"], summary["refused"]), (3, 1))
        outcomes, summary = told(realm, "keycloak", *words)
        self.assertEqual((summary["imported"], summary["refused"]), (3, 1))
        self.assertEqual(outcomes[3]["reason"], "no_address")
        self.assertEqual(summary["left_out"], {
            "attributes.department": 3, "clientRoles.realm-management": 2, "identity:google": 3, "role": 3,
            "username": 3})
        for email, roles in zip(emails, (["editor", "reader"], ["editor"])):
            known = account_of(email)
            given = urd.api.call("GET", f"{urd.realm}/accounts/{known['id']}/roles")[1]
            self.assertEqual(given["roles"], {"https://api.example": roles})
        for email in emails[:2]:
            self.signs_in_twice(email)
        self.assertFalse(is_in(emails[2], PASSPHRASE))
        self.assertFalse(account_of(emails[2])["enabled"])

    def test_from_zitadel(self):
        import argon2
        emails = [address() for _ in range(2)]
        export = write("export.json", {"orgs": [{
            "orgId": "1", "org": {"name": "Acme"}, "humanUsers": [{
                "userId": str(number), "user": {
                    "userName": email, "profile": {
                        "firstName": "Ada", "lastName": "Byron", "displayName": "Ada Byron",
                        "preferredLanguage": "en"},
                    "email": {"email": email, "isEmailVerified": True},
                    "hashedPassword": {"value": argon2.PasswordHasher(1, 1024, 1).hash(PASSPHRASE)},
                    "otpCode": "" if number else "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"}}
                for number, email in enumerate(emails)], "machineUsers": [{"userId": "9"}]}]})
        _, summary = told(export, "zitadel", "--dry-run")
        self.assertEqual(summary["imported"], 2)
        _, summary = told(export, "zitadel")
        self.assertEqual((summary["imported"], summary["left_out"]), (2, {"user.userName": 2}))
        self.signs_in_twice(emails[1])
        # The first one has an authenticator app beside it.
        import pyotp
        for attempt in range(2):
            person = Person(urd, site)
            status, _, page = sign_in(emails[0], PASSPHRASE, person)
            self.assertEqual(status, 200)
            action, members = next(form for form in Form(page).forms if "totp" in form[1])
            # Each code is good once.
            code = pyotp.TOTP("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP").at(time.time(), attempt)
            status, place, _ = person.call("POST", action, {**members, "totp": code})
            self.assertEqual((status, place.split("?")[0]), (303, "/account"))


class OtherSystems(Moving):
    def test_firebase(self):
        email = address()
        scheme, memory, rounds, separator, signer, salt, made = hashes.firebase(PASSPHRASE.encode()).split("$")
        parameters = write("parameters", "hash_config {\n  algorithm: SCRYPT,\n"
                           f"  base64_signer_key: {signer},\n  base64_salt_separator: {separator},\n"
                           f"  rounds: {rounds},\n  mem_cost: {memory},\n}}\n")
        url = str.maketrans("+/", "-_")
        users = write("users.json", {"users": [{
            "localId": "u1", "email": email, "emailVerified": True, "passwordHash": made.translate(url),
            "salt": salt.translate(url), "displayName": "Ada Byron", "createdAt": "1600000000000",
            "lastSignedInAt": "1600000000000", "photoUrl": "https://a.example/p", "providerUserInfo": []}]})
        _, summary = told(users, "firebase")
        self.assertEqual(summary["refused"], 1)
        _, summary = told(users, "firebase", "--hash-parameters", str(parameters))
        self.assertEqual((summary["imported"], summary["left_out"]), (1, {"photoUrl": 1}))
        self.signs_in_twice(email)

    def test_okta_and_cognito_and_csv(self):
        import bcrypt
        emails = [address() for _ in range(3)]
        made = bcrypt.hashpw(PASSPHRASE.encode(), bcrypt.gensalt(5, b"2a")).decode()
        okta = write("okta.json", [{
            "id": "00u1", "status": "ACTIVE", "created": "2020-01-02T03:04:05.000Z", "profile": {
                "firstName": "Ada", "lastName": "Byron", "email": emails[0], "login": emails[0],
                "division": "R&D"},
            "credentials": {"emails": [{"value": emails[0], "status": "VERIFIED", "type": "PRIMARY"}],
                            "password": {"hash": {"algorithm": "BCRYPT", "workFactor": 5,
                                                  "salt": made[7:29], "value": made[29:]}}},
            "_links": {"self": {"href": "https://a.example"}}}])
        _, summary = told(okta, "okta")
        self.assertEqual((summary["imported"], summary["left_out"]), (1, {"profile.division": 1}))
        self.signs_in_twice(emails[0])
        cognito = write("cognito.json", {"Users": [{
            "Username": "ada", "Enabled": True, "UserStatus": "CONFIRMED",
            "UserCreateDate": "2020-01-02T03:04:05.678000+01:00", "Attributes": [
                {"Name": "sub", "Value": str(uuid.uuid4())}, {"Name": "email", "Value": emails[1]},
                {"Name": "email_verified", "Value": "true"}, {"Name": "custom:plan", "Value": "gold"}]}]})
        _, summary = told(cognito, "cognito")
        self.assertEqual((summary["imported"], summary["left_out"]), (1, {"custom:plan": 1}))
        table = write("users.csv", "\ufeffid,email,email_verified,first_name,passphrase_hash,shoe size\r\n"
                      f'1,{emails[2]},true,"Ada ""Countess""",{made},38\r\n')
        _, summary = told(table, "csv")
        self.assertEqual((summary["imported"], summary["left_out"]), (1, {"shoe_size": 1}))
        self.signs_in_twice(emails[2])
        self.assertEqual(account_of(emails[2])["person"]["first_name"], 'Ada "Countess"')


class Faults(Moving):
    def test_wrong_lines_are_told_and_stop_no_other(self):
        good, other = address(), address()
        lines = [
            json.dumps({"id": "w1", "email": good, "email_verified": True}), "{", "[]", '"x"', "{}",
            json.dumps({"id": "w2", "email": "nobody"}), json.dumps({"id": "w3", "email": good}),
            json.dumps({"id": "w4", "email": address(), "passphrase_hash": "$2b$31$" + "a" * 53}),
            json.dumps({"id": "w5", "email": address(), "passphrase_hash": "5f4dcc3b5aa765d61d8327deb882cf99"}),
            json.dumps({"id": "w6", "email": address(), "first_name": "a" * (1 << 20)}),
            json.dumps({"id": "w7", "email": address(), "surprise": 1}), "", "\xff\xfe",
            json.dumps({"id": "w8", "email": other}),
            json.dumps({"id": "w9", "email": address(), "first_name": "a\0b"}),
            json.dumps({"id": "w10", "email": address(), "passphrase_hash": "$2b$+4$" + "a" * 53})]
        outcomes, summary = told(write("w.ndjson", "\n".join(lines)), "urd")
        self.assertEqual((summary["imported"], summary["refused"]), (2, 13), outcomes)
        self.assertNotIn("must be must be", json.dumps(outcomes))
        reasons = {each["line"]: each["reason"] for each in outcomes if each["status"] == "refused"}
        self.assertEqual(reasons, {
            2: "malformed_json", 3: "malformed", 4: "malformed", 5: "missing_field", 6: "invalid_field",
            7: "address_taken", 8: "hash_too_expensive", 9: "hash_unknown_scheme", 10: "too_long",
            11: "unknown_field", 13: "malformed_json", 15: "malformed", 16: "hash_malformed"})
        text = run(write("w.ndjson", "\n".join(lines)), "urd")
        self.assertEqual(text.returncode, 1)
        self.assertIn("line 8: hash_too_expensive (passphrase_hash):", text.stderr)

    def test_lines_that_are_long_together_stop_no_other(self):
        lines = [json.dumps({"id": address(), "email": address(), "first_name": "a" * 900_000})
                 for _ in range(6)]
        lines.append(json.dumps({"id": address(), "email": address()}))
        outcomes, summary = told(write("l.ndjson", "\n".join(lines)), "urd")
        self.assertEqual((summary["imported"], summary["refused"]), (1, 6), outcomes)

    def test_what_stands_before_the_end_of_a_file_that_is_cut_off_is_imported(self):
        emails = [address() for _ in range(3)]
        text = json.dumps([{"id": email, "email": email} for email in emails])
        path = write("cut.json", text[:-10])
        outcomes, summary = told(path, "urd")
        self.assertEqual((summary["imported"], summary["records"]), (2, 2), outcomes)
        done = run(path, "urd")
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 imported, 2 unchanged", done.stdout)
        self.assertIn("ends in the middle", done.stderr)

    def test_a_mark_of_the_byte_order_may_come_alone(self):
        done = run(write("mark.csv", b"\xef\xbb\xbf"), "urd")
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds no accounts", done.stderr)
        names = ("DATABASE_URL", "MASTER_KEY_FILE")
        settings = {f"URD_{name}": urd.values[f"URD_{name}"] for name in names}
        with subprocess.Popen(
                [BINARY, "import", "accounts", "-", "--from", "csv", "--realm", "demo"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **settings}) as process:
            for piece in (b"\xef", b"\xbb\xbf", f"email\n{address()}\n".encode()):
                process.stdin.write(piece)
                process.stdin.flush()
                time.sleep(0.3)
            output, errors = process.communicate()
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn(b"1 imported", output)

    def test_a_file_that_is_not_what_it_says_is_refused_with_a_sentence(self):
        import gzip
        for name, content, source, words in (
                ("a.gz", gzip.compress(b"{}" * 9), "auth0", "compressed by gzip"),
                ("a.zip", b"PK\x03\x04aaaa", "csv", "ZIP archive"), ("empty", b"", "auth0", "is empty"),
                ("a.csv", "a,b\n1,2\n", "csv", "no column email"),
                ("a.json", {"clients": []}, "keycloak", "holds no accounts"),
                ("a.json", '{"users": [{"id": 1', "keycloak", "ends in the middle"),
                ("a.json", '{"users": [}', "keycloak", "a bracket is closed"),
                ("a.json", "[" * 200, "keycloak", "nested too deep"),
                ("a.bin", os.urandom(4096) + bytes(2), "auth0", "no text in UTF-8"),
                ("a.json", "email,phone\n", "keycloak", "is not the JSON of an export")):
            with self.subTest(content=content[:20] if not isinstance(content, dict) else content):
                done = run(write(name, content), source)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(words, done.stderr)

    def test_a_record_of_two_gigabytes_is_refused_within_bounded_memory(self):
        path = pathlib.Path(folder.name) / "huge.ndjson"
        email = address()
        with open(path, "wb") as file:
            file.write(b'{"id": "h1", "email": "')
            for _ in range(200):
                file.write(b"a" * (1 << 20))
            file.write(b'"}\n' + json.dumps({"id": "h2", "email": email}).encode() + b"\n")
        words = [BINARY, "import", "accounts", str(path), "--from", "urd", "--realm", "demo", "--json"]
        names = ("DATABASE_URL", "MASTER_KEY_FILE")
        settings = {f"URD_{name}": urd.values[f"URD_{name}"] for name in names}
        done = subprocess.run(
            ["/usr/bin/env", "bash", "-c", "ulimit -v 1500000; exec \"$@\"", "-", *words],
            capture_output=True, text=True, env={**os.environ, **settings})
        path.unlink()
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line.get("reason") or line["status"] for line in lines[:2]],
                         ["too_long", "imported"], done.stderr)

    def test_a_run_that_is_killed_goes_on_where_it_was(self):
        count = 4000
        mark = uuid.uuid4().hex[:8]
        path = write("many.ndjson", "\n".join(json.dumps({
            "id": f"{mark}-{number}", "email": f"{mark}-{number}@example.org", "email_verified": True})
            for number in range(count)))
        names = ("DATABASE_URL", "MASTER_KEY_FILE")
        settings = {f"URD_{name}": urd.values[f"URD_{name}"] for name in names}
        before = int(events(type="account.imported"))
        process = subprocess.Popen(
            [BINARY, "import", "accounts", str(path), "--from", "urd", "--realm", "demo"],
            env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while int(events(type="account.imported")) < before + 400:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        there = int(events(type="account.imported")) - before
        self.assertLess(there, count, "it was over before it was killed")
        _, summary = told(path, "urd")
        self.assertEqual((summary["imported"] + summary["unchanged"], summary["refused"]), (count, 0))
        self.assertGreater(summary["unchanged"], 0)
        self.assertEqual(int(events(type="account.imported")) - before, count)

    def test_a_realm_without_passphrases_says_so(self):
        self.addCleanup(settings, {"login_passphrase": True})
        settings({"login_passphrase": False})
        made = next(iter(hashes.hashes(PASSPHRASE)))[1]
        done = run(write("p.ndjson", json.dumps({
            "id": uuid.uuid4().hex, "email": address(), "passphrase_hash": made})), "urd")
        self.assertEqual(done.returncode, 0)
        self.assertIn("does not offer sign-in by passphrase", done.stderr)


class MovingOut(Moving):
    def test_what_is_no_file_is_not_replaced_by_one(self):
        pipe = pathlib.Path(folder.name) / "pipe"
        os.mkfifo(pipe)
        for place in (pipe, pathlib.Path(folder.name)):
            done = urd.command(
                "export", "accounts", "--realm", "demo", "--reason", "Leaving", "--out", str(place))
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(f"cannot replace {place}", done.stderr)
        self.assertTrue(pipe.is_fifo())

    def test_what_is_exported_is_read_again_in_another_realm(self):
        email, fresh = address(), address()
        made = [made for _, made in hashes.hashes(PASSPHRASE)]
        told(write("x.ndjson", "\n".join(json.dumps({
            "id": each, "email": each, "email_verified": True, "first_name": "Ada",
            "created_at": "2020-01-02T03:04:05Z", "passphrase_hash": hash}) for each, hash in (
                (email, made[0]), (fresh, made[-1])))), "urd")
        self.assertTrue(is_in(email, PASSPHRASE))
        path = pathlib.Path(folder.name) / "out.ndjson"
        self.assertNotEqual(urd.command("export", "accounts", "--realm", "demo", "--out", str(path)).returncode, 0)
        done = urd.command(
            "export", "accounts", "--realm", "demo", "--reason", "Leaving", "--out", str(path))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        records = {record["email"]: record for record in map(json.loads, path.read_text().splitlines())
                   if "email" in record}
        self.assertTrue(records[email]["passphrase_hash"].startswith("scrypt$"))
        self.assertEqual(records[fresh]["passphrase_hash"], made[-1])
        self.assertEqual(records[fresh]["created_at"][:19], "2020-01-02T03:04:05")
        self.assertGreaterEqual(int(events(type="personal_data.opened")), 1)
        # It is an import as it stands, and the passphrases are good there as well.
        status, body, _ = urd.api.call("POST", "/api/admin/realms", {"realm": "elsewhere", "display_name": "Elsewhere"})
        self.assertEqual(status, 201, body)
        done = run(path, "urd", "--json", "--realm", "elsewhere")
        summary = json.loads(done.stdout.splitlines()[-1])["summary"]
        self.assertEqual(summary["imported"], len(path.read_text().splitlines()), done.stdout[:2000])
        again = pathlib.Path(folder.name) / "again.ndjson"
        done = urd.command("export", "accounts", "--realm", "elsewhere", "--reason", "x", "--out", str(again))
        there = {record["email"]: record for record in map(json.loads, again.read_text().splitlines())
                 if "email" in record}
        for name in (email, fresh):
            for member in ("passphrase_hash", "email_verified", "first_name", "created_at", "enabled"):
                self.assertEqual(there[name][member], records[name][member], member)


if __name__ == "__main__":
    unittest.main()
