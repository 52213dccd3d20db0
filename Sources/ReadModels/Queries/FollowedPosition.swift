import EventSourcing
import Postgres

/// How far a following read model is in a realm.
public struct FollowedPosition: Sendable, Equatable {
    public enum Reached: Sendable, Equatable {
        case yes
        case notYet
        /// The log was restored since: that position never comes again.
        case never
    }

    public let epoch: Int
    public let position: Int64
    public let head: Int64
    /// It stopped, and stays where it is until it is mended.
    public let isHalted: Bool

    static func read(
        _ projection: StaticString, _ realm: RealmID, _ database: Database
    ) async throws(ReadFailure) -> FollowedPosition? {
        let statement = Statement(
            "position_\(projection)",
            """
            select p.epoch, p.position, p.head, p.halted_at is not null
            from urd.\(projection)_position p where p.realm = $1
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
        _ projection: StaticString, _ position: Int64, _ epoch: Int, _ realm: RealmID,
        _ limit: Duration, _ database: Database
    ) async throws(ReadFailure) -> Reached {
        let clock = ContinuousClock()
        let deadline = clock.now + limit
        var pause = Duration.milliseconds(2)
        while true {
            guard let now = try await read(projection, realm, database) else { return .never }
            if now.epoch != epoch { return .never }
            if now.position >= position { return .yes }
            guard clock.now < deadline, !now.isHalted else { return .notYet }
            do { try await Task.sleep(for: min(pause, deadline - clock.now)) } catch {
                return .notYet
            }
            pause = min(pause * 2, .milliseconds(50))
        }
    }
}
