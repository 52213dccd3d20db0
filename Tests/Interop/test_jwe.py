"""Our encrypted messages under two unrelated JOSE libraries, and theirs under ours: jwcrypto, which the
distribution has, and joserfc, pinned."""

import base64
import json
import sys
import unittest

import pinned
from token_tool import Refused, Tool, missing, rerun

pinned.use()
MISSING = missing("jwcrypto", "joserfc", "cryptography")
if not MISSING:
    import joserfc.jwe
    import joserfc.jwk
    from cryptography.hazmat.primitives import serialization
    from jwcrypto import jwe as jwcrypto_jwe
    from jwcrypto import jwk as jwcrypto_jwk

ALGORITHMS = ["RSA-OAEP-256", "ECDH-ES"]
READ = ["A256GCM", "A128CBC-HS256"]
OTHERS = ["RSA-OAEP", "ECDH-ES+A256KW", "RSA1_5"]
TEXT = "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl é"


def setUpModule():
    global tool, ours, private
    tool = Tool()
    ours = {name: tool("generate_decryption_key", algorithm=name) for name in ALGORITHMS}
    private = {
        name: serialization.load_der_private_key(base64.b64decode(key["pkcs8"]), None)
        for name, key in ours.items()}


def tearDownModule():
    tool.close()


# Keys, encryption to a JWK, and decryption by a private key ------------------------------------


class JWCrypto:
    def generate(self, name):
        key = (jwcrypto_jwk.JWK.generate(kty="RSA", size=2048) if name.startswith("RSA")
               else jwcrypto_jwk.JWK.generate(kty="EC", crv="P-256"))
        return key.export_public(as_dict=True), key

    def load(self, key):
        return jwcrypto_jwk.JWK.from_pyca(key)

    def encrypt(self, text, jwk, header):
        message = jwcrypto_jwe.JWE(
            text.encode(), protected=json.dumps(header), algs=[header["alg"], header["enc"]])
        message.add_recipient(jwcrypto_jwk.JWK(**jwk))
        return message.serialize(compact=True)

    def decrypt(self, text, key, algorithm):
        message = jwcrypto_jwe.JWE(algs=[algorithm, "A256GCM"])
        message.deserialize(text, key)
        return message.payload.decode(), message.jose_header


class JoseRFC:
    def generate(self, name):
        key = (joserfc.jwk.RSAKey.generate_key(2048) if name.startswith("RSA")
               else joserfc.jwk.ECKey.generate_key("P-256"))
        return key.as_dict(private=False), key

    def load(self, key):
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption())
        kind = joserfc.jwk.RSAKey if b"RSA" in pem or key.key_size > 1000 else joserfc.jwk.ECKey
        return kind.import_key(pem)

    def encrypt(self, text, jwk, header):
        jwk = {name: value for name, value in jwk.items() if name not in ("use", "alg")}
        key = joserfc.jwk.import_key(jwk)
        return joserfc.jwe.encrypt_compact(
            header, text.encode(), key, algorithms=[header["alg"], header["enc"], "DEF"])

    def decrypt(self, text, key, algorithm):
        message = joserfc.jwe.decrypt_compact(text, key, algorithms=[algorithm, "A256GCM"])
        return message.plaintext.decode(), message.headers()


class EncryptedMessages(unittest.TestCase):
    def each(self):
        for library in JWCrypto(), JoseRFC():
            for name in ALGORITHMS:
                with self.subTest(library=type(library).__name__, algorithm=name):
                    yield library, name

    def decrypt(self, text, name):
        return tool("decrypt", token=text, algorithm=name, pkcs8=ours[name]["pkcs8"])

    def test_other_libraries_read_what_urd_encrypts_to_their_keys(self):
        for library, name in self.each():
            jwk, key = library.generate(name)
            text = tool("encrypt", text=TEXT, jwk=jwk)
            plain, header = library.decrypt(text, key, name)
            self.assertEqual(plain, TEXT)
            self.assertEqual(
                (header["alg"], header["enc"], header["cty"]), (name, "A256GCM", "JWT"))

    def test_other_libraries_read_what_urd_encrypts_to_its_own_keys(self):
        for library, name in self.each():
            text = tool("encrypt", text=TEXT, jwk=ours[name]["jwk"])
            plain, header = library.decrypt(text, library.load(private[name]), name)
            self.assertEqual((plain, header["kid"]), (TEXT, ours[name]["kid"]))

    def test_urd_reads_what_other_libraries_encrypt(self):
        for library, name in self.each():
            for enc in READ:
                for more in {}, {"kid": ours[name]["kid"]}, {"cty": "JWT", "typ": "JWT"}:
                    header = {"alg": name, "enc": enc, **more}
                    text = library.encrypt(TEXT, ours[name]["jwk"], header)
                    self.assertEqual(
                        self.decrypt(text, name), {"text": TEXT, "cty": more.get("cty")})

    def test_urd_refuses_what_was_changed_on_the_way(self):
        for library, name in self.each():
            for enc in READ:
                text = library.encrypt(TEXT, ours[name]["jwk"], {"alg": name, "enc": enc})
                parts = text.split(".")
                for index, part in list(enumerate(parts))[2:]:
                    raw = bytearray(base64.urlsafe_b64decode(part + "=="))
                    for at in 0, len(raw) // 2, len(raw) - 1:
                        changed = bytearray(raw)
                        changed[at] ^= 1
                        piece = base64.urlsafe_b64encode(changed).rstrip(b"=").decode()
                        with self.assertRaisesRegex(Refused, "badSignature"):
                            self.decrypt(
                                ".".join([*parts[:index], piece, *parts[index + 1:]]), name)

    def test_urd_reads_messages_that_name_their_parties(self):
        for library, name in self.each():
            if name == "ECDH-ES":
                header = {
                    "alg": name, "enc": "A256GCM", "apu": "QWxpY2U", "apv": "Qm9i"}
                text = library.encrypt(TEXT, ours[name]["jwk"], header)
                self.assertEqual(self.decrypt(text, name)["text"], TEXT)

    def test_urd_refuses_other_algorithms_and_compression(self):
        for library, name in self.each():
            jwk = {k: v for k, v in ours[name]["jwk"].items() if k not in ("alg", "use")}
            for algorithm in OTHERS:
                if algorithm.startswith("RSA") != name.startswith("RSA"):
                    continue
                header = {"alg": algorithm, "enc": "A256GCM"}
                with self.assertRaisesRegex(Refused, "algorithmNotAllowed"):
                    self.decrypt(library.encrypt(TEXT, jwk, header), name)
            for enc in "A128GCM", "A256CBC-HS512":
                with self.assertRaisesRegex(Refused, "algorithmNotAllowed"):
                    self.decrypt(library.encrypt(TEXT, jwk, {"alg": name, "enc": enc}), name)
            with self.assertRaisesRegex(Refused, "unsupportedHeader"):
                self.decrypt(library.encrypt(
                    TEXT, jwk, {"alg": name, "enc": "A256GCM", "zip": "DEF"}), name)

    def test_urd_refuses_messages_to_another_key(self):
        for library, name in self.each():
            jwk, _ = library.generate(name)
            text = library.encrypt(TEXT, jwk, {"alg": name, "enc": "A256GCM"})
            with self.assertRaisesRegex(Refused, "badSignature"):
                self.decrypt(text, name)


def load_tests(loader, tests, pattern):
    return rerun(__file__) if MISSING else tests


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
