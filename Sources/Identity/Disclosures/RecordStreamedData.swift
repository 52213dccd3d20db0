public import EventSourcing
public import Values

/// Puts on record that personal data is sent to a subscription, before it is.
public struct RecordStreamedData: Command {
    public var id: UUID
    public var batch: StreamedBatch

    public init(id: UUID, batch: StreamedBatch) {
        self.id = id
        self.batch = batch
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Disclosure> {
        try await streams.read(Disclosure.self, id)
    }

    public func decide(_ facts: Versioned<Disclosure>) throws(Rejection) -> Decision {
        guard !facts.exists else { throw .idTaken }
        return Decision(DisclosureEvent.streamed(batch), in: id)
    }
}
