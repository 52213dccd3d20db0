public import EventSourcing
public import Values

/// Gives a realm's owner, who is signed in with a browser, a code that signs the same browser in at the
/// place of a web app. It is good there alone, and for a minute.
public struct HandOverSession: TimedCommand {
    public static let lifetime: Int64 = 60

    /// The stream of the code.
    public var code: UUID
    /// The browser's session.
    public var browser: UUID
    public var webApp: UUID
    public var now: Timestamp

    public init(code: UUID, browser: UUID, webApp: UUID, now: Timestamp) {
        self.code = code
        self.browser = browser
        self.webApp = webApp
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// No session there, or not the owner's.
        case notSignedIn
        case noWebApp
    }

    public struct Facts: RealmFacts {
        let owner: OwnersBrowser
        let webApp: Versioned<WebApp>

        public var realm: Versioned<Realm> { owner.realm }
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        _ = try await streams.readNew(SessionCode.self, code)
        return Facts(
            owner: try await .read(browser, from: streams),
            webApp: try await streams.read(WebApp.self, webApp))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let terms = facts.owner.standing(at: now), terms.webApp == nil else {
            throw .notSignedIn
        }
        guard let card = facts.webApp.living, card.kind == .app else { throw .noWebApp }
        var issued = SessionCodeTerms(
            account: terms.account, stamp: terms.stamp, opener: Opener(browser: browser),
            factors: terms.factors, expiresAt: now.adding(seconds: Self.lifetime))
        issued.webApp = webApp
        return Decision(SessionCodeEvent.issued(issued), in: code)
    }
}

/// A browser in which a realm's owner is signed in, with all that has to stand behind it.
public struct OwnersBrowser: Sendable {
    let realm: Versioned<Realm>
    private let owner: Versioned<Owner>
    private let session: Versioned<BrowserSession>
    private let account: Versioned<Account>?
    private let opener: OpenerLine

    static func read(
        _ browser: UUID, from streams: some StreamReader
    ) async throws(LogFailure) -> OwnersBrowser {
        let realm = try await streams.read(Realm.self, Realm.stream)
        let owner = try await streams.read(Owner.self, Owner.stream)
        let session = try await streams.read(BrowserSession.self, browser)
        var account: Versioned<Account>?
        if let id = session.state.terms?.account {
            account = try await streams.read(Account.self, id)
        }
        return OwnersBrowser(
            realm: realm, owner: owner, session: session, account: account,
            opener: try await .read(session.state.terms?.opener, from: streams))
    }

    /// Nil where the session is over, or another person's.
    func standing(at now: Timestamp) -> BrowserTerms? {
        guard let terms = session.state.terms, session.state.end == nil, now < terms.expiresAt,
            let account, account.isWelcome, account.state.keeps(terms),
            opener.isStanding(at: now), owner.state.account == account.stream
        else { return nil }
        return terms
    }

    /// The first of the sessions that this person had with this browser one after the other.
    var line: UUID { session.state.terms?.line ?? session.stream }
}
