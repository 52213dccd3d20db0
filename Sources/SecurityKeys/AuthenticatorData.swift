/// What the authenticator says and signs (section 6.1).
struct AuthenticatorData {
    static let shortestLength = 37

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let userPresent = Flags(rawValue: 0x01)
        static let userVerified = Flags(rawValue: 0x04)
        static let backupEligible = Flags(rawValue: 0x08)
        static let backedUp = Flags(rawValue: 0x10)
        static let attestedCredential = Flags(rawValue: 0x40)
        static let extensions = Flags(rawValue: 0x80)
    }

    struct AttestedCredential {
        let model: [UInt8]
        let id: [UInt8]
        let key: CBOR
    }

    let bytes: [UInt8]
    let relyingPartyHash: [UInt8]
    let flags: Flags
    let signCount: UInt32
    let credential: AttestedCredential?

    /// The flags say what follows; all of it must be there, and nothing else.
    init(_ bytes: [UInt8]) throws(WebAuthnFailure) {
        guard bytes.count >= AuthenticatorData.shortestLength else {
            throw .authenticatorDataMalformed
        }
        self.bytes = bytes
        relyingPartyHash = Array(bytes[0..<32])
        flags = Flags(rawValue: bytes[32])
        signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var position = AuthenticatorData.shortestLength
        if flags.contains(.attestedCredential) {
            credential = try AuthenticatorData.credential(bytes, &position)
        } else {
            credential = nil
        }
        if flags.contains(.extensions) {
            let (extensions, end) = try AuthenticatorData.item(bytes, position)
            guard extensions.isMap else { throw .authenticatorDataMalformed }
            position = end
        }
        guard position == bytes.count else { throw .authenticatorDataTrailing }
    }

    private static func credential(
        _ bytes: [UInt8], _ position: inout Int
    ) throws(WebAuthnFailure) -> AttestedCredential {
        // Sixteen bytes of model, two of length: the length is at most 65,535, so that no sum here
        // can leave an Int.
        guard bytes.count - position >= 18 else { throw .authenticatorDataMalformed }
        let model = Array(bytes[position..<(position + 16)])
        let length = Int(bytes[position + 16]) << 8 | Int(bytes[position + 17])
        position += 18
        guard (1...PublicKeyCredential.longestID).contains(length),
            bytes.count - position >= length
        else { throw .credentialIDMalformed }
        let id = Array(bytes[position..<(position + length)])
        position += length
        let (key, end) = try item(bytes, position)
        position = end
        return AttestedCredential(model: model, id: id, key: key)
    }

    private static func item(
        _ bytes: [UInt8], _ position: Int
    ) throws(WebAuthnFailure) -> (CBOR, end: Int) {
        do throws(CBORFlaw) {
            return try CBOR.decode(bytes, from: position)
        } catch {
            throw .authenticatorDataMalformed
        }
    }

    /// What both ceremonies demand of every authenticator.
    func check(
        relyingPartyHash wanted: [UInt8], requiresUserPresence: Bool,
        requiresUserVerification: Bool
    ) throws(WebAuthnFailure) {
        guard relyingPartyHash == wanted else { throw .otherRelyingParty }
        guard flags.contains(.userPresent) || !requiresUserPresence else { throw .userNotPresent }
        guard flags.contains(.userVerified) || !requiresUserVerification else {
            throw .userNotVerified
        }
        guard flags.contains(.backupEligible) || !flags.contains(.backedUp) else {
            throw .backedUpWithoutEligibility
        }
    }
}
