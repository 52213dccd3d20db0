public import EventSourcing
internal import Identity
public import Values

/// What has to be on record before a subscriber is sent personal data: which events are opened, and whose. It is
/// one record a minute, or per thousand events where there are more: the first event goes out at once, and
/// those that come within a minute of a record wait for the next one.
///
/// Its own record has nothing sealed in it, so that sending it asks for no other.
public struct StandingDisclosure: Sendable {
    /// So many events are opened by one record.
    public static let most = 1000
    static let pause: Int64 = 60

    public struct Opened: Sendable, Equatable {
        public let position: Int64
        public let subject: UUID?

        public init(position: Int64, subject: UUID?) {
            self.position = position
            self.subject = subject
        }
    }

    private let subscription: UUID
    /// Seen, and not on record yet.
    private var waiting: [Int64: UUID?] = [:]
    private var lastRecord: Timestamp?

    public init(of subscription: UUID) {
        self.subscription = subscription
    }

    /// An event is to be sent whose personal fields are opened for it.
    public mutating func add(_ opened: Opened) {
        waiting[opened.position] = .some(opened.subject)
    }

    public func isWaiting(_ position: Int64) -> Bool { waiting[position] != nil }

    public var hasRoom: Bool { waiting.count < Self.most }

    /// When the next record is due; nil where nothing waits.
    public func due(at now: Timestamp) -> Timestamp? {
        guard !waiting.isEmpty else { return nil }
        guard waiting.count < Self.most, let lastRecord else { return now }
        // A clock that went back keeps no reader waiting for longer.
        return min(lastRecord, now).adding(seconds: Self.pause)
    }

    /// What goes on record now; nil where nothing is due. `isFull`: much more waits to be looked at behind
    /// what waits here.
    public func batch(at now: Timestamp, isFull: Bool = false) -> Batch? {
        guard let due = due(at: now), due <= now || isFull else { return nil }
        let positions = waiting.keys.sorted().prefix(Self.most)
        guard let first = positions.first, let last = positions.last else { return nil }
        let subjects = Set(positions.compactMap { waiting[$0] ?? nil })
        return Batch(
            positions: Array(positions),
            record: StreamedBatch(
                subscription: subscription, positions: first...last,
                subjects: subjects.sorted { ($0.high, $0.low) < ($1.high, $1.low) }))
    }

    /// What one record is about.
    public struct Batch: Sendable {
        let positions: [Int64]
        let record: StreamedBatch
    }

    /// Puts the batch on record: its events may be sent from now on.
    public mutating func record(
        _ batch: Batch, at now: Timestamp, in realm: RealmID, by actor: String, id: UUID,
        _ commands: any CommandPort
    ) async throws {
        _ = try await commands.dispatch(
            DisclosureChange.recordStreamed(id, batch: batch.record), in: realm, id: id, digest: [],
            origin: Origin(actor: actor, at: now))
        for position in batch.positions { waiting[position] = nil }
        lastRecord = now
    }
}
