public import EventSourcing

/// Ends sessions of clients and tells the clients of others, all in one append: what came of a browser that is signed
/// out. What is no session any more is left out.
public struct LeaveSessions: Command {
    public var ended: [EndSession]
    public var detached: [DetachSession]

    public init(ended: [EndSession] = [], detached: [DetachSession] = []) {
        self.ended = ended
        self.detached = detached
    }

    /// So many sessions in one append.
    private static var most: Int { 500 }

    public static func each(_ ended: [EndSession]) -> [LeaveSessions] {
        pieces(of: ended).map { LeaveSessions(ended: $0) }
    }

    public static func each(_ detached: [DetachSession]) -> [LeaveSessions] {
        pieces(of: detached).map { LeaveSessions(detached: $0) }
    }

    private static func pieces<Some>(of all: [Some]) -> [[Some]] {
        stride(from: 0, to: all.count, by: most).map {
            Array(all[$0..<min($0 + most, all.count)])
        }
    }

    public typealias Rejection = NotFound<Session>

    public struct Facts: Sendable {
        let ended: [EndSession.Facts]
        let detached: [DetachSession.Facts]
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        var (ends, stay): ([EndSession.Facts], [DetachSession.Facts]) = ([], [])
        for end in ended { ends.append(try await end.gather(streams)) }
        for session in detached { stay.append(try await session.gather(streams)) }
        return Facts(ended: ends, detached: stay)
    }

    public func decide(_ facts: Facts) -> Decision {
        var decision = Decision()
        for (end, facts) in zip(ended, facts.ended) {
            if let one = try? end.decide(facts) { decision.append(one) }
        }
        for (session, facts) in zip(detached, facts.detached) {
            if let one = try? session.decide(facts) { decision.append(one) }
        }
        return decision
    }
}
