import EventStore
import Postgres

/// Brings a backup into a database that has no log.
struct RestoreRun: Sendable {
    let parts: BackupParts
    let identity: AgeIdentity?
    let environment: Environment

    /// - Parameter address: the empty database, as a role that owns it and may make roles.
    func run(at address: String) async throws {
        guard let dump = parts.dump else { throw CommandFailure("there is no whole dump") }
        let isEncrypted = dump.hasSuffix(AgeRecipients.fileExtension)
        if isEncrypted, identity == nil { throw BackupParts.noIdentity }
        let connection = try Connection(address, application: "urd restore")
        let schema = try connection.run("select to_regnamespace('urd') is null")
        guard schema.text(0, 0) == "t" else {
            throw CommandFailure(
                "the database is not empty: it has a log", remedy: "Make a new one with createdb.")
        }
        // A dump of one database has no roles.
        try connection.run(Migrator.roles)
        try await DatabaseDump(of: connection, search: environment)
            .restore("\(parts.path)/\(dump)", by: isEncrypted ? identity : nil)
    }
}
