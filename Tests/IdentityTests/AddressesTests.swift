import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let phone = UUID(high: 61, low: 61)
private let other = UUID(high: 62, low: 62)
private let next = NextSubjects(mailbox: UUID(high: 63, low: 1), phone: UUID(high: 63, low: 2))
private let number = "+41781234567"
private let both = Person(email: "ann@example.org", phone: number)

private func have(_ mailbox: UUID, _ phone: UUID? = nil) -> Addresses {
    Addresses(mailbox: mailbox, phone: phone)
}

private func changed(_ to: Addresses, left: [UUID] = [], mail: UUID? = nil) -> AccountEvent {
    .addressesChanged(to, left: left, mail: mail)
}

/// An account with a mail address alone, or with a phone number as well.
private func givenAnn(withPhone: Bool = false) -> Scenario {
    let ann = givenRealm().given(registeredAccount(), in: account)
        .given(MailboxEvent.assigned(account), in: mailbox)
        .given(RealmEvent.settingsChanged(["phone_sign_in": true]), in: Realm.stream)
    guard withPhone else { return ann }
    return ann.given(changed(have(mailbox, phone)), in: account)
        .given(MailboxEvent.assigned(account), in: phone)
}

private func moveCode(to person: Person, by channel: Channel = .mail) throws -> MailboxEvent {
    var issued = IssuedCode(
        id: code, purpose: .move, digest: try digest(1), app: nil, issuedAt: noon,
        expiresAt: noon.adding(seconds: 600), person: person)
    (issued.account, issued.channel) = (account, channel)
    return .codeIssued(issued)
}

/// The account's proofs are of a later generation where it changed its addresses before.
private func moveCode(to person: Person, generation: Int) throws -> MailboxEvent {
    guard case .codeIssued(var issued) = try moveCode(to: person) else { fatalError() }
    issued.generation = generation
    return .codeIssued(issued)
}

@Suite struct `An account with a mail address and a phone number` {
    private func register(_ person: Person, _ addresses: Addresses, _ isConfirmed: Bool = true)
        -> RegisterAccount
    {
        RegisterAccount(
            account: account, addresses: addresses, person: person, isConfirmed: isConfirmed)
    }

    @Test
    func `an account with two addresses is registered where an administrator vouches for them`()
        async throws
    {
        var expected = Decision(
            AccountEvent.registered(
                mailbox: mailbox, isConfirmed: true, origin: .administrator, person: both),
            in: account)
        expected.append(MailboxEvent.assigned(account), in: mailbox)
        expected.append(changed(have(mailbox, phone)), in: account)
        expected.append(MailboxEvent.assigned(account), in: phone)
        let realm = givenRealm()
        try await realm.when(register(both, have(mailbox, phone))).then(expected)
        try await realm.when(register(both, have(mailbox, phone), false))
            .thenRejected(.invalid(FieldFault("confirmed", .needed(by: "phone"))))
    }

    @Test func `an account holds a mailbox for each of its addresses and no other`() async throws {
        let unheld = FieldFault("phone", .unsupported)
        try await givenRealm().when(register(both, have(mailbox)))
            .thenRejected(.invalid(unheld))
        try await givenRealm()
            .when(register(Person(email: "ann@example.org"), have(mailbox, phone)))
            .thenRejected(.invalid(unheld))
        for taken in [mailbox, phone] {
            try await givenRealm().given(MailboxEvent.assigned(client), in: taken)
                .when(register(both, have(mailbox, phone))).thenRejected(.mailboxTaken)
        }
        try await givenAnn().when(change(both, have(mailbox)))
            .thenRejected(.invalid(unheld))
    }

    private func change(
        _ person: Person, _ addresses: Addresses, _ isConfirmed: Bool = true
    ) -> ChangePerson {
        ChangePerson(
            account: account, person: person, addresses: addresses, isConfirmed: isConfirmed,
            next: next, mail: mail)
    }

    @Test func `a second address is added, and what is signed in stays so`() async throws {
        var expected = Decision(AccountEvent.personChanged(both), in: account)
        expected.append(changed(have(mailbox, phone), mail: mail), in: account)
        expected.append(MailboxEvent.assigned(account), in: phone)
        try await givenAnn().when(change(both, have(mailbox, phone))).then(expected)
        var state = Account()
        for event in [registeredAccount(), changed(have(mailbox, phone))] { state.apply(event) }
        #expect(state.stamp == 0 && state.proofGeneration == 1)
        #expect(state.addresses == have(mailbox, phone))
    }

    @Test
    func `a second address that nobody answers for is refused, and one beside an unproved one`()
        async throws
    {
        let unproved = FieldFault("confirmed", .needed(by: "phone"))
        try await givenAnn().when(change(both, have(mailbox, phone), false))
            .thenRejected(.invalid(unproved))
        // Where there are two, another one in the place of one needs it as well.
        for addresses in [have(other, phone), have(mailbox, other)] {
            try await givenAnn(withPhone: true).when(change(both, addresses, false))
                .thenRejected(.invalid(unproved))
        }
        try await givenAnn(withPhone: true)
            .when(change(Person(email: "new@example.org"), have(other), false))
            .thenRejected(.invalid(unproved))
        // What it holds already needs nobody's word.
        let named = Person(email: both.email, phone: number, firstName: "Ann")
        try await givenAnn(withPhone: true).when(change(named, have(mailbox, phone), false))
            .then(AccountEvent.personChanged(named), in: account)
    }

    @Test(arguments: [true, false])
    func `an address is taken away, and all sessions end`(isPhone: Bool) async throws {
        let (stays, goes) = isPhone ? (mailbox, phone) : (phone, mailbox)
        let person = isPhone ? Person(email: both.email) : Person(phone: number)
        var expected = Decision(AccountEvent.personChanged(person), in: account)
        expected.append(changed(have(stays), left: [goes], mail: mail), in: account)
        expected.append(AccountEvent.stampRotated(), in: account)
        expected.append(
            MailboxEvent.released(account, next: isPhone ? next.phone : next.mailbox), in: goes)
        try await givenAnn(withPhone: true).when(change(person, have(stays), false))
            .then(expected)
    }

    @Test func `a deleted account gives up both of its mailboxes, each to a subject of its own`()
        async throws
    {
        var expected = Decision(MailboxEvent.released(account, next: next.mailbox), in: mailbox)
        expected.append(MailboxEvent.released(account, next: next.phone), in: phone)
        expected.append(AccountEvent.deleted(subjects: [mailbox, phone]), in: account)
        try await givenAnn(withPhone: true)
            .given(AccountEvent.deletionScheduled(due: noon), in: account)
            .when(DeleteAccount(account: account, next: next, now: noon)).then(expected)
    }

    @Test(arguments: [true, false])
    func `a person with two addresses signs in by a code to either`(isPhone: Bool) async throws {
        var request = RequestOTP(
            mailbox: isPhone ? phone : mailbox,
            person: isPhone ? Person(phone: number) : Person(email: both.email), code: code,
            digest: try digest(1), now: noon)
        request.channel = isPhone ? .sms : .mail
        let native = givenAnn(withPhone: true)
            .given(
                RealmEvent.settingsChanged(["native_grants": true, "phone_sign_in": true]),
                in: Realm.stream)
        var issued = IssuedCode(
            id: code, purpose: .signIn, digest: try digest(1), app: nil, issuedAt: noon,
            expiresAt: noon.adding(seconds: 600), person: request.person)
        (issued.channel, issued.generation) = (request.channel, 1)
        try await native.when(request).then(
            MailboxEvent.codeIssued(issued), in: isPhone ? phone : mailbox)
        // A code proves the address that it went to, and no second one.
        request.person = both
        try await native.when(request)
            .thenRejected(.invalid(FieldFault("phone", .unsupported)))
    }
}

@Suite struct `A person's own second address` {
    private func move(_ person: Person, _ addresses: Addresses) throws -> MoveMailbox {
        MoveMailbox(
            account: account, addresses: addresses, digest: try digest(1), person: person,
            next: next, mail: mail, now: noon)
    }

    @Test func `a phone number is added by a code that went there`() async throws {
        let asked = try givenAnn()
            .given(moveCode(to: Person(phone: number), by: .sms), in: phone)
        var expected = Decision(MailboxEvent.codeRedeemed(code), in: phone)
        expected.append(AccountEvent.personChanged(both), in: account)
        expected.append(changed(have(mailbox, phone), mail: mail), in: account)
        expected.append(MailboxEvent.assigned(account), in: phone)
        try await asked.when(move(both, have(mailbox, phone))).then(expected)
    }

    @Test func `a phone number takes the place of another, and all sessions end`() async throws {
        let new = Person(email: both.email, phone: "+41781234568")
        let asked = try givenAnn(withPhone: true)
            .given(moveCode(to: Person(phone: new.phone), generation: 1), in: other)
        var expected = Decision(MailboxEvent.codeRedeemed(code), in: other)
        expected.append(AccountEvent.personChanged(new), in: account)
        expected.append(changed(have(mailbox, other), left: [phone], mail: mail), in: account)
        expected.append(AccountEvent.stampRotated(), in: account)
        expected.append(MailboxEvent.released(account, next: next.phone), in: phone)
        expected.append(MailboxEvent.assigned(account), in: other)
        try await asked.when(move(new, have(mailbox, other))).then(expected)
    }

    @Test func `a mail address beside a phone number becomes the first of the two`() async throws {
        let asked = try givenAnn().given(moveCode(to: Person(email: both.email)), in: other)
        var expected = Decision(MailboxEvent.codeRedeemed(code), in: other)
        expected.append(AccountEvent.personChanged(both), in: account)
        expected.append(changed(have(other, mailbox), mail: mail), in: account)
        expected.append(MailboxEvent.assigned(account), in: other)
        try await asked.when(move(both, have(other, mailbox))).then(expected)
    }

    @Test
    func
        `a code for a second address adds nothing where another change came first or the number is taken`()
        async throws
    {
        // Meanwhile it got another number: two would be new.
        let late = try givenAnn(withPhone: true)
            .given(moveCode(to: Person(phone: number), generation: 1), in: other)
        try await late.when(move(both, have(UUID(high: 64, low: 1), other))).thenNothing()
        let taken = try givenAnn().given(
            moveCode(to: Person(phone: number), by: .sms), MailboxEvent.assigned(client), in: phone)
        try await taken.when(move(both, have(mailbox, phone))).thenNothing()
        // The code died with the change.
        let old = try givenAnn(withPhone: true)
            .given(moveCode(to: Person(phone: number), by: .sms), in: other)
        try await old.when(move(both, have(mailbox, other))).thenNothing()
    }

    @Test func `an unproved account gets no second address`() async throws {
        let stranger = try givenRealm().given(registeredAccount(isConfirmed: false), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox)
            .given(moveCode(to: Person(phone: number), by: .sms), in: phone)
        try await stranger.when(move(both, have(mailbox, phone))).thenNothing()
    }

    @Test func `a code to a new phone number needs a realm that takes numbers`() async throws {
        var request = RequestMailboxMove(
            account: account, mailbox: phone, person: Person(phone: number), code: code,
            digest: try digest(1), now: noon)
        request.channel = .sms
        try await givenAnn().when(request)
            .then(moveCode(to: Person(phone: number), by: .sms), in: phone)
        try await givenAnn()
            .given(RealmEvent.settingsChanged(["phone_sign_in": false]), in: Realm.stream)
            .when(request).thenRejected(.invalid(FieldFault("phone", .unsupported)))
    }
}
