import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

func givenAccount(_ events: AccountEvent...) -> Scenario {
    let realm = givenRealm().given(registeredAccount(), in: account)
        .given(MailboxEvent.assigned(account), in: mailbox)
    return events.reduce(realm) { $0.given($1, in: account) }
}

@Suite struct `An account` {
    private let register = RegisterAccount(
        account: account, addresses: Addresses(mailbox: mailbox), person: ann, isConfirmed: true)

    @Test func `an account is created by an administrator and holds its mailbox`() async throws {
        var decision = Decision()
        decision.append(
            AccountEvent.registered(
                mailbox: mailbox, isConfirmed: true, origin: .administrator, person: ann),
            in: account)
        decision.append(MailboxEvent.assigned(account), in: mailbox)
        try await givenRealm().when(register).then(decision)
    }

    @Test func `an account is not created twice, for a held mailbox, or without a valid address`()
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

    @Test func `an account's external id fits a header, unless it was imported`()
        async throws
    {
        var numbered = register
        for number in ["A B", "B\u{FC}", "4711\t", " "] {
            numbered.person.externalID = number
            try await givenRealm().when(numbered)
                .thenRejected(.invalid(FieldFault("external_id", .malformed)))
        }
        let known = Person(email: "ann@example.org", firstName: "Ann", externalID: "A B")
        try await givenAccount().when(
            ChangePerson(
                account: account, person: known, addresses: Addresses(mailbox: mailbox),
                isConfirmed: false,
                next: NextSubjects(mailbox: client, phone: client))
        ).then(AccountEvent.personChanged(known), in: account)
    }

    @Test func `an account's rotated stamp ends all its sessions`() async throws {
        try await givenAccount().when(RotateSecurityStamp(account: account))
            .then(AccountEvent.stampRotated(), in: account)
        try await givenRealm().when(RotateSecurityStamp(account: account))
            .thenRejected(.notFound)
    }

    @Test func `an account is disabled and enabled, once each`() async throws {
        let (disable, enable) = (AccountChange.disable(account), AccountChange.enable(account))
        try await givenAccount().when(disable).then(AccountEvent.disabled(), in: account)
        try await givenAccount(.disabled()).when(disable).thenNothing()
        try await givenAccount(.disabled()).when(enable).then(AccountEvent.enabled, in: account)
        try await givenAccount().when(enable).thenNothing()
        try await givenRealm().when(disable).thenRejected(.notFound)
        try await givenRealm().when(enable).thenRejected(.notFound)
    }

    @Test func `an account's change notifies its person at a confirmed mailbox`() async throws {
        try await givenAccount().when(AccountChange.disable(account, mail: code))
            .then(AccountEvent.disabled(mail: code), in: account)
        try await givenAccount().when(RotateSecurityStamp(account: account, mail: code))
            .then(AccountEvent.stampRotated(mail: code), in: account)
        let unproved = givenRealm().given(registeredAccount(isConfirmed: false), in: account)
        try await unproved.when(AccountChange.disable(account, mail: code))
            .then(AccountEvent.disabled(), in: account)
        try await unproved.when(RotateSecurityStamp(account: account, mail: code))
            .then(AccountEvent.stampRotated(), in: account)
    }
}

@Suite struct `The roles of an account` {
    private let known: JSONObject = [
        "roles": ["https://api.example.org": ["editor": ["texts:write"], "reader": []]]
    ]

    private func change(_ roles: [String]) -> AccountChange.Change<AccountChange.GiveRolesRejection>
    {
        AccountChange.giveRoles(
            account, roles: GivenRoles(["https://api.example.org": roles]))
    }

    @Test func `an account has the roles that were given last`() async throws {
        let world = givenAccount().given(RealmEvent.settingsChanged(known), in: Realm.stream)
        let roles = GivenRoles(["https://api.example.org": ["editor", "reader"]])
        try await world.when(change(["reader", "editor", "reader"]))
            .then(AccountEvent.rolesChanged(roles), in: account)
        let given = world.given(AccountEvent.rolesChanged(roles), in: account)
        try await given.when(change(["editor", "reader"])).thenNothing()
        try await given.when(change([]))
            .then(AccountEvent.rolesChanged(GivenRoles()), in: account)
    }

    @Test func `an account takes only roles of its realm`() async throws {
        let world = givenAccount().given(RealmEvent.settingsChanged(known), in: Realm.stream)
        try await world.when(change(["admin"]))
            .thenRejected(.invalid(FieldFault("roles", .notFound)))
        try await givenAccount().when(change(["editor"]))
            .thenRejected(.invalid(FieldFault("roles", .notFound)))
        try await givenRealm().when(change([])).thenRejected(.notFound)
    }

    @Test func `an account's roles are told apart by normalised names`() throws {
        let setting = SettingCatalogue.roles.setting
        for bad: JSON in [
            [], ["a b": [:]], ["https://api.example.org#x y": [:]],
            ["https://api.example.org": ["editor"]], ["shop": ["an editor": []]],
            ["shop": ["editor": "all"]], ["shop": ["editor": [1]]], ["shop": ["editor": [""]]],
            ["shop": ["\u{E9}ditor": []]],
        ] {
            #expect(throws: FieldFault.Reason.self, "\(bad)") { try setting.check(bad) }
        }
        try setting.check(["shop": ["editor": ["texts:write"]], "https://a.example/x": [:]])
    }
}

@Suite struct `The personal data of an account` {
    private let other = UUID(high: 5, low: 6)
    private let next = UUID(high: 5, low: 7)

    private func change(
        _ person: Person = Person(email: "ann@example.org", firstName: "Anna"),
        to mailbox: UUID = mailbox
    ) -> ChangePerson {
        ChangePerson(
            account: account, person: person, addresses: Addresses(mailbox: mailbox),
            isConfirmed: true,
            next: NextSubjects(mailbox: next, phone: next))
    }

    @Test func `an account's personal data can be changed`() async throws {
        try await givenAccount().when(change())
            .then(AccountEvent.personChanged(change().person), in: account)
    }

    @Test func `an account's moved mailbox is free for others`()
        async throws
    {
        let moved = Person(email: "anna@example.org")
        var decision = Decision(AccountEvent.personChanged(moved), in: account)
        decision.append(
            AccountEvent.mailboxChanged(mailbox: other, isConfirmed: true, left: mailbox),
            in: account)
        decision.append(MailboxEvent.released(account, next: next), in: mailbox)
        decision.append(MailboxEvent.assigned(account), in: other)
        try await givenAccount().when(change(moved, to: other)).then(decision)
    }

    @Test func `an account's moved mailbox ends the sessions`() {
        var state = Account()
        state.apply(registeredAccount())
        state.apply(.mailboxChanged(mailbox: other, isConfirmed: false, left: mailbox))
        #expect(state.stamp == 1)
        #expect(state.mailbox == other)
        #expect(!state.isConfirmed)
        #expect(state.subjects == [mailbox])
    }

    @Test func `an account's personal data must be valid, and its mailbox free`() async throws {
        try await givenAccount().when(change(Person(firstName: "Anna")))
            .thenRejected(.invalid(FieldFault("email", .missing)))
        try await givenAccount().given(MailboxEvent.assigned(client), in: other)
            .when(change(to: other)).thenRejected(.mailboxTaken)
        try await givenRealm().when(change()).thenRejected(.notFound)
        try await givenAccount(.deleted(subjects: [])).when(change()).thenRejected(.notFound)
        try await given().when(change()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(change()).thenRejected(.realmDisabled)
    }
}

@Suite struct `A session that is ended` {
    @Test func `an ended session stays ended, for the first reason`() async throws {
        let terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil, scope: [],
            resources: [], factors: [], openedAt: noon, expiresAt: noon, isOffline: false)
        let end = EndSession(session: session, reason: .revoked)
        let open = given(SessionEvent.opened(terms), in: session)
        let ended = Decision(SessionEvent.ended(.revoked), in: session, of: account)
        try await open.when(end).then(ended)
        try await open.given(SessionEvent.ended(.reuse), in: session).when(end).thenNothing()
        try await given().when(end).thenRejected(.notFound)
        // Of others' sessions nobody learns anything.
        try await open.when(EndSession(session: session, reason: .revoked, of: account))
            .then(ended)
        try await open.when(EndSession(session: session, reason: .revoked, of: client))
            .thenRejected(.notFound)
        let refused = RefusedSignIn(
            method: .nativeOTP, reason: "invalid_code", account: account, client: client,
            clientID: "web", app: nil, from: SignInPlace())
        try await given(SessionEvent.refused(refused), in: session).when(end)
            .thenRejected(.notFound)
    }
}
