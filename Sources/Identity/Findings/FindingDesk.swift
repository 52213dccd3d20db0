public import Values

/// What a rule works with while it looks at one event: the event's moment, the realm's terms, and where it puts
/// what it found.
struct FindingDesk: Sendable {
    var moment = EventMoment(position: 0, time: Timestamp(microseconds: 0))
    var rules = FindingRules()
    var episodes = FindingEpisodes()
    var found: [FindingTrigger] = []
    var risen: [RisenFinding] = []
    /// Accounts that an attack of this moment is on, and the networks that it comes from.
    var attacked: [(account: UUID, sources: Set<String>)] = []
    /// What belongs to an attack on many accounts from many networks.
    var spread: SpreadAttack?

    /// For the next event.
    mutating func clear() {
        found = []
        risen = []
        attacked = []
        spread = nil
    }

    func terms(_ rule: FindingRule) -> FindingTerms? {
        let terms = rules[rule]
        return terms.isEnabled ? terms : nil
    }

    func seconds(_ rule: FindingRule) -> Int64 { rules[rule][.window] }

    /// The beginning of a rule's window.
    func start(of rule: FindingRule) -> Timestamp {
        moment.time.adding(seconds: -seconds(rule))
    }

    /// Puts a finding down, unless it belongs to one that goes on.
    /// - Parameters:
    ///   - isWhole: what was found is new by itself; otherwise it is new only if none of the events that it rests on
    ///     was there when the finding before it ended.
    ///   - trigger: evaluated only where the finding may be new.
    /// - Returns: whether the finding is new.
    @discardableResult
    mutating func find(
        _ rule: FindingRule, _ about: FindingSubject, isWhole: Bool = false,
        _ trigger: () -> FindingTrigger
    ) -> Bool {
        let key = FindingEpisodes.Key(rule: rule, about: about)
        if episodes.extend(key, at: moment, closesAfter: rules[rule][.closesAfter]) {
            return false
        }
        let trigger = trigger()
        if !isWhole, let first = trigger.positions.first, first <= episodes.end(of: key) {
            return false
        }
        episodes.begin(key, trigger.id, at: moment)
        found.append(trigger)
        return true
    }
}

/// Accounts that an attack from many networks is on, and networks that it comes from, as far as this moment says so.
struct SpreadAttack: Sendable {
    let accounts: [UUID]
    let sources: [String]
}

/// A group of rules, with their memory. They look at each event in the order of the log.
protocol FindingRuleGroup: Sendable {
    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk)
    /// Drops what can play no part any more.
    mutating func forget(at now: Timestamp, _ rules: FindingRules)
    /// The clock was set back: remembered times were wrong.
    mutating func begin(anewAt now: Timestamp)
}

/// A finding whose level rises.
public struct RisenFinding: Sendable, Equatable {
    public let id: UUID
    public let level: FindingLevel
    /// Of the event that makes it worse.
    public let position: Int64
}
