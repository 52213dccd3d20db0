public import Values

/// A step of a stream: from where it was to where it is, and what came of it.
public struct SignalStep: Sendable {
    /// The stored cursor; nil for a new stream.
    public var from: SignalCursor?
    public var epoch: Int
    public var position: Int64
    public var version: Int
    /// What was to be sent up to this position is not sent any more: the stream was disabled there.
    public var droppedTo: Int64
    /// What was to be sent of an account, of what is behind this position, is not sent any more: the log
    /// lost it, or it comes again.
    public var keptTo: Int64
    public var signals: [PendingSignal]
    /// The time of the step.
    public var at: Timestamp

    public init(
        from: SignalCursor?, epoch: Int, position: Int64, version: Int, droppedTo: Int64,
        keptTo: Int64, signals: [PendingSignal], at: Timestamp
    ) {
        self.from = from
        self.epoch = epoch
        self.position = position
        self.version = version
        self.droppedTo = droppedTo
        self.keptTo = keptTo
        self.signals = signals
        self.at = at
    }
}
