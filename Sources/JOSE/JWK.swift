internal import Cryptography
public import JSON
internal import Values

/// Why a JSON value is no public key that Urd uses.
public enum JWKRejection: Error, Hashable, Sendable {
    case malformed
    /// `kty` or `crv` is one that Urd doesn't know, or the key is outside of its bounds.
    case unsupportedKey
    /// It holds a private or symmetric key. Its sender has disclosed it.
    case holdsSecret
    /// `use` or `key_ops` don't allow it to verify signatures.
    case notForSignatures
    /// `use` or `key_ops` don't allow to encrypt to it.
    case notForEncryption
    /// `alg` is unknown, or doesn't fit the kind of the key.
    case wrongAlgorithm
    /// More keys than Urd reads.
    case tooMany
}

/// Public keys as JSON (RFC 7517, RFC 7518 section 6, RFC 8037).
extension VerificationKey {
    /// Names of members that hold what only the owner may know (RFC 7518 sections 6.2.2, 6.3.2
    /// and 6.4.1).
    private static let secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    public init(jwk: JSON) throws(JWKRejection) {
        guard case .object(let members) = jwk, let kind = members["kty"]?.string else {
            throw .malformed
        }
        guard kind != "oct", !Self.secretMembers.contains(where: { members[$0] != nil }) else {
            throw .holdsSecret
        }
        let material = try Material(kind: kind, members)
        try Self.checkUse(members)
        var algorithm: Algorithm?
        if let value = members["alg"] {
            guard let name = value.string else { throw .malformed }
            guard let known = Algorithm(rawValue: name) else { throw .wrongAlgorithm }
            algorithm = known
        }
        var id: String?
        if let value = members["kid"] {
            guard let text = value.string, !text.isEmpty,
                text.utf8.count <= KeySet.longestKeyID
            else { throw .malformed }
            id = text
        }
        guard let key = VerificationKey(material, id: id, algorithm: algorithm) else {
            throw .wrongAlgorithm
        }
        self = key
    }

    private static func checkUse(_ members: JSONObject) throws(JWKRejection) {
        if let use = members["use"] {
            guard let use = use.string else { throw .malformed }
            guard use == "sig" else { throw .notForSignatures }
        }
        if let operations = members["key_ops"] {
            guard let operations = operations.array else { throw .malformed }
            guard operations.contains("verify") else { throw .notForSignatures }
        }
    }

    /// With `use`, and `alg` when there is one only: what a reader needs to bind the key's use.
    public var jwk: JSON {
        var members = material.requiredMembers
        members["use"] = "sig"
        if let id { members["kid"] = .string(id) }
        if algorithms.count == 1, let algorithm = algorithms.first {
            members["alg"] = .string(algorithm.rawValue)
        }
        return .object(members)
    }

    /// RFC 7638 with SHA-256: the same for the same key, regardless of other members.
    public var thumbprint: String { material.thumbprint }
}

extension VerificationKey.Material {
    /// What identifies the key, and nothing else (RFC 7638 section 3.2, RFC 8037 section 2).
    var requiredMembers: JSONObject {
        switch self {
        case .p256(let key): Self.point("EC", "P-256", x: key.x, y: key.y)
        case .p384(let key): Self.point("EC", "P-384", x: key.x, y: key.y)
        case .ed25519(let key): Self.point("OKP", "Ed25519", x: key.bytes, y: nil)
        case .rsa(let key):
            [
                "kty": "RSA", "n": .string(Base64URL.encode(key.modulus)),
                "e": .string(Base64URL.encode(key.exponent)),
            ]
        }
    }

    public var thumbprint: String {
        Base64URL.encode(SHA256.hash(JSON.object(requiredMembers).canonical()))
    }

    private static func point(
        _ kind: JSON, _ curve: JSON, x: [UInt8], y: [UInt8]?
    ) -> JSONObject {
        var members: JSONObject = [
            "kty": kind, "crv": curve, "x": .string(Base64URL.encode(x)),
        ]
        if let y { members["y"] = .string(Base64URL.encode(y)) }
        return members
    }

    init(kind: String, _ members: JSONObject) throws(JWKRejection) {
        switch (kind, members["crv"]?.string) {
        case ("EC", "P-256"):
            let (x, y) = (try Self.bytes("x", of: members), try Self.bytes("y", of: members))
            guard let key = try? ES256.PublicKey(x: x, y: y) else { throw .malformed }
            self = .p256(key)
        case ("EC", "P-384"):
            let (x, y) = (try Self.bytes("x", of: members), try Self.bytes("y", of: members))
            guard let key = try? ES384.PublicKey(x: x, y: y) else { throw .malformed }
            self = .p384(key)
        case ("OKP", "Ed25519"):
            guard let key = try? Ed25519.PublicKey(Self.bytes("x", of: members)) else {
                throw .malformed
            }
            self = .ed25519(key)
        case ("RSA", _):
            let (n, e) = (try Self.bytes("n", of: members), try Self.bytes("e", of: members))
            guard let key = try? RS256.PublicKey(modulus: n, exponent: e) else {
                throw .unsupportedKey
            }
            self = .rsa(key)
        default:
            throw .unsupportedKey
        }
    }

    private static func bytes(
        _ name: String, of members: JSONObject
    ) throws(JWKRejection) -> [UInt8] {
        guard let text = members[name]?.string, let bytes = Base64URL.decode(text) else {
            throw .malformed
        }
        return bytes
    }
}
