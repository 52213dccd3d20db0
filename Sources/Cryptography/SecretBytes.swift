import COpenSSL

/// Secret bytes that must not leak by accident: keys, seeds, passphrases.
///
/// A final class, because an array would be copied in silence and freed unwiped: here there is one
/// piece of memory with one owner, overwritten when the last reference goes. It never changes after
/// `init`, hence it may be shared between threads. Comparing takes the same time wherever the
/// difference is, and printing shows nothing.
@safe
public final class SecretBytes: @unchecked Sendable, Equatable {
    private let memory: UnsafeMutableRawBufferPointer

    /// Copies `bytes`. The array stays with the caller, who lets it go soon.
    public init(_ bytes: [UInt8]) {
        unsafe memory = .allocate(byteCount: bytes.count, alignment: 16)
        unsafe memory.copyBytes(from: bytes)
    }

    /// `count` bytes that `fill` writes; they are zero before.
    init<E>(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        precondition(count >= 0, "A count of bytes is not negative")
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
        // Owned from here on, so that a failing `fill` leaves nothing behind either.
        unsafe self.memory = unsafe memory
        try unsafe fill(memory)
    }

    deinit {
        unsafe wipe(memory)
        unsafe memory.deallocate()
    }

    public static func random(_ count: Int) -> SecretBytes {
        unsafe SecretBytes(count: count) { unsafe Random.fill($0) }
    }

    public var count: Int { unsafe memory.count }

    /// Reads the bytes in place. The pointer is good only inside `body`.
    public func withUnsafeBytes<Result, E>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> Result
    ) throws(E) -> Result {
        try unsafe body(UnsafeRawBufferPointer(memory))
    }

    /// A copy that is not wiped: for the few places that must hand a secret over, such as an answer
    /// that shows a new key once.
    public func exposedCopy() -> [UInt8] { unsafe [UInt8](memory) }

    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        unsafe constantTimeEqual(
            UnsafeRawBufferPointer(left.memory), UnsafeRawBufferPointer(right.memory))
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(count) secret bytes, redacted" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Overwrites in a way that the optimiser may not leave out.
func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
}

/// Whether both hold the same bytes, in a time that depends on their length alone. The length of a
/// secret is not treated as secret.
public func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    unsafe a.withUnsafeBytes { left in
        unsafe b.withUnsafeBytes { right in unsafe constantTimeEqual(left, right) }
    }
}

func constantTimeEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count else { return false }
    guard a.count > 0 else { return true }
    return unsafe CRYPTO_memcmp(a.baseAddress, b.baseAddress, a.count) == 0
}
