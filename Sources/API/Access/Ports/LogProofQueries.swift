public import EventSourcing

/// What proves that the log is what it was.
public protocol LogProofQueries: Sendable {
    /// The newest signed checkpoint (C2SP tlog-checkpoint), as its signer wrote it.
    func checkpoint(of realm: RealmID) async throws(LogFailure) -> [UInt8]?

    /// Proof that the event at a position is in the log that the newest checkpoint signs. Nil: the event is not
    /// sealed yet, or does not exist.
    func inclusionProof(
        of position: Int64, in realm: RealmID
    ) async throws(LogFailure) -> InclusionView?

    /// The canonical records at some positions, sealed or not: what leaves are the hashes of. Fewer where
    /// an event is missing.
    func records(
        at positions: ClosedRange<Int64>, of realm: RealmID
    ) async throws(LogFailure) -> [[UInt8]]

    /// A tile of the tree (C2SP tlog-tiles): `width` hashes of 32 bytes. Nil before its checkpoint.
    func tile(
        level: Int, index: Int64, width: Int, of realm: RealmID
    ) async throws(LogFailure) -> [UInt8]?
}

/// RFC 6962 inclusion: the record that is hashed, the path, and the checkpoint that signs the root
/// they lead to.
public struct InclusionView: Sendable, Equatable {
    public var position: Int64
    public var record: [UInt8]
    public var path: [[UInt8]]
    public var checkpoint: [UInt8]

    public init(position: Int64, record: [UInt8], path: [[UInt8]], checkpoint: [UInt8]) {
        self.position = position
        self.record = record
        self.path = path
        self.checkpoint = checkpoint
    }
}
