public import EventSourcing
public import Values

/// Puts on record that sealed data is disclosed, before it is.
public struct RecordDisclosure: Command {
    public var id: UUID
    public var kind: DisclosureKind
    /// The accounts whose data is disclosed.
    public var accounts: [UUID]
    /// The reason that the administrator gave.
    public var reason: String?

    public static let longestReason = 300

    public init(id: UUID, kind: DisclosureKind, accounts: [UUID], reason: String? = nil) {
        self.reason = reason
        self.id = id
        self.kind = kind
        self.accounts = accounts
    }

    public enum Rejection: Error, Equatable, Sendable {
        case idTaken
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Disclosure> {
        try await streams.read(Disclosure.self, id)
    }

    public func decide(_ facts: Versioned<Disclosure>) throws(Rejection) -> Decision {
        guard !facts.exists else { throw .idTaken }
        if let reason {
            do throws(FieldFault.Reason) {
                try TextRule.label(reason, limit: Self.longestReason)
            } catch {
                throw .invalid(FieldFault("reason", error))
            }
        }
        return Decision(DisclosureEvent.made(kind, accounts: accounts, reason: reason), in: id)
    }
}
