public import EventSourcing
public import ReadModels
public import Values

/// What became of jobs of a kind: `DurableJobStore` over the database.
public protocol DurableJobs<Kind>: Sendable {
    associatedtype Kind: JobKind

    /// Whether the realm has fewer in the making than it may have.
    func hasRoom(in realm: RealmID) async throws(LogFailure) -> Bool

    func create(_ job: DurableJob<Kind>) async throws(LogFailure) -> Bool

    func job(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> DurableJob<Kind>?

    @discardableResult
    func cancel(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> Bool

    func save(
        _ progress: Kind.Progress, of job: DurableJob<Kind>, by maker: UUID
    ) async throws(LogFailure) -> Bool

    func finish(
        _ job: DurableJob<Kind>, _ progress: Kind.Progress, by maker: UUID, fault: Kind.Fault?
    ) async throws(LogFailure) -> Bool
}
