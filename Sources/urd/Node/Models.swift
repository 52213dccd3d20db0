public import API
import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
public import ReadModels
import Threads
import Values

/// The read models of one process: who keeps them up, and who asks them.
struct Models: Sendable {
    let queries: ReadModelQueries
    private let store: Store
    private let follower: ProjectionFollower
    private let configurations: Configurations

    init(_ store: Store) throws {
        self.store = store
        queries = ReadModelQueries(
            store.database, hub: store.log.hub, proofs: store.log.proofs)
        configurations = Configurations(store.database, hub: store.log.hub)
        follower = ProjectionFollower(
            store.database, hub: store.log.hub, metrics: store.metrics, log: store.lines)
    }

    /// Moves what follows the log, and looks for what other nodes changed, until the task is cancelled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await follower.run() }
            group.addTask { try await configurations.poll() }
        }
    }

    /// Builds what is missing or reads differently now.
    static func migrate(owner address: String, console: Console) async throws -> [String] {
        let built = try await DedicatedThread.run {
            // What was told of one, and when, is kept from step to step.
            var reports: [String: ProjectionReport] = [:]
            return try ProjectionEngine(address).migrate { name, progress in
                let report = reports[name] ?? ProjectionReport(name, console)
                reports[name] = report
                report.show(progress)
            }
        }
        return built.map { "projection \($0)" }
    }
}

extension ReadModelQueries: RealmQueries, HostQueries {}
extension AsOfBuildStore: AsOfBuilds {}
extension FeedCursorStore: FeedCursors {}
