import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let device = UUID(high: 82, low: 1)
private let below = UUID(high: 82, low: 2)
private let service = UUID(high: 82, low: 3)
private let other = UUID(high: 82, low: 4)

@Suite struct `Removing access` {
    private let byClient = RemoveAccess(of: account, at: .client(client))

    private func terms(
        of client: UUID = client, removals: Int = 0, _ federation: FederatedToken? = nil
    ) -> SessionTerms {
        var terms = SessionTerms(
            account: account, stamp: 0, client: client, clientID: "web", app: nil,
            scope: ["openid", "offline_access"], resources: [], factors: [.mailedCode],
            openedAt: noon, expiresAt: noon.adding(seconds: 86_400), isOffline: true)
        terms.stamp.removals = removals
        terms.federation = federation
        return terms
    }

    /// An account with a session, and what happened to the account.
    private func given(_ terms: SessionTerms, _ events: AccountEvent...) throws -> Scenario {
        let realm = try givenNativeRealm().given(registeredAccount(), in: account)
            .given(SessionEvent.opened(terms), in: session)
        return events.reduce(realm) { $0.given($1, in: account) }
    }

    private func refresh(_ session: UUID = session, of client: UUID = client) -> RedeemGrant<
        RefreshGrant
    > {
        RedeemGrant(
            RefreshGrant(session: session, generation: 0),
            GrantRequest(
                client: client, clientID: "web", proof: .none, session: UUID.zero, now: noon))
    }

    private let next = SessionEvent.refreshed(generation: 1, at: noon)
    private let removed = AccountEvent.accessRemoved(.client(client), number: 1)

    @Test func `access is removed by one event, and the removals are numbered`() async throws {
        try await givenAccount().when(byClient).then(removed, in: account)
        try await givenAccount(removed).when(RemoveAccess(of: account, at: .device(device)))
            .then(AccountEvent.accessRemoved(.device(device), number: 2), in: account)
        try await givenAccount(removed).when(byClient)
            .then(AccountEvent.accessRemoved(.client(client), number: 2), in: account)
        try await givenAccount(.deleted(subjects: [])).when(byClient).thenRejected(.notFound)
        try await givenRealm().when(byClient).thenRejected(.notFound)
        try await LogTesting.given().when(byClient).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(byClient).thenRejected(.realmDisabled)
    }

    @Test func `access that was removed ends the client's sessions, and none of a later sign-in`()
        async throws
    {
        try await given(terms()).when(refresh()).then(next, in: session)
        try await given(terms(), removed).when(refresh()).thenRejected(.invalidRefreshToken)
        try await given(terms(removals: 1), removed).when(refresh()).then(next, in: session)
        // Of another client.
        try await given(terms(), .accessRemoved(.client(other), number: 1)).when(refresh())
            .then(next, in: session)
        // And once more, whatever is removed in between.
        try await given(
            terms(removals: 2), removed, .accessRemoved(.client(other), number: 2)
        ).when(refresh()).then(next, in: session)
        try await given(
            terms(removals: 2), removed, .accessRemoved(.client(other), number: 2),
            .accessRemoved(.client(client), number: 3)
        ).when(refresh()).thenRejected(.invalidRefreshToken)
    }

    @Test func `access that was removed from a device ends all that is on it`() async throws {
        let token = FederatedToken(holder: .service, keyID: "CCCCCCCCCC", device: device)
        let gone = AccountEvent.accessRemoved(.device(device), number: 1)
        try await given(terms(of: client, token)).when(refresh()).then(next, in: session)
        try await given(terms(of: client, token), gone).when(refresh())
            .thenRejected(.invalidRefreshToken)
        try await given(terms(removals: 1, token), gone).when(refresh())
            .then(next, in: session)
        try await given(terms(of: client, token), .accessRemoved(.device(other), number: 1))
            .when(refresh()).then(next, in: session)
    }

    @Test func `what came of a browser ends by one event, by whether it has offline access`()
        async throws
    {
        func terms(isOffline: Bool, of browser: UUID? = other) -> SessionTerms {
            var terms = self.terms()
            terms.isOffline = isOffline
            terms.browser = browser
            return terms
        }
        func goes(_ terms: SessionTerms, _ isOffline: Bool) throws -> Bool {
            var own = Account()
            own.apply(.accessRemoved(.browser(other, isOffline: isOffline), number: 1))
            return own.keeps(terms)
        }
        for isOffline in [false, true] {
            #expect(try !goes(terms(isOffline: isOffline), isOffline))
            #expect(try goes(terms(isOffline: isOffline), !isOffline))
            #expect(try goes(terms(isOffline: isOffline, of: device), isOffline))
            #expect(try goes(terms(isOffline: isOffline, of: nil), isOffline))
            var later = terms(isOffline: isOffline)
            later.stamp.removals = 1
            #expect(try goes(later, isOffline))
        }
        let gone = AccountEvent.accessRemoved(.browser(other, isOffline: true), number: 1)
        try await given(terms(isOffline: true)).when(refresh()).then(next, in: session)
        try await given(terms(isOffline: true), gone).when(refresh())
            .thenRejected(.invalidRefreshToken)
    }

    @Test
    func `sessions of a browser end one by one up to 500, and more by an event of the account`()
        async throws
    {
        let all = RemoveAccess(of: account, at: .browser(other, isOffline: false))
        func ends(_ count: Int) -> [EndSession] {
            (0..<count).map {
                EndSession(
                    session: UUID(high: 83, low: UInt64($0)), reason: .loggedOut, of: account)
            }
        }
        let few = LeaveSessions.end(ends(500), all: all)
        #expect(few.map(\.ended.count) == [500])
        #expect(few.allSatisfy { $0.removal == nil })
        #expect(LeaveSessions.end([], all: all).isEmpty)
        #expect(LeaveSessions.end(ends(1_001)).map(\.ended.count) == [500, 500, 1])
        let many = LeaveSessions.end(ends(501), all: all)
        #expect(many.count == 1)
        let command = try #require(many.first)
        #expect(command.ended.isEmpty)
        try await givenAccount(removed).when(command)
            .then(AccountEvent.accessRemoved(all.place, number: 2), in: account)
        try await givenAccount(.deleted(subjects: [])).when(command).then(Decision())
        // The terms of 500 sessions are read at once and told apart.
        let opened = try given(terms())
        try await opened.when(
            try #require(
                LeaveSessions.end(
                    [EndSession(session: session, reason: .loggedOut, of: account)] + ends(3)
                ).first)
        ).then(Decision(SessionEvent.ended(.loggedOut), in: session, of: account))
    }

    @Test func `access that was removed ends what stands below the client's sessions`()
        async throws
    {
        let token = FederatedToken(
            holder: .service, keyID: "CCCCCCCCCC", device: device, superiors: [session])
        let realm = try given(terms())
            .given(try registered(nativeMetadata, secret: nil), in: service)
            .given(SessionEvent.opened(terms(of: service, token)), in: below)
        try await realm.when(refresh(below, of: service)).then(next, in: below)
        try await realm.given(removed, in: account).when(refresh(below, of: service))
            .thenRejected(.invalidRefreshToken)
    }

    @Test func `access that was removed is the reason on record of a refused refresh token`()
        async throws
    {
        let record = RecordRefusedRefresh(
            session: session, client: client, clientID: "web", now: noon)
        let refused = SessionEvent.refused(
            RefusedSignIn(
                method: .refreshToken, reason: "access_removed", account: account, client: client,
                clientID: "web", app: nil, from: SignInPlace()))
        try await given(terms(), removed).when(record).then(
            Decision(
                refused, in: RecordRefusedRefresh.attempt(with: session, at: noon), of: account))
    }

    @Test func `access that was removed ends a device's approval that waits`() async throws {
        let asked = DeviceTerms(
            client: client, clientID: "web", app: nil, scope: ["openid"], resources: [],
            expiresAt: noon.adding(seconds: 600))
        let metadata: JSONObject = [
            "token_endpoint_auth_method": "none",
            "grant_types": ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        ]
        let realm = givenRealm()
            .given(try registered(metadata, secret: nil), in: client)
            .given(registeredAccount(), in: account)
            .given(DeviceEvent.requested(asked), in: device)
        let approve = ApproveDevice(
            device: device, account: account, factors: [.passkey], signedInAt: noon, now: noon)
        let redeem = RedeemGrant(
            DeviceGrant(device: device),
            GrantRequest(
                client: client, clientID: "web", proof: .none, session: session, now: noon))
        func names(_ scenario: Scenario) async throws -> [String] {
            switch try await scenario.when(redeem).result {
            case .success(let decision): decision.events.map(\.name)
            case .failure: []
            }
        }
        guard case .success(let early) = try await realm.when(approve).result,
            case .success(let late) = try await realm.given(removed, in: account)
                .when(approve).result
        else {
            Issue.record("It is approved.")
            return
        }
        let both = ["device.redeemed", "session.opened"]
        #expect(try await names(realm.given(early)) == both)
        #expect(try await names(realm.given(removed, in: account).given(late)) == both)
        #expect(
            try await names(realm.given(early).given(removed, in: account)) == ["session.refused"])
    }

    @Test func `access that was removed from an installation ends the codes that it was given`()
        async throws
    {
        var opened = SessionTerms(
            account: Owned.owner, stamp: 0, client: installation, clientID: "phone", app: nil,
            scope: [Installation.scope], resources: [], factors: [.passphrase],
            openedAt: madeAt, expiresAt: madeAt.adding(seconds: 86_400), isOffline: true,
            method: .flagship)
        opened.authenticatedAt = madeAt
        let realm = try await givenOwner(client: Owned.certified)
            .given(SessionEvent.opened(opened), in: Owned.session)
        let issue = IssueSessionCode(code: Owned.code, session: Owned.session, now: Owned.now)
        guard case .success(let issued) = try await realm.when(issue).result else {
            Issue.record("A code is issued.")
            return
        }
        let signIn = SignInBrowser(
            SessionCodeProof(code: Owned.code), by: .sessionCode, session: UUID(high: 82, low: 9),
            digest: try digest(9), now: Owned.now)
        let removed = AccountEvent.accessRemoved(.client(installation), number: 1)
        func names(_ scenario: Scenario) async throws -> [String] {
            switch try await scenario.when(signIn).result {
            case .success(let decision): decision.events.map(\.name)
            case .failure: []
            }
        }
        #expect(try await names(realm.given(issued)).contains("browser.opened"))
        let over = realm.given(issued).given(removed, in: Owned.owner)
        #expect(try await !names(over).contains("browser.opened"))
        try await realm.given(removed, in: Owned.owner).when(issue).thenRejected(.notAllowed)
    }
}
