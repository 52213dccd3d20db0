/// Whose data the key of a subject seals.
public enum SubjectStanding: Sendable, Equatable {
    /// Nothing was ever sealed under it.
    case unknown
    /// Where all came from that is nobody's, of a whole month.
    case shared
    /// The subject's own, also where the key is destroyed by now.
    case own
}
