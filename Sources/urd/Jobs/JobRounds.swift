import Cryptography
import EventSourcing
import EventStore
import JSON
import ReadModels
import Telemetry
import Values

/// Makes the jobs of a kind that were asked for. Where a node dies, another goes on behind what it kept.
struct JobRounds<Kind: JobKind>: Sendable {
    typealias Make =
        @Sendable (
            _ job: DurableJob<Kind>, _ maker: UUID,
            _ told: @escaping @Sendable (Kind.Progress) -> Void
        ) async throws -> Void

    private let store: Store
    private let rows: DurableJobStore<Kind>
    private let make: Make

    init(_ store: Store, _ make: @escaping Make) {
        self.store = store
        rows = DurableJobStore(store.database)
        self.make = make
    }

    /// Until the task is cancelled: as many at once as a realm may have.
    func runAll() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<DurableJobStore<Kind>.mostAtOnce { group.addTask { try await run() } }
        }
    }

    private func newMaker() -> UUID {
        var random = SystemRandom()
        return .v7(at: store.clock.now(), using: &random)
    }

    private func run() async throws {
        let maker = newMaker()
        var forgotten = ContinuousClock.now
        while true {
            try Task.checkCancellation()
            do {
                while let job = try await rows.claim(by: maker) {
                    try await make(job, maker) { _ in }
                }
                if ContinuousClock.now - forgotten > .seconds(3600) {
                    forgotten = .now
                    try await rows.forgetOld()
                }
            } catch {
                try Task.checkCancellation()
                store.lines.warning(
                    "job.waiting",
                    ["kind": .string(Kind.table), "reason": .string("\(error)")])
                try await Task.sleep(for: .seconds(1))
            }
            // One that was asked for at this node ends the rest. A node that died keeps its jobs for longer than this.
            try await store.log.hub.rest(.milliseconds(250), longest: .seconds(10))
        }
    }

    /// Makes one in this process, unless a server is at it already, and returns when it is ready.
    /// - Parameter state: the job as it is shown, and how far it is.
    func make(
        _ id: UUID, _ name: String, _ progress: Progress,
        _ count: @escaping @Sendable (Kind.Progress) -> Int64,
        state: () async throws -> (job: JSON, count: Int64)
    ) async throws {
        let maker = newMaker()
        while true {
            if let job = try await rows.claim(id, by: maker) {
                try await make(job, maker) { progress.advance(to: count($0)) }
            }
            let (job, done) = try await state()
            progress.advance(to: done)
            switch job["state"]?.string.flatMap(JobState.init) {
            case .ready?:
                progress.finish()
                return
            case .waiting?, .running?: try await Task.sleep(for: .milliseconds(100))
            case .failed?, .cancelled?, nil:
                throw CommandFailure(
                    "the \(name) cannot be made: \(job["fault"]?.string ?? "it was cancelled")")
            }
        }
    }
}
