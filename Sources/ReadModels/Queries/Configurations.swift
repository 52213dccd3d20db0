import EventSourcing
public import EventStore
public import Postgres

/// Tells the hub what other nodes changed that this one keeps: settings, apps, hosts, clients, keys.
public struct Configurations: Sendable {
    private let database: Database
    private let hub: CommitHub

    public init(_ database: Database, hub: CommitHub) {
        self.database = database
        self.hub = hub
    }

    /// One cheap query, again and again, until the task is cancelled. A configuration moves with its log, which the hub
    /// knows of first.
    public func poll(
        every interval: Duration = .milliseconds(100), longest: Duration = .seconds(5)
    ) async throws {
        while !Task.isCancelled {
            let isAnswered = await look()
            try await hub.rest(interval, longest: isAnswered ? longest : interval)
        }
    }

    /// Tells the hub where the configurations last changed, in which epochs.
    /// - Returns: whether the database answered.
    @discardableResult
    func look() async -> Bool {
        let found = try? await database.run { connection throws(Postgres.Failure) in
            let rows = try connection.execute(reading)
            return (0..<rows.count).compactMap { row in
                RealmID(rows.text(row, 0)).map {
                    ($0, Head(epoch: Int(rows.int32(row, 1)), position: rows.int64(row, 2)))
                }
            }
        }
        for (realm, at) in found ?? [] { hub.publishConfiguration(at, of: realm) }
        return found != nil
    }
}

private let reading = Statement(
    "configurations",
    """
    select c.realm, h.epoch, c.position from urd.configurations c
    join urd.realm_log h on h.realm = c.realm
    where h.epoch is not null and c.position is not null
    """)
