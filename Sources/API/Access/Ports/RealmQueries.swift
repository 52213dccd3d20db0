public import EventSourcing
public import ReadModels
public import Values

/// What the surfaces of a realm ask for.
public protocol RealmQueries: QuestionPort, SignalQueries, RequestSequences {
    /// Begins the query of an account's passkeys now; the answer is awaited later.
    func beginPasskeys(of account: UUID, in realm: RealmID) -> Later<[PasskeyView]>
}

extension RealmQueries {
    /// The default for a port that answers at once.
    public func beginPasskeys(of account: UUID, in realm: RealmID) -> Later<[PasskeyView]> {
        { () throws(LogFailure) in try await ask(PasskeyView.ofAccount, account, in: realm) }
    }
}

/// The replay guard of requests that tokens have signed: `RequestSequenceStore` over the database.
public protocol RequestSequences: Sendable {
    /// The session of a request that is signed by its key, and whose sequence number is used up by that, on all nodes. Nil:
    /// the signature is missing, or that number or a higher one was used up before.
    func line(
        of session: UUID, signing sequence: Int64, in realm: RealmID,
        isRight: @escaping @Sendable (SessionView) -> Bool
    ) async throws(LogFailure) -> SessionLine?

    /// Takes a number for a token, on all nodes. False: that number or a higher one was used (replay).
    func advance(
        _ token: UUID, to sequence: Int64, in realm: RealmID
    ) async throws(LogFailure) -> Bool

    /// Remembers what a token or a device has signed without a number, on all nodes. False: it was shown before, or
    /// so many of it are remembered that there is no room.
    func remember(
        _ digest: [UInt8], of token: UUID, most: Int32, lasts: Bool, in realm: RealmID
    ) async throws(LogFailure) -> Bool
}

extension QuestionPort {
    /// Where an account is signed in, from the newest on, until the body has had enough.
    func sessions(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID? = nil,
        while wants: (OpenSessionView) -> Bool
    ) async throws(LogFailure) {
        var after = after
        while true {
            let page = try await ask(
                OpenSessionView.ofAccount, (account, now, after, limit: 200), in: realm)
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
            let page = try await ask(
                OpenSessionView.ofAccount, (account, now, after, limit: 1000), in: realm)
            found += page.filter(isWanted)
            guard page.count == 1000, let next = page.last?.id else { return found }
            after = next
        }
    }

    /// All browser sessions, without a limit.
    func browserSessions(
        of account: UUID, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> [BrowserSessionView] {
        var found: [BrowserSessionView] = []
        while true {
            let page = try await ask(
                BrowserSessionView.ofAccount, (account, now, found.last?.id, limit: 200),
                in: realm)
            found += page
            guard page.count == 200 else { return found }
        }
    }
}
