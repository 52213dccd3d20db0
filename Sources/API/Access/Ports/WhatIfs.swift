public import EventSourcing
public import ReadModels
public import Values

/// Policies that are tried on past sign-ins, and the log that they are tried on.
public protocol WhatIfs: DurableJobs where Kind == WhatIfKind {
    /// The bytes of the result, where it is ready.
    func result(of id: UUID, in realm: RealmID) async throws(LogFailure) -> [UInt8]?

    /// The events of some types behind a position and up to another, in their order.
    func scan(
        after position: Int64, through end: Int64, types: [String], in realm: RealmID
    ) async throws(LogFailure) -> [ScannedEvent]

    func epochs(of realm: RealmID) async throws(LogFailure) -> EpochHistory
}
