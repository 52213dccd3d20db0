public import Values

/// A notification as lists show it: without what it says.
public struct NotificationView: Sendable, Equatable {
    public var id: UUID
    public var category: String
    /// Where the event stands that asks for it.
    public var position: Int64
    public var hasFailed: Bool
    public var attempts: Int
    /// When it is tried next, or was given up.
    public var dueAt: Timestamp
    /// What a provider answered last; 0 where none was reached.
    public var code: Int?

    public init(
        id: UUID, category: String, position: Int64, hasFailed: Bool, attempts: Int,
        dueAt: Timestamp, code: Int?
    ) {
        self.id = id
        self.category = category
        self.position = position
        self.hasFailed = hasFailed
        self.attempts = attempts
        self.dueAt = dueAt
        self.code = code
    }
}
