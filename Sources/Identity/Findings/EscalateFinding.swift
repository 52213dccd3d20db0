public import EventSourcing
public import Values

/// Raises the level of a finding that turned out to be worse.
public struct EscalateFinding: Command {
    public var risen: RisenFinding
    /// Open findings about the same account, as far as they are known.
    public var others: [UUID]
    /// That of the log in which the rule found it.
    public var epoch: Int?

    public init(_ risen: RisenFinding, others: [UUID] = [], epoch: Int? = nil) {
        self.risen = risen
        self.others = others
        self.epoch = epoch
    }

    public typealias Rejection = Never

    public func gather(_ streams: some StreamReader) async throws(LogFailure) -> FindingFacts {
        try await .read(risen.id, besides: others, from: streams)
    }

    public func decide(_ facts: FindingFacts) -> Decision {
        let state = facts.finding.state
        guard state.isOpen, let raised = state.raised, state.level < risen.level else {
            return Decision()
        }
        return Decision(
            FindingEvent.escalated(
                EscalatedFinding(
                    rule: raised.rule, account: raised.account, level: risen.level,
                    position: risen.position,
                    risk: facts.risk(of: raised.account, from: state.level, to: risen.level))),
            in: risen.id)
    }
}
