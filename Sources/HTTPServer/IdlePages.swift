internal import Glibc

/// The pages of a buffer that holds nothing as long as its connection is suspended.
///
/// libmicrohttpd 0.9.75 clears all of a connection's memory behind every chunk, and so has it in use. A
/// thousand streams that say something now and then would keep it for nothing.
struct IdlePages {
    private static let size = UInt(sysconf(Int32(_SC_PAGESIZE)))
    /// A stream that says more often keeps its pages: taking them again costs more than the chunk.
    private static let longestUse: Nanoseconds = 1_000_000_000

    private let first: UInt
    private let end: UInt
    private let since: Nanoseconds
    private var isReleased = false

    init(within buffer: UnsafeMutableRawBufferPointer, since: Nanoseconds) {
        let start = UInt(bitPattern: buffer.baseAddress)
        first = (start + Self.size - 1) / Self.size * Self.size
        end = (start + UInt(buffer.count)) / Self.size * Self.size
        self.since = since
    }

    /// Gives them back to the system after a while.
    mutating func release(at now: Nanoseconds) {
        guard !isReleased, now &- since > Self.longestUse else { return }
        isReleased = true
        guard first < end else { return }
        _ = unsafe madvise(
            UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED)
    }
}
