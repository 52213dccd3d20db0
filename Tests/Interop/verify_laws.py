#!/usr/bin/env python3
"""Verifies that a server kept its own rules, from an export of its log, with nothing of Urd.

Written from docs/laws.md, which has the sentence of each law. Needs Python 3.9 and its standard library.

    verify_laws.py FILE [--from POSITION] [--json]

FILE is an export (`urd log export`), or - for standard input. Where it begins after position 1, what a law would have to
know of the past is counted as unknown, and never as good. Ends with 0 where every law holds, with 1 where one does not, and
with 2 where the file is no export. That the export is what was signed is for verify_log.py to say; law 40 compares roots alone.
"""

import argparse
import base64
import collections
import hashlib
import json
import sys

# A decision is made before its events are on record: an end that lies between is no violation.
LEEWAY = 60
KEPT_COMMANDS = 1_000_000
SHOWN = 20


class NoExport(Exception):
    """The file is not what it should be."""


class Event:
    __slots__ = ("position", "at", "command", "data", "actor", "stream", "subject", "sealed", "type", "version")

    def __init__(self, position, record):
        self.position = position
        self.at = record["at"] / 1_000_000
        self.command = record["command"]
        self.data = record["data"]
        self.actor = record["meta"].get("actor", "")
        self.stream = record["stream"]
        self.subject = record.get("subject")
        self.sealed = record.get("is_sealed", "sealed" in record)
        self.type = record["type"]
        self.version = record["version"]


class Account:
    def __init__(self):
        self.number = self.moves = self.removals = self.generation = 0
        self.removed = {}
        self.is_disabled = self.is_deleted = self.is_erased = False
        self.due = None


class Client:
    def __init__(self, data):
        self.is_disabled = self.is_deleted = self.is_certified = False
        self.name = data.get("client_id")


class Opened:
    """A session or a browser, as it was opened."""

    def __init__(self, event, places):
        data = event.data
        self.account, self.client = data.get("account"), data.get("client")
        self.number, self.moves = data.get("stamp", 0), data.get("moves", 0)
        self.removals = data.get("removals", 0)
        amr = data["amr"]
        self.rests_on_mailbox = bool(amr) and set(amr) <= {"otp", "mail"}
        self.places = places
        self.above = [data[name] for name in ("exchanged", "opener_session") if name in data]
        self.above += data.get("superiors", [])
        self.opener_client = data.get("opener_client")
        self.expires_at = data["expires_at"]
        self.is_flagship = "*" in data.get("scope", ())
        self.generation, self.parent, self.is_over = 0, None, False


class Proof:
    """A code, link or permission that is given out and used."""

    __slots__ = ("account", "generation", "expires_at", "uses", "refusals", "is_over", "limit")

    def __init__(self, data, generation=None, limit=1):
        self.account = data.get("account")
        self.generation = generation
        self.expires_at = data.get("expires_at")
        self.uses = self.refusals = 0
        self.is_over, self.limit = False, limit


class Laws:
    """The state that the laws share, and what they found. A law is a method that `law` put into the table."""

    table = {}
    by_type = collections.defaultdict(list)
    of_all = []

    def __init__(self, first=1):
        self.first, self.position = first, first - 1
        self.is_whole = first == 1
        self.violations, self.counts = [], collections.Counter()
        self.unknown = collections.Counter()
        self.checked = collections.Counter()  # But for what follows from the types of events.
        self.types = collections.defaultdict(int)
        self.last = None
        # Law 2, 32, 33: of each stream its version and time; commands of late.
        self.streams, self.commands, self.command = {}, collections.OrderedDict(), None
        # Whether the realm is disabled; None: not known.
        self.is_disabled, self.settings = False if self.is_whole else None, {}
        self.accounts, self.clients, self.apps = {}, {}, {}
        self.sessions, self.browsers = {}, {}
        self.things = collections.defaultdict(dict)
        self.erased, self.mails = set(), {}
        self.tree, self.size, self.epoch = [], 0, 0

    def broken(self, number, what, position=None):
        self.counts[number] += 1
        if self.counts[number] <= SHOWN:
            self.violations.append({
                "law": number, "position": self.position if position is None else position, "what": what})

    def missing(self, number, what):
        """Something that must have been there before: a violation, or unknown where the past is."""
        if self.is_whole:
            self.broken(number, what)
        else:
            self.unknown[number] += 1

    def take(self, record):
        self.position += 1
        event = Event(self.position, record)
        self.last = event
        self.types[event.type] += 1
        for check in self.of_all:
            check(self, event)
        for check in self.by_type.get(event.type, ()):
            check(self, event)

    def stands(self, number, kind, id, what):
        """The thing that an event is about, if it is there and not over."""
        thing = self.things[kind].get(id)
        if thing is None:
            self.missing(number, f"{what} was never given out")
        elif thing.is_over:
            self.broken(number, f"{what} was over")
        return thing

    def is_good(self, number, opened, what):
        """Whether what was opened stands under its account's stamp, its clients and what it was opened by."""
        if opened.account is not None:
            account = self.accounts.get(opened.account)
            if account is None:
                self.missing(12, f"{what} is of an account that was never registered")
            else:
                self.is_welcome(10, account, what)
                if account.number != opened.number:
                    self.broken(12, f"{what} is of stamp {opened.number}; the account's is {account.number}")
                elif account.moves != opened.moves and opened.rests_on_mailbox:
                    self.broken(12, f"{what} rests on a mailbox that the account has left")
                for place in opened.places:
                    if account.removed.get(place, 0) > opened.removals:
                        self.broken(12, f"{what} is of a place from which access was removed")
        for client in (opened.client, opened.opener_client):
            if client is None:
                continue
            known = self.clients.get(client)
            if known is None:
                self.missing(13, f"{what} is of a client that was never registered")
            elif known.is_deleted or known.is_disabled:
                self.broken(13, f"{what} is of a client that is {'deleted' if known.is_deleted else 'disabled'}")
            elif opened.is_flagship and client == opened.client and not known.is_certified:
                self.broken(21, f"{what} has scope * and its client is not certified")
        for id in opened.above:
            session = self.sessions.get(id)
            if session is None:
                self.missing(14, f"{what} came of a session that was never opened")
            elif session.is_over:
                self.broken(14, f"{what} came of a session that has ended")

    def is_welcome(self, number, account, what):
        for state, word in ((account.is_deleted, "deleted"), (account.is_disabled, "disabled"),
                            (account.due is not None, "to be deleted")):
            if state:
                self.broken(number, f"{what} is of an account that is {word}")
                return


def law(number, *types):
    """Puts a check into the table; without types it looks at every event."""
    def put(check):
        Laws.table.setdefault(number, []).extend(types)
        if types:
            for name in types:
                Laws.by_type[name].append(check)
        else:
            Laws.of_all.append(check)
        return check
    return put


# The log itself.

BEGINNINGS = {
    "account.registered", "account_identity.chosen", "admin_key.created", "admin_key.refused", "app.created", "app_key.attested",
    "app_method.approval_awaited", "app_method.key_enrolled", "app_method.pin_refused", "app_method.pin_set",
    "approval.requested", "approval.given", "attestation.accepted", "attestation.refused", "browser.opened", "browser.refused",
    "captcha.secret_set", "case_file.issued", "client.registered", "configuration.applied", "connection.begun", "consent.given",
    "delegated_code.issued", "delegated_code.used",
    "delivery.given_up", "device.requested", "device_use.began", "federated_assertion.issued",
    "federated_assertion.redeemed", "federated_device.asserted", "federated_device.signed_in", "finding.raised",
    "finding_rules.set", "host.assigned", "identity.linked", "installation.synchronized", "installation_upstream.bound",
    "integrity_keys.set", "invite.created", "link.issued", "log.loss_accepted", "mail.begun", "mail.deferred",
    "mail.failed", "mail.sent", "mail.requeued", "mailbox.assigned", "mailbox.invited", "mailed_code.issued", "mailed_link.issued",
    "message_gateway.set", "notification.requested", "notification_source.moved", "otp.issued",
    "owner.appointed", "owner.browser_trusted", "owner.invited", "owner.mailbox_vouched", "owner.mailed_codes_changed",
    "owner.onboarded", "owner.move_requested", "owner.device_added", "owner.terms_signed", "passkey.enrolled", "passkey.enrollment_refused",
    "passphrase.derived", "passphrase.hint_requested", "passphrase.imported", "passphrase.refused", "passphrase.set", "personal_data.opened",
    "personal_data.streamed", "provider.configured", "push_provider.set", "pushed_request.used", "realm.created",
    "realm.subject_erased", "registration_token.created", "service_standing.admitted", "service_standing.refused",
    "session.opened", "session.refused", "session_code.issued", "signing_key.published", "ssf_stream.created",
    "subscription.created", "tenant_name.given", "token_claims.set", "totp.offered", "totp.refused",
    "upstream_session.ended", "upstream_session.used", "web_app.registered", "logout_notice.delivered",
    "logout_notice.deferred", "logout_notice.failed", "session.ended", "session.detached",
}


@law(2)
def versions(log, event):
    before = log.streams.get(event.stream)
    if before is None:
        if event.version != 1:
            log.missing(2, f"version {event.version} of stream {event.stream} follows none")
            log.unknown[33] += not log.is_whole
        elif event.type not in BEGINNINGS:
            log.broken(2, f"a stream begins with {event.type}")
        log.streams[event.stream] = [event.version, event.at]
        return
    if event.version != before[0] + 1:
        log.broken(2, f"version {event.version} of stream {event.stream} follows {before[0]}")
    if event.at < before[1]:
        log.broken(33, f"stream {event.stream} runs back by {before[1] - event.at:.6f} s")
    before[0], before[1] = event.version, event.at


@law(32)
def commands(log, event):
    if event.command == log.command:
        return
    if event.command in log.commands:
        log.broken(32, f"command {event.command} had its events at position {log.commands[event.command]}")
    elif not log.is_whole and len(log.commands) < KEPT_COMMANDS:
        log.unknown[32] += 1
    log.command = event.command
    log.commands[event.command] = event.position
    if len(log.commands) > KEPT_COMMANDS:
        log.commands.popitem(last=False)


Laws.table[33] = []


@law(27)
def erased(log, event):
    if event.sealed and event.subject in log.erased:
        log.broken(27, f"{event.type} is sealed for subject {event.subject}, which was erased")
    elif event.sealed and event.subject and not log.is_whole:
        log.unknown[27] += 1


@law(27, "account.erased", "realm.subject_erased")
def erasures(log, event):
    if event.type == "account.erased":
        log.erased.add(event.stream)
    else:
        log.erased.add(event.data["subject"])


# Realms.

@law(3, "realm.disabled", "realm.enabled")
def standing(log, event):
    log.is_disabled = event.type == "realm.disabled"


@law(3, "session.opened", "session.refreshed", "browser.opened", "account.registered", "account.enabled", "otp.issued",
     "otp.redeemed", "otp.confirmed", "link.issued", "link.redeemed", "mailed_code.issued", "mailed_code.redeemed",
     "mailed_link.issued", "mailed_link.used", "passkey.enrolled", "passkey.used", "passphrase.set", "passphrase.derived",
     "totp.confirmed", "totp.used", "recovery_code.used", "consent.given", "device.requested", "device.approved",
     "device.redeemed", "invite.created", "invite.used", "client.registered", "client.certified", "client.updated",
     "session_code.issued", "session_code.used", "delegated_code.issued", "identity.linked", "signing_key.published",
     "subscription.created", "app.created", "notification.requested", "federated_assertion.issued")
def in_a_disabled_realm(log, event):
    if log.is_disabled is None:
        log.unknown[3] += 1
    elif log.is_disabled:
        log.broken(3, f"{event.type} in a realm that is disabled")


@law(3, "realm.settings_changed")
def settings(log, event):
    log.settings.update(event.data["changes"])


# Accounts, mailboxes and who holds what.

@law(10, "account.registered")
def registered(log, event):
    log.accounts[event.stream] = Account()


def account(log, event):
    """The event's account; of one that is not known, nothing is known after the event either."""
    found = log.accounts.get(event.stream)
    if found is None:
        log.missing(10, f"{event.type} of an account that was never registered")
        found = Account()
    return found


ENDS_ALL = ("account.mailbox_changed", "account.disabled", "account.stamp_rotated", "account.deletion_scheduled",
            "account.deleted")
ENDS_PROOFS = (*ENDS_ALL, "account.mailbox_moved", "account.addresses_changed", "account.proofs_ended")


@law(12, *ENDS_ALL)
def stamps(log, event):
    account(log, event).number += 1


@law(7, *ENDS_PROOFS)
def generations(log, event):
    account(log, event).generation += 1


@law(12, "account.mailbox_moved")
def moves(log, event):
    account(log, event).moves += 1


@law(12, "account.access_removed")
def removals(log, event):
    found, number = account(log, event), event.data["removals"]
    if number != found.removals + 1:
        log.missing(12, f"removal of access {number} follows {found.removals}")
    found.removals = number
    data = event.data
    place = next((name, data[name]) for name in ("client", "federated_device", "browser") if name in data)
    if place[0] == "browser":
        place = (*place, data.get("offline", False))
    found.removed[place] = number


@law(28, "account.disabled", "account.enabled", "account.deletion_scheduled", "account.deletion_cancelled", "account.deleted",
     "account.erased")
def life(log, event):
    found = account(log, event)
    if event.type == "account.erased":
        if not found.is_deleted:
            log.missing(28, "an account is erased that was not deleted")
        found.is_erased = True
        return
    if found.is_deleted:
        log.broken(28, f"{event.type} of an account that is deleted")
    if event.type == "account.disabled":
        found.is_disabled = True
    elif event.type == "account.enabled":
        found.is_disabled = False
    elif event.type == "account.deletion_scheduled":
        found.due = event.data["due"]
    elif event.type == "account.deletion_cancelled":
        if found.due is None:
            log.missing(28, "a deletion is cancelled that was not scheduled")
        found.due = None
    else:
        found.is_deleted, found.due = True, None


def held(number, thing, taken, released, holder=lambda event: event.data.get("account")):
    """A thing has one holder at a time: the stream is the thing's."""
    @law(number, taken, released)
    def holding(log, event):
        holders, who = log.things[taken], holder(event)
        if event.type == taken:
            if event.stream in holders:
                log.broken(number, f"{thing} is given to {who} while {holders[event.stream]} holds it")
            elif event.version > 1:
                log.unknown[number] += not log.is_whole
            holders[event.stream] = who
        elif event.stream not in holders:
            log.missing(number, f"{thing} is released that nobody holds")
        elif holders.pop(event.stream) != who and who is not None:
            log.broken(number, f"{thing} is released by {who}, who does not hold it")


held(4, "a mailbox", "mailbox.assigned", "mailbox.released")
held(34, "a host", "host.assigned", "host.released", lambda event: event.data.get("realm"))
held(35, "an upstream identity", "identity.linked", "identity.unlinked")


# What is given out, and used once.

def used_up(log, number, kind, id, at, what):
    proof = log.stands(number, kind, id, what)
    if proof is None:
        return None
    proof.uses += 1
    if proof.limit is not None and proof.uses > proof.limit:
        log.broken(number, f"{what} was used before")
    if proof.expires_at is not None and at > proof.expires_at + LEEWAY:
        log.broken(number, f"{what} was used {at - proof.expires_at:.0f} s after its end")
    if proof.account is not None and proof.generation is not None:
        owner = log.accounts.get(proof.account)
        if owner is None:
            log.missing(7, f"{what} is of an account that was never registered")
        elif owner.generation != proof.generation:
            log.broken(7, f"{what} is of generation {proof.generation}; the account's is {owner.generation}")
    return proof


@law(5, "otp.issued")
def code_issued(log, event):
    data = event.data
    proof = Proof(data, data.get("generation", 0))
    log.things["otp"][data["otp"]] = proof
    twin = log.things["otp"].get(data.get("repeats"))
    if twin is not None and twin.uses:
        log.broken(5, "a code is given again that was used")


@law(5, "otp.refused")
def code_refused(log, event):
    proof = log.things["otp"].get(event.data["otp"])
    if proof is None:
        log.missing(5, "a code was guessed that was never given out")
    else:
        proof.refusals += 1


@law(5, "otp.redeemed")
def code_redeemed(log, event):
    proof = used_up(log, 5, "otp", event.data["otp"], event.at, "a mailed code")
    most = max(10 if log.apps else 0, log.settings.get("otp_attempts") or 3)
    if proof is not None and proof.refusals >= most:
        # Settings and apps may stand before the first position.
        log.missing(5, f"a mailed code was used after {proof.refusals} wrong ones")


def once(number, what, kind, given, used, ended=(), named=None, generation=False, limit=lambda data: 1):
    """A thing is given out, used at most so often within its life, and not after its end."""
    def id(event):
        return event.data[named] if named else event.stream

    @law(number, given)
    def giving(log, event):
        if id(event) in log.things[kind]:
            log.broken(number, f"{what} is given out twice")
        log.things[kind][id(event)] = Proof(
            event.data, event.data.get("generation", 0) if generation else None, limit(event.data))

    @law(number, used)
    def using(log, event):
        used_up(log, number, kind, id(event), event.at, what)

    if ended:
        @law(number, *ended)
        def ending(log, event):
            proof = log.stands(number, kind, id(event), what)
            if proof is not None:
                proof.is_over = True


once(6, "a magic link", "link", "link.issued", "link.redeemed", named="link", generation=True)
once(6, "a mailed link", "mailed_link", "mailed_link.issued", "mailed_link.used", named="mail", generation=True)
once(5, "a second factor's code", "mailed_code", "mailed_code.issued", "mailed_code.redeemed", named="mail", generation=True)
once(6, "an invitation", "invite", "invite.created", "invite.used", ("invite.revoked",))
once(6, "a session code", "session_code", "session_code.issued", "session_code.used")


@law(6, "delegated_code.issued", "delegated_code.used")
def delegated(log, event):
    codes = log.things["delegated_code"]
    # A token of the provider's own is used without having been given out here.
    if event.type == "delegated_code.issued" or event.version == 1:
        codes[event.stream] = Proof(event.data)
    if event.type == "delegated_code.used":
        used_up(log, 6, "delegated_code", event.stream, event.at, "a delegated code")


once(6, "a device code", "device", "device.requested", "device.redeemed", ("device.denied",))
once(6, "a registration token", "registration_token", "registration_token.created", "registration_token.used",
     ("registration_token.revoked",), limit=lambda data: data["uses"])


@law(6, "pushed_request.used")
def pushed(log, event):
    if event.version != 1:
        log.broken(6, "a pushed request was used before")


@law(6, "device.approved")
def approved(log, event):
    proof = log.stands(6, "device", event.stream, "a device code")
    if proof is not None:
        if proof.refusals:
            log.broken(6, "a device code was approved before")
        proof.refusals = 1


# Clients and apps.

@law(13, "client.registered", "client.adopted")
def client_registered(log, event):
    if event.type == "client.registered":
        log.clients[event.stream] = Client(event.data)


def client(log, event):
    found = log.clients.get(event.stream)
    if found is None:
        log.missing(13, f"{event.type} of a client that was never registered")
        found = Client({})
    return found


@law(13, "client.disabled", "client.enabled", "client.deleted", "client.updated", "client.secret_rotated")
def client_life(log, event):
    found = client(log, event)
    if found.is_deleted:
        log.broken(13, f"{event.type} of a client that is deleted")
    if event.type == "client.disabled":
        found.is_disabled = True
    elif event.type == "client.enabled":
        found.is_disabled = False
    elif event.type == "client.deleted":
        found.is_deleted = True


@law(21, "client.certified", "client.certification_revoked")
def certification(log, event):
    found = client(log, event)
    if found.is_deleted and event.type == "client.certified":
        log.broken(21, "a client is certified that is deleted")
    found.is_certified = event.type == "client.certified"


@law(10, "app.created", "app.updated", "app.deleted")
def app_life(log, event):
    if event.type == "app.created":
        log.apps[event.stream] = True
    elif not log.apps.get(event.stream):
        log.missing(10, f"{event.type} of an app that is not there")
    if event.type == "app.deleted":
        log.apps[event.stream] = False


# Sessions and browsers.

@law(10, "session.opened")
def session_opened(log, event):
    data = event.data
    places = [("client", data["client"])]
    if "federated_device" in data:
        places.append(("federated_device", data["federated_device"]))
    if "opener_client" in data:
        places.append(("client", data["opener_client"]))
    if "browser" in data:
        places.append(("browser", data["browser"], data["offline"]))
    opened = log.sessions[event.stream] = Opened(event, places)
    log.is_good(10, opened, "a session that is opened")
    app = data.get("app")
    if app is not None and not log.apps.get(app):
        if app in log.apps:
            log.broken(10, "a session is opened in an app that is deleted")
        else:
            log.missing(10, "a session is opened in an app that was never made")
    if "browser" in data:
        # Another sign-in of the account in the same browser goes on with its line, named by the first one.
        line = log.things["line"].get(data["browser"])
        browser = log.browsers.get(data["browser"], line)
        if browser is None:
            log.missing(14, "a session came of a browser that was never opened")
        else:
            if browser.is_over and (line is None or line.is_over):
                log.broken(14, "a session came of a browser that was signed out")
            if browser.account != data.get("account"):
                log.broken(14, "a session came of a browser in which another account is signed in")


@law(23, "session.opened", "session.refreshed")
def below(log, event):
    opened = log.sessions.get(event.stream)
    for id in opened.above if opened else ():
        session = log.sessions.get(id)
        if session is not None and event.at > session.expires_at + LEEWAY:
            log.broken(23, f"{event.type} below a session whose life ended {event.at - session.expires_at:.0f} s before")


@law(8, "session.refreshed", "session.ended", "session.detached")
def session_goes_on(log, event):
    session = log.sessions.get(event.stream)
    if session is None:
        log.missing(8, f"{event.type} of a session that was never opened")
        return
    if session.is_over:
        log.broken(8, f"{event.type} of a session that has ended")
    if event.type == "session.ended":
        session.is_over = True
    elif event.type == "session.refreshed":
        if event.at > session.expires_at + LEEWAY:
            log.broken(8, f"a session is refreshed {event.at - session.expires_at:.0f} s after its end")
        log.is_good(12, session, "a session that is refreshed")


@law(9, "session.refreshed")
def refreshed(log, event):
    session, generation = log.sessions.get(event.stream), event.data["generation"]
    if session is None:
        log.missing(9, "a session is refreshed that was never opened")
        return
    if generation == session.generation:
        return
    parent = event.data.get("parent", generation - 1)
    if generation != session.generation + 1:
        log.broken(9, f"refresh token {generation} follows {session.generation}")
    elif parent not in (session.generation, session.parent):
        log.broken(9, f"refresh token {generation} came of {parent}: neither the leaf nor the token before it")
    session.generation, session.parent = generation, parent


@law(14, "browser.opened")
def browser_opened(log, event):
    data = event.data
    places = [("client", data["opener_client"])] if "opener_client" in data else []
    opened = log.browsers[event.stream] = Opened(event, places)
    log.is_good(14, opened, "a browser that is signed in")
    if "line" in data:
        log.things["line"][data["line"]] = opened


@law(14, "browser.ended")
def browser_ended(log, event):
    browser = log.browsers.get(event.stream)
    if browser is None:
        log.missing(14, "a browser is signed out that was never opened")
    else:
        browser.is_over = True


# Passkeys, passphrases, second factors.

def possession(number, what, kind, given, used, removed, renewed=()):
    """A thing of an account that is there between two events, and used only then."""
    @law(number, *given, *used, *removed, *renewed)
    def possessing(log, event):
        things, name = log.things[kind], event.stream
        if event.type in given:
            things[name] = event.data.get("account")
            return
        if name not in things:
            log.missing(number, f"{event.type}: there is no {what}")
        elif event.type in removed:
            del things[name]
        elif event.type in used:
            owner = log.accounts.get(things[name])
            if owner is not None:
                log.is_welcome(number, owner, f"a {what} that is used")


possession(15, "passkey", "passkey", ("passkey.enrolled",), ("passkey.used",), ("passkey.removed",), ("passkey.renamed",))
possession(19, "passphrase", "passphrase", ("passphrase.set", "passphrase.derived"), ("passphrase.used",),
           ("passphrase.removed",), ("passphrase.hint_changed",))
possession(17, "second factor", "totp", ("totp.confirmed",), ("totp.used",), (), ("recovery_code.used",))


@law(17, "totp.offered", "totp.removed")
def factor_removed(log, event):
    if event.type == "totp.removed":
        log.things["totp"].pop(event.stream, None)
        log.things["recovery"].pop(event.stream, None)


@law(17, "totp.confirmed", "totp.used")
def factor_steps(log, event):
    steps, step = log.things["step"], event.data["step"]
    if event.type == "totp.used" and step <= steps.get(event.stream, -1):
        log.broken(17, f"a code of step {step} is used after one of step {steps[event.stream]}")
    steps[event.stream] = step


@law(17, "totp.confirmed", "recovery_codes.renewed", "recovery_code.used")
def recovery(log, event):
    codes = log.things["recovery"]
    if event.type != "recovery_code.used":
        codes[event.stream] = set(event.data["recovery_codes"])
        return
    digest = event.data["digest"]
    # Without a second factor there are none, which was said above.
    if digest in codes.get(event.stream, ()):
        codes[event.stream].discard(digest)
    elif event.stream in codes:
        log.broken(17, "a recovery code is used that is none, or was used before")


@law(22, "app_key.attested", "app_key.used")
def app_key(log, event):
    counters = log.things["app_key"]
    if event.type == "app_key.attested":
        counters[event.stream] = 0
    elif event.stream not in counters:
        log.missing(22, "a device's key is used that was never attested")
    else:
        if event.data["counter"] <= counters[event.stream]:
            log.broken(22, f"a device's assertion has number {event.data['counter']} after {counters[event.stream]}")
        counters[event.stream] = event.data["counter"]


# Keys, administrators, disclosures.

@law(24, "signing_key.published", "signing_key.activated", "signing_key.retired", "signing_key.removed")
def signing_keys(log, event):
    phases, kid = log.things["signing_key"], event.data["kid"]
    phase, now = event.type.rpartition(".")[2], phases.get(kid)
    wanted = {"published": (None,), "activated": ("published",), "retired": ("activated",),
              "removed": ("retired",)}[phase]
    if now not in wanted:
        if now is None:
            log.missing(24, f"a signing key is {phase} that was never published")
        else:
            log.broken(24, f"a signing key is {phase} that is {now}")
    phases[kid] = phase


@law(25, "admin_key.created", "admin_key.revoked")
def admin_keys(log, event):
    keys = log.things["admin_key"]
    if event.type == "admin_key.created":
        keys[event.stream] = True
    else:
        if not keys.get(event.stream):
            log.missing(25, "an admin key is revoked that is not there")
        keys[event.stream] = False


@law(25)
def acts(log, event):
    # Keys are events of the system realm: what they do elsewhere is checked in that realm's log alone.
    if event.actor.startswith("admin:"):
        keys = log.things["admin_key"]
        if keys and keys.get(event.actor[6:]) is False and event.type != "admin_key.revoked":
            log.broken(25, f"{event.type} by an admin key that was revoked")


@law(26, "case_file.issued")
def opened(log, event):
    if not event.data.get("reason", "").strip():
        log.broken(26, f"{event.type} without a reason")


@law(36, "case_file.issued")
def case_files(log, event):
    if event.data["positions"] >= event.position:
        log.broken(36, f"a case file names {event.data['positions']} positions; there were {event.position - 1}")


@law(29, "finding.raised", "finding.escalated", "finding.closed")
def findings(log, event):
    found = log.things["finding"]
    if event.type == "finding.raised":
        if event.stream in found:
            log.broken(29, "a finding is raised twice")
        found[event.stream] = True
    elif not found.get(event.stream):
        if event.stream in found:
            log.broken(29, f"{event.type} of a finding that is closed")
        else:
            log.missing(29, f"{event.type} of a finding that was never raised")
    evidence = event.data.get("positions", [])
    if event.type == "finding.escalated":
        evidence = [event.data["position"]]
    for position in evidence:
        if not 1 <= position < event.position:
            log.broken(29, f"a finding rests on position {position}, which does not lie before it")
    if event.type == "finding.closed":
        found[event.stream] = False


@law(37, "log.loss_accepted")
def losses(log, event):
    data = event.data
    if data["head"] >= event.position or data["sealed"] > data["head"]:
        log.broken(37, f"a loss is accepted where the log is said to end at {data['head']}, "
                   f"sealed up to {data['sealed']}")


# Subscribers and mails.

@law(31, "subscription.created", "subscription.deleted", "subscription.changed", "subscription.disabled",
     "subscription.failing", "subscription.halted", "subscription.paused", "subscription.replayed", "subscription.resumed",
     "subscription.secret_rotated", "subscription.tested")
def subscriptions(log, event):
    things = log.things["subscription"]
    if event.type == "subscription.created":
        things[event.stream] = True
        return
    if not things.get(event.stream):
        if event.stream in things:
            log.broken(31, f"{event.type} of a subscription that is deleted")
        else:
            log.missing(31, f"{event.type} of a subscription that was never made")
    if event.type == "subscription.deleted":
        things[event.stream] = False


@law(30, "mail.begun", "mail.delivered", "mail.undelivered")
def mails(log, event):
    mails = log.mails
    if event.type == "mail.begun":
        mails[event.stream] = mails.get(event.stream, 0) + 1
        if event.data["attempt"] != mails[event.stream]:
            log.missing(30, f"attempt {event.data['attempt']} at a mail is its {mails[event.stream]}.")
    elif event.stream not in mails:
        log.missing(30, f"{event.type} of a mail that was never begun")


# What is there between two events, and is spoken of only then.

def presence(number, what, kind, begins, ends, others, named=None):
    @law(number, *begins, *ends, *others)
    def present(log, event):
        things = log.things[kind]
        name = event.data[named] if named else event.stream
        if event.type in begins:
            things[name] = True
        elif not things.get(name):
            if name in things:
                log.broken(number, f"{event.type}: {what} is over")
            else:
                log.missing(number, f"{event.type}: there is no {what}")
        if event.type in ends:
            things[name] = False


presence(20, "consent", "consent", ("consent.given",), ("consent.withdrawn",), ())
presence(41, "PIN", "pin", ("app_method.pin_set",), ("app_method.pin_removed",), ("app_method.pin_used",))
presence(41, "device's key", "device_key", ("app_method.key_enrolled",), ("app_method.key_removed",), (), "key")
presence(42, "stream of signals", "ssf_stream", ("ssf_stream.created",), ("ssf_stream.deleted",),
         ("ssf_stream.changed", "ssf_stream.replayed", "ssf_stream.status_changed", "ssf_stream.subject_added",
          "ssf_stream.subject_removed"))
presence(43, "web app", "web_app", ("web_app.registered",), ("web_app.removed",), ("web_app.updated",))
presence(44, "notification", "notification", ("notification.requested",), ("notification.superseded",),
         ("notification.mailed", "notification.pushed"))


@law(45, "upstream_session.ended", "upstream_session.used")
def upstream(log, event):
    ended = log.things["upstream"]
    if event.type == "upstream_session.ended":
        ended[event.stream] = True
    elif event.stream in ended:
        log.broken(45, "a provider's session opens something after its end")
    elif event.version > 1:
        log.unknown[45] += not log.is_whole


# The tree.

def join(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def grow(log, line):
    node, size, tree = hashlib.sha256(b"\x00" + line).digest(), log.size, log.tree
    log.size = size + 1
    while size & 1:
        node = join(tree.pop(), node)
        size >>= 1
    tree.append(node)


def root(log):
    node = None
    for part in reversed(log.tree):
        node = part if node is None else join(part, node)
    return node


Laws.table[40], Laws.table[1] = [], []


def checkpoint(log, note):
    lines = note.split("\n")
    size, epoch = int(lines[1]), log.epoch
    for line in lines[3:]:
        if line.startswith("epoch "):
            epoch = int(line[6:])
    log.checked[1] += 1
    if epoch < log.epoch:
        log.broken(1, f"a checkpoint of epoch {epoch} follows one of epoch {log.epoch}")
    log.epoch = epoch
    if not log.is_whole or size != log.size:
        log.unknown[40] += 1
        return
    log.checked[40] += 1
    if base64.b64decode(lines[2]) != root(log):
        log.broken(40, f"the checkpoint of size {size} has another root")


def at_the_end(log):
    """What must have been done by the time of the last event."""
    if log.last is None:
        return
    for id, found in log.accounts.items():
        if found.due is not None and found.due + 86_400 < log.last.at and not log.is_disabled:
            log.broken(28, f"account {id} was to be deleted {log.last.at - found.due:.0f} s ago")


def read(log, lines):
    decode = json.JSONDecoder().decode
    for number, line in enumerate(lines, 1):
        line = line.rstrip(b"\n")
        if not line:
            continue
        try:
            value = decode(str(line, "utf-8"))
            if "checkpoint" in value:
                checkpoint(log, value["checkpoint"])
            elif "type" in value:
                log.take(value)
                grow(log, line)
            elif number != 1:
                raise KeyError("type")
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise NoExport(f"line {number} is not of an export: {error!r}") from error
    at_the_end(log)
    return log


def checked(log, number):
    """How often a law looked at an event or a checkpoint."""
    types = set(Laws.table[number])
    events = sum(log.types[name] for name in types) if types else log.position - log.first + 1
    return log.checked[number] if number in (1, 40) else events


def result(log):
    broken = sorted(log.counts)
    return {
        "from": log.first, "to": log.position, "laws": len(Laws.table), "broken": broken,
        "violations": log.violations, "counts": dict(log.counts),
        "checked": {number: checked(log, number) for number in sorted(Laws.table)},
        "unknown": {number: count for number, count in sorted(log.unknown.items()) if count},
        "unread": sorted(set(log.types) - set(Laws.by_type)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    log = Laws(asked.first)
    try:
        if asked.file == "-":
            read(log, sys.stdin.buffer)
        else:
            with open(asked.file, "rb") as file:
                read(log, file)
    except (NoExport, OSError) as error:
        print(f"{error}", file=sys.stderr)
        return 2
    found = result(log)
    if asked.json:
        print(json.dumps(found, indent=2))
    else:
        for violation in found["violations"]:
            print(f"law {violation['law']}, position {violation['position']}: {violation['what']}")
        for number, count in found["unknown"].items():
            print(f"law {number}: unknown {count} times, before position {log.first}")
        print(f"{len(Laws.table) - len(found['broken'])} of {len(Laws.table)} laws hold "
              f"over positions {log.first} to {log.position}")
    return 1 if found["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
