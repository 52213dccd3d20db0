import COpenSSL

/// Bytes that nobody can guess, from OpenSSL's generator, which the operating system seeds and
/// which notices a fork.
///
/// It cannot fail towards the caller: an identity server that cannot get random bytes must not go
/// on, and there is nothing a caller could do instead. OpenSSL fails here only when the operating
/// system gives no entropy at all, which no input can bring about.
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
        guard let start = room.baseAddress, room.count > 0 else { return }
        let done = unsafe RAND_bytes_ex(
            nil, start.assumingMemoryBound(to: UInt8.self), room.count, 0)
        precondition(done == 1, "The operating system seeds the random generator")
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
