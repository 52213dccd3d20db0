import Glibc
import Values

/// The file with the master key: 32 bytes as they are, or in hexadecimal, base64 or base64url.
enum MasterKeyFile {
    static let length = 32

    enum Problem: Error, Equatable {
        case missing
        case unreadable(String)
        /// Others than the owner can read or change it.
        case exposed(String)
        case malformed(Int)
    }

    static func read(_ path: String) throws(Problem) -> [UInt8] {
        guard let facts = File.facts(path) else { throw .missing }
        // systemd hands credentials in for the service's user and root only, in a mode (0440) that
        // an access list widens for no other user.
        let group = isCredential(path) ? 0 : 0o070
        if facts.isRegular, facts.permissions & mode_t(group | 0o007) != 0 {
            throw .exposed(String(facts.permissions, radix: 8))
        }
        let bytes: [UInt8]
        do throws(SystemFailure) {
            bytes = try File.bytes(path, limit: 4096)
        } catch {
            throw .unreadable(error.description)
        }
        guard let key = decode(bytes) else { throw .malformed(bytes.count) }
        return key
    }

    static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.count == length { return bytes }
        let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        let readings = [Hex.decode(text), Base64.decode(text), Base64URL.decode(text)]
        return readings.compactMap { $0 }.first { $0.count == length }
    }

    /// A new key that the kernel made; one that is there is never replaced.
    static func create(_ path: String) throws(SystemFailure) {
        guard !File.exists(path) else { throw SystemFailure("create", path, code: EEXIST) }
        let descriptor = open("/dev/urandom", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure("read", "/dev/urandom") }
        defer { close(descriptor) }
        var key = [UInt8](repeating: 0, count: length)
        let count = key.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count == length else { throw SystemFailure("read", "/dev/urandom") }
        let text = Array(Hex.encode(key).utf8)
        try File.writeAtomically(text + [10], to: path, mode: 0o600)
    }

    private static func isCredential(_ path: String) -> Bool {
        path.hasPrefix("/run/credentials/")
    }
}
