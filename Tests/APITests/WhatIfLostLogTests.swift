import EventSourcing
import JSON
import ReadModels
import Synchronization
import Testing
import Values

@testable import API

/// What-ifs over a log of which events are missing, and which may have gone back when that is noticed.
private final class LackingWhatIfs: MemoryJobs, WhatIfs {
    let jobs = JobShelf<WhatIfKind>()
    private let later: EpochHistory
    private let asked = Atomic(0)

    init(later: EpochHistory) { self.later = later }

    func result(of id: UUID, in realm: RealmID) -> [UInt8]? { nil }

    func scan(
        after position: Int64, through end: Int64, types: [String], in realm: RealmID
    ) async throws(LogFailure) -> [ScannedEvent] {
        throw .damaged
    }

    func epochs(of realm: RealmID) async throws(LogFailure) -> EpochHistory {
        let isFirst = asked.add(1, ordering: .relaxed).oldValue == 0
        return isFirst
            ? EpochHistory(head: Head(epoch: 1, position: 100), starts: []) : later
    }
}

@Suite struct `A what-if that misses events` {
    private func fault(_ later: EpochHistory) async throws -> WhatIfJob.Fault? {
        let realm = try #require(RealmID("acme"))
        let whatIfs = LackingWhatIfs(later: later)
        let now = Timestamp(microseconds: 1_800_000_000_000_000)
        let job = WhatIfJob(
            realm: realm, id: .random(), asker: "admin:1",
            question: WhatIfQuestion(
                policy: ["require_second_factor": ["all": true]], sources: [], after: 0,
                until: 100, since: nil, filter: nil),
            epoch: 1, askedAt: now)
        #expect(whatIfs.create(job))
        try await WhatIfRun(whatIfs, maker: .random()).make(job)
        let ended = try #require(whatIfs.job(job.id, in: realm))
        #expect(ended.state == .failed)
        return ended.fault
    }

    @Test func `a what-if tells a log that went back from one that is damaged`() async throws {
        let same = EpochHistory(head: Head(epoch: 1, position: 100), starts: [])
        #expect(try await fault(same) == .logDamaged)
        let wentBack = EpochHistory(
            head: Head(epoch: 2, position: 90), starts: [.init(epoch: 2, after: 80)])
        #expect(try await fault(wentBack) == .positionLost)
    }
}
