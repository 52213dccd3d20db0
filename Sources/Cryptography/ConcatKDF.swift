/// The one-step key derivation of NIST SP 800-56A section 5.8.2.1 with SHA-256, which JOSE calls
/// Concat KDF (RFC 7518 section 4.6.2): from what two keys agreed on to a key of at most one digest.
public enum ConcatKDF {
    public static let maximumLength = SHA256.digestLength

    /// `info` says what the key is for, and between whom.
    public static func derive(
        from agreement: SecretBytes, info: [UInt8], length: Int = 32
    ) -> SecretBytes {
        precondition((1...maximumLength).contains(length), "One digest is the most")
        let counter: [UInt8] = [0, 0, 0, 1]
        let input = unsafe SecretBytes(count: counter.count + agreement.count + info.count) {
            room in
            unsafe room.copyBytes(from: counter)
            unsafe agreement.withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: room[counter.count...])
                    .copyMemory(from: $0)
            }
            unsafe UnsafeMutableRawBufferPointer(
                rebasing: room[(counter.count + agreement.count)...]
            ).copyBytes(from: info)
        }
        let digest = unsafe SecretBytes(count: SHA256.digestLength) { room in
            unsafe input.withUnsafeBytes { unsafe SHA256.hash($0, into: room) }
        }
        return unsafe SecretBytes(count: length) { room in
            unsafe digest.withUnsafeBytes {
                unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<length]))
            }
        }
    }
}
