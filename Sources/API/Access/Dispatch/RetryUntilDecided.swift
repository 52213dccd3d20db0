internal import EventSourcing

/// Carries a request that put something on record to its end, even if the log fails meanwhile: its
/// answer is all that its caller will ever have of what was used up for it. A failure is retried
/// for five minutes; until then the caller has been told 503, and gets the answer by sending the
/// request again. A request that has put nothing on record fails at once.
func retriedUntilDecided<Value, Fault: Error>(
    _ body: () async throws(Fault) -> Value
) async throws(Fault) -> Value {
    var pauses = BackOff()
    while true {
        do throws(Fault) {
            return try await body()
        } catch {
            guard let failure = error as? LogFailure, await pauses.next(after: failure) else {
                throw error
            }
        }
    }
}

private struct BackOff {
    private var pause: Duration = .milliseconds(10)
    private var left: Duration = .seconds(300)

    /// Waits with a back-off. False for a failure that a retry cannot mend.
    mutating func next(after failure: LogFailure) async -> Bool {
        guard RequestScope.current?.hasAppended == true, failure.isPassing, left > .zero else {
            return false
        }
        let pause = pause
        // The request's own task would not sleep: it is cancelled.
        await Task.detached { try? await Task.sleep(for: pause) }.value
        left -= pause
        self.pause = min(pause * 2, .seconds(1))
        return true
    }
}

extension LogFailure {
    /// Whether the failure may be over in a moment.
    fileprivate var isPassing: Bool {
        switch self {
        case .busy, .unavailable, .full, .fenced, .contended, .keyMissing: true
        case .misusedCommand, .refused, .damaged, .otherMasterKey: false
        }
    }
}
