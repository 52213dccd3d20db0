public import EventSourcing
public import Values

/// What an app takes into a web view to be signed in there. It opens one browser session.
public struct SessionCode: StreamState {
    public static let lifetime: Int64 = 7 * 86_400

    /// Nil before the code was issued.
    public private(set) var terms: SessionCodeTerms?
    public private(set) var isUsed = false

    public init() {}

    public mutating func apply(_ event: SessionCodeEvent) {
        switch event {
        case .issued(let terms): self.terms = terms
        case .used: isUsed = true
        }
    }
}

public struct SessionCodeTerms: Sendable, Equatable {
    public var account: UUID
    /// The account's stamp at that time.
    public var stamp: SecurityStamp
    /// The installation that asked for it, and by which session, or the browser that is handed over.
    public var opener: Opener?
    public var factors: [AuthenticationFactor]
    public var expiresAt: Timestamp
    /// The web app at whose place alone it is good. Nil: anywhere in the realm.
    public var webApp: UUID?

    public init(
        account: UUID, stamp: SecurityStamp, opener: Opener?, factors: [AuthenticationFactor],
        expiresAt: Timestamp
    ) {
        self.account = account
        self.stamp = stamp
        self.opener = opener
        self.factors = factors
        self.expiresAt = expiresAt
    }
}

public enum SessionCodeEvent: FormedEvent {
    case issued(SessionCodeTerms)
    /// It opened this browser session.
    case used(browser: UUID)

    package enum Form {
        package static let issued = EventForm(
            "session_code.issued", .internal, .detail,
            "An app got a code that signs its web view in.", .terms, make: SessionCodeEvent.issued)
        package static let used = EventForm(
            "session_code.used", .internal, .detail, "The code opened a browser session.",
            .uuid("browser", "Browser session that it opened."), make: SessionCodeEvent.used)
    }

    public static let forms: EventForms<Self> = [Form.issued, Form.used]

    public var subject: UUID? {
        switch self {
        case .issued(let terms): terms.account
        case .used: nil
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .issued(let terms): Form.issued(terms)
        case .used(let browser): Form.used(browser)
        }
    }
}

extension Field<SessionCodeTerms> {
    fileprivate static let terms = record(
        // As before other things opened anything.
        .account, .stamp, .opener(.uuid("client", "Installation that asked for the code.")),
        .factors, .expiresAt, .optional(.webApp),
        make: {
            var terms = SessionCodeTerms(
                account: $0, stamp: $1, opener: $2, factors: $3, expiresAt: $4)
            terms.webApp = $5
            return terms
        }, take: { ($0.account, $0.stamp, $0.opener, $0.factors, $0.expiresAt, $0.webApp) })
}
