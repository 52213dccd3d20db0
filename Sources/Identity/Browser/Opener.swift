public import EventSourcing
public import Values

/// What something was opened by in the place of a proof of its person: it ends with each of these.
public struct Opener: Sendable, Equatable {
    /// The installation that opened a web view.
    public var installation: UUID?
    /// The session whose token that installation showed for it.
    public var session: UUID?
    /// The browser session that was handed over to an app's place.
    public var browser: UUID?

    public init(installation: UUID? = nil, session: UUID? = nil, browser: UUID? = nil) {
        self.installation = installation
        self.session = session
        self.browser = browser
    }

    /// Whether the opener and all of its own openers are valid.
    public func isStanding(
        at now: Timestamp, from streams: some StreamReader
    ) async throws(LogFailure) -> Bool {
        try await OpenerLine.read(self, from: streams).isStanding(at: now)
    }
}

extension Field<Opener?> {
    static let opener = opener(.uuid("opener_client", "Installation whose web view it came of."))

    /// Nil where the person proved who they are themselves.
    static func opener(_ installation: Field<UUID>) -> Field {
        record(
            .optional(installation),
            .optional(.uuid("opener_session", "Session whose token opened that web view.")),
            .optional(.uuid("opener_browser", "Browser session that was handed over.")),
            make: {
                let opener = Opener(installation: $0, session: $1, browser: $2)
                return opener == Opener() ? nil : opener
            }, take: { ($0?.installation, $0?.session, $0?.browser) })
    }
}
