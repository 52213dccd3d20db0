import EventSourcing
import Identity
import LogTesting
import Testing
import Values

private func givenAccount(_ events: AccountEvent...) -> Scenario {
    let realm = givenRealm().given(registeredAccount(), in: account)
        .given(MailboxEvent.assigned(account), in: mailbox)
    return events.reduce(realm) { $0.given($1, in: account) }
}

@Suite struct `An account` {
    private let register = RegisterAccount(
        account: account, mailbox: mailbox, person: ann, isConfirmed: true)

    @Test func `is made by an administrator, and holds its mailbox`() async throws {
        var decision = Decision()
        decision.append(
            AccountEvent.registered(
                mailbox: mailbox, isConfirmed: true, origin: .administrator, person: ann),
            in: account)
        decision.append(MailboxEvent.assigned(account), in: mailbox)
        try await givenRealm().when(register).then(decision)
    }

    @Test func `is not made twice, for a mailbox that is held, or without a good address`()
        async throws
    {
        try await givenAccount().when(register).thenRejected(.idTaken)
        try await givenRealm().given(MailboxEvent.assigned(client), in: mailbox).when(register)
            .thenRejected(.mailboxTaken)
        var nameless = register
        nameless.person = Person(firstName: "Ann")
        try await givenRealm().when(nameless)
            .thenRejected(.invalid(FieldFault("email", .missing)))
        nameless.person = Person(email: "ann@example.org", firstName: "Ann\u{202E}")
        try await givenRealm().when(nameless)
            .thenRejected(.invalid(FieldFault("first_name", .malformed)))
    }

    @Test func `ends all its sessions when its stamp is rotated`() async throws {
        try await givenAccount().when(RotateSecurityStamp(account: account))
            .then(AccountEvent.stampRotated, in: account)
        try await givenRealm().when(RotateSecurityStamp(account: account))
            .thenRejected(.notFound)
    }

    @Test func `is disabled and enabled, once each`() async throws {
        let (disable, enable) = (DisableAccount(account: account), EnableAccount(account: account))
        try await givenAccount().when(disable).then(AccountEvent.disabled, in: account)
        try await givenAccount(.disabled).when(disable).thenNothing()
        try await givenAccount(.disabled).when(enable).then(AccountEvent.enabled, in: account)
        try await givenAccount().when(enable).thenNothing()
        try await givenRealm().when(disable).thenRejected(.notFound)
        try await givenRealm().when(enable).thenRejected(.notFound)
    }

    @Test func `gives its mailbox up when it is deleted`() async throws {
        var decision = Decision(AccountEvent.deleted, in: account)
        decision.append(MailboxEvent.released(account), in: mailbox)
        let delete = DeleteAccount(account: account)
        try await givenAccount().when(delete).then(decision)
        try await givenAccount(.deleted).when(delete).thenRejected(.notFound)
        try await given().when(delete).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(delete).thenRejected(.realmDisabled)
    }
}

@Suite struct `A session that is ended` {
    @Test func `stays ended, for the reason that came first`() async throws {
        let terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil, scope: [],
            resources: [], factors: [], openedAt: noon, expiresAt: noon, isOffline: false)
        let end = EndSession(session: session, reason: .revoked)
        let open = given(SessionEvent.opened(terms), in: session)
        try await open.when(end).then(SessionEvent.ended(.revoked), in: session)
        try await open.given(SessionEvent.ended(.reuse), in: session).when(end).thenNothing()
        try await given().when(end).thenRejected(.notFound)
    }
}
