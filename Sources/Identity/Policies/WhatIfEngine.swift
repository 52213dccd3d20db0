public import Values

/// Tries a policy on the facts of a part of the log, one after the other, in their order. It has no clock but the times of
/// the events: the same facts and the same policy have the same result.
public struct WhatIfEngine: Sendable, Equatable {
    var memory: PolicyMemory
    var tally: WhatIfTally
    /// Of sign-ins some alone are asked about.
    let isFiltered: Bool

    /// - Parameter isWhole: whether the facts begin with the log.
    /// - Parameter since: the time of the first event that is looked at.
    public init(
        _ policy: SignInPolicy, isWhole: Bool, since: Timestamp, isFiltered: Bool = false
    ) {
        memory = PolicyMemory(policy, isWhole: isWhole, since: since)
        tally = WhatIfTally(policy)
        self.isFiltered = isFiltered
    }

    public mutating func take(_ placed: PlacedFact) {
        switch placed.fact {
        case .signIn(let signIn): take(signIn, placed)
        case .refreshed(let session):
            if memory.policy.hasLifetimes { refresh(session, at: placed.at) }
        default: memory.note(placed.fact, at: placed.at)
        }
    }

    private mutating func take(_ signIn: PolicyFact.SignIn, _ placed: PlacedFact) {
        let attempt = memory.attempt(of: signIn)
        let place = memory.place(of: attempt.account)
        let knowledge = memory.knowledge(of: place, for: attempt)
        let judgement = memory.policy.judgement(of: attempt, knowing: knowledge)
        if placed.isWanted {
            tally.add(judgement, of: place, position: placed.position, at: placed.at)
            if let rule = memory.policy.secondFactor {
                tally.add(rule, client: attempt.client, roles: knowledge.roles ?? [])
            }
        }
        // A session that there would be no more of is not one of those that are open.
        let isOneTooMany = judgement.rules.contains {
            $0.rule == .maxSessions && $0.outcome == .refuse
        }
        memory.note(
            signIn, of: place, isCounted: !attempt.isOfBrowser && !isOneTooMany,
            isWanted: placed.isWanted)
    }

    private mutating func refresh(_ id: UUID, at time: Timestamp) {
        // Where the facts begin with the log, no session begins before them.
        guard memory.sessions[id] != nil || !memory.isWhole else { return }
        var session =
            memory.sessions[id] ?? PolicyMemory.Session(isWanted: !isFiltered)
        var outcome: RefreshOutcome
        if let endedAt = session.endedAt {
            outcome = .ended(endedAt)
            if session.isWanted { tally.add(outcome, [], at: time) }
            return
        }
        let judged = memory.policy.judgement(
            ofRefreshAt: time,
            knowing: SessionKnowledge(openedAt: session.openedAt, usedAt: session.usedAt))
        outcome = .together(judged.map(\.outcome))
        if session.isWanted { tally.add(outcome, judged, at: time) }
        if case .ended(let end) = outcome {
            session.endedAt = end
            if session.isWanted { tally.endedSessions += 1 }
        }
        session.usedAt = max(session.usedAt ?? time, time)
        memory.sessions[id] = session
    }
}
