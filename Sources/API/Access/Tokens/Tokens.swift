internal import Cryptography
internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import Values

extension SessionTerms {
    /// Which kind of subject `sub` names: a person, or a client that acts for itself. The words are those of
    /// draft-mora-oauth-entity-profiles.
    var subjectProfile: String { self.account == nil ? "service" : "user" }
}

/// The tokens of one answer of the token endpoint, in the form that the client has them in.
struct Tokens {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    func accessToken(
        _ granted: GrantedTokens, at now: Timestamp
    ) async throws(Problem) -> String {
        let expiry = now.adding(seconds: granted.lifetime)
        switch granted.style.accessToken {
        case .reference:
            return context.mint.accessToken(granted, issuedAt: now, expiresAt: expiry)
        case .jwt: break
        }
        let terms = granted.terms
        let isPersonal = terms.account != nil
        var additional: JSONObject = ["sid": .string(granted.session.description)]
        additional["act"] = terms.actClaim
        if let key = granted.key { additional["cnf"] = ["jkt": .string(key)] }
        if let account = terms.account {
            additional["resource_access"] = try await ResourceAccess(context).read(
                of: account, granted.scope, granted.resources)
        }
        let issuer = issuer(of: terms)
        additional["sub_profile"] = .string(terms.subjectProfile)
        let token = AccessToken(
            issuer: issuer, subject: context.mint.subject(of: terms),
            // RFC 9068 section 3 asks for an audience always. Where the client named none, the token
            // is good where it comes from, and no resource server may take it for its own.
            audience: granted.resources.isEmpty ? [issuer] : granted.resources,
            clientID: terms.clientID, id: context.newID().description, issuedAt: now,
            expiresAt: expiry,
            scope: granted.scope, authenticatedAt: isPersonal ? terms.toldSignIn : nil,
            authenticationContext: terms.authenticationContext,
            authenticationMethods: terms.authenticationMethods,
            additional: additional)
        return try await signed(by: granted.style.accessTokenSignature) { key in
            try token.signed(by: key)
        }
    }

    /// What OpenID Connect Core section 2 asks for, and nothing about the person unless it was asked for
    /// by name: that is for the user info endpoint, which hears of changes. Clients of the federation profile
    /// ask no such endpoint, and read here what their scope allows.
    func idToken(
        _ granted: GrantedTokens, for accessToken: String, at now: Timestamp
    ) async throws(Problem) -> String? {
        let terms = granted.terms
        guard let account = terms.account, granted.scope.contains("openid"), terms.exchange == nil
        else { return nil }
        var additional = try await PersonClaims(context).claims(
            of: account, granted.style.idTokenShowsPerson ? granted.scope : [],
            named: granted.idTokenClaims)
        additional["sid"] = .string(granted.session.description)
        // RFC 7800: an app that presents the token has to prove that it holds the key.
        if terms.federation?.confirmation != nil, let kid = terms.federation?.keyID {
            additional["cnf"] = ["kid": .string(kid)]
        }
        let token = IDToken(
            issuer: issuer(of: terms), subject: context.mint.subject(of: terms),
            clientID: terms.clientID, issuedAt: now,
            expiresAt: now.adding(seconds: granted.lifetime), nonce: granted.nonce,
            authenticatedAt: terms.toldSignIn,
            authenticationContext: granted.level ?? terms.authenticationContext,
            authenticationMethods: terms.authenticationMethods, accessToken: accessToken,
            additional: additional)
        return try await signed(by: granted.style.idTokenSignature) { key in
            try token.signed(by: key)
        }
    }

    /// What names the realm in a session's tokens: the same in all of them, whichever host is asked.
    func issuer(of terms: SessionTerms) -> String { terms.issuer ?? context.place.issuer }

    func signed(
        by signature: TokenSignature, _ sign: (SigningKey) throws -> String
    ) async throws(Problem) -> String {
        let keys = try await reading { () throws(LogFailure) in
            try await context.keys.keys(of: context.place.realm)
        }
        guard let key = keys.active[signature.algorithm], let text = try? sign(key) else {
            throw Problem(.internalError)
        }
        return text
    }
}
