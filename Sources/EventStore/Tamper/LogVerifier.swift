public import EventSourcing
public import Postgres

/// Derives the whole tree of a realm again from the columns of its events and compares it with all
/// that was stored and signed: leaves, macs, positions, versions, heads, tiles, checkpoints, and
/// the copy of the last checkpoint outside the database.
public struct LogVerifier: Sendable {
    private let database: Database
    private let keyring: Keyring
    private let file: CheckpointFile?
    private let pageLength: Int64

    /// - Parameters:
    ///   - database: as the application; one connection is busy for as long as it takes.
    ///   - directory: where the sealer keeps its copies of checkpoints.
    public init(
        _ database: Database, keyring: Keyring, directory: String?, pageLength: Int64 = 65_536
    ) {
        self.database = database
        self.keyring = keyring
        file = directory.map { CheckpointFile(directory: $0) }
        self.pageLength = max(1, pageLength)
    }

    /// Verifies a realm as it is now; what is appended meanwhile is not looked at.
    /// - Parameters:
    ///   - position: what stands before is not read again, as far as a checkpoint vouches for it.
    ///   - holdsLaws: whether to hold what was found to be intact against the laws of the log as well.
    ///   - progress: called now and then, on a thread of the verifier's own.
    public func verify(
        _ realm: RealmID, from position: Int64 = 1, holdsLaws: Bool = false,
        progress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> Verification {
        let keys = try await keyring.keys(of: realm)
        // Before the database is looked at, so that it can't be ahead of it.
        let copy: VerificationRun.Copy
        do {
            copy = try file?.read(realm).map { .note($0) } ?? .none
        } catch {
            copy = .unreadable
        }
        let pageLength = pageLength
        return try await database.run { connection throws(Postgres.Failure) in
            try connection.transaction(
                "begin isolation level repeatable read, read only"
            ) { connection throws(Postgres.Failure) in
                var verification = try VerificationRun(
                    realm: realm, keys: keys, copy: copy, pageLength: pageLength,
                    holdsLaws: holdsLaws, connection: connection, progress: progress
                ).verify(from: position)
                verification.unreadable = try unreadable(
                    in: realm, from: verification.first, on: connection)
                return verification
            }
        }
    }

    /// Counts what is sealed and cannot be read among the last events of a realm.
    public func unreadable(
        in realm: RealmID, amongLast count: Int64
    ) async throws -> UnreadableEvents {
        try await database.run { connection throws(Postgres.Failure) in
            try connection.transaction(
                "begin isolation level repeatable read, read only"
            ) { connection throws(Postgres.Failure) in
                let head = try TamperTable.position(of: realm, on: connection)
                return try unreadable(
                    in: realm, from: max(1, head - count + 1), on: connection)
            }
        }
    }

    private func unreadable(
        in realm: RealmID, from first: Int64, on connection: Connection
    ) throws(Postgres.Failure) -> UnreadableEvents {
        var scan = try SealedEventScan(realm, keyring: keyring, on: connection)
        return try scan.count(from: first)
    }
}
