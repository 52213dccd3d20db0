public import Cryptography
public import JSON
internal import Values

/// The signature of a message by Standard Webhooks 1.0.0: of its id, the time of the attempt and its
/// body, so that none of them can be exchanged and an old message is known as one.
public struct WebhookSignature: Sendable {
    public static let secretPrefix = "whsec_"
    public static let publicKeyPrefix = "whpk_"

    private let shared: [HMACKey]
    private let keys: [Ed25519.PrivateKey]

    /// - Parameters:
    ///   - secrets: shared with the receiver, 24 to 64 bytes each.
    ///   - keys: sign beside them for receivers that hold no secret.
    public init(secrets: [[UInt8]], keys: [Ed25519.PrivateKey] = []) {
        shared = secrets.map { HMACKey($0) }
        self.keys = keys
    }

    /// The value of `webhook-signature`.
    public func sign(id: String, timestamp: Int64, body: [UInt8]) throws(Cryptography.Failure)
        -> String
    {
        let message = Array("\(id).\(timestamp).".utf8) + body
        var signatures = shared.map { "v1," + Base64.encode($0.authenticate(message)) }
        for key in keys { signatures.append("v1a," + Base64.encode(try key.sign(message))) }
        return signatures.joined(separator: " ")
    }

    /// As receivers are told it.
    public static func text(ofSecret secret: [UInt8]) -> String {
        secretPrefix + Base64.encode(secret)
    }

    public static func text(of key: Ed25519.PublicKey) -> String {
        publicKeyPrefix + Base64.encode(key.bytes)
    }
}

/// A key pair of a realm, for receivers of webhooks that hold no secret.
public enum WebhookKey {
    public static func read(_ seed: [UInt8]) throws(Cryptography.Failure) -> Ed25519.PrivateKey {
        try Ed25519.PrivateKey(seed: SecretBytes(seed))
    }

    /// As a JWK (RFC 8037), named by its thumbprint (RFC 7638).
    public static func jwk(of key: Ed25519.PublicKey) -> (id: String, jwk: JSON) {
        let required: JSON = [
            "crv": "Ed25519", "kty": "OKP", "x": .string(Base64URL.encode(key.bytes)),
        ]
        let id = Base64URL.encode(SHA256.hash(required.canonical()))
        var members = required.object ?? [:]
        members["kid"] = .string(id)
        members["alg"] = "Ed25519"
        members["use"] = "sig"
        return (id, .object(members))
    }
}
