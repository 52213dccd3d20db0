import API
import EventSourcing
import ReadModels
import Values

/// Jobs whose rows are in the database.
protocol StoredJobs: DurableJobs {
    var rows: DurableJobStore<Kind> { get }
}

extension StoredJobs {
    func hasRoom(in realm: RealmID) async throws(LogFailure) -> Bool {
        try await rows.hasRoom(in: realm)
    }

    func create(_ job: DurableJob<Kind>) async throws(LogFailure) -> Bool {
        try await rows.create(job)
    }

    func job(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> DurableJob<Kind>? {
        try await rows.job(id, in: realm)
    }

    @discardableResult
    func cancel(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> Bool {
        try await rows.cancel(id, in: realm)
    }

    func save(
        _ progress: Kind.Progress, of job: DurableJob<Kind>, by maker: UUID
    ) async throws(LogFailure) -> Bool {
        try await rows.save(progress, of: job, by: maker)
    }

    func finish(
        _ job: DurableJob<Kind>, _ progress: Kind.Progress, by maker: UUID, fault: Kind.Fault?
    ) async throws(LogFailure) -> Bool {
        try await rows.finish(job, progress, by: maker, fault: fault)
    }
}
