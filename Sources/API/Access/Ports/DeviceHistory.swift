public import EventSourcing
public import ReadModels
public import Values

/// What is told of the apps on an owner's devices.
public protocol DeviceQueries: Sendable {
    /// The streams of a realm's installations, in the order in which they were made.
    func installations(in realm: RealmID) async throws(LogFailure) -> [UUID]

    /// What happened to an installation, by which evidence, and what it did; oldest first, from behind a
    /// position on. It follows the log at a small distance.
    func history(
        of installation: UUID, certifiedBy attestation: UUID?, in realm: RealmID,
        after position: Int64, limit: Int
    ) async throws(LogFailure) -> [AuditEntry]
}
