public import EventSourcing
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

    /// The sessions that it opened, the newest last.
    public private(set) var opened: [Opened] = []
    /// Whether the provider's session has ended: it opens no session any more.
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

public enum UpstreamSessionEvent: FormedEvent {
    case used(UpstreamSession.Opened)
    /// The provider says that it is over.
    case ended

    package enum Form {
        package static let used = EventForm(
            "upstream_session.used", .internal, .detail,
            "A session at a provider opened a session here.", .opened,
            make: UpstreamSessionEvent.used)
        package static let ended = EventForm(
            "upstream_session.ended", .audit, .detail, "The provider ended its session.",
            make: { UpstreamSessionEvent.ended })
    }

    public static let forms: EventForms<Self> = [Form.used, Form.ended]

    public var written: WrittenEvent {
        switch self {
        case .used(let opened): Form.used(opened)
        case .ended: Form.ended()
        }
    }
}

extension Field<UpstreamSession.Opened> {
    fileprivate static let opened = record(
        .uuid("session", "Session that it opened."), .account,
        .flag("browser", "Whether it is a browser session."),
        make: { Value(session: $0, account: $1, isBrowser: $2) },
        take: { ($0.session, $0.account, $0.isBrowser) })
}
