public import EventSourcing
public import Values

/// Gives a subscription a new secret. The old secret signs as well for a grace period.
public struct RotateSubscriptionSecret: TimedCommand {
    public static let shortest: Int64 = 3600
    public static let longest: Int64 = 7 * 86_400

    public var id: UUID
    public var secret: SubscriptionSecret
    /// For how many seconds the old secret signs.
    public var keepsOldFor: Int64
    public var now: Timestamp

    public init(
        id: UUID, secret: SubscriptionSecret, keepsOldFor: Int64 = 86_400, now: Timestamp
    ) {
        self.id = id
        self.secret = secret
        self.keepsOldFor = keepsOldFor
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        guard (Self.shortest...Self.longest).contains(keepsOldFor) else {
            throw .invalid(
                FieldFault("keep_old", .outOfRange(lowest: Self.shortest, highest: Self.longest)))
        }
        return Decision(
            SubscriptionEvent.secretRotated(secret, oldEnds: now.adding(seconds: keepsOldFor)),
            in: id)
    }
}
