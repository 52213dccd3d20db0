public import EventSourcing
public import Values

/// Puts on record that a message is handed to a gateway, before it is: one that was begun and of which no node
/// knows what became of it is not sent again, for its person would have it twice and its realm would pay twice.
public struct BeginMessage: AnsweringCommand {
    public var mail: UUID

    public init(mail: UUID) {
        self.mail = mail
    }

    public typealias Rejection = Never

    public enum Outcome: Equatable, Sendable {
        case begun
        /// The message is settled, or is settled now, since an attempt was begun before.
        case over
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Mail> {
        try await streams.read(Mail.self, mail)
    }

    public func settle(_ facts: Versioned<Mail>) -> SettledDecision<Outcome> {
        switch facts.state.status {
        case .due:
            SettledDecision(
                Decision(MailEvent.begun(attempt: facts.state.attempts + 1), in: mail), .begun)
        case .begun:
            SettledDecision(
                Decision(
                    MailEvent.failed(attempt: facts.state.attempts, code: 0, reason: .unsettled),
                    in: mail), .over)
        case .sent, .failed: SettledDecision(.over)
        }
    }
}
