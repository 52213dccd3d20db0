import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

let browser = UUID(high: 31, low: 31)

func browserTerms(
    _ method: BrowserMethod = .code, factors: [AuthenticationFactor] = [.mailedCode],
    digest byte: UInt8 = 9, stamp: SecurityStamp = 0
) throws -> BrowserTerms {
    BrowserTerms(
        account: account, stamp: stamp, method: method, factors: factors,
        digest: try digest(byte), openedAt: noon, expiresAt: noon.adding(seconds: 14 * 86_400))
}

/// One of every event of browsers, with every field that it can have.
func browserSamples() throws -> [any Event] {
    let place = SignInPlace(source: "AAAA", device: "Mac", location: zurich)
    var terms = try browserTerms()
    terms.app = app
    terms.line = client
    terms.webApp = app
    terms.isLong = true
    terms.stamp = SecurityStamp(number: 0, moves: 2, removals: 1)
    terms.opener = Opener(installation: client, session: code, browser: browser)
    terms.from = SignInPlace(
        source: "AAAA", device: "Mac", channel: .whatsapp, location: zurich)
    return [
        BrowserSessionEvent.opened(terms), BrowserSessionEvent.ended(.replaced),
        BrowserSessionEvent.refused(
            RefusedBrowser(
                method: .code, reason: "invalid_code", account: account, app: app, from: place)),
    ]
}

@Suite struct `Signing in with a browser` {
    private func byCode(
        _ byte: UInt8 = 1, replaced: UUID? = nil
    ) throws -> SignInBrowser<OTPGrant> {
        SignInBrowser(
            OTPGrant(mailbox: mailbox, digest: try digest(byte), account: account), by: .code,
            session: browser, digest: try digest(9), replaced: replaced, now: noon)
    }

    private func givenCode(_ settings: JSONObject = [:]) throws -> Scenario {
        givenRealm().given(RealmEvent.settingsChanged(settings), in: Realm.stream)
            .given(registeredAccount(), in: account)
            .given(MailboxEvent.assigned(account), try issued(.signIn), in: mailbox)
    }

    private func opened(line: UUID? = nil) throws -> Decision {
        var decision = Decision(MailboxEvent.codeRedeemed(code), in: mailbox)
        var terms = try browserTerms()
        terms.line = line
        decision.append(BrowserSessionEvent.opened(terms), in: browser)
        return decision
    }

    private func refused(_ reason: String, of method: BrowserMethod = .code) -> BrowserSessionEvent
    {
        .refused(RefusedBrowser(method: method, reason: reason, account: account))
    }

    @Test func `signing in with a browser opens a session without a client`() async throws {
        try await givenCode().when(byCode()).then(try opened())
    }

    @Test func `signing in with a browser creates an account for a confirmed new mailbox`()
        async throws
    {
        var expected = Decision(MailboxEvent.codeRedeemed(code), in: mailbox)
        expected.append(registeredAccount(), in: account)
        expected.append(MailboxEvent.assigned(account), in: mailbox)
        expected.append(BrowserSessionEvent.opened(try browserTerms()), in: browser)
        let open = givenRealm().given(
            RealmEvent.settingsChanged(["registration": "jit_on_otp"]), in: Realm.stream)
        try await open.given(issued(), in: mailbox).when(byCode()).then(expected)
    }

    @Test func `signing in with a browser ends the browser's present session`() async throws {
        let before = UUID(high: 32, low: 32)
        let had = try givenCode().given(
            BrowserSessionEvent.opened(try browserTerms()), in: before)
        var expected = try opened(line: before)
        expected.append(BrowserSessionEvent.ended(.replaced), in: before, of: account)
        try await had.when(byCode(replaced: before)).then(expected)
        try await had.given(BrowserSessionEvent.ended(.signedOut), in: before)
            .when(byCode(replaced: before)).then(try opened())
    }

    @Test func `signing in with a browser logs another person out in the same append`() async throws
    {
        let (before, other) = (UUID(high: 32, low: 32), UUID(high: 35, low: 35))
        var terms = try browserTerms()
        terms.account = other
        var had = try givenCode().given(BrowserSessionEvent.opened(terms), in: before)
        var ends: [EndSession] = []
        func give(_ low: UInt64, _ change: (inout SessionTerms) -> Void) {
            let name = UUID(high: 36, low: low)
            var terms = SessionTerms(
                account: other, stamp: 0, client: client, clientID: "web", app: nil,
                scope: ["openid"], resources: [], factors: [.mailedCode], openedAt: noon,
                expiresAt: noon.adding(seconds: 86_400), isOffline: false)
            terms.browser = before
            change(&terms)
            had = had.given(SessionEvent.opened(terms), in: name)
            ends.append(EndSession(session: name, reason: .loggedOut, of: other))
        }
        give(1) { _ in }
        give(4) { $0.account = account }
        var command = try byCode(replaced: before)
        command.dependents = LeaveSessions.end(ends)
        var expected = try opened()
        expected.append(SessionEvent.ended(.loggedOut), in: ends[0].session, of: other)
        expected.append(BrowserSessionEvent.ended(.handedOver), in: before, of: other)
        try await had.when(command).then(expected)
    }

    @Test func `signing in with a browser by a wrong code, or to a blocked account, is recorded`()
        async throws
    {
        var expected = Decision(MailboxEvent.codeRefused(code, at: noon), in: mailbox)
        expected.append(refused("invalid_code"), in: browser, of: account)
        try await givenCode().when(byCode(2)).then(expected)
        let blocked = try givenCode().given(AccountEvent.disabled(), in: account)
        // A code from before is worth nothing.
        try await blocked.when(byCode()).then(
            Decision(refused("invalid_code"), in: browser, of: account))
        expected = Decision(MailboxEvent.codeRedeemed(code), in: mailbox)
        expected.append(refused("account_blocked"), in: browser, of: account)
        try await blocked.given(issued(.signIn, generation: 1), in: mailbox).when(byCode())
            .then(expected)
    }

    @Test func `signing in with a browser needs an enabled realm and an enabled method`()
        async throws
    {
        try await given().when(byCode()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(byCode()).thenRejected(.realmDisabled)
        try await givenCode(["login_code": false]).when(byCode())
            .thenRejected(.unsupportedGrant)
        // What is set for apps without a browser has no say here.
        try await givenCode(["native_grants": false]).when(byCode()).then(try opened())
    }

    @Test func `signing in with a browser uses a ceremony once, under its id`() async throws {
        let ceremony = UUID(high: 33, low: 33)
        func present(_ id: UUID?) throws -> SignInBrowser<PasskeyGrant> {
            SignInBrowser(
                PasskeyGrant(ceremony: id, proof: .nothing), by: .passkey, session: browser,
                digest: try digest(9), now: noon)
        }
        func refused(_ reason: String) -> BrowserSessionEvent {
            .refused(RefusedBrowser(method: .passkey, reason: reason, account: nil))
        }
        try await givenRealm().when(present(ceremony)).then(
            refused("ceremony_expired"), in: ceremony)
        try await givenRealm().given(refused("ceremony_expired"), in: ceremony)
            .when(present(ceremony)).then(refused("ceremony_used"), in: browser)
        try await givenRealm().when(present(nil)).thenRejected(.unknownCeremony)
    }

    @Test
    func `codes and links for pages are mailed where pages are on, with or without native grants`()
        async throws
    {
        var request = RequestOTP(
            mailbox: mailbox, person: ann, code: code, digest: try digest(1), now: noon)
        request.isForPage = true
        let realm = givenRealm().given(
            RealmEvent.settingsChanged(["registration": "jit_on_otp"]), in: Realm.stream)
        try await realm.when(request).then(try issued(), in: mailbox)
        try await realm.given(
            RealmEvent.settingsChanged(["login_code": false]), in: Realm.stream
        ).when(request).thenRejected(.loginCodeDisabled)
        var link = RequestMagicLink(
            mailbox: mailbox, person: ann, link: UUID(high: 40, low: 40), digest: try digest(1),
            base: "https://id.acme.example", mail: code, now: noon)
        link.isForPage = true
        let off = try await givenCode().when(link)
        off.thenNothing()
        let on = try await givenCode(["login_link": true]).when(link)
        guard case .success(let decision) = on.result else {
            Issue.record("\(on.result)")
            return
        }
        #expect(decision.events.map(\.name) == ["link.issued"])
    }

    @Test func `signing in with a browser demands names only where it creates an account`()
        async throws
    {
        let realm = givenRealm().given(
            RealmEvent.settingsChanged([
                "registration": "jit_on_otp", "registration_last_name": "required",
            ]), in: Realm.stream)
        var request = RequestOTP(
            mailbox: mailbox, person: ann, code: code, digest: try digest(1), now: noon)
        request.isForPage = true
        try await realm.when(request).thenRejected(
            .invalid(FieldFault("last_name", .missing)))
        request.mayJoin = false
        try await realm.when(request).thenNothing()
    }
}

@Suite struct `Signing a browser out` {
    private func end(_ whose: UUID = account) -> EndBrowserSession {
        EndBrowserSession(session: browser, reason: .signedOut, of: whose)
    }

    @Test func `signing a browser out ends its session once`() async throws {
        let realm = given(BrowserSessionEvent.opened(try browserTerms()), in: browser)
        try await realm.when(end()).then(
            Decision(BrowserSessionEvent.ended(.signedOut), in: browser, of: account))
        try await realm.given(BrowserSessionEvent.ended(.revoked), in: browser).when(end())
            .thenNothing()
        // One that another took the place of is not signed out by that: codes that came of it are still good.
        let replaced = realm.given(BrowserSessionEvent.ended(.replaced), in: browser)
        try await replaced.when(end()).then(
            Decision(BrowserSessionEvent.ended(.signedOut), in: browser, of: account))
        try await replaced.given(BrowserSessionEvent.ended(.signedOut), in: browser).when(end())
            .thenNothing()
    }

    @Test func `signing a browser out ends the first session of its line in earnest`() async throws
    {
        let first = client
        var terms = try browserTerms()
        terms.line = first
        let realm = given(BrowserSessionEvent.opened(try browserTerms()), in: first)
            .given(BrowserSessionEvent.ended(.replaced), in: first)
            .given(BrowserSessionEvent.opened(terms), in: browser)
        var ended = Decision(BrowserSessionEvent.ended(.signedOut), in: browser, of: account)
        ended.append(BrowserSessionEvent.ended(.signedOut), in: first, of: account)
        try await realm.when(end()).then(ended)
    }

    @Test func `signing a browser out works for one's own sessions alone`() async throws {
        try await given().when(end()).thenRejected(.notFound)
        try await given(BrowserSessionEvent.opened(try browserTerms()), in: browser)
            .when(end(client)).thenRejected(.notFound)
        try await given(
            BrowserSessionEvent.refused(
                RefusedBrowser(method: .code, reason: "invalid_code", account: account)),
            in: browser
        ).when(end()).thenRejected(.notFound)
    }
}
