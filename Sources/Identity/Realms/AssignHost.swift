public import EventSourcing
public import Values

/// Makes a host name lead to a realm; a host leads to one realm only.
///
/// Runs in the system realm, whose claims make a host name unique over all tenants.
public struct AssignHost: Command {
    public var id: UUID
    public var host: String
    public var realm: RealmID

    public init(id: UUID, host: String, realm: RealmID) {
        self.id = id
        self.host = host
        self.realm = realm
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// The id stands for another host.
        case idTaken
        case hostTaken
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Host> {
        try await streams.read(Host.self, id)
    }

    public func decide(_ facts: Versioned<Host>) throws(Rejection) -> Decision {
        guard HostName(host) != nil else { throw .invalid(FieldFault("host", .malformed)) }
        if facts.exists {
            guard facts.state.name == host else { throw .idTaken }
            if facts.state.realm == realm { return Decision() }
            guard facts.state.realm == nil else { throw .hostTaken }
        }
        var decision = Decision(HostEvent.assigned(host: host, realm: realm), in: id)
        decision.take(Host.claim(host), for: id)
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .hostTaken }
}
