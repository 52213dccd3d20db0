internal import Identity
internal import JSON
internal import Values

extension GrantForm {
    static let refresh = GrantForm(
        RefreshGrant.self,
        [
            .optional(
                "refresh_token", .text(1...4096),
                "Refresh token; the same one again if the response was lost.")
        ]
    ) { call, request throws(Problem) in
        let shown = try refreshToken(call)
        let result = try await Commands(call).attempt(
            RedeemGrant(shown, request), as: .client(request.clientID))
        switch result {
        case .success(let outcome): return outcome
        case .failure(let refusal):
            // What the decision itself put on record, reuse, is an outcome.
            if [.invalidRefreshToken, .strongerSignInNow, .accountBlocked].contains(refusal) {
                try await Commands(call).recordRefused(
                    refreshOf: shown.session, by: request.client, request.clientID)
            }
            throw refusal.problem
        }
    }.held { $0.context.mint.holder(ofRefreshToken: $0.body["refresh_token"]?.string) }

    private static func refreshToken(
        _ call: Call<RealmContext>
    ) throws(Problem) -> RefreshGrant {
        guard let text = call.body["refresh_token"]?.string else {
            throw Problem(.invalidRequest, "refresh_token is required.")
        }
        guard let token = call.context.mint.readRefreshToken(text) else {
            throw GrantRefusal.invalidRefreshToken.problem
        }
        return RefreshGrant(session: token.session, generation: token.generation)
    }

    static let clientCredentials = GrantForm { _ throws(Problem) in ClientCredentialsGrant() }
}
