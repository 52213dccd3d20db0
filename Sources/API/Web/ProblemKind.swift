public import HTTP

/// Every reason for which a request may be refused. The raw value is part of the problem's type
/// (`/problems/<raw value>`): once published, it never changes its meaning.
public enum ProblemKind: String, CaseIterable, Sendable {
    case malformedJSON = "malformed-json"
    case malformedForm = "malformed-form"
    case missingField = "missing-field"
    case unknownField = "unknown-field"
    case invalidField = "invalid-field"
    case missingParameter = "missing-parameter"
    case unknownParameter = "unknown-parameter"
    case repeatedParameter = "repeated-parameter"
    case invalidParameter = "invalid-parameter"
    case invalidFilter = "invalid-filter"
    case tooWide = "too-wide"
    case invalidPolicy = "invalid-policy"
    case configurationInvalid = "configuration-invalid"
    case unexpectedBody = "unexpected-body"
    case bodyTooLarge = "body-too-large"
    case malformedHost = "malformed-host"
    case malformedForwarding = "malformed-forwarding"

    case unauthenticated = "unauthenticated"
    case reauthenticationRequired = "reauthentication-required"
    case forbidden = "forbidden"

    case foreignForm = "foreign-form"
    case invalidRequest = "invalid-request"
    case invalidClient = "invalid-client"
    case invalidGrant = "invalid-grant"
    case unauthorizedClient = "unauthorized-client"
    case unsupportedGrantType = "unsupported-grant-type"
    case unsupportedTokenType = "unsupported-token-type"
    case invalidScope = "invalid-scope"
    case invalidTarget = "invalid-target"
    case invalidToken = "invalid-token"
    case insufficientScope = "insufficient-scope"
    case mfaRequired = "mfa-required"

    case invalidProof = "invalid-proof"
    case nonceNeeded = "nonce-needed"
    case unprovenToken = "unproven-token"
    case proofRefused = "proof-refused"
    case proofNonceNeeded = "proof-nonce-needed"

    case authorizationPending = "authorization-pending"
    case slowDown = "slow-down"
    case expiredDeviceCode = "expired-device-code"
    case deviceDenied = "device-denied"
    case noSuchDevice = "no-such-device"

    case insufficientAuthorization = "insufficient-authorization"
    case invalidAuthSession = "invalid-auth-session"

    case registrationClosed = "registration-closed"
    case invalidRedirectURI = "invalid-redirect-uri"
    case invalidClientMetadata = "invalid-client-metadata"
    case invalidSoftwareStatement = "invalid-software-statement"
    case unapprovedSoftwareStatement = "unapproved-software-statement"

    case nativeGrantsDisabled = "native-grants-disabled"
    case internalLoginDisabled = "internal-login-disabled"
    case passkeyUnavailable = "passkey-unavailable"
    case invalidEnrollment = "invalid-enrollment"
    case invalidLink = "invalid-link"
    case forwarderNotTrusted = "forwarder-not-trusted"
    case forwardedAddressRequired = "forwarded-address-required"
    case noTwoFactor = "no-two-factor"

    case unknownHost = "unknown-host"
    case realmClosed = "realm-closed"
    case rateLimited = "rate-limited"
    case tooManyFeeds = "too-many-feeds"
    case tooManyCases = "too-many-cases"
    case tooManyWhatIfs = "too-many-what-ifs"
    case tooManyBuilds = "too-many-builds"

    case noSuchRoute = "no-such-route"
    case noSuchRealm = "no-such-realm"
    case noSuchHost = "no-such-host"
    case noSuchApp = "no-such-app"
    case noSuchClient = "no-such-client"
    case noSuchAccount = "no-such-account"
    case noSuchSession = "no-such-session"
    case noSuchMail = "no-such-mail"
    case noSuchNotification = "no-such-notification"
    case noSuchPushProvider = "no-such-push-provider"
    case noSuchMessageGateway = "no-such-message-gateway"
    case noSuchWebhook = "no-such-webhook"
    case noSuchSubscription = "no-such-subscription"
    case tooManySubscriptions = "too-many-subscriptions"
    case tooManyWebhooks = "too-many-webhooks"
    case noSuchFinding = "no-such-finding"
    case findingClosed = "finding-closed"
    case noSuchKey = "no-such-key"
    case noSuchInvite = "no-such-invite"
    case noSuchRegistrationToken = "no-such-registration-token"
    case noSuchPasskey = "no-such-passkey"
    case noSuchProvider = "no-such-provider"
    case noSuchEvent = "no-such-event"
    case noSuchSubject = "no-such-subject"
    case noSuchCheckpoint = "no-such-checkpoint"
    case noSuchSignalStream = "no-such-signal-stream"
    case noSuchCase = "no-such-case"
    case noSuchWhatIf = "no-such-what-if"
    case noSuchBuild = "no-such-build"
    case noSuchProblem = "no-such-problem"
    case noSuchEventType = "no-such-event-type"

    case methodNotAllowed = "method-not-allowed"
    case notImplemented = "not-implemented"

    case realmExists = "realm-exists"
    case realmDisabled = "realm-disabled"
    case configurationChanged = "configuration-changed"
    case reservedRealm = "reserved-realm"
    case hostTaken = "host-taken"
    case appExists = "app-exists"
    case appInUse = "app-in-use"
    case inviteUsed = "invite-used"
    case clientExists = "client-exists"
    case clientHasNoSecret = "client-has-no-secret"
    case accountExists = "account-exists"
    case ownerOnboarded = "owner-onboarded"
    case identityTaken = "identity-taken"
    case mailNotFailed = "mail-not-failed"
    case notificationNotFailed = "notification-not-failed"
    case positionLost = "position-lost"
    case subscriptionHeld = "held"
    case cursorOutOfRange = "cursor-out-of-range"
    case tooManySignalStreams = "too-many-signal-streams"

    case caseNotReady = "case-not-ready"
    case caseGone = "case-gone"
    case whatIfNotReady = "what-if-not-ready"
    case whatIfGone = "what-if-gone"
    case buildNotReady = "build-not-ready"
    case buildGone = "build-gone"

    case askedTooOften = "asked-too-often"

    case notAcceptable = "not-acceptable"

    case unsupportedMediaType = "unsupported-media-type"

    case idempotencyKeyReused = "idempotency-key-reused"

    case internalError = "internal-error"
    case logDamaged = "log-damaged"

    case busy = "busy"
    case unavailable = "unavailable"
    case providerUnreachable = "provider-unreachable"
    case contended = "contended"
    case positionNotReached = "position-not-reached"
}

extension ProblemKind {
    public var type: String { "/problems/\(rawValue)" }

    public var status: Status {
        switch self {
        case .malformedJSON, .malformedForm, .missingField, .unknownField, .invalidField,
            .missingParameter, .unknownParameter, .repeatedParameter, .invalidParameter,
            .invalidFilter, .invalidPolicy, .configurationInvalid, .unexpectedBody, .malformedHost,
            .malformedForwarding,
            .invalidRequest,
            .invalidGrant,
            .unauthorizedClient, .unsupportedGrantType, .unsupportedTokenType, .invalidScope,
            .invalidTarget, .mfaRequired, .nativeGrantsDisabled, .invalidEnrollment,
            .forwarderNotTrusted, .forwardedAddressRequired, .insufficientAuthorization,
            .invalidAuthSession,
            .authorizationPending, .slowDown, .expiredDeviceCode, .deviceDenied,
            .invalidProof, .nonceNeeded, .invalidRedirectURI, .invalidClientMetadata,
            .invalidSoftwareStatement,
            .unapprovedSoftwareStatement:
            .badRequest
        case .unauthenticated, .invalidClient, .invalidToken, .invalidLink,
            .reauthenticationRequired,
            .unprovenToken, .proofRefused, .proofNonceNeeded:
            .unauthorized
        case .forbidden, .foreignForm, .insufficientScope, .internalLoginDisabled, .realmClosed,
            .registrationClosed:
            .forbidden
        case .bodyTooLarge: .contentTooLarge
        case .rateLimited, .tooManyFeeds, .tooManyCases, .tooManyWhatIfs, .tooManyBuilds,
            .askedTooOften:
            .tooManyRequests
        case .caseGone, .whatIfGone, .buildGone: .gone
        case .unknownHost, .noSuchRoute, .noSuchRealm, .noSuchHost, .noSuchApp, .noSuchClient,
            .noSuchKey, .noSuchInvite, .noTwoFactor, .noSuchPasskey, .noSuchAccount, .noSuchSession,
            .noSuchMail, .noSuchNotification, .noSuchPushProvider, .noSuchMessageGateway,
            .noSuchWebhook,
            .noSuchSubscription, .noSuchFinding,
            .noSuchRegistrationToken,
            .noSuchDevice, .noSuchProvider,
            .noSuchEvent, .noSuchSubject, .noSuchCheckpoint, .noSuchSignalStream, .noSuchProblem,
            .noSuchEventType, .noSuchCase, .noSuchWhatIf, .noSuchBuild:
            .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .notImplemented: .notImplemented
        case .realmExists, .realmDisabled, .reservedRealm, .hostTaken, .appExists, .appInUse,
            .inviteUsed,
            .clientExists, .clientHasNoSecret, .accountExists, .ownerOnboarded, .mailNotFailed,
            .findingClosed,
            .notificationNotFailed, .positionLost, .identityTaken, .tooManyWebhooks,
            .tooManySignalStreams, .tooManySubscriptions, .subscriptionHeld, .cursorOutOfRange,
            .caseNotReady, .whatIfNotReady, .buildNotReady, .configurationChanged:
            .conflict
        case .notAcceptable: .notAcceptable
        case .unsupportedMediaType: .unsupportedMediaType
        case .idempotencyKeyReused, .tooWide: .unprocessable
        case .internalError, .logDamaged: .internalError
        case .busy, .unavailable, .providerUnreachable, .contended, .positionNotReached,
            .passkeyUnavailable:
            .serviceUnavailable
        }
    }

    /// One short sentence that is the same for every problem of this kind.
    public var title: String {
        switch self {
        case .malformedJSON: "The body is not JSON as Urd reads it."
        case .malformedForm: "The body is not a form as Urd reads it."
        case .missingField: "A required member is missing."
        case .unknownField: "The body has a member that this operation does not know."
        case .invalidField: "A member has a value that it cannot have."
        case .missingParameter: "A required parameter is missing."
        case .unknownParameter: "The query has a parameter that this operation does not know."
        case .repeatedParameter: "A parameter is given more than once."
        case .invalidParameter: "A parameter has a value that it cannot have."
        case .invalidFilter: "The filter cannot be read."
        case .invalidPolicy: "The policy cannot be read."
        case .configurationInvalid: "The configuration has an error, and nothing was changed."
        case .configurationChanged: "The realm has changed since the configuration was planned."
        case .tooWide: "Nothing was found in the time that there is."
        case .unexpectedBody: "This operation takes no body."
        case .bodyTooLarge: "The body is too large."
        case .malformedHost: "The request does not say in a readable way which host it is for."
        case .malformedForwarding: "A proxy's account of the request cannot be read."
        case .foreignForm: "The form is not of a page that this browser was just shown."
        case .invalidRequest: "The request cannot be understood."
        case .invalidClient: "The client is unknown, or has not shown that it is the one."
        case .invalidGrant: "The grant (a code, token or assertion) is invalid, expired or used."
        case .unauthorizedClient: "The client may not do this."
        case .unsupportedGrantType: "There is no such grant here."
        case .unsupportedTokenType: "There are no such tokens here."
        case .invalidScope: "The scope is not known, or goes beyond what was granted."
        case .invalidTarget: "The resource is not known, or not one for this client."
        case .invalidToken: "The access token is not valid, or is no longer."
        case .insufficientScope: "The access token does not reach that far."
        case .mfaRequired: "Another factor is needed, which only a browser can ask for."
        case .invalidProof, .proofRefused: "The proof of a key is not valid, or was used before."
        case .nonceNeeded, .proofNonceNeeded:
            "The proof of a key needs the number that is given with this answer."
        case .unprovenToken: "The access token needs a proof of the key that it is bound to."
        case .authorizationPending: "The user has not decided yet."
        case .slowDown: "The device polled again too soon."
        case .expiredDeviceCode: "The device has waited too long."
        case .deviceDenied: "The user denied the device access."
        case .noSuchDevice: "No device waits under this code."
        case .insufficientAuthorization: "The request needs another credential or factor."
        case .invalidAuthSession: "The session is over, or is another client's."
        case .registrationClosed: "Clients do not register themselves here."
        case .invalidRedirectURI: "A redirect URI is not one that may be used."
        case .invalidClientMetadata: "A client can't be as it says of itself."
        case .invalidSoftwareStatement: "The software statement is missing, or not valid."
        case .unapprovedSoftwareStatement: "The issuer of the software statement is not trusted."
        case .nativeGrantsDisabled: "Signing in without a browser is not enabled here."
        case .internalLoginDisabled: "People sign in elsewhere here."
        case .passkeyUnavailable: "Passkeys need a domain, which is not set here."
        case .invalidLink: "Invalid or expired link"
        case .forwarderNotTrusted: "The sender is not trusted to forward client addresses."
        case .forwardedAddressRequired: "The client has to say where the request comes from."
        case .invalidEnrollment: "The enrolment is not valid, or is no longer."
        case .noTwoFactor: "The account has no authenticator app."
        case .unknownHost: "No realm answers at this host."
        case .realmClosed: "The realm of this host is disabled."
        case .rateLimited: "Too much was asked in too short a time."
        case .tooManyFeeds: "The key has as many feeds open as it may have."
        case .unauthenticated: "This needs a valid key or token."
        case .reauthenticationRequired: "The operation needs a recent sign-in."
        case .forbidden: "The caller has no permission for this."
        case .noSuchRoute: "There is nothing at this path."
        case .noSuchRealm: "There is no such realm."
        case .noSuchHost: "The realm has no such host."
        case .noSuchApp: "The realm has no such app."
        case .noSuchClient: "The realm has no such client."
        case .noSuchInvite: "There is no such invite."
        case .noSuchRegistrationToken: "There is no such registration token."
        case .noSuchAccount: "The realm has no such account."
        case .noSuchSession: "There is no such session."
        case .noSuchMail: "There is no such mail."
        case .noSuchNotification: "There is no such notification."
        case .noSuchPushProvider: "The realm has no such provider."
        case .noSuchMessageGateway: "The realm has no gateway for such messages."
        case .noSuchWebhook: "The realm has no such webhook."
        case .noSuchSubscription: "The realm has no such subscription."
        case .tooManySubscriptions: "The realm has as many subscriptions as it may have."
        case .tooManyWebhooks: "The realm has as many webhooks as it may have."
        case .noSuchFinding: "The realm has no such finding."
        case .findingClosed: "The finding is closed already."
        case .noSuchKey: "There is no such admin key."
        case .noSuchPasskey: "The account has no such passkey."
        case .noSuchEvent: "The log has no event at this position."
        case .noSuchSubject: "No event of the realm is sealed under this subject."
        case .noSuchCheckpoint: "The log has not been sealed that far yet."
        case .noSuchSignalStream: "The client has no such stream."
        case .noSuchCase: "The realm has no such case file."
        case .tooManyCases: "The realm has as many case files in the making as it may have."
        case .caseNotReady: "The case file is not made yet, or cannot be."
        case .caseGone: "The case file is handed out no more."
        case .noSuchWhatIf: "The realm has no such what-if."
        case .tooManyWhatIfs: "The realm tries as many policies as it may."
        case .whatIfNotReady: "The policy is not tried yet, or cannot be."
        case .whatIfGone: "The result is handed out no more."
        case .noSuchBuild: "The realm was not asked for as of a moment by this id."
        case .tooManyBuilds: "The realm is kept as of as many moments as it may be."
        case .buildNotReady: "The realm as of the moment is not built yet, or cannot be."
        case .buildGone: "The realm as of the moment is not kept any more."
        case .noSuchProblem: "There is no such kind of problem."
        case .noSuchEventType: "There is no such event type, or no such revision of it."
        case .notImplemented: "There is no such service here."
        case .methodNotAllowed: "This path does not know the method."
        case .realmExists: "A realm of this name exists."
        case .realmDisabled: "The realm is disabled."
        case .reservedRealm: "The realm's name belongs to Urd itself."
        case .hostTaken: "The host belongs to a realm."
        case .inviteUsed: "The invite has already been used."
        case .appExists: "An app of this name exists."
        case .appInUse: "Clients belong to the app."
        case .clientExists: "A client of this id exists."
        case .clientHasNoSecret: "The client has no secret."
        case .accountExists: "The mail address belongs to an account."
        case .ownerOnboarded: "The owner has taken the realm over."
        case .noSuchProvider: "The realm has no such provider, or no account is linked to it."
        case .identityTaken: "It signs in to another account."
        case .mailNotFailed: "The mail is sent, or still on its way."
        case .notificationNotFailed: "The notification is sent, or still on its way."
        case .tooManySignalStreams: "The client has as many streams as it may have."
        case .askedTooOften: "The request was repeated too soon, or asked for too much."
        case .subscriptionHeld: "Another reader has the subscription."
        case .cursorOutOfRange: "The cursor is not between what was confirmed and what was sent."
        case .positionLost: "The position is of another log, or of an earlier life of this one."
        case .notAcceptable: "This is not there in any type that the request accepts."
        case .unsupportedMediaType: "The body must be of the type that is described."
        case .idempotencyKeyReused: "The idempotency key was used for another request."
        case .internalError: "Something is wrong on our side."
        case .logDamaged: "The log holds something that cannot be read."
        case .busy: "Too many requests are under way at once."
        case .unavailable: "The database cannot be used now."
        case .providerUnreachable: "The provider does not answer, or not as a provider does."
        case .contended: "Others keep changing the same thing."
        case .positionNotReached: "The list is behind what was asked for; ask again in a moment."
        }
    }
}
