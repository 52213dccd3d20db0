/// A command whose decision has an answer for the caller beside its events: what was granted, or
/// why it was refused although the refusal itself is put on record.
public protocol AnsweringCommand: Command {
    associatedtype Outcome: Sendable

    /// The one decision, as pure as `decide`.
    func settle(_ facts: Facts) throws(Rejection) -> SettledDecision<Outcome>
}

public struct SettledDecision<Outcome: Sendable>: Sendable {
    public var decision: Decision
    public var outcome: Outcome

    public init(_ decision: Decision, _ outcome: Outcome) {
        self.decision = decision
        self.outcome = outcome
    }

    /// An answer that nothing is put on record for.
    public init(_ outcome: Outcome) {
        self.init(Decision(), outcome)
    }
}

extension AnsweringCommand {
    public func decide(_ facts: Facts) throws(Rejection) -> Decision {
        try settle(facts).decision
    }
}
