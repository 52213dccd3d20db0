public import EventSourcing
public import ReadModels
public import Values

/// What the rules found in a realm's log.
public protocol FindingQueries: Sendable {
    func finding(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> FindingView?

    /// Newest first, from behind an id on.
    func findings(
        in realm: RealmID, _ selection: FindingSelection, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<FindingView>
}
