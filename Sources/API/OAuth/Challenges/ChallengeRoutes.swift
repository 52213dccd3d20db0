internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Apps of the realm's own that ask people themselves and come by a code without a browser
/// (draft-ietf-oauth-first-party-apps).
enum ChallengeRoutes {
    static let table: [Route<RealmContext>] = [challenge]

    static let path = "/connect/challenge"

    private static let challenge = Route<RealmContext>(
        .post, PathTemplate(stringLiteral: path), id: "challengeAuthorization", tag: "OAuth",
        summary: "Runs a first-party app's sign-in, step by step.",
        detail: """
            For clients whose `consent` is `none`, which only an administrator sets. First `username`, \
            for which a code is mailed, then `otp_code`, and `totp_code` where the account has a second \
            factor, each with the `auth_session` of the answer before; or a passkey at once, for a \
            ceremony that `/connect/passkey/begin` has begun. The last answer has a code for the token \
            endpoint, which is redeemed without a redirect URI. What is answered to a name is the same \
            whether there is such an account or not.
            """,
        right: .client, voice: .oauth,
        body: .form(
            .object(
                ClientCredentials.members + [
                    .optional("scope", .text(1...2048), "Requested scopes, separated by spaces."),
                    .optional(
                        "resource", .list(of: .text(1...2048), 0...8),
                        "Resource servers of the tokens (RFC 8707)."),
                    .optional(
                        "code_challenge", .text(43...43),
                        "PKCE code challenge, required at the first step."),
                    .optional("code_challenge_method", .text(1...10), "PKCE method; always S256."),
                    .optional(
                        "auth_session", .text(1...8192),
                        "Authorization session from the previous response."),
                    .optional("username", .text(1...320), "Mail address of the account."),
                    .optional("otp_code", .text(1...64), "Code that was mailed."),
                    .totpCode,
                    .optional("ceremony_id", .text(1...64), "Id of the WebAuthn ceremony."),
                    .optional(
                        "assertion", .text(1...65_536),
                        "Result of `navigator.credentials.get`, as JSON."),
                ]), example: ["client_id": "phone", "username": "ann@example.org"]),
        answer: .ok(
            "The user is signed in.",
            .object(
                .required(
                    "authorization_code", .text(1...8192),
                    "Authorization code for the token endpoint.")),
            example: ["authorization_code": "…"]),
        refusals: Place.refusals + [
            .insufficientAuthorization, .invalidAuthSession, .unauthorizedClient,
            .unsupportedGrantType, .invalidScope, .invalidTarget, .invalidProof, .nonceNeeded,
            .rateLimited, .invalidRequest,
        ]
    ) { call throws(Problem) in
        let client = try call.caller.client
        // A step that shows nothing yet counts where its code is mailed.
        guard call.body["ceremony_id"] != nil || call.body["otp_code"] != nil else {
            try RateCounter(call).count(.oauthToken)
            return try await call.challenge(client)
        }
        return try await RateCounter(call).counting(
            .oauthToken, .unproved(client: client.clientID)
        ) { () throws(Problem) in try await call.challenge(client) }
    }
}

extension Call<RealmContext> {
    fileprivate func challenge(_ client: PresentClient) async throws(Problem) -> Response {
        try await requireFirstParty(client)
        let proof = try context.tokenProof(of: request)
        var step = try self.step(of: client, key: proof?.key)
        if let proof { try await context.use(proof) }
        async let pause: Void = context.hesitate()
        if body["ceremony_id"] != nil {
            let code = try await signInByPasskey(client, &step)
            if let code { return .json(.ok, ["authorization_code": .string(code)]) }
        } else if let typed = body["otp_code"]?.string {
            let code = try await redeemCode(typed, &step)
            if let code { return .json(.ok, ["authorization_code": .string(code)]) }
        } else if let name = body["username"]?.string {
            try await sendCode(to: name, &step)
        }
        // Of what was right so far its time tells nothing.
        await pause
        throw try insufficient(step)
    }
}
