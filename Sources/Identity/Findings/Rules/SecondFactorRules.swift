internal import Values

/// A person who is asked for the second factor again and again, until they may give in: the attacker who asks has the
/// first one.
struct SecondFactorFatigueRule: FindingRuleGroup {
    /// What is asked for by one command is asked for once.
    private var asked = KeyedWindows<UUID, UUID>()

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        switch fact {
        case .secondFactorAsked(let account, let command): ask(account, command, &desk)
        case .signedIn(let signIn) where signIn.isConfirmed: giveIn(signIn.account, &desk)
        default: return
        }
    }

    private mutating func ask(_ account: UUID, _ command: UUID, _ desk: inout FindingDesk) {
        guard asked[account].last?.entry != command else { return }
        let window = asked.append(
            command, of: account, at: desk.moment, seconds: desk.seconds(.secondFactorFatigue))
        guard let terms = desk.terms(.secondFactorFatigue), window.count >= terms.count(.asked)
        else { return }
        desk.find(.secondFactorFatigue, .account(account)) {
            FindingTrigger(
                .secondFactorFatigue, about: .account(account), window.all.map(\.moment),
                counts: [.asked: window.count])
        }
    }

    /// Success ends the asking; where it had become a finding, the finding is a worse one.
    private mutating func giveIn(_ account: UUID, _ desk: inout FindingDesk) {
        let last = asked[account].last?.moment.time
        asked.remove(account)
        let key = FindingEpisodes.Key(rule: .secondFactorFatigue, about: .account(account))
        guard let terms = desk.terms(.secondFactorFatigue), let last,
            last >= desk.start(of: .secondFactorFatigue), let id = desk.episodes.current(key),
            desk.episodes.extend(key, at: desk.moment, closesAfter: terms[.closesAfter])
        else { return }
        desk.risen.append(
            RisenFinding(id: id, level: .high, position: desk.moment.position))
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        asked.forget(before: now.adding(seconds: -rules[.secondFactorFatigue][.window]))
    }

    mutating func begin(anewAt now: Timestamp) { asked.removeAll() }
}

/// A second factor that was removed, and none came in its place in time. It is found once that time is over.
struct SecondFactorRemovedRule: FindingRuleGroup {
    private var removed: [UUID: EventMoment] = [:]

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        for (account, moment) in overdue(at: desk.moment.time, desk.rules) {
            removed[account] = nil
            guard desk.terms(.secondFactorRemoved) != nil else { continue }
            desk.find(.secondFactorRemoved, .account(account), isWhole: true) {
                Self.trigger(account, moment)
            }
        }
        switch fact {
        case .secondFactorRemoved(let account):
            removed[account] = removed[account] ?? desk.moment
        case .secondFactorAdded(let account), .accountGone(let account): removed[account] = nil
        default: return
        }
    }

    /// The accounts in the order in which their second factor was removed.
    private func overdue(
        at now: Timestamp, _ rules: FindingRules
    ) -> [(key: UUID, value: EventMoment)] {
        guard !removed.isEmpty else { return [] }
        let start = now.adding(seconds: -rules[.secondFactorRemoved][.window])
        return removed.filter { $0.value.time < start }
            .sorted { $0.value.position < $1.value.position }
    }

    private static func trigger(_ account: UUID, _ moment: EventMoment) -> FindingTrigger {
        FindingTrigger(.secondFactorRemoved, about: .account(account), [moment])
    }

    /// The findings that the next event with a later time will raise.
    func due(at now: Timestamp, _ rules: FindingRules) -> [FindingTrigger] {
        guard rules[.secondFactorRemoved].isEnabled else { return [] }
        return overdue(at: now, rules).map(Self.trigger)
    }

    /// The time at which the next finding is due.
    func next(_ rules: FindingRules) -> Timestamp? {
        guard rules[.secondFactorRemoved].isEnabled else { return nil }
        return removed.values.map(\.time).min()?
            .adding(seconds: rules[.secondFactorRemoved][.window])
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {}

    mutating func begin(anewAt now: Timestamp) {
        for (account, moment) in removed where moment.time > now {
            removed[account] = EventMoment(position: moment.position, time: now)
        }
    }
}
