public import EventSourcing
public import Values

/// Puts on record that a subject's personal data was made unreadable for ever.
///
/// The adapter destroys the key first: what the log says must be true. The event is appended once.
public struct EraseSubject: Command {
    public var subject: UUID

    public init(subject: UUID) {
        self.subject = subject
    }

    public typealias Rejection = NotFound<Realm>

    public struct Facts: Sendable {
        let realm: Versioned<Realm>
        let account: Versioned<Account>
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        Facts(
            realm: try await streams.read(Realm.self, Realm.stream),
            account: try await streams.read(Account.self, subject))
    }

    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        guard facts.realm.exists else { throw .notFound }
        guard !facts.realm.state.erased.contains(subject), !facts.account.state.isErased else {
            return Decision()
        }
        return Decision(RealmEvent.subjectErased(subject), in: Realm.stream)
    }
}
