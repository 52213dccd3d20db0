import EventSourcing
import HTTP
import Identity
import Synchronization
import Testing
import Values

@testable import API

/// Browsers that people are signed in with, by a name.
final class Browsers: Sendable {
    private let cookies = Mutex<[String: BrowserSecret]>([:])

    subscript(browser: String) -> BrowserSecret? {
        get { cookies.withLock { $0[browser] } }
        set { cookies.withLock { $0[browser] = newValue } }
    }

    func signOut(_ browser: String) { self[browser] = nil }

    func isSignedIn(_ browser: String) -> Bool { self[browser] != nil }
}

extension SignInWorld {
    /// As a login page does it: each sign-in is a session of its own, and ends the one before.
    func signIn(
        _ browser: String, as account: UUID, by factors: [AuthenticationFactor] = [.mailedCode]
    ) async throws {
        let secret = BrowserSecret(for: .random())
        let now = clock.next()
        try await carryOut(
            OpenBrowser(
                session: secret.session, replaced: browsers[browser]?.session,
                terms: BrowserTerms(
                    account: account, stamp: 0, method: .code, factors: factors,
                    digest: try #require(mint.digest(of: secret)), openedAt: now,
                    expiresAt: now.adding(seconds: 86_400))))
        browsers[browser] = secret
    }

    func cookie(_ browser: String) -> String? {
        browsers[browser].map { "\(PageCookie.session.rawValue)=\($0.text)" }
    }
}

private struct OpenBrowser: Command {
    let session: UUID
    let replaced: UUID?
    let terms: BrowserTerms

    enum Rejection: Error, Equatable { case none }

    func gather(_ streams: some StreamReader) async throws(LogFailure) {
        _ = try await streams.read(BrowserSession.self, session)
        if let replaced { _ = try await streams.read(BrowserSession.self, replaced) }
    }

    func decide(_ facts: Void) throws(Rejection) -> Decision {
        var decision = Decision(BrowserSessionEvent.opened(terms), in: session)
        if let replaced {
            decision.append(BrowserSessionEvent.ended(.replaced), in: replaced, of: terms.account)
        }
        return decision
    }
}
