/// What becomes of a stream's signals (SSF 1.0 section 8.1.2).
public enum SignalStatus: String, Sendable, CaseIterable {
    /// They are sent.
    case enabled
    /// They are kept for later.
    case paused
    /// There are none.
    case disabled
}

/// Who gave a stream its status.
public enum SignalStatusOrigin: String, Sendable, CaseIterable {
    case receiver
    case transmitter
}
