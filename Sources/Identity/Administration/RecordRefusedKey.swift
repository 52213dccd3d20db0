public import EventSourcing
public import Values

/// Puts on record that an admin key was refused, some times an hour at most.
///
/// Runs in the system realm.
public struct RecordRefusedKey: TimedCommand {
    /// The id that was shown.
    public var key: UUID
    public var reason: AdminRefusalReason
    public var now: Timestamp

    public init(key: UUID, reason: AdminRefusalReason, now: Timestamp) {
        self.key = key
        self.reason = reason
        self.now = now
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// So much is on record of this hour that no more is needed.
        case enough
    }

    private var isKnown: Bool { reason != .unknown }

    /// The stream of the key's refusals in this hour.
    public var stream: UUID { AdminRefusals.stream(of: key, isKnown: isKnown, at: now) }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<AdminRefusals> {
        try await streams.read(AdminRefusals.self, stream)
    }

    public func decide(_ refusals: Versioned<AdminRefusals>) throws(Rejection) -> Decision {
        guard refusals.state.count < AdminRefusals.most(isKnown: isKnown) else { throw .enough }
        return Decision(AdminRefusalEvent.refused(key: key, reason: reason), in: refusals.stream)
    }
}
