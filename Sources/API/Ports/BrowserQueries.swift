public import EventSourcing
public import Identity
public import Values

/// What pages read of the browsers that people are signed in with, as fresh as the log.
public protocol BrowserQueries: Sendable {
    func browserSession(
        _ id: UUID, in realm: RealmID
    ) async throws(LogFailure) -> BrowserSessionView?

    /// Those of an account that are not over, newest first.
    func browserSessions(
        of account: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> [BrowserSessionView]

    /// Newest first. It follows the log at a small distance.
    func loginHistory(
        of realm: RealmID, _ selection: LoginSelection, after place: LoginPlace?, limit: Int
    ) async throws(LogFailure) -> [LoginView]
}

public struct BrowserSessionView: Sendable, Equatable {
    public var id: UUID
    public var terms: BrowserTerms
    /// It ended before its time, or its account or its realm may not go on.
    public var isOver: Bool

    public init(id: UUID, terms: BrowserTerms, isOver: Bool) {
        self.id = id
        self.terms = terms
        self.isOver = isOver
    }
}
