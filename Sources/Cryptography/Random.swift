import COpenSSL
import Glibc

/// Unpredictable bytes from the operating system, which seeds OpenSSL's generator as well. For the
/// few that a name or a nonce takes the system is asked in a third of the time, and it knows when a
/// machine was copied.
///
/// It cannot fail towards the caller: an identity server that cannot get random bytes must not go
/// on, and there is nothing a caller could do instead. The system interrupts the call where many are
/// asked for, and fails only where it has no such call.
public enum Random {
    public static func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0, "A count of bytes is not negative")
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { room, initialized in
            unsafe fill(UnsafeMutableRawBufferPointer(room)[0..<count])
            initialized = count
        }
    }

    static func fill(_ room: Slice<UnsafeMutableRawBufferPointer>) {
        unsafe fill(UnsafeMutableRawBufferPointer(rebasing: room))
    }

    static func fill(_ room: UnsafeMutableRawBufferPointer) {
        guard let start = room.baseAddress else { return }
        var done = 0
        while done < room.count {
            let got = unsafe getrandom(start + done, room.count - done, 0)
            precondition(got > 0 || errno == EINTR, "The operating system has random bytes")
            done += max(0, got)
        }
    }
}

/// The same source for what takes a generator: shuffles, `UInt64.random(in:using:)`, identifiers.
public struct SystemRandom: RandomNumberGenerator, Sendable {
    public init() {}

    public mutating func next() -> UInt64 {
        var value: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &value) { unsafe Random.fill($0) }
        return value
    }
}
