/// What becomes of a stream's signals (SSF 1.0 section 8.1.2).
public enum SignalStatus: String, Sendable, CaseIterable {
    /// Signals are sent.
    case enabled
    /// Signals are kept for later.
    case paused
    /// No signals are sent or kept.
    case disabled
}

/// Who gave a stream its status.
public enum SignalStatusOrigin: String, Sendable, CaseIterable {
    case receiver
    case transmitter
}
