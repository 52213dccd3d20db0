public import EventSourcing
public import Values

/// That a client is to be told of the end of a session: under this name, by whom.
public struct NoticeOrder: Sendable, Equatable {
    public var id: UUID
    /// What names the realm in tokens, where the session itself does not know.
    public var issuer: String?

    public init(id: UUID, issuer: String? = nil) {
        self.id = id
        self.issuer = issuer
    }
}

/// A notice to a client on its way.
public struct LogoutNotice: StreamState {
    public private(set) var isSettled = false
    public private(set) var attempts = 0

    public init() {}

    public mutating func apply(_ event: LogoutNoticeEvent) {
        switch event {
        case .delivered(let attempt), .failed(let attempt, _):
            (isSettled, attempts) = (true, attempt)
        case .deferred(let attempt, _, _): attempts = attempt
        }
    }
}
