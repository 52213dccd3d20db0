internal import EventSourcing
internal import Postgres

/// The read models that follow the log at a small distance, and can be waited for.
public enum FollowingList: String, Sendable {
    case auditTrail = "audit_trail"
    case eventIndex = "event_index"
    case loginHistory = "login_history"
    case mails
    case notifications
}

/// How far a following read model is in a realm.
public struct FollowedPosition: Sendable, Equatable {
    public enum Reached: Sendable, Equatable {
        case yes(FollowedPosition)
        case notYet(FollowedPosition)
        /// The log was restored since: that position never comes again.
        case never
    }

    public let epoch: Int
    public let position: Int64
    public let head: Int64
    /// Whether the projection halted, and stays at its position until it is repaired.
    public let isHalted: Bool

    /// How far a list is. Nil where there is no such realm.
    public static let now = Question<FollowingList, FollowedPosition?>("followed_position") {
        models, realm, list throws(LogFailure) in
        try await models.reading { () throws(ReadFailure) in
            try await read(list, realm, models.database)
        }
    }

    /// Waits, for a bounded time, until a list holds everything up to a position of an epoch.
    public static let reached = Question<
        (list: FollowingList, position: Int64, epoch: Int), Reached
    >("reached_position") { models, realm, asked throws(LogFailure) in
        try await models.reaches(asked.list, asked.position, epoch: asked.epoch, of: realm)
    }

    public init(epoch: Int, position: Int64, head: Int64, isHalted: Bool = false) {
        self.epoch = epoch
        self.position = position
        self.head = head
        self.isHalted = isHalted
    }

    static func read(
        _ list: FollowingList, _ realm: RealmID, _ database: Database
    ) async throws(ReadFailure) -> FollowedPosition? {
        let statement = Statement(
            "position_\(list.rawValue)",
            """
            select p.epoch, p.position, p.head, p.halted_at is not null
            from urd.\(list.rawValue)_position p where p.realm = $1
            """)
        return try await database.read { connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement, Parameters(realm: realm.name))
            guard !rows.isEmpty else { return .success(nil) }
            return .success(
                FollowedPosition(
                    epoch: Int(rows.int32(0, 0)), position: rows.int64(0, 1),
                    head: rows.int64(0, 2), isHalted: rows.bool(0, 3)))
        }
    }

    /// Takes no lock and blocks no thread: it looks again and again, a little less often each time.
    static func wait(
        _ list: FollowingList, _ position: Int64, _ epoch: Int, _ realm: RealmID,
        _ limit: Duration, _ database: Database
    ) async throws(ReadFailure) -> Reached {
        let clock = ContinuousClock()
        let deadline = clock.now + limit
        var pause = Duration.milliseconds(2)
        while true {
            guard let now = try await read(list, realm, database) else { return .never }
            if now.epoch != epoch { return .never }
            if now.position >= position { return .yes(now) }
            guard clock.now < deadline, !now.isHalted else { return .notYet(now) }
            do { try await Task.sleep(for: min(pause, deadline - clock.now)) } catch {
                return .notYet(now)
            }
            pause = min(pause * 2, .milliseconds(50))
        }
    }
}

extension ReadModelQueries {
    func reaches(
        _ list: FollowingList, _ position: Int64, epoch: Int, of realm: RealmID,
        within limit: Duration = .seconds(3)
    ) async throws(LogFailure) -> FollowedPosition.Reached {
        try await reading { () throws(ReadFailure) in
            try await FollowedPosition.wait(list, position, epoch, realm, limit, database)
        }
    }
}
