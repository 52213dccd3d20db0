import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

/// Samples of what tenants of the verify profile do.
func tenantSamples() -> [any Event] {
    [
        MailboxEvent.codeConfirmed(code),
        CaptchaEvent.secretSet("AAAA"),
        TokenClaimsEvent.set(session: session, account: account, client: client, ["plan": "gold"]),
        TenantNameEvent.given(account: account, client: client),
    ] + tenantMethodSamples()
}

@Suite struct `Tenants of the verify profile` {
    private let tenant: JSONObject = [
        "profile": "verify", "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"], "token_endpoint_auth_method": "client_secret_basic",
        "application_type": "web", "redirect_uris": [],
    ]

    private func given(stamp: SecurityStamp = 0) throws -> Scenario {
        let terms = SessionTerms(
            account: account, stamp: stamp, client: client, clientID: "web", app: nil,
            scope: [], resources: [], factors: [.mailedCode], openedAt: noon,
            expiresAt: noon.adding(seconds: 86_400), isOffline: true)
        return try givenNativeRealm().given(registeredAccount(), in: account)
            .given(SessionEvent.opened(terms), in: session)
    }

    private func set(_ claims: JSONObject = ["plan": "gold"], at now: Timestamp = noon)
        -> SetTokenClaims
    {
        SetTokenClaims(session: session, client: client, claims: claims, now: now)
    }

    private let event = TokenClaimsEvent.set(
        session: session, account: account, client: client, ["plan": "gold"])
    private let stream = TokenClaims.stream(of: session)

    @Test func `claims of a session's tokens are set, and the same ones again change nothing`()
        async throws
    {
        try await given().when(set()).then(event, in: stream)
        try await given().given(event, in: stream).when(set()).thenNothing()
        try await given().given(event, in: stream).when(set([:])).then(
            TokenClaimsEvent.set(session: session, account: account, client: client, [:]),
            in: stream)
    }

    @Test func `claims are refused for a session that is over, or another client's`() async throws {
        try await given().given(SessionEvent.ended(.revoked), in: session).when(set())
            .thenRejected(.notFound)
        try await given(stamp: 1).when(set()).thenRejected(.notFound)
        try await given().given(AccountEvent.disabled(), in: account).when(set())
            .thenRejected(.notFound)
        try await given().when(set(at: noon.adding(seconds: 86_400))).thenRejected(.notFound)
        var other = set()
        other.client = app
        try await given().when(other).thenRejected(.notFound)
        try await givenNativeRealm().when(set()).thenRejected(.notFound)
    }

    @Test func `claims longer than a token should be are refused`() async throws {
        let long = String(repeating: "x", count: SetTokenClaims.limit)
        try await given().when(set(["a": .string(long)])).thenRejected(.tooLong)
        try await given().when(set(["a": .string(String(long.dropLast(8)))])).then(
            TokenClaimsEvent.set(
                session: session, account: account, client: client,
                ["a": .string(String(long.dropLast(8)))]), in: stream)
    }

    private let named = RegisterNamedPerson(
        account: account, addresses: Addresses(mailbox: mailbox), person: ann, name: code,
        client: client)

    @Test func `a tenant's name of a person is kept with the account`() async throws {
        var decision = Decision()
        decision.append(
            AccountEvent.registered(
                mailbox: mailbox, isConfirmed: false, origin: .administrator, person: ann),
            in: account)
        decision.append(MailboxEvent.assigned(account), in: mailbox)
        decision.append(TenantNameEvent.given(account: account, client: client), in: code)
        try await givenRealm().when(named).then(decision)
    }

    @Test func `a tenant's name is free again once its account is deleted`() async throws {
        let other = app
        let taken = givenRealm().given(
            AccountEvent.registered(
                mailbox: session, isConfirmed: false, origin: .administrator, person: ann),
            in: other
        ).given(TenantNameEvent.given(account: other, client: client), in: code)
        try await taken.when(named).thenRejected(.nameTaken)
        let free = taken.given(AccountEvent.deleted(subjects: []), in: other)
        guard case .success = try await free.when(named).result else {
            Issue.record("The name is taken for good.")
            return
        }
    }

    @Test func `a person with a name is registered as others are`() async throws {
        try await givenRealm().given(MailboxEvent.assigned(app), in: mailbox).when(named)
            .thenRejected(.notRegistered(.mailboxTaken))
    }

    @Test func `a profile's settings go before the usual ones and behind those that were set`() {
        let usual = Identity.Settings(overrides: ["profile": "verify"])
        #expect(usual[SettingCatalogue.otpAttempts] == 5)
        #expect(usual[SettingCatalogue.registration] == .jitOnOTP)
        #expect(usual.all["otp_lifetime"] == 300)
        let own = Identity.Settings(overrides: ["profile": "verify", "otp_attempts": 2])
        #expect(own[SettingCatalogue.otpAttempts] == 2)
        #expect(
            Identity.Settings(overrides: ["profile": "flagship"])[SettingCatalogue.otpAttempts] == 3
        )
        let app = own.overlaid(by: Identity.Settings(overrides: ["otp_attempts": 4]))
        #expect(app[SettingCatalogue.otpAttempts] == 4)
        #expect(app[SettingCatalogue.codeLifetime] == 300)
    }

    @Test func `a tenant needs no place of its own and is asked for no consent`() throws {
        let metadata = try ClientMetadata(["profile": "verify"])
        #expect(metadata.grantTypes == [.authorizationCode, .refreshToken])
        #expect(!metadata.asksForConsent)
        #expect(throws: FieldFault.self) {
            try ClientMetadata([
                "profile": "verify", "grant_types": ["client_credentials"],
            ])
        }
    }

    /// Digits of a link that never were sent are no way in, and a link is none in the place of digits.
    @Test func `a code that is confirmed by a link is redeemed by its page alone`() async throws {
        var linked = IssuedCode(
            id: code, purpose: .registration, digest: try digest(1), app: nil, issuedAt: noon,
            expiresAt: noon.adding(seconds: 600), person: ann)
        linked.base = "https://id.acme.example"
        let realm = try givenNativeRealm().given(MailboxEvent.codeIssued(linked), in: mailbox)
        func redeem(_ confirmed: UUID?) throws -> RedeemGrant<OTPGrant> {
            var grant = OTPGrant(mailbox: mailbox, digest: try digest(1), account: account)
            grant.confirmed = confirmed
            return RedeemGrant(
                grant,
                GrantRequest(
                    client: client, clientID: "web", proof: .none, session: session, now: noon))
        }
        func opens(_ command: RedeemGrant<OTPGrant>, _ scenario: Scenario) async throws -> Bool {
            guard case .success(let decision) = try await scenario.when(command).result else {
                return false
            }
            return decision.events.contains { $0.name == "session.opened" }
        }
        #expect(try await !opens(try redeem(nil), realm))
        #expect(try await !opens(try redeem(code), realm))
        try await realm.when(
            ConfirmOTP(mailbox: mailbox, shown: ShownSecret([try digest(2)]), now: noon)
        ).thenRejected(.invalid)
        try await realm.when(
            ConfirmOTP(mailbox: mailbox, shown: ShownSecret([try digest(1)]), now: noon)
        ).then(MailboxEvent.codeConfirmed(code), in: mailbox)
        let confirmed = realm.given(MailboxEvent.codeConfirmed(code), in: mailbox)
        #expect(try await opens(try redeem(code), confirmed))
        #expect(try await !opens(try redeem(app), confirmed))
        #expect(try await !opens(try redeem(nil), confirmed))
        // Digits cannot be confirmed.
        try await givenNativeRealm().given(issued(), in: mailbox).when(
            ConfirmOTP(mailbox: mailbox, shown: ShownSecret([try digest(1)]), now: noon)
        ).thenRejected(.invalid)
    }
}
