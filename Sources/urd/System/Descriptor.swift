import Glibc

/// File descriptors: what the system's calls leave to the caller.
enum Descriptor {
    /// Writes all bytes, or gives up where the other end is closed.
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
        _ = try? write(bytes, to: descriptor, "descriptor")
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32, _ name: String) throws(SystemFailure)
    {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, 1000)
                continue
            }
            if count < 0 { throw SystemFailure("write", name) }
            sent += count
        }
    }

    static func readAll(
        _ descriptor: Int32, _ name: String, limit: Int = 16 * 1024 * 1024
    ) throws(SystemFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw SystemFailure("read", name) }
            if count == 0 { return bytes }
            if bytes.count + count > limit { throw SystemFailure("read", name, code: EFBIG) }
            bytes += chunk[..<count]
        }
    }
}
