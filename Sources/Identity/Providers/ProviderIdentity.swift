public import EventSourcing
public import Values

/// A person as a provider knows them. The stream follows from issuer and subject under the realm's
/// key, so that it is found without a look-up, and the person cannot be read from it.
public struct ProviderIdentity: StreamState {
    /// The account that the identity signs in.
    public private(set) var account: UUID?

    public init() {}

    public mutating func apply(_ event: ProviderIdentityEvent) {
        switch event {
        case .linked(let account, _, _, _): self.account = account
        case .unlinked(let account, _): if self.account == account { self.account = nil }
        }
    }
}

public enum ProviderIdentityEvent: FormedEvent {
    /// It signs this account in from now on; its owner is told by the mail. The subject is the
    /// provider's own name for the person: nil where they are erased.
    case linked(UUID, provider: String, subject: String?, mail: UUID?)
    case unlinked(UUID, provider: String)

    package enum Form {
        package static let linked = EventForm(
            "identity.linked", .services, .recoveryChanged,
            "An identity at a provider signs the account in.", .account, .provider,
            .optional(.text("subject", "Name of the person at the provider.", .personal(.person))),
            .optional(.notice), make: ProviderIdentityEvent.linked)
        package static let unlinked = EventForm(
            "identity.unlinked", .services, .recoveryChanged,
            "The identity does not sign the account in any more.", .account, .provider,
            make: ProviderIdentityEvent.unlinked)
    }

    public static let forms: EventForms<Self> = [Form.linked, Form.unlinked]

    public var subject: UUID? {
        switch self {
        case .linked(let account, _, _, _), .unlinked(let account, _): account
        }
    }

    public var written: WrittenEvent {
        switch self {
        case .linked(let account, let provider, let subject, let mail):
            Form.linked(account, provider, subject, mail)
        case .unlinked(let account, let provider): Form.unlinked(account, provider)
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

public enum AccountIdentityEvent: FormedEvent {
    case chosen(UUID, account: UUID)
    case dropped(account: UUID)

    package enum Form {
        package static let chosen = EventForm(
            "account_identity.chosen", .audit, .accountChanged,
            "The account has an identity at a provider.",
            .uuid("identity", "Identity of the person at the provider."), .account,
            make: AccountIdentityEvent.chosen)
        package static let dropped = EventForm(
            "account_identity.dropped", .audit, .accountChanged,
            "The account has no identity at the provider.", .account,
            make: AccountIdentityEvent.dropped)
    }

    public static let forms: EventForms<Self> = [Form.chosen, Form.dropped]

    public var written: WrittenEvent {
        switch self {
        case .chosen(let identity, let account): Form.chosen(identity, account)
        case .dropped(let account): Form.dropped(account)
        }
    }
}
