public import Values

/// A mail that is ready to be carried: to whom, from whom, and what it says.
public struct Letter: Sendable, Equatable {
    public let to: String
    /// Nil where the realm has no sender of its own.
    public let from: String?
    public let fromName: String
    public let subject: String
    public let text: String
    public let html: String
    /// A language tag.
    public let language: String
    /// When what it brings is of no use any more.
    public let deadline: Timestamp?
}
