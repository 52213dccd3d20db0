/// Whose data the key of a subject seals.
public enum SubjectStanding: Sendable, Equatable {
    /// The subject never had sealed data.
    case unknown
    /// The shared key for origins of events without a subject, one for each month.
    case shared
    /// The subject's own, also where the key is destroyed by now.
    case own
}
