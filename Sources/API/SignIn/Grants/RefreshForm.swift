internal import Identity
internal import JSON

extension GrantForm {
    static let refresh = GrantForm([
        .optional("refresh_token", .text(1...4096), "The token to be refreshed.")
    ]) { call throws(Problem) -> RefreshGrant in
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
