import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let consent = UUID(high: 21, low: 21)
private let pushed = UUID(high: 23, low: 23)

@Suite struct `Redeeming an authorization code` {
    private func code(
        _ change: (inout AuthorizationCode) -> Void = { _ in }
    ) throws -> AuthorizationCode {
        var code = AuthorizationCode(
            id: session, client: client, account: account, browser: browser,
            redirect: try digest(1), challenge: try digest(2), scope: ["openid"],
            authenticatedAt: noon.adding(seconds: -60), factors: [.passkey],
            expiresAt: noon.adding(seconds: 60))
        change(&code)
        return code
    }

    private func redeem(
        _ code: AuthorizationCode, redirect: UInt8? = 1, verifier: UInt8? = 2,
        at: Timestamp = noon, resources: [String] = []
    ) throws -> RedeemGrant<AuthorizationCodeGrant> {
        RedeemGrant(
            AuthorizationCodeGrant(
                code: code, consent: consent, redirect: try redirect.map(digest),
                verifier: try verifier.map(digest)),
            GrantRequest(
                client: client, clientID: "web", proof: .none, resources: resources,
                session: key, now: at))
    }

    private func given(_ metadata: JSONObject = ["consent": "none"]) throws -> Scenario {
        try givenNativeRealm(metadata: metadata).given(registeredAccount(), in: account)
            .given(opened(), in: browser)
    }

    private func opened() throws -> BrowserSessionEvent {
        .opened(
            BrowserTerms(
                account: account, stamp: 0, method: .passkey, factors: [.passkey],
                digest: try digest(7), openedAt: noon.adding(seconds: -60),
                expiresAt: noon.adding(seconds: 3600)))
    }

    private func terms() -> SessionTerms {
        var terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil,
            scope: ["openid"], resources: [], factors: [.passkey], openedAt: noon,
            expiresAt: noon.adding(seconds: 365 * 86_400), isOffline: false,
            method: .authorizationCode)
        terms.authenticatedAt = noon.adding(seconds: -60)
        terms.browser = browser
        return terms
    }

    private func refused(_ reason: String) -> SessionEvent {
        .refused(
            RefusedSignIn(
                method: .authorizationCode, reason: reason, account: account, client: client,
                clientID: "web", app: nil, from: SignInPlace()))
    }

    @Test func `redeeming a code opens a session with the code's id`() async throws {
        try await given().when(redeem(code())).then(SessionEvent.opened(terms()), in: session)
    }

    @Test func `redeeming a code of before a removal of access is refused, and on record`()
        async throws
    {
        let removed = AccountEvent.accessRemoved(.client(client), number: 2)
        let other = AccountEvent.accessRemoved(.client(key), number: 1)
        let both = try given().given(other, removed, in: account)
        try await both.when(redeem(code())).then(refused("access_removed"), in: session)
        try await both.when(redeem(code { $0.removals = 1 }))
            .then(refused("access_removed"), in: session)
        // What it opens carries what it was agreed to under.
        var opened = terms()
        opened.stamp.removals = 2
        try await both.when(redeem(code { $0.removals = 2 }))
            .then(SessionEvent.opened(opened), in: session)
        try await given().given(other, in: account).when(redeem(code()))
            .then(SessionEvent.opened(terms()), in: session)
    }

    @Test func `redeeming a code twice ends its session, and a third time does nothing`()
        async throws
    {
        let once = try given().given(SessionEvent.opened(terms()), in: session)
        try await once.when(redeem(code()))
            .then(Decision(SessionEvent.ended(.codeReuse), in: session, of: account))
        try await once.given(SessionEvent.ended(.codeReuse), in: session).when(redeem(code()))
            .thenRejected(.unknownAuthorizationCode)
        try await given().given(refused("wrong_verifier"), in: session).when(redeem(code()))
            .thenRejected(.unknownAuthorizationCode)
    }

    @Test func `redeeming a code twice ends its session whatever else the request says`()
        async throws
    {
        let ended = Decision(SessionEvent.ended(.codeReuse), in: session, of: account)
        let once = try given().given(SessionEvent.opened(terms()), in: session)
        var faulty = try redeem(code())
        faulty.request.isFaulty = true
        var proven = try redeem(code())
        proven.request.keyProof = UsedProof(key: "thief", id: "j", until: noon)
        let requests = [
            faulty, proven, try redeem(code(), redirect: 3), try redeem(code(), redirect: nil),
            try redeem(code(), verifier: 3), try redeem(code(), verifier: nil),
            try redeem(code(), at: noon.adding(seconds: 3600)),
            try redeem(code(), resources: ["x"]), try redeem(code { $0.client = app }),
        ]
        for request in requests { try await once.when(request).then(ended) }
        // Its client's tokens need a proof, and the request has none.
        try await given(["consent": "none", "dpop_bound_access_tokens": true])
            .given(SessionEvent.opened(terms()), in: session).when(redeem(code())).then(ended)
    }

    @Test func `redeeming a code by another client or redirect URI is refused and recorded`()
        async throws
    {
        let realm = try given()
        try await realm.when(redeem(code { $0.client = app }))
            .then(refused("other_client"), in: session)
        try await realm.when(redeem(code(), redirect: 3))
            .then(refused("other_redirect_uri"), in: session)
        try await realm.when(redeem(code { $0.challenge = nil }, redirect: nil, verifier: nil))
            .then(refused("redirect_uri_missing"), in: session)
        for verifier: UInt8? in [3, nil] {
            try await realm.when(redeem(code(), verifier: verifier))
                .then(refused("wrong_verifier"), in: session)
        }
        try await realm.when(redeem(code { $0.challenge = nil }))
            .then(refused("wrong_verifier"), in: session)
    }

    @Test
    func `redeeming a code may omit the redirect URI that the request omitted or PKCE replaces`()
        async throws
    {
        try await given().when(redeem(code(), redirect: nil))
            .then(SessionEvent.opened(terms()), in: session)
        try await given().when(redeem(code { $0.namesRedirect = false }, redirect: nil))
            .then(SessionEvent.opened(terms()), in: session)
    }

    @Test
    func `VOO-05: redeeming a code may omit a single redirect URI where the profile allows it`()
        async throws
    {
        let voo = try given(["consent": "none", "profile": "voo"])
        var terms = terms()
        terms.isOffline = true
        try await voo.when(redeem(code(), redirect: nil))
            .then(SessionEvent.opened(terms), in: session)
    }

    @Test func `redeeming a code after it expired is refused, also when a clock goes back`()
        async throws
    {
        try await given().when(redeem(code(), at: noon.adding(seconds: 60)))
            .then(refused("expired"), in: session)
        // At a node whose clock is behind it would still be good, but for the record.
        try await given().given(refused("expired"), in: session)
            .when(redeem(code(), at: noon)).thenRejected(.unknownAuthorizationCode)
    }

    @Test func `redeeming a code opens a session of the code's issuer, at any host`() async throws {
        var terms = terms()
        terms.issuer = "https://id.example.org"
        let code = try code { $0.issuer = "https://id.example.org" }
        var elsewhere = try redeem(code)
        elsewhere.request.issuer = "https://other.example.org"
        try await given().when(elsewhere).then(SessionEvent.opened(terms), in: session)
    }

    @Test func `redeeming a code for an account that may not sign in is refused`() async throws {
        try await given().given(AccountEvent.disabled(mail: nil), in: account).when(redeem(code()))
            .then(refused("account_blocked"), in: session)
    }

    @Test func `redeeming a code is refused after a logout, everywhere or of that browser`()
        async throws
    {
        for end: BrowserSessionEnd in [.signedOut, .revoked, .handedOver] {
            try await given().given(BrowserSessionEvent.ended(end), in: browser)
                .when(redeem(code())).then(refused("browser_signed_out"), in: session)
        }
        try await given().given(AccountEvent.stampRotated(mail: nil), in: account)
            .when(redeem(code())).then(refused("browser_signed_out"), in: session)
        try await givenNativeRealm(metadata: ["consent": "none"])
            .given(registeredAccount(), in: account).when(redeem(code()))
            .then(refused("browser_signed_out"), in: session)
        try await given().given(BrowserSessionEvent.ended(.replaced), in: browser)
            .when(redeem(code())).then(SessionEvent.opened(terms()), in: session)
    }

    @Test func `redeeming a code is refused to a client without consent`() async throws {
        let realm = try given([:])
        try await realm.when(redeem(code())).then(refused("consent_withdrawn"), in: session)
        func agreed(_ scope: [String], _ resources: [String] = []) -> ConsentEvent {
            .given(
                GivenConsent(
                    account: account, client: client, clientID: "web",
                    agreed: Agreement(scope: scope, resources: resources), at: noon))
        }
        try await realm.given(agreed(["email"]), in: consent).when(redeem(code()))
            .then(refused("consent_withdrawn"), in: session)
        let given = realm.given(agreed(["openid"]), in: consent)
        try await given.when(redeem(code())).then(SessionEvent.opened(terms()), in: session)
        try await given.given(
            ConsentEvent.withdrawn(account: account, client: client), in: consent
        ).when(redeem(code())).then(refused("consent_withdrawn"), in: session)
        let elsewhere = try code { $0.resources = ["https://api.example"] }
        try await given.when(redeem(elsewhere)).then(refused("consent_withdrawn"), in: session)
        var there = terms()
        there.resources = ["https://api.example"]
        try await realm.given(agreed(["openid"], ["https://api.example"]), in: consent)
            .when(redeem(elsewhere)).then(SessionEvent.opened(there), in: session)
    }

    @Test func `redeeming a code for a resource that was not requested is refused`() async throws {
        try await given().when(redeem(code(), resources: ["https://api.example"]))
            .thenRejected(.invalidResource)
        var asked = try code()
        asked.resources = ["https://api.example"]
        try await given(["consent": "none", "resources": ["https://other.example"]]).when(
            redeem(asked)
        )
        .thenRejected(.invalidResource)
    }
}

@Suite struct `Agreeing to a client` {
    private func give(
        _ scope: [String], _ resources: [String] = [], at place: String = "web.example"
    ) -> GiveConsent {
        GiveConsent(
            consent: consent, account: account, client: client,
            agreed: Agreement(scope: scope, resources: resources), place: place, now: noon)
    }

    private func given(
        _ scope: [String], _ resources: [String] = [], _ places: [PlacedAgreement] = []
    ) -> ConsentEvent {
        .given(
            GivenConsent(
                account: account, client: client, clientID: "web",
                agreed: Agreement(scope: scope, resources: resources), places: places, at: noon))
    }

    private func givenPeople(_ metadata: JSONObject = [:]) throws -> Scenario {
        try givenNativeRealm(metadata: metadata).given(registeredAccount(), in: account)
    }

    @Test func `consenting to a client adds to the earlier consent`() async throws {
        try await givenPeople().when(give(["openid"])).then(given(["openid"]), in: consent)
        try await givenPeople().given(given(["openid", "email"]), in: consent)
            .when(give(["email", "profile"]))
            .then(given(["openid", "email", "profile"]), in: consent)
        try await givenPeople().given(given(["openid"], ["https://a.example"]), in: consent)
            .when(give(["openid"], ["https://b.example", "https://a.example"]))
            .then(given(["openid"], ["https://a.example", "https://b.example"]), in: consent)
    }

    @Test func `consenting to an unverified client keeps the redirect host that was shown`()
        async throws
    {
        func placed(_ place: String, _ scope: String...) -> PlacedAgreement {
            PlacedAgreement(place, Agreement(scope: scope))
        }
        let people = try givenPeople(["resources_listed_only": true])
        try await people.when(give(["openid"], at: "a.example"))
            .then(given(["openid"], [], [placed("a.example", "openid")]), in: consent)
        // What was agreed to before there was a place counts at none.
        let old = people.given(given(["openid", "email"]), in: consent)
        try await old.when(give(["openid"], at: "a.example"))
            .then(given(["openid", "email"], [], [placed("a.example", "openid")]), in: consent)
        let two = [placed("a.example", "openid"), placed("b:", "openid", "email")]
        try await people.given(given(["openid", "email"], [], two), in: consent)
            .when(give(["profile"], at: "a.example"))
            .then(
                given(
                    ["openid", "email", "profile"], [],
                    [placed("b:", "openid", "email"), placed("a.example", "openid", "profile")]),
                in: consent)
    }

    @Test func `consenting to many redirect hosts forgets the oldest`() async throws {
        let places = (0..<50).map { PlacedAgreement("\($0).example", Agreement(scope: ["openid"])) }
        let last = PlacedAgreement("last.example", Agreement(scope: ["openid"]))
        try await givenPeople(["resources_listed_only": true])
            .given(given(["openid"], [], places), in: consent)
            .when(give(["openid"], at: "last.example"))
            .then(given(["openid"], [], places.dropFirst() + [last]), in: consent)
    }

    @Test func `consenting to a client needs an existing realm, client and account`() async throws {
        try await LogTesting.given().when(give([])).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(give([])).thenRejected(.realmDisabled)
        try await givenRealm().when(give([])).thenRejected(.clientNotFound)
        try await givenNativeRealm().when(give([])).thenRejected(.accountBlocked)
        try await givenPeople().given(ClientEvent.disabled, in: client).when(give([]))
            .thenRejected(.clientNotFound)
    }

    @Test func `consenting to a client can be revoked by the same account`() async throws {
        let take = ConsentChange.withdraw(consent, account: account)
        let agreed = LogTesting.given(given(["openid"]), in: consent)
        let back = ConsentEvent.withdrawn(account: account, client: client)
        try await agreed.when(take).then(back, in: consent)
        try await agreed.given(back, in: consent).when(take).thenRejected(.notFound)
        try await LogTesting.given().when(take).thenRejected(.notFound)
        try await agreed.when(ConsentChange.withdraw(consent, account: app))
            .thenRejected(.notFound)
    }

    @Test func `consenting to a pushed request grants it once`() async throws {
        let use = PushedRequestChange.use(pushed, account: account, client: client)
        let used = PushedRequestEvent.used(account: account, client: client)
        try await LogTesting.given().when(use).then(used, in: pushed)
        try await LogTesting.given(used, in: pushed).when(use).thenRejected(.used)
    }
}
