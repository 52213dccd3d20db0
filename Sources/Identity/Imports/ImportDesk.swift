internal import EventSourcing
internal import Values

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
