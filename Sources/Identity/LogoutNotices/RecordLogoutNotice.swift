public import EventSourcing
public import Values

/// Puts on record what a client answered to a notice, and when it is tried again.
public struct RecordLogoutNotice: TimedCommand {
    public enum Outcome: Sendable {
        case taken
        /// Not now: the client's status, 0 where it was not reached.
        case refused(code: Int)
        /// The client to notify no longer exists.
        case pointless
    }

    public var notice: UUID
    public var outcome: Outcome
    public var now: Timestamp

    public init(notice: UUID, outcome: Outcome, now: Timestamp) {
        self.notice = notice
        self.outcome = outcome
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Another node was faster.
        case alreadySettled
    }

    /// The back-off: some hours of attempts at growing intervals.
    static let pauses: [Int64] = [2, 10, 60, 300, 1_800, 7_200]

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<LogoutNotice> {
        try await streams.read(LogoutNotice.self, notice)
    }

    public func decide(_ facts: Versioned<LogoutNotice>) throws(Rejection) -> Decision {
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
