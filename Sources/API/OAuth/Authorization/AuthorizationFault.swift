/// What a client is told at its redirect URI when its request comes to nothing (RFC 6749 section
/// 4.1.2.1, OpenID Connect Core section 3.1.2.6, RFC 9101 section 6).
struct AuthorizationFault: Error, Equatable {
    enum Code: String {
        case invalidRequest = "invalid_request"
        case unauthorizedClient = "unauthorized_client"
        case accessDenied = "access_denied"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case invalidTarget = "invalid_target"
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case accountSelectionRequired = "account_selection_required"
        case unmetAuthentication = "unmet_authentication_requirements"
        case invalidRequestURI = "invalid_request_uri"
        case invalidRequestObject = "invalid_request_object"
        case requestURINotSupported = "request_uri_not_supported"
        case registrationNotSupported = "registration_not_supported"
    }

    let code: Code
    /// In words of ours alone: nothing of the request is in it.
    let sentence: String

    init(_ code: Code, _ sentence: StaticString) {
        self.code = code
        self.sentence = sentence.description
    }
}

/// Where the end of a request is told: to the client, or to the person, where no place is known that
/// is the client's for sure.
enum AuthorizationRefusal: Error {
    case told(Problem)
    case sent(AuthorizationFault, AuthorizationTarget)
    /// To the person, who may go on to an unchecked client.
    case held(AuthorizationFault, AuthorizationTarget)
}
