public import EventSourcing
public import JSON
public import Values

/// The one code that is good now for one purpose of one holder. Another one takes its place.
public struct MailedCode: StreamState {
    public enum Purpose: String, Sendable {
        /// Beside a passphrase. Its holder is the account.
        case secondFactor = "second_factor"
        /// That an installation may be trusted for which no store vouches. Its holder is the client.
        case certification
    }

    public static let lifetime: Int64 = 900
    public static let attempts = 5

    private var live: IssuedMailedCode?
    private var wrongGuesses = 0

    public init() {}

    /// Follows from the holder, so that it needs no look-up.
    public static func stream(of holder: UUID, _ purpose: Purpose) -> UUID {
        let mark: UInt64 =
            switch purpose {
            case .secondFactor: 0x0000_6D32_0000_0000
            case .certification: 0x0000_6D63_0000_0000
            }
        return UUID(high: holder.high, low: holder.low ^ mark)
    }

    public mutating func apply(_ event: MailedCodeEvent) {
        switch event {
        case .issued(let code):
            live = code
            wrongGuesses = 0
        case .refused: wrongGuesses += 1
        case .redeemed: live = nil
        }
    }

    /// The code that can be typed now, where there is only one that it can be.
    public func liveCode(at now: Timestamp) -> UUID? {
        live.flatMap { code($0.id, at: now)?.id }
    }

    /// The code of this name, while it can be typed.
    func code(_ id: UUID, at now: Timestamp) -> IssuedMailedCode? {
        guard let live, live.id == id, now < live.expiresAt, wrongGuesses < Self.attempts else {
            return nil
        }
        return live
    }
}

public struct IssuedMailedCode: Sendable, Equatable {
    /// The digits follow from it under the realm's key. It is the name of its mail as well.
    public var id: UUID
    public var purpose: MailedCode.Purpose
    public var account: UUID
    public var digest: SecretDigest
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp

    public init(
        id: UUID, purpose: MailedCode.Purpose, account: UUID, digest: SecretDigest,
        issuedAt: Timestamp
    ) {
        self.id = id
        self.purpose = purpose
        self.account = account
        self.digest = digest
        self.issuedAt = issuedAt
        expiresAt = issuedAt.adding(seconds: MailedCode.lifetime)
    }
}

public enum MailedCodeEvent: Event {
    case issued(IssuedMailedCode)
    case refused(UUID, at: Timestamp)
    case redeemed(UUID)

    public static let catalogue = [
        EventShape(
            "mailed_code.issued",
            open: ["mail", "purpose", "account", "digest", "issued_at", "expires_at"]),
        EventShape("mailed_code.refused", open: ["mail", "refused_at"]),
        EventShape("mailed_code.redeemed", open: ["mail"]),
    ]

    public var name: String {
        switch self {
        case .issued: "mailed_code.issued"
        case .refused: "mailed_code.refused"
        case .redeemed: "mailed_code.redeemed"
        }
    }

    public var subject: UUID? {
        switch self {
        case .issued(let code): code.account
        case .refused, .redeemed: nil
        }
    }

    public var fields: JSONObject {
        switch self {
        case .issued(let code):
            [
                "mail": .uuid(code.id), "purpose": .string(code.purpose.rawValue),
                "account": .uuid(code.account), "digest": .string(code.digest.base64URL),
                "issued_at": .integer(code.issuedAt.seconds),
                "expires_at": .integer(code.expiresAt.seconds),
            ]
        case .refused(let id, let at):
            ["mail": .uuid(id), "refused_at": .integer(at.seconds)]
        case .redeemed(let id): ["mail": .uuid(id)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let id = fields.uuid("mail") else { return nil }
        switch name {
        case "mailed_code.issued":
            guard let purpose: MailedCode.Purpose = fields.choice("purpose"),
                let account = fields.uuid("account"), let digest = fields.digest("digest"),
                let issuedAt = fields.instant("issued_at"),
                let expiresAt = fields.instant("expires_at")
            else { return nil }
            var code = IssuedMailedCode(
                id: id, purpose: purpose, account: account, digest: digest, issuedAt: issuedAt)
            code.expiresAt = expiresAt
            self = .issued(code)
        case "mailed_code.refused":
            guard let at = fields.instant("refused_at") else { return nil }
            self = .refused(id, at: at)
        case "mailed_code.redeemed": self = .redeemed(id)
        default: return nil
        }
    }
}
