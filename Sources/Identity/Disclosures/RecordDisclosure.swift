public import EventSourcing
public import Values

/// Puts on record that sealed data is disclosed, before it is.
public struct RecordDisclosure: Command {
    public var id: UUID
    public var kind: DisclosureKind
    /// Whose it is.
    public var accounts: [UUID]

    public init(id: UUID, kind: DisclosureKind, accounts: [UUID]) {
        self.id = id
        self.kind = kind
        self.accounts = accounts
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
        return Decision(DisclosureEvent.made(kind, accounts: accounts), in: id)
    }
}
