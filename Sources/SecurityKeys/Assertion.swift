internal import Cryptography

/// What was kept of a registered key, as far as its use has to be checked with it.
public struct StoredCredential: Sendable, Hashable {
    public let id: [UInt8]
    public let publicKey: [UInt8]
    public let signCount: UInt32
    public let backupEligible: Bool
    /// Whose it is: the handle that was given to the authenticator.
    public let userHandle: [UInt8]

    public init(
        id: [UInt8], publicKey: [UInt8], signCount: UInt32, backupEligible: Bool,
        userHandle: [UInt8]
    ) {
        self.id = id
        self.publicKey = publicKey
        self.signCount = signCount
        self.backupEligible = backupEligible
        self.userHandle = userHandle
    }

    /// Whether a stored key says its private half too, as keys could that were stored as they came.
    public static func disclosesPrivateKey(_ publicKey: [UInt8]) -> Bool {
        do throws(WebAuthnFailure) {
            _ = try CredentialKey(bytes: publicKey)
            return false
        } catch {
            return error == .privateKeyDisclosed
        }
    }
}

/// What to keep after a key was used.
public struct AssertionOutcome: Sendable, Hashable {
    public let signCount: UInt32
    public let backedUp: Bool
    public let userVerified: Bool
    /// The authenticator counts, and has not counted on: there may be two of it. What that means is
    /// up to the caller; some authenticators share a counter or lose it.
    public let counterWentBack: Bool
}

/// Section 7.2 of WebAuthn Level 3, as a function of bytes.
///
/// What is left to the caller, because it takes a memory: that the challenge was issued and is used
/// for the first time and not too late, and to find the credential with this id.
public enum Assertion {
    /// - Parameters:
    ///   - allowedCredentials: Those that the request named; empty when it named none.
    ///   - identifiesUser: True when the account is not known before: then the authenticator must.
    public static func verify(
        _ credential: PublicKeyCredential.Assertion, stored: StoredCredential,
        challenge: [UInt8], relyingParty: RelyingParty, requiresUserVerification: Bool,
        allowedCredentials: [[UInt8]] = [], identifiesUser: Bool
    ) throws(WebAuthnFailure) -> AssertionOutcome {
        guard allowedCredentials.isEmpty || allowedCredentials.contains(credential.id) else {
            throw .credentialNotAllowed
        }
        guard credential.id == stored.id else { throw .otherCredential }
        if let handle = credential.userHandle {
            guard handle == stored.userHandle else { throw .otherUser }
        } else if identifiesUser {
            throw .userHandleMissing
        }
        let clientData = try ClientData(json: credential.clientDataJSON)
        try clientData.check(type: "webauthn.get", challenge: challenge, for: relyingParty)
        let data = try AuthenticatorData(credential.authenticatorData)
        try data.check(
            relyingPartyHash: SHA256.hash(Array(relyingParty.id.utf8)),
            requiresUserPresence: true, requiresUserVerification: requiresUserVerification)
        guard data.credential == nil else { throw .attestedCredentialPresent }
        guard data.flags.contains(.backupEligible) == stored.backupEligible else {
            throw .backupEligibilityChanged
        }
        let key = try storedKey(stored.publicKey)
        let message = data.bytes + SHA256.hash(credential.clientDataJSON)
        guard key.isValid(credential.signature, for: message) else { throw .signature }
        let counts = data.signCount != 0 || stored.signCount != 0
        return AssertionOutcome(
            signCount: data.signCount, backedUp: data.flags.contains(.backedUp),
            userVerified: data.flags.contains(.userVerified),
            counterWentBack: counts && data.signCount <= stored.signCount)
    }

    /// One whose private half was stored with it proves nothing: a reader of the log could sign with it.
    private static func storedKey(_ bytes: [UInt8]) throws(WebAuthnFailure) -> CredentialKey {
        do throws(WebAuthnFailure) {
            return try CredentialKey(bytes: bytes)
        } catch {
            throw error == .privateKeyDisclosed ? error : .storedKeyMalformed
        }
    }
}
