public import EventSourcing
public import Values

/// Has a mail that failed tried again.
public struct RequeueMail: Command {
    public var mail: UUID

    public init(mail: UUID) {
        self.mail = mail
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case notFailed
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Mail> {
        try await streams.read(Mail.self, mail)
    }

    public func decide(_ facts: Versioned<Mail>) throws(Rejection) -> Decision {
        guard facts.exists else { throw .notFound }
        guard facts.state.status == .failed else { throw .notFailed }
        return Decision(MailEvent.requeued, in: mail)
    }
}
