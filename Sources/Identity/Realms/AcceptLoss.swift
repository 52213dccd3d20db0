public import EventSourcing

/// Puts on record that a realm goes on without what its database lost.
///
/// Nothing is changed by it but what the sealers hold the log to. A disabled realm is sealed as well.
public struct AcceptLoss: Command {
    public var loss: AcceptedLoss

    public init(_ loss: AcceptedLoss) {
        self.loss = loss
    }

    public typealias Rejection = Never

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<LogLosses> {
        try await streams.read(LogLosses.self, AcceptedLoss.stream)
    }

    /// Once for each loss.
    public func decide(_ losses: Versioned<LogLosses>) -> Decision {
        guard !losses.state.accepted.contains(loss) else { return Decision() }
        return Decision(LogEvent.lossAccepted(loss), in: AcceptedLoss.stream)
    }
}
