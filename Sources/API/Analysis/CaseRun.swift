internal import Cryptography
internal import EventSourcing
internal import Identity
public import ReadModels
public import Values

/// Makes a case file that a maker has for itself, up to where it can be handed out. What it tells is put on
/// record before.
public struct CaseRun: Sendable {
    private let commands: any CommandPort
    private let queries: any QuestionPort
    private let cases: any CaseFiles
    private let now: @Sendable () -> Timestamp
    private let maker: UUID

    public init(
        commands: any CommandPort, queries: any QuestionPort, cases: any CaseFiles,
        now: @escaping @Sendable () -> Timestamp, maker: UUID
    ) {
        self.commands = commands
        self.queries = queries
        self.cases = cases
        self.now = now
        self.maker = maker
    }

    /// The lease is another's, or the file was cancelled.
    private struct Lost: Error {}

    /// A failure that may pass leaves the job as it is: the node that claims it next tries again.
    public func make(
        _ job: CaseFileJob, told: @Sendable (CaseProgress) -> Void = { _ in }
    ) async throws {
        do {
            try await run(job, told)
        } catch let fault as CaseFileJob.Fault {
            _ = try await cases.finish(job, job.progress, by: maker, fault: fault)
        } catch LogFailure.damaged {
            _ = try await cases.finish(job, job.progress, by: maker, fault: .logDamaged)
        } catch is Lost {
            return
        }
    }

    private func run(_ asked: CaseFileJob, _ told: @Sendable (CaseProgress) -> Void) async throws {
        var job = asked
        if job.progress.checkpoint.isEmpty {
            job.progress.checkpoint = try await checkpoint(for: job)
            try await keep(job.progress, of: job)
        }
        try await waitForIndex(job)
        let maker = CaseMaker(index: queries, cases: cases, job: job)
        let whole = try await maker.make(from: job.progress) { _, progress in
            told(progress)
            try await keep(progress, of: job)
        }
        try await record(whole, of: job, maker)
        guard try await cases.finish(job, whole, by: self.maker, fault: nil) else { throw Lost() }
    }

    private func waitForIndex(_ job: CaseFileJob) async throws {
        while true {
            let reached = try await queries.ask(
                FollowedPosition.reached, (.eventIndex, job.question.until, job.epoch),
                in: job.realm)
            switch reached {
            case .yes: return
            case .notYet: try await keep(job.progress, of: job)
            case .never: throw CaseFileJob.Fault.positionLost
            }
        }
    }

    private func keep(_ progress: CaseProgress, of job: CaseFileJob) async throws {
        guard try await cases.save(progress, of: job, by: maker) else { throw Lost() }
    }

    /// The first that signs all that was asked for. The sealer is a second behind the log.
    private func checkpoint(for job: CaseFileJob) async throws -> [UInt8] {
        for _ in 0..<100 {
            if let newest = try await cases.checkpoint(of: job.realm),
                newest.size >= job.question.until
            {
                return newest.note
            }
            try await keep(job.progress, of: job)
            try await Task.sleep(for: .milliseconds(100))
        }
        throw CaseFileJob.Fault.notSealed
    }

    /// Whose data it opens, and then what it is.
    private func record(
        _ whole: CaseProgress, of job: CaseFileJob, _ maker: CaseMaker
    ) async throws {
        let origin = Origin(actor: job.asker, at: now())
        if job.question.opens {
            let extent = try await cases.extent(
                of: try await maker.allPositions(), in: job.realm)
            guard extent.openable == whole.opened else { throw CaseFileJob.Fault.changed }
            for (number, start) in stride(from: 0, to: extent.subjects.count, by: 200).enumerated()
            {
                let people = Array(extent.subjects[start..<min(start + 200, extent.subjects.count)])
                let id = job.newID("disclosure \(number)")
                let result = try await commands.attempt(
                    DisclosureChange.record(
                        id, kind: .events, accounts: people, reason: job.question.reason),
                    in: job.realm, named: .path, id: id, by: origin)
                // Where it is taken, it was put on record before the maker had to begin again.
                if case .failure(.invalid) = result { throw CaseFileJob.Fault.changed }
            }
        }
        let file = IssuedCaseFile(
            about: job.question.about, id: job.question.id, positions: whole.records,
            opened: whole.opened, digest: Base64URL.encode(whole.chain),
            reason: job.question.reason)
        let result = try await commands.attempt(
            DisclosureChange.issueCaseFile(job.id, file: file), in: job.realm, named: .path,
            id: job.newID("issue"), by: origin)
        if case .failure = result { throw CaseFileJob.Fault.changed }
    }
}

extension CaseFileJob {
    /// An id that follows from the job, so that each node which goes on with the job has the same one.
    fileprivate func newID(_ kind: String) -> UUID {
        .v8(SHA256.hash(framed(["urd case file", realm.name, kind], [id.bytes])))
    }
}
