public import EventSourcing
public import Values

/// Lets no more clients come by a registration token. Clients that registered with it stay.
public struct RevokeRegistrationToken: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public typealias Rejection = NotFound<RegistrationToken>

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<RegistrationToken> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<RegistrationToken>) throws(Rejection) -> Decision {
        guard facts.thing.exists, !facts.thing.state.isRevoked else { throw .notFound }
        return Decision(RegistrationTokenEvent.revoked, in: id)
    }
}
