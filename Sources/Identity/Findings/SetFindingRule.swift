public import EventSourcing

/// Changes a rule for findings of a realm: what is not named is as the rule has it by itself.
public struct SetFindingRule: Command {
    public var rule: FindingRule
    public var isEnabled: Bool
    /// The thresholds by name.
    public var thresholds: [String: Int64]

    public init(_ rule: FindingRule, isEnabled: Bool = true, thresholds: [String: Int64] = [:]) {
        self.rule = rule
        self.isEnabled = isEnabled
        self.thresholds = thresholds
    }

    public enum Rejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> InRealm<FindingRules> {
        try await .read(FindingRules.stream, from: streams)
    }

    public func decide(_ facts: InRealm<FindingRules>) throws(Rejection) -> Decision {
        let terms: FindingTerms
        do {
            terms = try FindingTerms(rule, isEnabled: isEnabled, thresholds)
        } catch {
            throw .invalid(error)
        }
        guard facts.thing.state[rule] != terms else { return Decision() }
        return Decision(FindingRulesEvent.set(terms), in: FindingRules.stream)
    }
}
