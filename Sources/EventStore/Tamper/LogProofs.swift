import Cryptography
public import EventSourcing
public import Postgres

/// Why there is no proof, tile or record.
public enum ProofFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// No signed checkpoint covers it yet, or ever will.
    case notSealed(sealed: Int64)
    /// No checkpoint was signed at this size.
    case noCheckpoint(size: Int64)
    /// What is stored does not have the signed root: see `urd verify`.
    case damaged
    /// An event is not there, or cannot be read.
    case missing(position: Int64)
    /// A bundle of entries has two bytes for the length of each.
    case recordTooLong(position: Int64)

    public var description: String {
        switch self {
        case .notSealed(let sealed): "the log is sealed up to position \(sealed)"
        case .noCheckpoint(let size): "no checkpoint was signed at size \(size)"
        case .damaged: "the stored tree does not have the signed root: verify the log"
        case .missing(let position):
            "the event at position \(position) is missing or cannot be read: verify the log"
        case .recordTooLong(let position):
            "the record at position \(position) does not fit into a bundle"
        }
    }
}

/// What convinces people who do not trust this server: checkpoints, tiles, records, and proofs made
/// of them. Nothing is handed out that does not have the signed root.
public struct LogProofs: Sendable {
    private let database: Database
    let keyring: Keyring
    private let origin: String

    /// - Parameter origin: as the sealer has it.
    public init(_ database: Database, keyring: Keyring, origin: String = "urd") {
        self.database = database
        self.keyring = keyring
        self.origin = origin
    }

    /// The public key in the form that verifiers are given.
    public func verifier(of realm: RealmID) async throws -> NoteVerifier {
        let keys = try await keyring.keys(of: realm)
        guard
            let verifier = NoteVerifier(
                name: "\(origin)/\(realm.name)", publicKey: keys.signing.publicKey)
        else {
            preconditionFailure("The origin of checkpoints was checked when it was configured.")
        }
        return verifier
    }

    /// The newest checkpoint, as a signed note. Nil before the first checkpoint.
    public func checkpoint(of realm: RealmID) async throws -> SignedCheckpoint? {
        try await read(realm) { $0.newest }
    }

    /// The content of a tile or of a bundle of entries; nil where the sealed log has no such tile.
    public func content(of tile: TileAddress, in realm: RealmID) async throws -> [UInt8]? {
        try await read(realm) { reader in try reader.content(of: tile) }
    }

    /// The canonical records at these positions, whether they are sealed yet or not.
    public func records(
        at positions: ClosedRange<Int64>, in realm: RealmID
    ) async throws -> [[UInt8]] {
        try await read(realm) { reader in
            var records: [[UInt8]] = []
            try reader.records(positions) { records.append($1) }
            return records
        }
    }

    /// Shows that an event stands at a position of the sealed log.
    public func inclusion(of position: Int64, in realm: RealmID) async throws -> InclusionProof {
        try await read(realm) { reader in try reader.inclusion(of: position) }
    }

    /// Shows that the newest checkpoint extends an older one, or a newer one an older one.
    public func consistency(
        from old: Int64, to new: Int64? = nil, in realm: RealmID
    ) async throws -> ConsistencyProof {
        try await read(realm) { reader in try reader.consistency(from: old, to: new) }
    }

    /// Runs in one snapshot, so that tiles, events and checkpoint belong together.
    func read<Value: Sendable>(
        _ realm: RealmID, _ body: @escaping @Sendable (SealedReader) throws -> Value
    ) async throws -> Value {
        let keys = try await keyring.keys(of: realm)
        let result = try await database.run { connection throws(Postgres.Failure) in
            try connection.transaction(
                "begin isolation level repeatable read, read only"
            ) { connection throws(Postgres.Failure) -> Result<Value, any Error> in
                let reader = try SealedReader(realm, keys: keys, on: connection)
                return Result { try body(reader) }
            }
        }
        return try result.get()
    }
}

/// An event, and the hashes that lead from it to a signed root.
public struct InclusionProof: Sendable, Equatable {
    public let position: Int64
    /// The canonical record: what is hashed.
    public let record: [UInt8]
    public let path: [TreeHash]
    public let checkpoint: SignedCheckpoint

    public var holds: Bool {
        MerkleProof.isIncluded(
            Merkle.leaf(record), at: position - 1, in: checkpoint.size, root: checkpoint.root,
            path: path)
    }
}

/// The hashes that show that one signed root extends another.
public struct ConsistencyProof: Sendable, Equatable {
    public let old: SignedCheckpoint
    public let new: SignedCheckpoint
    public let path: [TreeHash]

    public var holds: Bool {
        MerkleProof.isConsistent(
            from: (old.size, old.root), to: (new.size, new.root), path: path)
    }
}
