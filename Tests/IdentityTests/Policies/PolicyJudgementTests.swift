import JSON
import Testing
import Values

@testable import Identity

/// Each rule with each outcome that it can have: the table of docs/analysts/what-if.md.
@Suite struct `What a policy says of a sign-in` {
    private static let account = UUID(high: 1, low: 2)
    /// Thursday, 2026-11-26, 12:00 UTC.
    private static let noon = Timestamp(seconds: 1_795_694_400)

    private static func attempt(
        _ change: (inout SignInAttempt) -> Void = { _ in }
    ) -> SignInAttempt {
        var attempt = SignInAttempt(account: account, at: noon)
        change(&attempt)
        return attempt
    }

    private static func known(
        _ isWhole: Bool = true, _ change: (inout AccountKnowledge) -> Void = { _ in }
    ) -> AccountKnowledge {
        var knowledge = AccountKnowledge(
            isWhole: isWhole, triesSince: noon.adding(seconds: -60), roles: isWhole ? [] : nil)
        change(&knowledge)
        return knowledge
    }

    private struct Case {
        let policy: JSON
        let attempt: SignInAttempt
        let known: AccountKnowledge
        let outcome: PolicyOutcome

        init(
            _ policy: JSON, _ attempt: SignInAttempt, _ known: AccountKnowledge,
            _ outcome: PolicyOutcome
        ) {
            (self.policy, self.attempt, self.known, self.outcome) = (
                policy, attempt, known, outcome
            )
        }
    }

    private static let all: JSON = ["require_second_factor": ["all": true]]
    private static let admins: JSON = ["require_second_factor": ["roles": ["admin"]]]
    private static let shop: JSON = ["require_second_factor": ["clients": ["shop"]]]

    private static let secondFactor: [Case] = [
        Case(all, attempt(), known(), .refuse),
        Case(all, attempt(), known { $0.factors = 1 }, .interrupt),
        Case(all, attempt { $0.isStrong = true }, known(), .satisfied),
        Case(all, attempt(), known(false), .unknown),
        Case(all, attempt(), known(false) { $0.factors = 1 }, .interrupt),
        Case(admins, attempt(), known { $0.roles = ["admin"] }, .refuse),
        Case(admins, attempt(), known { $0.roles = ["reader"] }, .notApplicable),
        Case(admins, attempt(), known(false), .unknown),
        Case(admins, attempt { $0.isStrong = true }, known(false), .satisfied),
        Case(shop, attempt { $0.client = "shop" }, known(), .refuse),
        Case(shop, attempt { $0.client = "office" }, known(), .notApplicable),
        Case(shop, attempt(), known(), .notApplicable),
    ]

    private static let places: [Case] = [
        Case(
            ["allow_methods": ["passkey"]], attempt { $0.method = "passkey" }, known(), .satisfied),
        Case(["allow_methods": ["passkey"]], attempt { $0.method = "provider" }, known(), .refuse),
        Case(["allow_methods": ["passkey"]], attempt(), known(), .unknown),
        Case(["countries": ["allow": ["CH"]]], attempt { $0.country = "CH" }, known(), .satisfied),
        Case(["countries": ["allow": ["CH"]]], attempt { $0.country = "DE" }, known(), .refuse),
        Case(["countries": ["deny": ["CH"]]], attempt { $0.country = "CH" }, known(), .refuse),
        Case(["countries": ["deny": ["CH"]]], attempt { $0.country = "DE" }, known(), .satisfied),
        Case(["countries": ["deny": ["CH"]]], attempt(), known(), .unknown),
        Case(["networks": ["allow": ["AS7"]]], attempt { $0.asn = 7 }, known(), .satisfied),
        Case(["networks": ["allow": ["AS7"]]], attempt { $0.asn = 8 }, known(), .refuse),
        Case(["networks": ["deny": ["AS7"]]], attempt { $0.asn = 7 }, known(), .refuse),
        Case(["networks": ["deny": ["AS7"]]], attempt { $0.asn = 8 }, known(), .satisfied),
        Case(["networks": ["deny": ["AS7"]]], attempt(), known(), .unknown),
        Case(
            ["networks": ["deny": ["203.0.113.7"]]], attempt { $0.source = "known" }, known(),
            .refuse),
        Case(
            ["networks": ["deny": ["203.0.113.7"]]], attempt { $0.source = "other" }, known(),
            .satisfied),
        Case(["networks": ["deny": ["203.0.113.7"]]], attempt(), known(), .unknown),
        Case(
            ["networks": ["allow": ["203.0.113.7", "AS7"]]], attempt { $0.source = "known" },
            known(), .satisfied),
        Case(
            ["networks": ["allow": ["203.0.113.7", "AS7"]]], attempt { $0.source = "other" },
            known(), .unknown),
    ]

    private static func hours(_ from: String, _ to: String, _ more: JSONObject = [:]) -> JSON {
        ["hours": .object(more.merging(["from": .string(from), "to": .string(to)]) { $1 })]
    }

    private static let times: [Case] = [
        Case(hours("07:00", "12:01"), attempt(), known(), .satisfied),
        Case(hours("07:00", "12:00"), attempt(), known(), .refuse),
        Case(hours("12:00", "13:00"), attempt(), known(), .satisfied),
        Case(hours("07:00", "19:00", ["days": ["thursday"]]), attempt(), known(), .satisfied),
        Case(hours("07:00", "19:00", ["days": ["friday"]]), attempt(), known(), .refuse),
        Case(hours("22:00", "12:01", ["days": ["wednesday"]]), attempt(), known(), .satisfied),
        Case(hours("22:00", "12:01", ["days": ["thursday"]]), attempt(), known(), .refuse),
        Case(hours("11:00", "10:00", ["days": ["thursday"]]), attempt(), known(), .satisfied),
        Case(hours("12:30", "13:30", ["offset": "+01:00"]), attempt(), known(), .satisfied),
        Case(hours("12:30", "13:30", ["offset": "-01:00"]), attempt(), known(), .refuse),
    ]

    private static let memories: [Case] = [
        Case(
            ["devices": ["known_for": "7d"]], attempt { $0.device = "Mac" },
            known { $0.deviceSince = noon.adding(seconds: -604_800) }, .satisfied),
        Case(
            ["devices": ["known_for": "7d"]], attempt { $0.device = "Mac" },
            known { $0.deviceSince = noon.adding(seconds: -604_799) }, .refuse),
        Case(["devices": ["known_for": "7d"]], attempt { $0.device = "Mac" }, known(), .refuse),
        Case(
            ["devices": ["known_for": "7d"]], attempt { $0.device = "Mac" }, known(false), .unknown),
        Case(["devices": ["known_for": "7d"]], attempt(), known(), .unknown),
        Case(["session_lifetime": "1h"], attempt(), known(), .notApplicable),
        Case(["idle_lifetime": "1h"], attempt(), known(), .notApplicable),
        Case(["max_sessions": 2], attempt(), known { $0.openSessions = 2 }, .refuse),
        Case(["max_sessions": 2], attempt(), known(false) { $0.openSessions = 2 }, .refuse),
        Case(["max_sessions": 2], attempt(), known { $0.openSessions = 1 }, .satisfied),
        Case(["max_sessions": 2], attempt(), known(false) { $0.openSessions = 1 }, .unknown),
        Case(
            ["max_sessions": 2], attempt { $0.isOfBrowser = true }, known { $0.openSessions = 2 },
            .notApplicable),
        Case(
            ["lock_after": ["n": 3, "minutes": 5]], attempt(), known { $0.wrongTries = 3 }, .refuse),
        Case(
            ["lock_after": ["n": 3, "minutes": 5]], attempt(), known { $0.wrongTries = 2 },
            .satisfied),
        Case(
            ["lock_after": ["n": 3, "minutes": 5]], attempt(), known(false) { $0.wrongTries = 2 },
            .unknown),
        Case(
            ["lock_after": ["n": 3, "minutes": 1]], attempt(), known(false) { $0.wrongTries = 2 },
            .satisfied),
    ]

    @Test func `each rule has each of its outcomes`() throws {
        var seen: Set<String> = []
        for one in Self.secondFactor + Self.places + Self.times + Self.memories {
            var read = try policy(one.policy)
            if read.networks?.addresses.isEmpty == false {
                read = read.knowing(sources: ["known"])
            }
            let judgement = read.judgement(of: one.attempt, knowing: one.known)
            let rule = try #require(judgement.rules.first)
            #expect(judgement.rules.count == 1 && judgement.outcome == one.outcome, "\(one)")
            #expect(rule.outcome == one.outcome, "\(one)")
            seen.insert("\(rule.rule.rawValue) \(rule.outcome.rawValue)")
        }
        #expect(seen.count == 28)
    }

    @Test func `a refusal is one whatever other rules say, and what is not known stays so`() {
        let all = PolicyOutcome.allCases
        #expect(PolicyOutcome.together(all) == .refuse)
        #expect(PolicyOutcome.together(all.filter { $0 != .refuse }) == .unknown)
        #expect(PolicyOutcome.together([.satisfied, .interrupt, .notApplicable]) == .interrupt)
        #expect(PolicyOutcome.together([.notApplicable, .satisfied]) == .satisfied)
        #expect(PolicyOutcome.together([.notApplicable]) == .notApplicable)
        #expect(PolicyOutcome.together([]) == .notApplicable)
    }

    @Test func `a refresh ends, goes on or is not known`() throws {
        let read = try policy(["session_lifetime": "2h", "idle_lifetime": "30m"])
        func outcome(_ opened: Int64?, _ used: Int64?) -> RefreshOutcome {
            func ago(_ seconds: Int64) -> Timestamp { Self.noon.adding(seconds: -seconds) }
            return .together(
                read.judgement(
                    ofRefreshAt: Self.noon,
                    knowing: SessionKnowledge(
                        openedAt: opened.map(ago), usedAt: used.map(ago))
                ).map(\.outcome))
        }
        #expect(outcome(7_200, 1_800) == .satisfied)
        #expect(outcome(7_201, 1_800) == .ended(Self.noon.adding(seconds: -1)))
        #expect(outcome(7_200, 1_801) == .ended(Self.noon.adding(seconds: -1)))
        #expect(outcome(7_500, 2_000) == .ended(Self.noon.adding(seconds: -300)))
        #expect(outcome(nil, nil) == .unknown)
        #expect(outcome(nil, 1_800) == .unknown)
        #expect(outcome(nil, 1_900) == .ended(Self.noon.adding(seconds: -100)))
        #expect(outcome(-60, -60) == .satisfied)
        #expect(RefreshOutcome.together([]) == .notApplicable)
    }
}
