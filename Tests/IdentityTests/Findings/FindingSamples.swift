import EventSourcing
import Identity
import JSON
import Testing
import Values

/// Findings and their rules.
func findingSamples() throws -> [any Event] {
    let common: JSONObject = [
        "rule": "brute_force", "account": .string(client.description), "risk": "medium",
        "former_risk": "low",
    ]
    let raised: JSONObject = [
        "level": "medium", "positions": [3, 4, 9], "from": 1_800_000_000, "to": 1_800_000_600,
        "counts": ["failures": 10, "sources": 5],
    ]
    let about: [JSONObject] = [
        common, ["rule": "password_spraying", "source": "q3Jx0a7bTn0y"],
        ["rule": "mass_disclosure", "about_actor": "operator:root"],
        common.merging(["rule": "token_reuse", "session": .string(app.description)]) { $1 },
        ["rule": "distributed_spraying"],
        common.merging([
            "rule": "several_countries", "places": ["CH N47E008", "DE N52E013"],
        ]) { $1 },
    ]
    let events = [
        FindingEvent(
            name: "finding.escalated",
            fields: common.merging(["level": "high", "position": 12]) { $1 }),
        FindingEvent(name: "finding.closed", fields: common.merging(["cause": "quiet"]) { $1 }),
        FindingEvent(
            name: "finding.closed",
            fields: common.merging(["cause": "administrator", "reason": "Our own test"]) { $1 }),
    ]
    let all = about.map {
        FindingEvent(name: "finding.raised", fields: $0.merging(raised) { $1 })
    }
    return try (all + events).map { try #require($0) } + [
        FindingRulesEvent.set(try FindingTerms(.bruteForce, ["failures": 20])),
        FindingRulesEvent.set(try FindingTerms(.newSource, isEnabled: false)),
    ]
}
