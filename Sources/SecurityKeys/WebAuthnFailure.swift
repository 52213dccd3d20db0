/// Which check refused a credential.
///
/// A case for each check, so that an auditor can tell an attack from a broken authenticator. It
/// is for logs alone: the party that sent the credential learns nothing but that it was refused.
public enum WebAuthnFailure: Error, Hashable, Sendable {
    /// What is wrong with a member of what was sent.
    public enum Flaw: String, Hashable, Sendable, CaseIterable {
        case missing, wrongType, empty, tooLong, malformed
    }

    // The credential as the browser wrote it.
    case credentialMalformed
    case credentialMember(CredentialMember, Flaw)
    case typeIsNotPublicKey
    case idsDiffer

    // What the browser signed along.
    case clientDataMalformed
    case clientDataMember(ClientDataMember, Flaw)
    case otherCeremony
    case otherChallenge
    case otherOrigin
    case crossOrigin
    case otherTopOrigin

    // What the authenticator signed.
    case attestationObjectMalformed
    case attestationObjectMember(AttestationObjectMember, Flaw)
    case authenticatorDataMalformed
    case attestedCredentialMissing
    case authenticatorDataTrailing
    case otherRelyingParty
    case userNotPresent
    case userNotVerified
    case backedUpWithoutEligibility

    // The key that is registered.
    case credentialIDMalformed
    case otherCredential
    case publicKeyMalformed
    /// The private half stands in what should be a public key, or in what was stored of one.
    case privateKeyDisclosed
    case algorithmUnknown
    case algorithmNotOffered

    // Who vouches for it.
    case formatUnknown
    case formatNotAccepted
    case statement(StatementFlaw)
    case chain(ChainFlaw)
    case modelNotAccepted

    // The key that is used.
    case credentialNotAllowed
    /// An attested credential where a key is used: only registrations have one.
    case attestedCredentialPresent
    case userHandleMissing
    case otherUser
    case backupEligibilityChanged
    case storedKeyMalformed
    case signature

    public enum CredentialMember: String, Hashable, Sendable, CaseIterable {
        case id, rawId, type, response, clientDataJSON, attestationObject, transports
        case authenticatorData, signature, userHandle
    }

    public enum ClientDataMember: String, Hashable, Sendable, CaseIterable {
        case type, challenge, origin, crossOrigin, topOrigin, tokenBinding
    }

    public enum AttestationObjectMember: String, Hashable, Sendable, CaseIterable {
        case fmt, attStmt, authData
    }

    public enum ChainFlaw: String, Hashable, Sendable, CaseIterable {
        case tooLong, outOfDate, broken, notAnAuthority, containsRoot, untrusted
    }
}

extension WebAuthnFailure {
    /// What is wrong with what vouches for a key (section 8).
    public enum StatementFlaw: Hashable, Sendable {
        case notEmpty
        case member(StatementMember, Flaw)
        /// One that the format does not have.
        case unknownMember
        case algorithmUnknown
        /// The algorithm is not that of the key it names.
        case otherAlgorithm
        case signature
        /// The attested key is not the credential's.
        case otherKey
        case otherHash
        case otherModel
        case certificate(CertificateFlaw)
        case android(AndroidFlaw)
        case chip(ChipFlaw)
    }

    public enum StatementMember: String, Hashable, Sendable, CaseIterable {
        case alg, sig, x5c, ver, certInfo, pubArea
    }

    public enum CertificateFlaw: String, Hashable, Sendable, CaseIterable {
        case malformed, version, subject, authority, publicKey, count, modelExtension
        case alternativeName, usage, nonceExtension, keyDescription
    }

    public enum AndroidFlaw: String, Hashable, Sendable, CaseIterable {
        case allApplications, origin, purpose
    }

    public enum ChipFlaw: String, Hashable, Sendable, CaseIterable {
        case version, magic, type, extraData, name, publicArea, attestation
    }
}

extension WebAuthnFailure: CustomStringConvertible {
    /// A word or several with dots between, for logs and counters; nothing of the input.
    public var description: String {
        switch self {
        case .credentialMember(let member, let flaw): "credential.\(member).\(flaw)"
        case .clientDataMember(let member, let flaw): "clientData.\(member).\(flaw)"
        case .attestationObjectMember(let member, let flaw): "attestationObject.\(member).\(flaw)"
        case .statement(let flaw): "statement.\(flaw.code)"
        case .chain(let flaw): "chain.\(flaw)"
        case .credentialMalformed: "credentialMalformed"
        case .typeIsNotPublicKey: "typeIsNotPublicKey"
        case .idsDiffer: "idsDiffer"
        case .clientDataMalformed: "clientDataMalformed"
        case .otherCeremony: "otherCeremony"
        case .otherChallenge: "otherChallenge"
        case .otherOrigin: "otherOrigin"
        case .crossOrigin: "crossOrigin"
        case .otherTopOrigin: "otherTopOrigin"
        case .attestationObjectMalformed: "attestationObjectMalformed"
        case .authenticatorDataMalformed: "authenticatorDataMalformed"
        case .attestedCredentialMissing: "attestedCredentialMissing"
        case .authenticatorDataTrailing: "authenticatorDataTrailing"
        case .otherRelyingParty: "otherRelyingParty"
        case .userNotPresent: "userNotPresent"
        case .userNotVerified: "userNotVerified"
        case .backedUpWithoutEligibility: "backedUpWithoutEligibility"
        case .credentialIDMalformed: "credentialIDMalformed"
        case .otherCredential: "otherCredential"
        case .publicKeyMalformed: "publicKeyMalformed"
        case .privateKeyDisclosed: "privateKeyDisclosed"
        case .algorithmUnknown: "algorithmUnknown"
        case .algorithmNotOffered: "algorithmNotOffered"
        case .formatUnknown: "formatUnknown"
        case .formatNotAccepted: "formatNotAccepted"
        case .modelNotAccepted: "modelNotAccepted"
        case .credentialNotAllowed: "credentialNotAllowed"
        case .attestedCredentialPresent: "attestedCredentialPresent"
        case .userHandleMissing: "userHandleMissing"
        case .otherUser: "otherUser"
        case .backupEligibilityChanged: "backupEligibilityChanged"
        case .storedKeyMalformed: "storedKeyMalformed"
        case .signature: "signature"
        }
    }
}

extension WebAuthnFailure.StatementFlaw {
    fileprivate var code: String {
        switch self {
        case .notEmpty: "notEmpty"
        case .member(let member, let flaw): "\(member).\(flaw)"
        case .unknownMember: "unknownMember"
        case .algorithmUnknown: "algorithmUnknown"
        case .otherAlgorithm: "otherAlgorithm"
        case .signature: "signature"
        case .otherKey: "otherKey"
        case .otherHash: "otherHash"
        case .otherModel: "otherModel"
        case .certificate(let flaw): "certificate.\(flaw)"
        case .android(let flaw): "android.\(flaw)"
        case .chip(let flaw): "chip.\(flaw)"
        }
    }
}
