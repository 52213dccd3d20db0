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
    public var stamp: Int
    /// How often the account had removed access by then.
    public var removals = 0
    /// The installation that asked for it, where one did.
    public var installation: UUID?
    public var factors: [AuthenticationFactor]
    public var expiresAt: Timestamp
    /// The web app at whose place alone it is good. Nil: anywhere in the realm.
    public var webApp: UUID?

    public init(
        account: UUID, stamp: Int, installation: UUID?, factors: [AuthenticationFactor],
        expiresAt: Timestamp
    ) {
        self.account = account
        self.stamp = stamp
        self.installation = installation
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
                .account, .stamp, .removals,
                .uuid("client", "Installation that asked for the code.").optional,
                .factors, .expiresAt, .webApp,
            ]),
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
                "account": .uuid(terms.account), "stamp": .integer(Int64(terms.stamp)),
                "amr": .texts(terms.factors.map(\.rawValue)),
                "expires_at": .integer(terms.expiresAt.seconds),
            ]
            if terms.removals > 0 { fields["removals"] = .integer(Int64(terms.removals)) }
            fields["client"] = terms.installation.map { .uuid($0) }
            fields["web_app"] = terms.webApp.map { .uuid($0) }
            return fields
        case .used(let browser): return ["browser": .uuid(browser)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "session_code.issued":
            guard let account = fields.uuid("account"), let stamp = fields["stamp"]?.integer,
                let factors = fields.texts("amr"), let expiresAt = fields.instant("expires_at")
            else { return nil }
            var terms = SessionCodeTerms(
                account: account, stamp: Int(clamping: stamp),
                installation: fields.uuid("client"),
                factors: factors.compactMap(AuthenticationFactor.init), expiresAt: expiresAt)
            terms.removals = fields["removals"]?.integer.map { Int(clamping: $0) } ?? 0
            terms.webApp = fields.uuid("web_app")
            self = .issued(terms)
        case "session_code.used":
            guard let browser = fields.uuid("browser") else { return nil }
            self = .used(browser: browser)
        default: return nil
        }
    }
}
