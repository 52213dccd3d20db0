public import EventSourcing
public import ReadModels
public import Values

/// What the admin API reads of the people of a realm. Accounts and sessions are as fresh as the log;
/// mails and the login history follow it at a distance.
public protocol AccountQueries: SessionQueries, BrowserQueries {
    func account(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> AccountView?

    func account(mailbox: UUID, in realm: RealmID) async throws(LogFailure) -> AccountView?

    func accounts(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<AccountView>

    /// The passkeys of an account, the newest first.
    func passkeys(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [PasskeyView]

    func mails(
        of realm: RealmID, failedOnly: Bool, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [DeliveryView]

    func notifications(
        of realm: RealmID, failedOnly: Bool, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [DeliveryView]

    /// How far a following list is. Nil where there is no such realm.
    func followed(
        _ list: FollowingList, of realm: RealmID
    ) async throws(LogFailure) -> FollowedPosition?

    /// Waits, for a bounded time, until a following list holds everything up to a position.
    func reaches(
        _ list: FollowingList, _ position: Int64, epoch: Int, of realm: RealmID
    ) async throws(LogFailure) -> FollowedPosition.Reached
}

public protocol SessionQueries: Sendable {
    /// Sessions that have ended are found as well.
    func line(of session: UUID, in realm: RealmID) async throws(LogFailure) -> SessionLine?

    /// Where an account is signed in, newest first, from behind `after` on.
    func sessions(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [OpenSessionView]

    /// Of each client the sessions that were used last, that one first.
    func lastSessionsOfClients(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [ClientSession]
}

extension SessionQueries {
    /// From the newest on, until the body has had enough.
    func sessions(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID? = nil,
        while wants: (OpenSessionView) -> Bool
    ) async throws(LogFailure) {
        var after = after
        while true {
            let page = try await sessions(
                of: account, in: realm, at: now, after: after, limit: 200)
            for session in page where !wants(session) { return }
            guard page.count == 200, let next = page.last?.id else { return }
            after = next
        }
    }

    /// All requested sessions, without a limit.
    func sessions(
        of account: UUID, in realm: RealmID, at now: Timestamp,
        where isWanted: (OpenSessionView) -> Bool
    ) async throws(LogFailure) -> [OpenSessionView] {
        var found: [OpenSessionView] = []
        var after: UUID?
        while true {
            let page = try await sessions(
                of: account, in: realm, at: now, after: after, limit: 1000)
            found += page.filter(isWanted)
            guard page.count == 1000, let next = page.last?.id else { return found }
            after = next
        }
    }

    func session(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> SessionView? {
        try await line(of: id, in: realm)?.session
    }
}
