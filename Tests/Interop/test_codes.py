"""Our QR codes under a reader that others wrote, and our one-time codes computed by hand."""

import base64
import binascii
import hmac
import re
import struct
import sys
import time
import unittest
import urllib.parse
import xml.etree.ElementTree
import zlib

from token_tool import Refused, Tool, missing, rerun

MISSING = missing("zbar")
if not MISSING:
    import zbar

SVG = "{http://www.w3.org/2000/svg}"


def setUpModule():
    global tool
    tool = Tool()


def tearDownModule():
    tool.close()


def png_pixels(png):
    """Rows of grey values: one bit, no filter, not interlaced, as strict as can be."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, place = [], 8
    while place < len(png):
        length, name = struct.unpack(">I4s", png[place:place + 8])
        data = png[place + 8:place + 8 + length]
        (checksum,) = struct.unpack(">I", png[place + 8 + length:place + 12 + length])
        assert checksum == binascii.crc32(name + data)
        chunks.append((name, data))
        place += 12 + length
    assert [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"] and place == len(png)
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[0][1])
    assert rest == [1, 0, 0, 0, 0]
    data = zlib.decompress(chunks[1][1])  # checks Adler-32
    line = 1 + (width + 7) // 8
    assert len(data) == line * height
    rows = []
    for row in range(height):
        filtered, *octets = data[row * line:(row + 1) * line]
        assert filtered == 0
        bits = "".join(f"{octet:08b}" for octet in octets)[:width]
        rows.append(bytes(255 if bit == "1" else 0 for bit in bits))
    return width, height, b"".join(rows)


def svg_pixels(text, scale=4):
    """Draws the few commands that the picture is made of."""
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == SVG + "svg"
    _, _, width, height = map(int, root.get("viewBox").split())
    rows = [[None] * width for _ in range(height)]
    for path, value in zip(root.iter(SVG + "path"), (255, 0)):
        drawn = re.sub(r"M(\d+) (\d+)h(\d+)v(\d+)h-\3z", "", path.get("d").replace("M0 0", "M0 0"))
        assert drawn == ""
        for x, y, across, down in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)", path.get("d")):
            for row in range(int(y), int(y) + int(down)):
                for column in range(int(x), int(x) + int(across)):
                    rows[row][column] = value
    wide = [bytes(value for value in row for _ in range(scale)) for row in rows]
    return width * scale, height * scale, b"".join(row for row in wide for _ in range(scale))


def read(width, height, pixels):
    scanner = zbar.ImageScanner()
    image = zbar.Image(width, height, "Y800", pixels)
    scanner.scan(image)
    (symbol,) = list(image)
    assert str(symbol.type) == "QRCODE"
    return symbol.data


class QRCodes(unittest.TestCase):
    TEXTS = [
        "a", "0123456789", "HELLO WORLD",
        "otpauth://totp/Urd:ann%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Urd",
        "https://id.example/magic-login?userId=1&token=" + "x" * 200, "z" * 1000,
        "grüße, 日本語", "<script>&\"'",
    ]

    def test_qr_codes_are_read_back_from_pictures(self):
        for text in self.TEXTS:
            for correction in "low", "medium", "quartile", "high":
                answer = tool("qr", text=text, correction=correction, scale=4)
                png = png_pixels(base64.b64decode(answer["png"]))
                svg = svg_pixels(answer["svg"])
                self.assertEqual(png, svg)
                self.assertEqual(read(*png), text)

    def test_qr_codes_are_read_back_at_every_module_size(self):
        for scale in range(2, 17):
            answer = tool("qr", text=self.TEXTS[3], scale=scale)
            self.assertEqual(read(*png_pixels(base64.b64decode(answer["png"]))), self.TEXTS[3])

    def test_qr_codes_of_too_long_a_text_are_refused(self):
        with self.assertRaises(Refused):
            tool("qr", text="z" * 1001, scale=1)


class OneTimeCodes(unittest.TestCase):
    @staticmethod
    def code(secret, step):
        tag = hmac.new(secret, struct.pack(">Q", step), "sha1").digest()
        place = tag[-1] & 15
        (number,) = struct.unpack(">I", tag[place:place + 4])
        return f"{(number & 0x7FFFFFFF) % 1000000:06}"

    def test_an_authenticator_app_that_scans_the_qr_code_makes_accepted_codes(self):
        for issuer, account in [
            ("Urd", "ann@example.org"), ("Ann & Söhne: GmbH", "ann+tag@example.org"),
            ("x" * 500, "日" * 500),
        ]:
            answer = tool("enrol", issuer=issuer, account=account)
            uri = urllib.parse.urlsplit(read(*png_pixels(base64.b64decode(answer["png"]))))
            self.assertEqual((uri.scheme, uri.netloc), ("otpauth", "totp"))
            query = urllib.parse.parse_qs(uri.query, strict_parsing=True)
            self.assertEqual(
                (query["algorithm"], query["digits"], query["period"]), (["SHA1"], ["6"], ["30"]))
            shown, name = urllib.parse.unquote(uri.path[1:]).split(":")
            self.assertEqual(query["issuer"], [shown])
            self.assertEqual(shown, issuer.replace(":", " ")[:128])
            self.assertTrue(account.startswith(name))
            (text,) = query["secret"]
            self.assertEqual(text, answer["secret"])
            secret = base64.b32decode(text)
            self.assertEqual(len(secret), 20)
            now = int(time.time())
            for step in range(now // 30 - 2, now // 30 + 3):
                matched = tool("totp", secret=text, code=self.code(secret, step), now=now)
                self.assertEqual(matched, step if abs(step - now // 30) <= 1 else None)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
