import Values

/// What one node knows of a lease: whether it holds it, for how long that is certain, and for how long another
/// node's has stood still. No two clocks are compared: each node measures by its own, which goes on while the
/// node is frozen, how long it is since it saw the row change.
struct LeaseWatch: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The row, as the database has it.
    struct Row: Sendable, Equatable {
        var holder: UUID?
        var renewals: Int64
        /// The session that renewed it last is gone, from a server that has not been started anew since. After a
        /// restart or a failover every session is gone, and says nothing of its node.
        var hasLostSession = false
    }

    enum Step: Sendable, Equatable {
        /// It is this node's, and need not be renewed yet.
        case keep
        case renew
        case take
        /// It is another node's.
        case leave
    }

    let node: UUID
    let term: Duration
    private var renewed: Instant?
    private var seen: (renewals: Int64, since: Instant)?
    private var lostSince: Instant?

    init(node: UUID, term: Duration) {
        self.node = node
        self.term = term
    }

    /// A third of the term is left for a renewal that the database lost, and for clocks that run differently.
    func isCertain(at now: Instant) -> Bool {
        renewed.map { now - $0 < term * 2 / 3 } ?? false
    }

    /// - Parameters:
    ///   - asked: when the row was asked for.
    ///   - now: when it had been read: what another node did, it did before that.
    mutating func step(_ row: Row, asked: Instant, now: Instant) -> Step {
        if row.holder == node {
            (seen, lostSince) = (nil, nil)
            // A session that took the place of a lost one has to be named, or another node takes over.
            let isFresh = renewed.map { asked - $0 < term / 5 } ?? false
            return isFresh && !row.hasLostSession ? .keep : .renew
        }
        renewed = nil
        guard row.holder != nil else { return .take }
        if seen?.renewals != row.renewals { (seen, lostSince) = ((row.renewals, now), nil) }
        if let since = seen?.since, now - since >= term { return .take }
        guard row.hasLostSession else {
            lostSince = nil
            return .leave
        }
        // A node whose session was ended learns of it at its next question, and is not certain then.
        let since = lostSince ?? now
        lostSince = since
        return now - since >= term * 2 / 15 ? .take : .leave
    }

    /// The row was changed as the step said.
    /// - Parameter asked: when the change was sent.
    mutating func noteWritten(asked: Instant) {
        renewed = asked
        (seen, lostSince) = (nil, nil)
    }

    /// Nothing can be said: the session may be gone, and with it the lease.
    mutating func noteUnanswered() { renewed = nil }
}
