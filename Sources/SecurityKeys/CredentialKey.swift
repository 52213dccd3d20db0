internal import Cryptography

/// The public key of a credential (COSE_Key, RFC 9052 section 7, as section 6.5.1.1 narrows it).
struct CredentialKey {
    let algorithm: COSEAlgorithm
    let key: VerifyingKey
    /// 0x04, x, y: the form of U2F; nil for other kinds.
    let point: [UInt8]?

    init(_ map: CBOR) throws(WebAuthnFailure) {
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
    }

    init(bytes: [UInt8]) throws(WebAuthnFailure) {
        guard let map = try? CBOR.decode(bytes) else { throw .publicKeyMalformed }
        try self.init(map)
    }

    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        key.isValid(signature, for: message, scheme: algorithm.scheme)
    }

    /// The point that a key of ES256 says, as 0x04, x, y. Nil for another one; whether it is on the curve
    /// nobody has looked.
    static func point(ofES256 map: CBOR) -> [UInt8]? {
        guard map[3] == .integer(Int64(COSEAlgorithm.es256.rawValue)), map[1] == .integer(2),
            map[-1] == .integer(1), let x = map[-2]?.bytes, let y = map[-3]?.bytes,
            x.count == 32, y.count == 32
        else { return nil }
        return [0x04] + x + y
    }

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
