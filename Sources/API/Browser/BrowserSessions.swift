internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import ReadModels
internal import Values

/// The sessions of the browser that sent a request.
struct BrowserSessions {
    private let call: Call<RealmContext>

    init(_ call: Call<RealmContext>) { self.call = call }

    private var context: RealmContext { call.context }

    /// The user who is signed in with the browser, while the session holds. A session that was
    /// opened at the place of a web app is good there alone: the app's server may have seen the
    /// cookie.
    func current() async throws(Problem) -> SignedInBrowser? {
        try await current(at: context.place.webApp?.id)
    }

    func current(at webApp: UUID?) async throws(Problem) -> SignedInBrowser? {
        for text in sessionCookies(at: webApp) {
            if let browser = try await find(text, at: webApp) { return browser }
        }
        return nil
    }

    /// At a web app's place also under the name that apps of the flagship profile give it. Others may have
    /// set that one, for all that is below the realm's host: our own goes first.
    func sessionCookies(at webApp: UUID?) -> [String] {
        let names = [PageCookie.session.rawValue] + (webApp == nil ? [] : [WebAppCookie.name])
        return names.compactMap { call.request.cookie($0) }
    }

    func find(_ cookie: String, at webApp: UUID?) async throws(Problem) -> SignedInBrowser? {
        guard let secret = BrowserSecret(cookie) else { return nil }
        let found = try await context.ask(BrowserSessionView.byID, secret.session)
        guard let found, !found.isOver, context.clock.now() < found.terms.expiresAt,
            let shown = context.mint.digest(of: secret),
            constantTimeEqual(shown.bytes, found.terms.digest.bytes),
            found.terms.webApp == webApp, try await context.isStanding(found.terms.opener)
        else { return nil }
        return SignedInBrowser(found)
    }
}

extension SignedInBrowser {
    init(_ found: BrowserSessionView) {
        let strength = SignInStrength(found.terms.factors)
        self.init(
            id: found.id, subject: found.terms.account, authenticatedAt: found.terms.openedAt,
            way: found.terms.method, methods: strength.methods, level: strength.context,
            removals: found.removals)
    }
}
