import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let next = UUID(high: 5, low: 7)
private let month: Int64 = 30 * 86_400

@Suite struct `The deletion of an account` {
    private let schedule = AccountChange.scheduleDeletion(account, mail: code, now: noon)

    private func scheduled(after seconds: Int64 = month) -> AccountEvent {
        .deletionScheduled(due: noon.adding(seconds: seconds), mail: code)
    }

    @Test func `a deletion is announced with the realm's grace period`() async throws {
        try await givenAccount().when(schedule).then(scheduled(), in: account)
        try await givenAccount()
            .given(
                RealmEvent.settingsChanged(["account_deletion_grace": 60]), in: Realm.stream
            ).when(schedule).then(scheduled(after: 60), in: account)
    }

    @Test func `a deletion requested again is not postponed, and an immediate one comes sooner`()
        async throws
    {
        try await givenAccount(scheduled()).when(schedule).thenNothing()
        let atOnce = AccountChange.scheduleDeletion(account, mail: code, isAtOnce: true, now: noon)
        try await givenAccount(scheduled()).when(atOnce)
            .then(AccountEvent.deletionScheduled(due: noon, isAdministrators: true), in: account)
    }

    @Test func `a deletion that an administrator orders takes over from the person's own`()
        async throws
    {
        let asked = AccountEvent.deletionScheduled(
            due: noon.adding(seconds: month), mail: code, base: "https://id.example/keep")
        let keep = AccountChange.keep(account, link: code, now: noon)
        func order(at now: Timestamp = noon) -> AccountChange.Change<NotFound<Account>> {
            AccountChange.scheduleDeletion(account, mail: next, isAdministrators: true, now: now)
        }
        // It is on record, comes no later than what was asked for, and the person's link is worth nothing any more.
        let later = order(at: noon.adding(seconds: 60))
        let ordered = AccountEvent.deletionScheduled(
            due: noon.adding(seconds: month), mail: next, isAdministrators: true)
        try await givenAccount(asked).when(keep).then(AccountEvent.deletionCancelled, in: account)
        try await givenAccount(asked).when(later).then(ordered, in: account)
        try await givenAccount(asked, ordered).when(keep).thenRejected(.linkOver)
        // An order that changes nothing of an administrator's own is none, and a person changes nothing of it.
        try await givenAccount(asked, ordered).when(later).thenNothing()
        let sooner = AccountChange.scheduleDeletion(
            account, mail: code, keepBase: "b", now: noon.adding(seconds: -60))
        try await givenAccount(ordered).when(sooner).thenNothing()
        try await givenAccount(ordered, .deletionCancelled).when(sooner).then(
            AccountEvent.deletionScheduled(
                due: noon.adding(seconds: month - 60), mail: code, base: "b"), in: account)
        try await givenAccount(ordered).when(order(at: noon.adding(seconds: -60))).then(
            AccountEvent.deletionScheduled(
                due: noon.adding(seconds: month - 60), mail: next, isAdministrators: true),
            in: account)
    }

    @Test func `a deletion is not mailed to an unconfirmed mailbox`() async throws {
        try await givenRealm().given(registeredAccount(isConfirmed: false), in: account)
            .when(schedule).then(
                AccountEvent.deletionScheduled(due: noon.adding(seconds: month)), in: account)
    }

    @Test func `a deletion of a missing account is refused`() async throws {
        try await givenRealm().when(schedule).thenRejected(.notFound)
        try await givenAccount(.deleted(subjects: [])).when(schedule).thenRejected(.notFound)
        try await given().when(schedule).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(schedule).thenRejected(.realmDisabled)
    }

    @Test func `a deletion can be cancelled until it is carried out`() async throws {
        let cancel = AccountChange.cancelDeletion(account)
        try await givenAccount(scheduled()).when(cancel)
            .then(AccountEvent.deletionCancelled, in: account)
        try await givenAccount().when(cancel).thenNothing()
        try await givenAccount(scheduled(), .deletionCancelled).when(cancel).thenNothing()
        try await givenAccount(.deleted(subjects: [])).when(cancel).thenRejected(.notFound)
        try await given().when(cancel).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(cancel).thenRejected(.realmDisabled)
    }

    @Test func `a deletion is cancelled by the link in its own notice alone`()
        async throws
    {
        let base = "https://id.acme.example/keep-account?token="
        let asked = AccountEvent.deletionScheduled(
            due: noon.adding(seconds: month), mail: code, base: base)
        let own = AccountChange.scheduleDeletion(account, mail: code, keepBase: base, now: noon)
        try await givenAccount().when(own).then(asked, in: account)
        func keep(_ link: UUID = code, after seconds: Int64 = 0)
            -> AccountChange.Change<AccountChange.KeepRejection>
        {
            AccountChange.keep(account, link: link, now: noon.adding(seconds: seconds))
        }
        try await givenAccount(asked).when(keep()).then(
            AccountEvent.deletionCancelled, in: account)
        try await givenAccount(asked).when(keep(next)).thenRejected(.linkOver)
        try await givenAccount(asked).when(keep(after: month)).thenRejected(.linkOver)
        try await givenAccount(asked, .deletionCancelled).when(keep()).thenRejected(.linkOver)
        try await givenAccount(asked, .deleted(subjects: [])).when(keep()).thenRejected(.linkOver)
        // What somebody else decided, before or after, is not undone by it.
        try await givenAccount(scheduled()).when(keep()).thenRejected(.linkOver)
        try await givenAccount(asked, .deletionScheduled(due: noon, mail: code))
            .when(keep()).thenRejected(.linkOver)
        try await given().when(keep()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(keep()).thenRejected(.realmDisabled)
    }

    @Test func `a deletion that nobody could cancel has no link`() async throws {
        let own = AccountChange.scheduleDeletion(account, mail: code, keepBase: "b", now: noon)
        try await givenRealm().given(registeredAccount(isConfirmed: false), in: account)
            .when(own).then(
                AccountEvent.deletionScheduled(due: noon.adding(seconds: month)), in: account)
        try await givenAccount()
            .given(
                RealmEvent.settingsChanged(["account_deletion_grace": 0]), in: Realm.stream
            ).when(own).then(AccountEvent.deletionScheduled(due: noon, mail: code), in: account)
    }

    @Test func `a deletion locks the account and ends all sessions at once`() async throws {
        var state = Account()
        for event in [registeredAccount(), scheduled()] { state.apply(event) }
        #expect(state.stamp == 1)
        let realm = try givenNativeRealm().given(registeredAccount(), scheduled(), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox)
        let request = RequestOTP(
            mailbox: mailbox, person: ann, code: code, digest: try digest(1), now: noon)
        try await realm.when(request).thenNothing()
        try await realm.given(AccountEvent.deletionCancelled, in: account).when(request)
            .then(issued(.signIn, generation: 1), in: mailbox)
    }
}

@Suite struct `An account whose deletion is due` {
    private func delete(at now: Timestamp = noon) -> DeleteAccount {
        DeleteAccount(account: account, next: NextSubjects(mailbox: next, phone: next), now: now)
    }

    private let due = AccountEvent.deletionScheduled(due: noon)

    @Test func `a due account releases its mailbox and names the keys to destroy`() async throws {
        var decision = Decision(MailboxEvent.released(account, next: next), in: mailbox)
        decision.append(AccountEvent.deleted(subjects: [mailbox]), in: account)
        try await givenAccount(due).when(delete()).then(decision)
        // A disabled realm keeps nobody's data longer.
        try await givenAccount(due).given(RealmEvent.disabled, in: Realm.stream)
            .when(delete()).then(decision)
    }

    @Test func `a due account names its former mailboxes too`() async throws {
        let left = UUID(high: 5, low: 8)
        var decision = Decision(MailboxEvent.released(account, next: next), in: mailbox)
        decision.append(AccountEvent.deleted(subjects: [left, mailbox]), in: account)
        try await givenAccount(
            .mailboxChanged(mailbox: mailbox, isConfirmed: true, left: left), due
        ).when(delete()).then(decision)
    }

    @Test func `an account is not deleted before its time, twice, or without a request`()
        async throws
    {
        let early = Timestamp(microseconds: noon.microseconds - 1)
        try await givenAccount(due).when(delete(at: early)).thenRejected(.notDue)
        try await givenAccount().when(delete()).thenRejected(.notDue)
        try await givenAccount(due, .deletionCancelled).when(delete()).thenRejected(.notDue)
        try await givenAccount(due, .deleted(subjects: [])).when(delete())
            .thenRejected(.notFound)
        try await givenRealm().when(delete()).thenRejected(.notFound)
        try await given().when(delete()).thenRejected(.realmNotFound)
    }

    @Test func `a due account is erased once its keys are destroyed, and only once`() async throws {
        let record = AccountChange.recordErasure(account)
        try await givenAccount(due, .deleted(subjects: [mailbox])).when(record)
            .then(AccountEvent.erased, in: account)
        try await givenAccount(due, .deleted(subjects: [mailbox]), .erased).when(record)
            .thenNothing()
        try await givenAccount(due).when(record).thenRejected(.notDeleted)
    }
}

@Suite struct `A passkey whose account is deleted` {
    private let passkey = UUID(high: 9, low: 9)

    @Test func `a deleted account's passkey is released without a notice`() async throws {
        let release = ReleasePasskey(passkey: passkey, account: account)
        let gone = given(registeredAccount(), AccountEvent.deleted(subjects: []), in: account)
        var decision = Decision(
            PasskeyEvent.removed(account: account, mail: nil), in: passkey)
        decision.release(Passkey.claim(credential().id), by: passkey)
        try await gone.given(enrolled(), in: passkey).when(release).then(decision)
        try await gone.when(release).thenNothing()
        try await gone.given(
            enrolled(), PasskeyEvent.removed(account: account, mail: nil), in: passkey
        ).when(release).thenNothing()
        try await given(registeredAccount(), in: account).given(enrolled(), in: passkey)
            .when(release).thenRejected(.notDeleted)
    }
}

/// The key of an account's mailbox goes with the account. Whoever comes back with the same address must
/// be able to read what is mailed there.
@Suite struct `A mailbox that an account gave up` {
    @Test func `a released mailbox is another subject from then on`() async throws {
        let realm = try givenNativeRealm()
            .given(
                MailboxEvent.assigned(account), MailboxEvent.released(account, next: next),
                in: mailbox)
        let request = RequestOTP(
            mailbox: mailbox, person: ann, code: code, digest: try digest(1), now: noon)
        let verdict = try await realm.when(request)
        verdict.then(Decision(try issued(), in: mailbox, of: next))
        guard case .success(let decision) = verdict.result else { return }
        #expect(decision.events.first?.subject == next)
    }
}

@Suite struct `Opening what is sealed` {
    @Test func `opening sealed fields is recorded, each time under an id of its own`() async throws
    {
        let id = UUID(high: 9, low: 1)
        let record = DisclosureChange.record(id, kind: .person, accounts: [account])
        let made = DisclosureEvent.made(.person, accounts: [account])
        try await given().when(record).then(made, in: id)
        try await given(made, in: id).when(record).thenRejected(.idTaken)
    }

    @Test func `a case file is issued once, and to say the same again changes nothing`()
        async throws
    {
        let id = UUID(high: 9, low: 2)
        let file = IssuedCaseFile(
            about: .account, id: account.description, positions: 12, opened: 3, digest: "AAAA",
            reason: "Incident 4711")
        let issued = CaseFileEvent.issued(file)
        try await given().when(DisclosureChange.issueCaseFile(id, file: file)).then(issued, in: id)
        try await given(issued, in: id).when(DisclosureChange.issueCaseFile(id, file: file))
            .thenNothing()
        var other = file
        other.digest = "BBBB"
        try await given(issued, in: id).when(DisclosureChange.issueCaseFile(id, file: other))
            .thenRejected(.idTaken)
        other.reason = "Incident\n4711"
        try await given().when(DisclosureChange.issueCaseFile(id, file: other)).thenRejected(
            .invalid(FieldFault("reason", .malformed)))
    }

    @Test func `what is opened for a reason is recorded with it, if it can be shown`() async throws
    {
        let id = UUID(high: 9, low: 1)
        func record(_ reason: String) -> DisclosureChange.Change<DisclosureChange.RecordRejection> {
            DisclosureChange.record(id, kind: .person, accounts: [account], reason: reason)
        }
        let made = DisclosureEvent.made(.person, accounts: [account], reason: "Incident 4711")
        try await given().when(record("Incident 4711")).then(made, in: id)
        try await given().when(record("Incident\n4711")).thenRejected(
            .invalid(FieldFault("reason", .malformed)))
        try await given().when(record(String(repeating: "x", count: 301))).thenRejected(
            .invalid(FieldFault("reason", .tooLong(limit: 300))))
    }
}
