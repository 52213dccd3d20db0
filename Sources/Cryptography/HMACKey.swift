import COpenSSL

/// HMAC-SHA-256 (RFC 2104) under one key.
///
/// A key rather than a function, because half of the work of a short HMAC is the key schedule: it
/// is done once here, and a message then costs two copies of a prepared state. The states are as
/// secret as the key, so they live in one object that wipes them.
public struct HMACKey: Sendable {
    public static let tagLength = 32

    private let states: States

    public init(_ key: SecretBytes) {
        states = unsafe key.withUnsafeBytes { unsafe States(key: $0) }
    }

    public init(_ key: [UInt8]) {
        states = unsafe key.withUnsafeBytes { unsafe States(key: $0) }
    }

    public func authenticate(_ bytes: [UInt8]) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { input in
            unsafe SHA256.digest {
                unsafe shim_hmac_sha256(
                    states.inner, states.outer, input.baseAddress, input.count, $0)
            }
        }
    }

    /// The tag of the parts one after the other, as if they were one array. Nothing marks where a
    /// part ends: a caller whose parts vary in length puts their lengths between them.
    public func authenticate(_ parts: [[UInt8]]) -> [UInt8] {
        var state = unsafe states.inner.pointee
        for part in parts {
            unsafe part.withUnsafeBytes {
                unsafe shim_sha256_update(&state, $0.baseAddress, $0.count)
            }
        }
        let tag = unsafe SHA256.digest { tag in
            unsafe shim_sha256_finish(&state, tag)
            state = unsafe states.outer.pointee
            unsafe shim_sha256_update(&state, tag, SHA256.digestLength)
            unsafe shim_sha256_finish(&state, tag)
        }
        return tag
    }

    /// Without any allocation; `tag` must have room for 32 bytes.
    public func authenticate(
        _ bytes: UnsafeRawBufferPointer, into tag: UnsafeMutableRawBufferPointer
    ) {
        precondition(tag.count >= HMACKey.tagLength, "A tag needs 32 bytes of room")
        guard let room = tag.baseAddress else { return }
        unsafe shim_hmac_sha256(
            states.inner, states.outer, bytes.baseAddress, bytes.count,
            room.assumingMemoryBound(to: UInt8.self))
    }

    /// Whether `tag` is the whole tag of `bytes`; a shortened tag is not.
    public func isValid(_ tag: [UInt8], for bytes: [UInt8]) -> Bool {
        constantTimeEqual(tag, authenticate(bytes))
    }
}

/// The hash after absorbing key ⊕ ipad and after key ⊕ opad. Never changed after `init`.
@safe
private final class States: @unchecked Sendable {
    private static let blockLength = 64

    private let pair: UnsafeMutablePointer<SHA256_CTX>

    var inner: UnsafePointer<SHA256_CTX> { unsafe UnsafePointer(pair) }
    var outer: UnsafePointer<SHA256_CTX> { unsafe UnsafePointer(pair + 1) }

    init(key: UnsafeRawBufferPointer) {
        unsafe pair = .allocate(capacity: 2)
        unsafe pair.initialize(repeating: SHA256_CTX(), count: 2)
        let block = unsafe SecretBytes(count: States.blockLength) { room in
            if key.count > States.blockLength {
                unsafe SHA256.hash(key, into: room)
            } else {
                unsafe room.copyMemory(from: key)
            }
        }
        unsafe States.absorb(block, masked: 0x36, into: pair)
        unsafe States.absorb(block, masked: 0x5c, into: pair + 1)
    }

    private static func absorb(
        _ block: SecretBytes, masked mask: UInt8, into state: UnsafeMutablePointer<SHA256_CTX>
    ) {
        unsafe shim_sha256_start(state)
        let masked = unsafe SecretBytes(count: block.count) { room in
            unsafe block.withUnsafeBytes { bytes in
                for index in bytes.indices { unsafe room[index] = bytes[index] ^ mask }
            }
        }
        unsafe masked.withUnsafeBytes {
            unsafe shim_sha256_update(state, $0.baseAddress, $0.count)
        }
    }

    deinit {
        unsafe OPENSSL_cleanse(pair, 2 * MemoryLayout<SHA256_CTX>.stride)
        unsafe pair.deallocate()
    }
}
