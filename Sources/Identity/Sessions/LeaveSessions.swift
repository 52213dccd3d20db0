public import EventSourcing
internal import Values

/// Ends sessions of clients and tells the clients of others, all in one append: what came of a browser that is signed
/// out. What is no session any more is left out.
public struct LeaveSessions: Command {
    public var ended: [EndSession] = []
    public var detached: [DetachSession] = []
    /// What ends by an event of its account, in the place of events of its own.
    public var removal: RemoveAccess?

    /// So many sessions in one append.
    private static var most: Int { 500 }

    /// - Parameter all: the removal that ends these sessions and no others. More than an append takes end by it: their
    ///   clients are told later (`EndLapsedSession`). Nil without such a removal.
    public static func end(_ sessions: [EndSession], all: RemoveAccess? = nil) -> [LeaveSessions] {
        guard let all, sessions.count > most else { return each(sessions) { $0.ended = $1 } }
        var command = LeaveSessions()
        command.removal = all
        return [command]
    }

    public static func tell(_ sessions: [DetachSession]) -> [LeaveSessions] {
        each(sessions) { $0.detached = $1 }
    }

    private static func each<Some>(
        _ all: [Some], _ take: (inout LeaveSessions, [Some]) -> Void
    ) -> [LeaveSessions] {
        stride(from: 0, to: all.count, by: most).map {
            var command = LeaveSessions()
            take(&command, Array(all[$0..<min($0 + most, all.count)]))
            return command
        }
    }

    public typealias Rejection = NotFound<Session>

    public struct Facts: Sendable {
        let ended: [EndSession.Facts]
        let detached: [DetachSession.Facts]
        let account: Versioned<Account>?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        var account: Versioned<Account>?
        if let removal { account = try await streams.read(Account.self, removal.account) }
        return Facts(
            ended: try await ended.readTogether { (end) async throws(LogFailure) in
                try await end.gather(streams)
            },
            detached: try await detached.readTogether { (session) async throws(LogFailure) in
                try await session.gather(streams)
            }, account: account)
    }

    public func decide(_ facts: Facts) -> Decision {
        var decision = Decision()
        for (end, facts) in zip(ended, facts.ended) {
            if let one = try? end.decide(facts) { decision.append(one) }
        }
        for (session, facts) in zip(detached, facts.detached) {
            if let one = try? session.decide(facts) { decision.append(one) }
        }
        if let removal, let account = facts.account, account.isAlive {
            decision.append(removal.event(account), in: account.stream)
        }
        return decision
    }
}
