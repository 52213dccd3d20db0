internal import Cryptography

/// The public key of a credential (COSE_Key, RFC 9052 section 7, as section 6.5.1.1 narrows it).
struct CredentialKey {
    let algorithm: COSEAlgorithm
    let key: VerifyingKey
    /// 0x04, x, y: the form of U2F; nil for other kinds.
    let point: [UInt8]?
    /// The members that a public key has, in CTAP2's canonical form. Other members are dropped.
    let encoded: [UInt8]

    init(_ map: CBOR) throws(WebAuthnFailure) {
        // A reader of the log would have the key: it is refused, and not only left out.
        guard !CredentialKey.hasPrivatePart(map) else { throw .privateKeyDisclosed }
        guard map.isMap, let number = map[3]?.integer else { throw .publicKeyMalformed }
        guard let algorithm = Int(exactly: number).flatMap(COSEAlgorithm.init(rawValue:)),
            algorithm != .rs1
        else { throw .algorithmUnknown }
        self.algorithm = algorithm
        do {
            switch algorithm {
            case .es256: (key, point) = try CredentialKey.elliptic(map, .p256, number: 1)
            case .es384: (key, point) = try CredentialKey.elliptic(map, .p384, number: 2)
            case .es512: (key, point) = try CredentialKey.elliptic(map, .p521, number: 3)
            case .eddsa, .ed25519: (key, point) = try CredentialKey.edwards(map, .ed25519, 6)
            case .ed448: (key, point) = try CredentialKey.edwards(map, .ed448, 7)
            case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512, .rs1:
                (key, point) = try CredentialKey.rsa(map)
            }
        } catch {
            throw .publicKeyMalformed
        }
        encoded = CredentialKey.encode(map)
    }

    init(bytes: [UInt8]) throws(WebAuthnFailure) {
        guard let map = try? CBOR.decode(bytes) else { throw .publicKeyMalformed }
        try self.init(map)
    }

    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        key.isValid(signature, for: message, scheme: algorithm.scheme)
    }

    /// The point that a key of ES256 says, as 0x04, x, y. Nil for another one; it is not checked
    /// whether the point is on the curve.
    static func point(ofES256 map: CBOR) -> [UInt8]? {
        guard map[3] == .integer(Int64(COSEAlgorithm.es256.rawValue)), map[1] == .integer(2),
            map[-1] == .integer(1), let x = map[-2]?.bytes, let y = map[-3]?.bytes,
            x.count == 32, y.count == 32
        else { return nil }
        return [0x04] + x + y
    }

    // MARK: - Members

    /// The labels of a public key: kind, algorithm, and what the kind has: curve and coordinates, or
    /// modulus and exponent (RFC 9053 section 7, RFC 8230 section 4).
    private static func publicLabels(_ map: CBOR) -> [Int64] {
        map[1] == .integer(2) ? [1, 3, -1, -2, -3] : [1, 3, -1, -2]
    }

    /// Labels below zero belong to the key's kind; those that no public key has are the private ones.
    private static func hasPrivatePart(_ map: CBOR) -> Bool {
        guard case .map(let members) = map else { return false }
        let isRSA = map[1] == .integer(3)
        return members.keys.contains { key in
            guard case .integer(let label) = key, label < 0 else { return false }
            return label < (isRSA ? -2 : -3)
        }
    }

    /// Numbers and byte strings, as all of a public key's members are by now.
    private static func encode(_ map: CBOR) -> [UInt8] {
        var bytes: [UInt8] = []
        var count: UInt64 = 0
        for label in publicLabels(map) {
            switch map[label] {
            case .integer(let value)?:
                bytes += head(ofInteger: label) + head(ofInteger: value)
            case .bytes(let value)?:
                bytes += head(ofInteger: label) + head(2, UInt64(value.count)) + value
            case .text?, .array?, .map?, .bool?, .null?, .float?, nil: continue
            }
            count += 1
        }
        return head(5, count) + bytes
    }

    private static func head(ofInteger value: Int64) -> [UInt8] {
        value < 0 ? head(1, UInt64(-1 - value)) : head(0, UInt64(value))
    }

    /// The shortest head (RFC 8949 section 3).
    private static func head(_ kind: UInt8, _ value: UInt64) -> [UInt8] {
        let (code, length): (UInt8, UInt64) =
            switch value {
            case 0..<24: (UInt8(value), 0)
            case 24..<0x100: (24, 1)
            case 0x100..<0x1_0000: (25, 2)
            case 0x1_0000..<0x1_0000_0000: (26, 4)
            default: (27, 8)
            }
        let rest = (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return [kind << 5 | code] + rest
    }

    // MARK: - Kinds

    private struct KeyFlaw: Error {}

    private typealias Parts = (VerifyingKey, [UInt8]?)

    private static func elliptic(
        _ map: CBOR, _ curve: VerifyingKey.Kind, number: Int64
    ) throws -> Parts {
        guard map[1] == .integer(2), map[-1] == .integer(number), let x = map[-2]?.bytes,
            let y = map[-3]?.bytes
        else { throw KeyFlaw() }
        return (try VerifyingKey(curve: curve, x: x, y: y), [0x04] + x + y)
    }

    private static func edwards(
        _ map: CBOR, _ kind: VerifyingKey.Kind, _ number: Int64
    ) throws -> Parts {
        guard map[1] == .integer(1), map[-1] == .integer(number), let x = map[-2]?.bytes else {
            throw KeyFlaw()
        }
        return (try VerifyingKey(edwards: kind, x), nil)
    }

    private static func rsa(_ map: CBOR) throws -> Parts {
        guard map[1] == .integer(3), let modulus = map[-1]?.bytes, let exponent = map[-2]?.bytes
        else { throw KeyFlaw() }
        return (try VerifyingKey(modulus: modulus, exponent: exponent), nil)
    }
}
