public import Cryptography
internal import JSON
internal import Values

/// Signed messages in the compact form, read as RFC 8725 asks.
public enum JWS {
    /// What the reader decides before it has seen the token.
    public struct Rules: Sendable, Hashable {
        /// The allow-list. A key must agree to the algorithm too.
        public var algorithms: Set<Algorithm>
        public var types: TokenTypes
        /// In bytes, of the whole text.
        public var longest: Int

        public init(
            algorithms: Set<Algorithm> = [.es256, .rs256], types: TokenTypes,
            longest: Int = 16 << 10
        ) {
            self.algorithms = algorithms
            self.types = types
            self.longest = longest
        }
    }

    /// A message whose signature was checked.
    public struct Verified: Sendable, Hashable {
        public let payload: [UInt8]
        public let algorithm: Algorithm
        public let keyID: String?
        public let type: String?
    }

    public static func sign(
        _ payload: [UInt8], by key: SigningKey, type: String
    ) throws(Failure) -> String {
        let head = key.heads[type] ?? head(type, of: key.id, key.algorithm)
        return try sign(payload, by: key, head: head)
    }

    /// How each token of a type begins that a key signs.
    static func head(_ type: String, of id: String, _ algorithm: SigningAlgorithm) -> String {
        let header: JSON = [
            "alg": .string(algorithm.rawValue), "kid": .string(id), "typ": .string(type),
        ]
        return Base64URL.encode(header.canonical())
    }

    static func sign(
        _ payload: [UInt8], by key: SigningKey, header: JSON
    ) throws(Failure) -> String {
        try sign(payload, by: key, head: Base64URL.encode(header.canonical()))
    }

    private static func sign(
        _ payload: [UInt8], by key: SigningKey, head: String
    ) throws(Failure) -> String {
        var text = head
        text += "."
        text += Base64URL.encode(payload)
        let signature = try key.sign(Array(text.utf8))
        text += "."
        text += Base64URL.encode(signature)
        return text
    }

    public static func verify(
        _ text: String, by keys: KeySet, rules: Rules
    ) throws(TokenRejection) -> Verified {
        try verify(try CompactJWS(text, most: rules.longest), by: keys, rules: rules)
    }

    static func verify(
        _ message: CompactJWS, by keys: KeySet, rules: Rules
    ) throws(TokenRejection) -> Verified {
        guard rules.algorithms.contains(message.algorithm) else { throw .algorithmNotAllowed }
        guard rules.types.accepts(message.type) else { throw .wrongType }
        guard let key = keys.key(id: message.keyID, for: message.algorithm) else {
            throw .unknownKey
        }
        guard
            key.isValid(message.signature, for: message.signingInput, by: message.algorithm)
        else { throw .badSignature }
        return Verified(
            payload: message.payload, algorithm: message.algorithm, keyID: message.keyID,
            type: message.type)
    }
}
