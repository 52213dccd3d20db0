import EventSourcing
import Identity
import LogTesting
import Testing
import Values

private let owner = Owned.owner
private let other = UUID(high: 71, low: 1)
private let moveLink = UUID(high: 71, low: 2)
private let next = UUID(high: 71, low: 3)
private let moved = Person(email: "camille@example.net", firstName: "Camille")
private let base = "https://id.example.org/settings/email/confirm?token="
private let now = Owned.now

private func request(
    _ proof: RequestOwnerMove.Proof = .passphrase(.right(hash: "scrypt"))
) throws -> RequestOwnerMove {
    RequestOwnerMove(
        proof, to: other, person: moved, code: moveLink, digest: try digest(1), base: base, now: now
    )
}

private func mailed() throws -> MailboxEvent {
    var issued = IssuedCode(
        id: moveLink, purpose: .move, digest: try digest(1), app: nil, issuedAt: now,
        expiresAt: now.adding(seconds: RequestOwnerMove.lifetime), person: moved)
    issued.base = base
    issued.account = owner
    return .codeIssued(issued)
}

private let pending = OwnerEvent.moveRequested(PendingMove(mailbox: other, code: moveLink))

@Suite struct `An owner who wants to move to another mailbox` {
    @Test func `an owner who moves is mailed a link to the new mailbox for the passphrase`()
        async throws
    {
        var expected = Decision(try mailed(), in: other, of: other)
        expected.append(pending, in: Owner.stream)
        try await givenOwner().when(request()).then(expected)
        let wrong = try await givenOwner().when(
            request(.passphrase(.wrong(hash: "scrypt")))
        ).result.get()
        #expect(wrong.events.map(\.name) == ["passphrase.refused"])
        let unset = try await givenOwner().when(request(.passphrase(.nothing))).result.get()
        #expect(unset.events.isEmpty)
    }

    @Test func `an owner who moves is mailed the link again while the move is open, nowhere else`()
        async throws
    {
        let waiting = try await givenOwner(Owned.onboarded + [pending])
        let again = try await waiting.when(request(.again)).result.get()
        #expect(again.events.map(\.name) == ["otp.issued", "owner.move_requested"])
        try await givenOwner().when(request(.again)).thenRejected(.noMove)
        var elsewhere = try request(.again)
        elsewhere.mailbox = Owned.mailbox
        try await waiting.when(elsewhere).thenRejected(.noMove)
    }

    @Test func `an owner who moves learns nothing of who has an address`() async throws {
        let taken = try await givenOwner().given(MailboxEvent.assigned(client), in: other)
        try await taken.when(request()).thenNothing()
    }

    @Test func `an owner who moves needs an enabled realm, ownership and a valid address`()
        async throws
    {
        try await given().when(request()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(request()).thenRejected(.realmDisabled)
        try await givenRealm().when(request()).thenRejected(.noOwner)
        try await givenOwner([.appointed(owner, token: Owned.token)]).when(request())
            .thenRejected(.noOwner)
        var wrong = try request()
        wrong.person.email = "x"
        try await givenOwner().when(wrong).thenRejected(.invalid(FieldFault("email", .malformed)))
    }
}

@Suite struct `An owner who opens the link to another mailbox` {
    private func confirm(_ byte: UInt8 = 1, at moment: Timestamp = now) throws -> ConfirmOwnerMove {
        ConfirmOwnerMove(
            to: other, code: moveLink, digest: try digest(byte), person: moved, nextSubject: next,
            mail: Owned.mail, now: moment)
    }

    private func waiting(_ more: OwnerEvent...) async throws -> Scenario {
        try await givenOwner(Owned.onboarded + [pending] + more).given(try mailed(), in: other)
            .given(MailboxEvent.assigned(owner), in: Owned.mailbox)
    }

    @Test func `an owner who opens the move link moves there and stays signed in`() async throws {
        let decision = try await waiting().when(confirm()).result.get()
        #expect(
            decision.events.map(\.name) == [
                "otp.redeemed", "account.person_changed", "account.mailbox_moved",
                "mailbox.released", "mailbox.assigned", "owner.move_ended",
            ])
        var account = Account()
        account.apply(
            .registered(
                mailbox: Owned.mailbox, isConfirmed: true, origin: .administrator,
                person: Person(email: "c@example.org")))
        let stamp = account.stamp
        account.apply(.mailboxMoved(mailbox: other, left: Owned.mailbox))
        #expect(account.mailbox == other && account.isConfirmed)
        #expect(account.stamp == SecurityStamp(number: stamp.number, moves: stamp.moves + 1))
    }

    @Test func `an owner who opens an expired move link does not move`() async throws {
        try await waiting(.moveEnded(code: moveLink)).when(confirm()).thenRejected(.linkOver)
        try await waiting().when(confirm(2)).thenRejected(.linkOver)
        let late = now.adding(seconds: RequestOwnerMove.lifetime)
        try await waiting().when(confirm(at: late)).thenRejected(.linkOver)
        try await waiting().given(MailboxEvent.assigned(client), in: other).when(confirm())
            .thenRejected(.linkOver)
        try await waiting().given(AccountEvent.disabled(), in: owner).when(confirm())
            .thenRejected(.linkOver)
        let newer = OwnerEvent.moveRequested(PendingMove(mailbox: next, code: moveLink))
        try await waiting(newer).when(confirm()).thenRejected(.linkOver)
        try await given().when(confirm()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(confirm()).thenRejected(.realmDisabled)
        var wrong = try confirm()
        wrong.person.email = nil
        try await waiting().when(wrong).thenRejected(.invalid(FieldFault("email", .missing)))
    }

    @Test func `an owner who cancels a move does not move by its link`() async throws {
        try await waiting().when(OwnerChange.cancelMove()).then(
            OwnerEvent.moveEnded(code: moveLink), in: Owner.stream)
        try await givenOwner().when(OwnerChange.cancelMove()).thenNothing()
        try await given().when(OwnerChange.cancelMove()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(OwnerChange.cancelMove()).thenRejected(.realmDisabled)
    }
}

@Suite struct `A substitute for a mailed code` {
    private let needed = Owned.onboarded + [.mailedCodesChanged(isNeeded: true)]
    private let code = TimedName(moveLink, until: now.adding(seconds: VouchForMailbox.lifetime))

    private func signIn(_ vouched: UUID?, at moment: Timestamp = now) throws -> SignInOwner {
        var request = try Owned.request()
        request.now = moment
        var command = SignInOwner(
            comparison: .right(hash: "scrypt"), next: (Owned.mail, try digest(9)),
            request: request)
        command.vouched = vouched
        return command
    }

    @Test func `a substitute for a mailed code is issued where there is an owner`() async throws {
        let vouch = VouchForMailbox(code: moveLink, now: now)
        try await givenOwner().when(vouch).then(
            OwnerEvent.mailboxVouched(code), in: Owner.stream)
        try await givenRealm().when(vouch).thenRejected(.noOwner)
        try await given().when(vouch).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(vouch).thenRejected(.realmDisabled)
    }

    @Test func `a substitute for a mailed code is valid for its time, by its id, until replaced`()
        async throws
    {
        let vouched = OwnerEvent.mailboxVouched(code)
        func names(_ command: SignInOwner, _ events: [OwnerEvent]) async throws -> [String] {
            try await givenOwner(events, client: Owned.certified).when(command).result.get()
                .events.map(\.name)
        }
        #expect(try await names(signIn(moveLink), needed + [vouched]).last == "session.opened")
        // It can be used again.
        #expect(try await names(signIn(next), needed + [vouched]) == ["mailed_code.issued"])
        #expect(try await names(signIn(nil), needed + [vouched]) == ["mailed_code.issued"])
        let late = try signIn(moveLink, at: now.adding(seconds: VouchForMailbox.lifetime))
        #expect(try await names(late, needed + [vouched]) == ["mailed_code.issued"])
        let newer = OwnerEvent.mailboxVouched(TimedName(next, until: code.expiresAt))
        #expect(
            try await names(signIn(moveLink), needed + [vouched, newer]) == ["mailed_code.issued"])
    }

    @Test func `a substitute for a mailed code may be a trusted browser while codes are on`()
        async throws
    {
        var trusted = Owner()
        for event in needed { trusted.apply(event) }
        trusted.apply(.browserTrusted(code))
        var account = Account()
        #expect(trusted.trusts(moveLink, of: account, at: now))
        #expect(
            !trusted.trusts(next, of: account, at: now)
                && !trusted.trusts(nil, of: account, at: now))
        #expect(!trusted.trusts(moveLink, of: account, at: code.expiresAt))
        account.apply(.proofsEnded)
        #expect(!trusted.trusts(moveLink, of: account, at: now))
        account = Account()
        var off = trusted
        off.apply(.mailedCodesChanged(isNeeded: false))
        #expect(!off.trusts(moveLink, of: account, at: now))
        for number in 0..<20 {
            trusted.apply(
                .browserTrusted(
                    TimedName(UUID(high: 72, low: UInt64(number)), until: code.expiresAt)))
        }
        #expect(!trusted.trusts(moveLink, of: account, at: now))
    }
}

@Suite struct `Agreeing to the terms` {
    @Test func `agreeing to the terms is recorded for an owner alone`() async throws {
        try await givenOwner().when(OwnerChange.signTerms()).then(
            OwnerEvent.termsSigned, in: Owner.stream)
        try await givenRealm().when(OwnerChange.signTerms()).thenRejected(.noOwner)
        try await given().when(OwnerChange.signTerms()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(OwnerChange.signTerms()).thenRejected(.realmDisabled)
    }
}
