public import EventSourcing
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

public enum ConnectionEvent: FormedEvent {
    case begun(ConnectionTerms)
    case finished(ConnectionOutcome, account: UUID)

    package enum Form {
        package static let begun = EventForm(
            "connection.begun", .internal, .object(.other),
            "The owner went to a provider to connect a konnector.", .terms,
            make: ConnectionEvent.begun)
        package static let finished = EventForm(
            "connection.finished", .audit, .accountChanged,
            "The owner came back from the provider.", .outcome, .account,
            make: ConnectionEvent.finished)
    }

    public static let forms: EventForms<Self> = [Form.begun, Form.finished]

    /// The owner's name at the provider is personal data, and an app's answer may be as well.
    public var subject: UUID? {
        switch self {
        case .begun(let terms): terms.account
        case .finished(_, let account): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .begun(let terms): Form.begun(terms)
        case .finished(let outcome, let account): Form.finished(outcome, account)
        }
    }
}

extension Field<ConnectionTerms> {
    fileprivate static let terms = record(
        .uuid("konnector", "Konnector that fetches from the provider."),
        .uuid("web_app", "Web app that the owner comes back to."), .account,
        .uuid("browser", "First session of the browser that the owner went with."),
        .choice("step", "Step of the connection."),
        .optional(.uuid("connection", "Connection that the owner looks after.")),
        .optional(.text("state", "State that is returned to the web app.", .personal(.person))),
        .expiresAt,
        make: {
            ConnectionTerms(
                konnector: $0, app: $1, account: $2, browser: $3, step: $4, connection: $5,
                state: $6, expiresAt: $7)
        },
        take: {
            (
                $0.konnector, $0.app, $0.account, $0.browser, $0.step, $0.connection, $0.state,
                $0.expiresAt
            )
        })
}

extension Field<ConnectionOutcome> {
    fileprivate static let outcome = mapped(
        .text("outcome", .choice(["connected", "failed"]), "Outcome of the visit."),
        .optional(.text("reason", "Error code of the provider.")),
        .optional(
            .text("provider_id", "Name of the connection at the provider.", .personal(.person))),
        write: { outcome in
            switch outcome {
            case .connected(let name): ("connected", nil, name)
            case .failed(let reason): ("failed", reason, nil)
            }
        },
        read: { outcome, reason, name in
            switch outcome {
            case "connected": .connected(name)
            case "failed": reason.map { .failed($0) }
            default: nil
            }
        })
}
