internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

extension GrantForm {
    static let tokenExchange = GrantForm([
        .optional("subject_token", .text(1...16_384), "Token to be exchanged (RFC 8693)."),
        .optional(
            "subject_token_type", .text(1...255), "Type of the subject token: an access token."),
        .optional(
            "actor_token", .text(1...16_384),
            "Access token of the actor, if the actor is not the client."),
        .optional("actor_token_type", .text(1...255), "Type of the actor token: an access token."),
        .optional(
            "requested_token_type", .text(1...255), "Type of the requested token: an access token."),
        .optional(
            "audience", .list(of: .text(1...2048), 0...8),
            "Resource servers of the new token; the same as `resource`."),
    ]) { call throws(Problem) -> TokenExchangeGrant in
        let wanted = call.body["requested_token_type"]?.string ?? TokenKind.access
        guard TokenKind.all.contains(wanted) else {
            throw Problem(.invalidRequest, "Nothing but access tokens is given for tokens.")
        }
        let format = try call.caller.client.metadata.accessTokenFormat
        guard wanted != TokenKind.jwt || format == .jwt else {
            throw Problem(.invalidRequest, "The client's access tokens are no JWTs.")
        }
        guard let subject = try await call.shownToken("subject") else {
            throw Problem(.invalidRequest, "subject_token and subject_token_type are required.")
        }
        return TokenExchangeGrant(
            subject: subject, actor: try await call.shownToken("actor"))
    }
}

/// What kinds of tokens are called in an exchange (RFC 8693 section 3).
enum TokenKind {
    static let access = "urn:ietf:params:oauth:token-type:access_token"
    static let jwt = "urn:ietf:params:oauth:token-type:jwt"
    static let all = [access, jwt]
}

extension Call<RealmContext> {
    /// Nil without a token.
    fileprivate func shownToken(_ role: String) async throws(Problem) -> ShownToken? {
        let text = body["\(role)_token"]?.string
        let type = body["\(role)_token_type"]?.string
        guard let text, let type else {
            guard text == nil, type == nil else {
                throw Problem(
                    .invalidRequest, "\(role)_token and \(role)_token_type come together.")
            }
            return nil
        }
        guard TokenKind.all.contains(type), let token = try await context.present(text) else {
            throw GrantRefusal.invalidSubjectToken.problem
        }
        return ShownToken(
            session: token.session.id, scope: token.scope,
            // A token without other audiences is for its issuer alone.
            audience: token.audience.filter {
                $0 != context.place.issuer && $0 != token.session.terms.issuer
            },
            expiresAt: token.expiresAt, key: token.key)
    }
}
