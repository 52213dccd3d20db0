public import EventSourcing
public import JSON
public import Values

/// A person as a provider knows them. The stream follows from issuer and subject under the realm's
/// key, so that it is found without a look-up, and the person cannot be read from it.
public struct ProviderIdentity: StreamState {
    /// Whom it signs in.
    public private(set) var account: UUID?

    public init() {}

    public mutating func apply(_ event: ProviderIdentityEvent) {
        switch event {
        case .linked(let account, _, _, _): self.account = account
        case .unlinked(let account, _): if self.account == account { self.account = nil }
        }
    }
}

public enum ProviderIdentityEvent: Event {
    /// It signs this account in from now on; its owner is told by the mail. The subject is the
    /// provider's own name for the person: nil where they are erased.
    case linked(UUID, provider: String, subject: String?, mail: UUID?)
    case unlinked(UUID, provider: String)

    public static let catalogue: [EventShape] = [
        EventShape(
            "identity.linked", .services, "An identity at a provider signs the account in.",
            [
                .account, .provider, .notice.optional,
                .text("subject", "Name of the person at the provider.", .personal(.person))
                    .optional,
            ]),
        EventShape(
            "identity.unlinked", .services, "The identity does not sign the account in any more.",
            [.account, .provider]),
    ]

    public var name: String {
        switch self {
        case .linked: "identity.linked"
        case .unlinked: "identity.unlinked"
        }
    }

    public var subject: UUID? {
        switch self {
        case .linked(let account, _, _, _), .unlinked(let account, _): account
        }
    }

    public var fields: JSONObject {
        switch self {
        case .linked(let account, let provider, let subject, let mail):
            var fields: JSONObject = [
                "account": .uuid(account), "provider": .string(provider),
            ]
            fields["subject"] = subject.map { .string($0) }
            fields["mail"] = mail.map { .uuid($0) }
            return fields
        case .unlinked(let account, let provider):
            return ["account": .uuid(account), "provider": .string(provider)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let account = fields.uuid("account"), let provider = fields["provider"]?.string
        else { return nil }
        switch name {
        case "identity.linked":
            self = .linked(
                account, provider: provider, subject: fields["subject"]?.string,
                mail: fields.uuid("mail"))
        case "identity.unlinked": self = .unlinked(account, provider: provider)
        default: return nil
        }
    }
}

/// A person's identity at one provider: one for each account. The stream follows from both.
public struct AccountIdentity: StreamState {
    public private(set) var identity: UUID?

    public init() {}

    public mutating func apply(_ event: AccountIdentityEvent) {
        switch event {
        case .chosen(let identity, _): self.identity = identity
        case .dropped: identity = nil
        }
    }
}

public enum AccountIdentityEvent: Event {
    case chosen(UUID, account: UUID)
    case dropped(account: UUID)

    public static let catalogue: [EventShape] = [
        EventShape(
            "account_identity.chosen", .audit, "The account has an identity at a provider.",
            [
                .uuid("identity", "Identity of the person at the provider."), .account,
            ]),
        EventShape(
            "account_identity.dropped", .audit, "The account has no identity at the provider.",
            [.account]),
    ]

    public var name: String {
        switch self {
        case .chosen: "account_identity.chosen"
        case .dropped: "account_identity.dropped"
        }
    }

    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .chosen(let identity, let account):
            ["identity": .uuid(identity), "account": .uuid(account)]
        case .dropped(let account): ["account": .uuid(account)]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let account = fields.uuid("account") else { return nil }
        switch name {
        case "account_identity.chosen":
            guard let identity = fields.uuid("identity") else { return nil }
            self = .chosen(identity, account: account)
        case "account_identity.dropped": self = .dropped(account: account)
        default: return nil
        }
    }
}
