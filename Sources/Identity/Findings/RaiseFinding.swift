public import EventSourcing
public import Values

/// Puts on record what a rule found. It is raised once, on whichever node the rule finds it and however often.
public struct RaiseFinding: Command {
    public var trigger: FindingTrigger
    /// Open findings about the same account, as far as they are known.
    public var others: [UUID]
    /// That of the log in which the rule found it: of a lost tail nothing is put on record.
    public var epoch: Int?

    public init(_ trigger: FindingTrigger, others: [UUID] = [], epoch: Int? = nil) {
        self.trigger = trigger
        self.others = others
        self.epoch = epoch
    }

    public typealias Rejection = Never

    public struct Facts: Sendable {
        let finding: FindingFacts
        let account: UUID?
    }

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> Facts {
        let account: UUID? =
            switch trigger.about {
            case .account(let id): id
            case .session(let id):
                try await streams.read(Session.self, id).state.terms?.account
            case .source, .actor, .realm: nil
            }
        return Facts(
            finding: try await .read(trigger.id, besides: others, from: streams),
            account: account)
    }

    public func decide(_ facts: Facts) -> Decision {
        guard !facts.finding.finding.exists else { return Decision() }
        let risk = facts.finding.risk(of: facts.account, from: nil, to: trigger.level)
        return Decision(
            FindingEvent.raised(RaisedFinding(trigger, account: facts.account, risk: risk)),
            in: trigger.id)
    }
}
