"""A mail server that does as it likes. Its first line of output is its port.

usage: hostile_smtp.py MODE [--certificate FILE --key FILE]
"""

import socketserver
import sys
import threading

MODE = sys.argv[1]


class Handler(socketserver.StreamRequestHandler):
    def say(self, text):
        self.wfile.write(text.encode("latin-1"))

    def handle(self):
        try:
            self.converse()
        except OSError:
            pass

    def converse(self):
        if MODE == "closed-for-mail":
            self.say("554 5.3.2 no mail here today\r\n")
            self.rfile.readline()
            return
        if MODE == "junk":
            self.say("HTTP/1.1 400 Bad Request\r\n\r\n")
            return
        if MODE == "endless-line":
            while True:
                self.say("2" * 65536)
        if MODE == "endless-greeting":
            while True:
                self.say("220-hello\r\n" * 1000)
        self.say("220 hostile ESMTP\r\n")
        sent = b""
        while line := self.rfile.readline():
            word = line.strip().upper()
            if word.startswith(b"EHLO") and MODE == "endless-ehlo":
                while True:
                    self.say("250-SIZE 1\r\n" * 1000)
            elif word.startswith(b"EHLO") and MODE == "no-hello":
                self.say("550 5.7.1 I do not know you\r\n")
            elif word.startswith(b"HELO") and MODE == "no-hello":
                self.say("550 5.7.1 nor you\r\n")
            elif word.startswith(b"EHLO"):
                self.say("250-hostile\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n")
            elif word.startswith(b"STARTTLS"):
                # What stands behind the reply must not be taken for a part of what follows.
                self.say("220 go on\r\n250-hostile\r\n250 AUTH PLAIN\r\n235 welcome\r\n"
                         "250 OK\r\n250 OK\r\n354 go\r\n250 OK\r\n")
                sent = self.rfile.read(1)
                sys.stdout.write(f"{sent in (bytes(), bytes([22]))}\n")
                sys.stdout.flush()
                return
            elif word.startswith(b"RCPT") and MODE == "huge-refusal":
                self.say("550-" + "x" * 400 + "\r\n")
                self.say("550 5.1.1 \x00\x1b[31m" + "x" * 400 + "\r\n")
            elif word.startswith(b"RCPT") and MODE == "odd-code":
                self.say("999 what\r\n")
            elif word.startswith(b"QUIT"):
                self.say("221 bye\r\n")
                return
            else:
                self.say("250 OK\r\n")


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
sys.stdout.write(f"{server.server_address[1]}\n")
sys.stdout.flush()
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
