package import EventSourcing
package import Values

/// The changes of a notification.
package enum NotificationChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<Notification>, Rejection>

    package enum RequeueRejection: Error, Equatable, Sendable {
        case notFound
        case notFailed
    }

    /// Has a notification that failed tried again.
    package static func requeue(_ notification: UUID) -> Change<RequeueRejection> {
        Change(of: notification) { facts throws(RequeueRejection) in
            guard facts.exists else { throw .notFound }
            guard facts.state.status == .failed else { throw .notFailed }
            return Decision(NotificationEvent.requeued, in: notification)
        }
    }
}
