import EventSourcing
import ReadModels
import Synchronization
import Values

@testable import API

/// Jobs of a kind, in memory.
final class JobShelf<Kind: JobKind>: Sendable {
    fileprivate let all = Mutex<[UUID: DurableJob<Kind>]>([:])
}

/// Answers of jobs from memory, as the store gives them.
protocol MemoryJobs: DurableJobs {
    var jobs: JobShelf<Kind> { get }
}

extension MemoryJobs {
    func change(_ id: UUID, _ change: (inout DurableJob<Kind>) -> Void) {
        jobs.all.withLock { jobs in
            guard var job = jobs[id] else { return }
            change(&job)
            jobs[id] = job
        }
    }

    func cancelUnfinished() {
        jobs.all.withLock { jobs in
            for (id, job) in jobs where [.waiting, .running].contains(job.state) {
                jobs[id]?.state = .cancelled
            }
        }
    }

    func hasRoom(in realm: RealmID) -> Bool {
        jobs.all.withLock { jobs in
            let unfinished = jobs.values.filter {
                $0.realm == realm && [.waiting, .running].contains($0.state)
            }
            return unfinished.count < DurableJobStore<Kind>.mostAtOnce
        }
    }

    func create(_ job: DurableJob<Kind>) -> Bool {
        guard hasRoom(in: job.realm) else { return false }
        change { $0[job.id] = job }
        return true
    }

    private func change(_ change: (inout [UUID: DurableJob<Kind>]) -> Void) {
        jobs.all.withLock { change(&$0) }
    }

    func job(_ id: UUID, in realm: RealmID) -> DurableJob<Kind>? {
        jobs.all.withLock { $0[id] }.flatMap { $0.realm == realm ? $0 : nil }
    }

    func cancel(_ id: UUID, in realm: RealmID) -> Bool {
        guard job(id, in: realm) != nil else { return false }
        change(id) { $0.state = .cancelled }
        return true
    }

    func save(_ progress: Kind.Progress, of job: DurableJob<Kind>, by maker: UUID) -> Bool {
        guard let known = self.job(job.id, in: job.realm),
            [.waiting, .running].contains(known.state)
        else { return false }
        change(job.id) { $0.progress = progress }
        return true
    }

    func finish(
        _ job: DurableJob<Kind>, _ progress: Kind.Progress, by maker: UUID, fault: Kind.Fault?
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
}
