public import EventSourcing
public import Values

/// Lets a disabled client work again, as it was.
public struct EnableClient: Command {
    public var id: UUID

    public init(id: UUID) {
        self.id = id
    }

    public typealias Rejection = NotFound<Client>

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> InRealm<Client> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<Client>) throws(Rejection) -> Decision {
        guard facts.thing.aliveMetadata != nil else { throw .notFound }
        guard facts.thing.state.isDisabled else { return Decision() }
        return Decision(ClientEvent.enabled, in: id)
    }
}
