public import Values

/// How far a stream of signals is.
public struct SignalCursor: Sendable, Equatable {
    public var epoch: Int
    /// The log up to here was looked at.
    public var position: Int64
    /// The stream's own events up to here were heeded.
    public var version: Int
    /// The log is as it was up to this position: less than `position`, or any further, after a failover or a
    /// restore.
    public var keptTo: Int64
    /// When its receiver last asked for a verification.
    public var verifiedAt: Timestamp?
    /// When its receiver last polled, or answered.
    public var heardAt: Timestamp
    public var failures: Int
    public var failingSince: Timestamp?
    /// The end of the back-off: no signal is pushed before.
    public var nextAt: Timestamp?
    /// Signals that its receiver has yet to confirm.
    public var pending: Int

    public init(
        epoch: Int, position: Int64, version: Int = 0, keptTo: Int64 = .max,
        verifiedAt: Timestamp? = nil, heardAt: Timestamp = Timestamp(microseconds: 0),
        failures: Int = 0, failingSince: Timestamp? = nil, nextAt: Timestamp? = nil,
        pending: Int = 0
    ) {
        self.epoch = epoch
        self.position = position
        self.version = version
        self.keptTo = keptTo
        self.verifiedAt = verifiedAt
        self.heardAt = heardAt
        self.failures = failures
        self.failingSince = failingSince
        self.nextAt = nextAt
        self.pending = pending
    }
}
