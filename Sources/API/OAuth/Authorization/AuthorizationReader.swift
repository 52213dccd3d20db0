internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Checks what one client asks at the authorization endpoint.
struct AuthorizationReader: Sendable {
    let context: RealmContext
    let clientID: String
    let known: KnownClient

    var metadata: ClientMetadata { known.metadata }

    /// Where the client is told how it ends. Nothing goes to any other place, an error neither.
    func target(
        _ parameters: AuthorizationParameters
    ) throws(Problem) -> (AuthorizationTarget, isNamed: Bool) {
        guard !parameters.repeated.contains("redirect_uri") else {
            throw Problem(.invalidRequest, "redirect_uri is given more than once.")
        }
        let asked = parameters["redirect_uri"]
        let registered = metadata.redirectURIs
        // OAuth lets a client leave out the only place it has, OpenID Connect does not (Core section 3.1.2.1).
        let mayBeLeftOut =
            registered.count == 1
            && (metadata.rules.impliesOnlyRedirect
                || Scope.parse(parameters["scope"] ?? "")?.contains("openid") != true)
        guard let uri = asked ?? (mayBeLeftOut ? registered.first : nil) else {
            throw Problem(.invalidRequest, "redirect_uri is required.")
        }
        guard RedirectRule.leads(uri, to: registered) else {
            throw Problem(
                .invalidRequest, "redirect_uri is not one that the client was registered with.")
        }
        var target = AuthorizationTarget(redirectURI: uri, profile: metadata.profile)
        if let mode = parameters["response_mode"].flatMap(ResponseMode.init),
            mode.reaches(uri, of: metadata)
        {
            target.mode = mode
        }
        // The state goes back with every error, also an error in itself, as far as an address bears
        // it (RFC 6749 section 4.1.2.1).
        if let state = parameters["state"], Percent.encode(state).utf8.count > 6_000 {
            throw Problem(.invalidRequest, "state is too long.")
        }
        target.state = parameters["state"]
        return (target, asked != nil)
    }

    /// What a client asks, once it is known which words of the request count and where it is answered.
    func read(
        _ parameters: AuthorizationParameters, to target: AuthorizationTarget, isNamed: Bool
    ) async throws(AuthorizationRefusal) -> AuthorizationRequest {
        var asked = AuthorizationRequest(
            client: known.id, clientID: clientID, target: target, askedAt: context.clock.now())
        asked.namesRedirect = isNamed
        for check in AuthorizationCheck.all { try await check.look(self, parameters, &asked) }
        return asked
    }
}
