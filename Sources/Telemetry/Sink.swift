internal import Glibc
public import Values

extension Log {
    /// Where lines go. A sink gets a whole line, its line feed included, and the line's level.
    public struct Sink: Sendable {
        let write: @Sendable (_ line: [UInt8], _ level: Level) -> Void

        public init(_ write: @escaping @Sendable (_ line: [UInt8], _ level: Level) -> Void) {
            self.write = write
        }

        /// One write(2) a line: lines of several threads, and of several processes, never mix.
        public static func descriptor(_ descriptor: Int32) -> Sink {
            Sink { line, _ in writeWhole(line, to: descriptor) }
        }

        public static let standardError = Sink.descriptor(2)
    }

    /// The wall clock in microseconds.
    public static let systemTime: @Sendable () -> Timestamp = {
        var time = timespec()
        guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return Timestamp(microseconds: 0) }
        return Timestamp(
            microseconds: Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1000)
    }
}

/// A line that cannot be written is lost: a log must not stop the work that it tells of. Only what
/// the kernel took half is finished, so that the next line begins on a line of its own.
private func writeWhole(_ line: [UInt8], to descriptor: Int32) {
    line.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Glibc.write(
                descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
