internal import HTTP
internal import Identity
internal import JSON

extension RequestOTP.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .nativeGrantsDisabled: Problem(.nativeGrantsDisabled)
        case .loginCodeDisabled: Problem(.noSuchRoute)
        case .phoneSignInDisabled: PhoneFault.notOffered.problem("phone")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension RequestMagicLink.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension GrantRefusal: Refusal {
    var problem: Problem {
        switch self {
        case .invalidClient: Problem(.invalidClient)
        case .usedAssertion: Problem(.invalidClient, "The assertion was used before.")
        case .usedProof: Problem(.invalidProof, "The DPoP proof was used before.")
        case .proofNeeded: Problem(.invalidProof, "The client's tokens need a DPoP proof.")
        case .faultyRequest: Problem(.invalidRequest)
        case .unsupportedGrant:
            Problem(.unsupportedGrantType, "This grant type is not enabled for this realm.")
        case .unauthorizedClient:
            Problem(.unauthorizedClient, "The client may not use this grant type.")
        case .unknownScope: Problem(.invalidScope, "There is no such scope here for this client.")
        case .scopeNotAllowed:
            Problem(.invalidRequest, "The client may not ask for this scope.")
        case .widerScope:
            Problem(.invalidScope, "Nothing is given for it that goes beyond its scope.")
        case .invalidResource: Problem(.invalidTarget)
        case .invalidCode: Problem(.invalidGrant, "Invalid or expired code.")
        case .invalidAssertion:
            Problem(.invalidGrant, "The assertion is not valid, or was used before.")
        case .unknownIdentity: Problem(.invalidGrant, "No account is linked to that subject.")
        case .invalidSubjectToken:
            Problem(.invalidRequest, "A token that is to be exchanged is not valid.")
        case .unprovenSubjectToken:
            Problem(
                .invalidRequest, "A token that is bound to a key is exchanged with its proof.")
        case .exchangeNotAllowed:
            Problem(.invalidRequest, "The token is not this client's to exchange.")
        case .actorNotAllowed:
            Problem(
                .invalidRequest, "The subject of the actor_token may not act through this client.")
        case .invalidDeviceCode: Problem(.invalidGrant, "Invalid or used device code.")
        case .expiredDeviceCode: Problem(.expiredDeviceCode)
        case .authorizationPending: Problem(.authorizationPending)
        case .askedTooSoon: Problem(.slowDown)
        case .deviceDenied: Problem(.deviceDenied)
        // Another code is made up instead, and the passkey is looked up anew.
        case .codeTaken, .passkeyOutdated: Problem(.internalError)
        case .invalidLink: Problem(.invalidGrant, "Invalid or expired link.")
        case .invalidPassphrase: Problem(.invalidGrant, "Invalid passphrase.")
        case .secondFactorRequired:
            Problem(
                .invalidGrant, "Two-factor authentication is required; supply totp_code.")
        case .invalidSecondFactor:
            Problem(.invalidGrant, "The two-factor code is invalid.")
        case .strongerSignInNeeded: .strongerSignIn
        case .strongerSignInNow:
            Problem(.invalidGrant, "The application now requires a stronger sign-in")
        case .accountBlocked: Problem(.invalidGrant, "The account cannot sign in.")
        case .unknownCeremony, .invalidCeremony:
            Problem(.invalidGrant, "Invalid or expired passkey ceremony.")
        case .passkeyRefused: Problem(.invalidGrant, "Passkey verification failed.")
        case .methodRefused: Problem(.invalidGrant, "This way to sign in was refused.")
        case .invalidRefreshToken:
            Problem(.invalidGrant, "The refresh token is not valid, or is no longer.")
        case .invalidAuthorizationCode, .unknownAuthorizationCode:
            Problem(.invalidGrant, "The code is not valid, or is no longer.")
        }
    }
}

extension Problem {
    /// What a browser can ask for that an app cannot.
    fileprivate static let strongerSignIn: Problem = {
        var problem = Problem(.mfaRequired)
        problem.members["methods"] = ["passkey", "totp"]
        return problem
    }()
}
