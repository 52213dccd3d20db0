public import EventSourcing
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
    /// The mail that tells the account's owner. Nil: it was imported.
    public let mail: UUID?

    public init(
        account: UUID, step: Int64, at: Timestamp, recoveryCodes: [SecretDigest], mail: UUID?
    ) {
        self.account = account
        self.step = step
        self.at = at
        self.recoveryCodes = recoveryCodes
        self.mail = mail
    }
}

/// What happens to the second factor of an account.
public enum TwoFactorEvent: FormedEvent {
    case offered(OfferedTOTP)
    /// From now on a code is asked for.
    case confirmed(ConfirmedTOTP)
    /// The code of this period was taken.
    case used(step: Int64)
    /// A wrong code was typed. Its owner is told by the mail, where guesses begin to rest.
    case refused(at: Timestamp, account: UUID? = nil, mail: UUID? = nil)
    case recoveryCodeUsed(SecretDigest)
    /// Earlier recovery codes are void.
    case recoveryCodesRenewed([SecretDigest])
    /// Nothing is asked for any more; the mail tells the account's owner.
    case removed(account: UUID, mail: UUID)

    package enum Form {
        package static let offered = EventForm(
            "totp.offered", .internal, .detail, "The person got a secret for an authenticator app.",
            .offer, make: TwoFactorEvent.offered)
        package static let confirmed = EventForm(
            "totp.confirmed", .services, .factorAdded(.authenticator),
            "The person set up an authenticator app.", .confirmation, make: TwoFactorEvent.confirmed
        )
        package static let used = EventForm(
            "totp.used", .internal, .secretUsed(.authenticator),
            "A code of the authenticator app was accepted.", .step, make: TwoFactorEvent.used)
        package static let refused = EventForm(
            "totp.refused", .audit, .secretRefused(.authenticator),
            "A wrong code of the authenticator app was typed.", .refusedAt, .optional(.account),
            .optional(.notice), make: TwoFactorEvent.refused)
        package static let removed = EventForm(
            "totp.removed", .services, .factorRemoved(.authenticator),
            "The authenticator app was removed.", .account, .notice, make: TwoFactorEvent.removed)
        package static let recoveryCodeUsed = EventForm(
            "recovery_code.used", .audit, .secretUsed(.recoveryCode), "A recovery code was used.",
            .digest("digest", "Keyed digest of the recovery code."),
            make: TwoFactorEvent.recoveryCodeUsed)
        package static let recoveryCodesRenewed = EventForm(
            "recovery_codes.renewed", .services, .recoveryCodesRenewed,
            "The person got other recovery codes.", .recoveryCodes,
            make: TwoFactorEvent.recoveryCodesRenewed)
    }

    public static let forms: EventForms<Self> = [
        Form.offered, Form.confirmed, Form.used, Form.refused, Form.removed, Form.recoveryCodeUsed,
        Form.recoveryCodesRenewed,
    ]

    /// The secret is the account's: who erases the account destroys it.
    public var subject: UUID? {
        if case .offered(let offer) = self { offer.account } else { nil }
    }

    public var written: WrittenEvent {
        switch self {
        case .offered(let offer): Form.offered(offer)
        case .confirmed(let enrolment): Form.confirmed(enrolment)
        case .used(let step): Form.used(step)
        case .refused(let at, let account, let mail): Form.refused(at, account, mail)
        case .recoveryCodeUsed(let digest): Form.recoveryCodeUsed(digest)
        case .recoveryCodesRenewed(let digests): Form.recoveryCodesRenewed(digests)
        case .removed(let account, let mail): Form.removed(account, mail)
        }
    }
}

extension Field<Int64> {
    fileprivate static let step = integer("step", "Period of the code (RFC 6238).")
}

extension Field<[SecretDigest]> {
    fileprivate static let recoveryCodes = list(
        "recovery_codes", .bytes, "Keyed digests of the recovery codes.", .neverLeaves(.plain),
        write: \.base64URL, read: { SecretDigest(base64URL: $0) })
}

extension Field<OfferedTOTP> {
    fileprivate static let offer = record(
        .uuid("totp", "Name of the offer."), .account,
        .optional(
            .text("secret", .bytes, "Secret of the authenticator app.", .neverLeaves(.sealed))),
        .expiresAt, make: { OfferedTOTP(id: $0, account: $1, secret: $2, expiresAt: $3) },
        take: { ($0.id, $0.account, $0.secret, $0.expiresAt) })
}

extension Field<ConfirmedTOTP> {
    fileprivate static let confirmation = record(
        .account, .step, .time("confirmed_at", "Enrolment time."), .recoveryCodes,
        .optional(.notice),
        make: { ConfirmedTOTP(account: $0, step: $1, at: $2, recoveryCodes: $3, mail: $4) },
        take: { ($0.account, $0.step, $0.at, $0.recoveryCodes, $0.mail) })
}
