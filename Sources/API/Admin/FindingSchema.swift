internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Findings and their rules as the admin API shows them.
enum FindingSchema {
    static let id = Parameter(
        "finding_id", in: .path, Fields.id, "The finding's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a16")

    /// Any rule name, so that the answer to a wrong one can suggest the nearest.
    static let ruleName = Schema.text(
        3...40,
        .said(
            "the name of a rule such as brute_force",
            .some(Characters("a-z_"), 3...40)))

    static func rule(_ text: String) throws(Problem) -> FindingRule {
        guard let rule = FindingRule(rawValue: text) else {
            let known = FindingRule.allCases.map(\.rawValue)
            throw Problem(
                .invalidParameter,
                "There is no rule '\(text)'\(NearestName.hint(for: text, among: known))",
                field: "rule")
        }
        return rule
    }

    static let rules = Schema.oneOf(FindingRule.allCases.map(\.rawValue).sorted())
    private static let levels = Schema.oneOf(FindingLevel.allCases.map(\.rawValue))

    static let schema = Schema.named(
        "Finding",
        .object(
            .required("id", Fields.id, "Finding id."),
            .required("rule", rules, "Rule that raised the finding."),
            .required("level", levels, "Risk level."),
            .required("state", .oneOf(["open", "closed"]), "State of the finding."),
            .required("message", .text(1...300), "Description of the finding."),
            .optional("account", Fields.id, "Account that the finding is about."),
            .optional("session", Fields.id, "Session that the finding is about."),
            .optional(
                "source", .text(1...100), "Network that the finding is about, as a pseudonym."),
            .optional(
                "actor", .text(1...300),
                "Administrator's key, or operator, that the finding is about."),
            .required(
                "positions", .list(of: Fields.position, 0...1000),
                "Positions of the events behind the finding in the realm's log."),
            .required("first_at", Fields.time, "Time of the first of these events."),
            .required("last_at", Fields.time, "Time of the last of these events."),
            .required(
                "counts", .map(of: .integer(0...Int64(Int32.max))),
                "Number of events or objects, by kind."),
            .optional(
                "places", .list(of: .text(2...20), 1...100),
                "Countries and squares of one degree, for rules about places."
            ),
            .required("raised_at", Fields.time, "Time at which the finding was raised."),
            .required(
                "raised_position", Fields.position, "Position of the event that raised the finding."
            ),
            .optional("closed_at", Fields.time, "Time at which the finding was closed."),
            .optional(
                "cause", .oneOf(ClosedFinding.Cause.allCases.map(\.rawValue)),
                "Cause of closing: no further events, or an administrator."),
            .optional(
                "reason", .text(1...200), "Reason that the administrator gave for closing it."),
            .optional("closed_by", .text(1...300), "Actor that closed the finding.")))

    static let example: JSON = [
        "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a16", "rule": "brute_force", "level": "medium",
        "state": "open", "message": .string(FindingRule.bruteForce.sentence),
        "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "positions": [42, 44],
        "first_at": "2026-11-21T01:23:45.000000Z", "last_at": "2026-11-21T01:33:45.000000Z",
        "counts": ["failures": 10, "sources": 5],
        "raised_at": "2026-11-21T01:33:45.123456Z", "raised_position": 45,
    ]

    static func json(_ finding: FindingView) -> JSON {
        var members: JSONObject = [
            "id": .string(finding.id.description), "rule": .string(finding.rule.rawValue),
            "level": .string(finding.level.rawValue),
            "state": finding.closing == nil ? "open" : "closed",
            "message": .string(finding.rule.sentence(at: finding.places)),
            "positions": .array(finding.positions.map { .integer($0) }),
            "first_at": .string(finding.firstAt.description),
            "last_at": .string(finding.lastAt.description), "counts": .object(finding.counts),
            "raised_at": .string(finding.raisedAt.description),
            "raised_position": .integer(finding.raisedPosition),
        ]
        members["account"] = finding.account.map { .string($0.description) }
        members["session"] = finding.session.map { .string($0.description) }
        members["source"] = finding.source.map { .string($0) }
        members["actor"] = finding.actor.map { .string($0) }
        if !finding.places.isEmpty {
            members["places"] = .array(finding.places.map { .string($0) })
        }
        if let closing = finding.closing {
            members["closed_at"] = .string(closing.at.description)
            members["cause"] = .string(closing.cause)
            members["reason"] = closing.reason.map { .string($0) }
            members["closed_by"] = .string(closing.by)
        }
        return .object(members)
    }
}
