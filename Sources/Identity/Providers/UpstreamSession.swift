public import EventSourcing
public import JSON
public import Values

/// A session at a provider, as far as it concerns the realm: what was opened by it here. The stream
/// follows from the provider's name for it.
public struct UpstreamSession: StreamState {
    public struct Opened: Sendable, Equatable {
        public var session: UUID
        public var account: UUID
        /// A browser's, or else an app's.
        public var isBrowser: Bool

        public init(session: UUID, account: UUID, isBrowser: Bool) {
            self.session = session
            self.account = account
            self.isBrowser = isBrowser
        }
    }

    /// Newest last.
    public private(set) var opened: [Opened] = []
    /// It opens nothing any more.
    public private(set) var isEnded = false
    static let most = 100

    public init() {}

    public mutating func apply(_ event: UpstreamSessionEvent) {
        switch event {
        case .used(let opened): self.opened = self.opened.suffix(Self.most - 1) + [opened]
        case .ended:
            opened = []
            isEnded = true
        }
    }
}

public enum UpstreamSessionEvent: Event {
    case used(UpstreamSession.Opened)
    /// The provider says that it is over.
    case ended

    public static let catalogue: [EventShape] = [
        EventShape(
            "upstream_session.used", .internal, "A session at a provider opened a session here.",
            [
                .uuid("session", "Session that it opened."), .account,
                .flag("browser", "Whether it is a browser session."),
            ]),
        EventShape("upstream_session.ended", .audit, "The provider ended its session."),
    ]

    public var name: String {
        switch self {
        case .used: "upstream_session.used"
        case .ended: "upstream_session.ended"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .used(let opened):
            [
                "session": .uuid(opened.session), "account": .uuid(opened.account),
                "browser": .bool(opened.isBrowser),
            ]
        case .ended: [:]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "upstream_session.used":
            guard let session = fields.uuid("session"), let account = fields.uuid("account"),
                let isBrowser = fields["browser"]?.bool
            else { return nil }
            self = .used(
                UpstreamSession.Opened(session: session, account: account, isBrowser: isBrowser))
        case "upstream_session.ended": self = .ended
        default: return nil
        }
    }
}
