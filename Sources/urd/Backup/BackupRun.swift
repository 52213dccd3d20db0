import EventSourcing
import EventStore
import Glibc
import Postgres
import Values

/// Writes one backup: checkpoints first, so that the dump has all that they vouch for, then the dump, then the manifest. All
/// of it stands under another name until it is whole and on the disk.
struct BackupRun: Sendable {
    let folder: BackupFolder
    /// The database, as the owner of the schema.
    let address: String
    /// Where the node keeps its checkpoints.
    let checkpoints: String?
    /// The key that goes into the backup, if it is to.
    let masterKey: String?
    let recipients: AgeRecipients?
    /// How many backups stay, this one among them; nil keeps all.
    let keep: Int?
    let environment: Environment

    struct Result: Sendable {
        let path: String
        let manifest: BackupManifest
        /// The names of older backups that are gone.
        let removed: [String]
    }

    static let checkpointFolder = "checkpoints"
    static let masterKeyFile = "master.key"

    func run() async throws -> Result {
        try File.makeFolder(folder.path, mode: 0o700)
        let lock = try folder.lock()
        try folder.removeDrafts()
        let connection = try Connection(address, application: "urd backup")
        guard let facts = try Facts(connection) else {
            throw CommandFailure("there is no log in the database", remedy: "Run: urd migrate")
        }
        let name = BackupFolder.name(of: facts.at)
        let path = "\(folder.path)/\(name)"
        guard !File.exists(path) else { throw CommandFailure("there is a backup \(path) already") }
        let draft = folder.draft(of: name)
        try File.makeFolder(draft, mode: 0o700)
        do {
            let manifest = try await write(facts, to: draft, connection)
            try File.flushFolder(of: "\(draft)/\(BackupManifest.file)")
            try File.move(draft, to: path)
            try File.flushFolder(of: path)
            try LastBackup.note(
                at: facts.at, bytes: manifest.bytes, isEncrypted: manifest.isEncrypted, connection)
            let removed = try keep.map { try folder.keep($0) } ?? []
            withExtendedLifetime(lock) {}
            return Result(path: path, manifest: manifest, removed: removed)
        } catch {
            try? File.removeTree(draft)
            throw error
        }
    }

    private func write(
        _ facts: Facts, to draft: String, _ connection: Connection
    ) async throws -> BackupManifest {
        var names: [String] = []
        let notes = try notes(connection)
        if !notes.isEmpty { try File.makeFolder("\(draft)/\(Self.checkpointFolder)", mode: 0o700) }
        for (realm, note) in notes.sorted(by: { $0.key < $1.key }) {
            let name = "\(Self.checkpointFolder)/\(realm).checkpoint"
            names.append(try await put(note, name, draft))
        }
        // What the log has now, the dump that begins after it has as well.
        let realms = try Self.positions(connection)
        let dump = DatabaseDump.file + fileExtension
        try await DatabaseDump(of: connection, search: environment)
            .write(to: "\(draft)/\(dump)", for: recipients)
        names.append(dump)
        if let masterKey {
            names.append(try await put(File.bytes(masterKey), Self.masterKeyFile, draft))
        }
        let manifest = BackupManifest(
            at: facts.at, program: Version.text, schema: facts.schema,
            isEncrypted: recipients != nil, realms: realms,
            parts: try names.map { name throws(SystemFailure) in
                try BackupManifest.Part(
                    name: name, size: File.facts("\(draft)/\(name)")?.size ?? 0,
                    sha256: SHA256File.sum(of: "\(draft)/\(name)"))
            })
        try File.writeAtomically(
            manifest.written, to: "\(draft)/\(BackupManifest.file)", mode: 0o600)
        return manifest
    }

    private var fileExtension: String { recipients == nil ? "" : AgeRecipients.fileExtension }

    /// - Returns: the name that the file has.
    private func put(_ bytes: [UInt8], _ name: String, _ draft: String) async throws -> String {
        let path = "\(draft)/\(name)"
        try File.writeAtomically(bytes, to: path, mode: 0o600)
        guard let recipients else { return name }
        try await DatabaseDump.run([recipients.program], from: path, to: path + fileExtension)
        try File.remove(path)
        return name + fileExtension
    }

    /// The last checkpoint of each realm: that of the node, which who alters the database does not reach; that of the
    /// database where there is none.
    private func notes(_ connection: Connection) throws -> [String: [UInt8]] {
        let rows = try connection.run(
            """
            select distinct on (c.realm) c.realm, c.note from urd.checkpoint c
            order by c.realm, c.size desc
            """)
        var notes: [String: [UInt8]] = [:]
        for row in 0..<rows.count { notes[rows.text(row, 0)] = Array(rows.text(row, 1).utf8) }
        guard let checkpoints else { return notes }
        let file = CheckpointFile(directory: checkpoints)
        for realm in try file.realms() { notes[realm.name] = try file.read(realm) }
        return notes
    }

    private static func positions(
        _ connection: Connection
    ) throws(Postgres.Failure) -> [String: Int64] {
        let rows = try connection.run(
            "select h.realm, h.position::text from urd.realm_log h where h.position > 0")
        var positions: [String: Int64] = [:]
        for row in 0..<rows.count { positions[rows.text(row, 0)] = Int64(rows.text(row, 1)) }
        return positions
    }

    private struct Facts {
        let at: Timestamp
        let schema: Int

        /// Nil where there is no log.
        init?(_ connection: Connection) throws {
            let exists = try connection.run("select to_regclass('urd.backup') is not null")
            guard exists.text(0, 0) == "t" else {
                if try Migrator(connection).state().schema == 0 { return nil }
                throw CommandFailure(
                    "the database is older than this program", remedy: "Run: urd migrate")
            }
            let now = try connection.run(
                """
                select extract(epoch from clock_timestamp())::bigint::text,
                    (select max(version)::text from urd.migration)
                """)
            at = Timestamp(seconds: Int64(now.text(0, 0)) ?? 0)
            schema = Int(now.text(0, 1)) ?? 0
        }
    }
}
