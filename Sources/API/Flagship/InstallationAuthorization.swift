internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What an installation asks a realm's owner for on a page.
struct InstallationAuthorization: Sendable {
    let id: UUID
    let client: Client
    let state: String
    let redirect: String
    let scope: [String]
    let challenge: SecretDigest?
    /// As it came, without the session code.
    let pairs: [(name: String, value: String)]

    var asksEverything: Bool { scope.contains(Installation.scope) }

    /// The page that asks, as a place of this site.
    var place: String { "\(InstallationAuthorizeRoutes.path)?\(Form.encode(pairs))" }

    /// Where the browser goes with the code, which the apps look for under two names.
    func answer(code: String) -> String {
        let query = Form.encode([("access_code", code), ("code", code), ("state", state)])
        return redirect + (redirect.utf8.contains(0x3F) ? "&" : "?") + query + "#"
    }

    var refusal: String {
        let query = Form.encode([("error", "access_denied"), ("state", state)])
        return redirect + (redirect.utf8.contains(0x3F) ? "&" : "?") + query + "#"
    }

    static let names = [
        "state", "client_id", "redirect_uri", "response_type", "scope", "code_challenge",
        "code_challenge_method",
    ]
    static let longest = 2_048
}

extension Call<RealmContext> {
    /// Reads the request from the query or the form. An invalid request never redirects, which
    /// would be an open redirect: its redirect URI is not verified yet.
    func installationAuthorization(
        _ value: (String) -> String?
    ) async throws(Problem) -> InstallationAuthorization {
        var pairs: [(name: String, value: String)] = []
        var known: [String: String] = [:]
        for name in InstallationAuthorization.names {
            guard let text = value(name), !text.isEmpty else { continue }
            pairs.append((name, text))
            known[name] = text
        }
        for name in ["state", "client_id", "redirect_uri", "response_type"]
        where known[name] == nil {
            throw Problem(.invalidRequest, "The \(name) parameter is mandatory")
        }
        guard known["response_type"] == "code" else {
            throw Problem(.invalidRequest, "Invalid response type")
        }
        guard let (id, client) = try await installation(known["client_id"]) else {
            throw Problem(.invalidRequest, "The client must be registered")
        }
        let redirect = known["redirect_uri"] ?? ""
        guard
            client.metadata?.redirectURIs.contains(where: { $0.utf8.elementsEqual(redirect.utf8) })
                == true
        else { throw Problem(.invalidRequest, "The redirect_uri parameter is invalid") }
        if known["scope"] == nil, let linked = try await linkedScope(of: client) {
            pairs.append(("scope", linked))
            known["scope"] = linked
        }
        guard let scope = Scope.parse(known["scope"] ?? ""), !scope.isEmpty else {
            throw Problem(.invalidRequest, "The scope parameter is invalid")
        }
        var challenge: SecretDigest?
        if let text = known["code_challenge"] {
            guard known["code_challenge_method"] == "S256",
                let digest = Base64URL.decode(text).flatMap({ SecretDigest($0) })
            else { throw Problem(.invalidRequest, "The code challenge is invalid") }
            challenge = digest
        } else if known["code_challenge_method"] != nil {
            throw Problem(.invalidRequest, "The code challenge is mandatory")
        }
        let asked = InstallationAuthorization(
            id: id, client: client, state: known["state"] ?? "", redirect: redirect, scope: scope,
            challenge: challenge, pairs: pairs)
        // A client that asks for every permission has to use PKCE.
        guard !asked.asksEverything || (challenge != nil && scope == [Installation.scope]) else {
            throw Problem(.invalidRequest, "PKCE is mandatory")
        }
        return asked
    }

    /// What the web app may that an installation says it belongs to.
    private func linkedScope(of client: Client) async throws(Problem) -> String? {
        guard let slug = client.metadata?.softwareID.flatMap(NotificationScope.slug) else {
            return nil
        }
        let found = try await context.ask(WebAppView.bySlug, (slug, .app))
        return found.map { $0.card.permissions.joined(separator: " ") }
    }

    /// A code for what the owner allowed. Nil where the realm lets in no more installations.
    func authorizationCode(
        _ asked: InstallationAuthorization, _ browser: SignedInBrowser
    ) async throws(Problem) -> String? {
        let refusal = try await Commands(self).attempt(
            AdmitInstallation(
                installation: asked.id, account: browser.subject, mail: context.newID(),
                now: context.clock.now()), as: .browser(browser))
        switch refusal {
        case nil: break
        case .full?: return nil
        case let refusal?: throw refusal.problem
        }
        guard let redirect = SecretDigest.of(asked.redirect) else { throw Problem(.internalError) }
        var code = AuthorizationCode(
            id: context.newID(), client: asked.id, account: browser.subject, browser: browser.id,
            redirect: redirect, challenge: asked.challenge, scope: asked.scope,
            authenticatedAt: browser.authenticatedAt,
            factors: browser.methods.compactMap(AuthenticationFactor.init),
            expiresAt: context.clock.now().adding(seconds: 300))
        code.removals = browser.removals
        guard let text = context.mint.authorizationCode(code) else { throw Problem(.internalError) }
        return text
    }

    /// Mails the owner a code for an installation; what its page sends back with it.
    func requestCertification(of id: UUID) async throws(Problem) -> String {
        try RateCounter(self).countRealm(.certification)
        let code = context.newID()
        let stream = MailedCode.stream(of: id, .certification)
        guard
            let digest = context.mint.digest(ofMailedCode: context.mint.code(code), in: stream)
        else { throw Problem(.internalError) }
        let refusal = try await Commands(self).attempt(
            RequestCertification(
                installation: id, code: code, digest: digest, now: context.clock.now()),
            as: .installation(id))
        if let refusal { throw refusal.problem }
        return context.mint.mailedCodeToken(code)
    }

    /// Whether what the user typed certifies an installation.
    func certify(
        _ id: UUID, token: String, digits: String
    ) async throws(Problem) -> Bool {
        try RateCounter(self).countRealm(.certification)
        let stream = MailedCode.stream(of: id, .certification)
        guard let code = context.mint.readMailedCodeToken(token) else { return false }
        let shown = context.mint.shown { $0.digest(ofMailedCode: digits, in: stream) }
        do throws(Problem) {
            var command = CertifyByMailedCode(
                installation: id, typed: TypedMailedCode(id: code, shown: shown),
                now: context.clock.now())
            command.mail = context.newID()
            let outcome = try await Commands(self).dispatch(command, as: .anonymous)
            return outcome == .certified
        } catch {
            guard error.kind == .invalidGrant else { throw error }
            return false
        }
    }
}

extension RequestCertification.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: .said(.noSuchClient, "Client not found")
        case .noOwner: Problem(.forbidden)
        }
    }
}

extension AdmitInstallation.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.invalidRequest, "The client must be registered")
        case .notOwner, .full: Problem(.forbidden)
        }
    }
}

extension CertifyByMailedCode.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: .said(.noSuchClient, "Client not found")
        case .noCode: Problem(.invalidGrant)
        }
    }
}
