internal import Cryptography
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Keys and signatures of devices, as apps of the profile write them: in base64, of either alphabet.
enum DeviceSignature {
    /// Longer than any key or signature.
    static let limit = 1024

    /// Some apps break the lines of base64, some fill up that of addresses as the other one is, and some leave the
    /// other one as it is.
    static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= limit else { return nil }
        let digits = text.utf8.filter { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }
        let padding = digits.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding == 0 || digits.count.isMultiple(of: 4) else { return nil }
        let bare = String(decoding: digits.dropLast(padding), as: UTF8.self)
        let missing = String(repeating: "=", count: (4 - bare.utf8.count % 4) % 4)
        return Base64.decode(bare + missing) ?? Base64URL.decode(bare)
    }

    /// The keys that a text may stand for which looks one up: apps write them in base64, and many have that text
    /// in base64 once more.
    static func lookedUp(_ text: String) -> [[UInt8]] {
        guard let once = bytes(text) else { return [] }
        return [once] + [bytes(String(decoding: once, as: UTF8.self))].compactMap { $0 }
    }

    /// 4,096 bits.
    private static let longestModulus = 512

    /// A public key in its one encoding. Nil for what is no key, and for keys that verify anything.
    static func key(_ text: String, _ algorithm: DeviceKeyAlgorithm) -> [UInt8]? {
        guard let bytes = bytes(text) else { return nil }
        switch algorithm {
        case .ed25519: return (try? Ed25519.PublicKey(bytes))?.bytes
        case .ecdsa: return (try? ES256.PublicKey(spki: bytes))?.spki
        case .rsa:
            guard let key = try? RS256.PublicKey(spki: bytes), key.modulus.count <= longestModulus
            else { return nil }
            return try? key.spki()
        }
    }

    /// Of the form in which a key is written. Apps name none for the keys of a fingerprint.
    static func algorithm(ofKey text: String) -> DeviceKeyAlgorithm {
        if key(text, .ecdsa) != nil { return .ecdsa }
        return key(text, .rsa) == nil ? .ed25519 : .rsa
    }

    /// The algorithm of a name: nil for an unknown one.
    static func algorithm(_ name: String) -> DeviceKeyAlgorithm? {
        switch name.uppercased() {
        case "ED25519": .ed25519
        case "ECDSA", "ES256", "EC": .ecdsa
        case "RSA", "RS256": .rsa
        default: nil
        }
    }

    static func isValid(_ signature: String, for message: String, by key: DeviceKey) -> Bool {
        guard let signature = bytes(signature) else { return false }
        let message = Array(message.utf8)
        switch key.algorithm {
        case .ed25519:
            return (try? Ed25519.PublicKey(key.publicKey))?.isValid(signature, for: message)
                ?? false
        case .ecdsa:
            guard let key = try? ES256.PublicKey(spki: key.publicKey) else { return false }
            return key.isValid(der: signature, for: message)
                || key.isValid(signature, for: message)
        case .rsa:
            return (try? RS256.PublicKey(spki: key.publicKey))?.isValid(signature, for: message)
                ?? false
        }
    }
}

extension TokenMint {
    /// The stream of what a person has within the apps of a tenant.
    func methods(of account: UUID, for client: UUID) -> UUID {
        .v8(derive(.tenantMethods, account.bytes + client.bytes))
    }

    /// The stream of a tenant's own name of a person.
    func name(_ text: String, of client: UUID) -> UUID {
        .v8(derive(.tenantName, client.bytes + Array(text.utf8)))
    }

    /// The stream of an approval, from the number that the apps of a tenant know it by.
    func approval(_ number: Int64, for client: UUID) -> UUID {
        .v8(derive(.approval, [0] + client.bytes + bytes(number)))
    }

    /// The number of what a device signed: the same again where it is shown again.
    func approvalNumber(ofSigned message: String, by key: UUID, _ length: EventNumber) -> Int64 {
        length.cut(fitting(derive(.approval, [1] + key.bytes + Array(message.utf8))))
    }

    /// The number beside the code that resets a PIN: the same for every code, and told for people whom there
    /// are not too.
    func resetNumber(of person: String, for client: UUID) -> Int64 {
        fitting(derive(.approval, [2] + client.bytes + Array(person.utf8))) & 0x7FFF_FFFF
    }

    static func randomNumber(_ length: EventNumber) -> Int64 {
        var random = SystemRandom()
        return length.cut(Int64(UInt64.random(in: 1..<(1 << 53), using: &random)))
    }

    private func fitting(_ digest: [UInt8]) -> Int64 {
        Int64(digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 11) | 1
    }

    private func bytes(_ number: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) }
    }
}

/// How long the numbers of events are.
enum EventNumber {
    /// Not to be guessed, and held by scripts: 53 bits.
    case long
    /// Held by apps whose integers have 32 bits. It may be guessed, so that who asks is looked at too.
    case short

    private static let shortest: Int64 = 0x7FFF_FFFF

    fileprivate func cut(_ number: Int64) -> Int64 {
        switch self {
        case .long: number
        case .short: number & Self.shortest | 1
        }
    }
}

extension Call<RealmContext> {
    var eventNumber: EventNumber {
        context.place.settings[SettingCatalogue.shortEventNumbers] ? .short : .long
    }

    func methodOwner(_ account: UUID, _ tenant: Tenant) -> MethodOwner {
        MethodOwner(
            account: account, client: tenant.client.id,
            stream: context.mint.methods(of: account, for: tenant.client.id))
    }

    func methods(of account: UUID, for tenant: Tenant) async throws(Problem) -> TenantMethods {
        try await RealmLookups(context).folded(
            TenantMethods.self, methodOwner(account, tenant).stream)
    }
}
