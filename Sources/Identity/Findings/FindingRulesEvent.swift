public import EventSourcing
public import JSON
public import Values

/// What happens to a realm's rules for findings.
public enum FindingRulesEvent: Event {
    /// From now on the rule is as these terms say.
    case set(FindingTerms)

    public static let catalogue: [EventShape] = [
        EventShape(
            "finding_rules.set", .audit, "A rule for findings was changed.",
            [
                .choice("rule", FindingRule.self, "Rule that was changed."),
                .flag("enabled", "Whether the rule is on."),
                .object("thresholds", "Thresholds of the rule that are not its own, by name."),
            ])
    ]

    public var name: String { "finding_rules.set" }
    public var subject: UUID? { nil }

    public var fields: JSONObject {
        switch self {
        case .set(let terms):
            [
                "rule": .string(terms.rule.rawValue), "enabled": .bool(terms.isEnabled),
                "thresholds": .object(terms.thresholds(onlyChanged: true)),
            ]
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard name == "finding_rules.set", let rule: FindingRule = fields.choice("rule"),
            let isEnabled = fields["enabled"]?.bool, let values = fields["thresholds"]?.object
        else { return nil }
        self = .set(FindingTerms(recorded: rule, isEnabled: isEnabled, values))
    }
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
