public import EventSourcing
public import Values

/// Runs the rules for findings over the log of a realm, event by event, in its order. It has no clock but the
/// times of the events: the same log has the same findings, however often it is read.
public struct FindingEngine: Sendable {
    /// Types of events that the rules look at, whichever actor the event names, with those of findings and rules themselves.
    public static let eventTypes: [String] =
        FindingFact.types.union(FindingEvent.catalogue.map(\.name))
        .union(FindingRulesEvent.catalogue.map(\.name)).sorted()
    /// Types of events that the rules look at where an administrator or an operator is the actor.
    public static let administrationTypes: [String] =
        FindingFact.administration.subtracting(eventTypes).sorted()

    private var clock = EventClock()
    private var desk = FindingDesk()
    private var afterAttack = SignInAfterAttackRule()
    private var removed = SecondFactorRemovedRule()
    private var groups: [any FindingRuleGroup] = [
        BruteForceRule(), LockOutRule(), SourceRules(), DistributedSprayingRule(),
        SecondFactorFatigueRule(), TokenReuseRule(), ManySessionsRule(), FamiliarityRules(),
        AdministrationRules(), SeveralCountriesRule(), ImpossibleTravelRule(),
    ]
    private var sinceHousekeeping = 0

    /// What was found and the log does not have yet, in the order in which it was found.
    public private(set) var outstanding: [FindingTrigger] = []
    /// Findings whose level is to rise, likewise.
    public private(set) var risen: [RisenFinding] = []

    public init() {}

    /// Takes the next event in.
    public mutating func take(_ event: Recorded) {
        if clock.advance(to: event.at) { beginAnew() }
        desk.moment = EventMoment(position: event.position, time: clock.now)
        if event.name.hasPrefix("finding") { note(event) }
        for fact in FindingFact.all(of: event) { look(at: fact) }
        housekeep()
    }

    private mutating func look(at fact: FindingFact) {
        removed.look(at: fact, &desk)
        for index in groups.indices { groups[index].look(at: fact, &desk) }
        afterAttack.look(at: fact, &desk)
        guard
            !desk.attacked.isEmpty || desk.spread != nil || !desk.found.isEmpty
                || !desk.risen.isEmpty
        else { return }
        afterAttack.note(desk)
        outstanding += desk.found
        risen += desk.risen
        desk.clear()
    }

    /// What the log has of findings is not to be raised again.
    private mutating func note(_ recorded: Recorded) {
        if let event = FindingRulesEvent(recorded) {
            desk.rules.apply(event)
            return
        }
        guard let event = FindingEvent(recorded) else { return }
        let id = recorded.stream
        switch event {
        case .raised(let finding):
            outstanding.removeAll { $0.id == id }
            desk.episodes.note(id, finding)
        case .escalated(let change):
            risen.removeAll { $0.id == id && $0.level <= change.level }
            desk.episodes.noteLevel(change.level, of: id)
        case .closed:
            risen.removeAll { $0.id == id }
            desk.episodes.noteClosed(id, at: recorded.position)
        }
    }

    // MARK: - What is due although nothing happens

    /// When something is due: a finding closes by itself, or something is found because something else did not
    /// happen.
    public var nextDue: Timestamp? {
        [desk.episodes.nextQuiet(desk.rules), removed.next(desk.rules)].compactMap(\.self).min()
    }

    /// What is found because something did not happen in time. It will be found of the log itself, under the same
    /// name, as soon as an event is later than now.
    public func due(at now: Timestamp) -> [FindingTrigger] {
        removed.due(at: now, desk.rules).filter { desk.episodes.level(of: $0.id) == nil }
    }

    /// Findings of which nothing more happened for so long that they are over.
    public func quiet(at now: Timestamp) -> [UUID] { desk.episodes.quiet(at: now, desk.rules) }

    /// Whether the log says that the finding is open.
    public func isOpen(_ id: UUID) -> Bool { desk.episodes.level(of: id) != nil }

    /// It is on record, or will not be: it is not asked for again.
    public mutating func settle(_ trigger: FindingTrigger) {
        outstanding.removeAll { $0.id == trigger.id }
    }

    public mutating func settle(_ change: RisenFinding) {
        risen.removeAll { $0 == change }
    }

    // MARK: - Housekeeping

    private mutating func beginAnew() {
        desk.episodes.begin(anewAt: clock.now)
        removed.begin(anewAt: clock.now)
        for index in groups.indices { groups[index].begin(anewAt: clock.now) }
        afterAttack.begin(anewAt: clock.now)
    }

    private mutating func housekeep() {
        sinceHousekeeping += 1
        guard sinceHousekeeping == 8_192 else { return }
        sinceHousekeeping = 0
        desk.episodes.forget(at: clock.now, desk.rules)
        for index in groups.indices { groups[index].forget(at: clock.now, desk.rules) }
        afterAttack.forget(at: clock.now, desk.rules)
    }
}
