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

    static let shape = Shape<FindingView>(
        "Finding",
        .required("id", "Finding id.", \.id, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a16"),
        .required(
            "rule", rules, "Rule that raised the finding.", \.rule.rawValue, example: "brute_force"),
        .required("level", levels, "Risk level.", \.level.rawValue, example: "medium"),
        .required(
            "state", .oneOf(["open", "closed"]), "State of the finding.",
            { $0.closing == nil ? "open" : "closed" }, example: "open"),
        .required(
            "message", .text(1...300), "Description of the finding.",
            { $0.rule.sentence(at: $0.places) }, example: .string(FindingRule.bruteForce.sentence)),
        .optional(
            "account", "Account that the finding is about.", \.account, example: UUID.example),
        .optional("session", "Session that the finding is about.", \.session),
        .optional(
            "source", .text(1...100), "Network that the finding is about, as a pseudonym.", \.source
        ),
        .optional(
            "actor", .text(1...300), "Administrator's key, or operator, that the finding is about.",
            \.actor),
        .required(
            "positions", .list(of: Fields.position, 0...1000),
            "Positions of the events behind the finding in the realm's log.", \.positions,
            example: [42, 44]),
        .required(
            "first_at", "Time of the first of these events.", \.firstAt,
            example: "2026-11-21T01:23:45.000000Z"),
        .required(
            "last_at", "Time of the last of these events.", \.lastAt,
            example: "2026-11-21T01:33:45.000000Z"),
        .required(
            "counts", .map(of: .integer(0...Int64(Int32.max))),
            "Number of events or objects, by kind.", \.counts,
            example: ["failures": 10, "sources": 5]),
        .optional(
            "places", .list(of: .text(2...20), 1...100),
            "Countries and squares of one degree, for rules about places.",
            { $0.places.isEmpty ? nil : $0.places }),
        .required(
            "raised_at", "Time at which the finding was raised.", \.raisedAt,
            example: "2026-11-21T01:33:45.123456Z"),
        .required(
            "raised_position", Fields.position, "Position of the event that raised the finding.",
            \.raisedPosition, example: 45),
        .optional("closed_at", "Time at which the finding was closed.", \.closing?.at),
        .optional(
            "cause", .oneOf(ClosedFinding.Cause.allCases.map(\.rawValue)),
            "Cause of closing: no further events, or an administrator.", \.closing?.cause),
        .optional(
            "reason", .text(1...200), "Reason that the administrator gave for closing it.",
            \.closing?.reason),
        .optional(
            "closed_by", .text(1...300), "Actor that closed the finding.", \.closing?.by))
}
