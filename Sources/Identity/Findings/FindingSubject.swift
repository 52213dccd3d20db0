public import Values

/// Whom or what a finding is about.
public enum FindingSubject: Hashable, Sendable {
    case account(UUID)
    /// A session; whose it is, the session says.
    case session(UUID)
    /// The pseudonym of a network.
    case source(String)
    /// An administrator's key, or an operator.
    case actor(String)
    /// The realm as a whole.
    case realm

    /// The subject as text in stream names.
    var text: String {
        switch self {
        case .account(let id): "account:\(id)"
        case .session(let id): "session:\(id)"
        case .source(let source): "source:\(source)"
        case .actor(let actor): "actor:\(actor)"
        case .realm: "realm"
        }
    }
}

/// What a rule found: something that is raised unless it is part of what was raised before.
public struct FindingTrigger: Sendable, Equatable {
    public var rule: FindingRule
    public var about: FindingSubject
    public var level: FindingLevel
    /// Where the events stand that it rests on, in their order.
    public var positions: [Int64]
    /// The time of the first and of the last of them, as the engine counts it.
    public var from: Timestamp
    public var to: Timestamp
    /// Number of events or objects, by kind.
    public var counts: [FindingThreshold.Name: Int]
    /// Where it happened, in the order of the log, such as `CH N47E008`.
    public var places: [String]

    init(
        _ rule: FindingRule, about: FindingSubject, level: FindingLevel? = nil,
        _ evidence: [EventMoment], counts: [FindingThreshold.Name: Int] = [:], places: [String] = []
    ) {
        self.places = places
        self.rule = rule
        self.about = about
        self.level = level ?? rule.level
        positions = evidence.map(\.position)
        from = evidence.first?.time ?? Timestamp(microseconds: 0)
        to = evidence.last?.time ?? Timestamp(microseconds: 0)
        self.counts = counts
    }

    /// The finding's stream. It follows from what was found, so that a rule that runs twice over the same log
    /// finds the same: the second one is a conflict and no second finding. Ordered by time.
    public var id: UUID {
        let text = "\(rule.rawValue) \(about.text) \(positions.last ?? 0)"
        // FNV-1a (64 bits).
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
        }
        let milliseconds = UInt64(min(max(to.milliseconds, 0), 1 << 48 - 1))
        return UUID(
            high: milliseconds << 16 | 0x8000 | hash >> 52,
            low: hash & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}

/// Where an event stands, and when it was as the engine counts it.
struct EventMoment: Sendable, Equatable {
    let position: Int64
    let time: Timestamp
}
