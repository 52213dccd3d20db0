public import JSON
internal import Values

/// The result as JSON: the same facts and the same policy have the same bytes.
extension WhatIfEngine {
    public static let format = "urd-what-if/1"
    /// Of the table of those who would be refused.
    public static let mostAccounts = 100_000

    /// - Parameter question: what was asked, as it is told with the result.
    public func result(_ question: JSONObject) -> JSON {
        var members = question
        members["format"] = .string(Self.format)
        members["sign_ins"] = Self.named(tally.signIns, WhatIfTally.outcomes.map(\.rawValue))
        members["rules"] = .object(JSONObject(memory.policy.rules.map { ($0.rawValue, row($0)) }))
        if let rule = memory.policy.secondFactor, !tally.named.isEmpty {
            members["second_factor_of"] = .object(sections(rule))
        }
        if memory.policy.hasLifetimes {
            var refreshes = Self.numbers(tally.refreshed, WhatIfTally.refreshes)
            refreshes["sessions_ended"] = .integer(tally.endedSessions)
            members["refreshes"] = .object(refreshes)
        }
        members["days"] = .array(tally.days.sorted { $0.key < $1.key }.map(day))
        let refused = refusedAccounts
        members["accounts"] = .object(accounts(refused: refused.count))
        members["refused_accounts"] = .array(refused.prefix(Self.mostAccounts).map(row))
        return .object(members)
    }

    /// Sign-ins of what the rule names: a name that was mistyped, or that no sign-in had, has none.
    private func sections(_ rule: SignInPolicy.SecondFactor) -> JSONObject {
        var sections: JSONObject = [:]
        let parts = [
            ("clients", rule.clients, tally.named.prefix(rule.clients.count)),
            ("roles", rule.roles, tally.named.suffix(rule.roles.count)),
        ]
        for (section, names, counts) in parts where !names.isEmpty {
            sections[section] = .array(
                zip(names, counts).map { ["name": .string($0), "sign_ins": .integer($1)] })
        }
        return sections
    }

    private static func numbers(_ counts: [Int64], _ names: [String]) -> JSONObject {
        var members = JSONObject(zip(names, counts).map { ($0, .integer($1)) })
        members["total"] = .integer(counts.reduce(0, +))
        return members
    }

    private static func named(_ counts: [Int64], _ names: [String]) -> JSON {
        .object(numbers(counts, names))
    }

    private func row(_ rule: PolicyRule) -> JSON {
        if let index = PolicyRule.lifetimes.firstIndex(of: rule) {
            let width = WhatIfTally.refreshes.count
            let counts = Array(tally.lifetimes[(index * width)..<((index + 1) * width)])
            return Self.named(counts, WhatIfTally.refreshes)
        }
        let width = WhatIfTally.outcomes.count
        let counts = Array(tally.rules[(rule.index * width)..<((rule.index + 1) * width)])
        return Self.named(counts, WhatIfTally.outcomes.map(\.rawValue))
    }

    private func day(_ day: Int64, _ counts: WhatIfTally.Day) -> JSON {
        let date = Timestamp(seconds: day * 86_400).description.prefix { $0 != "T" }
        var members = Self.numbers(counts.outcomes, WhatIfTally.outcomes.map(\.rawValue))
        members["day"] = .string(String(date))
        if memory.policy.hasLifetimes {
            members["sessions_would_have_ended"] = .integer(counts.refreshes[0])
        }
        return .object(members)
    }

    // MARK: - Accounts

    private struct Refused {
        let place: Int
        let isLockedOut: Bool
    }

    private static let refuse = PolicyOutcome.refuse.index
    private static let unknown = PolicyOutcome.unknown.index

    private func total(_ account: WhatIfTally.Account) -> Int64 { account.outcomes.reduce(0, +) }

    /// Whether all of the account's sign-ins would be refused.
    private func isLockedOut(_ account: WhatIfTally.Account) -> Bool {
        account.outcomes[Self.refuse] > 0 && account.outcomes[Self.refuse] == total(account)
    }

    /// Accounts that are locked out first, then those with most refusals.
    private var refusedAccounts: [Refused] {
        tally.accounts.indices.filter { tally.accounts[$0].outcomes[Self.refuse] > 0 }
            .map { Refused(place: $0, isLockedOut: isLockedOut(tally.accounts[$0])) }
            .sorted { left, right in
                if left.isLockedOut != right.isLockedOut { return left.isLockedOut }
                let (first, second) = (tally.accounts[left.place], tally.accounts[right.place])
                if first.outcomes[Self.refuse] != second.outcomes[Self.refuse] {
                    return first.outcomes[Self.refuse] > second.outcomes[Self.refuse]
                }
                return memory.accounts[left.place].id < memory.accounts[right.place].id
            }
    }

    private func accounts(refused: Int) -> JSONObject {
        var (signedIn, lockedOut, perhaps): (Int64, Int64, Int64) = (0, 0, 0)
        for account in tally.accounts where total(account) > 0 {
            signedIn += 1
            if isLockedOut(account) {
                lockedOut += 1
            } else if account.outcomes[Self.refuse] + account.outcomes[Self.unknown]
                == total(account)
            {
                perhaps += 1
            }
        }
        return [
            "total": .integer(signedIn), "refused": .integer(Int64(refused)),
            "locked_out": .integer(lockedOut), "perhaps_locked_out": .integer(perhaps),
            "left_out": .integer(Int64(max(0, refused - Self.mostAccounts))),
        ]
    }

    private func row(_ refused: Refused) -> JSON {
        let account = tally.accounts[refused.place]
        var members = Self.numbers(account.outcomes, WhatIfTally.outcomes.map(\.rawValue))
        members["account"] = .string(memory.accounts[refused.place].id.description)
        members["locked_out"] = .bool(refused.isLockedOut)
        members["rules"] = .array(
            PolicyRule.allCases.filter { account.refusing & 1 << Int64($0.index) != 0 }
                .map { .string($0.rawValue) })
        members["first_position"] = .integer(account.firstRefused)
        members["last_position"] = .integer(account.lastRefused)
        return .object(members)
    }
}
