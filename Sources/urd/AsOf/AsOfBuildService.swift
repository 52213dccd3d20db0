import Cryptography
import EventStore
import JSON
import ReadModels
import Telemetry
import Values

/// Builds whole realms as of the moments that were asked for, and drops them when their hour is over. Where a node
/// dies, another goes on with the page that it was at.
struct AsOfBuildService: Sendable {
    private let store: Store
    private let rows: AsOfBuildStore
    private let maker: UUID
    private let making: AsOfBuildRun

    init(_ store: Store) {
        self.store = store
        rows = AsOfBuildStore(store.database)
        var random = SystemRandom()
        maker = .v7(at: store.clock.now(), using: &random)
        making = AsOfBuildRun(rows, maker: maker)
    }

    /// One after the other, until the task is cancelled: a build keeps two connections busy.
    func run() async throws {
        var swept: ContinuousClock.Instant?
        while true {
            try Task.checkCancellation()
            do {
                if swept.map({ ContinuousClock.now - $0 > .seconds(5) }) ?? true {
                    swept = .now
                    try await rows.sweep()
                }
                if let build = try await rows.claim(by: maker) {
                    try await making.make(build)
                    continue
                }
            } catch {
                try Task.checkCancellation()
                store.lines.warning("as_of_build.waiting", ["reason": .string("\(error)")])
                try await Task.sleep(for: .seconds(1))
            }
            try await store.log.hub.rest(.milliseconds(250), longest: .seconds(10))
        }
    }

    /// Makes one in this process, where no server is at it.
    /// - Returns: false where another process makes the build, or the build is finished.
    func make(_ id: UUID, told: @escaping @Sendable () async -> Void) async throws -> Bool {
        guard let build = try await rows.claim(id, by: maker) else { return false }
        try await making.make(build, told: told)
        return true
    }
}
