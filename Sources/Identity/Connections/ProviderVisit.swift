public import EventSourcing
public import JSON
public import Values

/// An account of a realm's owner at a provider from which a konnector fetches: how the owner went
/// there and came back. Its stream's name is what apps call the account.
public struct ProviderVisit: StreamState {
    /// Seconds after which a visit expires.
    public static let patience: Int64 = 3_600

    /// Nil until the visit begins.
    public private(set) var terms: ConnectionTerms?
    public private(set) var outcome: ConnectionOutcome?

    public init() {}

    public mutating func apply(_ event: ConnectionEvent) {
        switch event {
        case .begun(let terms): self.terms = terms
        case .finished(let outcome, _): self.outcome = outcome
        }
    }
}

public enum ConnectionStep: String, CaseIterable, Sendable {
    case start
    case reconnect
    case manage
}

/// What the owner comes back with.
public enum ConnectionOutcome: Sendable, Equatable {
    /// The name of it at the provider's, if that said one.
    case connected(String?)
    /// In the provider's word.
    case failed(String)
}

public struct ConnectionTerms: Sendable, Equatable {
    public var konnector: UUID
    /// The web app that the owner comes back to.
    public var app: UUID
    public var account: UUID
    /// The first of the sessions of the owner's browser: they come back with the same one.
    public var browser: UUID
    public var step: ConnectionStep
    /// Which connection the owner wants to mend, if it is not a new one.
    public var connection: UUID?
    /// What the app wants to hear again.
    public var state: String?
    public var expiresAt: Timestamp

    public init(
        konnector: UUID, app: UUID, account: UUID, browser: UUID, step: ConnectionStep,
        connection: UUID? = nil, state: String? = nil, expiresAt: Timestamp
    ) {
        self.konnector = konnector
        self.app = app
        self.account = account
        self.browser = browser
        self.step = step
        self.connection = connection
        self.state = state
        self.expiresAt = expiresAt
    }
}

public enum ConnectionEvent: Event {
    case begun(ConnectionTerms)
    case finished(ConnectionOutcome, account: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "connection.begun", .internal, "The owner went to a provider to connect a konnector.",
            [
                .uuid("konnector", "Konnector that fetches from the provider."),
                .uuid("web_app", "Web app that the owner comes back to."),
                .account,
                .uuid("browser", "First session of the browser that the owner went with."),
                .choice("step", ConnectionStep.self, "What the owner went for."),
                .uuid("connection", "Connection that the owner looks after.").optional,
                .text("state", "What the web app wants to hear again.", .personal(.person))
                    .optional,
                .expiresAt,
            ]),
        EventShape(
            "connection.finished", .audit, "The owner came back from the provider.",
            [
                .account,
                EventField("outcome", .choice(["connected", "failed"]), "How it ended."),
                .text("reason", "Why it failed, in the provider's word.").optional,
                .text("provider_id", "Name of the connection at the provider.", .personal(.person))
                    .optional,
            ]),
    ]

    public var name: String {
        switch self {
        case .begun: "connection.begun"
        case .finished: "connection.finished"
        }
    }

    /// The owner's name at the provider is personal data, and an app's answer may be as well.
    public var subject: UUID? {
        switch self {
        case .begun(let terms): terms.account
        case .finished(_, let account): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .begun(let terms):
            var fields: JSONObject = [
                "konnector": .uuid(terms.konnector), "web_app": .uuid(terms.app),
                "account": .uuid(terms.account), "browser": .uuid(terms.browser),
                "step": .string(terms.step.rawValue),
                "expires_at": .integer(terms.expiresAt.seconds),
            ]
            fields["connection"] = terms.connection.map { .uuid($0) }
            fields["state"] = terms.state.map { .string($0) }
            return fields
        case .finished(let outcome, let account):
            var fields: JSONObject = ["account": .uuid(account)]
            switch outcome {
            case .connected(let name):
                fields["outcome"] = "connected"
                fields["provider_id"] = name.map { .string($0) }
            case .failed(let reason):
                fields["outcome"] = "failed"
                fields["reason"] = .string(reason)
            }
            return fields
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let account = fields.uuid("account") else { return nil }
        switch name {
        case "connection.begun":
            guard let konnector = fields.uuid("konnector"), let app = fields.uuid("web_app"),
                let browser = fields.uuid("browser"),
                let step: ConnectionStep = fields.choice("step"),
                let expiresAt = fields.instant("expires_at")
            else { return nil }
            self = .begun(
                ConnectionTerms(
                    konnector: konnector, app: app, account: account, browser: browser,
                    step: step, connection: fields.uuid("connection"),
                    state: fields["state"]?.string, expiresAt: expiresAt))
        case "connection.finished":
            switch fields["outcome"]?.string {
            case "connected":
                self = .finished(.connected(fields["provider_id"]?.string), account: account)
            case "failed":
                guard let reason = fields["reason"]?.string else { return nil }
                self = .finished(.failed(reason), account: account)
            default: return nil
            }
        default: return nil
        }
    }
}
