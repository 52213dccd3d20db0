public import EventSourcing
public import Postgres
public import Values

/// What stands in a realm's log beside what was signed of it: what an operator looks at who is to
/// accept that a tail is lost.
public struct LogLoss: Sendable, Equatable {
    /// Where the log ends.
    public let head: Int64
    /// How far the database's own last checkpoint reaches.
    public let sealed: Int64
    /// Up to where the log surely is the one that the copy was signed over: no further than where the epochs since then
    /// began, and no further than what the database had sealed when the copy was written. A node without the copy may
    /// have sealed what was appended behind the loss.
    public let shared: Int64
    /// When the copy was written, by its file: what the database sealed since then may be anything.
    public let copiedAt: Timestamp?
    public let epoch: Int
    /// What the copy on this machine was signed over. Nil without a copy, or after it was given up.
    public let copy: Int64?
    /// Whether that copy is of this log. Then this machine knows of no loss.
    public let isCopyOfThisLog: Bool

    /// - Parameter directory: where this machine keeps its copies of checkpoints.
    public static func look(
        at realm: RealmID, _ database: Database, keyring: Keyring, directory: String?
    ) async throws -> LogLoss {
        let keys = try await keyring.keys(of: realm)
        let file = directory.map { CheckpointFile(directory: $0) }
        let copiedAt = file?.time(of: realm)
        let note = try file.flatMap { file throws(CheckpointFile.Failure) in try file.read(realm) }
        return try await database.run { connection throws(Postgres.Failure) in
            try connection.transaction(
                "begin isolation level repeatable read, read only"
            ) { connection throws(Postgres.Failure) in
                try LogLoss(realm, keys, note, copiedAt, connection)
            }
        }
    }

    private init(
        _ realm: RealmID, _ keys: RealmKeys, _ note: [UInt8]?, _ copiedAt: Timestamp?,
        _ connection: Connection
    ) throws(Postgres.Failure) {
        head = try TamperTable.position(of: realm, on: connection)
        epoch = try TamperTable.epoch(of: realm, on: connection)
        sealed = try TamperTable.lastCheckpoint(realm, on: connection)?.size ?? 0
        let accepted = try AcceptedLosses(realm, keys: keys, on: connection)
        guard let note else {
            (copy, isCopyOfThisLog, shared, self.copiedAt) = (nil, true, sealed, nil)
            return
        }
        self.copiedAt = copiedAt
        let told = SignedNote(note).flatMap { Checkpoint(text: $0.text) }
        let began = try TamperTable.shared(by: realm, since: told?.epoch ?? 1, on: connection)
        let atMost = min(sealed, began ?? sealed)
        if let signed = keys.checkpoint(note) {
            copy = accepted.cover(signed) ? nil : signed.size
            let tree = try TileReader(realm, size: signed.size, on: connection).frontier()
            isCopyOfThisLog = copy == nil || signed.size <= sealed && tree?.root == signed.root
        } else {
            copy = accepted.coverUnsigned(note) ? nil : told?.size ?? 0
            isCopyOfThisLog = copy == nil
        }
        guard !isCopyOfThisLog, let copiedAt else {
            shared = atMost
            return
        }
        // One of the copy's own size is another one.
        let sealedThen = try TamperTable.sealed(
            realm, at: copiedAt, upTo: (told?.size ?? 0) - 1, on: connection)
        shared = min(atMost, sealedThen)
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
