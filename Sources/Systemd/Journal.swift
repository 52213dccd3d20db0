internal import Glibc

/// Lines for the journal, which reads standard error and takes a leading `<3>` for a priority.
///
/// sd-daemon(3)
public enum Journal {
    /// Whether what is written to the descriptor arrives in the journal: JOURNAL_STREAM names the
    /// device and inode of the journal's end, and a redirected descriptor has others.
    public static func receives(_ descriptor: Int32 = 2) -> Bool {
        guard let variable = unsafe getenv("JOURNAL_STREAM") else { return false }
        let parts = unsafe String(cString: variable).split(
            separator: ":", omittingEmptySubsequences: false)
        var status = stat()
        guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]),
            unsafe fstat(descriptor, &status) == 0
        else { return false }
        return device == UInt64(status.st_dev) && inode == UInt64(status.st_ino)
    }

    /// The line with its priority before it; `priority` is that of syslog, 0 to 7.
    public static func prefixed(_ line: [UInt8], priority: Int) -> [UInt8] {
        var prefixed: [UInt8] = []
        prefixed.reserveCapacity(line.count + 3)
        prefixed += "<\(min(max(priority, 0), 7))>".utf8
        prefixed += line
        return prefixed
    }

    /// Writes one line, its line feed included, with one write(2). A line that cannot be written is
    /// lost: a log must not stop the work that it tells of.
    public static func write(_ line: [UInt8], priority: Int, to descriptor: Int32 = 2) {
        unsafe prefixed(line, priority: priority).withUnsafeBytes { bytes in
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let part = unsafe UnsafeRawBufferPointer(rebasing: rest)
                let written = unsafe Glibc.write(descriptor, part.baseAddress, part.count)
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { return }
                unsafe rest = unsafe rest.dropFirst(written)
            }
        }
    }
}
