internal import Cryptography
public import Identity
public import Values

/// An admin key as its owner holds it: `urdadm_<id>_<secret>`, both in base64url.
///
/// The beginning lets scanners of repositories find one that leaked. The id finds the key, the
/// secret proves it; of the secret only a digest is kept, which needs no slow hash because it has
/// 256 random bits.
public struct BearerKey: Sendable {
    public static let prefix = "urdadm_"
    public static let secretLength = 32

    public let id: UUID
    let secret: [UInt8]

    public init(id: UUID, secret: [UInt8]) {
        self.id = id
        self.secret = secret
    }

    /// Reads the text by its fixed lengths: base64url has an underscore of its own.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let start = BearerKey.prefix.utf8.count
        guard bytes.count == start + 22 + 1 + 43, bytes.starts(with: BearerKey.prefix.utf8),
            bytes[start + 22] == UInt8(ascii: "_"),
            let id = Base64URL.decode(
                String(decoding: bytes[start..<(start + 22)], as: UTF8.self)),
            let secret = Base64URL.decode(
                String(decoding: bytes[(start + 23)...], as: UTF8.self)),
            let uuid = UUID(bytes: id), secret.count == BearerKey.secretLength
        else { return nil }
        self.id = uuid
        self.secret = secret
    }

    /// What to give to the key's owner, once.
    public var text: String {
        BearerKey.prefix + Base64URL.encode(id.bytes) + "_" + Base64URL.encode(secret)
    }

    /// What is kept of the secret. The permissions of a limited key are part of it: who reads others, or does not
    /// know that there are any, finds that the secret is wrong, so that no key is ever read as a wider one.
    public func digest(limitedTo permissions: AdminPermissions) -> [UInt8] {
        guard let names = permissions.names else { return SHA256.hash(secret) }
        return SHA256.hash(secret + Array(names.joined(separator: " ").utf8))
    }
}
