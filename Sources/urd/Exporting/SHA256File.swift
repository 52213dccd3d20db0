import Cryptography
import Glibc
import Values

/// The sum of a file that may be larger than memory.
enum SHA256File {
    static func sum(of path: String) throws(SystemFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure("read", path) }
        defer { close(descriptor) }
        var hash = SHA256.Incremental()
        var room = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = room.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw SystemFailure("read", path) }
            if count == 0 { return Hex.encode(hash.digest()) }
            hash.update(Array(room[..<count]))
        }
    }
}
