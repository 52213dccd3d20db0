internal import Cryptography
public import Values

/// A key that was registered: what has to be kept of it.
public struct RegisteredCredential: Sendable, Hashable {
    public let id: [UInt8]
    /// COSE_Key, with the members that a public key has and no others (section 6.5.1.1).
    public let publicKey: [UInt8]
    public let algorithm: COSEAlgorithm
    public let signCount: UInt32
    public let backupEligible: Bool
    public let backedUp: Bool
    public let userVerified: Bool
    /// The authenticator's model (AAGUID), 16 bytes; zeros when it does not say.
    public let model: [UInt8]
    public let transports: [String]
    public let attestation: Attestation

    public struct Attestation: Sendable, Hashable {
        public let format: AttestationFormat
        public let kind: AttestationKind
        /// Whether its chain ends at a root of the policy.
        public let isTrusted: Bool

        public init(format: AttestationFormat, kind: AttestationKind, isTrusted: Bool) {
            self.format = format
            self.kind = kind
            self.isTrusted = isTrusted
        }
    }
}

/// Section 7.1 of WebAuthn Level 3, as a function of bytes.
///
/// What is left to the caller, because it takes a memory: that the challenge was issued, for this
/// user and client, is used for the first time and not too late; and that no user at all has the
/// credential's id already.
public enum Registration {
    public static func verify(
        _ credential: PublicKeyCredential.Attestation, challenge: [UInt8],
        relyingParty: RelyingParty, requiresUserVerification: Bool,
        requiresUserPresence: Bool = true, offeredAlgorithms: [Int],
        attestation policy: AttestationPolicy = .unasked, at time: Timestamp
    ) throws(WebAuthnFailure) -> RegisteredCredential {
        let clientData = try ClientData(json: credential.clientDataJSON)
        try clientData.check(type: "webauthn.create", challenge: challenge, for: relyingParty)
        let object = try AttestationObject(credential.attestationObject)
        let data = object.authenticatorData
        try data.check(
            relyingPartyHash: SHA256.hash(Array(relyingParty.id.utf8)),
            requiresUserPresence: requiresUserPresence,
            requiresUserVerification: requiresUserVerification)
        guard let attested = data.credential else { throw .attestedCredentialMissing }
        guard attested.id == credential.id else { throw .otherCredential }
        let key = try CredentialKey(attested.key)
        guard offeredAlgorithms.contains(key.algorithm.rawValue) else {
            throw .algorithmNotOffered
        }
        let attestation = try attest(
            object.statement(
                attested, key: key, clientDataHash: SHA256.hash(credential.clientDataJSON)),
            policy, at: time)
        return RegisteredCredential(
            id: attested.id, publicKey: key.encoded, algorithm: key.algorithm,
            signCount: data.signCount, backupEligible: data.flags.contains(.backupEligible),
            backedUp: data.flags.contains(.backedUp),
            userVerified: data.flags.contains(.userVerified), model: attested.model,
            transports: credential.transports, attestation: attestation)
    }

    private static func attest(
        _ statement: AttestationStatement, _ policy: AttestationPolicy, at time: Timestamp
    ) throws(WebAuthnFailure) -> RegisteredCredential.Attestation {
        guard policy.formats.contains(statement.format) else { throw .formatNotAccepted }
        let verified = try statement.verify(policy)
        if verified.kind == .selfSigned, !policy.acceptsSelf { throw .formatNotAccepted }
        var isTrusted = false
        if let certificates = verified.chain {
            isTrusted = try Trust(format: statement.format, policy: policy, time: time)
                .check(certificates)
        }
        if let models = policy.models, !models.contains(statement.credential.model) {
            throw .modelNotAccepted
        }
        return RegisteredCredential.Attestation(
            format: statement.format, kind: verified.kind, isTrusted: isTrusted)
    }
}

/// The three members of an attestation object (section 6.5.4).
private struct AttestationObject {
    let format: AttestationFormat
    let members: CBOR
    let authenticatorData: AuthenticatorData

    init(_ bytes: [UInt8]) throws(WebAuthnFailure) {
        guard let object = try? CBOR.decode(bytes), object.isMap else {
            throw .attestationObjectMalformed
        }
        guard let format = object["fmt"] else { throw .attestationObjectMember(.fmt, .missing) }
        guard case .text(let name) = format else {
            throw .attestationObjectMember(.fmt, .wrongType)
        }
        guard let members = object["attStmt"] else {
            throw .attestationObjectMember(.attStmt, .missing)
        }
        guard members.isMap else { throw .attestationObjectMember(.attStmt, .wrongType) }
        guard let data = object["authData"] else {
            throw .attestationObjectMember(.authData, .missing)
        }
        guard let data = data.bytes else { throw .attestationObjectMember(.authData, .wrongType) }
        guard !data.isEmpty else { throw .attestationObjectMember(.authData, .empty) }
        guard let format = AttestationFormat(rawValue: name) else { throw .formatUnknown }
        self.format = format
        self.members = members
        authenticatorData = try AuthenticatorData(data)
    }

    func statement(
        _ credential: AuthenticatorData.AttestedCredential, key: CredentialKey,
        clientDataHash: [UInt8]
    ) -> AttestationStatement {
        AttestationStatement(
            format: format, members: members, authenticatorData: authenticatorData,
            credential: credential, key: key, clientDataHash: clientDataHash)
    }
}
