internal import Cryptography
internal import HTTP
internal import Values

/// Binds forms to the browser that they were shown to: a cookie of its own, also before a user is
/// signed in, so that no user is signed in by an attacker's form (login CSRF).
struct CSRFSecret: Sendable {
    let bytes: [UInt8]
    /// The browser does not have it yet.
    let isNew: Bool

    init(_ request: Request) {
        let known = request.cookie(PageCookie.form.rawValue).flatMap { Base64URL.decode($0) }
        bytes = known.flatMap { $0.count == 24 ? $0 : nil } ?? Random.bytes(24)
        isNew = known?.count != 24
    }

    var text: String { Base64URL.encode(bytes) }
}

extension TokenMint {
    /// The CSRF token in every form. It changes once a user is signed in.
    func csrfToken(_ secret: CSRFSecret, _ browser: SignedInBrowser?) -> String {
        Base64URL.encode(derive(.csrfToken, secret.bytes + (browser?.id.bytes ?? [])))
    }

    func isFormToken(_ text: String, _ secret: CSRFSecret, _ browser: SignedInBrowser?) -> Bool {
        version {
            constantTimeEqual(Array(text.utf8), Array($0.csrfToken(secret, browser).utf8))
        } != nil
    }
}
