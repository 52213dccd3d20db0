import COpenSSL

/// The hashes that others chose for what they signed. Urd's own are `SHA256`.
public enum HashFunction: String, Sendable, CaseIterable {
    /// Only where a format that others fixed leaves no choice: collisions of it can be bought.
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha384 = "SHA384"
    case sha512 = "SHA512"
    case blake2b512 = "BLAKE2B512"

    public func hash(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        if self == .sha256 { return SHA256.hash(bytes) }
        var digest = [UInt8](repeating: 0, count: 64)
        var length = 0
        let done = unsafe EVP_Q_digest(
            nil, rawValue, nil, bytes, bytes.count, &digest, &length)
        guard done == 1, length <= digest.count else { throw Failure.afterCall("EVP_Q_digest") }
        return Array(digest.prefix(length))
    }
}
