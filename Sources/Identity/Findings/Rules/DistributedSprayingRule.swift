internal import Values

/// Guessing at many accounts from several networks, a little from each.
struct DistributedSprayingRule: FindingRuleGroup {
    private var window = SlidingWindow<SpreadTries.Attempt>()
    private var spread = SpreadTries(mostPerAccount: 0)
    private static let limit = 1_000

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        guard case .failed(let attempt) = fact, let account = attempt.account,
            let source = attempt.source
        else { return }
        add(SpreadTries.Attempt(account: account, source: source), desk)
        guard let terms = desk.terms(.distributedSpraying), spread.isFew(account),
            spread.tries >= terms.count(.tries), spread.accounts >= terms.count(.accounts),
            spread.bySource.count >= terms.count(.sources)
        else { return }
        let isNew = desk.find(.distributedSpraying, .realm) {
            let tries = window.all.filter { spread.isFew($0.entry.account) }
            return FindingTrigger(
                .distributedSpraying, about: .realm,
                tries.suffix(KeyedWindows<UUID, Void>.limit).map(\.moment),
                counts: [
                    .tries: spread.tries, .accounts: spread.accounts,
                    .sources: spread.bySource.count,
                ])
        }
        if isNew {
            // In order: of more than are kept, each node keeps the same.
            desk.spread = SpreadAttack(
                accounts: spread.fewAccounts, sources: spread.bySource.keys.sorted())
        } else {
            desk.spread = SpreadAttack(accounts: [account], sources: [source])
        }
    }

    private mutating func add(_ attempt: SpreadTries.Attempt, _ desk: FindingDesk) {
        let most = desk.rules[.distributedSpraying].count(.mostPerAccount)
        if most != spread.mostPerAccount {
            spread = SpreadTries(mostPerAccount: most)
            for element in window.all { spread.add(element.entry) }
        }
        spread.add(attempt)
        let gone = window.append(
            attempt, at: desk.moment, since: desk.start(of: .distributedSpraying),
            limit: Self.limit)
        for element in gone { spread.removeOldest(of: element.entry.account) }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {}

    mutating func begin(anewAt now: Timestamp) { self = DistributedSprayingRule() }
}

/// The tries of a window, and of those that are few for their account how many there are. They are counted as they come
/// and go: in a large realm there are many, and each of them is looked at.
struct SpreadTries: Sendable {
    struct Attempt: Sendable {
        let account: UUID
        let source: String
    }

    let mostPerAccount: Int
    /// Of the tries of each account, in their order.
    private var sources: [UUID: [String]] = [:]
    /// Those of accounts with few of them.
    private(set) var tries = 0
    private(set) var accounts = 0
    private(set) var bySource: [String: Int] = [:]

    init(mostPerAccount: Int) {
        self.mostPerAccount = mostPerAccount
    }

    func isFew(_ account: UUID) -> Bool {
        let count = sources[account]?.count ?? 0
        return count > 0 && count <= mostPerAccount
    }

    var fewAccounts: [UUID] {
        sources.compactMap { $0.value.count <= mostPerAccount ? $0.key : nil }
    }

    mutating func add(_ attempt: Attempt) {
        change(attempt.account) { $0.append(attempt.source) }
    }

    mutating func removeOldest(of account: UUID) {
        change(account) { if !$0.isEmpty { $0.removeFirst() } }
    }

    /// An account has few tries, and so few are counted anew.
    private mutating func change(_ account: UUID, _ change: (inout [String]) -> Void) {
        var present = sources.removeValue(forKey: account) ?? []
        count(present, by: -1)
        change(&present)
        count(present, by: 1)
        if !present.isEmpty { sources[account] = present }
    }

    private mutating func count(_ present: [String], by sign: Int) {
        guard !present.isEmpty, present.count <= mostPerAccount else { return }
        accounts += sign
        tries += sign * present.count
        for source in present {
            let count = bySource[source, default: 0] + sign
            bySource[source] = count > 0 ? count : nil
        }
    }
}
