import COpenSSL

/// SHA-256 (FIPS 180-4).
///
/// A namespace of functions, because a hash has no identity; where the input comes in pieces,
/// `Incremental` is a plain value, so that copying it forks the computation. Digests are `[UInt8]`
/// to be stored and sent as they are; the hot path writes into memory of the caller instead.
public enum SHA256 {
    public static let digestLength = 32

    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { input in
            unsafe digest { unsafe shim_sha256(input.baseAddress, input.count, $0) }
        }
    }

    /// The digest of the parts one after the other, as if they were one array. Nothing marks where
    /// a part ends: a caller whose parts vary in length puts their lengths between them.
    public static func hash(_ parts: [[UInt8]]) -> [UInt8] {
        var state = Incremental()
        for part in parts { state.update(part) }
        return state.digest()
    }

    /// Without any allocation; `digest` must have room for 32 bytes.
    public static func hash(
        _ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer
    ) {
        precondition(digest.count >= digestLength, "A digest needs 32 bytes of room")
        guard let room = digest.baseAddress else { return }
        unsafe shim_sha256(
            bytes.baseAddress, bytes.count, room.assumingMemoryBound(to: UInt8.self))
    }

    /// An array of 32 bytes that `fill` writes, with no zeroing beforehand.
    static func digest(_ fill: (UnsafeMutablePointer<UInt8>) -> Void) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: digestLength) { room, count in
            guard let start = room.baseAddress else { return }
            unsafe fill(start)
            count = digestLength
        }
    }

    /// A hash in progress.
    public struct Incremental: Sendable {
        var state: SHA256_CTX

        public init() {
            state = SHA256_CTX()
            unsafe shim_sha256_start(&state)
        }

        public mutating func update(_ bytes: [UInt8]) {
            unsafe bytes.withUnsafeBytes { unsafe update($0) }
        }

        public mutating func update(_ bytes: UnsafeRawBufferPointer) {
            unsafe shim_sha256_update(&state, bytes.baseAddress, bytes.count)
        }

        /// The digest of what came so far; more may follow.
        public func digest() -> [UInt8] {
            var state = state
            return unsafe SHA256.digest { unsafe shim_sha256_finish(&state, $0) }
        }
    }
}
