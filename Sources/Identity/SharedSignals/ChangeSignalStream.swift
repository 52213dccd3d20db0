public import EventSourcing
public import Values

/// Changes what a receiver has said of its stream: how it is delivered and of which types.
public struct ChangeSignalStream: Command {
    public var id: UUID
    /// Only if it is this client's: others learn nothing of it.
    public var client: UUID
    public var settings: SignalSettings

    public init(id: UUID, client: UUID, settings: SignalSettings) {
        self.id = id
        self.client = client
        self.settings = settings
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<SignalStream> {
        try await .read(id, from: streams)
    }

    public func decide(_ facts: InRealm<SignalStream>) throws(Rejection) -> Decision {
        guard facts.thing.state.aliveTerms?.client == client else { throw .notFound }
        do {
            try settings.check()
        } catch {
            throw .invalid(error)
        }
        guard facts.thing.state.settings != settings else { return Decision() }
        return Decision(SignalStreamEvent.changed(settings), in: id)
    }
}
