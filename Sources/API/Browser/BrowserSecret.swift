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
