import Cryptography
import Values

/// The one key that lives outside the database. It wraps the keys of every realm and nothing else.
public struct MasterKey: Sendable {
    let secret: SecretBytes
    /// Names the key without telling anything about it, so that a wrong one is noticed.
    let id: [UInt8]

    public static let length = 32

    /// Takes 32 bytes, or their base64, base64url or hexadecimal form with white space around it.
    public init?(_ content: [UInt8]) {
        let text = String(decoding: content, as: UTF8.self)
        let trimmed = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        let candidates = [
            content, Hex.decode(trimmed), Base64.decode(trimmed), Base64URL.decode(trimmed),
        ]
        guard let bytes = candidates.compactMap({ $0 }).first(where: { $0.count == Self.length })
        else { return nil }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) {
        secret = SecretBytes(bytes)
        id = Array(SHA256.hash([Array("urd master key".utf8), bytes]).prefix(8))
    }

    public static func generate() -> MasterKey {
        MasterKey(bytes: Random.bytes(length))
    }

    /// The form in which a file keeps it.
    public var fileContent: [UInt8] {
        Array((Base64.encode(secret.exposedCopy()) + "\n").utf8)
    }
}
