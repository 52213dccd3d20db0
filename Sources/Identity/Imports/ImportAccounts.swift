public import EventSourcing
public import Values

/// Makes accounts that another system had, with what comes with them. Each stands for itself: an account that cannot be
/// made holds up no other, and an account that is here already stays as it is.
public struct ImportAccounts: AnsweringCommand, TimedCommand {
    public var accounts: [ImportedAccount]
    /// Whether the answer is only to say what would become of the accounts.
    public var isTrial: Bool
    public var now: Timestamp

    public init(accounts: [ImportedAccount], isTrial: Bool = false, now: Timestamp) {
        self.accounts = accounts
        self.isTrial = isTrial
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Another account has one of the passkeys. It is not known whose: one account at a time says it.
        case passkeyTaken
    }

    /// One for each account, in their order.
    public typealias Outcome = [ImportOutcome]

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let providers: Versioned<Providers>
        let accounts: [AccountFacts]
    }

    struct AccountFacts: Sendable {
        let account: Versioned<Account>
        let change: AddressChange
        /// What signs in by these names now.
        let identities: [Versioned<ProviderIdentity>]
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let realm = try await streams.read(Realm.self, Realm.stream)
        let providers = try await streams.read(Providers.self, Providers.stream)
        return Facts(
            realm: realm, providers: providers,
            accounts: try await accounts.readTogether { (account) throws(LogFailure) in
                try await facts(of: account, streams)
            })
    }

    private func facts(
        of imported: ImportedAccount, _ streams: some StreamReader
    ) async throws(LogFailure) -> AccountFacts {
        let account = try await streams.read(Account.self, imported.account)
        let change = try await AddressChange(
            of: account, to: imported.addresses, from: streams)
        guard !account.exists else {
            return AccountFacts(account: account, change: change, identities: [])
        }
        // Their names follow from the account's: where that is new, so are they.
        if imported.hash != nil {
            _ = try await streams.readNew(Passphrase.self, Passphrase.stream(of: account.stream))
        }
        if imported.totp != nil {
            _ = try await streams.readNew(TwoFactor.self, TwoFactor.stream(of: account.stream))
        }
        for passkey in imported.passkeys {
            _ = try await streams.readNew(Passkey.self, passkey.passkey)
        }
        var identities: [Versioned<ProviderIdentity>] = []
        for identity in imported.identities {
            _ = try await streams.readNew(AccountIdentity.self, identity.place)
            identities.append(try await streams.read(ProviderIdentity.self, identity.identity))
        }
        return AccountFacts(account: account, change: change, identities: identities)
    }

    public func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome> {
        var desk = ImportDesk(
            settings: facts.realm.state.settings, providers: facts.providers.state, now: now)
        let outcomes = zip(accounts, facts.accounts).map { desk.settle($0, $1) }
        return SettledDecision(isTrial ? Decision() : desk.decision, outcomes)
    }

    public func rejection(takenClaim kind: String) -> Rejection { .passkeyTaken }
}
