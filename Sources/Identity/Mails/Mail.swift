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

    public init() {}

    public mutating func apply(_ event: MailEvent) {
        switch event {
        case .begun(let attempt): (status, attempts) = (.begun, attempt)
        case .sent(let attempt): (status, attempts) = (.sent, attempt)
        case .deferred(let attempt, _, _, _): (status, attempts) = (.due, attempt)
        case .failed(let attempt, _, _): (status, attempts) = (.failed, attempt)
        case .requeued: (status, attempts) = (.due, 0)
        }
    }
}
