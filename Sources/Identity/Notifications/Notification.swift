public import EventSourcing
internal import JSON
public import Values

/// A notification on its way.
public struct Notification: StreamState {
    public enum Status: Sendable, Equatable {
        case due
        /// A device took it.
        case pushed
        /// It goes on as a mail.
        case mailed
        case failed
        /// A later notification replaced it.
        case superseded
    }

    public private(set) var terms: NotificationTerms?
    /// Nil where the content cannot be decrypted any more.
    public private(set) var content: NotificationContent?
    public private(set) var status = Status.due
    /// Since it was last put in the queue.
    public private(set) var attempts = 0

    public init() {}

    public mutating func apply(_ event: NotificationEvent) {
        switch event {
        case .requested(let terms, let content):
            self.terms = terms
            self.content = content
        case .pushed(let attempt, _, _): (status, attempts) = (.pushed, attempt)
        case .mailed(let attempt, _, _, _): (status, attempts) = (.mailed, attempt)
        case .deferred(let attempt, _, _): (status, attempts) = (.due, attempt)
        case .failed(let attempt, _, _): (status, attempts) = (.failed, attempt)
        case .superseded: status = .superseded
        case .requeued: (status, attempts) = (.due, 0)
        }
    }
}

/// What notifications of one sender are about: the last of them, and the state that it told of.
public struct NotificationSource: StreamState {
    public private(set) var last: UUID?
    public private(set) var state: SecretDigest?

    public init() {}

    public mutating func apply(_ event: NotificationSourceEvent) {
        switch event {
        case .moved(let notification, let state):
            last = notification
            self.state = state
        }
    }
}
