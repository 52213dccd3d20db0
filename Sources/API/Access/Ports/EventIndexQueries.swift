public import EventSourcing
public import ReadModels

/// Whom and what events are about. It follows the log at a small distance, and says at which; to wait for it is
/// `AccountQueries.reaches`.
public protocol EventIndexQueries: Sendable {
    /// The positions of the events about all of what is named, in order, from behind a position on.
    func positions(
        about references: EventReferences, after position: Int64, limit: Int, in realm: RealmID
    ) async throws(LogFailure) -> ValueAtPosition<[Int64]>

    /// Whom and what the events at these positions are about.
    func references(
        of positions: [Int64], in realm: RealmID
    ) async throws(LogFailure) -> ValueAtPosition<[Int64: [EventReferences]]>
}
