public import EventSourcing
public import Values

/// Gives a client a new secret; the old one stops working at once.
public struct RotateClientSecret: Command {
    public var id: UUID
    public var secret: SecretDigest

    public init(id: UUID, secret: SecretDigest) {
        self.id = id
        self.secret = secret
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        /// The client does not authenticate by a secret.
        case usesNoSecret
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Client> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Client>) throws(Rejection) -> Decision {
        guard let metadata = facts.thing.aliveMetadata else { throw .notFound }
        guard metadata.authenticationMethod.usesSecret else { throw .usesNoSecret }
        guard secret != facts.thing.state.secret else { return Decision() }
        return Decision(ClientEvent.secretRotated(secret), in: id)
    }
}
