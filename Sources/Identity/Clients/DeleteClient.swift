public import EventSourcing
public import Values

/// Removes a client for good and frees its client id.
public struct DeleteClient: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public typealias Rejection = NotFound<Client>

    public struct Facts: RealmFacts {
        public let realm: Versioned<Realm>
        let thing: Versioned<Client>
        /// Of an installation.
        let owner: Versioned<Owner>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let known = try await InRealm<Client>.read(id, from: streams)
        var owner: Versioned<Owner>?
        if known.thing.state.metadata?.isInstallation == true {
            owner = try await streams.read(Owner.self, Owner.stream)
        }
        return Facts(realm: known.realm, thing: known.thing, owner: owner)
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard let metadata = facts.thing.aliveMetadata else { throw .notFound }
        var decision = Decision(ClientEvent.deleted, in: id)
        if metadata.isInstallation {
            decision.release(Installation.nameClaim(metadata.clientName ?? ""), by: id)
        }
        if let owner = facts.owner, owner.state.devices.contains(id) {
            decision.append(OwnerEvent.deviceRemoved(id), in: owner.stream)
        }
        decision.release(Client.claim(facts.thing.state.clientID), by: id)
        return decision
    }
}
