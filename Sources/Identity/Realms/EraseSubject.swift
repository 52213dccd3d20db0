public import EventSourcing
public import Values

/// Puts on record that a subject's personal data was made unreadable for ever.
///
/// The adapter destroys the key first: what the log says must be true. A repeat is harmless.
public struct EraseSubject: Command {
    public var subject: UUID

    public init(subject: UUID) {
        self.subject = subject
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Realm> {
        try await streams.read(Realm.self, Realm.stream)
    }

    public func decide(_ realm: Versioned<Realm>) throws(Rejection) -> Decision {
        guard realm.exists else { throw .notFound }
        return Decision(RealmEvent.subjectErased(subject), in: Realm.stream)
    }
}
