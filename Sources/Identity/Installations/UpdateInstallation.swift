public import EventSourcing
public import JSON
public import Values

/// Replaces what an installation said of itself, and its secret if it asks for another one. One that leads
/// elsewhere from then on, or is another software, has to be certified anew.
public struct UpdateInstallation: TimedCommand {
    public var id: UUID
    /// As the app says it.
    public var metadata: JSONObject
    public var rotation: SecretRotation?
    public var now: Timestamp

    public init(
        id: UUID, metadata: JSONObject, rotation: SecretRotation? = nil, now: Timestamp
    ) {
        self.id = id
        self.metadata = metadata
        self.rotation = rotation
        self.now = now
    }

    /// Another secret, in the place of the one that was in force when it was derived.
    public struct SecretRotation: Sendable, Equatable {
        public var replaced: SecretDigest
        public var secret: SecretDigest

        public init(replaced: SecretDigest, secret: SecretDigest) {
            self.replaced = replaced
            self.secret = secret
        }
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case nameTaken
        /// It got another secret in the meantime.
        case secretReplaced
        case invalid(FieldFault)
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Client> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Client>) throws(Rejection) -> Decision {
        guard let current = facts.thing.installation(at: now) else { throw .notFound }
        let checked: ClientMetadata
        do {
            checked = try InstallationMetadata.read(metadata)
        } catch {
            throw .invalid(error)
        }
        if let rotation, facts.thing.state.secret != rotation.replaced { throw .secretReplaced }
        var decision = Decision()
        if checked != current { decision.append(ClientEvent.updated(checked), in: id) }
        let isSame =
            checked.redirectURIs == current.redirectURIs
            && checked.softwareID == current.softwareID
        if !isSame, facts.thing.state.certification != nil {
            decision.append(ClientEvent.certificationRevoked(.metadataChanged, at: now), in: id)
        }
        if let rotation {
            decision.append(ClientEvent.secretRotated(rotation.secret), in: id)
        }
        if let name = checked.clientName, let before = current.clientName, name != before {
            decision.take(Installation.nameClaim(name), for: id)
            decision.release(Installation.nameClaim(before), by: id)
        }
        return decision
    }

    public func rejection(takenClaim kind: String) -> Rejection { .nameTaken }
}
