/// Why a grant gives no tokens. Callers hear of it in the words of OAuth.
public enum GrantRefusal: Error, Equatable, Sendable {
    /// There is no such client, it is disabled, or it did not show that it is itself.
    case invalidClient
    /// The client showed that it is itself by something that it had used before.
    case usedAssertion
    /// The proof of a key was used before.
    case usedProof
    /// The client's tokens are bound to a key, and none was proved.
    case proofNeeded
    /// The request has a fault that the adapter found, and tells.
    case faultyRequest
    /// The realm does not offer the grant.
    case unsupportedGrant
    /// The client may not use the grant.
    case unauthorizedClient
    /// An unknown scope.
    case unknownScope
    /// A scope that this client was not given.
    case scopeNotAllowed
    /// A refresh asks for more than there was.
    case widerScope
    case invalidResource
    /// The code is wrong, expired, used, or was never issued.
    case invalidCode
    /// A trusted issuer's assertion is a replay, or its subject has no account here.
    case invalidAssertion
    /// The provider's identity is linked to no account.
    case unknownIdentity
    /// A token that was shown to be exchanged is not good, or not any more.
    case invalidSubjectToken
    /// A token that was shown to be exchanged is bound to a key, and that key was not proved.
    case unprovenSubjectToken
    /// The token is not this client's to exchange.
    case exchangeNotAllowed
    /// The actor's token was not shown to this client, or the actor may not act by it.
    case actorNotAllowed
    case invalidDeviceCode
    case expiredDeviceCode
    /// The person has not decided yet.
    case authorizationPending
    /// The person has not decided yet, and the device polled a moment ago.
    case askedTooSoon
    /// The person denied the device.
    case deviceDenied
    /// A device has, or had, the code that is typed: another has to be made up.
    case codeTaken
    /// A link that is wrong, expired, used, or was never mailed.
    case invalidLink
    /// The passphrase is wrong, not set, or not accepted now.
    case invalidPassphrase
    /// The first factor was good, and the account has a second one.
    case secondFactorRequired
    case invalidSecondFactor
    /// The app wants more than was shown, or than the account has: a browser can ask for it.
    case strongerSignInNeeded
    /// The app wants more now than was shown when its tokens were first given.
    case strongerSignInNow
    /// The account may not sign in.
    case accountBlocked
    /// The ceremony was not begun here, or not for this client: the attempt is not even put on
    /// record.
    case unknownCeremony
    /// A ceremony of ours that is over.
    case invalidCeremony(String)
    /// A passkey that did not prove itself, or that may not sign in.
    case passkeyRefused(String)
    /// A way to sign in within a tenant's app that did not prove itself, or that may not sign in.
    case methodRefused(String)
    /// A passkey that was only remembered, and is no more: it has to be looked up anew.
    case passkeyOutdated
    /// A refresh token that is not good, or not any more.
    case invalidRefreshToken
    /// An authorization code that is not good for this client, or not any more: for the record, why.
    case invalidAuthorizationCode(String)
    /// One that was never given out, or was shown before: not even put on record.
    case unknownAuthorizationCode
}

extension GrantRefusal {
    /// What the record says of an attempt to sign in; nil of what is no attempt yet.
    var recordedReason: String? {
        switch self {
        case .invalidCode: "invalid_code"
        case .invalidLink: "invalid_link"
        case .invalidPassphrase: "invalid_passphrase"
        case .secondFactorRequired: "second_factor_required"
        case .invalidSecondFactor: "invalid_second_factor"
        case .accountBlocked: "account_blocked"
        case .strongerSignInNeeded: "stronger_sign_in_needed"
        case .invalidAssertion: "invalid_assertion"
        case .unknownIdentity: "unknown_identity"
        case .exchangeNotAllowed: "exchange_not_allowed"
        case .actorNotAllowed: "actor_not_allowed"
        case .unprovenSubjectToken: "unproven_token"
        case .invalidCeremony(let reason), .passkeyRefused(let reason),
            .methodRefused(let reason),
            .invalidAuthorizationCode(let reason):
            reason
        case .invalidClient, .usedAssertion, .usedProof,
            .proofNeeded, .faultyRequest, .invalidSubjectToken, .invalidDeviceCode,
            .expiredDeviceCode,
            .authorizationPending, .askedTooSoon, .deviceDenied, .codeTaken, .unsupportedGrant,
            .unauthorizedClient, .unknownScope, .scopeNotAllowed, .widerScope, .invalidResource,
            .unknownCeremony, .passkeyOutdated, .invalidRefreshToken, .strongerSignInNow,
            .unknownAuthorizationCode:
            nil
        }
    }

    /// What the record says where the request alone was at fault, and used something up.
    var reasonInVain: String? {
        if self == .unknownScope || self == .scopeNotAllowed { return "scope_refused" }
        return self == .invalidResource ? "resource_refused" : nil
    }
}
