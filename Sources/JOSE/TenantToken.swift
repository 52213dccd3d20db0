public import Cryptography
public import JSON
public import Values

/// Tokens of the verify profile. Its clients verify them by ES256 alone, and some know but one `kid`, which
/// stands in each of them: whichever key signs goes by that name.
public enum TenantToken {
    public static let keyID = "SPACE_JWT_PUBLIC:8028AAA3-EC2D-4BAA-BE7A-7C8359CCB9F9"

    public static func sign(
        _ claims: JSONObject, as type: JWTType, by key: SigningKey
    ) throws(Failure) -> String {
        let header: JSON = [
            "alg": .string(key.algorithm.rawValue), "kid": .string(keyID),
            "typ": .string(type.rawValue),
        ]
        return try JWS.sign(JSON.object(claims).canonical(), by: key, header: header)
    }

    /// The claims of a token that one of the realm's own keys signed: its name does not tell which.
    public static func claims(
        of text: String, as type: JWTType, keys: KeySet, at now: Timestamp
    ) throws(TokenRejection) -> JSONObject {
        let rules = JWS.Rules(algorithms: [.es256], types: TokenTypes([type.rawValue]))
        let message = try CompactJWS(text, most: rules.longest)
        guard message.keyID == keyID else { throw .unknownKey }
        var rejection = TokenRejection.unknownKey
        for key in keys.keys where key.algorithms.contains(.es256) {
            guard let named = VerificationKey(key.material, id: keyID, algorithm: .es256) else {
                continue
            }
            do throws(TokenRejection) {
                let verified = try JWS.verify(message, by: KeySet([named]), rules: rules)
                let claims = try Claims(payload: verified.payload)
                guard now < (try claims.need(.expiresAt, claims.expiresAt)) else { throw .expired }
                return claims.members
            } catch {
                rejection = error
                guard error == .badSignature else { throw error }
            }
        }
        throw rejection
    }

    /// The public keys, the one that signs first: some clients look at no other.
    public static func keys(_ keys: KeySet, active: SigningKey) -> JSON {
        var own = active.verificationKey.jwk.object ?? [:]
        own["kid"] = .string(keyID)
        own["use"] = "sig"
        let others = keys.keys.filter {
            $0.algorithms.contains(.es256) && $0.id != active.id
        }
        return ["keys": .array([.object(own)] + others.map(\.jwk))]
    }
}
