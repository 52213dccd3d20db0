import Glibc

/// The folder of one `urd dev --ephemeral`: in memory where the machine has a file system for that, and gone with the run.
final class EphemeralFolder: Sendable {
    let folder: DevelopmentFolder
    /// Says that the folder is in use, until this process ends.
    private let lock: FolderLock

    private static let prefix = "urd-ephemeral-"
    private static let lockFile = "ephemeral.lock"
    private static let memory = "/dev/shm"
    /// What a cluster with some tests' events takes, and as much again.
    private static let leastRoom: UInt64 = 512 << 20

    /// - Parameter say: hears of what an earlier run left, and of a machine without such a file system.
    init(say: (String) -> Void) async throws {
        let parent = Self.hasRoom(Self.memory) ? Self.memory : "/tmp"
        if parent != Self.memory { say("\(Self.memory) has no room: the database is on disk") }
        await Self.sweep(parent, say)
        let path = try File.makeTemporaryFolder("\(parent)/\(Self.prefix)")
        guard let lock = try FolderLock.take("\(path)/\(Self.lockFile)") else {
            throw CommandFailure("another process took \(path)")
        }
        self.lock = lock
        folder = DevelopmentFolder(path: path)
        // The user that runs PostgreSQL goes through it to its own.
        guard chmod(folder.path, 0o755) == 0 else { throw SystemFailure("protect", folder.path) }
    }

    /// Removes all files of the folder but its lock.
    func clear() throws {
        for name in try File.names(in: folder.path) where name != Self.lockFile {
            try File.removeTree("\(folder.path)/\(name)")
        }
    }

    /// The end of all that the run made, once its PostgreSQL has ended.
    func remove() {
        try? ClusterPlace.existing(in: folder)?.wipe()
        try? File.removeTree(folder.path)
    }

    private static func hasRoom(_ path: String) -> Bool {
        var facts = statvfs()
        guard access(path, W_OK) == 0, statvfs(path, &facts) == 0 else { return false }
        return UInt64(facts.f_bavail) * UInt64(facts.f_frsize) >= leastRoom
    }

    /// Removes what runs left that were killed: folders of ours whose lock is free.
    private static func sweep(_ parent: String, _ say: (String) -> Void) async {
        for name in (try? File.names(in: parent)) ?? [] where name.hasPrefix(prefix) {
            let left = DevelopmentFolder(path: "\(parent)/\(name)")
            guard let facts = File.facts(left.path, following: false), facts.isFolder,
                facts.owner == geteuid(), File.exists("\(left.path)/\(lockFile)"),
                let lock = try? FolderLock.take("\(left.path)/\(lockFile)")
            else { continue }
            if let place = try? ClusterPlace.existing(in: left) {
                try? await Cluster.endLeftovers(in: place, say: say)
                try? place.wipe()
            }
            try? File.removeTree(left.path)
            withExtendedLifetime(lock) {}
        }
    }
}
