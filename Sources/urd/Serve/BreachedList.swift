import Cryptography
import Glibc

/// Passphrases that others lost: a file of SHA-1 digests in hexadecimal digits, one a line, in their
/// order, each with a colon and a count behind it or not. That is how the collections of such
/// passphrases are handed out that are ordered by digest. It is searched where it lies, for it may
/// have tens of gigabytes.
struct BreachedList: Sendable {
    let path: String

    private static let digits = 40
    /// Longer than any line is.
    private static let window = 256

    func contains(_ passphrase: SecretBytes) throws -> Bool {
        let digest = try HashFunction.sha1.hash(passphrase.exposedCopy())
        let wanted = digest.flatMap { byte in [byte >> 4, byte & 15].map(Self.digit) }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SystemFailure("open", path, code: errno) }
        defer { close(file) }
        let size = lseek(file, 0, Int32(SEEK_END))
        guard size >= 0 else { throw SystemFailure("read", path, code: errno) }
        // The line that begins first at or behind `low` is not after the wanted one; `high` is.
        var (low, high) = (0, size)
        while low < high {
            let middle = low + (high - low) / 2
            guard let line = try Self.line(behind: middle, file, path) else {
                high = middle
                continue
            }
            if line.digest == wanted { return true }
            if line.digest.lexicographicallyPrecedes(wanted) {
                low = max(line.end, middle + 1)
            } else {
                high = middle
            }
        }
        return false
    }

    /// The first line that begins at a place or behind it.
    private static func line(
        behind place: Int, _ file: Int32, _ path: String
    ) throws -> (digest: [UInt8], end: Int)? {
        // One before, to see whether a line begins right there.
        let start = max(0, place - 1)
        var room = [UInt8](repeating: 0, count: 2 * window)
        let count = pread(file, &room, room.count, start)
        guard count >= 0 else { throw SystemFailure("read", path, code: errno) }
        var bytes = room.prefix(count)
        if place > 0 {
            guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
            bytes = bytes[(end + 1)...]
        }
        guard bytes.count >= digits else { return nil }
        let end = bytes.firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.endIndex
        let digest = bytes.prefix(digits).map { (0x61...0x66).contains($0) ? $0 - 0x20 : $0 }
        return (digest, start + end)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x41 + value - 10
    }
}
