internal import Values

/// The SHA-256 of a secret, all of it that Urd keeps. The secrets are random and long, so that a
/// fast digest is enough: there is nothing to guess.
public struct SecretDigest: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    /// Nil unless it has the length of a SHA-256.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    init?(base64URL text: String) {
        guard let bytes = Base64URL.decode(text) else { return nil }
        self.init(bytes)
    }

    var base64URL: String { Base64URL.encode(bytes) }

    public var description: String { "a secret's digest" }
}
