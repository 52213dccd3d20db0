internal import Identity
internal import Values

/// A check of an authorization request. It refuses the request, or writes down what the client wants.
struct AuthorizationCheck: Sendable {
    typealias Reading =
        @Sendable (
            AuthorizationReader, AuthorizationParameters, inout AuthorizationRequest
        ) throws(AuthorizationFault) -> Void
    typealias Look =
        @Sendable (
            AuthorizationReader, AuthorizationParameters, inout AuthorizationRequest
        ) async throws(AuthorizationRefusal) -> Void

    /// The parameter, or the setting.
    let name: String
    let specification: String
    let look: Look

    init(_ name: String, _ specification: String, looking look: @escaping Look) {
        self.name = name
        self.specification = specification
        self.look = look
    }

    /// A check of the words of the request alone.
    init(_ name: String, _ specification: String, _ read: @escaping Reading) {
        self.init(
            name, specification,
            looking: { reader, parameters, asked throws(AuthorizationRefusal) in
                do throws(AuthorizationFault) { try read(reader, parameters, &asked) } catch {
                    throw .sent(error, asked.target)
                }
            })
    }
}

extension AuthorizationCheck {
    /// The checks of every request, at the authorization endpoint and of one that is pushed. The first that fails is
    /// answered. What comes before them is looked at where it comes in: the client, the request object
    /// (`RequestObject.swift`), the redirect URI (`AuthorizationReader.target`).
    static let all = [
        repeated, grantTypes, responseType, responseMode, state, registration, codeChallenge,
        keyThumbprint, scope, resource, nonce, hints, prompt, maximumAge, levels, claims,
        signInLevel, idTokenHint,
    ]

    private static let repeated = AuthorizationCheck("parameters", "RFC 6749 section 3.1") {
        _, parameters, _ throws(AuthorizationFault) in
        guard parameters.repeated.isEmpty else {
            throw AuthorizationFault(.invalidRequest, "A parameter is given more than once.")
        }
    }

    private static let grantTypes = AuthorizationCheck("grant_types", "RFC 7591 section 2") {
        reader, _, _ throws(AuthorizationFault) in
        guard reader.metadata.grantTypes.contains(.authorizationCode) else {
            throw AuthorizationFault(.unauthorizedClient, "The client may not use this endpoint.")
        }
    }

    private static let responseType = AuthorizationCheck("response_type", "RFC 6749 section 3.1.1")
    {
        _, parameters, _ throws(AuthorizationFault) in
        guard let type = parameters["response_type"] else {
            throw AuthorizationFault(.invalidRequest, "response_type is required.")
        }
        guard type == ResponseType.code.rawValue else {
            throw AuthorizationFault(.unsupportedResponseType, "response_type can only be code.")
        }
    }

    private static let responseMode = AuthorizationCheck(
        "response_mode", "OAuth 2.0 Multiple Response Types section 2.1"
    ) {
        _, parameters, asked throws(AuthorizationFault) in
        if let mode = parameters["response_mode"], ResponseMode(rawValue: mode) != asked.target.mode
        {
            throw AuthorizationFault(
                .invalidRequest, "There is no such response_mode for this client and redirect_uri.")
        }
    }

    private static let state = AuthorizationCheck("state", "RFC 6749 section 4.1.1") {
        _, _, asked throws(AuthorizationFault) in
        if let state = asked.target.state, !isShowable(state, atMost: 2048) {
            throw AuthorizationFault(.invalidRequest, "state is too long or not printable.")
        }
    }

    private static let registration = AuthorizationCheck(
        "registration", "OpenID Connect Core section 7.2.1"
    ) {
        _, parameters, _ throws(AuthorizationFault) in
        if parameters["registration"] != nil {
            throw AuthorizationFault(
                .registrationNotSupported, "Clients do not register in a request.")
        }
    }

    /// RFC 9700 section 2.1.1: a public client has no other proof.
    private static let codeChallenge = AuthorizationCheck("code_challenge", "RFC 7636 section 4.3")
    {
        reader, parameters, asked throws(AuthorizationFault) in
        let method = parameters["code_challenge_method"]
        guard let text = parameters["code_challenge"] else {
            guard reader.metadata.authenticationMethod != .none else {
                throw AuthorizationFault(.invalidRequest, "code_challenge is required.")
            }
            guard method == nil else {
                throw AuthorizationFault(
                    .invalidRequest, "code_challenge_method comes without code_challenge.")
            }
            return
        }
        guard method == "S256" || method == "s256" && reader.metadata.rules.looseChallenges else {
            throw AuthorizationFault(.invalidRequest, "code_challenge_method can only be S256.")
        }
        guard let digest = Base64URL.decode(text).flatMap({ SecretDigest($0) }) else {
            throw AuthorizationFault(.invalidRequest, "code_challenge is no SHA-256 in base64url.")
        }
        asked.challenge = digest
    }

    private static let keyThumbprint = AuthorizationCheck("dpop_jkt", "RFC 9449 section 10") {
        _, parameters, asked throws(AuthorizationFault) in
        guard let text = parameters["dpop_jkt"] else { return }
        guard Base64URL.decode(text)?.count == 32 else {
            throw AuthorizationFault(.invalidRequest, "dpop_jkt is no thumbprint of a key.")
        }
        asked.key = text
    }

    private static let scope = AuthorizationCheck("scope", "RFC 6749 section 3.3") {
        reader, parameters, asked throws(AuthorizationFault) in
        guard let names = Scope.parse(parameters["scope"] ?? ""),
            let scope = Scope.understood(names, by: reader.metadata)
        else { throw AuthorizationFault(.invalidScope, "There is no such scope for this client.") }
        asked.scope = scope
    }

    private static let resource = AuthorizationCheck("resource", "RFC 8707 section 2") {
        reader, parameters, asked throws(AuthorizationFault) in
        let (metadata, place) = (reader.metadata, reader.context.place)
        guard parameters.resources.count <= 8 else {
            throw AuthorizationFault(.invalidTarget, "There can be 8 resources at most.")
        }
        guard parameters.resources.allSatisfy(ResourceRule.isResource) else {
            throw AuthorizationFault(.invalidTarget, "A resource is no absolute URI.")
        }
        for resource in parameters.resources
        where !metadata.mayAsk(for: resource, place.settings, from: place.issuer) {
            throw AuthorizationFault(.invalidTarget, "The client may not ask for this resource.")
        }
        asked.resources = metadata.spelled(parameters.resources, place.settings, from: place.issuer)
    }

    private static let nonce = AuthorizationCheck("nonce", "OpenID Connect Core section 3.1.2.1") {
        _, parameters, asked throws(AuthorizationFault) in
        guard let nonce = parameters["nonce"] else { return }
        guard isShowable(nonce, atMost: 512) else {
            throw AuthorizationFault(.invalidRequest, "nonce is too long or not printable.")
        }
        asked.nonce = nonce
    }

    /// A hint that cannot be shown is passed over.
    private static let hints = AuthorizationCheck(
        "login_hint, ui_locales", "OpenID Connect Core section 3.1.2.1"
    ) {
        _, parameters, asked throws(AuthorizationFault) in
        if let hint = parameters["login_hint"], isShowable(hint, atMost: 320) {
            asked.loginHint = hint
        }
        if let languages = parameters["ui_locales"], isShowable(languages, atMost: 200) {
            asked.languages = languages
        }
    }

    private static let prompt = AuthorizationCheck("prompt", "OpenID Connect Core section 3.1.2.1")
    {
        _, parameters, asked throws(AuthorizationFault) in
        for word in (parameters["prompt"] ?? "").split(separator: " ") {
            guard let prompt = AuthorizationRequest.Prompt(rawValue: String(word)) else {
                throw AuthorizationFault(.invalidRequest, "There is no such prompt.")
            }
            asked.prompts.insert(prompt)
        }
        guard !asked.prompts.contains(.none) || asked.prompts.count == 1 else {
            throw AuthorizationFault(.invalidRequest, "prompt cannot be none and something else.")
        }
    }

    private static let maximumAge = AuthorizationCheck(
        "max_age", "OpenID Connect Core section 3.1.2.1"
    ) {
        reader, parameters, asked throws(AuthorizationFault) in
        guard let age = parameters["max_age"] else {
            asked.maximumAge = reader.metadata.maximumAge
            return
        }
        guard age.utf8.count <= 10, age.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let seconds = Int64(age)
        else { throw AuthorizationFault(.invalidRequest, "max_age is no number of seconds.") }
        asked.maximumAge = seconds
    }

    private static let levels = AuthorizationCheck(
        "acr_values", "OpenID Connect Core section 3.1.2.1"
    ) {
        reader, parameters, asked throws(AuthorizationFault) in
        guard (parameters["acr_values"] ?? "").utf8.count <= Scope.longest else {
            throw AuthorizationFault(.invalidRequest, "acr_values is too long.")
        }
        asked.levels =
            parameters["acr_values"]?.split(separator: " ").prefix(16).map(String.init)
            ?? reader.metadata.levels
    }

    private static let claims = AuthorizationCheck("claims", "OpenID Connect Core section 5.5") {
        reader, parameters, asked throws(AuthorizationFault) in
        guard let text = parameters["claims"] else { return }
        guard let claims = RequestedClaims(text) else {
            throw AuthorizationFault(.invalidRequest, "claims cannot be read.")
        }
        let allowed = Scope.allowed(to: reader.metadata)
        let isAllowed = { allowed.contains(RequestedClaims.scope(of: $0)) }
        asked.idTokenClaims = claims.idToken.filter(isAllowed)
        asked.userInfoClaims = claims.userInfo.filter(isAllowed)
        asked.subjects = claims.subjects
        if !claims.levels.isEmpty { asked.levels = claims.levels }
        asked.needsLevel = claims.needsLevel
    }

    /// The demand of the client's own app, which its tokens are held to, goes before what the client would like.
    private static let signInLevel = AuthorizationCheck(
        "sign_in_level", "a setting of the realm and its apps",
        looking: {
            reader, _, asked throws(AuthorizationRefusal) in
            let settings: Settings?
            do throws(Problem) {
                settings = try await RealmLookups(reader.context).settings(
                    ofApp: reader.metadata.appID ?? reader.context.place.app)
            } catch {
                throw .told(error)
            }
            guard settings?[SettingCatalogue.signInLevel] == .multi else { return }
            asked.levels = [AuthenticationLevel.multiple]
            asked.needsLevel = true
        })

    private static let idTokenHint = AuthorizationCheck(
        "id_token_hint", "OpenID Connect Core section 3.1.2.1",
        looking: {
            reader, parameters, asked throws(AuthorizationRefusal) in
            guard let hint = parameters["id_token_hint"] else { return }
            let found: HintedSignIn?
            do throws(Problem) { found = try await reader.context.hinted(hint) } catch {
                throw .told(error)
            }
            guard let found, found.clientID == reader.clientID else {
                throw .sent(
                    AuthorizationFault(
                        .invalidRequest, "id_token_hint is no ID token of this client."),
                    asked.target)
            }
            // Whom the two ask for cannot both be signed in (OpenID Connect Core section 5.5.1).
            if !asked.subjects.isEmpty, !asked.names(found.subject) {
                throw .sent(
                    AuthorizationFault(
                        .loginRequired, "id_token_hint and claims name different people."),
                    asked.target)
            }
            asked.subjects = [found.subject]
        })

    private static func isShowable(_ text: String, atMost limit: Int) -> Bool {
        text.utf8.count <= limit
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
