public import Cryptography
internal import JSON
public import Values

/// A client's proof, for one request, that it holds the private half of a key (RFC 9449, DPoP). It is the
/// only message whose key is taken from its own header: that it proves nothing but that very key is the
/// point of it.
public struct KeyProof: Sendable, Hashable {
    public static let longestText = 4 << 10
    public static let longestID = 256
    /// Signatures that many devices make, and none that FAPI 2 forbids.
    public static let algorithms: [Algorithm] = [.es256, .edDSA, .ed25519, .ps256, .es384]

    /// The key's thumbprint (RFC 7638).
    public let key: String
    public let id: String
    public let method: String
    public let address: String
    public let issuedAt: Timestamp
    public let accessTokenHash: String?
    public let nonce: String?

    /// How old a proof may be, and how far the clocks may be apart.
    public struct Rules: Sendable, Hashable {
        public var oldest: Int64
        public var leeway: Int64

        public init(oldest: Int64 = 60, leeway: Int64 = 30) {
            self.oldest = oldest
            self.leeway = leeway
        }

        /// Until when the checks let it through.
        public func lastUse(of proof: KeyProof) -> Timestamp {
            proof.issuedAt.adding(seconds: oldest + leeway)
        }
    }

    /// What is right about a proof by itself; whether it is for this request is for who knows the request.
    public static func check(
        _ text: String, rules: Rules = Rules(), at now: Timestamp
    ) throws(TokenRejection) -> KeyProof {
        let message = try CompactJWS(text, most: longestText)
        guard algorithms.contains(message.algorithm) else { throw .algorithmNotAllowed }
        guard TokenTypes(["dpop+jwt"]).accepts(message.type) else { throw .wrongType }
        // One that shows a private key is refused with it.
        guard let jwk = message.key, let key = try? VerificationKey(jwk: jwk) else {
            throw .unknownKey
        }
        guard
            key.isValid(message.signature, for: message.signingInput, by: message.algorithm)
        else { throw .badSignature }
        let claims = try Claims(payload: message.payload)
        let id = try claims.need(.id, claims.id)
        guard id.utf8.count <= longestID else { throw .malformedClaim(.id) }
        let issuedAt = try claims.need(.issuedAt, claims.issuedAt)
        guard issuedAt <= now.adding(seconds: rules.leeway) else { throw .issuedInTheFuture }
        guard now < issuedAt.adding(seconds: rules.oldest + rules.leeway) else { throw .expired }
        if let notBefore = claims.notBefore, notBefore > now.adding(seconds: rules.leeway) {
            throw .notYetValid
        }
        // It needs none, but means it where it says until when it is good (RFC 7519 section 4.1.4).
        if let until = claims.expiresAt, now >= until.adding(seconds: rules.leeway) {
            throw .expired
        }
        return KeyProof(
            key: key.thumbprint, id: id,
            method: try claims.need(.method, try claims.text(.method)),
            address: try claims.need(.address, try claims.text(.address)), issuedAt: issuedAt,
            accessTokenHash: try claims.text(.tokenHash), nonce: try claims.text(.nonce))
    }

    /// Whether it names this access token, as one must that comes with it (section 4.3).
    public func isFor(accessToken: String) -> Bool {
        let hash = Base64URL.encode(SHA256.hash(Array(accessToken.utf8)))
        return accessTokenHash?.hasSameBytes(as: hash) ?? false
    }

    /// A proof as a client makes it.
    public static func signed(
        by key: SigningKey, method: String, address: String, id: String, issuedAt: Timestamp,
        accessToken: String? = nil, nonce: String? = nil
    ) throws(Failure) -> String {
        var claims: JSONObject = [:]
        claims.set(.id, .string(id))
        claims.set(.method, .string(method))
        claims.set(.address, .string(address))
        claims.set(.issuedAt, .integer(issuedAt.seconds))
        claims.set(
            .tokenHash,
            accessToken.map { .string(Base64URL.encode(SHA256.hash(Array($0.utf8)))) })
        claims.set(.nonce, nonce.map { .string($0) })
        let header: JSON = [
            "alg": .string(key.algorithm.rawValue), "typ": "dpop+jwt",
            "jwk": .object(key.verificationKey.material.requiredMembers),
        ]
        return try JWS.sign(JSON.object(claims).canonical(), by: key, header: header)
    }
}
