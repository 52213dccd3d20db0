public import EventSourcing
public import Values

/// How far the reader of a feed is whose cursor is kept.
public struct FeedCursor: Sendable, Equatable {
    /// The cursor up to which the reader has confirmed events.
    public var acknowledged: LogCursor
    /// The last position that it may have been sent.
    public var sent: Int64
    /// Nil before the first confirmation.
    public var acknowledgedAt: Timestamp?
    /// The expiry time of the reader's lease; nil without a lease.
    public var leasedUntil: Timestamp?

    public init(
        acknowledged: LogCursor, sent: Int64, acknowledgedAt: Timestamp? = nil,
        leasedUntil: Timestamp? = nil
    ) {
        self.acknowledged = acknowledged
        self.sent = sent
        self.acknowledgedAt = acknowledgedAt
        self.leasedUntil = leasedUntil
    }

    /// The last event that the reader may have been sent.
    public var sentCursor: LogCursor { LogCursor(epoch: acknowledged.epoch, position: sent) }

    /// The outcome of a claim for the subscription.
    public enum Claim: Sendable, Equatable {
        case leased(FeedCursor)
        /// Another reader has the lease.
        case held(until: Timestamp)
        case missing
    }

    /// What came of confirming events.
    public enum Acknowledgement: Sendable, Equatable {
        case taken
        /// The cursor is not between the confirmed and the sent one.
        case outOfRange(FeedCursor)
        case missing
    }
}

/// Which reader has which cursor.
public struct FeedLeaseName: Sendable, Hashable {
    public let realm: RealmID
    public let subscription: UUID
    /// One connection.
    public let reader: UUID

    public init(_ realm: RealmID, _ subscription: UUID, reader: UUID) {
        self.realm = realm
        self.subscription = subscription
        self.reader = reader
    }
}
