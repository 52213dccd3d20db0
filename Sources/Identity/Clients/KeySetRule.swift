internal import JSON
internal import Values

/// A client's own keys (RFC 7517): public, few, and nothing that only looks like a key set.
enum KeySetRule {
    static let keyLimit = 10
    static let sizeLimit = 16_384

    static func check(_ set: JSON) throws(FieldFault.Reason) {
        guard set.canonical().count <= sizeLimit else { throw .tooLong(limit: sizeLimit) }
        guard let keys = set["keys"]?.array else { throw .malformed }
        guard !keys.isEmpty else { throw .missing }
        guard keys.count <= keyLimit else { throw .tooMany(limit: keyLimit) }
        for key in keys {
            guard let members = key.object else { throw .malformed }
            guard !DisclosedKey.isSecret(members) else { throw .privateKey }
            let needed: [String]
            switch members["kty"]?.string {
            case "RSA": needed = ["n", "e"]
            case "EC": needed = ["crv", "x", "y"]
            case "OKP": needed = ["crv", "x"]
            case nil: throw .malformed
            default: throw .unsupported
            }
            guard needed.allSatisfy({ members[$0]?.string?.isEmpty == false }) else {
                throw .malformed
            }
        }
        try checkNames(keys)
    }

    /// RFC 7517 section 4.5: keys have names that differ, but for keys of different kinds that do the
    /// same. Which one of two is meant would be a guess. A key for other ends is passed over.
    private static func checkNames(_ keys: [JSON]) throws(FieldFault.Reason) {
        var seen: [String: Set<String>] = [:]
        for key in keys {
            guard let name = key["kid"]?.string else { continue }
            let algorithms = algorithms(of: key)
            guard seen[name, default: []].isDisjoint(with: algorithms) else { throw .duplicate }
            seen[name, default: []].formUnion(algorithms)
        }
    }

    /// Whether at least one of the keys can ever verify a signature. What stands beside it, for
    /// encryption or of kinds that Urd does not know, does no harm (RFC 7517 section 5).
    static func canVerify(_ set: JSON) -> Bool {
        let keys = set["keys"]?.array ?? []
        return keys.contains { key in
            algorithms(of: key).contains { algorithm in
                // One without a name is meant where no other fits.
                key["kid"] != nil
                    || keys.count { algorithms(of: $0).contains(algorithm) } == 1
            }
        }
    }

    /// By what a key can verify: nothing, if it is too short, or for something else.
    private static func algorithms(of key: JSON) -> Set<String> {
        if let use = key["use"], use != "sig" { return [] }
        if let operations = key["key_ops"], operations.array?.contains("verify") != true {
            return []
        }
        if let name = key["kid"] {
            guard let name = name.string, (1...256).contains(name.utf8.count) else { return [] }
        }
        let known: Set<String>
        switch (key["kty"]?.string, key["crv"]?.string) {
        case ("EC", "P-256"): known = ["ES256"]
        case ("EC", "P-384"): known = ["ES384"]
        case ("OKP", "Ed25519"): known = ["EdDSA", "Ed25519"]
        case ("RSA", _): known = hasGoodLength(key) ? ["RS256", "PS256"] : []
        default: known = []
        }
        guard let algorithm = key["alg"] else { return known }
        return known.filter { algorithm == .string($0) }
    }

    /// Shorter keys can be broken (RFC 7518 section 3.3); longer ones would let a client decide how
    /// long Urd computes.
    private static func hasGoodLength(_ key: JSON) -> Bool {
        guard let modulus = key["n"]?.string.flatMap({ Base64URL.decode($0) }),
            let first = modulus.first, first != 0
        else { return false }
        return (2048...8192).contains(modulus.count * 8 - first.leadingZeroBitCount)
    }
}
