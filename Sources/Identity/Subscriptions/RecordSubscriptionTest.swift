public import EventSourcing
public import Values

/// Puts on record that an administrator had a test message sent, and what came of it.
public struct RecordSubscriptionTest: Command {
    public var id: UUID
    public var test: SubscriptionTest

    public init(id: UUID, test: SubscriptionTest) {
        self.id = id
        self.test = test
    }

    public typealias Rejection = NotFound<Subscription>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<Subscription> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Subscription>) throws(Rejection) -> Decision {
        guard facts.thing.isThere(.webhook) else { throw .notFound }
        return Decision(SubscriptionEvent.tested(test), in: id)
    }
}

/// What came of a test message.
public struct SubscriptionTest: Sendable, Equatable {
    /// HTTP status of the response; 0 without one.
    public var status: Int64
    public var outcome: String
    public var milliseconds: Int64
    public var at: Timestamp

    public init(status: Int64, outcome: String, milliseconds: Int64, at: Timestamp) {
        self.status = status
        self.outcome = outcome
        self.milliseconds = milliseconds
        self.at = at
    }
}

extension Field<SubscriptionTest> {
    static let test = record(
        .integer("status", "Status of the answer; 0 if there was none."),
        .text("outcome", "Outcome of the test."),
        .integer("milliseconds", "Duration in milliseconds."),
        .integer("sent_at", "Time of the test, in microseconds since 1970."),
        make: {
            SubscriptionTest(
                status: $0, outcome: $1, milliseconds: $2, at: Timestamp(microseconds: $3))
        }, take: { ($0.status, $0.outcome, $0.milliseconds, $0.at.microseconds) })
}
