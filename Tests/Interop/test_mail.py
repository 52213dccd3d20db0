"""Mails of Urd as others read them: a real mail server takes them, Python's email package parses
them, and an HTML parser walks through what people see."""

import base64
import email
import email.header
import email.policy
import email.utils
import html.parser
import json
import os
import pathlib
import subprocess
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SENDER = pathlib.Path(os.environ.get("URD_MAIL_SENDER", ROOT / ".build" / "debug" / "MailSender"))
SERVER = ROOT / "Tests" / "HTTPClientTests" / "servers" / "smtp_server.py"
# Debian's own Python: it is the one that has Debian's packages.
PYTHON = "/usr/bin/python3"

KINDS = [
    "EmailOtp", "MagicLink", "EmailVerification", "PasskeyEnrolled", "PasskeyRemoved",
    "TotpEnrolled", "TotpRemoved", "SignedOutEverywhere", "AccountDisabled", "AccountDeletion",
    "Notification",
]
LINK = "https://login.example.org/magic-login?userId=8f2c&token=a%2Bb%3D&redirect=%2Fhome"

HOSTILE = [
    "Hello\r\nBcc: victim@example.com",
    "Hello\nX-Injected: yes",
    "Hello\r\n\r\n<script>alert(1)</script>",
    "Hello\rBcc: victim@example.com",
    "=?utf-8?q?Hello=0D=0ABcc:_victim@example.com?=",
    "\u2028Bcc: victim@example.com\u2029\u0085X: y",
    "--=_two-forms-of-one-text--\r\n\r\nmore",
    "\r\n.\r\nMAIL FROM:<evil@example.com>\r\n",
    "\u0000\u0007\u001b[31mred",
    "\u202egnp.exe\u2066",
    '"quoted" \\ <evil@example.com>, other@example.com',
    "Grüße aus Köln – 日本語 🎉👩‍👩‍👧‍👦",
    "x" * 5000,
    "ü" * 3000,
    "a " * 2000,
]


class Mail:
    """One mail as it arrived, read strictly."""

    def __init__(self, taken):
        self.taken = taken
        self.raw = base64.b64decode(taken["content"])
        policy = email.policy.default.clone(raise_on_defect=True)
        self.message = email.message_from_bytes(self.raw, policy=policy)
        self.defects = list(self.message.defects)
        for part in self.message.walk():
            self.defects += part.defects
            for value in part.values():
                self.defects += value.defects
        plain, rich = self.message.iter_parts()
        self.parts = (plain, rich)
        self.text = plain.get_content().replace("\r\n", "\n")
        self.html = rich.get_content().replace("\r\n", "\n")

    def name(self, header):
        """The name before an address, by the older of Python's two parsers: the newer one of some
        versions leaves a space between two encoded words of a name (RFC 2047 section 6.2)."""
        value = email.message_from_bytes(self.raw)[header].replace("\r\n", "")
        name, _ = email.utils.parseaddr(value)
        return str(email.header.make_header(email.header.decode_header(name)))


class Page(html.parser.HTMLParser):
    """What stands in a page, and whether all that is opened is closed."""

    VOID = {"meta", "link", "br", "hr", "img", "input"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.broken = []
        self.names = []
        self.attributes = []
        self.words = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def values(self, name):
        return [value for _, key, value in self.attributes if key == name]


def send(*orders):
    """The mails that arrive for these orders."""
    with subprocess.Popen(
        [PYTHON, "-B", str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as server:
        try:
            port = server.stdout.readline().strip()
            # The pipe holds less than some orders make: it is read while they are sent.
            lines = []
            reader = threading.Thread(target=lambda: lines.extend(server.stdout))
            reader.start()
            run = subprocess.run(
                [str(SENDER), port], input="".join(json.dumps(order) + "\n" for order in orders),
                capture_output=True, text=True, timeout=60, check=True)
            server.stdin.close()
            reader.join()
            answers = run.stdout.splitlines()
            if answers != ["sent"] * len(orders):
                raise AssertionError(run.stdout + run.stderr)
            return [Mail(json.loads(line)) for line in lines]
        finally:
            server.kill()


class Mails(unittest.TestCase):
    def check(self, mail):
        self.assertEqual(mail.defects, [])
        self.assertTrue(mail.raw.isascii())
        self.assertTrue(mail.raw.endswith(b"\r\n"))
        self.assertEqual(mail.raw.count(b"\r"), mail.raw.count(b"\r\n"))
        self.assertEqual(mail.raw.count(b"\n"), mail.raw.count(b"\r\n"))
        self.assertLessEqual(max(map(len, mail.raw.split(b"\r\n"))), 76)
        self.assertEqual(mail.message.keys(), [
            "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted",
            "X-Auto-Response-Suppress", "Content-Language", "MIME-Version", "Content-Type"])
        self.assertEqual(mail.message["Auto-Submitted"], "auto-generated")
        self.assertEqual(mail.message.get_content_type(), "multipart/alternative")
        self.assertEqual(
            [part.get_content_type() for part in mail.parts], ["text/plain", "text/html"])
        self.assertEqual([part.get_content_charset() for part in mail.parts], ["utf-8"] * 2)
        self.assertEqual(len(mail.message["From"].addresses), 1)
        self.assertEqual(len(mail.message["To"].addresses), 1)
        self.assertEqual(mail.message["From"].addresses[0].addr_spec, "urd@example.org")
        self.assertEqual(mail.message["To"].addresses[0].addr_spec, mail.taken["to"][0])
        self.assertEqual(mail.taken["to"], ["anna@example.org"])
        self.assertEqual(mail.message["Date"].datetime.timestamp(), 1_790_000_000)

    def test_every_kind_of_mail_in_every_language_is_parsed_as_meant(self):
        orders = [
            {"kind": kind, "language": language, "product": "Acme & Söhne <GmbH>",
             "name": "Anna Müller", "device": "iPhone", "url": LINK, "code": "047911",
             "accent": "#0a7d5a", "logo": "https://cdn.example.org/logo.png?a=1&b=2",
             "footer": "Acme GmbH\nHauptstraße 1"}
            for kind in KINDS for language in ("en", "de")
        ]
        mails = send(*orders)
        subjects = set()
        for order, mail in zip(orders, mails):
            with self.subTest(kind=order["kind"], language=order["language"]):
                self.check(mail)
                self.assertEqual(mail.message["Content-Language"], order["language"])
                self.assertIn("Acme & Söhne <GmbH>", mail.message["Subject"])
                self.assertEqual(mail.name("From"), "Acme & Söhne <GmbH>")
                self.assertEqual(mail.name("To"), "Anna Müller")
                self.assertNotIn("047911", mail.message["Subject"])
                subjects.add(mail.message["Subject"])
                page = Page(mail.html)
                self.assertEqual((page.open, page.broken), ([], []))
                self.assertEqual(page.values("lang"), [order["language"]])
                for body in (mail.text, page.text):
                    self.assertIn("Anna Müller,", body)
                    self.assertIn("Acme & Söhne <GmbH>", body)
                    self.assertIn("Hauptstraße 1", body)
                    self.assertEqual("047911" in body, order["kind"] == "EmailOtp")
                    hasLink = order["kind"] in ("MagicLink", "EmailVerification")
                    self.assertEqual(LINK in body, hasLink)
                    self.assertNotRegex(body, r"[{}]")
                self.assertEqual(
                    [link for link in page.values("href")], [LINK, LINK] if hasLink else [])
                # Nothing is fetched but the logo, and nothing runs.
                self.assertEqual(
                    page.values("src"), ["https://cdn.example.org/logo.png?a=1&b=2"])
                self.assertEqual(page.values("alt"), ["Acme & Söhne <GmbH>"])
                self.assertTrue({"script", "table", "link", "iframe"}.isdisjoint(page.names))
                self.assertNotIn("url(", mail.html)
                self.assertIn("prefers-color-scheme:dark", mail.html)
        # What an app has to tell has its own title, whatever the language.
        self.assertEqual(len(subjects), len(orders) - KINDS.count("Notification"))

    def test_user_text_never_becomes_a_header_or_a_part(self):
        orders = [
            {"subject": text, "text": text, "html": text, "fromName": text, "name": text}
            for text in HOSTILE
        ]
        for order, mail in zip(orders, send(*orders)):
            with self.subTest(text=order["subject"][:40]):
                self.check(mail)
                for value in (mail.message["Subject"], mail.message["From"], mail.message["To"]):
                    self.assertNotRegex(str(value), r"[\r\n\0\u202e\u2028]")
                self.assertEqual(mail.taken["from"], "urd@example.org")

    def test_a_mails_text_arrives_as_written(self):
        words = "Grüße – 日本語, \"quoted\" =?utf-8?q?x?= 🎉 " + "lang " * 20 + "ß" * 40
        words = words.strip()
        text = "\n".join([
            "Grüße = 100 %", ".", "..", "From here", "trailing \t", "", "日本語" * 200, "x" * 2000,
            "=3D=0A", "a\tb", "end"])
        rich = "<p>Grüße &amp; mehr</p>\n" + "<i>日本語</i>" * 300
        mail, = send({"subject": words, "text": text, "html": rich, "fromName": words[:60],
                      "name": "O'Neil, \"Bob\" \\ Jr."})
        self.check(mail)
        self.assertEqual(mail.message["Subject"], words)
        self.assertEqual(mail.name("From"), words[:60].strip())
        self.assertEqual(mail.name("To"), "O'Neil, \"Bob\" \\ Jr.")
        self.assertEqual(mail.text, text + "\n")
        self.assertEqual(mail.html, rich + "\n")

    def test_a_name_in_a_mail_is_no_markup(self):
        mail, = send({"kind": "PasskeyEnrolled", "product": "<img src=x onerror=alert(1)>\"'&amp;",
                      "name": "<b>Anna</b>", "device": "<script>alert(1)</script>",
                      "footer": "</div><script>x</script>", "logo": "javascript:alert(1)"})
        self.check(mail)
        page = Page(mail.html)
        self.assertEqual((page.open, page.broken), ([], []))
        self.assertTrue({"script", "img", "b"}.isdisjoint(page.names))
        self.assertIn("<img src=x onerror=alert(1)>\"'&amp;", page.text)
        self.assertIn("</div><script>x</script>", page.text)
        self.assertNotIn("Anna", page.text)


if __name__ == "__main__":
    unittest.main()
