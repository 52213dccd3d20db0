internal import Cryptography
internal import EventSourcing
internal import Identity
internal import JOSE
internal import JSON
internal import ReadModels
internal import Values

/// An access token that a caller shows here, in either form, together with the session that keeps
/// it alive: a signed token whose session is over is rejected like one that is malformed.
struct PresentedToken: Sendable {
    let session: SessionView
    let id: String
    let issuedAt: Timestamp
    var expiresAt: Timestamp
    let scope: [String]
    let audience: [String]
    /// The thumbprint of the key that it is bound to.
    var key: String?

    /// A token that was asked for a resource is for that, and for us only if we are named as well:
    /// a resource server that receives it must not be able to enrol a passkey here.
    ///
    /// Nor is a token accepted that came of no sign-in of ours: a client that got a user's token to
    /// call another service, or was let in on another issuer's word, does not manage the user's
    /// account. What an installation may is said by routes of its own.
    func isOfSignIn(_ issuer: String) -> Bool {
        switch session.terms.method {
        case .tokenExchange, .jwtBearer, .password, .flagship: false
        case nil, .authorizationCode, .refreshToken, .clientCredentials, .deviceCode, .nativeOTP,
            .nativeMagicLink, .nativePasskey:
            isFor(issuer)
        }
    }

    func isFor(_ issuer: String) -> Bool {
        audience.contains(issuer) || !audience.contains(where: session.terms.resources.contains)
    }
}

extension RealmContext {
    /// What can be longer is no token of ours.
    static var longestToken: Int { 8192 }

    /// Nil where the token is not good, or no access token.
    func present(_ text: String) async throws(Problem) -> PresentedToken? {
        guard text.utf8.count <= Self.longestToken else { return nil }
        if let token = mint.readAccessToken(text) {
            guard let session = try await live(token) else { return nil }
            let digest = SHA256.hash(Array(text.utf8)).prefix(16)
            return PresentedToken(
                session: session, id: Base64URL.encode(Array(digest)),
                issuedAt: token.issuedAt, expiresAt: min(token.expiresAt, session.terms.expiresAt),
                scope: TokenMint.chosen(session.terms.scope, by: token.scopes),
                audience: TokenMint.chosen(
                    session.terms.resources, by: UInt64(token.resources)), key: token.key)
        }
        // A JWT has three parts: a token without a dot is spared the look for keys.
        guard text.utf8.contains(UInt8(ascii: ".")) else { return nil }
        return try await presentSigned(text)
    }

    private func presentSigned(_ text: String) async throws(Problem) -> PresentedToken? {
        let now = clock.now()
        let token = try await reading { () throws(LogFailure) in
            try await keys.verify(text, of: place.realm, at: now)
        }
        guard let token, let name = token.additional["sid"]?.string, let id = UUID(name),
            let session = try await live(id), mint.subject(of: session.terms) == token.subject,
            session.terms.clientID == token.clientID
        else { return nil }
        return PresentedToken(
            session: session, id: token.id, issuedAt: token.issuedAt,
            expiresAt: min(token.expiresAt, session.terms.expiresAt),
            scope: token.scope.filter(session.terms.scope.contains), audience: token.audience,
            key: token.additional["cnf"]?["jkt"]?.string)
    }
}

/// What a client shows to have it explained or ended, whichever kind of token it is.
extension RealmContext {
    /// The session that a token belongs to, if the token was ever one of ours: also when it has
    /// expired, since to give it back may still end the others of its session.
    func session(ofToken text: String) async throws(Problem) -> UUID? {
        guard text.utf8.count <= Self.longestToken else { return nil }
        if let session = mint.readRefreshToken(text)?.session
            ?? mint.readAccessToken(text)?.session
        {
            return session
        }
        guard text.utf8.contains(UInt8(ascii: ".")) else { return nil }
        let token = try await reading { () throws(LogFailure) in
            try await keys.verify(text, of: place.realm, at: nil)
        }
        return token?.additional["sid"]?.string.flatMap { UUID($0) }
    }
}
