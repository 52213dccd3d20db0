import EventSourcing
import Identity
import JSON
import LogTesting
import Testing
import Values

@Suite struct `Findings on record` {
    private let account = FindingStory.account(1)

    private func trigger(_ account: Int = 1) throws -> FindingTrigger {
        var story = FindingStory()
        for index in 0..<10 { story.fail(account, from: "s\(index % 5)", at: Int64(index)) }
        return try #require(story.found(.bruteForce).first)
    }

    private func raised(_ trigger: FindingTrigger, _ risk: RiskChange) -> FindingEvent {
        .raised(RaisedFinding(trigger, account: account, risk: risk))
    }

    private let first = RiskChange(former: .low, now: .medium)

    @Test func `a finding is raised with what the account's risk becomes`() async throws {
        let trigger = try trigger()
        try await givenRealm().when(RaiseFinding(trigger)).then(
            raised(trigger, first), in: trigger.id)
    }

    @Test func `a finding that was raised is not raised again`() async throws {
        let trigger = try trigger()
        try await given(raised(trigger, first), in: trigger.id).when(RaiseFinding(trigger))
            .thenNothing()
    }

    @Test func `an administrator closes a finding once, with a reason`() async throws {
        let trigger = try trigger()
        let close = CloseFinding(id: trigger.id, cause: .administrator, reason: "Our own test")
        let closed = try #require(
            FindingEvent(
                name: "finding.closed",
                fields: [
                    "rule": "brute_force", "cause": "administrator", "reason": "Our own test",
                    "account": .string(account.description), "risk": "low",
                    "former_risk": "medium",
                ]))
        try await given(raised(trigger, first), in: trigger.id).when(close).then(
            closed, in: trigger.id)
        try await given(raised(trigger, first), closed, in: trigger.id).when(close)
            .thenRejected(.alreadyClosed)
        try await givenRealm().when(close).thenRejected(.notFound)
        var broken = close
        broken.reason = "a\nb"
        try await given(raised(trigger, first), in: trigger.id).when(broken)
            .thenRejected(.invalid(FieldFault("reason", .malformed)))
    }

    @Test func `the risk of an account is the greatest level of its open findings`() async throws {
        let trigger = try trigger()
        let other = UUID(high: 9, low: 9)
        let worse = try #require(
            FindingEvent(
                name: "finding.raised",
                fields: [
                    "rule": "token_reuse", "level": "high", "positions": [1], "from": 1, "to": 1,
                    "counts": [:], "account": .string(account.description),
                ]))
        let scenario = given(raised(trigger, first), in: trigger.id).given(worse, in: other)
        let closed = try #require(
            FindingEvent(
                name: "finding.closed",
                fields: [
                    "rule": "brute_force", "cause": "quiet", "risk": "high",
                    "former_risk": "high", "account": .string(account.description),
                ]))
        try await scenario.when(
            CloseFinding(id: trigger.id, cause: .quiet, others: [other, trigger.id])
        )
        .then(closed, in: trigger.id)
    }

    @Test func `a rule is set with thresholds that make sense`() async throws {
        try await givenRealm().when(
            FindingRuleChange.set(.bruteForce, thresholds: ["failures": 20, "window": 600])
        )
        .then(
            FindingRulesEvent.set(
                try FindingTerms(.bruteForce, ["failures": 20, "window": 600])),
            in: FindingRules.stream)
        // What a rule has by itself is no change.
        try await givenRealm().when(
            FindingRuleChange.set(.bruteForce, thresholds: ["failures": 10])
        )
        .thenNothing()
        try await givenRealm().when(FindingRuleChange.set(.bruteForce, thresholds: ["failures": 1]))
            .thenRejected(
                .invalid(FieldFault("failures", .outOfRange(lowest: 2, highest: 500))))
        try await givenRealm().when(FindingRuleChange.set(.bruteForce, thresholds: ["tries": 5]))
            .thenRejected(.invalid(FieldFault("tries", .unknown)))
        try await givenRealm().when(
            FindingRuleChange.set(.bruteForce, thresholds: ["failures": 4, "sources": 5])
        )
        .thenRejected(.invalid(FieldFault("sources", .conflicts(with: "failures"))))
        try await givenRealm().when(
            FindingRuleChange.set(.passwordSpraying, thresholds: ["lasting": 3601])
        ).thenRejected(.invalid(FieldFault("lasting", .conflicts(with: "window"))))
        try await givenRealm().when(
            FindingRuleChange.set(.passwordSpraying, thresholds: ["least_per_account": 9])
        ).thenRejected(
            .invalid(FieldFault("most_per_account", .conflicts(with: "least_per_account"))))
        try await givenDisabledRealm().when(FindingRuleChange.set(.bruteForce)).thenRejected(
            .realmDisabled)
    }

    @Test func `the defaults of all rules make sense together`() async throws {
        for rule in FindingRule.allCases {
            #expect(try FindingTerms(rule) == FindingRules()[rule], "\(rule)")
            #expect(rule.thresholds.contains { $0.name == .closesAfter }, "\(rule)")
        }
    }
}
