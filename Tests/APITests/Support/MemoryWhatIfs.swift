import EventSourcing
import HTTP
import JSON
import ReadModels
import Synchronization
import Testing
import Values

@testable import API

/// What-ifs over a log in memory.
final class MemoryWhatIfs: WhatIfs {
    private let log: WatchedLog
    private let jobs = Mutex<[UUID: WhatIfJob]>([:])

    init(log: WatchedLog) { self.log = log }

    func change(_ id: UUID, _ change: (inout WhatIfJob) -> Void) {
        jobs.withLock { jobs in
            guard var job = jobs[id] else { return }
            change(&job)
            jobs[id] = job
        }
    }

    func cancelUnfinished() {
        jobs.withLock { jobs in
            for (id, job) in jobs where [.waiting, .running].contains(job.state) {
                jobs[id]?.state = .cancelled
            }
        }
    }

    func create(_ job: WhatIfJob) -> Bool {
        jobs.withLock { jobs in
            let unfinished = jobs.values.filter {
                $0.realm == job.realm && [.waiting, .running].contains($0.state)
            }
            guard unfinished.count < WhatIfStore.mostAtOnce else { return false }
            jobs[job.id] = job
            return true
        }
    }

    func job(_ id: UUID, in realm: RealmID) -> WhatIfJob? {
        jobs.withLock { $0[id] }.flatMap { $0.realm == realm ? $0 : nil }
    }

    func cancel(_ id: UUID, in realm: RealmID) -> Bool {
        guard job(id, in: realm) != nil else { return false }
        change(id) { $0.state = .cancelled }
        return true
    }

    func save(_ progress: WhatIfProgress, of job: WhatIfJob, by maker: UUID) -> Bool {
        guard let known = self.job(job.id, in: job.realm),
            [.waiting, .running].contains(known.state)
        else { return false }
        change(job.id) { $0.progress = progress }
        return true
    }

    func finish(
        _ job: WhatIfJob, _ progress: WhatIfProgress, by maker: UUID, fault: WhatIfJob.Fault?
    ) -> Bool {
        guard let known = self.job(job.id, in: job.realm),
            [.waiting, .running].contains(known.state)
        else { return false }
        change(job.id) {
            $0.progress = progress
            $0.state = fault == nil ? .ready : .failed
            $0.fault = fault
        }
        return true
    }

    func result(of id: UUID, in realm: RealmID) -> [UInt8]? {
        job(id, in: realm).flatMap { $0.state == .ready ? $0.progress.result : nil }
    }

    func scan(
        after position: Int64, through end: Int64, types: [String], in realm: RealmID
    ) async throws(LogFailure) -> [ScannedEvent] {
        try await log.events(from: position + 1, limit: Int(end - position), in: realm)
            .filter { types.contains($0.name) }.map { ScannedEvent($0) }
    }

    func epochs(of realm: RealmID) async throws(LogFailure) -> EpochHistory {
        try await log.page(from: 1, limit: 1, in: realm).epochs
    }
}

extension World {
    /// One that is ready.
    func whatIf(
        _ policy: JSON = ["require_second_factor": ["all": true]], key: BearerKey? = nil
    ) async throws -> String {
        let asked = try await send(
            .post, "/api/admin/realms/acme/what-if", body: ["policy": policy], key: key)
        let id = try #require(asked.json["id"]?.string)
        let acme = try #require(RealmID("acme"))
        let job = try #require(UUID(id).flatMap { whatIfs.job($0, in: acme) })
        try await WhatIfRun(whatIfs, maker: .random()).make(job)
        return id
    }
}
