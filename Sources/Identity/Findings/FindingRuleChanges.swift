package import EventSourcing
internal import Values

/// The changes of a finding rule.
package enum FindingRuleChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<InRealm<FindingRules>, Rejection>

    package enum SetRejection: Error, Equatable, Sendable {
        case invalid(FieldFault)
    }

    /// Changes a rule for findings of a realm: what is not named is as the rule has it by itself.
    /// - Parameter thresholds: The thresholds by name.
    package static func set(
        _ rule: FindingRule, isEnabled: Bool = true, thresholds: [String: Int64] = [:]
    ) -> Change<SetRejection> {
        Change(of: FindingRules.stream) { facts throws(SetRejection) in
            let terms: FindingTerms
            do throws(FieldFault) {
                terms = try FindingTerms(rule, isEnabled: isEnabled, thresholds)
            } catch {
                throw .invalid(error)
            }
            guard facts.thing.state[rule] != terms else { return Decision() }
            return Decision(FindingRulesEvent.set(terms), in: FindingRules.stream)
        }
    }
}
