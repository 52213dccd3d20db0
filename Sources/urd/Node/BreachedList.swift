import Cryptography
import Glibc

/// Passphrases that others lost: a file of SHA-1 digests in hexadecimal digits, one a line, in their
/// order, each with a colon and a count behind it or not. That is how the collections of such
/// passphrases are handed out that are ordered by digest. It is searched where it lies, for it may
/// have tens of gigabytes.
struct BreachedList: Sendable {
    let path: String

    /// Checks the list before the server relies on it.
    static func check(_ settings: Settings) throws(CommandFailure) {
        guard let path = settings[Settings.breachedPassphrases],
            let fault = BreachedList(path: path).fault()
        else { return }
        throw CommandFailure(
            "the list of lost passphrases cannot be used: \(fault)",
            remedy: "Use one that is ordered by SHA-1 digest, or leave breached-passphrases out.")
    }

    private static let digits = 40
    /// Number of lines that are sampled before the list is trusted.
    private static let probes = 256
    /// Longer than any line is.
    private static let window = 256

    /// Why nothing would ever be found in it, if that can be seen: other digests, another order, no file.
    /// Only some lines are sampled, since the file may be long.
    func fault() -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return SystemFailure("open", path, code: errno).description }
        defer { close(file) }
        let size = lseek(file, 0, Int32(SEEK_END))
        var last: [UInt8] = []
        for probe in 0..<Self.probes {
            do {
                let place = size * probe / Self.probes
                guard let line = try Self.line(behind: place, file, path) else {
                    if probe > 0 { break }
                    return "\(path) has no line with a SHA-1 digest"
                }
                guard line.digest.allSatisfy(Self.isDigit), line.isWhole else {
                    return "\(path) has lines that are no SHA-1 digest in hexadecimal digits"
                }
                guard !line.digest.lexicographicallyPrecedes(last) else {
                    return "\(path) is not in the order of its digests"
                }
                last = line.digest
            } catch {
                return "\(error)"
            }
        }
        return nil
    }

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
    ) throws -> (digest: [UInt8], isWhole: Bool, end: Int)? {
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
        let next = bytes.dropFirst(digits).first
        return (digest, next.map { [0x3A, 0x0D, 0x0A].contains($0) } ?? true, start + end)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x41 + value - 10
    }
}
