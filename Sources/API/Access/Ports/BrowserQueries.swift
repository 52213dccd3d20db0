public import EventSourcing
public import ReadModels
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

extension BrowserQueries {
    /// All browser sessions, without a limit.
    func browserSessions(
        of account: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> [BrowserSessionView] {
        var found: [BrowserSessionView] = []
        while true {
            let page = try await browserSessions(
                of: account, in: realm, at: now, after: found.last?.id, limit: 200)
            found += page
            guard page.count == 200 else { return found }
        }
    }
}
