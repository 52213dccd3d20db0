public import EventSourcing
public import Values

/// One sign-in of a browser: what its cookie stands for.
public struct BrowserSession: StreamState {
    /// Nil before the session was opened.
    public private(set) var terms: BrowserTerms?
    public private(set) var end: BrowserSessionEnd?

    public init() {}

    public mutating func apply(_ event: BrowserSessionEvent) {
        switch event {
        case .opened(let terms): self.terms = terms
        case .ended(let reason): end = reason
        case .refused: break
        }
    }
}

/// What a browser's session was opened with.
public struct BrowserTerms: Sendable, Equatable {
    public var account: UUID
    /// The account's stamp at that time.
    public var stamp: SecurityStamp
    public var app: UUID?
    public var method: BrowserMethod
    public var factors: [AuthenticationFactor]
    /// Of the secret in the cookie.
    public var digest: SecretDigest
    public var openedAt: Timestamp
    public var expiresAt: Timestamp
    public var from: SignInPlace
    /// The first of the sessions that this person had with this browser one after the other, where
    /// this is not the first: what clients were given in any of them ends with the last one.
    public var line: UUID?
    /// The web app at whose place it was opened: it is good there, and nowhere else.
    public var webApp: UUID?
    /// Its person says that the browser is their own.
    public var isLong = false
    /// What it was opened by, where the person proved nothing in it.
    public var opener: Opener?

    public init(
        account: UUID, stamp: SecurityStamp, app: UUID? = nil, method: BrowserMethod,
        factors: [AuthenticationFactor], digest: SecretDigest, openedAt: Timestamp,
        expiresAt: Timestamp, from: SignInPlace = SignInPlace()
    ) {
        self.account = account
        self.stamp = stamp
        self.app = app
        self.method = method
        self.factors = factors
        self.digest = digest
        self.openedAt = openedAt
        self.expiresAt = expiresAt
        self.from = from
    }
}

/// A failed sign-in on a page.
public struct RefusedBrowser: Sendable, Equatable {
    public var method: BrowserMethod
    /// For programs, in words of our own.
    public var reason: String
    /// Whose account it would have been, where that is known.
    public var account: UUID?
    public var app: UUID?
    public var from: SignInPlace

    public init(
        method: BrowserMethod, reason: String, account: UUID?, app: UUID? = nil,
        from: SignInPlace = SignInPlace()
    ) {
        self.method = method
        self.reason = reason
        self.account = account
        self.app = app
        self.from = from
    }
}

/// Why a browser's session ended before its time.
public enum BrowserSessionEnd: String, CaseIterable, Sendable {
    /// Its person signed out with it.
    case signedOut = "signed_out"
    /// Its person ended it from elsewhere.
    case revoked
    /// Its person signed in with the same browser again.
    case replaced
    /// Another account signed in: for the one before, that is a log-out.
    case handedOver = "handed_over"
    case administrator
}
