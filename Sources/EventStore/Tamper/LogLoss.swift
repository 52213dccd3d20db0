public import EventSourcing
public import Postgres

/// What stands in a realm's log beside what was signed of it: what an operator looks at who is to
/// accept that a tail is lost.
public struct LogLoss: Sendable, Equatable {
    /// Where the log ends.
    public let head: Int64
    /// How far the database's own last checkpoint reaches.
    public let sealed: Int64
    /// Up to where the log surely is the one that the copy was signed over: no further than where the epochs since then
    /// began. A node without the copy may have sealed what was appended behind the loss.
    public let shared: Int64
    public let epoch: Int
    /// What the copy on this machine was signed over. Nil: there is none, or it was given up.
    public let copy: Int64?
    /// Whether that copy is of this log. Then this machine knows of no loss.
    public let isCopyOfThisLog: Bool

    /// - Parameter directory: where this machine keeps its copies of checkpoints.
    public static func look(
        at realm: RealmID, _ database: Database, keyring: Keyring, directory: String?
    ) async throws -> LogLoss {
        let keys = try await keyring.keys(of: realm)
        let note = try directory.flatMap { directory throws(CheckpointFile.Failure) in
            try CheckpointFile(directory: directory).read(realm)
        }
        return try await database.run { connection throws(Postgres.Failure) in
            try connection.transaction(
                "begin isolation level repeatable read, read only"
            ) { connection throws(Postgres.Failure) in
                try LogLoss(realm, keys, note, connection)
            }
        }
    }

    private init(
        _ realm: RealmID, _ keys: RealmKeys, _ note: [UInt8]?, _ connection: Connection
    ) throws(Postgres.Failure) {
        head = try TamperTable.position(of: realm, on: connection)
        epoch = try TamperTable.epoch(of: realm, on: connection)
        sealed = try TamperTable.lastCheckpoint(realm, on: connection)?.size ?? 0
        let accepted = try AcceptedLosses(realm, keys: keys, on: connection)
        guard let note else {
            (copy, isCopyOfThisLog, shared) = (nil, true, sealed)
            return
        }
        let signedIn = SignedNote(note).flatMap { Checkpoint(text: $0.text) }?.epoch
        shared = min(
            sealed,
            try TamperTable.shared(by: realm, since: signedIn ?? 1, on: connection) ?? sealed)
        guard let signed = keys.checkpoint(note) else {
            let size = SignedNote(note).flatMap { Checkpoint(text: $0.text) }?.size
            copy = accepted.coverUnsigned(note) ? nil : size ?? 0
            isCopyOfThisLog = copy == nil
            return
        }
        copy = accepted.cover(signed) ? nil : signed.size
        let tree = try TileReader(realm, size: signed.size, on: connection).frontier()
        isCopyOfThisLog = copy == nil || signed.size <= sealed && tree?.root == signed.root
    }

    /// Moves the realm to its next epoch: nodes drop their caches, and earlier signatures can be
    /// told from later ones.
    /// - Returns: that epoch.
    public static func advanceEpoch(
        of realm: RealmID, from epoch: Int, _ database: Database
    ) async throws -> Int {
        try await database.run { connection throws(Postgres.Failure) in
            try connection.transaction { connection throws(Postgres.Failure) in
                try TamperTable.leave(epoch: epoch, realm, on: connection)
                return try TamperTable.epoch(of: realm, on: connection)
            }
        }
    }
}
