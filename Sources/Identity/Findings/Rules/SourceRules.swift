internal import Values

/// Guessing at many accounts from one network.
struct SourceRules: FindingRuleGroup {
    private var tries = KeyedWindows<String, UUID?>()

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        guard case .failed(let attempt) = fact, let source = attempt.source else { return }
        let longest = max(desk.seconds(.credentialStuffing), desk.seconds(.passwordSpraying))
        let window = tries.append(
            attempt.account, of: source, at: desk.moment, seconds: longest)
        stuffing(source, window, &desk)
        spraying(source, window, &desk)
    }

    private func stuffing(
        _ source: String, _ window: SlidingWindow<UUID?>, _ desk: inout FindingDesk
    ) {
        guard let terms = desk.terms(.credentialStuffing), window.count >= terms.count(.tries)
        else { return }
        let tries = window.since(desk.start(of: .credentialStuffing))
        let counts = countsByAccount(tries)
        guard tries.count >= terms.count(.tries), counts.count >= terms.count(.accounts) else {
            return
        }
        let few = counts.values.count { $0 <= terms.count(.mostPerAccount) }
        guard few * 100 >= counts.count * terms.count(.share) else { return }
        for account in counts.keys { desk.attacked.append((account, [source])) }
        desk.find(.credentialStuffing, .source(source)) {
            FindingTrigger(
                .credentialStuffing, about: .source(source), tries.map(\.moment),
                counts: [.tries: tries.count, .accounts: counts.count])
        }
    }

    private func spraying(
        _ source: String, _ window: SlidingWindow<UUID?>, _ desk: inout FindingDesk
    ) {
        guard let terms = desk.terms(.passwordSpraying), window.count >= terms.count(.tries)
        else { return }
        let inTime = window.since(desk.start(of: .passwordSpraying))
        let perAccount = terms.count(.leastPerAccount)...terms.count(.mostPerAccount)
        let counts = countsByAccount(inTime).filter { perAccount.contains($0.value) }
        guard counts.count >= terms.count(.accounts) else { return }
        let tries = inTime.filter { $0.entry.map { counts[$0] != nil } ?? false }
        guard tries.count >= terms.count(.tries), let first = tries.first?.moment.time,
            let last = tries.last?.moment.time,
            last.microseconds(since: first) >= terms[.lasting] * 1_000_000
        else { return }
        for account in counts.keys { desk.attacked.append((account, [source])) }
        desk.find(.passwordSpraying, .source(source)) {
            FindingTrigger(
                .passwordSpraying, about: .source(source), tries.map(\.moment),
                counts: [.tries: tries.count, .accounts: counts.count])
        }
    }

    private func countsByAccount(_ tries: [SlidingWindow<UUID?>.Element]) -> [UUID: Int] {
        tries.reduce(into: [:]) { counts, element in
            if let account = element.entry { counts[account, default: 0] += 1 }
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        let longest = max(rules[.credentialStuffing][.window], rules[.passwordSpraying][.window])
        tries.forget(before: now.adding(seconds: -longest))
    }

    mutating func begin(anewAt now: Timestamp) { tries.removeAll() }
}

/// Guessing at many accounts from several networks, a little from each. What is in the window is counted as it
/// comes and goes: in a large realm there is much of it.
struct DistributedSprayingRule: FindingRuleGroup {
    private struct Attempt: Sendable {
        let account: UUID
        let source: String
    }

    private var window = SlidingWindow<Attempt>()
    private var byAccount: [UUID: Int] = [:]
    private var bySource: [String: Int] = [:]
    private static let limit = 1_000

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        guard case .failed(let attempt) = fact, let account = attempt.account,
            let source = attempt.source
        else { return }
        add(Attempt(account: account, source: source), desk)
        guard let terms = desk.terms(.distributedSpraying), window.count >= terms.count(.tries),
            bySource.count >= terms.count(.sources), byAccount.count >= terms.count(.accounts),
            byAccount[account] ?? 0 <= terms.count(.mostPerAccount)
        else { return }
        let most = terms.count(.mostPerAccount)
        let tries = window.all.filter { byAccount[$0.entry.account] ?? 0 <= most }
        let accounts = Set(tries.map(\.entry.account))
        let sources = Set(tries.map(\.entry.source))
        guard tries.count >= terms.count(.tries), accounts.count >= terms.count(.accounts),
            sources.count >= terms.count(.sources)
        else { return }
        let isNew = desk.find(.distributedSpraying, .realm) {
            FindingTrigger(
                .distributedSpraying, about: .realm,
                tries.suffix(KeyedWindows<UUID, Void>.limit).map(\.moment),
                counts: [
                    .tries: tries.count, .accounts: accounts.count, .sources: sources.count,
                ])
        }
        for account in isNew ? accounts : [account] { desk.attacked.append((account, sources)) }
    }

    private mutating func add(_ attempt: Attempt, _ desk: FindingDesk) {
        byAccount[attempt.account, default: 0] += 1
        bySource[attempt.source, default: 0] += 1
        let gone = window.append(
            attempt, at: desk.moment, since: desk.start(of: .distributedSpraying),
            limit: Self.limit)
        for element in gone {
            Self.subtract(element.entry.account, from: &byAccount)
            Self.subtract(element.entry.source, from: &bySource)
        }
    }

    private static func subtract<Key>(_ key: Key, from counts: inout [Key: Int]) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {}

    mutating func begin(anewAt now: Timestamp) { self = DistributedSprayingRule() }
}
