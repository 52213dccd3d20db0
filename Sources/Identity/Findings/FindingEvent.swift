public import EventSourcing
internal import JSON
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
    /// Number of events or objects, by kind.
    public var counts: [String: Int]
    /// Where it happened, in the order of the log.
    public var places: [String]
    /// Of the account.
    public var risk: RiskChange?
}

extension RaisedFinding {
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
    /// Why the finding is closed.
    public enum Cause: String, CaseIterable, Sendable {
        /// No further event belonged to the finding.
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
public enum FindingEvent: FormedEvent {
    case raised(RaisedFinding)
    case escalated(EscalatedFinding)
    case closed(ClosedFinding)

    package enum Form {
        package static let raised = EventForm(
            "finding.raised", .services, .findingRaised,
            "A rule found something suspicious in the log.", .raised, make: FindingEvent.raised)
        package static let escalated = EventForm(
            "finding.escalated", .services, .findingEscalated, "A finding turned out to be worse.",
            .escalated, make: FindingEvent.escalated)
        package static let closed = EventForm(
            "finding.closed", .services, .findingClosed, "A finding is over.", .closed,
            make: FindingEvent.closed)
    }

    public static let forms: EventForms<Self> = [Form.raised, Form.escalated, Form.closed]

    public var tellsOrigin: Bool { false }

    public var written: WrittenEvent {
        switch self {
        case .raised(let finding): Form.raised(finding)
        case .escalated(let change): Form.escalated(change)
        case .closed(let end): Form.closed(end)
        }
    }
}

extension Field<FindingRule> {
    fileprivate static let rule = choice("rule", "Rule by which it was found.")
}

extension Field<RiskChange> {
    static let risk = record(
        .choice("former_risk", "Risk of the account before."),
        .choice("risk", "Risk of the account from now on."),
        make: { RiskChange(former: $0, now: $1) }, take: { ($0.former, $0.now) })
}

extension Field<FindingSubject> {
    /// The realm where it is about an account: that stands beside it.
    fileprivate static let about = record(
        .optional(.uuid("session", "Session that the finding is about.")),
        .optional(.text("source", "Pseudonym of the network that it is about.")),
        .optional(.text("about_actor", "Administrator's key or operator that it is about.")),
        make: {
            $0.map { .session($0) } ?? $1.map { .source($0) } ?? $2.map { .actor($0) } ?? .realm
        },
        take: {
            switch $0 {
            case .session(let id): (id, nil, nil)
            case .source(let source): (nil, source, nil)
            case .actor(let actor): (nil, nil, actor)
            case .account, .realm: (nil, nil, nil)
            }
        })
}

extension Field<[Int64]> {
    fileprivate static let positions = Field(
        EventField("positions", .list(.integer), "Positions of the events that it rests on."),
        write: { .array($0.map { .integer($0) }) }, read: { $0.array?.compactMap(\.integer) })
}

extension Field<[String: Int]> {
    fileprivate static let counts = readAs(
        [:],
        Field(
            .object("counts", "Number of events or objects, by kind."),
            write: { .object(JSONObject($0.map { ($0.key, .integer(Int64($0.value))) })) },
            read: { json in
                json.object?.reduce(into: [:]) { counts, member in
                    counts[member.key] = member.value.integer.map { Int(clamping: $0) }
                }
            }))
}

extension Field<RaisedFinding> {
    fileprivate static let raised = record(
        .rule, .about, .optional(.account), .choice("level", "Risk level of the finding."),
        .positions,
        .time("from", "Time of the first event behind the finding."),
        .time("to", "Time of the last event behind the finding."), .counts,
        .unless(
            [],
            .texts(
                "places", "Where it happened, by country and square, if the rule is about that.")),
        .optional(.risk),
        make: { rule, about, account, level, positions, from, to, counts, places, risk in
            RaisedFinding(
                rule: rule,
                about: about == .realm ? account.map { .account($0) } ?? .realm : about,
                account: account, level: level, positions: positions, from: from, to: to,
                counts: counts, places: places, risk: risk)
        },
        take: {
            (
                $0.rule, $0.about, $0.account, $0.level, $0.positions, $0.from, $0.to, $0.counts,
                $0.places, $0.risk
            )
        })
}

extension Field<EscalatedFinding> {
    fileprivate static let escalated = record(
        .rule, .optional(.account), .choice("level", "New risk level of the finding."),
        .integer("position", "Position of the event that makes it worse."), .optional(.risk),
        make: { EscalatedFinding(rule: $0, account: $1, level: $2, position: $3, risk: $4) },
        take: { ($0.rule, $0.account, $0.level, $0.position, $0.risk) })
}

extension Field<ClosedFinding> {
    fileprivate static let closed = record(
        .rule, .optional(.account), .choice("cause", "Cause of closing."),
        .optional(.text("reason", "Why, in the administrator's words.")), .optional(.risk),
        make: { ClosedFinding(rule: $0, account: $1, cause: $2, reason: $3, risk: $4) },
        take: { ($0.rule, $0.account, $0.cause, $0.reason, $0.risk) })
}
