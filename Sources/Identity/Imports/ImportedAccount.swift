public import Values

/// An account as another system knew it, with what follows from it here.
public struct ImportedAccount: Sendable, Equatable {
    /// Follows from the system and its name for the account, so that a repeat finds it.
    public var account: UUID
    public var addresses: Addresses
    public var person: Person
    /// Whether that system had verified the addresses.
    public var isConfirmed: Bool
    public var isDisabled: Bool
    public var origin: AccountImport
    /// The hash that was made of its passphrase.
    public var hash: String?
    public var roles: GivenRoles
    public var identities: [Identity]
    public var passkeys: [Passkey]
    public var totp: TOTP?

    public init(
        account: UUID, addresses: Addresses, person: Person, isConfirmed: Bool,
        isDisabled: Bool = false, origin: AccountImport, hash: String? = nil,
        roles: GivenRoles = GivenRoles(), identities: [Identity] = [], passkeys: [Passkey] = [],
        totp: TOTP? = nil
    ) {
        self.account = account
        self.addresses = addresses
        self.person = person
        self.isConfirmed = isConfirmed
        self.isDisabled = isDisabled
        self.origin = origin
        self.hash = hash
        self.roles = roles
        self.identities = identities
        self.passkeys = passkeys
        self.totp = totp
    }

    /// Its person at a provider.
    public struct Identity: Sendable, Equatable {
        /// The streams: see `LinkIdentity`.
        public var identity: UUID
        public var place: UUID
        public var provider: String
        public var subject: String

        public init(identity: UUID, place: UUID, provider: String, subject: String) {
            self.identity = identity
            self.place = place
            self.provider = provider
            self.subject = subject
        }
    }

    /// A passkey that works here as well, where the domain is the same.
    public struct Passkey: Sendable, Equatable {
        public var passkey: UUID
        public var relyingParty: String
        public var key: CredentialRecord

        public init(passkey: UUID, relyingParty: String, key: CredentialRecord) {
            self.passkey = passkey
            self.relyingParty = relyingParty
            self.key = key
        }
    }

    /// The secret of its authenticator app.
    public struct TOTP: Sendable, Equatable {
        public var totp: UUID
        /// In base64url.
        public var secret: String

        public init(totp: UUID, secret: String) {
            self.totp = totp
            self.secret = secret
        }
    }
}

/// What became of an account of another system.
public enum ImportOutcome: Sendable, Equatable {
    /// The account is here now, without these parts.
    case imported(leftOut: [ImportedPart])
    /// It was imported before. Nothing changes.
    case unchanged
    case refused(Reason)

    public enum Reason: Sendable, Equatable {
        /// The account was imported, and deleted here.
        case deleted
        /// Another account has the mail address or the phone number.
        case addressTaken
        /// Another account has one of the passkeys.
        case passkeyTaken
        case invalid(FieldFault)
    }
}

/// What may be left out of an account that is imported.
public enum ImportedPart: String, CaseIterable, Sendable {
    /// The realm does not know the role.
    case role
    /// The realm does not know the provider, or another account has the identity.
    case identity
    /// The passkey belongs to another domain than those of the realm.
    case passkey
}
