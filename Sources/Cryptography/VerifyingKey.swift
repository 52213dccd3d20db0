import COpenSSL

/// A third party's public key of any supported kind, to compare and to verify signatures with.
///
/// Beside `ES256`, `RS256` and `Ed25519`, which say in their type what they are, because an
/// authenticator chooses its algorithm at run time, and its maker's certificates choose others.
public struct VerifyingKey: Sendable, Equatable {
    public enum Kind: Sendable, Hashable, CaseIterable {
        case p256, p384, p521, rsa, ed25519, ed448
    }

    public let kind: Kind
    private let form: Form

    private enum Form {
        case any(EVPKey)
        case p256(P256Key, point: [UInt8])
    }

    /// Refuses what is no point on the curve, and coordinates that are not as long as its field.
    public init(curve: Kind, x: [UInt8], y: [UInt8]) throws(Failure) {
        guard let (name, length) = curve.curve else {
            throw Failure(.malformed, "a kind of key without two coordinates")
        }
        guard x.count == length, y.count == length else {
            throw Failure(.malformed, "a coordinate is as long as the field of its curve")
        }
        let point = [0x04] + x + y
        form =
            curve == .p256
            ? try .p256(P256Key(point: point), point: point)
            : try .any(EVPKey(point: point, on: name))
        kind = curve
    }

    /// The limits of `RS256`.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(Failure) {
        form = .any(try RS256.PublicKey(modulus: modulus, exponent: exponent).key)
        kind = .rsa
    }

    /// Ed25519 or Ed448 from the encoded point of RFC 8032.
    public init(edwards kind: Kind, _ bytes: [UInt8]) throws(Failure) {
        guard let (name, length) = kind.edwards, bytes.count == length else {
            throw Failure(.malformed, "not an encoded point of an Edwards curve")
        }
        form = .any(
            try unsafe EVPKey(
                owning: EVP_PKEY_new_raw_public_key_ex(nil, name, nil, bytes, bytes.count),
                from: "EVP_PKEY_new_raw_public_key_ex", .malformed))
        self.kind = kind
    }

    /// From a SubjectPublicKeyInfo, with the limits of the kind that it turns out to be.
    public init(spki: [UInt8]) throws(Failure) {
        try self.init(EVPKey(spki: spki))
    }

    /// As a SubjectPublicKeyInfo.
    public func spki() throws(Failure) -> [UInt8] { try key().spki() }

    /// Rejects unsupported kinds, curves with explicit parameters, and RSA keys too short or too
    /// long.
    init(_ key: EVPKey) throws(Failure) {
        form = .any(key)
        kind = try Kind(of: key)
        if kind == .rsa { _ = try RS256.PublicKey(of: key) }
    }

    /// False for bytes that are not a signature of `message` by this key in this scheme.
    public func isValid(_ signature: [UInt8], for message: [UInt8], scheme: SignatureScheme) -> Bool
    {
        // The longest signature is as long as the longest modulus: more is not worth a look.
        guard scheme.fits(kind), signature.count <= 1024 else { return false }
        switch form {
        case .any(let key): return isValid(signature, for: message, scheme: scheme, by: key)
        case .p256(let key, point: _):
            guard let digest = try? scheme.hash?.hash(message) else { return false }
            return key.isValid(der: signature, digest: digest)
        }
    }

    private func isValid(
        _ signature: [UInt8], for message: [UInt8], scheme: SignatureScheme, by key: EVPKey
    ) -> Bool {
        let digest = scheme.hash?.rawValue
        if scheme.usesPSS, let digest {
            return key.isValidPSS(signature, for: message, digest: digest)
        }
        return key.isValid(signature, for: message, digest: digest)
    }

    /// As OpenSSL's other calls take it.
    func key() throws(Failure) -> EVPKey {
        switch form {
        case .any(let key): key
        case .p256(_, let point): try EVPKey(point: point, on: "prime256v1")
        }
    }

    public static func == (left: VerifyingKey, right: VerifyingKey) -> Bool {
        guard left.kind == right.kind, let left = try? left.key(), let right = try? right.key()
        else { return false }
        defer { ERR_clear_error() }
        return unsafe EVP_PKEY_eq(left.pointer, right.pointer) == 1
    }
}

extension VerifyingKey.Kind {
    fileprivate var curve: (name: String, coordinate: Int)? {
        switch self {
        case .p256: ("prime256v1", 32)
        case .p384: ("secp384r1", 48)
        case .p521: ("secp521r1", 66)
        case .rsa, .ed25519, .ed448: nil
        }
    }

    fileprivate var edwards: (name: String, length: Int)? {
        switch self {
        case .ed25519: ("ED25519", 32)
        case .ed448: ("ED448", 57)
        case .p256, .p384, .p521, .rsa: nil
        }
    }

    init(of key: EVPKey) throws(Failure) {
        let pointer = unsafe key.pointer
        if unsafe EVP_PKEY_is_a(pointer, "RSA") == 1 {
            self = .rsa
        } else if unsafe EVP_PKEY_is_a(pointer, "ED25519") == 1 {
            self = .ed25519
        } else if unsafe EVP_PKEY_is_a(pointer, "ED448") == 1 {
            self = .ed448
        } else if unsafe EVP_PKEY_is_a(pointer, "EC") == 1,
            let curve = key.curve,
            let kind = Self.allCases.first(where: { $0.curve?.name == curve })
        {
            self = kind
        } else {
            throw Failure(.malformed, "a kind of key that is not taken")
        }
    }
}

extension EVPKey {
    /// `point` is 0x04, x, y. Refuses what is not on the curve.
    convenience init(point: [UInt8], on curve: String) throws(Failure) {
        try unsafe self.init(
            owning: shim_ec_public_key(curve, point, point.count), from: "EVP_PKEY_fromdata",
            .malformed)
    }

    /// A curve by its name. Nil for one that is spelled out: it may differ in its generator alone.
    fileprivate var curve: String? {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        var isSpelledOut: Int32 = 1
        defer { ERR_clear_error() }
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1,
            unsafe EVP_PKEY_get_int_param(
                pointer, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isSpelledOut) == 1,
            isSpelledOut == 0
        else { return nil }
        return String(
            decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
