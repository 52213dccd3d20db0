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
