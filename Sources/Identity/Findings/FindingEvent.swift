public import EventSourcing
public import JSON
public import Values

/// A finding as it was raised.
public struct RaisedFinding: Sendable, Equatable {
    public var rule: FindingRule
    public var about: FindingSubject
    /// Whose account it is about, if it is: for a session the one that it was of.
    public var account: UUID?
    public var level: FindingLevel
    public var positions: [Int64]
    public var from: Timestamp
    public var to: Timestamp
    /// How many of what there were, by name.
    public var counts: [String: Int]
    /// Where it happened, in the order of the log.
    public var places: [String]
    /// Of the account.
    public var risk: RiskChange?

    public init(_ trigger: FindingTrigger, account: UUID?, risk: RiskChange?) {
        rule = trigger.rule
        about = trigger.about
        self.account = account
        level = trigger.level
        positions = trigger.positions
        from = trigger.from
        to = trigger.to
        counts = Dictionary(
            uniqueKeysWithValues: trigger.counts.map { ($0.key.rawValue, $0.value) })
        places = trigger.places
        self.risk = risk
    }
}

/// What an event makes of an account's risk: the greatest level of its open findings, low without any.
public struct RiskChange: Sendable, Equatable {
    public var former: FindingLevel
    public var now: FindingLevel

    public init(former: FindingLevel, now: FindingLevel) {
        self.former = former
        self.now = now
    }

    /// - Parameters:
    ///   - levels: of the account's other open findings.
    ///   - own: of the finding itself before and after; nil where it is not open.
    init(others levels: [FindingLevel], from former: FindingLevel?, to now: FindingLevel?) {
        let others = levels.max() ?? .low
        self.init(former: max(others, former ?? .low), now: max(others, now ?? .low))
    }
}

/// A finding that turned out to be worse.
public struct EscalatedFinding: Sendable, Equatable {
    public var rule: FindingRule
    public var account: UUID?
    public var level: FindingLevel
    /// Of the event that makes it worse.
    public var position: Int64
    public var risk: RiskChange?
}

/// A finding that is over.
public struct ClosedFinding: Sendable, Equatable {
    /// Why it is over.
    public enum Cause: String, CaseIterable, Sendable {
        /// Nothing more of it happened.
        case quiet
        case administrator
    }

    public var rule: FindingRule
    public var account: UUID?
    public var cause: Cause
    /// In the administrator's words.
    public var reason: String?
    public var risk: RiskChange?
}

/// What happens to a finding.
public enum FindingEvent: Event {
    case raised(RaisedFinding)
    case escalated(EscalatedFinding)
    case closed(ClosedFinding)

    private static let ofAll: [EventField] = [
        .choice("rule", FindingRule.self, "Rule by which it was found."),
        .account.optional,
        .choice("risk", FindingLevel.self, "Risk of the account from now on.").optional,
        .choice("former_risk", FindingLevel.self, "Risk of the account before.").optional,
    ]

    public static let catalogue: [EventShape] = [
        EventShape(
            "finding.raised", .services, "A rule found something suspicious in the log.", ofAll,
            [
                .choice("level", FindingLevel.self, "How bad it is."),
                .text("source", "Pseudonym of the network that it is about.").optional,
                .text("about_actor", "Administrator's key or operator that it is about.").optional,
                .uuid("session", "Session that it is about.").optional,
                EventField(
                    "positions", .list(.integer), "Positions of the events that it rests on."),
                .time("from", "Time of the first of them."), .time("to", "Time of the last."),
                .object("counts", "How many of what there were, by name."),
                .texts(
                    "places", "Where it happened, by country and square, if the rule is about that."
                ).optional,
            ]),
        EventShape(
            "finding.escalated", .services, "A finding turned out to be worse.", ofAll,
            [
                .choice("level", FindingLevel.self, "How bad it is from now on."),
                .integer("position", "Position of the event that makes it worse."),
            ]),
        EventShape(
            "finding.closed", .services, "A finding is over.", ofAll,
            [
                .choice("cause", ClosedFinding.Cause.self, "What closed it."),
                .text("reason", "Why, in the administrator's words.").optional,
            ]),
    ]

    public var name: String {
        switch self {
        case .raised: "finding.raised"
        case .escalated: "finding.escalated"
        case .closed: "finding.closed"
        }
    }

    public var subject: UUID? { nil }
    public var tellsOrigin: Bool { false }

    public var fields: JSONObject {
        switch self {
        case .raised(let finding): finding.fields
        case .escalated(let change):
            FindingFields.common(change.rule, change.account, change.risk).merging([
                "level": .string(change.level.rawValue), "position": .integer(change.position),
            ]) { own, _ in own }
        case .closed(let end):
            FindingFields.common(end.rule, end.account, end.risk).merging(
                end.reason.map { ["reason": .string($0)] } ?? [:]
            ) { own, _ in own }.merging(["cause": .string(end.cause.rawValue)]) { own, _ in own }
        }
    }

    public init?(name: String, fields: JSONObject) {
        guard let rule: FindingRule = fields.choice("rule") else { return nil }
        let (account, risk) = (fields.uuid("account"), RiskChange(recorded: fields))
        switch name {
        case "finding.raised":
            guard let finding = RaisedFinding(recorded: fields, rule) else { return nil }
            self = .raised(finding)
        case "finding.escalated":
            guard let level: FindingLevel = fields.choice("level"),
                let position = fields["position"]?.integer
            else { return nil }
            self = .escalated(
                EscalatedFinding(
                    rule: rule, account: account, level: level, position: position, risk: risk))
        case "finding.closed":
            guard let cause: ClosedFinding.Cause = fields.choice("cause") else { return nil }
            self = .closed(
                ClosedFinding(
                    rule: rule, account: account, cause: cause,
                    reason: fields["reason"]?.string, risk: risk))
        default: return nil
        }
    }
}
