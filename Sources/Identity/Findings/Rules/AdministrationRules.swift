internal import Values

/// What the keys of administrators usually do: at which hours of the day (UTC), and how much personal data
/// they open in a day.
struct AdministrationRules: FindingRuleGroup {
    /// Number of acts, or of opened accounts, on a day.
    private struct Day: Sendable {
        let day: Int64
        var count: Int
    }

    private struct Key: Sendable {
        /// By hour of the day, the last day with an act of the administrator in that hour.
        var hours = [Int64](repeating: .min, count: 24)
        var acts: [Day] = []
        var opened: [Day] = []
        /// The accounts whose data was opened on the newest day, each once.
        var people: Set<String> = []
        /// Where on the newest day personal data was opened.
        var openings: [EventMoment] = []
    }

    private var keys: [String: Key] = [:]

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        switch fact {
        case .administered(let actor): act(actor, &desk)
        case .disclosed(let actor, let accounts): disclose(actor, accounts, &desk)
        default: return
        }
    }

    private mutating func act(_ actor: String, _ desk: inout FindingDesk) {
        var key = keys[actor] ?? Key()
        let moment = desk.moment
        let (day, hour) = (Self.day(moment), Int(moment.time.seconds / 3600 % 24 + 24) % 24)
        if let terms = desk.terms(.unusualHour) {
            let first = day - terms[.days]
            let before = key.acts.filter { $0.day >= first && $0.day < day }.map(\.count)
            let isUsual = [hour + 23, hour, hour + 1].contains { key.hours[$0 % 24] >= first }
            if before.reduce(0, +) >= terms.count(.acts), !isUsual {
                desk.find(.unusualHour, .actor(actor), isWhole: true) {
                    FindingTrigger(.unusualHour, about: .actor(actor), [moment])
                }
            }
        }
        Self.add(1, to: &key.acts, on: day, desk.rules[.unusualHour])
        key.hours[hour] = day
        keys[actor] = key
    }

    private mutating func disclose(
        _ actor: String, _ accounts: [String], _ desk: inout FindingDesk
    ) {
        var key = keys[actor] ?? Key()
        let day = Self.day(desk.moment)
        if key.opened.last?.day != day { (key.openings, key.people) = ([], []) }
        let known = key.people.count
        // An event that names no account counts as one account.
        key.people.formUnion(accounts.isEmpty ? ["\(desk.moment.position)"] : accounts)
        Self.add(key.people.count - known, to: &key.opened, on: day, desk.rules[.massDisclosure])
        key.openings.append(desk.moment)
        if key.openings.count > KeyedWindows<String, Void>.limit { key.openings.removeFirst() }
        keys[actor] = key
        guard let terms = desk.terms(.massDisclosure) else { return }
        let today = key.opened.last?.count ?? 0
        let greatest =
            key.opened.dropLast().filter { $0.day >= day - terms[.days] }
            .map(\.count).max() ?? 0
        guard today >= terms.count(.accounts), today > greatest * terms.count(.factor) else {
            return
        }
        desk.find(.massDisclosure, .actor(actor)) {
            FindingTrigger(
                .massDisclosure, about: .actor(actor), key.openings, counts: [.accounts: today])
        }
    }

    private static func day(_ moment: EventMoment) -> Int64 { moment.time.seconds / 86_400 }

    private static func add(
        _ count: Int, to days: inout [Day], on day: Int64, _ terms: FindingTerms
    ) {
        days.removeAll { $0.day < day - terms[.days] || $0.day > day }
        if days.last?.day == day {
            days[days.count - 1].count += count
        } else {
            days.append(Day(day: day, count: count))
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {}
    mutating func begin(anewAt now: Timestamp) {
        for actor in keys.keys { keys[actor]?.openings = [] }
    }
}
