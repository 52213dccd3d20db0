public import EventSourcing
public import Values

/// Makes accounts that another system had, with what comes with them. Each stands for itself: one that cannot be made
/// holds up no other, and one that is here already stays as it is.
public struct ImportAccounts: AnsweringCommand, TimedCommand {
    public var accounts: [ImportedAccount]
    /// Whether it is only to be said what would become of them.
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

/// Decides on one account after the other: what one takes, no later one of the same command gets.
struct ImportDesk {
    let settings: Settings
    let providers: Providers
    let now: Timestamp
    private(set) var decision = Decision()
    private var taken: Set<UUID> = []
    private var credentials: Set<[UInt8]> = []

    init(settings: Settings, providers: Providers, now: Timestamp) {
        self.settings = settings
        self.providers = providers
        self.now = now
    }

    mutating func settle(
        _ imported: ImportedAccount, _ facts: ImportAccounts.AccountFacts
    ) -> ImportOutcome {
        let id = imported.account
        guard !facts.account.exists, !taken.contains(id) else {
            return facts.account.state.isDeleted ? .refused(.deleted) : .unchanged
        }
        do throws(FieldFault) {
            try imported.person.checkNew()
            try imported.person.checkHeld(imported.addresses)
            if imported.addresses.phone != nil, !imported.isConfirmed { throw Addresses.unproved }
        } catch {
            return .refused(.invalid(error))
        }
        guard !facts.change.isTaken, taken.isDisjoint(with: imported.addresses.all) else {
            return .refused(.addressTaken)
        }
        guard imported.passkeys.allSatisfy({ !credentials.contains($0.key.id) }) else {
            return .refused(.passkeyTaken)
        }
        taken.formUnion(imported.addresses.all + [id])
        register(imported)
        var leftOut = give(imported.roles, to: id)
        for (identity, known) in zip(imported.identities, facts.identities) {
            if !link(identity, known, to: id) { leftOut.append(.identity) }
        }
        for passkey in imported.passkeys where !enroll(passkey, for: id) {
            leftOut.append(.passkey)
        }
        addSecrets(imported)
        if imported.isDisabled { decision.append(AccountEvent.disabled(), in: id) }
        return .imported(leftOut: leftOut)
    }

    private mutating func register(_ imported: ImportedAccount) {
        let (id, addresses) = (imported.account, imported.addresses)
        decision.append(
            .registering(
                id, in: addresses.mailbox, isConfirmed: imported.isConfirmed,
                origin: .administrator, person: imported.person))
        decision.append(AccountEvent.imported(imported.origin), in: id)
        if let phone = addresses.phone {
            decision.append(AccountEvent.addressesChanged(addresses, left: []), in: id)
            decision.append(MailboxEvent.assigned(id), in: phone)
        }
    }

    private mutating func give(_ roles: GivenRoles, to account: UUID) -> [ImportedPart] {
        let known = settings.roles
        let given = GivenRoles(
            roles.byAudience.reduce(into: [:]) { given, entry in
                given[entry.key] = entry.value.filter { known.has($0, at: entry.key) }
            })
        if given != GivenRoles() {
            decision.append(AccountEvent.rolesChanged(given), in: account)
        }
        let missing = roles.count - given.count
        return Array(repeating: .role, count: missing)
    }

    private mutating func link(
        _ identity: ImportedAccount.Identity, _ known: Versioned<ProviderIdentity>,
        to account: UUID
    ) -> Bool {
        guard providers[identity.provider] != nil, known.state.account == nil,
            taken.insert(identity.identity).inserted, taken.insert(identity.place).inserted
        else { return false }
        decision.append(
            ProviderIdentityEvent.linked(
                account, provider: identity.provider, subject: identity.subject, mail: nil),
            in: identity.identity)
        decision.append(
            AccountIdentityEvent.chosen(identity.identity, account: account), in: identity.place)
        return true
    }

    private mutating func enroll(_ passkey: ImportedAccount.Passkey, for account: UUID) -> Bool {
        guard passkey.relyingParty == PasskeyDomain.id(settings, chosenBy: nil),
            credentials.insert(passkey.key.id).inserted
        else { return false }
        decision.append(
            PasskeyEvent.enrolled(
                EnrolledPasskey(
                    account: account, client: nil, relyingParty: passkey.relyingParty,
                    key: passkey.key, enrolledAt: now, mail: nil)), in: passkey.passkey)
        decision.take(Passkey.claim(passkey.key.id), for: passkey.passkey)
        return true
    }

    private mutating func addSecrets(_ imported: ImportedAccount) {
        let id = imported.account
        if let hash = imported.hash {
            decision.append(
                PassphraseEvent.imported(hash: hash, account: id, at: now),
                in: Passphrase.stream(of: id))
        }
        if let totp = imported.totp {
            let stream = TwoFactor.stream(of: id)
            decision.append(
                TwoFactorEvent.offered(
                    OfferedTOTP(
                        id: totp.totp, account: id, secret: totp.secret, expiresAt: now)),
                in: stream)
            decision.append(
                TwoFactorEvent.confirmed(
                    ConfirmedTOTP(
                        account: id, step: -1, at: now, recoveryCodes: [], mail: nil)),
                in: stream)
        }
    }
}

extension Array where Element: Sendable {
    /// Reads for all elements at once: what is read at the same time is one question to the database.
    func readTogether<Value: Sendable>(
        _ read: @escaping @Sendable (Element) async throws(LogFailure) -> Value
    ) async throws(LogFailure) -> [Value] {
        let values: [(Int, Value)]
        do {
            values = try await withThrowingTaskGroup(of: (Int, Value).self) { group in
                for (index, element) in enumerated() {
                    group.addTask { (index, try await read(element)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        } catch let failure as LogFailure {
            throw failure
        } catch {
            throw .unavailable
        }
        return values.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
