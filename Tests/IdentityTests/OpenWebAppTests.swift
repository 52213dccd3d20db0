import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

private let token = UUID(high: 0x77, low: 3)
private let view = UUID(high: 0x77, low: 4)
private let now = Owned.now

private func card(_ kind: WebAppKind = .app) throws -> WebAppCard {
    try WebAppCard([
        "kind": .string(kind.rawValue), "slug": "drive", "name": "Drive",
        "permissions": ["files"],
    ])
}

/// The session of a certified installation, and one web app.
private func givenOpener(
    _ kind: WebAppKind = .app, scope: [String] = ["*"], client: ClientEvent...
) async throws -> Scenario {
    var scenario = try await givenOwner()
    for event in client.isEmpty ? [Owned.certified] : client {
        scenario = scenario.given(event, in: installation)
    }
    var terms = SessionTerms(
        account: Owned.owner, stamp: 0, client: installation,
        clientID: Installation.clientID(of: installation), app: nil, scope: scope,
        resources: [], factors: [.passphrase], openedAt: madeAt,
        expiresAt: madeAt.adding(seconds: 100_000), isOffline: true, method: .flagship)
    terms.issuer = nil
    return scenario.given(SessionEvent.opened(terms), in: Owned.session)
        .given(WebAppEvent.registered(try card(kind)), in: app)
}

private func open(_ browser: Bool = true) throws -> OpenWebApp {
    OpenWebApp(
        webApp: app, session: Owned.session, token: token,
        browser: browser ? .init(session: view, digest: try digest(7)) : nil, now: now)
}

private func given(_ lifetime: Int64) -> SessionTerms {
    var terms = SessionTerms(
        account: Owned.owner, stamp: 0, client: installation,
        clientID: Installation.clientID(of: installation), app: nil, scope: ["files"],
        resources: [], factors: [.passphrase], openedAt: now,
        expiresAt: now.adding(seconds: lifetime), isOffline: false, method: .flagship)
    terms.authenticatedAt = madeAt
    terms.exchange = TokenExchange(origin: Owned.session, actors: [])
    terms.webApp = app
    return terms
}

@Suite struct `Opening a web app` {
    @Test func `opening a web app issues a token and signs a browser in`() async throws {
        var decision = Decision(SessionEvent.opened(given(86_400)), in: token)
        var browser = BrowserTerms(
            account: Owned.owner, stamp: 0, method: .sessionCode, factors: [.passphrase],
            digest: try digest(7), openedAt: now, expiresAt: now.adding(seconds: 14 * 86_400))
        browser.webApp = app
        browser.opener = Opener(installation: installation, session: Owned.session)
        decision.append(BrowserSessionEvent.opened(browser), in: view)
        try await givenOpener().when(open()).then(decision)
        try await givenOpener().when(open(false))
            .then(SessionEvent.opened(given(86_400)), in: token)
    }

    @Test func `opening a konnector issues a token alone`() async throws {
        try await givenOpener(.konnector).when(open())
            .then(SessionEvent.opened(given(1_800)), in: token)
    }

    @Test func `opening a web app needs an enabled realm and a registered app`() async throws {
        try await given().when(open()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(open()).thenRejected(.realmDisabled)
        try await givenOpener().given(WebAppEvent.removed, in: app).when(open())
            .thenRejected(.noWebApp)
        var other = try open()
        other.webApp = view
        try await givenOpener().when(other).thenRejected(.noWebApp)
    }

    @Test func `opening a web app needs a certified installation with all scopes`() async throws {
        try await givenRealm().when(open()).thenRejected(.notAllowed)
        try await givenOpener(scope: ["files"]).when(open()).thenRejected(.notAllowed)
        try await givenOpener(client: .adopted(atOnboarding: false)).when(open())
            .thenRejected(.notAllowed)
        try await givenOpener(client: Owned.certified, .deleted).when(open())
            .thenRejected(.notAllowed)
        try await givenOpener(client: Owned.certified, .disabled).when(open())
            .thenRejected(.notAllowed)
        try await givenOpener().given(SessionEvent.ended(.revoked), in: Owned.session).when(open())
            .thenRejected(.notAllowed)
        try await givenOpener().given(AccountEvent.stampRotated(mail: nil), in: Owned.owner)
            .when(open()).thenRejected(.notAllowed)
        try await givenOpener().given(AccountEvent.disabled(mail: nil), in: Owned.owner)
            .when(open()).thenRejected(.notAllowed)
        var late = try open()
        late.now = madeAt.adding(seconds: 100_000)
        try await givenOpener().when(late).thenRejected(.notAllowed)
        // What an app was given opens nothing.
        var again = try open()
        again.session = token
        again.token = view
        again.browser = nil
        var terms = given(86_400)
        terms.scope = ["*"]
        try await givenOpener().given(SessionEvent.opened(terms), in: token).when(again)
            .thenRejected(.notAllowed)
    }
}

@Suite struct `Handing a session over to a web app` {
    private func givenBrowser(
        of account: UUID = Owned.owner, at webApp: UUID? = nil
    ) async throws -> Scenario {
        var terms = BrowserTerms(
            account: account, stamp: 0, method: .code, factors: [.mailedCode],
            digest: try digest(7), openedAt: madeAt, expiresAt: madeAt.adding(seconds: 1_000))
        terms.webApp = webApp
        return try await givenOpener().given(BrowserSessionEvent.opened(terms), in: view)
    }
    private let hand = HandOverSession(code: Owned.code, browser: view, webApp: app, now: now)

    @Test func `handing a session over expires after a minute and is for one web app`() async throws
    {
        var terms = SessionCodeTerms(
            account: Owned.owner, stamp: 0, opener: Opener(browser: view), factors: [.mailedCode],
            expiresAt: now.adding(seconds: 60))
        terms.webApp = app
        try await givenBrowser().when(hand).then(SessionCodeEvent.issued(terms), in: Owned.code)
    }

    @Test func `handing a session over is for the owner, where people sign in`() async throws {
        try await given().when(hand).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(hand).thenRejected(.realmDisabled)
        try await givenOpener().when(hand).thenRejected(.notSignedIn)
        try await givenBrowser(of: UUID(high: 0x77, low: 9)).when(hand).thenRejected(.notSignedIn)
        try await givenBrowser(at: app).when(hand).thenRejected(.notSignedIn)
        try await givenBrowser().given(BrowserSessionEvent.ended(.signedOut), in: view).when(hand)
            .thenRejected(.notSignedIn)
        try await givenBrowser().given(AccountEvent.stampRotated(mail: nil), in: Owned.owner)
            .when(hand).thenRejected(.notSignedIn)
        var late = hand
        late.now = madeAt.adding(seconds: 1_000)
        try await givenBrowser().when(late).thenRejected(.notSignedIn)
        try await givenBrowser().given(WebAppEvent.removed, in: app).when(hand)
            .thenRejected(.noWebApp)
    }
}

@Suite struct `Going to a konnector's provider` {
    private let bank = UUID(high: 0x77, low: 5)
    private let id = UUID(high: 0x77, low: 6)
    private let account = UUID(high: 0x77, low: 7)

    private func givenLogin(_ more: JSONObject = [:]) async throws -> Scenario {
        let terms = BrowserTerms(
            account: Owned.owner, stamp: 0, method: .sessionCode, factors: [.passphrase],
            digest: try digest(7), openedAt: madeAt, expiresAt: madeAt.adding(seconds: 9_000))
        let members: JSONObject = [
            "kind": "konnector", "slug": "bank", "name": "Bank",
            "start_url": "https://bank.example/s", "manage_url": "https://bank.example/m",
        ]
        return try await givenOpener().given(BrowserSessionEvent.opened(terms), in: view)
            .given(WebAppEvent.registered(try WebAppCard(members)), in: bank)
    }

    private func terms(
        _ step: ConnectionStep = .start, of connection: UUID? = nil
    ) -> ConnectionTerms {
        ConnectionTerms(
            konnector: bank, app: app, account: Owned.owner, browser: view, step: step,
            connection: connection, state: "abc", expiresAt: now.adding(seconds: 3_600))
    }

    private func begin(
        _ step: ConnectionStep = .start, of connection: UUID? = nil
    ) -> BeginConnection {
        BeginConnection(
            id: id, konnector: bank, app: app, browser: view, step: step,
            connection: connection, state: "abc", now: now)
    }

    private func finish(_ outcome: ConnectionOutcome = .connected("b-1")) -> FinishConnection {
        FinishConnection(id: id, konnector: bank, browser: view, outcome: outcome, now: now)
    }

    @Test func `connecting a konnector begins in a signed-in session`() async throws {
        try await givenLogin().when(begin()).then(ConnectionEvent.begun(terms()), in: id)
        try await given().when(begin()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(begin()).thenRejected(.realmDisabled)
        try await givenOpener().when(begin()).thenRejected(.notSignedIn)
        try await givenLogin().given(BrowserSessionEvent.ended(.revoked), in: view).when(begin())
            .thenRejected(.notSignedIn)
        try await givenLogin().given(WebAppEvent.removed, in: bank).when(begin())
            .thenRejected(.noKonnector)
        try await givenLogin().when(begin(.reconnect, of: account)).thenRejected(.noKonnector)
        var swapped = begin()
        swapped.konnector = app
        try await givenLogin().when(swapped).thenRejected(.noKonnector)
        swapped = begin()
        swapped.app = bank
        try await givenLogin().when(swapped).thenRejected(.noApp)
        try await givenLogin().given(WebAppEvent.removed, in: app).when(begin())
            .thenRejected(.noApp)
        try await givenLogin().when(begin(.start, of: account)).thenRejected(.noConnection)
    }

    @Test func `connecting a konnector can begin again for an existing connection`() async throws {
        func known(_ change: (inout ConnectionTerms) -> Void = { _ in }) async throws -> Scenario {
            var before = terms()
            change(&before)
            return try await givenLogin().given(ConnectionEvent.begun(before), in: account)
        }
        let made = ConnectionEvent.finished(.connected("b-1"), account: Owned.owner)
        try await known().given(made, in: account).when(begin(.manage, of: account))
            .then(ConnectionEvent.begun(terms(.manage, of: account)), in: id)
        try await known().when(begin(.manage, of: account)).thenRejected(.noConnection)
        try await known().given(
            ConnectionEvent.finished(.failed("no"), account: Owned.owner), in: account
        ).when(begin(.manage, of: account)).thenRejected(.noConnection)
        try await givenLogin().when(begin(.manage, of: account)).thenRejected(.noConnection)
        try await givenLogin().when(begin(.manage)).thenRejected(.noConnection)
        for change in [
            { $0.konnector = app }, { $0.account = app }, { $0.step = .manage },
        ] as [(inout ConnectionTerms) -> Void] {
            try await known(change).given(made, in: account).when(begin(.manage, of: account))
                .thenRejected(.noConnection)
        }
    }

    @Test func `connecting a konnector ends once, in the same browser`() async throws {
        func away() async throws -> Scenario {
            try await givenLogin().given(ConnectionEvent.begun(terms()), in: id)
        }
        for outcome in [ConnectionOutcome.connected("b-1"), .connected(nil), .failed("no")] {
            try await away().when(finish(outcome))
                .then(ConnectionEvent.finished(outcome, account: Owned.owner), in: id)
        }
        try await given().when(finish()).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(finish()).thenRejected(.realmDisabled)
        try await givenOpener().when(finish()).thenRejected(.notSignedIn)
        try await givenLogin().when(finish()).thenRejected(.unknown)
        var other = finish()
        other.konnector = app
        try await away().when(other).thenRejected(.unknown)
        try await away().given(
            ConnectionEvent.finished(.connected(nil), account: Owned.owner), in: id
        ).when(finish()).thenRejected(.over)
        var late = finish()
        late.now = now.adding(seconds: 3_600)
        try await away().when(late).thenRejected(.over)
        let elsewhere = UUID(high: 0x77, low: 8)
        let login = BrowserTerms(
            account: Owned.owner, stamp: 0, method: .sessionCode, factors: [],
            digest: try digest(7), openedAt: madeAt, expiresAt: madeAt.adding(seconds: 9_000))
        other = finish()
        other.browser = elsewhere
        try await away().given(BrowserSessionEvent.opened(login), in: elsewhere).when(other)
            .thenRejected(.unknown)
    }
}

@Suite struct `Marking an installation as synchronized` {
    private let mark = MarkSynchronized(installation: installation, now: now)
    private let stream = InstallationUse.stream(of: installation)

    @Test func `marking an installation as synchronized is recorded once a minute`() async throws {
        let event = InstallationUseEvent.synchronized(installation, at: now)
        try await givenOwner().when(mark).then(event, in: stream)
        let before = InstallationUseEvent.synchronized(installation, at: now.adding(seconds: -59))
        try await givenOwner().given(before, in: stream).when(mark).thenNothing()
        let long = InstallationUseEvent.synchronized(installation, at: now.adding(seconds: -60))
        try await givenOwner().given(long, in: stream).when(mark).then(event, in: stream)
    }

    @Test func `marking an installation as synchronized needs an existing one`() async throws {
        try await given().when(mark).thenRejected(.realmNotFound)
        try await givenDisabledRealm().when(mark).thenRejected(.realmDisabled)
        try await givenRealm().when(mark).thenRejected(.notFound)
        try await givenOwner(client: .deleted).when(mark).thenRejected(.notFound)
    }
}
