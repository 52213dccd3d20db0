public import Cryptography
internal import Values

/// The signature of a message by Standard Webhooks 1.0.0: of its id, the time of the attempt and its
/// body, so that none of them can be exchanged and an old message is known as one.
public struct WebhookSignature: Sendable {
    public static let secretPrefix = "whsec_"
    public static let publicKeyPrefix = "whpk_"

    private let shared: HMACKey
    private let key: Ed25519.PrivateKey?

    /// - Parameters:
    ///   - secret: shared with the receiver, 24 to 64 bytes.
    ///   - key: signs beside it for receivers that hold no secret.
    public init(secret: [UInt8], key: Ed25519.PrivateKey? = nil) {
        shared = HMACKey(secret)
        self.key = key
    }

    /// The value of `webhook-signature`, without those of other keys.
    public func sign(id: String, timestamp: Int64, body: [UInt8]) throws(Cryptography.Failure)
        -> String
    {
        let message = Array("\(id).\(timestamp).".utf8) + body
        var text = "v1," + Base64.encode(shared.authenticate(message))
        if let key { text += " v1a," + Base64.encode(try key.sign(message)) }
        return text
    }

    /// As receivers are told it.
    public static func text(ofSecret secret: [UInt8]) -> String {
        secretPrefix + Base64.encode(secret)
    }

    public static func text(of key: Ed25519.PublicKey) -> String {
        publicKeyPrefix + Base64.encode(key.bytes)
    }
}

/// The key pair of a webhook whose receiver holds no secret.
public enum WebhookKey {
    public static func read(_ seed: [UInt8]) throws(Cryptography.Failure) -> Ed25519.PrivateKey {
        try Ed25519.PrivateKey(seed: SecretBytes(seed))
    }
}
