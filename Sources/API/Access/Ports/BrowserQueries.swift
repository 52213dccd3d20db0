public import EventSourcing
public import Identity
public import Values

/// What is read of the browsers that people are signed in with, as fresh as the log.
public protocol BrowserQueries: Sendable {
    func browserSession(
        _ id: UUID, in realm: RealmID
    ) async throws(LogFailure) -> BrowserSessionView?

    /// Those of an account that are not over, newest first, from behind `after` on.
    func browserSessions(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [BrowserSessionView]

    /// Newest first, from behind a place on. It follows the log at a small distance.
    func loginHistory(
        of realm: RealmID, _ selection: LoginSelection, after place: LoginPlace?, limit: Int
    ) async throws(LogFailure) -> [LoginView]
}

public struct BrowserSessionView: Sendable, Equatable {
    public var id: UUID
    public var terms: BrowserTerms
    /// The name of the app that it was opened for; of one in a list alone.
    public var app: String?
    /// It ended before its time, or its account or its realm may not go on.
    public var isOver: Bool

    public init(id: UUID, terms: BrowserTerms, app: String? = nil, isOver: Bool) {
        self.id = id
        self.terms = terms
        self.app = app
        self.isOver = isOver
    }
}
