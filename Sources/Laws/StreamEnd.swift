/// When nothing is expected any more of a stream with an event of a type. Streams of which nothing is said here are kept: those of
/// accounts, clients, mailboxes and all else that lasts.
enum StreamEnd {
    case atOnce
    /// At once where the event begins the stream.
    case alone
    /// With what the event gives out, unless another event says more.
    case withLife
    case silent(seconds: Int64)

    func second(of event: Event) -> Int64? {
        switch self {
        case .atOnce: event.second
        case .alone: event.logged.version == 1 ? event.second : nil
        case .withLife: event.data.integer("expires_at") ?? .max
        case .silent(let seconds): event.second + seconds
        }
    }

    static let byType: [String: StreamEnd] = {
        var ends: [String: StreamEnd] = [:]
        for type in [
            "browser.ended", "delegated_code.used", "device.denied",
            "device.redeemed", "federated_assertion.redeemed", "pushed_request.used",
            "session.ended", "session_code.used",
        ] {
            ends[type] = .atOnce
        }
        for type in ["browser.refused", "session.refused"] { ends[type] = .alone }
        for type in [
            "browser.opened", "delegated_code.issued", "device.requested",
            "federated_assertion.issued", "session.opened", "session_code.issued",
        ] {
            ends[type] = .withLife
        }
        for type in [
            "logout_notice.deferred", "logout_notice.delivered", "logout_notice.failed",
            "mail.begun", "mail.deferred", "mail.delivered", "mail.failed", "mail.requeued",
            "mail.sent", "mail.undelivered", "notification.deferred", "notification.failed",
            "notification.mailed", "notification.pushed", "notification.requested",
            "notification.superseded",
        ] {
            ends[type] = .silent(seconds: lapse)
        }
        return ends
    }()
}
