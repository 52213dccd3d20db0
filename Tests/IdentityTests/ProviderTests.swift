import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let identity = UUID(high: 80, low: 1)
private let place = UUID(high: 80, low: 2)
private let delegatedCode = UUID(high: 80, low: 3)
private let upstream = UUID(high: 80, low: 4)
private let other = UUID(high: 80, low: 5)
private let corporate = Provider(
    slug: "corporate", name: "Corporate", issuer: "https://login.example.org", clientID: "urd",
    secret: "s", scope: ["email"])

private func withProvider(_ scenario: Scenario) -> Scenario {
    scenario.given(ProviderEvent.configured(corporate), in: Providers.stream)
}

private func linked(_ account: UUID = Owned.owner) -> ProviderIdentityEvent {
    .linked(account, provider: "corporate", subject: "1", mail: mail)
}

private func names<C: Command>(_ command: C, _ scenario: Scenario) async throws -> [String] {
    try await scenario.when(command).result.get().events.map(\.name)
}

@Suite struct `A provider of a realm` {
    private func changed(_ change: (inout Provider) -> Void)
        -> ProviderChange.Change<ProviderChange.ConfigureRejection>
    {
        var provider = corporate
        change(&provider)
        return ProviderChange.configure(provider)
    }

    @Test func `a provider of a realm can be configured, changed and removed`() async throws {
        let there = withProvider(givenRealm())
        try await givenRealm().when(ProviderChange.configure(corporate)).then(
            ProviderEvent.configured(corporate), in: Providers.stream)
        try await there.when(ProviderChange.configure(corporate)).thenNothing()
        // The secret stays where none is said, for the same client alone.
        try await there.when(changed { $0.secret = nil }).thenNothing()
        var moved = corporate
        moved.issuer = "https://evil.example"
        moved.secret = nil
        try await there.when(ProviderChange.configure(moved)).then(
            ProviderEvent.configured(moved), in: Providers.stream)
        try await there.when(ProviderChange.remove("corporate")).then(
            ProviderEvent.removed("corporate"), in: Providers.stream)
        try await givenRealm().when(ProviderChange.remove("corporate")).thenRejected(.notFound)
        try await given().when(ProviderChange.remove("a")).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(ProviderChange.remove("a")).thenRejected(.realmDisabled)
    }

    @Test func `an invalid provider is refused`() async throws {
        let wrong: [(String, FieldFault.Reason, (inout Provider) -> Void)] = [
            ("provider", .malformed, { $0.slug = "Corporate" }),
            ("provider", .malformed, { $0.slug = "" }),
            ("name", .malformed, { $0.name = " " }),
            ("issuer", .unsafeScheme, { $0.issuer = "http://login.example.org" }),
            ("issuer", .malformed, { $0.issuer = "https://login.example.org/?a" }),
            ("client_id", .malformed, { $0.clientID = "" }),
            ("client_secret", .malformed, { $0.secret = "a\n" }),
            ("scope", .malformed, { $0.scope = ["a\"b"] }),
            ("scope", .tooMany(limit: 20), { $0.scope = Array(repeating: "a", count: 21) }),
        ]
        for (field, reason, change) in wrong {
            try await givenRealm().when(changed(change)).thenRejected(
                .invalid(FieldFault(field, reason)))
        }
        var full = givenRealm()
        for number in 0..<20 {
            var provider = corporate
            provider.slug = "p\(number)"
            full = full.given(ProviderEvent.configured(provider), in: Providers.stream)
        }
        try await full.when(ProviderChange.configure(corporate)).thenRejected(.tooMany(limit: 20))
        try await given().when(ProviderChange.configure(corporate)).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(ProviderChange.configure(corporate))
            .thenRejected(.realmDisabled)
    }
}

@Suite struct `A provider's subject` {
    private func link(_ account: UUID = Owned.owner) -> LinkIdentity {
        LinkIdentity(
            identity: identity, place: place, account: account, provider: "corporate",
            subject: "1", mail: mail)
    }

    private func there() -> Scenario { withProvider(Owned.account(givenRealm())) }

    private func known() -> Scenario {
        there().given(linked(), in: identity).given(
            AccountIdentityEvent.chosen(identity, account: Owned.owner), in: place)
    }

    @Test func `a provider's subject is linked to one account, which has one subject there`()
        async throws
    {
        #expect(
            try await names(link(), there()) == ["identity.linked", "account_identity.chosen"])
        try await known().when(link()).thenNothing()
        // Another one of his there takes the place.
        let before = there().given(linked(), in: other).given(
            AccountIdentityEvent.chosen(other, account: Owned.owner), in: place)
        #expect(
            try await names(link(), before) == [
                "identity.unlinked", "identity.linked", "account_identity.chosen",
            ])
    }

    @Test func `a provider's subject is linked to no second account, and by no unknown provider`()
        async throws
    {
        let bob = AccountEvent.registered(
            mailbox: mailbox, isConfirmed: true, origin: .administrator,
            person: Person(email: "b@example.org"))
        let taken = there().given(bob, in: account).given(linked(account), in: identity)
        try await taken.when(link()).thenRejected(.linkedElsewhere)
        // One that is gone holds nothing.
        #expect(
            try await names(
                link(), taken.given(AccountEvent.deleted(subjects: []), in: account)) == [
                    "identity.linked", "account_identity.chosen",
                ])
        try await Owned.account(givenRealm()).when(link()).thenRejected(.providerNotFound)
        try await withProvider(givenRealm()).when(link()).thenRejected(.accountNotFound)
        try await given().when(link()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(link()).thenRejected(.realmDisabled)
    }

    @Test func `a provider's subject can be unlinked`() async throws {
        let unlink = UnlinkIdentity(place: place, account: Owned.owner, provider: "corporate")
        #expect(
            try await names(unlink, known()) == ["account_identity.dropped", "identity.unlinked"])
        try await there().when(unlink).thenRejected(.notLinked)
        try await given().when(unlink).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(unlink).thenRejected(.realmDisabled)
    }

    @Test func `a provider's subject signs in with a browser`() async throws {
        func signIn(_ slug: String = "corporate") throws -> SignInBrowser<ProviderProof> {
            SignInBrowser(
                ProviderProof(
                    identity: identity, upstream: upstream, provider: slug, sessionName: session,
                    next: (delegatedCode, try digest(9))), by: .provider, session: delegatedCode,
                digest: try digest(1), now: Owned.now)
        }
        #expect(
            try await names(signIn(), known()) == ["upstream_session.used", "browser.opened"])
        let refused = ["browser.refused"]
        #expect(try await names(signIn(), there()) == refused)
        #expect(try await names(signIn("other"), known()) == refused)
        #expect(
            try await names(signIn(), known().given(AccountEvent.disabled(), in: Owned.owner))
                == refused)
        // What was shown once is not shown again.
        let again = known().given(
            BrowserSessionEvent.refused(
                RefusedBrowser(
                    method: .provider, reason: "unknown_identity", account: nil, app: nil,
                    from: SignInPlace())), in: session)
        #expect(try await names(signIn(), again) == refused)
    }

    @Test func `a provider's subject is refused once the provider's session ended`() async throws {
        let end = EndUpstreamSession(upstream)
        let terms = BrowserTerms(
            account: Owned.owner, stamp: 0, app: nil, method: .provider, factors: [.provider],
            digest: try digest(1), openedAt: noon, expiresAt: noon.adding(seconds: 600),
            from: SignInPlace())
        let opened = givenRealm().given(
            UpstreamSessionEvent.used(
                .init(session: session, account: Owned.owner, isBrowser: true)), in: upstream
        ).given(BrowserSessionEvent.opened(terms), in: session)
        #expect(try await names(end, opened) == ["upstream_session.ended", "browser.ended"])
        let replaced = opened.given(BrowserSessionEvent.ended(.replaced), in: session)
        #expect(try await names(end, replaced) == ["upstream_session.ended", "browser.ended"])
        // Also one that opened nothing yet: a code may be of it. It ends once.
        let over = UpstreamSessionEvent.ended
        try await givenRealm().when(end).then(over, in: upstream)
        try await givenRealm().given(over, in: upstream).when(end).thenNothing()
        let late = SignInBrowser(
            ProviderProof(
                identity: identity, upstream: upstream, provider: "corporate", sessionName: session,
                next: (delegatedCode, try digest(9))), by: .provider, session: delegatedCode,
            digest: try digest(1), now: Owned.now)
        #expect(
            try await names(late, known().given(over, in: upstream)) == ["browser.refused"])
        try await given().when(end).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(end).thenRejected(.realmDisabled)
    }

    @Test func `a provider's logout token ends sessions once`() async throws {
        let token = UsedLogoutToken(
            issuer: "https://a.example", id: "j1", until: noon.adding(seconds: 60))
        let claim = Claim("logout_token", "17 https://a.example j1", until: token.until)
        func taken(_ decision: Decision = Decision()) -> Decision {
            var decision = decision
            decision.take(claim, for: Realm.stream)
            return decision
        }
        let there = LogOutByProvider(token, .session(upstream))
        let opened = givenRealm().given(
            UpstreamSessionEvent.used(
                .init(session: session, account: Owned.owner, isBrowser: true)), in: upstream)
        try await opened.when(there).then(
            taken(Decision(UpstreamSessionEvent.ended, in: upstream)))
        let person = LogOutByProvider(token, .account(account))
        try await givenAccount().when(person).then(
            taken(Decision(AccountEvent.stampRotated(), in: account)))
        // What comes to nothing uses it up as well.
        let nobody = LogOutByProvider(token, .nobody)
        let over = givenRealm().given(UpstreamSessionEvent.ended, in: upstream)
        for command in [there, person, nobody] {
            try await over.when(command).then(taken())
            try await givenRealm().when(command).thenRejected(.used, whenTaken: claim)
            try await given().when(command).thenRejected(.realmNotFound)
            try await givenDisabledRealm().when(command).thenRejected(.realmDisabled)
        }
    }
}

@Suite struct `A delegated code` {
    private let terms = DelegatedCodeTerms(
        identity: identity, upstream: upstream, upstreamName: "s-1", provider: "corporate",
        expiresAt: Owned.now.adding(seconds: 60))

    @Test func `a delegated code is issued for a provider's assertion`() async throws {
        let issue = IssueDelegatedCode(code: delegatedCode, terms: terms)
        try await withProvider(givenRealm()).when(issue).then(
            DelegatedCodeEvent.issued(terms), in: delegatedCode)
        try await givenRealm().when(issue).thenRejected(.providerNotFound)
        try await given().when(issue).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(issue).thenRejected(.realmDisabled)
    }

    @Test func `a delegated code is used up once`() async throws {
        let there = givenRealm().given(DelegatedCodeEvent.issued(terms), in: delegatedCode)
        let used = DelegatedCodeEvent.used(installation: .zero)
        let use = ProviderChange.useDelegatedCode(delegatedCode)
        try await there.when(use).then(used, in: delegatedCode)
        try await there.given(used, in: delegatedCode).when(use).thenRejected(.codeOver)
        try await givenRealm().when(use).thenRejected(.codeOver)
        try await given().when(use).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(use).thenRejected(.realmDisabled)
    }

    private func signIn(
        _ shown: SignInOwnerByProvider.Shown = .code(delegatedCode), scope: [String]? = ["*"],
        secret: UInt8 = 1, typed: TypedMailedCode? = nil, at now: Timestamp = Owned.now
    ) throws -> SignInOwnerByProvider {
        var request = try Owned.request(secret)
        request.now = now
        return SignInOwnerByProvider(
            shown: shown, scope: scope, typed: typed, next: (Owned.mail, try digest(9)),
            request: request)
    }

    private func there(_ client: ClientEvent...) async throws -> Scenario {
        var scenario = withProvider(try await givenOwner())
        for event in client { scenario = scenario.given(event, in: installation) }
        return scenario.given(linked(), in: identity).given(
            DelegatedCodeEvent.issued(terms), in: delegatedCode)
    }

    @Test func `COZ-18: a delegated code gives all scopes to a certified app alone`() async throws {
        let common = [
            "delegated_code.used", "upstream_session.used", "installation_upstream.bound",
            "client.adopted", "owner.device_added",
        ]
        #expect(try await names(signIn(), there()) == common + ["session_code.issued"])
        #expect(
            try await names(signIn(), there(Owned.certified)) == common + ["session.opened"])
        #expect(
            try await names(signIn(scope: ["files"]), there()) == common + ["session.opened"])
        #expect(
            try await names(signIn(.token(other, terms)), there()).last == "session_code.issued")
    }

    @Test func `COZ-18: a refused delegated code is recorded and not used up`() async throws {
        let refused = ["session.refused"]
        #expect(try await names(signIn(.code(nil)), there()) == refused)
        #expect(try await names(signIn(.token(other, nil)), there()) == refused)
        #expect(try await names(signIn(secret: 2), there()) == refused)
        #expect(try await names(signIn(at: terms.expiresAt), there()) == refused)
        let used = try await there().given(
            DelegatedCodeEvent.used(installation: .zero), in: delegatedCode)
        #expect(try await names(signIn(), used) == refused)
        #expect(
            try await names(
                signIn(), there().given(ProviderEvent.removed("corporate"), in: Providers.stream))
                == refused)
        // Somebody else, however good the provider's word is.
        #expect(
            try await names(
                signIn(),
                there().given(
                    ProviderIdentityEvent.unlinked(Owned.owner, provider: "corporate"),
                    in: identity)) == refused)
        for scope in [nil, [], ["*", "files"]] as [[String]?] {
            #expect(try await names(signIn(scope: scope), there()) == [])
        }
        try await given().when(signIn()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(signIn()).thenRejected(.realmDisabled)
        try await givenRealm().when(signIn()).thenRejected(.notOffered)
    }

    @Test func `a delegated code is of the stamp that the account had then`() async throws {
        let there = withProvider(Owned.account(givenRealm())).given(linked(), in: identity)
            .given(AccountEvent.stampRotated(), in: Owned.owner)
            .given(AccountEvent.accessRemoved(.client(installation), number: 1), in: Owned.owner)
        var now = terms
        now.stamp = SecurityStamp(number: 1, removals: 1)
        try await there.when(IssueDelegatedCode(code: delegatedCode, terms: terms)).then(
            DelegatedCodeEvent.issued(now), in: delegatedCode)
        // What the provider signed before that is of the stamp of before.
        var before = terms
        before.stamp = 0
        try await there.when(IssueDelegatedCode(code: delegatedCode, terms: before)).then(
            DelegatedCodeEvent.issued(before), in: delegatedCode)
    }

    @Test func `COZ-18: a delegated code opens nothing once what it stands for ended`()
        async throws
    {
        func browser() throws -> SignInBrowser<ProviderProof> {
            var proof = ProviderProof(
                identity: identity, upstream: upstream, provider: "corporate", sessionName: nil,
                next: (Owned.mail, try digest(9)))
            proof.delegated = delegatedCode
            return SignInBrowser(
                proof, by: .provider, session: Owned.session, digest: try digest(1), now: Owned.now)
        }
        let moved = AccountEvent.mailboxMoved(mailbox: place, left: Owned.mailbox)
        #expect(
            try await names(signIn(), there().given(moved, in: Owned.owner)).last
                == "session_code.issued")
        #expect(
            try await names(browser(), there().given(moved, in: Owned.owner)).last
                == "browser.opened")
        let ends: [[AccountEvent]] = [
            [.stampRotated()], [.disabled(), .enabled],
            [.mailboxChanged(mailbox: place, isConfirmed: true, left: Owned.mailbox)],
        ]
        for end in ends {
            let over = try await end.reduce(there()) { $0.given($1, in: Owned.owner) }
            for shown in [.code(delegatedCode), .token(other, terms)]
                as [SignInOwnerByProvider.Shown]
            {
                #expect(try await names(signIn(shown), over) == ["session.refused"], "\(end)")
            }
            #expect(try await names(browser(), over) == ["browser.refused"], "\(end)")
            // One that was issued since then is good.
            var next = terms
            next.stamp = 1
            let anew = over.given(DelegatedCodeEvent.issued(next), in: other)
            #expect(try await names(signIn(.code(other)), anew).last == "session_code.issued")
        }
        let removed = AccountEvent.accessRemoved(.client(installation), number: 1)
        #expect(
            try await names(signIn(), there().given(removed, in: Owned.owner))
                == ["session.refused"])
        let gone = try await there().given(UpstreamSessionEvent.ended, in: upstream)
        #expect(try await names(signIn(), gone) == ["session.refused"])
        #expect(try await names(signIn(.token(other, terms)), gone) == ["session.refused"])
        #expect(try await names(browser(), gone) == ["browser.refused"])
    }

    @Test func `COZ-18: a delegated code asks for the mailed code where the owner turned it on`()
        async throws
    {
        let wary = try await there().given(
            OwnerEvent.mailedCodesChanged(isNeeded: true), in: Owner.stream)
        #expect(try await names(signIn(), wary) == ["mailed_code.issued"])
        let asked = wary.given(
            MailedCodeEvent.issued(
                IssuedMailedCode(
                    id: Owned.mail, purpose: .secondFactor, account: Owned.owner,
                    digest: try digest(9), issuedAt: madeAt)),
            in: MailedCode.stream(of: Owned.owner, .secondFactor))
        func typed(_ byte: UInt8) throws -> TypedMailedCode {
            TypedMailedCode(id: Owned.mail, digest: try digest(byte))
        }
        #expect(
            try await names(signIn(typed: typed(8)), asked) == [
                "mailed_code.refused", "session.refused",
            ])
        #expect(
            try await names(signIn(typed: typed(9)), asked).prefix(2) == [
                "mailed_code.redeemed", "delegated_code.used",
            ])
    }
}
