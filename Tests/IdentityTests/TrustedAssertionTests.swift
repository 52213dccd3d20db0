import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `The assertion of a trusted issuer` {
    private let metadata: JSONObject = [
        "token_endpoint_auth_method": "none",
        "grant_types": ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
    ]

    private func realm(isConfirmed: Bool = true) throws -> Scenario {
        givenRealm().given(try registered(metadata, secret: nil), in: client)
            .given(registeredAccount(isConfirmed: isConfirmed), in: account)
            .given(MailboxEvent.assigned(account), in: mailbox)
    }

    private func redeem(
        _ subject: JWTBearerGrant.Subject = .account(account)
    ) -> RedeemGrant<JWTBearerGrant> {
        RedeemGrant(
            JWTBearerGrant(
                subject: subject, issuer: "https://a.example", id: "j1",
                until: noon.adding(seconds: 60)),
            GrantRequest(
                client: client, clientID: "web", proof: .none, scope: ["openid"],
                session: session, now: noon))
    }

    private let claim = Claim(
        "trusted_assertion", "17 https://a.example j1", until: noon.adding(seconds: 60))

    private var opened: Decision {
        var terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil,
            scope: ["openid"], resources: [], factors: [], openedAt: noon,
            expiresAt: noon.adding(seconds: 365 * 86_400), isOffline: false, method: .jwtBearer)
        terms.assertionIssuer = "https://a.example"
        var decision = Decision(SessionEvent.opened(terms), in: session)
        decision.take(claim, for: account)
        return decision
    }

    @Test func `a trusted issuer's assertion opens a session for its subject, once`() async throws {
        try await realm().when(redeem()).then(opened)
        try await realm().when(redeem(.mailbox(mailbox))).then(opened)
        try await realm().when(redeem()).thenRejected(.invalidAssertion, whenTaken: claim)
    }

    @Test func `a trusted issuer's assertion needs a known subject with a confirmed address`()
        async throws
    {
        for (scenario, subject) in [
            (try realm(isConfirmed: false), .mailbox(mailbox)),
            (try realm(), .mailbox(UUID(high: 80, low: 80))),
            (try realm(), .account(UUID(high: 80, low: 80))),
            (try realm().given(AccountEvent.disabled(), in: account), .account(account)),
        ] as [(Scenario, JWTBearerGrant.Subject)] {
            let verdict = try await scenario.when(redeem(subject))
            guard case .success(let decision) = verdict.result else {
                Issue.record("It is not on record.")
                continue
            }
            #expect(decision.events.map(\.name) == ["session.refused"])
        }
    }
}

@Suite struct `A token that is exchanged` {
    private let gateway = UUID(high: 90, low: 90)
    private let origin = UUID(high: 91, low: 91)
    private let acting = UUID(high: 92, low: 92)
    private let here = "https://gateway.example"
    private let there = "https://orders.example"

    private func metadata(_ more: JSONObject = [:]) throws -> ClientEvent {
        let usual: JSONObject = [
            "grant_types": ["urn:ietf:params:oauth:grant-type:token-exchange"],
            "token_exchange": "delegation", "audiences": [.string(here)],
            "exchange_targets": [.string(there)],
        ]
        return .registered(
            clientID: "gateway", metadata: try ClientMetadata(usual.merging(more) { $1 }),
            secret: try digest(9))
    }

    private func shown(
        scope: [String] = ["openid", "orders", "offline_access"], audience: [String]? = nil,
        session: UUID? = nil
    ) -> ShownToken {
        ShownToken(
            session: session ?? origin, scope: scope, audience: audience ?? [here],
            expiresAt: noon.adding(seconds: 300))
    }

    private func terms(_ exchange: TokenExchange? = nil) -> SessionTerms {
        var terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil,
            scope: ["openid", "orders", "offline_access"], resources: [here],
            factors: [.passkey], openedAt: noon.adding(seconds: -60),
            expiresAt: noon.adding(seconds: 86_400), isOffline: true, method: .nativePasskey)
        terms.exchange = exchange
        return terms
    }

    private func realm(
        _ more: JSONObject = [:], phone: JSONObject = [:], _ exchange: TokenExchange? = nil
    ) throws -> Scenario {
        try givenNativeRealm(metadata: phone).given(try metadata(more), in: gateway)
            .given(registeredAccount(), in: account)
            .given(SessionEvent.opened(terms(exchange)), in: origin)
    }

    private func redeem(
        _ subject: ShownToken? = nil, actor: ShownToken? = nil, scope: [String] = [],
        resources: [String]? = nil, at now: Timestamp = noon, proving key: String? = nil
    ) throws -> RedeemGrant<TokenExchangeGrant> {
        RedeemGrant(
            TokenExchangeGrant(subject: subject ?? shown(), actor: actor),
            GrantRequest(
                client: gateway, clientID: "gateway",
                proof: .secret(try digest(9)), scope: scope,
                resources: resources ?? [there], session: session, now: now,
                keyProof: key.map { UsedProof(key: $0, id: "1", until: now) }))
    }

    private func expected(
        scope: [String] = ["openid", "orders"], _ exchange: TokenExchange
    ) -> SessionEvent {
        var expected = SessionTerms(
            account: account, stamp: 0, client: gateway, clientID: "gateway", app: nil,
            scope: scope, resources: [there], factors: [.passkey],
            openedAt: noon, expiresAt: noon.adding(seconds: 300),
            isOffline: false, method: .tokenExchange)
        expected.exchange = exchange
        expected.authenticatedAt = noon.adding(seconds: -60)
        return .opened(expected)
    }

    @Test func `an exchanged token names its actor where the client has that right`() async throws {
        try await realm().when(redeem())
            .then(expected(TokenExchange(origin: origin, actors: ["gateway"])), in: session)
        try await realm(["token_exchange": "impersonation"]).when(redeem()).then(
            expected(TokenExchange(origin: origin, actors: [], impersonator: "gateway")),
            in: session)
        // What was said before is not washed off.
        try await realm(
            ["token_exchange": "impersonation"], TokenExchange(origin: client, actors: ["desk"])
        ).when(redeem()).then(
            expected(TokenExchange(origin: origin, actors: ["desk"], impersonator: "gateway")),
            in: session)
    }

    /// Of the client that exchanges: its own, or what somebody signed in to it with.
    private func acts(_ person: UUID? = nil, of holder: UUID? = nil) -> SessionTerms {
        SessionTerms(
            account: person, stamp: 0, client: holder ?? gateway, clientID: "gateway", app: nil,
            scope: [], resources: [], factors: [], openedAt: noon,
            expiresAt: noon.adding(seconds: 600), isOffline: false,
            method: person == nil ? .clientCredentials : .authorizationCode)
    }

    @Test func `an exchanged token names an actor who signed in at its client`() async throws {
        let desk = UUID(high: 93, low: 93)
        let actor = shown(scope: [], audience: [], session: acting)
        try await realm().given(SessionEvent.opened(acts(desk)), in: acting)
            .when(redeem(actor: actor)).then(
                expected(TokenExchange(origin: origin, actors: ["\(desk)"])), in: session)
    }

    @Test func `an exchanged token names no actor from another client`() async throws {
        let bystander = UUID(high: 93, low: 93)
        var exchanged = acts(bystander)
        exchanged.exchange = TokenExchange(origin: client, actors: ["gateway"])
        // Everybody's token may be for what the client speaks for.
        let actor = shown(scope: [], audience: [here], session: acting)
        func refused(_ terms: SessionTerms, _ rule: String = "delegation") async throws -> JSON? {
            let verdict = try await realm(["token_exchange": .string(rule)])
                .given(SessionEvent.opened(terms), in: acting).when(redeem(actor: actor))
            guard case .success(let decision) = verdict.result else { return nil }
            return decision.events.first { $0.name == "session.refused" }?.open["reason"]
        }
        for terms in [acts(bystander, of: client), exchanged, acts(account), acts(of: client)] {
            #expect(try await refused(terms) == "actor_not_allowed")
        }
        #expect(try await refused(acts(), "impersonation") == "actor_not_allowed")
        #expect(try await refused(acts()) == nil)
    }

    @Test func `an exchanged token's client may be named by a token of its own`() async throws {
        let known = try realm().given(SessionEvent.opened(acts()), in: acting)
        let actor = shown(scope: [], audience: [], session: acting)
        try await known.when(redeem(actor: actor))
            .then(expected(TokenExchange(origin: origin, actors: ["gateway"])), in: session)
        try await known.given(SessionEvent.ended(.revoked), in: acting).when(redeem(actor: actor))
            .thenRejected(.invalidSubjectToken)
        try await realm().when(redeem(actor: actor)).thenRejected(.invalidSubjectToken)
    }

    @Test func `an exchanged token needs the key of every bound token`() async throws {
        let known = try realm().given(SessionEvent.opened(acts()), in: acting)
        var (subject, actor) = (shown(), shown(session: acting))
        subject.key = "a"
        func refused(_ actor: ShownToken?, proving key: String?) async throws -> JSON? {
            let verdict = try await known.when(redeem(subject, actor: actor, proving: key))
            guard case .success(let decision) = verdict.result else { return nil }
            return decision.events.first { $0.name == "session.refused" }?.open["reason"]
        }
        for wrong in [nil, "b"] {
            #expect(try await refused(nil, proving: wrong) == "unproven_token")
        }
        actor.key = "b"
        for proved in ["a", "b"] {
            #expect(try await refused(actor, proving: proved) == "unproven_token")
        }
        actor.key = "a"
        let exchange = TokenExchange(origin: origin, actors: ["gateway"])
        var decision = Decision(expected(exchange), in: session)
        decision.take(Claim("dpop_proof", "a 1", until: noon), for: gateway)
        try await known.when(redeem(subject, actor: actor, proving: "a")).then(decision)
    }

    @Test func `an exchanged token has no wider reach and no more scopes`() async throws {
        let exchange = TokenExchange(origin: origin, actors: ["gateway"])
        try await realm().when(redeem(scope: ["orders"]))
            .then(expected(scope: ["orders"], exchange), in: session)
        try await realm(["scope": "orders"]).when(redeem())
            .then(expected(scope: ["orders"], exchange), in: session)
        try await realm().when(redeem(scope: ["email"])).thenRejected(.widerScope)
        try await realm().when(redeem(scope: ["offline_access"])).thenRejected(.unknownScope)
        try await realm(["scope": "orders"]).when(redeem(scope: ["openid"]))
            .thenRejected(.unknownScope)
        try await realm().when(redeem(resources: ["https://bank.example"]))
            .thenRejected(.invalidResource)
        try await realm().when(redeem(resources: ["x"])).thenRejected(.invalidResource)
    }

    @Test func `a token exchange takes only tokens that the client may exchange`() async throws {
        let elsewhere = shown(audience: ["https://bank.example"])
        func refused(_ scenario: Scenario, _ subject: ShownToken) async throws -> JSON? {
            let verdict = try await scenario.when(redeem(subject, resources: []))
            guard case .success(let decision) = verdict.result else { return nil }
            return decision.events.first { $0.name == "session.refused" }?.open["reason"]
        }
        #expect(try await refused(realm(), elsewhere) == "exchange_not_allowed")
        #expect(try await refused(realm(), shown(audience: [])) == "exchange_not_allowed")
        let trusting = try realm(phone: ["may_act": ["gateway"]])
        #expect(try await refused(trusting, elsewhere) == nil)
        let chain = TokenExchange(origin: client, actors: ["a", "b", "c", "d", "e"])
        #expect(try await refused(realm([:], chain), shown()) == "exchange_not_allowed")
        try await realm(["token_exchange": "none"]).when(redeem())
            .thenRejected(.unauthorizedClient)
    }

    @Test func `an exchanged token ends with its session, account or client`() async throws {
        let late = noon.adding(seconds: 300)
        try await realm().when(redeem(at: late)).thenRejected(.invalidSubjectToken)
        try await realm().given(SessionEvent.ended(.revoked), in: origin).when(redeem())
            .thenRejected(.invalidSubjectToken)
        for event in [AccountEvent.disabled(), .stampRotated()] {
            try await realm().given(event, in: account).when(redeem())
                .thenRejected(.invalidSubjectToken)
        }
        for event in [ClientEvent.disabled, .deleted] {
            try await realm().given(event, in: client).when(redeem())
                .thenRejected(.invalidSubjectToken)
        }
        try await realm().when(redeem(shown(session: acting))).thenRejected(.invalidSubjectToken)
    }
}
