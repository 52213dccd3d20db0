public import EventSourcing
public import JSON
public import Values

/// What an app takes into a web view to be signed in there. It opens one browser session.
public struct SessionCode: StreamState {
    public static let lifetime: Int64 = 7 * 86_400

    /// Nil until it was issued.
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

public enum SessionCodeEvent: Event {
    case issued(SessionCodeTerms)
    /// It opened this browser session.
    case used(browser: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "session_code.issued", .internal, "An app got a code that signs its web view in.",
            [
                .account, .stamp, .moves, .removals,
                .uuid("client", "Installation that asked for the code.").optional,
                .factors, .expiresAt, .webApp,
            ] + Opener.eventFields.dropFirst()),
        EventShape(
            "session_code.used", .internal, "The code opened a browser session.",
            [
                .uuid("browser", "Browser session that it opened.")
            ]),
    ]

    public var name: String {
        switch self {
        case .issued: "session_code.issued"
        case .used: "session_code.used"
        }
    }

    public var subject: UUID? {
        switch self {
        case .issued(let terms): terms.account
        case .used: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .issued(let terms):
            var fields: JSONObject = [
                "account": .uuid(terms.account),
                "amr": .texts(terms.factors.map(\.rawValue)),
                "expires_at": .integer(terms.expiresAt.seconds),
            ]
            fields.setStamp(terms.stamp)
            if let opener = terms.opener { fields.merge(opener.fields) { own, _ in own } }
            // As before other things opened anything.
            fields["client"] = fields.removeValue(forKey: "opener_client")
            fields["web_app"] = terms.webApp.map { .uuid($0) }
            return fields
        case .used(let browser): return ["browser": .uuid(browser)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "session_code.issued":
            guard let account = fields.uuid("account"), let stamp = fields.stamp,
                let factors = fields.texts("amr"), let expiresAt = fields.instant("expires_at")
            else { return nil }
            var opener = Opener(recorded: fields) ?? Opener()
            opener.installation = fields.uuid("client")
            var terms = SessionCodeTerms(
                account: account, stamp: stamp, opener: opener == Opener() ? nil : opener,
                factors: factors.compactMap(AuthenticationFactor.init), expiresAt: expiresAt)
            terms.webApp = fields.uuid("web_app")
            self = .issued(terms)
        case "session_code.used":
            guard let browser = fields.uuid("browser") else { return nil }
            self = .used(browser: browser)
        default: return nil
        }
    }
}
