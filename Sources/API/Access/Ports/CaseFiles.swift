public import EventSourcing
public import ReadModels
public import Values

/// Case files: who asked for them, and what convinces their readers.
public protocol CaseFiles: DurableJobs where Kind == CaseFileKind {
    /// The newest signed checkpoint, and its size. Nil before the first checkpoint.
    func checkpoint(
        of realm: RealmID
    ) async throws(LogFailure) -> (size: Int64, note: [UInt8])?

    /// The events at some positions, in their order, each proven against a checkpoint of the realm.
    /// - Parameter opens: whether what opens their personal fields is handed out.
    func evidence(
        at positions: [Int64], under note: [UInt8], opens: Bool, in realm: RealmID
    ) async throws(LogFailure) -> [EventEvidence]

    func extent(
        of positions: [Int64], in realm: RealmID
    ) async throws(LogFailure) -> EventExtent

    /// Leaves of the tree that a checkpoint signs, by tiles of 256, from one on. Empty where there are no more leaves.
    func leaves(
        fromTile tile: Int64, count: Int, under note: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> [[[UInt8]]]

    /// A note of the realm's log key over the end of a case file.
    func sign(
        _ id: UUID, lines: Int64, chain: [UInt8], in realm: RealmID
    ) async throws(LogFailure) -> [UInt8]
}
