import EventSourcing
import HTTP
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// What-ifs over a log in memory.
final class MemoryWhatIfs: MemoryJobs, WhatIfs {
    private let log: WatchedLog
    let jobs = JobShelf<WhatIfKind>()

    init(log: WatchedLog) { self.log = log }

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
