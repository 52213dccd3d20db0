import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let service = UUID(high: 82, low: 1)
private let device = UUID(high: 82, low: 2)
private let person = UUID(high: 82, low: 3)
private let opened = UUID(high: 82, low: 4)
private let assertion = UUID(high: 82, low: 5)
private let notice = UUID(high: 82, low: 6)
private let kept = "kept"
private let appKey: JSON = ["kty": "EC", "kid": "k1"]

/// A version of the app, a service, and a person with a passphrase.
private func givenPerson() throws -> Scenario {
    try givenRealm()
        .given(RealmEvent.settingsChanged(["profile": "federation"]), in: Realm.stream)
        .given(
            try registered(
                [
                    "profile": "federation_app", "scope": "openid",
                    "grant_types": [
                        "urn:ietf:params:oauth:grant-type:jwt-bearer", "refresh_token",
                    ],
                ], secret: digest(1)), in: client
        )
        .given(
            try registered(
                [
                    "profile": "federation_service", "scope": "openid",
                    "grant_types": [
                        "urn:ietf:params:oauth:grant-type:jwt-bearer", "refresh_token",
                    ],
                ], secret: digest(2)), in: service
        )
        .given(registeredAccount(), in: account)
        .given(
            MailboxEvent.assigned(account), in: mailbox
        )
        .given(
            PassphraseEvent.set(hash: kept, account: account, mail: notice, at: noon),
            in: Passphrase.stream(of: account))
}

private func terms(
    _ token: FederatedToken, of client: UUID, _ clientID: String = "web", isOffline: Bool = false
) -> SessionTerms {
    var terms = SessionTerms(
        account: account, stamp: 0, client: client, clientID: clientID, app: nil,
        scope: ["openid"], resources: [], factors: [.passphrase], openedAt: noon,
        expiresAt: noon.adding(seconds: 86_400), isOffline: isOffline, method: .jwtBearer)
    terms.federation = token
    return terms
}

private func personToken(_ key: JSON? = appKey) -> FederatedToken {
    FederatedToken(holder: .person, keyID: "k1", device: device, confirmation: key)
}

@Suite struct `Signing in by an assertion of an app's own key` {
    private func signIn(
        _ comparison: PassphraseProof.Comparison = .right(hash: kept), key: JSON = appKey,
        provesKey: Bool = true, client shown: UUID = client, secret: UInt8 = 1
    ) throws -> RedeemGrant<AppSignInGrant> {
        RedeemGrant(
            AppSignInGrant(
                proof: PassphraseProof(mailbox: mailbox, comparison: comparison), device: device,
                session: opened, keyID: "k1", key: key, provesKey: provesKey, mail: notice,
                name: "Phone"),
            GrantRequest(
                client: shown, clientID: "web",
                proof: .secret(try digest(secret)),
                scope: ["openid"], session: opened, now: noon))
    }

    private func names<C: Command>(_ verdict: Verdict<C>) throws -> [String] {
        try verdict.result.get().events.map(\.name)
    }

    private let device1 = FederatedDeviceTerms(client: client, clientID: "web", name: "Phone")

    @Test func `a right passphrase opens a session with the key, and the device is put on record`()
        async throws
    {
        let verdict = try await givenPerson().when(signIn())
        let names = try names(verdict)
        #expect(
            names == [
                "session.opened", "federated_device.asserted", "federated_device.signed_in",
                "device_use.began",
            ])
        // On a device that the person knows, no mail is sent.
        let events = try verdict.result.get().events
        let began = try #require(events.last)
        let known = try await givenPerson().given(
            DeviceUseEvent.began(account: account, device: device), in: began.stream
        ).when(signIn())
        #expect(try self.names(known) == Array(names.dropLast()))
        let mails = try [events, known.result.get().events].map { events in
            events.first { $0.name == "federated_device.signed_in" }?.open["mail"]?.string
        }
        #expect(mails == [notice.description, nil])
    }

    @Test func `a wrong passphrase opens nothing and counts`() async throws {
        let wrong = try await givenPerson().when(signIn(.wrong(hash: kept)))
        #expect(try names(wrong) == ["passphrase.refused", "session.refused"])
    }

    @Test func `a device with another key than before is refused while its session lives`()
        async throws
    {
        let before = try givenPerson()
            .given(SessionEvent.opened(terms(personToken(), of: client)), in: person)
            .given(FederatedDeviceEvent.asserted(session: person, device1), in: device)
        let other = try await before.when(signIn(key: ["kty": "EC", "kid": "other"]))
        #expect(try names(other) == ["session.refused"])
        #expect(try await names(before.when(signIn())).contains("session.ended"))
        let ended = before.given(SessionEvent.ended(.revoked), in: person)
        #expect(
            try await names(ended.when(signIn(key: ["kty": "EC", "kid": "other"])))
                .contains("session.opened"))
    }

    /// What another person's session on the device comes to, by who signed: the key itself, or the version's for it.
    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func `an app that does not prove its key ends no other person's session on the device`(
        provesKey: Bool, isOwn: Bool
    ) async throws {
        var before = terms(personToken(), of: client)
        if !isOwn { before.account = UUID(high: 82, low: 7) }
        let given = try givenPerson()
            .given(SessionEvent.opened(before), in: person)
            .given(FederatedDeviceEvent.asserted(session: person, device1), in: device)
        let names = try await names(given.when(signIn(provesKey: provesKey)))
        if provesKey || isOwn {
            #expect(names.contains("session.ended") && names.contains("session.opened"))
        } else {
            #expect(names == ["session.refused"])
        }
        // Over, it stands in nobody's way.
        let over = given.given(SessionEvent.ended(.revoked), in: person)
        #expect(
            try await self.names(over.when(signIn(provesKey: provesKey)))
                .contains("session.opened"))
    }

    @Test func `an assertion that opened a session opens no other`() async throws {
        let again = try await givenPerson()
            .given(SessionEvent.opened(terms(personToken(), of: client)), in: opened)
            .when(signIn())
        #expect(try names(again) == ["session.refused"])
        #expect(try again.result.get().events[0].open["reason"] == "invalid_assertion")
    }

    @Test func `a client that is no version of the app is refused`() async throws {
        try await givenPerson().when(signIn(client: service, secret: 2))
            .thenRejected(.unauthorizedClient)
        try await givenPerson().when(signIn(secret: 2)).thenRejected(.invalidClient)
        try await givenPerson().given(ClientEvent.disabled, in: client).when(signIn())
            .thenRejected(.invalidClient)
    }
}

@Suite struct `Forwarding an assertion of an app's own key` {
    private func forward(
        secret: UInt8 = 2, by shown: UUID = service
    ) throws -> RedeemGrant<AppAssertionGrant> {
        var grant = AppAssertionGrant(
            assertion: assertion, session: opened, above: person, keyID: "CCCCCCCCCC")
        grant.service = shown
        return RedeemGrant(
            grant,
            GrantRequest(
                client: shown, clientID: "web",
                proof: .secret(try digest(secret)),
                scope: ["openid"], session: opened, now: noon))
    }

    private func given(_ token: FederatedToken = personToken()) throws -> Scenario {
        try givenPerson().given(
            SessionEvent.opened(terms(token, of: client)), in: person)
    }

    private let redeemed = FederatedAssertionEvent.redeemed(
        session: opened, account: account, device: device, client: service, clientID: "web")

    @Test func `a service that forwards it gets a session below the person's`() async throws {
        let verdict = try await given().when(forward())
        let decision = try verdict.result.get()
        #expect(
            decision.events.map(\.name) == ["federated_assertion.redeemed", "session.opened"])
        let fields = try #require(decision.events.last?.open)
        #expect(fields["superiors"] == .array([.string(person.description)]))
        #expect(fields["holder"] == "service")
        #expect(verdict.read.isSuperset(of: [assertion, person, account]))
    }

    private func refuses(
        _ scenario: Scenario, _ reason: String, secret: UInt8 = 2, by shown: UUID = service,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let events = try await scenario.when(forward(secret: secret, by: shown)).result.get().events
        #expect(
            events.map { [$0.name, $0.open["reason"]?.string] } == [["session.refused", reason]],
            sourceLocation: sourceLocation)
    }

    @Test func `a forwarded assertion is refused when it was used, or anything above it is over`()
        async throws
    {
        let alive = try given()
        try await refuses(alive.given(redeemed, in: assertion), "invalid_assertion")
        try await refuses(
            alive.given(SessionEvent.ended(.revoked), in: person), "invalid_assertion")
        try await refuses(alive.given(ClientEvent.disabled, in: client), "invalid_assertion")
        try await refuses(
            alive.given(AccountEvent.stampRotated(mail: nil), in: account), "invalid_assertion")
        try await refuses(alive.given(AccountEvent.disabled(), in: account), "invalid_assertion")
        try await refuses(givenPerson(), "invalid_assertion")
    }

    @Test func `a service that refuses the person, and one that is disabled, get nothing`()
        async throws
    {
        try await refuses(
            given().given(
                ServiceStandingEvent.refused(account: account, client: service, clientID: "web"),
                in: ServiceStanding.stream(of: account, at: service)), "exchange_not_allowed")
        try await given().given(ClientEvent.disabled, in: service).when(forward())
            .thenRejected(.invalidClient)
        try await given().when(forward(secret: 1)).thenRejected(.invalidClient)
    }

    @Test func `a session without a key of its app, or not a person's, forwards nothing`()
        async throws
    {
        try await refuses(given(personToken(nil)), "invalid_assertion")
        var token = personToken()
        token.holder = .service
        try await refuses(given(token), "invalid_assertion")
        try await refuses(given(), "invalid_assertion", secret: 1, by: client)
    }
}

@Suite struct `Refreshing a person's token of the federation profile` {
    private func refresh(_ takesRequestKeys: Bool) throws -> RedeemGrant<RefreshGrant> {
        var grant = RefreshGrant(session: person, generation: 0)
        grant.takesRequestKeys = takesRequestKeys
        return RedeemGrant(
            grant,
            GrantRequest(
                client: client, clientID: "web", proof: .secret(try digest(1)),
                session: opened, now: noon))
    }

    private func given(_ token: FederatedToken) throws -> Scenario {
        try givenPerson().given(
            SessionEvent.opened(terms(token, of: client, isOffline: true)), in: person)
    }

    @Test func `a token that signs requests is refreshed as such a token alone`() async throws {
        let signing = try given(personToken(nil))
        try await signing.when(refresh(false)).thenRejected(.invalidRefreshToken)
        let names = try await signing.when(refresh(true)).result.get().events.map(\.name)
        #expect(names == ["session.refreshed"])
        let bearer = try await given(personToken()).when(refresh(false)).result.get()
        #expect(bearer.events.map(\.name) == ["session.refreshed"])
        try await given(personToken()).when(refresh(true)).thenRejected(.invalidRefreshToken)
    }

    @Test(arguments: FederatedHolder.allCases)
    func `each kind of token is refreshed where it was given alone`(holder: FederatedHolder)
        async throws
    {
        for (scope, isSigning) in [([], true), (["openid"], holder != .service)] {
            var token = personToken(nil)
            token.holder = holder
            var terms = terms(token, of: client, isOffline: true)
            terms.scope = scope
            let world = try givenPerson().given(SessionEvent.opened(terms), in: person)
            try await world.when(refresh(!isSigning)).thenRejected(.invalidRefreshToken)
            let names = try await world.when(refresh(isSigning)).result.get().events.map(\.name)
            #expect(names == ["session.refreshed"])
        }
    }
}
