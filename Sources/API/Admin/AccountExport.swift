internal import Cryptography
public import EventSourcing
internal import Identity
public import JSON
internal import ReadModels
public import Values

/// The accounts of a realm in the form that an import reads, with the secrets that they sign in by.
///
/// No route has it: what never leaves the log goes to an operator alone who holds the database and the master key, and who
/// could read it there.
public struct AccountExport: Sendable {
    /// Accounts that are opened at once, in one event.
    public static let mostAtOnce = 200

    private let context: AdminContext
    private let realm: RealmID
    private let reason: String

    public init(_ context: AdminContext, realm: RealmID, reason: String) {
        self.context = context
        self.realm = realm
        self.reason = reason
    }

    /// Some of the accounts, and the last one of them.
    public struct Page: Sendable {
        public let records: [JSON]
        /// Nil at the end.
        public let last: UUID?
    }

    /// The accounts after one. That they are shown is on record before.
    public func page(after: UUID?) async throws -> Page {
        let accounts = try await context.queries.ask(
            AccountView.page, (after: after, limit: Self.mostAtOnce), in: realm)
        guard let last = accounts.last else { return Page(records: [], last: nil) }
        var random = SystemRandom()
        let now = context.now()
        _ = try await context.commands.dispatch(
            DisclosureChange.record(
                .v7(at: now, using: &random), kind: .person, accounts: accounts.map(\.id),
                reason: "Export of accounts with their secrets: \(reason)"),
            in: realm, id: .v7(at: now, using: &random), digest: [],
            origin: Origin(actor: "operator:\(context.operator ?? "")", at: now))
        let mint = try await context.mint(realm)
        let providers = try await folded(Providers.self, Providers.stream)
        let records = try await accounts.readTogether { try await record(of: $0, mint, providers) }
        return Page(records: records.compactMap(\.self), last: last.id)
    }

    /// Nil for an account whose person is gone.
    private func record(
        of account: AccountView, _ mint: TokenMint, _ providers: Providers
    ) async throws -> JSON? {
        let events = try await context.commands.events.stream(account.id, after: 0, in: realm)
        guard let known = KnownPerson(events), !known.isErased, known.person.address != nil else {
            return nil
        }
        var origin: AccountImport?
        for recorded in events {
            if case .imported(let known)? = AccountEvent(recorded) { origin = known }
        }
        let person = known.person
        var members: JSONObject = [
            "id": .string(account.id.description), "enabled": .bool(!account.isDisabled),
            "created_at": .string((origin?.createdAt ?? account.registeredAt).description),
        ]
        for (name, value) in [
            ("email", person.email), ("phone", person.phone), ("first_name", person.firstName),
            ("last_name", person.lastName), ("language", person.language),
            ("external_id", person.externalID),
        ] { members[name] = value.map { .string($0) } }
        if person.email != nil { members["email_verified"] = .bool(known.isConfirmed) }
        if person.phone != nil { members["phone_verified"] = .bool(known.isConfirmed) }
        if !known.roles.byAudience.isEmpty { members["roles"] = known.roles.json }
        try await addSecrets(of: account.id, to: &members)
        try await addIdentities(of: account.id, mint, providers, to: &members)
        try await addPasskeys(of: account.id, to: &members)
        return .object(members)
    }

    /// What a device derives from a passphrase is no hash that another system could verify.
    private func addSecrets(of account: UUID, to members: inout JSONObject) async throws {
        let passphrase = try await folded(Passphrase.self, Passphrase.stream(of: account))
        if passphrase.derived == nil {
            members["passphrase_hash"] = passphrase.hash.map { .string($0) }
        }
        let second = try await folded(TwoFactor.self, TwoFactor.stream(of: account))
        members["totp_secret"] = second.enrolled?.secret.flatMap { Base64URL.decode($0) }
            .map { .string(Base32.encode($0)) }
    }

    private func addIdentities(
        of account: UUID, _ mint: TokenMint, _ providers: Providers, to members: inout JSONObject
    ) async throws {
        var identities: [JSON] = []
        for provider in providers.all {
            let place = try await folded(
                AccountIdentity.self, mint.accountIdentity(account, at: provider.slug))
            guard let identity = place.identity else { continue }
            let events = try await context.commands.events.stream(identity, after: 0, in: realm)
            for case .linked(account, _, let subject?, _)? in events.map(ProviderIdentityEvent.init)
            {
                identities = identities.filter { $0["provider"]?.string != provider.slug }
                identities.append(
                    ["provider": .string(provider.slug), "subject": .string(subject)])
            }
        }
        if !identities.isEmpty { members["identities"] = .array(identities) }
    }

    private func addPasskeys(of account: UUID, to members: inout JSONObject) async throws {
        let passkeys = try await context.queries.ask(PasskeyView.ofAccount, account, in: realm)
        guard !passkeys.isEmpty else { return }
        members["passkeys"] = .array(
            passkeys.map { passkey in
                [
                    "relying_party": .string(passkey.relyingParty),
                    "credential_id": .string(Base64URL.encode(passkey.credential)),
                    "public_key": .string(Base64URL.encode(passkey.publicKey)),
                    "counter": .integer(passkey.counter),
                    "backup_eligible": .bool(passkey.isBackupEligible),
                    "transports": .array(passkey.transports.map { .string($0) }),
                ]
            })
    }

    private func folded<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws -> State {
        var state = State()
        for recorded in try await context.commands.events.stream(stream, after: 0, in: realm) {
            guard let event = State.Event(recorded) else { throw LogFailure.damaged }
            state.apply(event)
        }
        return state
    }
}
