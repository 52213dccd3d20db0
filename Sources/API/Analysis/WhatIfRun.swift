internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
public import ReadModels
public import Values

/// Tries a policy that a maker has for itself, up to where its result can be handed out.
public struct WhatIfRun: Sendable {
    private let whatIfs: any WhatIfs
    private let maker: UUID
    private let page: Int64

    /// - Parameter page: how many positions are read at once; the result does not depend on it.
    public init(_ whatIfs: any WhatIfs, maker: UUID, page: Int64 = 4_000) {
        self.whatIfs = whatIfs
        self.maker = maker
        self.page = page
    }

    /// The lease is another's, or it was cancelled.
    private struct Lost: Error {}

    /// A failure that may pass leaves the job as it is: the node that claims it next tries again.
    public func make(
        _ job: WhatIfJob, told: @Sendable (WhatIfProgress) -> Void = { _ in }
    ) async throws {
        do {
            try await run(job, told)
        } catch let fault as WhatIfJob.Fault {
            _ = try await whatIfs.finish(job, ended(job, result: nil), by: maker, fault: fault)
        } catch LogFailure.damaged {
            _ = try await whatIfs.finish(
                job, ended(job, result: nil), by: maker, fault: try await faultOfMissing(job))
        } catch is Lost {
            return
        }
    }

    private func run(
        _ job: WhatIfJob, _ told: @Sendable (WhatIfProgress) -> Void
    ) async throws {
        try await requireLog(of: job)
        let filter = try filter(of: job)
        var engine = try engine(for: job)
        var keeper = SaveSchedule(after: job.question.after)
        if let state = job.progress.state, !state.isEmpty, engine.resume(state) {
            keeper.progress.position = job.progress.position
        }
        let (whatIfs, realm) = (whatIfs, job.realm)
        let scan = WhatIfScan(filter: filter, page: page) { after, last throws(LogFailure) in
            try await whatIfs.scan(
                after: after, through: last, types: PolicyFact.types, in: realm)
        }
        try await scan.run(
            &engine, after: keeper.progress.position, until: job.question.until
        ) { engine, position in
            keeper.progress.scanned = position
            told(keeper.progress)
            guard let due = keeper.due(engine, at: position) else { return }
            guard try await whatIfs.save(due, of: job, by: maker) else { throw Lost() }
        }
        try await requireLog(of: job)
        let result = engine.result(WhatIfRun.told(job)).canonical()
        guard
            try await whatIfs.finish(job, ended(job, result: result), by: maker, fault: nil)
        else { throw Lost() }
    }

    /// Nothing but the result is kept.
    private func ended(_ job: WhatIfJob, result: [UInt8]?) -> WhatIfProgress {
        var progress = WhatIfProgress()
        progress.position = result == nil ? job.progress.position : job.question.until
        progress.scanned = progress.position
        progress.state = []
        progress.result = result
        return progress
    }

    private func requireLog(of job: WhatIfJob) async throws {
        let epochs = try await whatIfs.epochs(of: job.realm)
        let cursor = LogCursor(epoch: job.epoch, position: job.question.until)
        guard epochs.standing(of: cursor) == .valid else { throw WhatIfJob.Fault.positionLost }
    }

    /// A log that went back meanwhile lacks events as well.
    private func faultOfMissing(_ job: WhatIfJob) async throws -> WhatIfJob.Fault {
        do {
            try await requireLog(of: job)
            return .logDamaged
        } catch let fault as WhatIfJob.Fault {
            return fault
        }
    }

    private func engine(for job: WhatIfJob) throws -> WhatIfEngine {
        let policy: SignInPolicy
        do throws(PolicyFault) {
            policy = try PolicyReader.policy(job.question.policy) { SourceRange($0)?.count }
        } catch {
            throw WhatIfJob.Fault.otherVersion
        }
        return WhatIfEngine(
            policy.knowing(sources: job.question.sources), isWhole: job.question.after == 0,
            since: job.question.since ?? job.askedAt, isFiltered: job.question.filter != nil)
    }

    private func filter(of job: WhatIfJob) throws -> FilterExpression? {
        do {
            return try job.question.filter.map {
                try FilterParser.expression(of: $0, EventAttributes.ofAttempts)
            }
        } catch {
            throw WhatIfJob.Fault.otherVersion
        }
    }

    /// What was asked, as it is told with the result.
    private static func told(_ job: WhatIfJob) -> JSONObject {
        var members: JSONObject = [
            "realm": .string(job.realm.name), "from": .integer(job.question.after + 1),
            "to": .integer(job.question.until), "policy": job.question.policy,
        ]
        members["filter"] = job.question.filter.map { .string($0) }
        return members
    }
}

/// When something is kept: the lease every few seconds, and the state where it costs little beside the work.
private struct SaveSchedule {
    var progress = WhatIfProgress()
    private var lastSaved = ContinuousClock.now
    private var lastState = ContinuousClock.now
    private var cost = Duration.zero

    init(after position: Int64) {
        progress.position = position
        progress.scanned = position
    }

    /// Nil where no progress is to be stored now.
    mutating func due(_ engine: WhatIfEngine, at position: Int64) -> WhatIfProgress? {
        let now = ContinuousClock.now
        if now - lastState >= max(.seconds(1), cost * 20) {
            var kept = progress
            kept.position = position
            kept.state = engine.state
            progress.position = position
            (lastState, lastSaved) = (.now, .now)
            cost = .now - now
            return kept
        }
        guard now - lastSaved >= .seconds(3) else { return nil }
        lastSaved = now
        return progress
    }
}
