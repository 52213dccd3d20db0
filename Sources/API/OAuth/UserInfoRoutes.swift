internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// The signed-in user's claims, for clients that have a token of theirs (OpenID Connect Core
/// section 5.3).
enum UserInfoRoutes {
    static let table: [Route<RealmContext>] = [
        userInfo(.get, id: "getUserInfo", body: nil),
        userInfo(
            .post, id: "getUserInfoByForm",
            body: .form(
                .object(
                    .optional(
                        "access_token", .text(1...8192), "Access token, if it is not in a header.")),
                example: ["access_token": "urd_at_…"])),
    ]

    private static func userInfo(
        _ method: Method, id: String, body: Body?
    ) -> Route<RealmContext> {
        Route(
            method, "/connect/userinfo", id: id, tag: "OAuth",
            summary: "Shows the claims of the signed-in user (OpenID Connect Core 5.3).",
            detail: "Signed, as a JWT, for clients that were registered so.", right: .bearer,
            voice: .oauth, body: body,
            answer: .ok(
                "As much as the token's scope allows.", schema,
                example: ["sub": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a10"]),
            refusals: Place.refusals + [.invalidToken, .insufficientScope, .invalidRequest],
            traits: [.forScripts, .takesTokenInForm]
        ) { call throws(Problem) in
            guard case .account(let account, let session, let scope, let audience) = call.caller
            else {
                throw Problem(.unauthenticated)
            }
            guard scope.contains("openid") else { throw Problem(.insufficientScope) }
            var claims = try await PersonClaims(call.context).claims(
                of: account, scope, named: session.terms.claims)
            claims["sub"] = .string(call.context.mint.subject(of: session.terms))
            // The mail address is the only user name that accounts have here.
            if scope.contains("profile") { claims["preferred_username"] = claims["email"] }
            claims["resource_access"] = try await ResourceAccess(call.context).read(
                of: account, scope, audience)
            guard let signature = try await call.signature(of: session.terms) else {
                return .json(.ok, .object(claims))
            }
            return try await call.signed(claims, for: session.terms.clientID, by: signature)
        }
    }

    private static let schema = Schema.object(
        .required("sub", .text(1...255), "Subject: the account, as the client knows it."),
        .optional("email", .text(1...320), "Mail address, with the scope `email`."),
        .optional(
            "email_verified", .boolean,
            "Whether the mail address is verified, with the scope `email`."),
        .optional("given_name", .text(1...100), "First name, with the scope `profile`."),
        .optional("family_name", .text(1...100), "Last name, with the scope `profile`."),
        .optional("name", .text(1...201), "Full name, with the scope `profile`."),
        .optional(
            "preferred_username", .text(1...320),
            "Mail address to sign in with, with the scopes `profile` and `email`."),
        .optional(
            "resource_access", ResourceAccess.schema,
            "Roles and permissions by audience, with the scopes `roles` or `permissions`."),
        .optional("locale", .text(1...35), "Preferred language, with the scope `profile`."),
        .optional(
            "updated_at", .integer(0...(1 << 53 - 1)),
            "Time of the last change, in seconds since 1970, with the scope `profile`."))
}

extension Call<RealmContext> {
    /// What user info is signed with for a client, if it is.
    fileprivate func signature(of terms: SessionTerms) async throws(Problem) -> TokenSignature? {
        let known = try await reading { () throws(LogFailure) in
            try await context.clients.recent(terms.clientID, in: context.place.realm)
        }
        return known?.metadata.userInfoSignature.flatMap(TokenSignature.init)
    }

    fileprivate func signed(
        _ claims: JSONObject, for clientID: String, by signature: TokenSignature
    ) async throws(Problem) -> Response {
        var claims = claims
        claims["iss"] = .string(context.place.issuer)
        claims["aud"] = .string(clientID)
        let payload = JSON.object(claims).canonical()
        let text = try await Tokens(context).signed(by: signature) { key in
            try JWS.sign(payload, by: key, type: JWTType.userInfo.rawValue)
        }
        return .text(.ok, "application/jwt", text)
    }
}
