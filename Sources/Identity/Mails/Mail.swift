public import EventSourcing

/// A mail or a message on its way.
public struct Mail: StreamState {
    public enum Status: Sendable, Equatable {
        case due
        /// A message is handed to a gateway.
        case begun
        case sent
        case failed
    }

    public private(set) var status = Status.due
    /// Since it was last put in the queue.
    public private(set) var attempts = 0
    /// It was handed to a gateway once, as mails never are.
    public private(set) var isMessage = false
    /// Of a message that a gateway took, by what it went.
    public private(set) var channel: Channel?
    /// What the gateway said of it since. Whether it is sent again, and whether its code counts, does not depend on it.
    public private(set) var receipt: MessageReceipt?

    public init() {}

    public mutating func apply(_ event: MailEvent) {
        switch event {
        case .begun(let attempt):
            (status, attempts) = (.begun, attempt)
            isMessage = true
        case .sent(let attempt, let channel):
            (status, attempts) = (.sent, attempt)
            self.channel = channel ?? self.channel
        case .deferred(let attempt, _, _, _): (status, attempts) = (.due, attempt)
        case .failed(let attempt, _, _): (status, attempts) = (.failed, attempt)
        case .requeued: (status, attempts) = (.due, 0)
        case .delivered: receipt = .delivered
        case .undelivered(_, let code): receipt = .undelivered(code: code)
        }
    }
}
