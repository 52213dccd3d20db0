public import EventSourcing
public import Values

/// What happens to a realm's rules for findings.
public enum FindingRulesEvent: FormedEvent {
    /// From now on the rule is as these terms say.
    case set(FindingTerms)

    package enum Form {
        package static let set = EventForm(
            "finding_rules.set", .audit, .findingRulesSet, "A rule for findings was changed.",
            .terms, make: FindingRulesEvent.set)
    }

    public static let forms: EventForms<Self> = [Form.set]

    public var written: WrittenEvent {
        switch self {
        case .set(let terms): Form.set(terms)
        }
    }
}

extension Field<FindingTerms> {
    fileprivate static let terms = record(
        .choice("rule", "Rule that was changed."), .flag("enabled", "Whether the rule is on."),
        .object("thresholds", "Thresholds of the rule that are not its own, by name."),
        make: { FindingTerms(recorded: $0, isEnabled: $1, $2) },
        take: { ($0.rule, $0.isEnabled, $0.thresholds(onlyChanged: true)) })
}

/// The rules for findings of a realm.
public struct FindingRules: StreamState, Equatable {
    private var terms = Dictionary(
        uniqueKeysWithValues: FindingRule.allCases.map { ($0, FindingTerms($0)) })

    public init() {}

    /// Who raises findings, and closes those that are over.
    public static let actor = "findings"

    /// There is one in a realm.
    public static let stream = UUID(high: 0x6669_6E64_696E_8000, low: 0x8000_7275_6C65_7300)

    public subscript(rule: FindingRule) -> FindingTerms { terms[rule] ?? FindingTerms(rule) }

    public mutating func apply(_ event: FindingRulesEvent) {
        switch event {
        case .set(let terms): self.terms[terms.rule] = terms
        }
    }
}
