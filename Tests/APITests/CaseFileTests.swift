import Cryptography
import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite struct `Case files` {
    private func job(_ opens: Bool = true) throws -> CaseFileJob {
        var job = CaseFileJob(
            realm: try #require(RealmID("acme")), id: UUID(high: 1, low: 2), asker: "operator:root",
            question: CaseQuestion(
                about: .account, id: UUID(high: 1, low: 3).description, until: 42, opens: opens,
                isComplete: false, reason: "Incident 4711"), epoch: 1,
            askedAt: Timestamp(microseconds: 1_795_224_205_123_456))
        job.progress.checkpoint = Array("urd/acme\n42\n".utf8)
        return job
    }

    private func event(
        _ position: Int64, _ personal: EventEvidence.Personal = .none
    ) -> EventEvidence {
        EventEvidence(
            position: position, record: Array("{}".utf8), path: [[1, 2]], personal: personal)
    }

    @Test func `each line begins with the hash of itself and of all before it`() throws {
        var lines = CaseLines(after: CaseProgress())
        var chain = [UInt8](repeating: 0, count: 32)
        let written = [
            lines.opening(try job()), lines.record(event(7)), lines.related(7, []),
            lines.opened(event(7, .erased)),
        ]
        for line in written {
            let body = [UInt8(ascii: "{")] + line[54..<(line.count - 1)]
            chain = SHA256.hash([chain, body])
            let json = try JSON.parse(Array(line.dropLast()))
            #expect(json["hash"]?.string == Base64URL.encode(chain))
        }
        #expect(lines.count == 4)
        #expect(lines.digest == Base64URL.encode(chain))
    }

    @Test func `lines that go on behind a kept progress are those of one go`() throws {
        var whole = CaseLines(after: CaseProgress())
        _ = whole.opening(try job())
        var kept = CaseProgress()
        (kept.chain, kept.lines) = (whole.chain, whole.count)
        var resumed = CaseLines(after: kept)
        #expect(whole.record(event(7)) == resumed.record(event(7)))
        #expect(whole.digest == resumed.digest)
    }

    @Test func `personal fields that nobody asked for have no line`() {
        var lines = CaseLines(after: CaseProgress())
        #expect(lines.opened(event(7)).isEmpty)
        #expect(lines.opened(event(7, .sealed)).isEmpty)
        #expect(lines.count == 0)
    }

    @Test func `the first line says what a case file does not show`() throws {
        var lines = CaseLines(after: CaseProgress())
        let line = try JSON.parse(Array(lines.opening(try job()).dropLast()))
        #expect(line["limits"]?.array?.count == CaseLines.limits.count)
        #expect(CaseLines.limits.contains { $0.contains("rests on the server's index") })
    }

    @Test func `a case file that is resumed after each piece has the digest of one that is not`()
        async throws
    {
        let world = try await World()
        let acme = try #require(RealmID("acme"))
        let id = try #require(world.names["case_id"].flatMap { UUID($0) })
        let job = try #require(world.cases.job(id, in: acme))
        #expect(job.state == .ready)
        let maker = CaseMaker(
            index: MemoryQueries(log: world.log), cases: world.cases, job: job)
        struct Killed: Error {}
        var progress = CaseProgress()
        progress.checkpoint = job.progress.checkpoint
        for _ in 0..<20 {
            var kept: CaseProgress?
            do {
                let whole = try await maker.make(from: progress) { _, now in
                    if now != progress {
                        kept = now
                        throw Killed()
                    }
                }
                #expect(whole.chain == job.progress.chain)
                return
            } catch is Killed {
                progress = try #require(kept)
            }
        }
        Issue.record("It was never made.")
    }

    @Test func `a case file is handed out to the key that asked for it and to no other key`()
        async throws
    {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let id = try await world.caseFile(about: account, key: world.narrowKey)
        let path = "/api/admin/realms/acme/cases/\(id)"
        #expect(try await world.send(.get, path).status == .ok)
        #expect(try await world.send(.get, path + "/file").status == .forbidden)
        #expect(try await world.send(.get, path + "/file", key: world.narrowKey).status == .ok)
    }

    @Test func `what was erased since is not handed out`() async throws {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let id = try await world.caseFile(about: account, open: true)
        let path = "/api/admin/realms/acme/cases/\(id)/file"
        #expect(try await world.send(.get, path).status == .ok)
        world.cases.erase(try #require(UUID(account)))
        #expect(try await world.send(.get, path).problem == .caseGone)
    }

    @Test func `whose data is opened is on record before the case file is ready`() async throws {
        let world = try await World()
        let account = try #require(world.names["account_id"])
        let id = try await world.caseFile(about: account, open: true)
        let acme = try #require(RealmID("acme"))
        let events = try await world.log.events(from: 1, limit: .max, in: acme).suffix(2)
        #expect(events.map(\.name) == ["personal_data.opened", "case_file.issued"])
        #expect(events.last?.stream.description == id)
        #expect(events.first?.open["reason"] == "Incident 4711")
    }
}
