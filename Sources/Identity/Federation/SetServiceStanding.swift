public import EventSourcing
public import Values

/// Lets a service refuse a person, or take them again.
public struct SetServiceStanding: Command {
    public var service: UUID
    public var account: UUID
    public var isRefused: Bool

    public init(service: UUID, account: UUID, isRefused: Bool) {
        self.service = service
        self.account = account
        self.isRefused = isRefused
    }

    public enum Rejection: Error, Equatable, Sendable {
        case noSuchService
        case noSuchAccount
    }

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let client: Versioned<Client>
        let account: Versioned<Account>
        let standing: Versioned<ServiceStanding>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            client: try await streams.read(Client.self, service),
            account: try await streams.read(Account.self, account),
            standing: try await streams.read(
                ServiceStanding.self, ServiceStanding.stream(of: account, at: service)))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.client.aliveMetadata?.rules.isFederationService == true else {
            throw .noSuchService
        }
        guard facts.account.exists, !facts.account.state.isDeleted else { throw .noSuchAccount }
        guard facts.standing.state.isRefused != isRefused else { return Decision() }
        let clientID = facts.client.state.clientID
        let event: ServiceStandingEvent =
            isRefused
            ? .refused(account: account, client: service, clientID: clientID)
            : .admitted(account: account, client: service, clientID: clientID)
        return Decision(event, in: facts.standing.stream, of: account)
    }
}
