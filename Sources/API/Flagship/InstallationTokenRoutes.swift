internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where installations get access tokens.
enum InstallationTokenRoutes {
    static let table: [Route<RealmContext>] = [token]

    private static let token = Route<RealmContext>(
        .post, "/auth/access_token", id: "installationToken", tag: "Flagship",
        summary: "Issues tokens for a code or a refresh token.",
        detail: "A client always shows its secret here. A refresh token stays as it is.",
        right: .nothing, voice: .flagship,
        body: .form(
            .object(
                .optional("grant_type", .text(0...255), "Grant type."),
                .optional("client_id", .text(0...255), "OAuth client id."),
                .optional("client_secret", .text(0...1024), "Client secret."),
                .optional("code", .text(0...16384), "Authorization code."),
                .optional("code_verifier", .text(0...1024), "PKCE code verifier (RFC 7636)."),
                .optional("refresh_token", .text(0...4096), "Refresh token.")),
            example: [
                "grant_type": "refresh_token", "client_id": "…", "client_secret": "…",
                "refresh_token": "urd_rt_…",
            ]),
        answer: .ok("Tokens.", .openObject, example: OwnerRoutes.tokens),
        refusals: Place.refusals + [.invalidRequest, .rateLimited]
    ) { call throws(Problem) in
        for name in ["grant_type", "client_id", "client_secret"]
        where call.body[name]?.string == nil {
            throw Problem.said(.invalidRequest, "the \(name) parameter is mandatory")
        }
        let refreshed =
            call.body["grant_type"]?.string == "refresh_token"
            ? call.body["refresh_token"]?.string : nil
        try RateCounter(call).count(
            .oauthToken, heldBy: call.context.mint.holder(ofRefreshToken: refreshed))
        switch call.body["grant_type"]?.string {
        case "refresh_token": return try await call.refreshInstallation()
        case "authorization_code": return try await call.redeemInstallationCode()
        default:
            try await call.requireSecret()
            throw Problem.said(.invalidRequest, "invalid grant type")
        }
    }
}

extension Call<RealmContext> {
    fileprivate func refreshInstallation() async throws(Problem) -> Response {
        let shown = context.mint.readRefreshToken(body["refresh_token"]?.string ?? "")
        let installation = installationStream(body["client_id"]?.string)
        let result = try await Commands(self).attempt(
            RefreshInstallation(
                token: shown.flatMap { $0.generation == 0 ? $0.session : nil },
                installation: installation, secret: .ofSecret(body["client_secret"]?.string),
                now: context.clock.now()), as: caller(installation))
        switch result {
        case .success(let granted): return installationTokens(granted, withRefresh: false)
        case .failure(let refusal):
            if let shown, let installation,
                [.invalidRefreshToken, .sessionOver, .wrongSecret].contains(refusal)
            {
                try await Commands(self).recordRefused(
                    refreshOf: shown.session, by: installation,
                    Installation.clientID(of: installation))
            }
            throw refusal.problem
        }
    }

    fileprivate func redeemInstallationCode() async throws(Problem) -> Response {
        guard let text = body["code"]?.string, !text.isEmpty else {
            try await requireSecret()
            throw Problem.said(.invalidRequest, "the code parameter is mandatory")
        }
        let installation = installationStream(body["client_id"]?.string)
        guard let code = context.mint.readAuthorizationCode(text) else {
            try await requireSecret()
            throw OwnerRefusal.invalidCode.problem
        }
        let verifier = body["code_verifier"]?.string ?? ""
        var command = RedeemInstallationCode(
            code: code, verifier: .of(verifier), installation: installation,
            secret: .ofSecret(body["client_secret"]?.string),
            from: context.signInPlace(of: request),
            now: context.clock.now())
        command.mail = context.newID()
        let outcome = try await Commands(self).dispatch(command, as: caller(installation))
        return try ownerResponse(outcome)
    }

    private func caller(_ installation: UUID?) -> Commands.Caller {
        installation.map { .installation($0) } ?? .anonymous
    }

    /// That the client is there and has shown its secret, where nothing is decided that would look.
    fileprivate func requireSecret() async throws(Problem) {
        guard let (_, client) = try await installation(body["client_id"]?.string) else {
            throw OwnerRefusal.unknownInstallation.problem
        }
        guard client.secret == .ofSecret(body["client_secret"]?.string) else {
            throw OwnerRefusal.wrongSecret.problem
        }
    }
}
