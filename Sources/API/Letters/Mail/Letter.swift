public import EventSourcing
public import Identity
public import Values

/// A mail or a message that is ready to be carried: to whom, from whom, and what it says.
public struct Letter: Sendable, Equatable {
    public let realm: RealmID
    public let channel: Channel
    /// What a message goes by where that fails, the first first.
    public let otherChannels: [Channel]
    /// A mail address, or a phone number.
    public let to: String
    /// Nil where the realm has no sender of its own.
    public let from: String?
    public let fromName: String
    public let subject: String
    public let text: String
    /// Empty in a message to a phone.
    public let html: String
    /// What a message to a phone brings; nil in a mail.
    public let code: String?
    /// A language tag.
    public let language: String
    /// The expiry time of the mailed code or link.
    public let deadline: Timestamp?
    /// Where gateways send delivery receipts of the realm's messages, without the channel; nil where its public
    /// address is not known.
    public var receipts: String? = nil
}
