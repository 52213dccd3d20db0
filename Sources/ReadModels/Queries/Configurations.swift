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
            let found = try? await database.run { connection throws(Postgres.Failure) in
                let rows = try connection.execute(reading)
                return (0..<rows.count).map { (rows.text($0, 0), rows.int64($0, 1)) }
            }
            for (name, position) in found ?? [] {
                guard let realm = RealmID(name) else { continue }
                hub.publishConfiguration(position, of: realm)
            }
            try await Task.sleep(for: interval)
        }
    }
}

private let reading = Statement(
    "configurations", "select c.realm, c.position from urd.configurations c")
