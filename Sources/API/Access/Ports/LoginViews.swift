public import Values

/// What of the login history is asked for.
public struct LoginSelection: Sendable, Equatable {
    public var account: UUID?
    public var clientID: String?
    public var isRefused: Bool?
    /// From this moment on.
    public var since: Timestamp?
    /// Before this moment.
    public var until: Timestamp?

    public init(
        account: UUID? = nil, clientID: String? = nil, isRefused: Bool? = nil,
        since: Timestamp? = nil, until: Timestamp? = nil
    ) {
        self.account = account
        self.clientID = clientID
        self.isRefused = isRefused
        self.since = since
        self.until = until
    }
}

/// A place in the login history: by time, and by position where that is the same.
public struct LoginPlace: Sendable, Equatable {
    public var at: Timestamp
    public var position: Int64

    public init(at: Timestamp, position: Int64) {
        self.at = at
        self.position = position
    }
}

/// One sign-in attempt.
public struct LoginView: Sendable, Equatable {
    public var position: Int64
    public var at: Timestamp
    public var account: UUID?
    public var app: UUID?
    /// Nil: it was on a page.
    public var clientID: String?
    public var method: String?
    public var isRefused: Bool
    public var reason: String?
    public var session: UUID?
    /// Where from, as a pseudonym, and on what kind of device.
    public var source: String?
    public var device: String?
    public var endedAt: Timestamp?
    public var endReason: String?

    public init(
        position: Int64, at: Timestamp, account: UUID?, app: UUID?, clientID: String?,
        method: String?, isRefused: Bool, reason: String?, session: UUID?, source: String?,
        device: String?, endedAt: Timestamp? = nil, endReason: String? = nil
    ) {
        self.position = position
        self.at = at
        self.account = account
        self.app = app
        self.clientID = clientID
        self.method = method
        self.isRefused = isRefused
        self.reason = reason
        self.session = session
        self.source = source
        self.device = device
        self.endedAt = endedAt
        self.endReason = endReason
    }
}
