/// Everything that is derived from a realm's keys, by the text that is derived with. The texts never change:
/// what was derived once would not be found again.
///
/// What becomes of each when the derive key is replaced follows from its kind, and stands in
/// `docs/derived-secrets.md`.
enum DerivedPurpose: String, CaseIterable, Sendable {
    // Names of streams, and other names that are looked up.
    case mailbox
    case invite
    case device
    case consent
    case pairwise
    case providerIdentity = "provider identity"
    case providerSession = "provider session"
    case accountIdentity = "account identity"
    case providerToken = "provider token"
    case network = "source"
    case notificationSource = "notification source"
    case notificationState = "notification state"
    case formName = "form name"
    case tenantMethods = "tenant methods"
    case tenantName = "tenant name"
    case approval
    case importedAccount = "imported account"
    case recoveryCodeDigest = "recovery code digest"
    case browserSecret = "browser secret"
    case federatedKey = "federated key"
    case federatedDevice = "federated device"
    case federatedAssertion = "federated assertion"
    case federatedProof = "federated proof"

    // Tokens: a name, and a keyed digest of it.
    case refreshToken = "urd_rt_"
    case accessToken = "urd_at_"
    case deviceCode = "urd_dc_"
    case initialAccessToken = "urd_iat_"
    case registrationAccessToken = "urd_rat_"
    case registerToken = "register token"
    case sessionCode = "session code"
    case mailedCode = "mailed code"
    case ownerLink = "owner link"
    case delegatedCode = "delegated code"
    case ownerMove = "owner move"
    case emailVerified = "email verified"
    case connectionState = "connection state"
    case trustedBrowser = "trusted browser"
    case passphraseReset = "passphrase reset"
    case keepAccount = "keep account"
    case ownerConfirmation = "owner confirmation"
    case attestationChallenge = "attestation challenge"
    case passkeyCeremony = "passkey ceremony"
    case secondStep = "second step"
    case csrfToken = "form token"
    case proofNonce = "dpop nonce"
    case identitySignature = "identity signature"
    case federatedToken = "federated token"

    // What the log keeps of secrets that people show.
    case oneTimeCodeDigest = "one-time code digest"
    case magicLinkDigest = "magic link digest"
    case mailedCodeDigest = "mailed code digest"
    case ownerMoveDigest = "owner move digest"
    case mailboxMoveDigest = "mailbox move digest"

    // Secrets that are stored nowhere and given again.
    case oneTimeCode = "one-time code"
    case magicLink = "magic link"
    case inviteCode = "invite code"
    case clientSecret = "client secret"
    case adminKey = "admin key"
    case webhookSecret = "webhook secret"
    case passkeyChallenge = "passkey challenge"
    case upstreamState = "upstream state"
    case upstreamNonce = "upstream nonce"
    case upstreamVerifier = "upstream verifier"
    case sharedKey = "shared key"
    case requestKey = "request key"

    case seal
}

/// What becomes of something derived when the derive key is replaced, and when the old one is retired.
enum DerivedKind: String, Sendable {
    /// Stays the same for good: it is derived from the realm's key for names.
    case name
    /// Made under the version in use and read under all of them.
    case token
    /// Kept in the log, and compared under every version with what is shown.
    case digest
    /// Given again as it was given first, as long as that version lives.
    case repeatable
    /// Encrypted under the version in use, and decrypted under any of them.
    case sealed
}

extension DerivedPurpose {
    var kind: DerivedKind {
        switch self {
        case .mailbox, .invite, .device, .consent, .pairwise, .providerIdentity, .providerSession,
            .accountIdentity, .providerToken, .network, .notificationSource, .notificationState,
            .formName, .tenantMethods, .tenantName, .approval, .importedAccount, .federatedKey,
            .federatedDevice,
            .federatedAssertion, .federatedProof:
            .name
        // Digests of random secrets with 60 bits and more, of which nothing is derived: a known key
        // gives none of them away.
        case .recoveryCodeDigest, .browserSecret: .name
        case .refreshToken, .accessToken, .deviceCode, .initialAccessToken,
            .registrationAccessToken, .registerToken, .sessionCode, .mailedCode, .ownerLink,
            .delegatedCode, .ownerMove, .emailVerified, .connectionState, .trustedBrowser,
            .passphraseReset, .keepAccount, .ownerConfirmation, .attestationChallenge,
            .passkeyCeremony, .secondStep, .csrfToken, .proofNonce, .identitySignature,
            .federatedToken:
            .token
        case .oneTimeCodeDigest, .magicLinkDigest, .mailedCodeDigest, .ownerMoveDigest,
            .mailboxMoveDigest:
            .digest
        case .oneTimeCode, .magicLink, .inviteCode, .clientSecret, .adminKey, .webhookSecret,
            .passkeyChallenge,
            .upstreamState, .upstreamNonce, .upstreamVerifier, .sharedKey, .requestKey:
            .repeatable
        case .seal: .sealed
        }
    }
}
