import EventStore
import Postgres

/// Brings a database to this binary's schema, read models and analysts' fences included.
enum SchemaUpdate {
    /// - Returns: the names of the applied migrations.
    static func run(_ address: String, console: Console) async throws -> [String] {
        do {
            let migrator = try Migrator(Connection(address, application: "urd migrate"))
            let steps = try migrator.migrate()
            let built = try await Models.migrate(owner: address, console: console)
            try EventFieldTable.write(to: address)
            // Another process may be at it.
            try? AnalystFences.close(at: address)
            return steps + built
        } catch let refusal as Migrator.Refusal {
            throw CommandFailure(refusal.description)
        }
    }
}
