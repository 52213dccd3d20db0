public import JSON

/// How a realm has one rule: whether it is on, and its thresholds.
public struct FindingTerms: Sendable, Equatable {
    public let rule: FindingRule
    public let isEnabled: Bool
    /// Those that are not the rule's own.
    public let changed: [FindingThreshold.Name: Int64]
    private let values: [FindingThreshold.Name: Int64]

    init(_ rule: FindingRule) {
        self.init(known: rule, isEnabled: true, [:])
    }

    /// What a realm asks for.
    public init(
        _ rule: FindingRule, isEnabled: Bool = true, _ asked: [String: Int64] = [:]
    ) throws(FieldFault) {
        var changed: [FindingThreshold.Name: Int64] = [:]
        for (name, value) in asked.sorted(by: { $0.key < $1.key }) {
            guard let threshold = rule.thresholds.first(where: { $0.name.rawValue == name }) else {
                throw FieldFault(name, .unknown)
            }
            guard threshold.range.contains(value) else {
                throw FieldFault(
                    name,
                    .outOfRange(
                        lowest: threshold.range.lowerBound, highest: threshold.range.upperBound))
            }
            if value != threshold.fallback { changed[threshold.name] = value }
        }
        self.init(known: rule, isEnabled: isEnabled, changed)
        try requireSense()
    }

    private init(
        known rule: FindingRule, isEnabled: Bool, _ changed: [FindingThreshold.Name: Int64]
    ) {
        self.rule = rule
        self.isEnabled = isEnabled
        self.changed = changed
        values = Dictionary(
            uniqueKeysWithValues: rule.thresholds.map { ($0.name, changed[$0.name] ?? $0.fallback) }
        )
    }

    /// Thresholds that no log can meet together.
    private func requireSense() throws(FieldFault) {
        if let least = values[.leastPerAccount], self[.mostPerAccount] < least {
            throw FieldFault("most_per_account", .conflicts(with: "least_per_account"))
        }
        if let lasting = values[.lasting], self[.window] < lasting {
            throw FieldFault("lasting", .conflicts(with: "window"))
        }
        if let failures = values[.failures], failures < self[.sources] {
            throw FieldFault("sources", .conflicts(with: "failures"))
        }
        if let tries = values[.tries], tries < self[.accounts] {
            throw FieldFault("accounts", .conflicts(with: "tries"))
        }
    }

    /// Of a threshold that the rule has.
    public subscript(name: FindingThreshold.Name) -> Int64 { values[name] ?? 0 }

    func count(_ name: FindingThreshold.Name) -> Int { Int(clamping: self[name]) }

    /// As the log and answers write the thresholds.
    public func thresholds(onlyChanged: Bool) -> JSONObject {
        JSONObject(
            (onlyChanged ? changed : values).sorted { $0.key < $1.key }.map {
                ($0.key.rawValue, .integer($0.value))
            })
    }

    /// Reads what the log holds. A threshold that this version of Urd does not know, or knows within other
    /// bounds, is left as the rule has it.
    init(recorded rule: FindingRule, isEnabled: Bool, _ thresholds: JSONObject) {
        var changed: [FindingThreshold.Name: Int64] = [:]
        for threshold in rule.thresholds {
            guard let value = thresholds[threshold.name.rawValue]?.integer,
                threshold.range.contains(value), value != threshold.fallback
            else { continue }
            changed[threshold.name] = value
        }
        self.init(known: rule, isEnabled: isEnabled, changed)
    }
}
