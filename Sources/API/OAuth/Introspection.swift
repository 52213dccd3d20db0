internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

extension Call<RealmContext> {
    /// Nothing is said of a token that is not good, or that is none of the caller's business, not
    /// even why.
    func introspect(_ text: String, for client: PresentClient) async throws(Problem) -> Response {
        let asked = try await asked(text)
        let client = try await confirmed(client, by: asked?.token)
        guard let asked, let found = try await known(asked, to: client) else {
            return try await told(["active": false], to: client)
        }
        let terms = found.session.terms
        var members: JSONObject = [
            "active": true, "client_id": .string(terms.clientID),
            "scope": .string(found.scope.joined(separator: " ")),
            "exp": .integer(found.expiresAt.seconds),
            "iss": .string(Tokens(context).issuer(of: terms)),
            "sub": .string(context.mint.subject(of: terms)),
            "sub_profile": .string(terms.subjectProfile),
            "iat": .integer(found.issuedAt.seconds),
            "jti": .string(found.id),
        ]
        if !asked.isRefresh { members["token_type"] = found.key == nil ? "Bearer" : "DPoP" }
        members["act"] = terms.actClaim
        if let key = found.key { members["cnf"] = ["jkt": .string(key)] }
        if !found.audience.isEmpty { members["aud"] = list(found.audience) }
        if terms.account != nil {
            members["auth_time"] = terms.toldSignIn.map { .integer($0.seconds) }
            members["acr"] = terms.authenticationContext.map { .string($0) }
            members["amr"] = list(terms.authenticationMethods)
            members["sid"] = .string(found.session.id.description)
        }
        if let account = terms.account {
            members["resource_access"] = try await ResourceAccess(context).read(
                of: account, found.scope, found.audience)
        }
        if let id = terms.webApp, let app = try await RealmLookups(context).webApp(id) {
            members["app_kind"] = .string(app.card.kind.rawValue)
            members["app_slug"] = .string(app.card.slug)
        }
        if let account = terms.account, try await namesBusinessPartner(terms) {
            members["business_partner_id"] = try await PersonClaims(context).businessPartner(
                of: account
            ).map {
                .string($0)
            }
        }
        return try await told(members, to: client)
    }

    /// Signed where the caller asks for that (RFC 9701): then it can show to others what it was told, and
    /// no other reader can be handed it.
    private func told(
        _ members: JSONObject, to client: PresentClient
    ) async throws(Problem) -> Response {
        guard wantsSignedAnswer else { return .json(.ok, .object(members)) }
        let signature = client.metadata.introspectionSignature.flatMap(TokenSignature.init)
        let claims: JSON = [
            "iss": .string(context.place.issuer), "aud": .string(client.clientID),
            "iat": .integer(context.clock.now().seconds), "token_introspection": .object(members),
        ]
        let payload = claims.canonical()
        let text = try await Tokens(context).signed(by: signature ?? .rs256) { key in
            try JWS.sign(payload, by: key, type: Self.signedAnswer)
        }
        return .text(.ok, "application/\(Self.signedAnswer)", text)
    }

    private static var signedAnswer: String { JWTType.introspection.rawValue }

    /// Only if `Accept` names the type itself: a wildcard gets the default format.
    private var wantsSignedAnswer: Bool {
        request.headers.all("Accept").flatMap { $0.split(separator: ",") }.contains { range in
            let parts = range.split(separator: ";").map { trimmed(String($0)).lowercased() }
            return parts.first == "application/\(Self.signedAnswer)" && !parts.contains("q=0")
        }
    }

    /// To have found a session is to know how far the log is, and so whether anything of the realm's
    /// configuration has changed since the client was looked up. Otherwise it is looked up now.
    private func confirmed(
        _ client: PresentClient, by token: PresentedToken?
    ) async throws(Problem) -> PresentClient {
        guard let revision = client.revision else { return client }
        if token != nil, context.keys.revision(context.place.realm) == revision { return client }
        guard let credentials = self.client else { throw Problem(.invalidClient) }
        return try await context.lookUp(credentials, client.clientID, for: request)
    }

    private func namesBusinessPartner(_ terms: SessionTerms) async throws(Problem) -> Bool {
        try await reading { () throws(LogFailure) in
            try await context.clients.recent(terms.clientID, in: context.place.realm)
        }?.metadata.rules.namesBusinessPartner == true
    }

    private func asked(_ text: String) async throws(Problem) -> AskedToken? {
        if let token = try await context.present(text) {
            return AskedToken(token: token, isRefresh: false)
        }
        guard let token = context.mint.readRefreshToken(text),
            let session = try await context.live(token.session), session.terms.isOffline,
            session.generation == token.generation
        else { return nil }
        return AskedToken(
            token: PresentedToken(
                session: session, id: "\(session.id).\(token.generation)",
                issuedAt: session.refreshedAt ?? session.terms.openedAt,
                expiresAt: session.terms.expiresAt, scope: session.terms.scope,
                audience: session.terms.resources, key: session.terms.key), isRefresh: true)
    }

    /// What the client may learn. A refresh token is good only here and only for its client:
    /// another client that was told that it is active would take it for an access token.
    private func known(
        _ asked: AskedToken, to client: PresentClient
    ) async throws(Problem) -> PresentedToken? {
        var token = asked.token
        guard asked.isRefresh else {
            return token.isTold(to: client.id, client.clientID, client.metadata) ? token : nil
        }
        guard token.session.terms.client == client.id,
            let settings = try await RealmLookups(context).settings(ofApp: client.metadata.appID)
        else { return nil }
        token.expiresAt = token.session.terms.refreshEnd(
            ofTokenFrom: token.issuedAt, client.metadata, settings)
        return context.clock.now() < token.expiresAt ? token : nil
    }
}

extension PresentedToken {
    /// A client hears of its own tokens and of those that name it, or a resource that it speaks for,
    /// as their audience; of others only if that was given to it (RFC 7662 section 4).
    func isTold(to client: UUID, _ clientID: String, _ metadata: ClientMetadata) -> Bool {
        if session.terms.client == client || metadata.introspectsAllTokens { return true }
        return audience.contains { name in
            name.isSpelled(clientID) || metadata.audiences.contains(where: name.isSpelled)
        }
    }
}

/// A token that a client asks about.
private struct AskedToken {
    let token: PresentedToken
    let isRefresh: Bool
}

private func list(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

extension String {
    /// Byte for byte: a name that only looks like another is another.
    func isSpelled(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
