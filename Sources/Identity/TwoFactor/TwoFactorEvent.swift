public import EventSourcing
public import JSON
public import Values

/// A secret for an authenticator app, on its way to its owner.
public struct OfferedTOTP: Sendable, Equatable {
    public let id: UUID
    public let account: UUID
    /// In base64url. Sealed in the log; nil where it cannot be opened any more.
    public let secret: String?
    public let expiresAt: Timestamp

    public init(id: UUID, account: UUID, secret: String?, expiresAt: Timestamp) {
        self.id = id
        self.account = account
        self.secret = secret
        self.expiresAt = expiresAt
    }
}

/// That an authenticator app has the secret.
public struct ConfirmedTOTP: Sendable, Equatable {
    public let account: UUID
    /// The period of the code that showed it.
    public let step: Int64
    public let at: Timestamp
    /// Keyed digests.
    public let recoveryCodes: [SecretDigest]
    /// The mail that tells the account's owner.
    public let mail: UUID

    public init(
        account: UUID, step: Int64, at: Timestamp, recoveryCodes: [SecretDigest], mail: UUID
    ) {
        self.account = account
        self.step = step
        self.at = at
        self.recoveryCodes = recoveryCodes
        self.mail = mail
    }
}

/// What happens to the second factor of an account.
public enum TwoFactorEvent: Event {
    case offered(OfferedTOTP)
    /// From now on a code is asked for.
    case confirmed(ConfirmedTOTP)
    /// The code of this period was taken.
    case used(step: Int64)
    /// A wrong code was typed. Its owner is told by the mail, where guesses begin to rest.
    case refused(at: Timestamp, account: UUID? = nil, mail: UUID? = nil)
    case recoveryCodeUsed(SecretDigest)
    /// Those that were there before are worth nothing.
    case recoveryCodesRenewed([SecretDigest])
    /// Nothing is asked for any more; the mail tells the account's owner.
    case removed(account: UUID, mail: UUID)

    private static let step: EventField = .integer("step", "Period of the code (RFC 6238).")
    private static let recoveryCodes = EventField(
        "recovery_codes", .list(.bytes), "Keyed digests of the recovery codes.",
        .neverLeaves(.plain))

    public static let catalogue: [EventShape] = [
        EventShape(
            "totp.offered", .internal, "The person got a secret for an authenticator app.",
            [
                .uuid("totp", "Name of the offer."), .account, .expiresAt,
                .bytes("secret", "Secret of the authenticator app.", .neverLeaves(.sealed))
                    .optional,
            ]),
        EventShape(
            "totp.confirmed", .services, "The person set up an authenticator app.",
            [
                .account, step, .time("confirmed_at", "When it was set up."), recoveryCodes,
                .notice,
            ]),
        EventShape("totp.used", .internal, "A code of the authenticator app was accepted.", [step]),
        EventShape(
            "totp.refused", .audit, "A wrong code of the authenticator app was typed.",
            [.account.optional, .notice.optional, .refusedAt]),
        EventShape(
            "totp.removed", .services, "The authenticator app was removed.", [.account, .notice]),
        EventShape(
            "recovery_code.used", .audit, "A recovery code was used.",
            [
                .bytes("digest", "Keyed digest of the recovery code.", .neverLeaves(.plain))
            ]),
        EventShape(
            "recovery_codes.renewed", .services, "The person got other recovery codes.",
            [recoveryCodes]),
    ]

    public var name: String {
        switch self {
        case .offered: "totp.offered"
        case .confirmed: "totp.confirmed"
        case .used: "totp.used"
        case .refused: "totp.refused"
        case .removed: "totp.removed"
        case .recoveryCodeUsed: "recovery_code.used"
        case .recoveryCodesRenewed: "recovery_codes.renewed"
        }
    }

    /// The secret is the account's: who erases the account destroys it.
    public var subject: UUID? {
        if case .offered(let offer) = self { offer.account } else { nil }
    }

    public var fields: JSONObject {
        switch self {
        case .offered(let offer):
            var fields: JSONObject = [
                "totp": .uuid(offer.id), "account": .uuid(offer.account),
                "expires_at": .integer(offer.expiresAt.seconds),
            ]
            fields["secret"] = offer.secret.map { .string($0) }
            return fields
        case .confirmed(let enrolment):
            return [
                "account": .uuid(enrolment.account), "step": .integer(enrolment.step),
                "confirmed_at": .integer(enrolment.at.seconds),
                "recovery_codes": .digests(enrolment.recoveryCodes),
                "mail": .uuid(enrolment.mail),
            ]
        case .used(let step): return ["step": .integer(step)]
        case .refused(let at, let account, let mail):
            var fields: JSONObject = ["refused_at": .integer(at.seconds)]
            fields["account"] = account.map { .uuid($0) }
            fields["mail"] = mail.map { .uuid($0) }
            return fields
        case .recoveryCodeUsed(let digest): return ["digest": .string(digest.base64URL)]
        case .recoveryCodesRenewed(let digests): return ["recovery_codes": .digests(digests)]
        case .removed(let account, let mail):
            return ["account": .uuid(account), "mail": .uuid(mail)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        switch name {
        case "totp.offered":
            guard let id = fields.uuid("totp"), let account = fields.uuid("account"),
                let expiresAt = fields.instant("expires_at")
            else { return nil }
            self = .offered(
                OfferedTOTP(
                    id: id, account: account, secret: fields["secret"]?.string,
                    expiresAt: expiresAt))
        case "totp.confirmed":
            guard let account = fields.uuid("account"), let step = fields["step"]?.integer,
                let at = fields.instant("confirmed_at"),
                let digests = fields.digests("recovery_codes"), let mail = fields.uuid("mail")
            else { return nil }
            self = .confirmed(
                ConfirmedTOTP(
                    account: account, step: step, at: at, recoveryCodes: digests, mail: mail))
        case "totp.used":
            guard let step = fields["step"]?.integer else { return nil }
            self = .used(step: step)
        case "totp.refused":
            guard let at = fields.instant("refused_at") else { return nil }
            self = .refused(at: at, account: fields.uuid("account"), mail: fields.uuid("mail"))
        case "totp.removed":
            guard let account = fields.uuid("account"), let mail = fields.uuid("mail") else {
                return nil
            }
            self = .removed(account: account, mail: mail)
        case "recovery_code.used":
            guard let digest = fields.digest("digest") else { return nil }
            self = .recoveryCodeUsed(digest)
        case "recovery_codes.renewed":
            guard let digests = fields.digests("recovery_codes") else { return nil }
            self = .recoveryCodesRenewed(digests)
        default: return nil
        }
    }
}

extension JSONObject {
    fileprivate func digests(_ name: String) -> [SecretDigest]? {
        guard let texts = texts(name) else { return nil }
        let digests = texts.compactMap(SecretDigest.init(base64URL:))
        return digests.count == texts.count ? digests : nil
    }
}

extension JSON {
    fileprivate static func digests(_ digests: [SecretDigest]) -> JSON {
        .texts(digests.map(\.base64URL))
    }
}
