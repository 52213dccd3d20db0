package import EventSourcing
package import Values

/// The changes of a logout notice.
package enum LogoutNoticeChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<LogoutNotice>, Rejection>

    package enum Outcome: Sendable {
        case taken
        /// Not now: the client's status, 0 where it was not reached.
        case refused(code: Int)
        /// The client to notify no longer exists.
        case pointless
    }

    /// The back-off: some hours of attempts at growing intervals.
    static let pauses: [Int64] = [2, 10, 60, 300, 1_800, 7_200]

    package enum RecordRejection: Error, Equatable, Sendable {
        /// Another node was faster.
        case alreadySettled
    }

    /// Puts on record what a client answered to a notice, and when it is tried again.
    package static func record(
        _ notice: UUID, outcome: Outcome, now: Timestamp
    ) -> Change<RecordRejection> {
        Change(of: notice, at: now) { facts, now throws(RecordRejection) in
            guard !facts.state.isSettled else { throw .alreadySettled }
            let attempt = facts.state.attempts + 1
            switch outcome {
            case .taken:
                return Decision(LogoutNoticeEvent.delivered(attempt: attempt), in: notice)
            case .pointless:
                return Decision(LogoutNoticeEvent.failed(attempt: attempt, code: 0), in: notice)
            case .refused(let code):
                guard attempt <= Self.pauses.count else {
                    return Decision(
                        LogoutNoticeEvent.failed(attempt: attempt, code: code), in: notice)
                }
                return Decision(
                    LogoutNoticeEvent.deferred(
                        attempt: attempt, until: now.adding(seconds: Self.pauses[attempt - 1]),
                        code: code), in: notice)
            }
        }
    }
}
