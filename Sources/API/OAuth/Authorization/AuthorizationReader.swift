internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
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

    func read(
        _ parameters: AuthorizationParameters, to target: AuthorizationTarget, isNamed: Bool
    ) async throws(AuthorizationRefusal) -> AuthorizationRequest {
        var asked: AuthorizationRequest
        do throws(AuthorizationFault) {
            try checkForm(parameters, target)
            asked = AuthorizationRequest(
                client: known.id, clientID: clientID, target: target,
                askedAt: context.clock.now())
            asked.namesRedirect = isNamed
            asked.challenge = try challenge(parameters)
            asked.key = try key(parameters)
            try readScope(parameters, into: &asked)
            try readTexts(parameters, into: &asked)
            try readPrompts(parameters, into: &asked)
            try readClaims(parameters, into: &asked)
        } catch {
            throw .sent(error, target)
        }
        // The demand of the client's own app, which its tokens are held to, goes before what the client would like.
        do throws(Problem) {
            let settings = try await RealmLookups(context).settings(
                ofApp: metadata.appID ?? context.place.app)
            if settings?[SettingCatalogue.signInLevel] == .multi {
                asked.levels = [AuthenticationLevel.multiple]
                asked.needsLevel = true
            }
        } catch {
            throw .told(error)
        }
        if let hint = parameters["id_token_hint"] {
            let found: HintedSignIn?
            do throws(Problem) { found = try await context.hinted(hint) } catch {
                throw .told(error)
            }
            guard let found, found.clientID == clientID else {
                throw .sent(
                    AuthorizationFault(
                        .invalidRequest, "id_token_hint is no ID token of this client."), target)
            }
            // Whom the two ask for cannot both be signed in (OpenID Connect Core section 5.5.1).
            if !asked.subjects.isEmpty, !asked.names(found.subject) {
                throw .sent(
                    AuthorizationFault(
                        .loginRequired, "id_token_hint and claims name different people."), target)
            }
            asked.subjects = [found.subject]
        }
        return asked
    }

    private func checkForm(
        _ parameters: AuthorizationParameters, _ target: AuthorizationTarget
    ) throws(AuthorizationFault) {
        guard parameters.repeated.isEmpty else {
            throw AuthorizationFault(.invalidRequest, "A parameter is given more than once.")
        }
        guard metadata.grantTypes.contains(.authorizationCode) else {
            throw AuthorizationFault(
                .unauthorizedClient, "The client may not use this endpoint.")
        }
        guard let type = parameters["response_type"] else {
            throw AuthorizationFault(.invalidRequest, "response_type is required.")
        }
        guard type == ResponseType.code.rawValue else {
            throw AuthorizationFault(
                .unsupportedResponseType, "response_type can only be code.")
        }
        if let mode = parameters["response_mode"] {
            guard ResponseMode(rawValue: mode) == target.mode else {
                throw AuthorizationFault(
                    .invalidRequest,
                    "There is no such response_mode for this client and redirect_uri.")
            }
        }
        if let state = target.state, !isShowable(state, atMost: 2048) {
            throw AuthorizationFault(.invalidRequest, "state is too long or not printable.")
        }
        if parameters["registration"] != nil {
            throw AuthorizationFault(
                .registrationNotSupported, "Clients do not register in a request.")
        }
    }

    /// RFC 9449 section 10.
    private func key(_ parameters: AuthorizationParameters) throws(AuthorizationFault) -> String? {
        guard let text = parameters["dpop_jkt"] else { return nil }
        guard Base64URL.decode(text)?.count == 32 else {
            throw AuthorizationFault(.invalidRequest, "dpop_jkt is no thumbprint of a key.")
        }
        return text
    }

    /// RFC 7636, and RFC 9700 section 2.1.1: a public client has no other proof.
    private func challenge(
        _ parameters: AuthorizationParameters
    ) throws(AuthorizationFault) -> SecretDigest? {
        let method = parameters["code_challenge_method"]
        guard let text = parameters["code_challenge"] else {
            guard metadata.authenticationMethod != .none else {
                throw AuthorizationFault(.invalidRequest, "code_challenge is required.")
            }
            guard method == nil else {
                throw AuthorizationFault(
                    .invalidRequest, "code_challenge_method comes without code_challenge.")
            }
            return nil
        }
        guard method == "S256" || method == "s256" && metadata.rules.looseChallenges else {
            throw AuthorizationFault(
                .invalidRequest, "code_challenge_method can only be S256.")
        }
        guard let digest = Base64URL.decode(text).flatMap({ SecretDigest($0) }) else {
            throw AuthorizationFault(
                .invalidRequest, "code_challenge is no SHA-256 in base64url.")
        }
        return digest
    }

    private func readScope(
        _ parameters: AuthorizationParameters, into asked: inout AuthorizationRequest
    ) throws(AuthorizationFault) {
        guard let names = Scope.parse(parameters["scope"] ?? ""),
            let scope = Scope.understood(names, by: metadata)
        else { throw AuthorizationFault(.invalidScope, "There is no such scope for this client.") }
        asked.scope = scope
        guard parameters.resources.count <= 8 else {
            throw AuthorizationFault(.invalidTarget, "There can be 8 resources at most.")
        }
        guard parameters.resources.allSatisfy(ResourceRule.isResource) else {
            throw AuthorizationFault(.invalidTarget, "A resource is no absolute URI.")
        }
        for resource in parameters.resources
        where !metadata.mayAsk(
            for: resource, context.place.settings, from: context.place.issuer)
        {
            throw AuthorizationFault(.invalidTarget, "The client may not ask for this resource.")
        }
        asked.resources = metadata.spelled(
            parameters.resources, context.place.settings, from: context.place.issuer)
    }

    private func readTexts(
        _ parameters: AuthorizationParameters, into asked: inout AuthorizationRequest
    ) throws(AuthorizationFault) {
        if let nonce = parameters["nonce"] {
            guard isShowable(nonce, atMost: 512) else {
                throw AuthorizationFault(.invalidRequest, "nonce is too long or not printable.")
            }
            asked.nonce = nonce
        }
        if let hint = parameters["login_hint"], isShowable(hint, atMost: 320) {
            asked.loginHint = hint
        }
        if let languages = parameters["ui_locales"], isShowable(languages, atMost: 200) {
            asked.languages = languages
        }
    }

    private func readPrompts(
        _ parameters: AuthorizationParameters, into asked: inout AuthorizationRequest
    ) throws(AuthorizationFault) {
        for word in (parameters["prompt"] ?? "").split(separator: " ") {
            guard let prompt = AuthorizationRequest.Prompt(rawValue: String(word)) else {
                throw AuthorizationFault(.invalidRequest, "There is no such prompt.")
            }
            asked.prompts.insert(prompt)
        }
        guard !asked.prompts.contains(.none) || asked.prompts.count == 1 else {
            throw AuthorizationFault(.invalidRequest, "prompt cannot be none and something else.")
        }
        guard let age = parameters["max_age"] else {
            asked.maximumAge = metadata.maximumAge
            return
        }
        guard age.utf8.count <= 10, age.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let seconds = Int64(age)
        else { throw AuthorizationFault(.invalidRequest, "max_age is no number of seconds.") }
        asked.maximumAge = seconds
    }

    private func readClaims(
        _ parameters: AuthorizationParameters, into asked: inout AuthorizationRequest
    ) throws(AuthorizationFault) {
        guard (parameters["acr_values"] ?? "").utf8.count <= Scope.longest else {
            throw AuthorizationFault(.invalidRequest, "acr_values is too long.")
        }
        asked.levels =
            parameters["acr_values"]?.split(separator: " ").prefix(16).map(String.init)
            ?? metadata.levels
        guard let text = parameters["claims"] else { return }
        guard let claims = RequestedClaims(text) else {
            throw AuthorizationFault(.invalidRequest, "claims cannot be read.")
        }
        let allowed = Scope.allowed(to: metadata)
        let isAllowed = { allowed.contains(RequestedClaims.scope(of: $0)) }
        asked.idTokenClaims = claims.idToken.filter(isAllowed)
        asked.userInfoClaims = claims.userInfo.filter(isAllowed)
        asked.subjects = claims.subjects
        if !claims.levels.isEmpty { asked.levels = claims.levels }
        asked.needsLevel = claims.needsLevel
    }

    private func isShowable(_ text: String, atMost limit: Int) -> Bool {
        text.utf8.count <= limit
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
