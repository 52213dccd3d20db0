internal import Values

/// Guessing at one account: failures from many networks, and guesses that lock it.
struct BruteForceRule: FindingRuleGroup {
    private var failures = KeyedWindows<UUID, String?>()

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        guard case .failed(let attempt) = fact, let account = attempt.account else { return }
        let window = failures.append(
            attempt.source, of: account, at: desk.moment, seconds: desk.seconds(.bruteForce))
        guard let terms = desk.terms(.bruteForce), window.count >= terms.count(.failures) else {
            return
        }
        let sources = Set(window.all.compactMap(\.entry))
        guard sources.count >= terms.count(.sources) else { return }
        desk.attacked.append((account, sources))
        desk.find(.bruteForce, .account(account)) {
            FindingTrigger(
                .bruteForce, about: .account(account), window.all.map(\.moment),
                counts: [.failures: window.count, .sources: sources.count])
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        failures.forget(before: now.adding(seconds: -rules[.bruteForce][.window]))
    }

    mutating func begin(anewAt now: Timestamp) { failures.removeAll() }
}

/// Wrong guesses after which none is taken for a while. After the first rest each further wrong guess begins
/// another, longer one.
struct LockOutRule: FindingRuleGroup {
    /// As in `Passphrase`, `TwoFactor` and `TenantMethods`.
    static let usualLimit = 5
    static let derivedLimit = 20

    private struct Guesses: Sendable {
        var count = 0
        var limit = LockOutRule.usualLimit

        var isForgettable: Bool { count == 0 && limit == LockOutRule.usualLimit }
    }

    private var guesses: [UUID: Guesses] = [:]
    private var lockOuts = KeyedWindows<UUID, Void>()

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        switch fact {
        case .guessesForgotten(let stream, let limit):
            guard guesses[stream] != nil || limit == Self.derivedLimit else { return }
            var now = guesses[stream] ?? Guesses()
            now.count = 0
            now.limit = limit ?? now.limit
            guesses[stream] = now.isForgettable ? nil : now
        case .guessed(let stream, let account):
            guesses[stream, default: Guesses()].count += 1
            guard let now = guesses[stream], now.count >= now.limit else { return }
            locked(account, &desk)
        default: return
        }
    }

    private mutating func locked(_ account: UUID, _ desk: inout FindingDesk) {
        let window = lockOuts.append(
            (), of: account, at: desk.moment, seconds: desk.seconds(.lockOuts))
        guard let terms = desk.terms(.lockOuts), window.count >= terms.count(.lockOuts) else {
            return
        }
        desk.find(.lockOuts, .account(account)) {
            FindingTrigger(
                .lockOuts, about: .account(account), window.all.map(\.moment),
                counts: [.lockOuts: window.count])
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        lockOuts.forget(before: now.adding(seconds: -rules[.lockOuts][.window]))
    }

    mutating func begin(anewAt now: Timestamp) { lockOuts.removeAll() }
}

/// A sign-in to an account on which an attack was.
struct SignInAfterAttackRule: FindingRuleGroup {
    fileprivate struct Attack: Sendable {
        var last: EventMoment
        var sources: Set<String> = []
        /// It is one from many networks, which are those of all that it is on.
        var isSpread = false
    }

    private var attacks: [UUID: Attack] = [:]
    /// Networks of attacks on many accounts, and when each was last one of them.
    private var spread: [String: Timestamp] = [:]
    private static let mostSources = 100
    private static let mostSpread = 10_000

    /// Takes note of what the other rules found of this event.
    mutating func note(_ desk: FindingDesk) {
        for (account, sources) in desk.attacked {
            attacks[account, default: Attack(last: desk.moment)].add(
                sources, limit: Self.mostSources, at: desk.moment)
        }
        guard let spreading = desk.spread else { return }
        for account in spreading.accounts {
            attacks[account, default: Attack(last: desk.moment)].spread(at: desk.moment)
        }
        for source in spreading.sources
        where spread.count < Self.mostSpread || spread[source] != nil {
            spread[source] = desk.moment.time
        }
    }

    private func isFromThere(_ source: String, _ attack: Attack, since start: Timestamp) -> Bool {
        attack.sources.contains(source)
            || attack.isSpread && spread[source].map { $0 >= start } ?? false
    }

    mutating func look(at fact: FindingFact, _ desk: inout FindingDesk) {
        guard case .signedIn(let signIn) = fact, desk.terms(.signInAfterAttack) != nil,
            let attack = attacks[signIn.account],
            attack.last.time >= desk.start(of: .signInAfterAttack)
        else { return }
        let start = desk.start(of: .signInAfterAttack)
        let isFromThere =
            signIn.source.map { self.isFromThere($0, attack, since: start) } ?? false
        let moment = desk.moment
        desk.find(.signInAfterAttack, .account(signIn.account), isWhole: true) {
            FindingTrigger(
                .signInAfterAttack, about: .account(signIn.account),
                level: isFromThere ? .high : nil, [attack.last, moment])
        }
    }

    mutating func forget(at now: Timestamp, _ rules: FindingRules) {
        let start = now.adding(seconds: -rules[.signInAfterAttack][.window])
        attacks = attacks.filter { $0.value.last.time >= start }
        spread = spread.filter { $0.value >= start }
    }

    mutating func begin(anewAt now: Timestamp) { self = SignInAfterAttackRule() }
}

extension SignInAfterAttackRule.Attack {
    fileprivate mutating func add(_ sources: Set<String>, limit: Int, at moment: EventMoment) {
        last = moment
        guard self.sources.count < limit, !sources.isSubset(of: self.sources) else { return }
        self.sources.formUnion(sources)
    }

    fileprivate mutating func spread(at moment: EventMoment) {
        last = moment
        isSpread = true
    }
}
