import Values

/// Laws of what is told to others.
extension Law {
    static func ofDeliveries() -> [Law] {
        [
            Law(
                30,
                """
                A message's attempts are counted one by one, and it is delivered after it was begun.
                """, mails()),
            Law(
                31,
                """
                Nothing is told of a subscription before it was made or after it was deleted.
                """,
                present(
                    31, "subscription", begins: "subscription.created",
                    ends: "subscription.deleted",
                    others: [
                        "subscription.changed", "subscription.disabled", "subscription.failing",
                        "subscription.halted", "subscription.paused", "subscription.replayed",
                        "subscription.resumed", "subscription.secret_rotated",
                        "subscription.tested",
                    ])),
            Law(
                42,
                """
                A stream of shared signals is spoken of only between its making and its removal.
                """,
                present(
                    42, "stream of signals", begins: "ssf_stream.created",
                    ends: "ssf_stream.deleted",
                    others: [
                        "ssf_stream.changed", "ssf_stream.replayed", "ssf_stream.status_changed",
                        "ssf_stream.subject_added", "ssf_stream.subject_removed",
                    ])),
            Law(
                43, "A web app is spoken of only between its making and its removal.",
                present(
                    43, "web app", begins: "web_app.registered", ends: "web_app.removed",
                    others: ["web_app.updated"])),
            Law(
                44,
                """
                A notification is sent only after it was asked for, and not after another took its \
                place.
                """,
                present(
                    44, "notification", begins: "notification.requested",
                    ends: "notification.superseded",
                    others: ["notification.mailed", "notification.pushed"], lapses: true)),
            Law(
                45, "A provider's session that the provider ended opens nothing any more.",
                upstreamSessions()),
        ]
    }

    private static func mails() -> [Check] {
        let mails = Memory<Mail> { isPast($0.second + lapse, $1) }
        return [
            Check("mail.begun") { past, event in
                let attempt = event.data.integer("attempt") ?? 0
                let next = (mails[event.stream]?.attempts ?? 0) + 1
                if attempt != next {
                    past.missing(
                        30, mayBeForgotten: mails.hasForgotten && next == 1,
                        "attempt \(attempt) at a mail is its \(next).")
                }
                mails.begin(
                    Mail(attempts: next, second: event.second), event.stream, at: event.second)
            },
            Check("mail.delivered", "mail.undelivered") { past, event in
                guard mails[event.stream] == nil else { return }
                past.missing(
                    30, mayBeForgotten: mails.hasForgotten,
                    "\(event.type) of a mail that was never begun")
            },
        ]
    }

    private static func upstreamSessions() -> [Check] {
        let ended = Memory<Bool>()
        return [
            Check("upstream_session.ended") { _, event in
                ended.begin(true, event.stream, at: event.second)
            },
            Check("upstream_session.used") { past, event in
                if ended[event.stream] != nil {
                    past.broken(45, "a provider's session opens something after its end")
                } else if !past.isWhole, event.logged.version > 1 {
                    past.unknown(45)
                }
            },
        ]
    }
}

private struct Mail {
    let attempts: Int64
    let second: Int64
}
