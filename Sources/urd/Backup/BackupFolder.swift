import Values

/// The folder in which backups stand side by side: `urd-20261130T201500Z`, named after their moments.
struct BackupFolder: Sendable {
    let path: String

    private static let prefix = "urd-"

    static func name(of moment: Timestamp) -> String {
        prefix + String(moment.description.prefix(19)).filter { $0 != "-" && $0 != ":" } + "Z"
    }

    private static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 16 && name.hasSuffix("Z")
    }

    /// Under this name a backup is written; what has it when no other process writes is left over.
    func draft(of name: String) -> String { "\(path)/.\(name).part" }

    /// The names of whole backups, oldest first.
    func whole() throws(SystemFailure) -> [String] {
        try File.names(in: path).filter {
            Self.isName($0) && File.exists("\(path)/\($0)/\(BackupManifest.file)")
        }
    }

    /// Throws where another process writes a backup here.
    func lock() throws -> FolderLock {
        guard let lock = try FolderLock.take("\(path)/.lock") else {
            throw CommandFailure("another process writes a backup in \(path) at this moment")
        }
        return lock
    }

    /// Removes what a backup that was killed left behind.
    func removeDrafts() throws(SystemFailure) {
        for name in try File.names(in: path)
        where name.hasPrefix(".\(Self.prefix)") && name.hasSuffix(".part") {
            try File.removeTree("\(path)/\(name)")
        }
    }

    /// Removes the oldest whole backups but so many.
    /// - Returns: the names of those that are gone.
    func keep(_ count: Int) throws(SystemFailure) -> [String] {
        let old = try whole().dropLast(count)
        for name in old { try File.removeTree("\(path)/\(name)") }
        return Array(old)
    }

    /// The backup that is meant by a path: itself, or the newest in a folder of backups.
    static func backup(at path: String) throws -> String {
        guard let facts = File.facts(path), facts.isFolder else {
            throw CommandFailure("there is no folder \(path)")
        }
        let path = try Path.absolute(path)
        if let newest = try BackupFolder(path: path).whole().last { return "\(path)/\(newest)" }
        let names = try File.names(in: path)
        let isBackup = names.contains {
            $0 == BackupManifest.file || $0.hasPrefix(DatabaseDump.file)
        }
        guard isBackup else { throw CommandFailure("there is no backup in \(path)") }
        return path
    }
}
