import API
import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Values

/// What administrators ask and do about deliveries.
struct WebhookDesk: WebhookDeliveries {
    let store: DeliveryStore
    /// Nil where the process sends no webhooks.
    let sender: WebhookSender?
    let mayBeLoopback: Bool

    /// Of a test, which is answered in line.
    private static let patience = Duration.seconds(8)

    func mayCall(_ address: IPAddress) -> Bool { sender?.mayCall(address) ?? true }

    private func asking<Value>(
        _ ask: () async throws -> Value
    ) async throws(LogFailure) -> Value {
        do { return try await ask() } catch { throw .unavailable }
    }

    func standing(
        of subscription: UUID, in realm: RealmID
    ) async throws(LogFailure) -> DeliveryStanding? {
        try await asking { try await store.standing(of: subscription, in: realm) }
    }

    func deliveries(
        of subscription: UUID, in realm: RealmID, givenUp: Bool, type: String?,
        since: Timestamp?, after: Int64, limit: Int
    ) async throws(LogFailure) -> ListPage<Delivery> {
        try await asking {
            try await store.deliveries(
                of: subscription, in: realm, givenUp: givenUp, type: type, since: since,
                after: after, limit: limit)
        }
    }

    func attempts(
        of subscription: UUID, in realm: RealmID, position: Int64?, outcome: String?,
        since: Timestamp?, before: Int64, limit: Int
    ) async throws(LogFailure) -> ListPage<DeliveryAttempt> {
        try await asking {
            try await store.attempts(
                of: subscription, in: realm, position: position, outcome: outcome, since: since,
                before: before, limit: limit)
        }
    }

    func cut(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], in realm: RealmID
    ) async throws(LogFailure) -> Int64? {
        try await asking {
            try await store.cut(range, types: types, streams: streams, in: realm)
        }
    }

    func replayable(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], in realm: RealmID
    ) async throws(LogFailure) -> [Int64] {
        try await asking {
            try await store.replayable(range, types: types, streams: streams, in: realm)
        }
    }

    func replay(
        _ range: ClosedRange<Int64>, types: [String], streams: [UUID], among chosen: [Int64]?,
        order: DeliveryOrder, to subscription: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> Int {
        try await asking {
            try await store.replay(
                range, types: types, streams: streams, among: chosen, order: order,
                to: subscription, in: realm, at: now)
        }
    }

    func revive(
        _ subscription: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> Int {
        try await asking { try await store.revive(subscription, in: realm, at: now) }
    }

    func test(
        _ subscription: Subscription, of webhook: UUID, in realm: RealmID, id: String,
        example: WebhookExample?, at now: Timestamp
    ) async -> DeliveryAttempt {
        let message =
            example.map { WebhookMessage(id: id, $0, terms: subscription.terms) }
            ?? WebhookMessage(
                id: id, type: DeliveryAttempt.test, at: now,
                data: ["test": true, "realm": .string(realm.name)])
        let answer =
            await sender?.send(
                message, to: subscription, in: realm, within: Self.patience) ?? .notTried
        let attempt = DeliveryAttempt(message, answer, at: now)
        // A list without it is no reason to keep its outcome from the administrator.
        try? await store.note(attempt, of: webhook, in: realm)
        return attempt
    }
}
