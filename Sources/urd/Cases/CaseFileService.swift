import API
import Cryptography
import EventSourcing
import EventStore
import JSON
import ReadModels
import Telemetry
import Values

/// Makes the case files that were asked for. Where a node dies, another goes on behind the last record that it
/// kept.
struct CaseFileService: Sendable {
    private let store: Store
    private let rows: CaseFileStore
    private let run: CaseRun
    private let maker: UUID

    init(_ store: Store, _ queries: any AdminQueries) {
        self.store = store
        rows = CaseFileStore(store.database)
        var random = SystemRandom()
        maker = .v7(at: store.clock.now(), using: &random)
        run = CaseRun(
            commands: store.dispatcher, queries: queries, cases: CaseFileAnswers(store),
            now: store.clock.now, maker: maker)
    }

    /// Until the task is cancelled: as many at once as a realm may have, most of which wait for the log to be sealed.
    static func run(_ store: Store, _ queries: any AdminQueries) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<CaseFileStore.mostAtOnce {
                group.addTask { try await CaseFileService(store, queries).run() }
            }
        }
    }

    private func run() async throws {
        var forgotten = ContinuousClock.now
        while true {
            try Task.checkCancellation()
            do {
                while let job = try await rows.claim(by: maker) { try await run.make(job) }
                if ContinuousClock.now - forgotten > .seconds(3600) {
                    forgotten = .now
                    try await rows.forgetOld()
                }
            } catch {
                try Task.checkCancellation()
                store.lines.warning("case_file.waiting", ["reason": .string("\(error)")])
                try await Task.sleep(for: .seconds(1))
            }
            try await Task.sleep(for: .milliseconds(250))
        }
    }

    /// Makes one in this process, where no server is at it.
    /// - Returns: false where somebody else makes it, or it is made.
    func make(
        _ id: UUID, told: @Sendable (CaseProgress) -> Void
    ) async throws -> Bool {
        guard let job = try await rows.claim(id, by: maker) else { return false }
        try await run.make(job, told: told)
        return true
    }
}
