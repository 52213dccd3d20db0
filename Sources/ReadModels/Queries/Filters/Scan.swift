import EventSourcing
import Postgres

/// What a filter found, and how far it looked where it had to stop before the end.
public struct ScannedPage<Item: Sendable, Place: Sendable>: Sendable {
    public let items: [Item]
    /// The position up to which all rows were read. Nil: to the end, or the page is full.
    public let stoppedAt: Place?

    public init(_ items: [Item], stoppedAt: Place? = nil) {
        self.items = items
        self.stoppedAt = stoppedAt
    }
}

/// How much is looked at with one statement. A filter may have to look at much to find little, and no other
/// query is to wait for that: it goes in steps, each as long as it takes a moment, until its time is over.
struct Scan {
    static let patience = Duration.seconds(5)
    /// The duration under which a step counts as too small.
    private static let moment = Duration.milliseconds(100)
    private static let least: Int64 = 1024
    private static let most: Int64 = 1 << 22

    private let deadline: ContinuousClock.Instant
    private let most: Int64
    private(set) var size: Int64 = 8192

    init(patience: Duration, most: Int64 = Self.most) {
        deadline = .now + patience
        self.most = most
    }

    var isOver: Bool { ContinuousClock.now >= deadline || Task.isCancelled }

    mutating func note(_ took: Duration) {
        if took < Self.moment { size = min(most, size * 4) }
        if took > Self.moment * 4 { size = max(Self.least, size / 2) }
    }

    /// The step was too large for one query.
    mutating func shrink() { size = max(Self.least, size / 16) }
}

extension ReadModelQueries {
    /// One step. Nil: it took so long that PostgreSQL gave up.
    func scanned<Value: Sendable>(
        _ scan: inout Scan,
        _ ask: @escaping @Sendable (Connection) throws(Postgres.Failure) -> Value
    ) async throws(LogFailure) -> Value? {
        let start = ContinuousClock.now
        let found = try await reading { () throws(ReadFailure) in
            try await database.read {
                connection throws(Postgres.Failure) -> Result<Value?, ReadFailure> in
                do throws(Postgres.Failure) {
                    return .success(
                        try connection.transaction(Self.step) {
                            connection throws(Postgres.Failure) in
                            try ask(connection)
                        })
                } catch {
                    guard error.code == Self.timedOut else { throw error }
                    return .success(Value?.none)
                }
            }
        }
        if found == nil { scan.shrink() } else { scan.note(ContinuousClock.now - start) }
        return found
    }

    /// Each filter is a statement of its own, and planned for its own values.
    private static let step = """
        begin; set local statement_timeout = '2s'; set local plan_cache_mode = 'force_custom_plan'
        """
    private static let timedOut = "57014"
}
