public import EventSourcing
public import Values

/// Removes a client for good and frees its client id.
public struct DeleteClient: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public enum Rejection: Error, Equatable, Sendable {
        case realmNotFound
        case realmDisabled
        case notFound
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Client> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Client>) throws(Rejection) -> Decision {
        try facts.realm.requireOpen(
            missing: Rejection.realmNotFound, disabled: .realmDisabled)
        guard let metadata = facts.thing.aliveMetadata else { throw .notFound }
        var decision = Decision(ClientEvent.deleted, in: id)
        if metadata.isInstallation {
            decision.release(Installation.nameClaim(metadata.clientName ?? ""), by: id)
        }
        decision.release(Client.claim(facts.thing.state.clientID), by: id)
        return decision
    }
}
