internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// What the cookie of a signed-in browser holds: the name of its session, and a secret of which only a
/// digest is kept.
struct BrowserSecret: Sendable {
    let session: UUID
    let secret: [UInt8]

    private static let length = 32

    /// For a session that is to be opened.
    init(for session: UUID) {
        self.session = session
        secret = Random.bytes(Self.length)
    }

    private init(session: UUID, secret: [UInt8]) {
        self.session = session
        self.secret = secret
    }

    init?(_ text: String) {
        guard text.utf8.count < 128, let bytes = Base64URL.decode(text),
            bytes.count == 16 + Self.length, let session = UUID(bytes: Array(bytes.prefix(16)))
        else { return nil }
        self.init(session: session, secret: Array(bytes.dropFirst(16)))
    }

    var text: String { Base64URL.encode(session.bytes + secret) }

    func named(_ session: UUID) -> BrowserSecret {
        BrowserSecret(session: session, secret: secret)
    }
}

extension TokenMint {
    /// What the log keeps of a browser's secret.
    func digest(of secret: BrowserSecret) -> SecretDigest? {
        SecretDigest(derive(.browserSecret, secret.secret))
    }
}

extension Call<RealmContext> {
    /// The user who is signed in with the browser, while the session holds. A session that was
    /// opened at the place of a web app is good there alone: the app's server may have seen the
    /// cookie.
    func browser() async throws(Problem) -> SignedInBrowser? {
        try await browser(at: context.place.webApp?.id)
    }

    func browser(at webApp: UUID?) async throws(Problem) -> SignedInBrowser? {
        for text in sessionCookies(at: webApp) {
            if let browser = try await browser(text, at: webApp) { return browser }
        }
        return nil
    }

    /// At a web app's place also under the name that apps of the flagship profile give it. Others may have
    /// set that one, for all that is below the realm's host: our own goes first.
    func sessionCookies(at webApp: UUID?) -> [String] {
        let names = [PageCookie.session.rawValue] + (webApp == nil ? [] : [WebAppCookie.name])
        return names.compactMap { request.cookie($0) }
    }

    func browser(_ cookie: String, at webApp: UUID?) async throws(Problem) -> SignedInBrowser? {
        guard let secret = BrowserSecret(cookie) else { return nil }
        let found = try await reading { () throws(LogFailure) in
            try await context.queries.browserSession(secret.session, in: context.place.realm)
        }
        guard let found, !found.isOver, context.clock.now() < found.terms.expiresAt,
            let shown = context.mint.digest(of: secret),
            constantTimeEqual(shown.bytes, found.terms.digest.bytes),
            found.terms.webApp == webApp
        else { return nil }
        return SignedInBrowser(found)
    }
}

extension SignedInBrowser {
    init(_ found: BrowserSessionView) {
        let strength = SignInStrength(found.terms.factors)
        self.init(
            id: found.id, subject: found.terms.account, authenticatedAt: found.terms.openedAt,
            way: found.terms.method, methods: strength.methods, level: strength.context)
    }
}
