import Glibc
import Synchronization

/// A private PostgreSQL in a folder of its own, for as long as a check takes. However the check ends, the server ends with it;
/// the folder goes at once, or where this process is killed with the next check.
final class ScratchCluster: Sendable {
    let folder: String
    let cluster: Cluster
    /// A signal may come while the server starts: what ends it waits until there is one.
    private let starting = Mutex<Task<Postmaster, any Error>?>(nil)

    private static let prefix = "urd-restore-"
    private static let lockFile = "lock"

    private init(folder: String, environment: Environment) throws {
        self.folder = folder
        let place = Self.place(in: folder, account: try Account.forDatabase())
        try File.makeFolder(place.path, mode: 0o700)
        if let account = place.account { try File.give(place.path, to: account) }
        cluster = Cluster(
            place: place,
            programs: try PostgresPrograms.find(clusterVersion: nil, environment: environment),
            socketFolder: try place.makeSocketFolder(), log: "\(folder)/postgres.log",
            // What a crash would lose is made again.
            more: Cluster.unkept)
    }

    /// Runs the body with an empty database. A signal that asks this process to stop ends the cluster first.
    ///
    /// - Parameter parent: a folder with room for the whole database.
    static func run<Value: Sendable>(
        in parent: String, environment: Environment, say: (String) -> Void,
        _ body: (ScratchCluster) async throws -> Value
    ) async throws -> Value {
        try await sweep(parent, say)
        let folder = try File.makeTemporaryFolder("\(parent)/\(prefix)")
        guard let lock = try FolderLock.take("\(folder)/\(lockFile)") else {
            throw CommandFailure("another process took \(folder)")
        }
        let result: Result<Value, any Error>
        do {
            // The cluster's user goes through it to its own.
            guard chmod(folder, 0o711) == 0 else { throw SystemFailure("protect", folder) }
            let scratch = try ScratchCluster(folder: folder, environment: environment)
            let stopping = Task {
                for await signal in Signals.stops() {
                    await scratch.end()
                    Signals.endProcess(by: signal)
                }
            }
            do {
                try await scratch.start()
                result = .success(try await body(scratch))
            } catch {
                result = .failure(error)
            }
            // Where a signal ended the cluster, this process goes with that signal and not with the failure.
            stopping.cancel()
            await stopping.value
            await scratch.end()
        } catch {
            try? File.removeTree(folder)
            throw error
        }
        withExtendedLifetime(lock) {}
        return try result.get()
    }

    private func start() async throws {
        let cluster = cluster
        let server = Task {
            try await cluster.create()
            return try await cluster.start()
        }
        starting.withLock { $0 = server }
        _ = try await server.value
        try await cluster.prepareDatabase()
    }

    private func end() async {
        await (try? starting.withLock { $0 }?.value)?.stop()
        cluster.tidy()
        try? File.removeTree(folder)
    }

    private static func place(in folder: String, account: Account?) -> ClusterPlace {
        ClusterPlace(path: "\(folder)/postgres", account: account)
    }

    /// Removes what checks left that were killed: folders of ours that no process holds.
    private static func sweep(_ parent: String, _ say: (String) -> Void) async throws {
        for name in try File.names(in: parent) where name.hasPrefix(prefix) {
            let folder = "\(parent)/\(name)"
            guard let facts = File.facts(folder, following: false), facts.isFolder,
                facts.owner == geteuid(), File.exists("\(folder)/\(lockFile)"),
                let lock = try? FolderLock.take("\(folder)/\(lockFile)")
            else { continue }
            try await Cluster.endLeftovers(in: place(in: folder, account: nil), say: say)
            try File.removeTree(folder)
            withExtendedLifetime(lock) {}
        }
    }
}
