import Cryptography

/// The one key that lives outside the database. It wraps the keys of every realm and nothing else.
public struct MasterKey: Sendable {
    let secret: SecretBytes
    /// Names the key without telling anything about it, so that a wrong one is noticed.
    let id: [UInt8]

    public static let length = 32

    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        secret = SecretBytes(bytes)
        id = Array(SHA256.hash([Array("urd master key".utf8), bytes]).prefix(8))
    }

    public static func generate() -> MasterKey {
        guard let key = MasterKey(Random.bytes(length)) else {
            preconditionFailure("A key of the right length is a key.")
        }
        return key
    }
}
