/// Problems as OAuth clients know them, in bodies and in challenges (RFC 6749 section 5.2, RFC 6750 section 3.1, RFC 7009
/// section 2.2.1, RFC 8707 section 2).
extension ProblemKind {
    /// The value of `error`.
    var oauthCode: String {
        switch self {
        case .invalidClient: "invalid_client"
        case .invalidGrant: "invalid_grant"
        case .unauthorizedClient: "unauthorized_client"
        case .unsupportedGrantType: "unsupported_grant_type"
        case .unsupportedTokenType: "unsupported_token_type"
        case .invalidScope: "invalid_scope"
        case .invalidTarget: "invalid_target"
        case .invalidToken, .unprovenToken: "invalid_token"
        // draft-ietf-oauth-first-party-apps.
        case .insufficientAuthorization: "insufficient_authorization"
        case .invalidAuthSession: "invalid_session"
        // RFC 8628.
        case .authorizationPending: "authorization_pending"
        case .slowDown: "slow_down"
        case .expiredDeviceCode: "expired_token"
        // RFC 9449.
        case .invalidProof, .proofRefused: "invalid_dpop_proof"
        case .nonceNeeded, .proofNonceNeeded: "use_dpop_nonce"
        // Only in the body: a challenge to a client without a token names no error (RFC 6750
        // section 3.1), which has no code of its own. This code means that something is missing.
        case .unauthenticated: "invalid_request"
        case .insufficientScope: "insufficient_scope"
        // RFC 9470.
        case .reauthenticationRequired: "insufficient_user_authentication"
        case .mfaRequired: "mfa_required"
        case .invalidRedirectURI: "invalid_redirect_uri"
        case .invalidClientMetadata: "invalid_client_metadata"
        case .invalidSoftwareStatement: "invalid_software_statement"
        case .unapprovedSoftwareStatement: "unapproved_software_statement"
        case .rateLimited, .tooManyFeeds, .tooManyCases, .tooManyWhatIfs, .tooManyBuilds:
            "rate_limited"
        case .forbidden, .foreignForm, .realmClosed, .realmDisabled, .nativeGrantsDisabled,
            .internalLoginDisabled, .registrationClosed, .deviceDenied:
            "access_denied"
        case .internalError, .logDamaged: "server_error"
        case .busy, .unavailable, .providerUnreachable, .contended, .positionNotReached,
            .passkeyUnavailable:
            "temporarily_unavailable"
        case .invalidRequest, .malformedJSON, .malformedForm, .missingField, .unknownField,
            .invalidField, .missingParameter, .unknownParameter, .repeatedParameter,
            .invalidParameter, .invalidFilter, .tooWide, .unexpectedBody, .bodyTooLarge,
            .malformedHost,
            .malformedForwarding, .invalidEnrollment, .invalidLink,
            .forwarderNotTrusted, .forwardedAddressRequired, .noTwoFactor, .noSuchInvite,
            .inviteUsed,
            .unknownHost, .noSuchRoute, .noSuchRealm,
            .noSuchHost, .noSuchApp, .noSuchClient, .noSuchKey, .noSuchPasskey, .noSuchEvent,
            .noSuchSubject, .noSuchCheckpoint, .noSuchRegistrationToken, .noSuchDevice,
            .noSuchAccount, .noSuchSession, .noSuchMail, .accountExists, .mailNotFailed,
            .noSuchNotification, .notificationNotFailed, .noSuchPushProvider, .noSuchMessageGateway,
            .noSuchWebhook, .noSuchFinding, .findingClosed,
            .tooManyWebhooks, .noSuchSubscription, .tooManySubscriptions, .subscriptionHeld,
            .cursorOutOfRange,
            .ownerOnboarded, .noSuchProvider, .identityTaken,
            .noSuchProblem, .noSuchEventType, .notImplemented, .methodNotAllowed, .realmExists,
            .reservedRealm, .configurationInvalid, .configurationChanged,
            .hostTaken,
            .appExists, .appInUse, .clientExists, .clientHasNoSecret, .positionLost,
            .noSuchSignalStream, .tooManySignalStreams, .askedTooOften, .noSuchCase, .caseNotReady,
            .invalidPolicy, .noSuchWhatIf, .whatIfNotReady, .whatIfGone,
            .caseGone, .noSuchBuild, .buildNotReady, .buildGone,
            .notAcceptable, .unsupportedMediaType,
            .idempotencyKeyReused:
            "invalid_request"
        }
    }
}
