import Cryptography
import Glibc
import Synchronization
import Values

/// A file that is written piece by piece under another name and has its own once it is whole and on the disk:
/// no reader ever finds half of it there.
final class DraftFile: Sendable {
    private struct State {
        /// Negative once the file is closed.
        var descriptor: Int32
        var hash = SHA256.Incremental()
        var count: Int64 = 0
    }

    let path: String
    private let draft: String
    private let state: Mutex<State>

    init(_ path: String) throws(SystemFailure) {
        // A device, a pipe or a folder is not replaced by a file.
        if let facts = File.facts(path), !facts.isRegular {
            throw SystemFailure("replace", path, code: facts.isFolder ? EISDIR : ENOTSUP)
        }
        self.path = path
        draft = "\(path).\(getpid()).part"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemFailure("create", draft) }
        state = Mutex(State(descriptor: descriptor))
    }

    deinit { discard() }

    /// Bytes that were written.
    var count: Int64 { state.withLock { $0.count } }

    func write(_ bytes: [UInt8]) throws(SystemFailure) {
        try state.withLock { state throws(SystemFailure) in
            try Descriptor.write(bytes, to: state.descriptor, draft)
            state.hash.update(bytes)
            state.count += Int64(bytes.count)
        }
    }

    /// Gives the file its name.
    /// - Returns: the SHA-256 of what is in it, in hexadecimal.
    @discardableResult
    func publish() throws(SystemFailure) -> String {
        let digest = try state.withLock { state throws(SystemFailure) in
            guard fsync(state.descriptor) == 0 else { throw SystemFailure("flush", draft) }
            try File.move(draft, to: path)
            close(state.descriptor)
            state.descriptor = -1
            return Hex.encode(state.hash.digest())
        }
        try File.flushFolder(of: path)
        return digest
    }

    /// Deletes the draft.
    func discard() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            close(state.descriptor)
            state.descriptor = -1
            unlink(draft)
        }
    }
}
