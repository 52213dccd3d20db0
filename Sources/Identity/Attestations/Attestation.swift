public import EventSourcing
internal import Values

/// The outcome of a challenge: its stream has the challenge's name, so that any response to the
/// challenge uses it up.
public struct Attestation: StreamState {
    /// Seconds that a challenge is good for.
    public static let lifetime: Int64 = 7 * 86_400

    public init() {}

    public mutating func apply(_ event: AttestationEvent) {}

    /// Whether a challenge of this name was given out a short enough while ago.
    static func isOpen(_ challenge: UUID, at now: Timestamp) -> Bool {
        guard let begun = challenge.timestamp else { return false }
        return now < begun.adding(seconds: lifetime)
    }
}
