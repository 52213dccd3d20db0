import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `Redeeming a refresh token` {
    func refresh(
        _ generation: Int, at: Timestamp = noon, scope: [String] = [], resources: [String] = [],
        from other: UUID? = nil
    ) -> RedeemGrant<RefreshGrant> {
        RedeemGrant(
            RefreshGrant(session: session, generation: generation),
            GrantRequest(
                client: other ?? client, clientID: "web", proof: .none, scope: scope,
                resources: resources, session: UUID.zero, now: at))
    }

    @Test func `redeeming a refresh token is refused where the app now demands a higher level`()
        async throws
    {
        try await given()
            .given(
                RealmEvent.settingsChanged(["sign_in_level": "multi"]), in: Realm.stream
            ).when(refresh(0)).thenRejected(.strongerSignInNow)
    }

    func given(_ events: SessionEvent..., metadata: JSONObject = [:]) throws -> Scenario {
        let terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil,
            scope: ["openid", "offline_access"], resources: [], factors: [.mailedCode],
            openedAt: noon, expiresAt: noon.adding(seconds: 30 * 86_400), isOffline: true)
        let realm = try givenNativeRealm(metadata: metadata).given(registeredAccount(), in: account)
            .given(SessionEvent.opened(terms), in: session)
        return events.reduce(realm) { $0.given($1, in: session) }
    }

    @Test func `redeeming a refresh token gives the next one`() async throws {
        try await given().when(refresh(0))
            .then(SessionEvent.refreshed(generation: 1, at: noon), in: session)
    }

    private let reuse = Decision(SessionEvent.ended(.reuse), in: session, of: account)

    @Test
    func `redeeming a refresh token again within the leeway gives the same successor, later a new`()
        async throws
    {
        let realm = try given(.refreshed(generation: 1, at: noon))
        try await realm.when(refresh(0, at: noon.adding(seconds: 9))).thenNothing()
        let late = noon.adding(seconds: 10)
        try await realm.when(refresh(0, at: late))
            .then(SessionEvent.refreshed(generation: 2, at: late, parent: 0), in: session)
    }

    @Test func `redeeming a void successor ends the family`() async throws {
        let late = noon.adding(seconds: 60)
        let realm = try given(
            .refreshed(generation: 1, at: noon), .refreshed(generation: 2, at: late, parent: 0))
        try await realm.when(refresh(1, at: late)).then(reuse)
        try await realm.when(refresh(0, at: late.adding(seconds: 9))).thenNothing()
        try await realm.when(refresh(0, at: late.adding(seconds: 10)))
            .then(
                SessionEvent.refreshed(generation: 3, at: late.adding(seconds: 10), parent: 0),
                in: session)
        try await realm.when(refresh(2, at: late))
            .then(SessionEvent.refreshed(generation: 3, at: late), in: session)
        // The one that took its place was used: now its parent is another.
        let confirmed = realm.given(SessionEvent.refreshed(generation: 3, at: late), in: session)
        for old in 0...1 { try await confirmed.when(refresh(old, at: late)).then(reuse) }
        try await confirmed.when(refresh(2, at: late)).thenNothing()
    }

    @Test func `redeeming a refresh token again after the late-repeat time ends the family`()
        async throws
    {
        let realm = try given(.refreshed(generation: 1, at: noon))
        let day = noon.adding(seconds: 86_400)
        try await realm.when(refresh(0, at: day.adding(seconds: -1)))
            .then(
                SessionEvent.refreshed(generation: 2, at: day.adding(seconds: -1), parent: 0),
                in: session)
        try await realm.when(refresh(0, at: day)).then(reuse)
        // However often it was repeated: what counts is when it was redeemed first.
        let evening = noon.adding(seconds: 86_000)
        let repeated = realm.given(
            SessionEvent.refreshed(generation: 2, at: evening, parent: 0), in: session)
        try await repeated.when(refresh(0, at: evening)).thenNothing()
        try await repeated.when(refresh(0, at: day)).then(reuse)
        let strict = realm.given(
            RealmEvent.settingsChanged(["refresh_token_late_repeat": 0]), in: Realm.stream)
        try await strict.when(refresh(0, at: noon.adding(seconds: 9))).thenNothing()
        try await strict.when(refresh(0, at: noon.adding(seconds: 10))).then(reuse)
    }

    @Test func `redeeming a refresh token twice in the profile voo always ends the family`()
        async throws
    {
        let realm = try given(.refreshed(generation: 1, at: noon), metadata: ["profile": "voo"])
        for seconds in [0, 9, 10, 3600] as [Int64] {
            try await realm.when(refresh(0, at: noon.adding(seconds: seconds))).then(reuse)
        }
        try await realm.when(refresh(1))
            .then(SessionEvent.refreshed(generation: 2, at: noon), in: session)
    }

    @Test func `redeeming a refresh token late keeps the family's bound key`() async throws {
        let realm = try given(.refreshed(generation: 1, at: noon, key: "k1"))
        let late = noon.adding(seconds: 60)
        var again = refresh(0, at: late)
        try await realm.when(again).thenRejected(.invalidRefreshToken)
        for (key, isItsOwn) in [("k2", false), ("k1", true)] {
            again.request.keyProof = UsedProof(key: key, id: "j", until: late)
            let verdict = try await realm.when(again)
            guard isItsOwn else {
                verdict.thenRejected(.invalidRefreshToken)
                continue
            }
            guard case .success(let decision) = verdict.result else {
                Issue.record("Refused: \(verdict.result)")
                continue
            }
            let renewed = SessionEvent.refreshed(generation: 2, at: late, parent: 0)
            #expect(decision.events == Decision(renewed, in: session).events)
        }
    }

    @Test func `redeeming a refresh token twice at once without leeway ends the family`()
        async throws
    {
        try await given(.refreshed(generation: 1, at: noon.adding(seconds: 1)))
            .given(RealmEvent.settingsChanged(["refresh_token_leeway": 0]), in: Realm.stream)
            .when(refresh(0)).then(
                Decision(SessionEvent.ended(.reuse), in: session, of: account))
    }

    @Test func `redeeming a refresh token whose successor was used ends the family at once`()
        async throws
    {
        try await given(.refreshed(generation: 1, at: noon), .refreshed(generation: 2, at: noon))
            .when(refresh(0)).then(
                Decision(SessionEvent.ended(.reuse), in: session, of: account))
    }

    @Test
    func `redeeming a refresh token twice ends the family with the place, and then does nothing`()
        async throws
    {
        let place = SignInPlace(source: "there", device: "Linux")
        var again = refresh(0)
        again.request.from = place
        let family = try given(
            .refreshed(generation: 1, at: noon), .refreshed(generation: 2, at: noon))
        let ended = SessionEvent.ended(.reuse, from: place)
        try await family.when(again).then(Decision(ended, in: session, of: account))
        try await family.given(ended, in: session).when(again)
            .thenRejected(.invalidRefreshToken)
    }

    @Test func `redeeming a refresh token twice ends the family also in a faulty request`()
        async throws
    {
        let realm = try given(
            .refreshed(generation: 1, at: noon), .refreshed(generation: 2, at: noon))
        let ended = Decision(SessionEvent.ended(.reuse), in: session, of: account)
        for (scope, resources) in [
            (["openid", "email"], []), (["nonsense"], []), ([], ["https://bank.example"]),
            ([], ["x"]),
        ] as [([String], [String])] {
            try await realm.when(refresh(0, scope: scope, resources: resources)).then(ended)
        }
        try await realm
            .given(
                RealmEvent.settingsChanged(["sign_in_level": "multi"]), in: Realm.stream
            ).when(refresh(0)).then(ended)
        for resource in ["x", "https://bank.example"] {
            try await realm.when(refresh(2, resources: [resource])).thenRejected(.invalidResource)
        }
    }

    @Test func `redeeming a refresh token is refused once its account, client or session is over`()
        async throws
    {
        try await given(.ended(.revoked)).when(refresh(0)).thenRejected(.invalidRefreshToken)
        try await given().given(AccountEvent.stampRotated(), in: account).when(refresh(0))
            .thenRejected(.invalidRefreshToken)
        try await given().given(AccountEvent.disabled(), in: account).when(refresh(0))
            .thenRejected(.invalidRefreshToken)
        try await given().when(refresh(0, at: noon.adding(seconds: 14 * 86_400)))
            .thenRejected(.invalidRefreshToken)
        try await given(.refreshed(generation: 1, at: noon.adding(seconds: 25 * 86_400)))
            .when(refresh(1, at: noon.adding(seconds: 30 * 86_400)))
            .thenRejected(.invalidRefreshToken)
        try await given().when(refresh(1)).thenRejected(.invalidRefreshToken)
        try await given().when(refresh(0, from: UUID(high: 9, low: 9)))
            .thenRejected(.invalidClient)
    }

    @Test func `redeeming a refresh token may narrow the scope and never widen it`() async throws {
        try await given().when(refresh(0, scope: ["openid"]))
            .then(SessionEvent.refreshed(generation: 1, at: noon), in: session)
        try await given().when(refresh(0, scope: ["openid", "email"])).thenRejected(.widerScope)
    }
}
