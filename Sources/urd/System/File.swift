import Glibc

/// Files and folders by path.
enum File {
    struct Facts: Sendable {
        let mode: mode_t
        let owner: uid_t
        let group: gid_t
        let size: Int64
        /// In nanoseconds since 1970.
        let modified: Int64

        var isFolder: Bool { mode & S_IFMT == S_IFDIR }
        var isRegular: Bool { mode & S_IFMT == S_IFREG }
        var permissions: mode_t { mode & 0o7777 }
    }

    /// Nil when there is nothing at the path, or it can't be seen.
    static func facts(_ path: String, following: Bool = true) -> Facts? {
        var info = stat()
        guard (following ? stat(path, &info) : lstat(path, &info)) == 0 else { return nil }
        return Facts(
            mode: info.st_mode, owner: info.st_uid, group: info.st_gid, size: Int64(info.st_size),
            modified: Int64(info.st_mtim.tv_sec) * 1_000_000_000 + Int64(info.st_mtim.tv_nsec))
    }

    static func exists(_ path: String) -> Bool { facts(path, following: false) != nil }

    static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    static func bytes(_ path: String, limit: Int = 16 * 1024 * 1024) throws(SystemFailure)
        -> [UInt8]
    {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure("read", path) }
        defer { close(descriptor) }
        return try Descriptor.readAll(descriptor, path, limit: limit)
    }

    static func text(_ path: String) throws(SystemFailure) -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// Readers see the old content or the new, and after a crash too.
    static func writeAtomically(
        _ bytes: [UInt8], to path: String, mode: mode_t
    ) throws(SystemFailure) {
        let draft = "\(path).\(getpid()).new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw SystemFailure("create", draft) }
        defer { close(descriptor) }
        do throws(SystemFailure) {
            // The process's umask may have taken bits away.
            guard fchmod(descriptor, mode) == 0 else { throw SystemFailure("protect", draft) }
            try Descriptor.write(bytes, to: descriptor, draft)
            guard fsync(descriptor) == 0 else { throw SystemFailure("flush", draft) }
            guard rename(draft, path) == 0 else { throw SystemFailure("replace", path) }
        } catch {
            unlink(draft)
            throw error
        }
        try flushFolder(of: path)
    }

    static func flushFolder(of path: String) throws(SystemFailure) {
        let folder = Path.parent(of: path)
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure("open", folder) }
        defer { close(descriptor) }
        // Some file systems cannot flush a folder: then there is nothing to be done.
        _ = fsync(descriptor)
    }

    static func remove(_ path: String) throws(SystemFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemFailure("remove", path) }
    }

    static func move(_ path: String, to other: String) throws(SystemFailure) {
        guard rename(path, other) == 0 else { throw SystemFailure("move", path) }
    }
}
