public import EventSourcing
public import Values

/// Lets a client know and do what its person agreed to, beside what had been agreed to before.
public struct GiveConsent: Command {
    /// The stream of the two.
    public var consent: UUID
    public var account: UUID
    /// The client's stream.
    public var client: UUID
    public var scope: [String]
    public var now: Timestamp

    public init(consent: UUID, account: UUID, client: UUID, scope: [String], now: Timestamp) {
        self.consent = consent
        self.account = account
        self.client = client
        self.scope = scope
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case realmNotFound
        case realmDisabled
        case clientNotFound
        case accountBlocked
    }

    public struct Facts: Sendable {
        let realm: Versioned<Realm>
        let account: Versioned<Account>
        let client: Versioned<Client>
        let consent: Versioned<Consent>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            account: try await streams.read(Account.self, account),
            client: try await streams.read(Client.self, client),
            consent: try await streams.read(Consent.self, consent))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        try facts.realm.requireOpen(
            missing: Rejection.realmNotFound, disabled: .realmDisabled)
        guard facts.client.aliveMetadata != nil, !facts.client.state.isDisabled else {
            throw .clientNotFound
        }
        guard facts.account.isWelcome else { throw .accountBlocked }
        var all = facts.consent.state.given?.scope ?? []
        for name in scope where !all.contains(name) { all.append(name) }
        return Decision(
            ConsentEvent.given(
                GivenConsent(
                    account: account, client: client, clientID: facts.client.state.clientID,
                    scope: all, at: now)), in: consent)
    }
}
