import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let other = UUID(high: 51, low: 51)
private let next = UUID(high: 52, low: 52)
private let anna = Person(email: "anna@example.org", firstName: "Ann")

private func moveCode(
    _ byte: UInt8 = 1, of mover: UUID? = account, named name: UUID = code
) throws -> MailboxEvent {
    var issued = IssuedCode(
        id: name, purpose: mover == nil ? .registration : .move, digest: try digest(byte),
        app: nil, issuedAt: noon, expiresAt: noon.adding(seconds: 600), person: anna)
    issued.account = mover
    return .codeIssued(issued)
}

private func givenAnn() -> Scenario {
    givenRealm().given(registeredAccount(), in: account)
        .given(MailboxEvent.assigned(account), in: mailbox)
}

@Suite struct `Asking for a code at a new address` {
    private func request(at now: Timestamp = noon) throws -> RequestMailboxMove {
        RequestMailboxMove(
            account: account, mailbox: other, person: anna, code: code, digest: try digest(1),
            now: now)
    }

    @Test func `requesting a move mails a code to a free address`() async throws {
        try await givenAnn().when(request()).then(try moveCode(), in: other)
    }

    @Test
    func `requesting a move mails nothing to a taken address, too soon, or after many guesses`()
        async throws
    {
        try await givenAnn().given(MailboxEvent.assigned(client), in: other).when(request())
            .thenNothing()
        let mailed = try moveCode()
        let asked = givenAnn().given(mailed, in: other)
        try await asked.when(request(at: noon.adding(seconds: 119))).thenNothing()
        var resting = try givenAnn().given(moveCode(of: session), in: other)
        for _ in 0..<10 {
            resting = resting.given(MailboxEvent.codeRefused(code, at: noon), in: other)
        }
        try await resting.when(request()).thenNothing()
    }

    @Test func `requesting a move is not blocked by other requests for the address`()
        async throws
    {
        for mover in [nil, session] {
            let asked = try givenAnn().given(moveCode(2, of: mover, named: next), in: other)
            try await asked.when(request()).then(moveCode(), in: other)
            // Both are good then.
            let both = asked.given(try moveCode(), in: other)
            let moved = try await both.when(
                MoveMailbox(
                    account: account, addresses: Addresses(mailbox: other), digest: try digest(1),
                    person: anna,
                    next: NextSubjects(mailbox: next, phone: next), now: noon)
            ).result.get()
            #expect(moved.events.contains { $0.name == "account.mailbox_changed" })
        }
    }

    @Test func `requesting a move to an address does not hinder its owner`() async throws {
        var asked = try givenNativeRealm().given(moveCode(of: session), in: other)
        let join = RequestOTP(
            mailbox: other, person: ann, code: next, digest: try digest(3), now: noon)
        try await asked.when(join).then(joinersCode(), in: other)
        // Nor do wrong guesses at the code of whoever wants to move.
        for _ in 0..<10 {
            asked = asked.given(MailboxEvent.codeRefused(code, at: noon), in: other)
        }
        try await asked.when(join).then(joinersCode(), in: other)
        let joined = try await asked.given(joinersCode(), in: other).when(
            RedeemGrant(
                OTPGrant(mailbox: other, digest: try digest(3), account: account),
                GrantRequest(
                    client: client, clientID: "web", proof: .none, session: session, now: noon))
        ).result.get()
        #expect(joined.events.contains { $0.name == "account.registered" })
    }

    private func joinersCode() throws -> MailboxEvent {
        .codeIssued(
            IssuedCode(
                id: next, purpose: .registration, digest: try digest(3), app: nil, issuedAt: noon,
                expiresAt: noon.adding(seconds: 600), person: ann))
    }

    @Test func `requesting a move needs an enabled realm, an active account and an address`()
        async throws
    {
        try await given().when(request()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(request()).thenRejected(.realmDisabled)
        try await givenAnn().given(AccountEvent.disabled(), in: account).when(request())
            .thenRejected(.accountBlocked)
        var wrong = try request()
        wrong.person.email = "x"
        try await givenAnn().when(wrong).thenRejected(
            .invalid(FieldFault("email", .malformed)))
    }
}

@Suite struct `Moving an account to another mailbox` {
    private func move(_ byte: UInt8 = 1) throws -> MoveMailbox {
        MoveMailbox(
            account: account, addresses: Addresses(mailbox: other), digest: try digest(byte),
            person: anna,
            next: NextSubjects(mailbox: next, phone: next), mail: mail, now: noon)
    }

    @Test func `moving to another mailbox takes the code and releases the old one`() async throws {
        var expected = Decision(MailboxEvent.codeRedeemed(code), in: other)
        expected.append(AccountEvent.personChanged(anna), in: account)
        expected.append(
            AccountEvent.mailboxChanged(
                mailbox: other, isConfirmed: true, left: mailbox, mail: mail),
            in: account)
        expected.append(MailboxEvent.released(account, next: next), in: mailbox)
        expected.append(MailboxEvent.assigned(account), in: other)
        try await givenAnn().given(try moveCode(), in: other).when(move()).then(expected)
    }

    @Test func `moving to another mailbox records a wrong guess and takes no other code`()
        async throws
    {
        try await givenAnn().given(try moveCode(), in: other).when(move(2)).then(
            MailboxEvent.codeRefused(code, at: noon), in: other)
        try await givenAnn().when(move()).thenNothing()
        for mover in [nil, session] {
            try await givenAnn().given(moveCode(of: mover), in: other).when(move()).thenNothing()
        }
        // Somebody was faster.
        try await givenAnn().given(moveCode(), MailboxEvent.assigned(client), in: other)
            .when(move()).thenNothing()
        try await givenAnn().given(MailboxEvent.assigned(client), moveCode(), in: other)
            .when(move()).thenNothing()
    }

    @Test
    func `moving to another mailbox needs an enabled realm, an active account and an address`()
        async throws
    {
        try await given().when(move()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(move()).thenRejected(.realmDisabled)
        try await givenAnn().given(AccountEvent.disabled(), in: account).when(move())
            .thenRejected(.accountBlocked)
        var wrong = try move()
        wrong.person.email = "x"
        try await givenAnn().when(wrong).thenRejected(
            .invalid(FieldFault("email", .malformed)))
    }
}
