import HTTP
import Identity
import Synchronization
import Testing
import Values

@testable import API

/// Browsers that people are signed in with, by what they show.
final class Browsers: Sendable {
    private let known = Mutex<[String: SignedInBrowser]>([:])

    func find(_ request: Request, _ context: RealmContext) -> SignedInBrowser? {
        request.headers["Cookie"].flatMap { name in known.withLock { $0[name] } }
    }

    func isSignedIn(_ browser: String) -> Bool { known.withLock { $0[browser] != nil } }

    /// Each sign-in is a session of its own.
    func signIn(
        _ browser: String, as account: UUID, at: Timestamp,
        level: String? = "urn:modgud:acr:single", methods: [String] = ["otp"]
    ) {
        known.withLock {
            $0[browser] = SignedInBrowser(
                id: .random(), subject: account, authenticatedAt: at, methods: methods,
                level: level)
        }
    }

    func signOut(_ browser: String) {
        known.withLock { $0[browser] = nil }
    }
}
