public import EventSourcing
public import Values

/// Sends a realm's owner to a provider from which a konnector is to fetch, or has fetched.
public struct BeginConnection: TimedCommand {
    /// The stream of it: its name comes back with the owner.
    public var id: UUID
    public var konnector: UUID
    /// The web app that the owner comes back to.
    public var app: UUID
    /// The session of the owner's browser.
    public var browser: UUID
    public var step: ConnectionStep
    /// Which connection the owner wants to mend.
    public var connection: UUID?
    public var state: String?
    public var now: Timestamp

    public init(
        id: UUID, konnector: UUID, app: UUID, browser: UUID, step: ConnectionStep,
        connection: UUID? = nil, state: String? = nil, now: Timestamp
    ) {
        self.id = id
        self.konnector = konnector
        self.app = app
        self.browser = browser
        self.step = step
        self.connection = connection
        self.state = state
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// No session there, or not the owner's, or not where people sign in.
        case notSignedIn
        /// There is no such konnector, or none that does this on pages.
        case noKonnector
        case noApp
        /// The owner has no such connection at this konnector.
        case noConnection
    }

    public struct Facts: RealmFacts {
        let owner: OwnersBrowser
        let konnector: Versioned<WebApp>
        let app: Versioned<WebApp>
        let connection: Versioned<ProviderVisit>?

        public var realm: Versioned<Realm> { owner.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        _ = try await streams.readNew(ProviderVisit.self, id)
        var known: Versioned<ProviderVisit>?
        if let connection { known = try await streams.read(ProviderVisit.self, connection) }
        return Facts(
            owner: try await .read(browser, from: streams),
            konnector: try await streams.read(WebApp.self, konnector),
            app: try await streams.read(WebApp.self, app), connection: known)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let login = facts.owner.standing(at: now), login.webApp == nil else {
            throw .notSignedIn
        }
        guard let card = facts.konnector.living, card.kind == .konnector,
            card.address(of: step) != nil
        else { throw .noKonnector }
        guard facts.app.living?.kind == .app else { throw .noApp }
        switch step {
        case .start: guard connection == nil else { throw .noConnection }
        case .reconnect, .manage:
            guard let known = facts.connection?.state, let terms = known.terms,
                terms.step == .start, terms.konnector == konnector,
                terms.account == login.account, case .connected? = known.outcome
            else { throw .noConnection }
        }
        return Decision(
            ConnectionEvent.begun(
                ConnectionTerms(
                    konnector: konnector, app: app, account: login.account,
                    browser: facts.owner.line, step: step, connection: connection, state: state,
                    expiresAt: now.adding(seconds: ProviderVisit.patience))), in: id)
    }
}

extension WebAppCard {
    /// The provider's address for this step, if it has one.
    public func address(of step: ConnectionStep) -> String? {
        switch step {
        case .start: startURL
        case .reconnect: reconnectURL
        case .manage: manageURL
        }
    }
}
