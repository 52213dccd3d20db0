import Cryptography
import JSON
import SecurityKeys
import Values

/// The key of a credential, of one of the kinds that can be made here.
enum TestKey: Sendable {
    case es256(ES256.PrivateKey)
    case rs256(RS256.PrivateKey)
    case ed25519(Ed25519.PrivateKey)

    var cose: Item { .map(members) }

    var members: [(Item, Item)] {
        switch self {
        case .es256(let key):
            [
                (.integer(1), .integer(2)), (.integer(3), .integer(-7)),
                (.integer(-1), .integer(1)), (.integer(-2), .bytes(key.publicKey.x)),
                (.integer(-3), .bytes(key.publicKey.y)),
            ]
        case .rs256(let key):
            [
                (.integer(1), .integer(3)), (.integer(3), .integer(-257)),
                (.integer(-1), .bytes(key.publicKey.modulus)),
                (.integer(-2), .bytes(key.publicKey.exponent)),
            ]
        case .ed25519(let key):
            [
                (.integer(1), .integer(1)), (.integer(3), .integer(-8)),
                (.integer(-1), .integer(6)), (.integer(-2), .bytes(key.publicKey.bytes)),
            ]
        }
    }

    var algorithm: Int64 {
        switch self {
        case .es256: -7
        case .rs256: -257
        case .ed25519: -8
        }
    }

    func spki() throws -> [UInt8] {
        switch self {
        case .es256(let key): key.publicKey.spki
        case .rs256(let key): try key.publicKey.spki()
        case .ed25519(let key): key.publicKey.spki
        }
    }

    func sign(_ message: [UInt8]) throws -> [UInt8] {
        switch self {
        case .es256(let key): try key.signDER(message)
        case .rs256(let key): try key.sign(message)
        case .ed25519(let key): try key.sign(message)
        }
    }
}

/// One answer of an authenticator and its browser, before it is written: a test changes what it
/// wants to be wrong, and everything that follows from it stays right.
struct Draft: Sendable {
    enum Ceremony: Sendable { case create, get }

    var ceremony: Ceremony
    var key: TestKey
    var challenge: [UInt8]
    var relyingPartyID = "login.example.org"
    var flags: UInt8
    var signCount: UInt32 = 0
    var model = [UInt8](repeating: 0, count: 16)
    var credentialID: [UInt8]
    var publicKey: Item
    /// Nil leaves the attested credential out, whatever the flag says.
    var attested = true
    var extensions: [UInt8] = []
    /// Behind everything in the authenticator data.
    var trailing: [UInt8] = []
    /// Names, and values as JSON text.
    var clientData: [(String, String)]
    var clientDataText: [UInt8]?
    var format: Item = .text("none")
    var statement: @Sendable (Draft) throws -> Item = { _ in .map([]) }
    var object: @Sendable ([(Item, Item)]) -> Item = { .map($0) }
    var signature: @Sendable (Draft) throws -> [UInt8] = { try $0.key.sign($0.signed) }
    var userHandle: JSON? = .string(Base64URL.encode([7, 7, 7]))
    var response: @Sendable (inout JSONObject) -> Void = { _ in }
    var envelope: @Sendable (inout JSONObject) -> Void = { _ in }

    static let storedHandle: [UInt8] = [7, 7, 7]

    init(_ ceremony: Ceremony, key: TestKey) {
        self.ceremony = ceremony
        self.key = key
        challenge = (0..<32).map { $0 &* 7 &+ 3 }
        credentialID = (0..<32).map { 200 &- $0 }
        publicKey = key.cose
        flags = ceremony == .create ? 0x45 : 0x05
        attested = ceremony == .create
        clientData = [
            ("type", ceremony == .create ? "\"webauthn.create\"" : "\"webauthn.get\""),
            ("challenge", "\"\(Base64URL.encode(challenge))\""),
            ("origin", "\"https://login.example.org\""), ("crossOrigin", "false"),
        ]
    }

    var clientDataJSON: [UInt8] {
        let members = clientData.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        return clientDataText ?? Array("{\(members)}".utf8)
    }

    var clientDataHash: [UInt8] { SHA256.hash(clientDataJSON) }
    var relyingPartyHash: [UInt8] { SHA256.hash(Array(relyingPartyID.utf8)) }

    var authenticatorData: [UInt8] {
        var bytes = relyingPartyHash + [flags]
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: signCount >> $0) }
        if attested {
            let length = credentialID.count
            bytes += model + [UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)] + credentialID
            bytes += publicKey.encoded
        }
        return bytes + extensions + trailing
    }

    var signed: [UInt8] { authenticatorData + clientDataHash }

    func json() throws -> JSON {
        var inner: JSONObject = [
            "clientDataJSON": .string(Base64URL.encode(clientDataJSON))
        ]
        switch ceremony {
        case .create:
            let members: [(Item, Item)] = [
                (.text("fmt"), format), (.text("attStmt"), try statement(self)),
                (.text("authData"), .bytes(authenticatorData)),
            ]
            inner["attestationObject"] = .string(Base64URL.encode(object(members).encoded))
            inner["transports"] = ["internal", "hybrid"]
        case .get:
            inner["authenticatorData"] = .string(Base64URL.encode(authenticatorData))
            inner["signature"] = .string(Base64URL.encode(try signature(self)))
            inner["userHandle"] = userHandle
        }
        response(&inner)
        var outer: JSONObject = [
            "id": .string(Base64URL.encode(credentialID)),
            "rawId": .string(Base64URL.encode(credentialID)), "type": "public-key",
            "response": .object(inner), "clientExtensionResults": [:],
        ]
        envelope(&outer)
        return .object(outer)
    }

    mutating func setClientData(_ name: String, _ text: String?) {
        clientData.removeAll { $0.0 == name }
        if let text { clientData.append((name, text)) }
    }
}

/// The other side of the drafts.
enum Site {
    static let party = RelyingParty(
        id: "login.example.org", origins: ["https://login.example.org"])
    static let time = Timestamp(seconds: 1_780_000_000)

    static func register(
        _ draft: Draft, party: RelyingParty = party, policy: AttestationPolicy = .unasked,
        requiresUserVerification: Bool = true, algorithms: [Int] = COSEAlgorithm.usual,
        challenge: [UInt8]? = nil, at time: Timestamp = time
    ) throws -> RegisteredCredential {
        try Registration.verify(
            PublicKeyCredential.Attestation(draft.json()),
            challenge: challenge ?? Draft(.create, key: draft.key).challenge,
            relyingParty: party, requiresUserVerification: requiresUserVerification,
            offeredAlgorithms: algorithms, attestation: policy, at: time)
    }

    static func use(
        _ draft: Draft, party: RelyingParty = party, requiresUserVerification: Bool = true,
        signCount: UInt32 = 0, backupEligible: Bool = false, publicKey: [UInt8]? = nil,
        allowed: [[UInt8]] = [], identifiesUser: Bool = true
    ) throws -> AssertionOutcome {
        let original = Draft(.get, key: draft.key)
        return try Assertion.verify(
            PublicKeyCredential.Assertion(draft.json()),
            stored: StoredCredential(
                id: original.credentialID, publicKey: publicKey ?? draft.key.cose.encoded,
                signCount: signCount, backupEligible: backupEligible,
                userHandle: Draft.storedHandle),
            challenge: original.challenge, relyingParty: party,
            requiresUserVerification: requiresUserVerification, allowedCredentials: allowed,
            identifiesUser: identifiesUser)
    }
}

/// One thing that is wrong, and what must be said about it.
struct Wrong: Sendable, CustomStringConvertible {
    let description: String
    let failure: WebAuthnFailure
    let change: @Sendable (inout Draft) throws -> Void

    init(
        _ description: String, _ failure: WebAuthnFailure,
        _ change: @escaping @Sendable (inout Draft) throws -> Void
    ) {
        self.description = description
        self.failure = failure
        self.change = change
    }
}
