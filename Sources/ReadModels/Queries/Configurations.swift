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

    /// One cheap query, again and again, until the task is cancelled.
    public func poll(every interval: Duration = .milliseconds(100)) async throws {
        while !Task.isCancelled {
            await look()
            try await Task.sleep(for: interval)
        }
    }

    /// Tells the hub where the configurations last changed, in which epochs.
    func look() async {
        let found = try? await database.run { connection throws(Postgres.Failure) in
            let rows = try connection.execute(reading)
            return (0..<rows.count).compactMap { row in
                RealmID(rows.text(row, 0)).map {
                    ($0, Head(epoch: Int(rows.int32(row, 1)), position: rows.int64(row, 2)))
                }
            }
        }
        for (realm, at) in found ?? [] { hub.publishConfiguration(at, of: realm) }
    }
}

private let reading = Statement(
    "configurations",
    """
    select c.realm, h.epoch, c.position from urd.configurations c
    join urd.realm_log h on h.realm = c.realm
    where h.epoch is not null and c.position is not null
    """)
