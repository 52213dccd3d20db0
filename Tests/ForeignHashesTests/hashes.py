"""Hashes of a passphrase by libraries that know nothing of Urd, one a line: scheme, hash.

usage: hashes.py PASSPHRASE
"""

import base64
import hashlib
import os
import sys

import argon2
import bcrypt
import scrypt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from passlib import hash as schemes


def text(data):
    return base64.b64encode(data).decode()


def bare(data):
    return text(data).rstrip("=")


def firebase(passphrase, memory=14, rounds=8):
    """As github.com/firebase/scrypt describes it, by OpenSSL."""
    salt, separator, signer = os.urandom(16), b"\x07", os.urandom(64)
    key = hashlib.scrypt(
        passphrase, salt=salt + separator, n=1 << memory, r=rounds, p=1, maxmem=1 << 27)[:32]
    cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    made = cipher.update(signer) + cipher.finalize()
    return (f"firebase-scrypt${memory}${rounds}${text(separator)}${text(signer)}"
            f"${text(salt)}${text(made)}")


def hashes(passphrase):
    secret = passphrase.encode()
    for prefix in (b"2a", b"2b"):
        yield "bcrypt", bcrypt.hashpw(secret, bcrypt.gensalt(5, prefix)).decode()
    yield "bcrypt", bcrypt.hashpw(secret, bcrypt.gensalt(5)).decode().replace("$2b$", "$2y$")
    for kind in argon2.Type:
        yield "argon2", argon2.PasswordHasher(2, 1024, 2, type=kind).hash(passphrase)
    for scheme in (schemes.pbkdf2_sha1, schemes.pbkdf2_sha256, schemes.pbkdf2_sha512,
                   schemes.django_pbkdf2_sha1, schemes.django_pbkdf2_sha256):
        yield "pbkdf2", scheme.using(rounds=1200).hash(passphrase)
    salt = os.urandom(16)
    # As Keycloak has them: more than one block of the function.
    key = hashlib.pbkdf2_hmac("sha1", secret, salt, 1200, 64)
    yield "pbkdf2", f"$pbkdf2-sha1$i=1200,l=64${bare(salt)}${bare(key)}"
    for scheme in (schemes.sha256_crypt, schemes.sha512_crypt):
        yield "sha-crypt", scheme.using(rounds=1500).hash(passphrase)
        yield "sha-crypt", scheme.using(rounds=5000).hash(passphrase)
    yield "scrypt", schemes.scrypt.using(rounds=10).hash(passphrase)
    key = scrypt.hash(passphrase, salt, 1 << 10, 8, 2, 32)
    yield "scrypt", f"$scrypt$ln=10,r=8,p=2${bare(salt)}${bare(key)}"
    yield "scrypt", f"scrypt$1024$8$2${text(salt)}${text(key)}"
    yield "firebase", firebase(secret)


if __name__ == "__main__":
    for name, made in hashes(sys.argv[1]):
        print(name, made)
