public import EventSourcing
public import HTTP
public import Identity
public import ReadModels
public import Values

/// What is asked and done about deliveries, which are in no log.
public protocol WebhookDeliveries: Sendable {
    /// Whether webhooks may be on this machine.
    var mayBeLoopback: Bool { get }

    /// Whether such an address may be called at all.
    func mayCall(_ address: IPAddress) -> Bool

    /// Nil before the first delivery.
    func standing(
        of subscription: UUID, in realm: RealmID
    ) async throws(LogFailure) -> DeliveryStanding?

    /// Those that wait, or that were given up, in the order of the log.
    func deliveries(
        of subscription: UUID, in realm: RealmID, givenUp: Bool, type: String?,
        since: Timestamp?, after: Int64, limit: Int
    ) async throws(LogFailure) -> ListPage<Delivery>

    /// The attempts, the newest first.
    func attempts(
        of subscription: UUID, in realm: RealmID, position: Int64?, outcome: String?,
        since: Timestamp?, before: Int64, limit: Int
    ) async throws(LogFailure) -> ListPage<DeliveryAttempt>

    /// The position in a range before which there are as many events of these types and streams as are queued at once;
    /// nil where there are no more.
    func cut(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], in realm: RealmID
    ) async throws(LogFailure) -> Int64?

    /// The events of a range that are of these types and streams.
    func replayable(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], in realm: RealmID
    ) async throws(LogFailure) -> [Int64]

    /// - Parameter chosen: the positions among them; nil for all.
    /// - Returns: the number of events that are sent again.
    func replay(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], among chosen: [Int64]?,
        order: DeliveryOrder, to subscription: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> Int

    /// - Returns: the number of events that are sent again.
    func revive(
        _ subscription: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> Int

    /// Sends what is in no log, and tells what came of it.
    func test(
        _ subscription: Subscription, of webhook: UUID, in realm: RealmID, id: String,
        example: WebhookExample?, at now: Timestamp
    ) async -> DeliveryAttempt
}

/// The port of a process without webhooks.
public struct NoDeliveries: WebhookDeliveries {
    public init() {}

    public var mayBeLoopback: Bool { false }

    public func mayCall(_ address: IPAddress) -> Bool { true }

    public func standing(
        of subscription: UUID, in realm: RealmID
    ) async throws(LogFailure) -> DeliveryStanding? { nil }

    public func deliveries(
        of subscription: UUID, in realm: RealmID, givenUp: Bool, type: String?,
        since: Timestamp?, after: Int64, limit: Int
    ) async throws(LogFailure) -> ListPage<Delivery> { .empty }

    public func attempts(
        of subscription: UUID, in realm: RealmID, position: Int64?, outcome: String?,
        since: Timestamp?, before: Int64, limit: Int
    ) async throws(LogFailure) -> ListPage<DeliveryAttempt> { .empty }

    public func cut(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], in realm: RealmID
    ) async throws(LogFailure) -> Int64? { nil }

    public func replayable(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], in realm: RealmID
    ) async throws(LogFailure) -> [Int64] { [] }

    public func replay(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], among chosen: [Int64]?,
        order: DeliveryOrder, to subscription: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> Int { 0 }

    public func revive(
        _ subscription: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> Int { 0 }

    public func test(
        _ subscription: Subscription, of webhook: UUID, in realm: RealmID, id: String,
        example: WebhookExample?, at now: Timestamp
    ) async -> DeliveryAttempt {
        DeliveryAttempt(
            position: 0, type: example?.event.name ?? DeliveryAttempt.test, at: now,
            milliseconds: 0, status: 0,
            outcome: "not_tried",
            isReplay: false, answer: "")
    }
}
