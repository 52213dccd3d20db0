internal import Values

/// What a policy would have done, in numbers.
struct WhatIfTally: Sendable, Equatable {
    static let outcomes = PolicyOutcome.allCases
    static let refreshes = RefreshOutcome.names

    struct Account: Sendable, Equatable {
        var outcomes = [Int64](repeating: 0, count: WhatIfTally.outcomes.count)
        /// The rules that refused, a bit each.
        var refusing: Int64 = 0
        var firstRefused: Int64 = 0
        var lastRefused: Int64 = 0
    }

    struct Day: Sendable, Equatable {
        var outcomes = [Int64](repeating: 0, count: WhatIfTally.outcomes.count)
        var refreshes = [Int64](repeating: 0, count: WhatIfTally.refreshes.count)
    }

    var signIns = [Int64](repeating: 0, count: outcomes.count)
    var refreshed = [Int64](repeating: 0, count: refreshes.count)
    /// By rule and outcome.
    var rules = [Int64](repeating: 0, count: PolicyRule.allCases.count * outcomes.count)
    var lifetimes = [Int64](repeating: 0, count: PolicyRule.lifetimes.count * refreshes.count)
    var endedSessions: Int64 = 0
    /// Sign-ins of each client and role that a second factor is required of: clients first, in the order of the policy.
    var named: [Int64]
    /// By day of UTC, since 1970.
    var days: [Int64: Day] = [:]
    /// In the order of the memory's accounts; shorter where the last of them have no sign-in.
    var accounts: [Account] = []

    mutating func add(
        _ judgement: SignInJudgement, of place: Int, position: Int64, at time: Timestamp
    ) {
        let outcome = judgement.outcome.index
        signIns[outcome] += 1
        days[Self.day(of: time), default: Day()].outcomes[outcome] += 1
        while accounts.count <= place { accounts.append(Account()) }
        accounts[place].outcomes[outcome] += 1
        for (rule, outcome) in judgement.rules {
            rules[rule.index * Self.outcomes.count + outcome.index] += 1
            if outcome == .refuse { accounts[place].refusing |= 1 << Int64(rule.index) }
        }
        guard judgement.outcome == .refuse else { return }
        if accounts[place].firstRefused == 0 { accounts[place].firstRefused = position }
        accounts[place].lastRefused = position
    }

    init(_ policy: SignInPolicy) {
        let rule = policy.secondFactor
        named = [Int64](repeating: 0, count: (rule?.clients.count ?? 0) + (rule?.roles.count ?? 0))
    }

    mutating func add(_ rule: SignInPolicy.SecondFactor, client: String?, roles: [String]) {
        for (index, name) in rule.clients.enumerated() where name == client { named[index] += 1 }
        guard !roles.isEmpty else { return }
        for (index, name) in rule.roles.enumerated() where roles.contains(name) {
            named[rule.clients.count + index] += 1
        }
    }

    mutating func add(
        _ outcome: RefreshOutcome, _ judged: [(rule: PolicyRule, outcome: RefreshOutcome)],
        at time: Timestamp
    ) {
        refreshed[outcome.index] += 1
        days[Self.day(of: time), default: Day()].refreshes[outcome.index] += 1
        for (rule, outcome) in judged {
            guard let index = PolicyRule.lifetimes.firstIndex(of: rule) else { continue }
            lifetimes[index * Self.refreshes.count + outcome.index] += 1
        }
    }

    private static func day(of time: Timestamp) -> Int64 {
        let seconds = time.seconds
        return (seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400
    }
}

extension PolicyOutcome {
    var index: Int {
        switch self {
        case .refuse: 0
        case .interrupt: 1
        case .satisfied: 2
        case .notApplicable: 3
        case .unknown: 4
        }
    }
}

extension PolicyRule {
    /// The index among all rules.
    var index: Int {
        switch self {
        case .secondFactor: 0
        case .methods: 1
        case .countries: 2
        case .networks: 3
        case .hours: 4
        case .devices: 5
        case .sessionLifetime: 6
        case .idleLifetime: 7
        case .maxSessions: 8
        case .lock: 9
        }
    }
}
