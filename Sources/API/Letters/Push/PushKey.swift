internal import Cryptography
internal import JOSE
internal import Values

/// Keys by which push providers know a realm, as the providers give them: PEM (RFC 7468) around PKCS #8.
enum PushKey {
    private static let label = "PRIVATE KEY-----"

    /// The key in base64url, once it has shown that it can sign.
    static func read(_ text: String, for algorithm: SigningAlgorithm) throws(Problem) -> String {
        let refused = Problem(
            .invalidField, "private_key is no \(algorithm.rawValue) key in PEM.",
            field: "private_key")
        guard text.utf8.count <= 10_000, let bytes = bytes(of: text) else { throw refused }
        guard (try? SigningKey(pkcs8: SecretBytes(bytes), algorithm: algorithm)) != nil else {
            throw refused
        }
        return Base64URL.encode(bytes)
    }

    /// A key that is ready to sign.
    static func open(
        _ text: String?, named id: String, for algorithm: SigningAlgorithm
    ) -> SigningKey? {
        guard let bytes = text.flatMap({ Base64URL.decode($0) }) else { return nil }
        return try? SigningKey(pkcs8: SecretBytes(bytes), algorithm: algorithm, id: id)
    }

    private static func bytes(of text: String) -> [UInt8]? {
        let pieces = text.split(separator: "-----BEGIN \(label)", omittingEmptySubsequences: false)
        guard pieces.count == 2, let behind = pieces.last else { return nil }
        let inside = behind.split(
            separator: "-----END \(label)", omittingEmptySubsequences: false)
        guard inside.count == 2, let body = inside.first else { return nil }
        let digits = body.utf8.filter { ![0x0A, 0x0D, 0x20, 0x09].contains($0) }
        return Base64.decode(String(decoding: digits, as: UTF8.self))
    }
}
