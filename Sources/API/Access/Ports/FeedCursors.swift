public import EventSourcing
public import ReadModels
public import Values

/// The kept cursors of feeds: `FeedCursorStore` over the database.
public protocol FeedCursors: Sendable {
    func cursor(
        of subscription: UUID, in realm: RealmID
    ) async throws(LogFailure) -> FeedCursor?

    func claim(
        _ lease: FeedLeaseName, from start: LogCursor, takingOver: Bool
    ) async throws(LogFailure) -> FeedCursor.Claim

    func permit(
        _ lease: FeedLeaseName, through cursor: LogCursor
    ) async throws(LogFailure) -> Bool

    func acknowledge(
        _ cursor: LogCursor, of subscription: UUID, in realm: RealmID
    ) async throws(LogFailure) -> FeedCursor.Acknowledgement

    func renew(_ leases: [FeedLeaseName]) async throws(LogFailure) -> Set<FeedLeaseName>

    func release(_ lease: FeedLeaseName) async throws(LogFailure)

    func limit(
        _ subscription: UUID, sentTo position: Int64, in realm: RealmID
    ) async throws(LogFailure)

    func forget(_ subscription: UUID, in realm: RealmID) async throws(LogFailure)

    func longestLag() async throws(LogFailure) -> Int64
}
