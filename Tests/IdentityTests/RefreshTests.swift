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
        try await realm.when(refresh(0, at: noon.adding(seconds: 5))).thenNothing()
        let late = noon.adding(seconds: 11)
        try await realm.when(refresh(0, at: late))
            .then(SessionEvent.refreshed(generation: 2, at: late, parent: 0), in: session)
    }

    @Test func `two copies of a refresh token at the end of the leeway get the same successor`()
        async throws
    {
        // The record has whole seconds, and the leeway is not shorter for that.
        let made = Timestamp(microseconds: noon.microseconds + 900_000)
        let stored = SessionEvent.refreshed(generation: 1, at: Timestamp(seconds: made.seconds))
        let first = Timestamp(microseconds: made.microseconds + 9_990_000)
        let again = SessionEvent.refreshed(generation: 1, at: first)
        let realm = try given(stored)
        try await realm.when(refresh(0, at: first)).then(again, in: session)
        let repeated = realm.given(again, in: session)
        let second = Timestamp(microseconds: made.microseconds + 10_010_000)
        try await repeated.when(refresh(0, at: second)).thenNothing()
        // It begins once more, and no further.
        let last = first.adding(seconds: 9)
        try await repeated.when(refresh(0, at: last)).thenNothing()
        try await repeated.when(refresh(0, at: first.adding(seconds: 11)))
            .then(
                SessionEvent.refreshed(
                    generation: 2, at: first.adding(seconds: 11), parent: 0), in: session)
        // The leaf goes on as it would have.
        try await repeated.when(refresh(1, at: last))
            .then(SessionEvent.refreshed(generation: 2, at: last), in: session)
    }

    @Test func `redeeming a void successor ends the family`() async throws {
        let late = noon.adding(seconds: 60)
        let realm = try given(
            .refreshed(generation: 1, at: noon), .refreshed(generation: 2, at: late, parent: 0))
        try await realm.when(refresh(1, at: late)).then(reuse)
        try await realm.when(refresh(0, at: late.adding(seconds: 5))).thenNothing()
        try await realm.when(refresh(0, at: late.adding(seconds: 11)))
            .then(
                SessionEvent.refreshed(generation: 3, at: late.adding(seconds: 11), parent: 0),
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
        try await strict.when(refresh(0, at: noon.adding(seconds: 5))).thenNothing()
        try await strict.when(refresh(0, at: noon.adding(seconds: 11))).then(reuse)
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
        // Bound by the leaf before: the parent was given to that key.
        let realm = try given(
            .refreshed(generation: 1, at: noon, key: "k1"), .refreshed(generation: 2, at: noon))
        let late = noon.adding(seconds: 60)
        var again = refresh(1, at: late)
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
            let renewed = SessionEvent.refreshed(generation: 3, at: late, parent: 1)
            #expect(decision.events == Decision(renewed, in: session).events)
        }
    }

    private func by(_ key: String?, _ command: RedeemGrant<RefreshGrant>) -> RedeemGrant<
        RefreshGrant
    > {
        var command = command
        command.request.keyProof = key.map { UsedProof(key: $0, id: "j", until: noon) }
        return command
    }

    @Test(arguments: [nil, "thief", "owner"])
    func `a used refresh token ends the family whichever key its request has`(key: String?)
        async throws
    {
        for bound in [nil, "owner"] as [String?] {
            let realm = try given(
                .refreshed(generation: 1, at: noon),
                .refreshed(generation: 2, at: noon, key: bound),
                .refreshed(generation: 3, at: noon))
            for old in 0...1 {
                let verdict = try await realm.when(by(key, refresh(old)))
                // No proof is used up by it: a proof that was used before does not hide it.
                verdict.then(reuse)
            }
        }
    }

    @Test func `a repeat of a refresh token binds the family to no key`() async throws {
        let realm = try given(.refreshed(generation: 1, at: noon))
        for seconds in [0, 9, 60, 7200] as [Int64] {
            let now = noon.adding(seconds: seconds)
            let decision = try await realm.when(by("thief", refresh(0, at: now))).result.get()
            #expect(decision.events.allSatisfy { $0.open["key"] == nil })
        }
        let leaf = try await realm.when(by("owner", refresh(1))).result.get()
        #expect(leaf.events.first?.open["key"] == "owner")
    }

    @Test func `a refresh token that a thief's key bound ends the family when its owner shows it`()
        async throws
    {
        let realm = try given(.refreshed(generation: 1, at: noon, key: "thief"))
        for seconds in [0, 9, 60, 86_400] as [Int64] {
            for key in [nil, "owner"] as [String?] {
                try await realm.when(by(key, refresh(0, at: noon.adding(seconds: seconds))))
                    .then(reuse)
            }
        }
        // A copy of what was bound is worth nothing without the key, and ends nothing.
        let bound = realm.given(SessionEvent.refreshed(generation: 2, at: noon), in: session)
        for copy in 1...2 {
            try await bound.when(by(nil, refresh(copy))).thenRejected(.invalidRefreshToken)
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
        var faulty = refresh(0)
        faulty.request.isFaulty = true
        try await realm.when(faulty).then(ended)
        faulty.grant.generation = 2
        try await realm.when(faulty).thenRejected(.faultyRequest)
        var elsewhere = refresh(0)
        elsewhere.grant.takesRequestKeys = true
        try await realm.when(elsewhere).then(ended)
        let demanding = try given(
            .refreshed(generation: 1, at: noon), .refreshed(generation: 2, at: noon),
            metadata: ["dpop_bound_access_tokens": true])
        try await demanding.when(refresh(0)).then(ended)
        try await demanding.when(refresh(2)).thenRejected(.proofNeeded)
        // Of a family that was not used for long, as well.
        try await realm.when(refresh(0, at: noon.adding(seconds: 15 * 86_400))).then(ended)
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
