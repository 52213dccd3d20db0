public import EventSourcing
public import Values

/// Puts on record what a mail server said to a mail, and when it is tried again.
public struct RecordDelivery: Command {
    public enum Outcome: Sendable {
        case taken
        /// Not now: the server's code, 0 where it was not reached.
        case refusedForNow(code: Int)
        case refusedForGood(code: Int)
    }

    public var mail: UUID
    public var outcome: Outcome
    /// When the mail is of no use any more, if it can be.
    public var deadline: Timestamp?
    public var now: Timestamp

    public init(mail: UUID, outcome: Outcome, deadline: Timestamp? = nil, now: Timestamp) {
        self.mail = mail
        self.outcome = outcome
        self.deadline = deadline
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Another node was faster.
        case alreadySettled
    }

    /// Half a day of trying, ever more patiently.
    static let pauses: [Int64] = [5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400]

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Versioned<Mail> {
        try await streams.read(Mail.self, mail)
    }

    public func decide(_ facts: Versioned<Mail>) throws(Rejection) -> Decision {
        guard facts.state.status == .due else { throw .alreadySettled }
        let attempt = facts.state.attempts + 1
        switch outcome {
        case .taken: return Decision(MailEvent.sent(attempt: attempt), in: mail)
        case .refusedForGood(let code):
            return Decision(MailEvent.failed(attempt: attempt, code: code), in: mail)
        case .refusedForNow(let code):
            guard attempt <= Self.pauses.count else {
                return Decision(MailEvent.failed(attempt: attempt, code: code), in: mail)
            }
            let next = now.adding(seconds: Self.pauses[attempt - 1])
            if let deadline, next >= deadline {
                return Decision(MailEvent.failed(attempt: attempt, code: code), in: mail)
            }
            return Decision(
                MailEvent.deferred(attempt: attempt, until: next, code: code), in: mail)
        }
    }
}
