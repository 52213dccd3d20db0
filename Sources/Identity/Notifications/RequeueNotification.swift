public import EventSourcing
public import Values

/// Has a notification that failed tried again.
public struct RequeueNotification: Command {
    public var notification: UUID

    public init(notification: UUID) {
        self.notification = notification
    }

    public enum Rejection: Error, Equatable, Sendable {
        case notFound
        case notFailed
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<Notification> {
        try await streams.read(Notification.self, notification)
    }

    public func decide(_ facts: Versioned<Notification>) throws(Rejection) -> Decision {
        guard facts.exists else { throw .notFound }
        guard facts.state.status == .failed else { throw .notFailed }
        return Decision(NotificationEvent.requeued, in: notification)
    }
}
