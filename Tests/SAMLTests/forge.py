"""Assertions for the tests of the module SAML, good ones and forged ones, made by pysaml2 and signed by xmlsec1.

Writes one JSON object: the keys, and each document with what a careless verifier says of it. All is made anew each
time: keys, identifiers, instants.
"""

import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from saml2 import saml
from saml2.assertion import Assertion, Policy
from saml2.attribute_converter import ac_factory
from saml2.sigver import CryptoBackendXmlSec1, pre_signature_part
from saml2.xmldsig import DIGEST_SHA1, DIGEST_SHA256, DIGEST_SHA384, DIGEST_SHA512
from saml2.xmldsig import SIG_RSA_SHA1, SIG_RSA_SHA256, SIG_RSA_SHA384, SIG_RSA_SHA512

ISSUER = "https://idp.example/metadata"
AUDIENCE = "https://id.example"
RECIPIENT = "https://id.example/token"
MORE = "http://www.w3.org/2001/04/xmldsig-more#"
ECDSA = {name: f"{MORE}ecdsa-{name}" for name in ("sha256", "sha384")}
AUTHN_CLASS = "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"
NODE = "urn:oasis:names:tc:SAML:2.0:assertion:Assertion"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
INCLUSIVE = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"

NOW = int(time.time())
folder = pathlib.Path(tempfile.mkdtemp(prefix="saml-forge-"))
signer = CryptoBackendXmlSec1("/usr/bin/xmlsec1")
documents = {}


# Keys -------------------------------------------------------------------------------------------


def run(*command, **more):
    return subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, timeout=60,
        stdin=subprocess.DEVNULL, **more).stdout


class Key:
    def __init__(self, name, *kind):
        self.path = folder / f"{name}.key"
        self.certificate = folder / f"{name}.crt"
        run("openssl", "genpkey", "-out", self.path, "-algorithm", *kind)
        run("openssl", "req", "-x509", "-new", "-key", self.path, "-out", self.certificate,
            "-subj", f"/CN={name}", "-days", "2")

    def described(self):
        der = run("openssl", "x509", "-in", self.certificate, "-outform", "DER")
        public = run("openssl", "pkey", "-in", self.path, "-pubout", "-outform", "DER")
        return {"certificate": base64.b64encode(der).decode(),
                "public": base64.b64encode(public).decode(),
                "pem": self.certificate.read_text()}

    def body(self):
        return "".join(self.certificate.read_text().split("\n")[1:-2])


RSA = ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
keys = {
    "rsa": Key("rsa", *RSA),
    "old": Key("old", *RSA),
    "attacker": Key("attacker", *RSA),
    "short": Key("short", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"),
    "p256": Key("p256", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
    "p384": Key("p384", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"),
    "p521": Key("p521", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"),
    "ed25519": Key("ed25519", "ED25519"),
}


# Assertions -------------------------------------------------------------------------------------


def instant(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW + seconds))


def build(name="ann", audience=AUDIENCE, recipient=RECIPIENT, issuer=ISSUER, change=None,
          algorithm=SIG_RSA_SHA256, digest=DIGEST_SHA256, certificate=None):
    """What pysaml2 makes, with the frame of a signature in it."""
    made = Assertion({"givenName": ["Ann"], "mail": ["ann@example.org", "a@example.org"]})
    assertion = made.construct(
        audience, ac_factory(), Policy({"default": {"lifetime": {"minutes": 10}}}),
        saml.Issuer(text=issuer, format=saml.NAMEID_FORMAT_ENTITY),
        {"subject": {"subject_confirmation": {
            "method": saml.SCM_BEARER,
            "subject_confirmation_data": {"recipient": recipient}}}},
        authn_class=AUTHN_CLASS,
        authn_instant=NOW - 60,
        name_id=saml.NameID(text=name, format=saml.NAMEID_FORMAT_PERSISTENT))
    assertion.authn_statement[0].session_index = "s-1"
    assertion.issue_instant = instant(0)
    assertion.conditions.not_before = instant(0)
    assertion.conditions.not_on_or_after = instant(600)
    data(assertion).not_on_or_after = instant(300)
    if change:
        change(assertion)
    if algorithm:
        assertion.signature = pre_signature_part(
            assertion.id, certificate or keys["rsa"].body(), identifier=1, digest_alg=digest,
            sign_alg=algorithm)
    return assertion


def data(assertion):
    return assertion.subject.subject_confirmation[0].subject_confirmation_data


def named(text):
    return re.search(r'<ns0:Assertion[^>]* ID="([^"]+)"', text)[1]


def sign(document, key="rsa", id=None):
    """By pysaml2, which calls xmlsec1."""
    text = str(document)
    return signer.sign_statement(text, NODE, str(keys[key].path), id or named(text))


def sign_with_hmac(text):
    """With what everybody knows as the secret: the public key."""
    secret = folder / "secret"
    secret.write_bytes(run("openssl", "pkey", "-in", keys["rsa"].path, "-pubout"))
    source = folder / "hmac.xml"
    source.write_text(text)
    return run("xmlsec1", "--sign", "--hmackey", secret, "--id-attr:ID", NODE, source).decode()


def careless(text):
    """Whether xmlsec1 finds a good signature somewhere, as it is often called."""
    source = folder / "check.xml"
    source.write_text(text)
    done = subprocess.run(
        ["xmlsec1", "--verify", "--pubkey-cert-pem", str(keys["rsa"].certificate), "--id-attr:ID",
         NODE, str(source)], capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode == 0


def swap(text, old, new):
    """Replaces all, of which there has to be one."""
    assert old in text, (old, text)
    return text.replace(old, new)


def add(name, text, check=False):
    documents[name] = {"text": text, **({"careless": careless(text)} if check else {})}


def changed(change):
    return sign(build(change=change))


def replaced(old, new, key="rsa", count=1, **more):
    """Changed before it is signed."""
    text = str(build(**more))
    assert old in text, (old, text)
    return sign(text.replace(old, new, count), key=key)


# Good ones --------------------------------------------------------------------------------------


def good():
    for name, algorithm, digest in (
            ("256", SIG_RSA_SHA256, DIGEST_SHA256), ("384", SIG_RSA_SHA384, DIGEST_SHA384),
            ("512", SIG_RSA_SHA512, DIGEST_SHA512)):
        add(f"good rsa {name}", sign(build(algorithm=algorithm, digest=digest)), check=True)
    for key in "p256", "p384":
        for name, algorithm in ECDSA.items():
            add(f"good {key} {name}", sign(build(algorithm=algorithm), key=key))
    add("good no key info", re.sub(r"<ns1:KeyInfo>.*?</ns1:KeyInfo>", "", sign(build())))
    add("good old key", sign(build(), key="old"))
    add("good foreign key info", sign(build(certificate=keys["attacker"].body())))
    add("good prefix list", replaced(
        f'<ns1:Transform Algorithm="{EXCLUSIVE}" />',
        f'<ns1:Transform Algorithm="{EXCLUSIVE}"><ec:InclusiveNamespaces xmlns:ec="{EXCLUSIVE}" '
        'PrefixList="xs xsi" /></ns1:Transform>'))
    add("good one-time use", changed(
        lambda a: a.conditions.one_time_use.append(saml.OneTimeUse())))
    add("good cdata", replaced(">ann<", "><![CDATA[an]]>n<"))
    add("good other confirmation first", changed(lambda a: a.subject.subject_confirmation.insert(
        0, saml.SubjectConfirmation(method=saml.SCM_SENDER_VOUCHES))))
    text = sign(build(name="ann@example.org.evil.example"))
    add("comment added", swap(text, "ann@example.org.evil", "ann@example.org<!-- x -->.evil"))
    add("comment signed", replaced(
        ">ann@example.org.evil.example<", ">ann@example.org<!-- x -->.evil.example<",
        name="ann@example.org.evil.example"))
    add("comment in value", swap(sign(build()), ">Ann<", ">A<!-- x -->nn<"))


# Forged ones ------------------------------------------------------------------------------------


def split(text):
    signature = re.search(r"<ns1:Signature .*?</ns1:Signature>", text, re.S)
    signature = signature or re.search(r"<ns1:Signature>.*?</ns1:Signature>", text, re.S)
    return text.replace(signature[0], ""), signature[0]


def evil(signature="", last="", id="evil"):
    """An assertion of the attacker's, with a place for a signature and one at the end."""
    text = str(build(name="admin", algorithm=None))
    text = text[text.index("<ns0:Assertion"):].replace(named(text), id)
    text = text.replace("<ns0:Assertion ", f'<ns0:Assertion xmlns:ns1="{DSIG}" ', 1)
    issuer = re.search(r"<ns0:Issuer.*?</ns0:Issuer>", text)[0]
    return text.replace(issuer, issuer + signature).replace(
        "</ns0:Assertion>", last + "</ns0:Assertion>")


DSIG = "http://www.w3.org/2000/09/xmldsig#"
SAMLP = '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="r" Version="2.0">'


def wrapped():
    """The eight places of "On Breaking SAML" (USENIX Security 2012), for an assertion that is the root itself."""
    whole = sign(build())
    whole = whole[whole.index("<ns0:Assertion"):]
    bare, signature = split(whole)
    into = lambda what: signature.replace("</ns1:Signature>", what + "</ns1:Signature>")
    first = re.sub(r"(<ns1:Signature[^>]*>)", lambda m: m[1] + bare, signature, count=1)
    advice = lambda what: f"<ns0:Advice>{what}</ns0:Advice>"
    add("XSW1", evil(into(bare)), check=True)
    add("XSW2", evil(bare + signature), check=True)
    add("XSW3", SAMLP + evil() + whole + "</samlp:Response>", check=True)
    add("XSW4", evil(last=whole), check=True)
    add("XSW5", evil(signature, last=bare), check=True)
    add("XSW6", evil(first), check=True)
    add("XSW7", evil(last=advice(whole)), check=True)
    add("XSW8", evil(into(f"<ns1:Object>{bare}</ns1:Object>")), check=True)
    add("XSW same id", evil(signature, last=advice(bare), id=named(whole)))
    add("XSW same id lower case", evil(
        signature, last=advice(bare.replace(" ID=", " Id=")), id=named(whole)))
    add("XSW xml:id", evil(
        signature, last=advice(bare.replace(" ID=", " xml:id=")), id=named(whole)))
    add("two signatures", whole.replace(
        signature, signature + signature.replace(' Id="Signature1"', "")))
    add("no signature", bare)
    other = split(sign(build(name="admin")))[1]
    add("another's signature", whole.replace(signature, other))
    add("in a response", SAMLP + whole + "</samlp:Response>")


def signatures():
    add("child only", child_only())
    add("empty reference", replaced('URI="#', 'URI="" x="'), check=True)
    add("no reference address", re.sub(r' URI="[^"]*"', "", str(sign(build()))))
    add("reference elsewhere", swap(sign(build()), 'URI="#', 'URI="http://127.0.0.1:9/#'))
    add("reference to a file", swap(sign(build()), 'URI="#', 'URI="file:///etc/hostname#'))
    add("xpointer reference", re.sub(
        'URI="#([^"]*)"', r'''URI="#xpointer(id('\1'))"''', sign(build())))
    add("sha1 signature", sign(build(algorithm=SIG_RSA_SHA1)), check=True)
    add("sha1 digest", sign(build(digest=DIGEST_SHA1)), check=True)
    add("md5 digest", swap(sign(build()), DIGEST_SHA256, MORE + "md5"))
    add("hmac", sign_with_hmac(str(build(algorithm=MORE + "hmac-sha256"))))
    add("hmac by xmldsig", sign_with_hmac(str(build(algorithm=DSIG + "hmac-sha1"))))
    add("foreign key", sign(build(certificate=keys["attacker"].body()), key="attacker"))
    add("foreign key, name of ours", sign(build(), key="attacker"))
    add("short key", sign(build(), key="short"))
    add("inclusive signed info", replaced(
        f'CanonicalizationMethod Algorithm="{EXCLUSIVE}"',
        f'CanonicalizationMethod Algorithm="{INCLUSIVE}"'), check=True)
    add("signed info with comments", replaced(
        f'CanonicalizationMethod Algorithm="{EXCLUSIVE}"',
        f'CanonicalizationMethod Algorithm="{EXCLUSIVE}WithComments"'), check=True)
    add("inclusive transform", replaced(
        f'Transform Algorithm="{EXCLUSIVE}"', f'Transform Algorithm="{INCLUSIVE}"'), check=True)
    add("transform with comments", replaced(
        f'Transform Algorithm="{EXCLUSIVE}"',
        f'Transform Algorithm="{EXCLUSIVE}WithComments"'), check=True)
    add("enveloped alone", replaced(
        f'<ns1:Transform Algorithm="{EXCLUSIVE}" />', ""), check=True)
    xpath = ('<ns1:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ns1:XPath '
             f'xmlns:ns0="{saml.NAMESPACE}">not(ancestor-or-self::ns0:Subject)</ns1:XPath>'
             "</ns1:Transform>")
    add("xpath transform", replaced(
        f'<ns1:Transform Algorithm="{EXCLUSIVE}" />',
        xpath + f'<ns1:Transform Algorithm="{EXCLUSIVE}" />'), check=True)
    add("xslt transform", swap(
        sign(build()), f'<ns1:Transform Algorithm="{EXCLUSIVE}"',
        '<ns1:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"'))
    text = str(build())
    reference = re.search("<ns1:Reference.*?</ns1:Reference>", text)[0]
    add("two references", sign(swap(text, reference, reference * 2)), check=True)
    add("not enveloped", sign(swap(
        text, f'Transform Algorithm="{ENVELOPED}"', f'Transform Algorithm="{EXCLUSIVE}"')))
    text = sign(build())
    add("extra in signed info", swap(
        text, "</ns1:SignedInfo>", '<x:y xmlns:x="urn:x" /></ns1:SignedInfo>'))
    # As long as the space that is allowed.
    add("signature of another space", swap(text, MORE + "rsa", MORE.replace("more", "less") + "rsa"))
    add("object", swap(text, "</ns1:Signature>", "<ns1:Object/></ns1:Signature>"), check=True)
    add("hmac length", swap(
        text, f'<ns1:SignatureMethod Algorithm="{SIG_RSA_SHA256}"/>',
        f'<ns1:SignatureMethod Algorithm="{SIG_RSA_SHA256}"><ns1:HMACOutputLength>8'
        "</ns1:HMACOutputLength></ns1:SignatureMethod>"))
    add("changed name", swap(text, ">ann<", ">admin<"))
    add("changed attribute", swap(text, ">Ann<", ">Bob<"))
    add("added attribute", swap(
        text, "</ns0:AttributeStatement>", '<ns0:Attribute Name="role"><ns0:AttributeValue>admin'
        "</ns0:AttributeValue></ns0:Attribute></ns0:AttributeStatement>"))
    add("instruction added", swap(text, ">ann<", "><?x?>ann<"))
    add("instruction signed", replaced(">ann<", ">a<?x?>nn<"))
    add("instruction before", text.replace("<ns0:Assertion", "<?x?><ns0:Assertion", 1))
    add("id no name", sign(str(build()).replace("id-", "1-")))
    add("no id", re.sub(r' ID="[^"]*"', "", text))


def child_only():
    """A good signature of the issuer, over a part that says nothing of who is signed in."""
    text = str(build())
    statement = re.search("<ns0:AttributeStatement>", text)[0]
    text = text.replace(statement, '<ns0:AttributeStatement ID="part">').replace(
        f'URI="#{named(text)}"', 'URI="#part"')
    source = folder / "child.xml"
    source.write_text(text)
    return run(
        "xmlsec1", "--sign", "--privkey-pem", keys["rsa"].path, "--id-attr:ID",
        saml.NAMESPACE + ":AttributeStatement", source).decode()


def rules():
    def shift(field, seconds):
        def change(a):
            where = data(a) if field == "confirmation" else a.conditions
            name = "not_before" if field == "begin" else "not_on_or_after"
            setattr(where, name, None if seconds is None else instant(seconds))
        return change

    add("wrong audience", sign(build(audience="https://id.example/")))
    add("audience that begins alike", sign(build(audience="https://id.example.evil.example")))
    add("two restrictions", changed(lambda a: a.conditions.audience_restriction.append(
        saml.AudienceRestriction(audience=[saml.Audience(text="https://other.example")]))))
    add("two audiences", changed(lambda a: a.conditions.audience_restriction[0].audience.insert(
        0, saml.Audience(text="https://other.example"))))
    add("no restriction", changed(
        lambda a: setattr(a.conditions, "audience_restriction", [])))
    add("no conditions", changed(lambda a: setattr(a, "conditions", None)))
    add("wrong recipient", sign(build(recipient="https://id.example/token/")))
    add("no recipient", changed(lambda a: setattr(data(a), "recipient", None)))
    add("no confirmation end", changed(shift("confirmation", None)))
    add("confirmation passed", changed(shift("confirmation", -31)))
    add("confirmation within skew", changed(shift("confirmation", -29)))
    add("not before missing", changed(shift("begin", None)))
    add("not on or after missing", changed(shift("end", None)))
    add("ends before it begins", changed(lambda a: (shift("end", 10)(a), shift("begin", 20)(a))))
    add("not yet valid", changed(shift("begin", 31)))
    add("begins within skew", changed(shift("begin", 29)))
    add("expired", changed(lambda a: (shift("end", -31)(a), shift("begin", -600)(a))))
    add("ends within skew", changed(lambda a: (shift("end", -29)(a), shift("begin", -600)(a))))
    add("holder of key", changed(lambda a: setattr(
        a.subject.subject_confirmation[0], "method", saml.SCM_HOLDER_OF_KEY)))
    add("no confirmation", changed(lambda a: setattr(a.subject, "subject_confirmation", [])))
    add("too long", changed(lambda a: (
        shift("end", 7200)(a), shift("confirmation", 3601 + 30)(a))))
    add("issued in the future", changed(lambda a: setattr(a, "issue_instant", instant(31))))
    add("issued long ago", changed(lambda a: setattr(a, "issue_instant", instant(-3400))))
    add("issued a while ago", changed(lambda a: setattr(a, "issue_instant", instant(-3200))))
    add("no instant", changed(lambda a: setattr(a, "issue_instant", "soon")))
    add("local time", changed(lambda a: setattr(
        a.conditions, "not_on_or_after", instant(600).replace("Z", "+00:00"))))
    add("unknown condition", replaced(
        "</ns0:Conditions>", '<x:Tuesday xmlns:x="urn:x" /></ns0:Conditions>'))
    add("unknown condition of SAML", replaced(
        "</ns0:Conditions>", "<ns0:Tuesday /></ns0:Conditions>"))
    add("known condition of another space", replaced(
        "</ns0:Conditions>", '<x:OneTimeUse xmlns:x="urn:x" /></ns0:Conditions>'))
    add("wrong issuer", sign(build(issuer="https://other.example")))
    add("other trusted issuer's key", sign(build(issuer="https://second.example")))
    add("issuer of another format", changed(
        lambda a: setattr(a.issuer, "format", saml.NAMEID_FORMAT_EMAILADDRESS)))
    add("version 1.1", changed(lambda a: setattr(a, "version", "1.1")))
    add("no name", changed(lambda a: setattr(a.subject, "name_id", None)))
    add("empty name", changed(lambda a: setattr(a.subject.name_id, "text", "")))
    add("no subject", changed(lambda a: setattr(a, "subject", None)))
    add("session over", changed(lambda a: setattr(
        a.authn_statement[0], "session_not_on_or_after", instant(-31))))
    add("encrypted attribute", replaced(
        "</ns0:AttributeStatement>",
        "<ns0:EncryptedAttribute /></ns0:AttributeStatement>"))
    add("encrypted name", replaced("<ns0:Subject>", "<ns0:Subject><ns0:EncryptedID />"))
    add("two names", replaced("</ns0:NameID>", "</ns0:NameID><ns0:NameID>admin</ns0:NameID>"))
    add("element in a name", replaced(">ann</ns0:NameID>", ">ann<b /></ns0:NameID>"))


def main():
    for make in good, wrapped, signatures, rules:
        make()
    json.dump({
        "now": NOW, "keys": {name: key.described() for name, key in keys.items()},
        "documents": documents,
    }, sys.stdout)


try:
    main()
finally:
    shutil.rmtree(folder)
