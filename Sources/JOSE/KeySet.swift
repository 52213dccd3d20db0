public import JSON

/// Public keys, of which a token names one (RFC 7517 section 5).
public struct KeySet: Sendable, Hashable {
    public static let mostKeys = 32
    public static let longestKeyID = 256
    public static let largestDocument = 128 << 10

    /// In the order that they were given in, which is the order of the document.
    public let keys: [VerificationKey]

    public init(_ keys: [VerificationKey]) {
        self.keys = keys
    }

    /// Passes over keys of kinds and uses that Urd doesn't know, as the RFC asks. A set that shows
    /// a private or symmetric key is refused whole: its owner must learn that it is burnt.
    public init(jwks document: JSON) throws(JWKRejection) {
        guard let values = document["keys"]?.array else { throw .malformed }
        guard values.count <= Self.mostKeys else { throw .tooMany }
        var keys: [VerificationKey] = []
        for value in values {
            do throws(JWKRejection) {
                keys.append(try VerificationKey(jwk: value))
            } catch {
                switch error {
                case .holdsSecret, .tooMany: throw error
                case .malformed, .unsupportedKey, .notForSignatures, .notForEncryption,
                    .wrongAlgorithm:
                    continue
                }
            }
        }
        self.keys = keys
    }

    public init(parsing bytes: [UInt8]) throws(JWKRejection) {
        let limits = JSON.Limits(depth: 8, size: Self.largestDocument)
        guard let document = try? JSON.parse(bytes, limits: limits) else { throw .malformed }
        try self.init(jwks: document)
    }

    /// What a `jwks_uri` answers.
    public var document: JSON { ["keys": .array(keys.map(\.jwk))] }

    /// The one key that fits. Two that fit are as bad as none: which of them the token meant would
    /// be a guess, and a guess that succeeds is an attacker's.
    func key(id: String?, for algorithm: Algorithm) -> VerificationKey? {
        var found: VerificationKey?
        for key in keys where key.algorithms.contains(algorithm) {
            if let id {
                guard let own = key.id, own.hasSameBytes(as: id) else { continue }
            }
            guard found == nil else { return nil }
            found = key
        }
        return found
    }
}
