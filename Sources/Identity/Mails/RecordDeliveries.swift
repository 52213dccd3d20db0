public import EventSourcing
public import Values

/// Puts on record what mail servers said to mails, and when those are tried again that were refused
/// for now. As many as came together are one command: it is the most frequent one there is.
public struct RecordDeliveries: TimedCommand {
    public enum Outcome: Sendable {
        /// Of a message, by what it went: by another channel than was asked for, where that did not take it.
        case taken(by: Channel? = nil)
        /// Not now: the server's code, 0 where it was not reached.
        case refusedForNow(code: Int, MailFault? = nil)
        case refusedForGood(code: Int, MailFault? = nil)
    }

    public struct Delivery: Sendable {
        public var mail: UUID
        public var outcome: Outcome
        /// When the mail is of no use any more, if it can be.
        public var deadline: Timestamp?
        /// Nothing is on record of it yet, as far as is known.
        public var isFirst: Bool

        public init(
            mail: UUID, outcome: Outcome, deadline: Timestamp? = nil, isFirst: Bool = false
        ) {
            self.mail = mail
            self.outcome = outcome
            self.deadline = deadline
            self.isFirst = isFirst
        }
    }

    public var deliveries: [Delivery]
    public var now: Timestamp

    public init(_ deliveries: [Delivery], now: Timestamp) {
        self.deliveries = deliveries
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Another node was faster, with every one of them.
        case alreadySettled
    }

    /// The back-off: half a day of attempts at growing intervals.
    static let pauses: [Int64] = [5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400]

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> [Versioned<Mail>] {
        var mails: [Versioned<Mail>] = []
        for delivery in deliveries {
            mails.append(
                delivery.isFirst
                    ? try await streams.readNew(Mail.self, delivery.mail)
                    : try await streams.read(Mail.self, delivery.mail))
        }
        return mails
    }

    public func decide(_ mails: [Versioned<Mail>]) throws(Rejection) -> Decision {
        var decision = Decision()
        for (delivery, mail) in zip(deliveries, mails) {
            switch mail.state.status {
            case .due:
                decision.append(event(of: delivery, mail.state.attempts + 1), in: delivery.mail)
            case .begun:
                decision.append(event(of: delivery, mail.state.attempts), in: delivery.mail)
            case .sent, .failed: break
            }
        }
        guard !decision.events.isEmpty else { throw .alreadySettled }
        return decision
    }

    private func event(of delivery: Delivery, _ attempt: Int) -> MailEvent {
        switch delivery.outcome {
        case .taken(let channel): return .sent(attempt: attempt, by: channel)
        case .refusedForGood(let code, let reason):
            return .failed(attempt: attempt, code: code, reason: reason)
        case .refusedForNow(let code, let reason):
            guard attempt <= Self.pauses.count else {
                return .failed(attempt: attempt, code: code, reason: reason)
            }
            let next = now.adding(seconds: Self.pauses[attempt - 1])
            if let deadline = delivery.deadline, next >= deadline {
                return .failed(attempt: attempt, code: code, reason: reason)
            }
            return .deferred(attempt: attempt, until: next, code: code, reason: reason)
        }
    }
}
