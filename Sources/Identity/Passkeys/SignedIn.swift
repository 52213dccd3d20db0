public import Values

/// The session in which a person asks to change how they sign in.
public struct SignedIn: Sendable, Equatable {
    /// Nil: a page.
    public var client: UUID?
    public var app: UUID?
    /// The time of the authentication. A refresh is no such proof.
    public var at: Timestamp

    public init(client: UUID?, app: UUID?, at: Timestamp) {
        self.client = client
        self.app = app
        self.at = at
    }

    /// A stranger who finds a session that was opened long ago must not stay in for ever, nor lock
    /// its owner out. Returns the limit in seconds where it is passed; zero is no limit.
    public func isTooOld(at now: Timestamp, _ settings: Settings) -> Int64? {
        let limit = settings[SettingCatalogue.recentSignIn]
        return limit > 0 && now >= at.adding(seconds: limit) ? limit : nil
    }
}
