"""A mail server for tests: takes mails, refuses some, and says on its standard output what it took.

usage: smtp_server.py [--security none|starttls|tls] [--certificate FILE --key FILE]
                      [--user NAME --password PASSWORD] [--hang STAGE] [--close STAGE] [--port PORT]

The first line that it prints is its port. Each mail is one line of JSON. It ends with its standard
input. Recipients whose name begins with a reply code, as in 450-later@example.org, are refused
with that code; senders likewise; a message whose subject begins with a code is refused after DATA.
"""

import argparse
import asyncio
import base64
import json
import logging
import ssl
import sys
import threading
import time
import warnings

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword, SMTP

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

parser = argparse.ArgumentParser()
parser.add_argument("--security", default="none")
parser.add_argument("--certificate")
parser.add_argument("--key")
parser.add_argument("--user")
parser.add_argument("--password")
parser.add_argument("--hang")
parser.add_argument("--close")
parser.add_argument("--port", type=int, default=0)
options = parser.parse_args()

REPLIES = {
    "450": "450 4.2.1 the mailbox is busy",
    "421": "421 4.3.2 closing down",
    "550": "550 5.1.1 no such user here",
    "552": "552 5.2.2 the mailbox is full",
    "530": "530 5.7.0 authentication required",
}


def reply(text):
    return REPLIES.get((text or "")[:3])


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def misbehave(stage, server):
    if options.hang == stage:
        time.sleep(3600)
    if options.close == stage:
        server.transport.abort()


class Handler:
    async def handle_MAIL(self, server, session, envelope, address, mail_options):
        misbehave("mail", server)
        if refusal := reply(address):
            return refusal
        envelope.mail_from = address
        envelope.mail_options.extend(mail_options)
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        misbehave("rcpt", server)
        if refusal := reply(address):
            return refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_QUIT(self, server, session, envelope):
        misbehave("quit", server)
        return "221 Bye"

    async def handle_DATA(self, server, session, envelope):
        misbehave("data", server)
        content = envelope.original_content
        for line in content.split(b"\r\n\r\n", 1)[0].split(b"\r\n"):
            if line.lower().startswith(b"subject:"):
                if refusal := reply(line[8:].strip().decode("latin-1")):
                    return refusal
        say({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "options": envelope.mail_options,
            "hello": session.host_name,
            "encrypted": session.ssl is not None or options.security == "tls",
            "login": session.auth_data.decode() if session.authenticated else None,
            "content": base64.b64encode(content).decode(),
        })
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    taken = (
        isinstance(data, LoginPassword)
        and data.login.decode() == options.user
        and data.password.decode() == options.password
    )
    return AuthResult(success=taken, handled=False, auth_data=options.user.encode() if taken else None)


class Server(Controller):
    def factory(self):
        settings = dict(data_size_limit=1 << 20, enable_SMTPUTF8=True, ident="test", timeout=60)
        if options.security == "starttls":
            settings.update(tls_context=self.tls, require_starttls=True)
        if options.user:
            settings.update(
                authenticator=authenticate,
                auth_require_tls=options.security == "starttls",
                auth_required=True)
        if options.close == "greeting" or options.hang == "greeting":
            return Silent(Handler(), **settings)
        return SMTP(Handler(), **settings)


class Silent(SMTP):
    def connection_made(self, transport):
        if options.close == "greeting":
            transport.abort()


tls = None
if options.security != "none":
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(options.certificate, options.key)


def main():
    server = Server(
        Handler(), hostname="127.0.0.1", port=options.port,
        ssl_context=tls if options.security == "tls" else None)
    server.tls = tls
    # The controller would connect to itself to see that it works, and port 0 is no address.
    loop = server.loop
    asyncio.set_event_loop(loop)
    listening = loop.run_until_complete(
        loop.create_server(server.factory, host="127.0.0.1", port=options.port,
                           ssl=tls if options.security == "tls" else None))
    say(listening.sockets[0].getsockname()[1])

    def wait():
        sys.stdin.read()
        loop.call_soon_threadsafe(loop.stop)

    threading.Thread(target=wait, daemon=True).start()
    loop.run_forever()


main()
