import Glibc

/// A private PostgreSQL in a folder of its own, for as long as a check takes. However the check ends, the server ends with it;
/// the folder goes at once, or where this process is killed with the next check.
struct ScratchCluster: ~Copyable {
    let folder: String
    let cluster: Cluster
    private let postmaster: Postmaster
    private let lock: FolderLock

    private static let prefix = "urd-restore-"
    private static let lockFile = "lock"

    /// - Parameter parent: a folder with room for the whole database.
    static func start(
        in parent: String, environment: Environment, say: (String) -> Void
    ) async throws -> ScratchCluster {
        try await sweep(parent, say)
        let folder = try File.makeTemporaryFolder("\(parent)/\(prefix)")
        do {
            guard let lock = try FolderLock.take("\(folder)/\(lockFile)") else {
                throw CommandFailure("another process took \(folder)")
            }
            // The cluster's user goes through it to its own.
            guard chmod(folder, 0o711) == 0 else { throw SystemFailure("protect", folder) }
            let place = place(in: folder, account: try Account.forDatabase())
            try File.makeFolder(place.path, mode: 0o700)
            if let account = place.account { try File.give(place.path, to: account) }
            let cluster = Cluster(
                place: place,
                programs: try PostgresPrograms.find(
                    clusterVersion: nil, environment: environment),
                socketFolder: try place.makeSocketFolder(), log: "\(folder)/postgres.log",
                // What a crash would lose is made again.
                more: [
                    "fsync=off", "synchronous_commit=off", "autovacuum=off", "jit=off",
                    "shared_buffers=128MB",
                ])
            try await cluster.create()
            let postmaster = try await cluster.start()
            do {
                try await cluster.prepareDatabase()
            } catch {
                await postmaster.stop()
                throw error
            }
            return ScratchCluster(
                folder: folder, cluster: cluster, postmaster: postmaster, lock: lock)
        } catch {
            try? File.removeTree(folder)
            throw error
        }
    }

    private init(
        folder: String, cluster: Cluster, postmaster: Postmaster, lock: consuming FolderLock
    ) {
        self.folder = folder
        self.cluster = cluster
        self.postmaster = postmaster
        self.lock = lock
    }

    private static func place(in folder: String, account: Account?) -> ClusterPlace {
        ClusterPlace(path: "\(folder)/postgres", account: account)
    }

    /// What ends it, also for a signal's sake.
    var end: @Sendable () async -> Void {
        { [folder, cluster, postmaster] in
            await postmaster.stop()
            cluster.tidy()
            try? File.removeTree(folder)
        }
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
