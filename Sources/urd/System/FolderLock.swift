import Glibc

/// A file that only one process can hold. The kernel lets go when that process ends, however it
/// ends, so that no stale lock is ever left.
struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// Nil when another process holds it.
    static func take(_ path: String) throws(SystemFailure) -> FolderLock? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemFailure("open", path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { return nil }
            throw SystemFailure("lock", path, code: code)
        }
        ftruncate(descriptor, 0)
        Descriptor.writeAll(Array("\(getpid())\n".utf8), to: descriptor)
        return FolderLock(descriptor: descriptor)
    }

    deinit {
        close(descriptor)
    }
}
