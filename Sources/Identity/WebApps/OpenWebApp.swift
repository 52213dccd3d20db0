public import EventSourcing
public import Values

/// Gives a certified installation what it opens a web app with: a token that may what the app may, and a
/// browser that is signed in at the app's place. A konnector gets a token alone. Both end with the
/// installation's own session.
public struct OpenWebApp: AnsweringCommand, TimedCommand {
    /// A browser that is signed in by it: its session, and the digest of its secret.
    public struct NewBrowser: Sendable, Equatable {
        public var session: UUID
        public var digest: SecretDigest

        public init(session: UUID, digest: SecretDigest) {
            self.session = session
            self.digest = digest
        }
    }

    public var webApp: UUID
    /// The session whose token was shown.
    public var session: UUID
    /// The session of the token that is given.
    public var token: UUID
    public var browser: NewBrowser?
    public var from: SignInPlace
    public var now: Timestamp

    public init(
        webApp: UUID, session: UUID, token: UUID, browser: NewBrowser? = nil,
        from: SignInPlace = SignInPlace(), now: Timestamp
    ) {
        self.webApp = webApp
        self.session = session
        self.token = token
        self.browser = browser
        self.from = from
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The session, its account or its installation may not go on, or may not do this.
        case notAllowed
        case noWebApp
    }

    public struct Outcome: Sendable, Equatable {
        public let granted: GrantedTokens
        public let card: WebAppCard
        /// When the browser is signed out again, if one was signed in.
        public let browserExpiresAt: Timestamp?
    }

    public struct Facts: RealmFacts {
        let bearer: FlagshipBearer
        let webApp: Versioned<WebApp>

        public var realm: Versioned<Realm> { bearer.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        _ = try await streams.readNew(Session.self, token)
        if let browser { _ = try await streams.readNew(BrowserSession.self, browser.session) }
        return Facts(
            bearer: try await .read(session, from: streams),
            webApp: try await streams.read(WebApp.self, webApp))
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        guard let (shown, account, installation) = facts.bearer.standing(at: now) else {
            throw .notAllowed
        }
        guard let card = facts.webApp.living else { throw .noWebApp }
        let lifetime = card.kind.tokenLifetime
        var terms = SessionTerms(
            account: account.stream, stamp: account.state.stamp, client: installation.stream,
            clientID: installation.state.clientID, app: nil, scope: card.permissions,
            resources: [], factors: shown.factors, openedAt: now,
            expiresAt: min(now.adding(seconds: lifetime), shown.expiresAt), isOffline: false,
            from: from, method: .flagship)
        terms.authenticatedAt = shown.signedInAt
        terms.exchange = TokenExchange(origin: session, actors: [])
        terms.webApp = webApp
        var decision = Decision(SessionEvent.opened(terms), in: token)
        var expiresAt: Timestamp?
        if let browser, card.kind == .app {
            let seconds = facts.bearer.realm.state.settings[SettingCatalogue.browserSessionLifetime]
            var opened = BrowserTerms(
                account: account.stream, stamp: account.state.stamp, method: .sessionCode,
                factors: shown.factors, digest: browser.digest, openedAt: now,
                expiresAt: now.adding(seconds: seconds), from: from)
            opened.webApp = webApp
            opened.opener = Opener(installation: installation.stream, session: session)
            expiresAt = opened.expiresAt
            decision.append(BrowserSessionEvent.opened(opened), in: browser.session)
        }
        return SettledDecision(
            decision,
            Outcome(
                granted: GrantedTokens(
                    session: token, generation: 0, terms: terms, scope: terms.scope,
                    resources: [], lifetime: terms.expiresAt.seconds - now.seconds),
                card: card, browserExpiresAt: expiresAt))
    }
}

extension WebAppKind {
    /// Seconds that a token is good for.
    public var tokenLifetime: Int64 {
        switch self {
        case .app: 86_400
        case .konnector: 1_800
        }
    }
}
