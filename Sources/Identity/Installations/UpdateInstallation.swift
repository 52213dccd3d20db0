public import EventSourcing
public import JSON
public import Values

/// Replaces what an installation said of itself, and its secret if it asks for another one.
public struct UpdateInstallation: TimedCommand {
    public var id: UUID
    /// As the app says it.
    public var metadata: JSONObject
    public var secret: SecretDigest?
    public var now: Timestamp

    public init(id: UUID, metadata: JSONObject, secret: SecretDigest? = nil, now: Timestamp) {
        self.id = id
        self.metadata = metadata
        self.secret = secret
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        case realmNotFound
        case realmDisabled
        case notFound
        case nameTaken
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Client> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Client>) throws(Rejection) -> Decision {
        try facts.realm.requireOpen(
            missing: Rejection.realmNotFound, disabled: .realmDisabled)
        guard let current = facts.thing.installation(at: now) else { throw .notFound }
        let checked: ClientMetadata
        do {
            checked = try InstallationMetadata.read(metadata)
        } catch {
            throw .invalid(error)
        }
        var decision = Decision()
        if checked != current { decision.append(ClientEvent.updated(checked), in: id) }
        if let secret { decision.append(ClientEvent.secretRotated(secret), in: id) }
        if let name = checked.clientName, let before = current.clientName, name != before {
            decision.take(Installation.nameClaim(name), for: id)
            decision.release(Installation.nameClaim(before), by: id)
        }
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .nameTaken }
}
