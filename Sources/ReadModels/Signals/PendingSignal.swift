public import Values

/// A signal that its receiver has yet to confirm. What it says is not kept, but found again in the log.
public struct PendingSignal: Sendable, Equatable {
    public var jti: String
    /// The event that it comes of.
    public var position: Int64
    /// As the token names it.
    public var type: String
    /// The account, or a device without one: its signals are told in order. Nil: it is about the stream itself.
    public var account: UUID?
    /// What a verification gives back.
    public var state: String?
    public var issuedAt: Timestamp
    /// Number of failed delivery attempts while others succeeded.
    public var attempts: Int

    public init(
        jti: String, position: Int64, type: String, account: UUID? = nil, state: String? = nil,
        issuedAt: Timestamp, attempts: Int = 0
    ) {
        self.jti = jti
        self.position = position
        self.type = type
        self.account = account
        self.state = state
        self.issuedAt = issuedAt
        self.attempts = attempts
    }
}
