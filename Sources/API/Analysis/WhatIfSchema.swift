internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How what-ifs are spoken of.
enum WhatIfSchema {
    static let id = Parameter(
        "what_if_id", in: .path, Fields.id, "The what-if's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a31")

    static let mostPositions: Int64 = 50_000_000

    private static let filter = Schema.text(1...FilterParser.mostCharacters)
    private static let policy: JSON = [
        "require_second_factor": ["all": true], "lock_after": ["n": 10, "minutes": 15],
    ]

    static let body = Body(
        schema: .named(
            "NewWhatIf",
            .object(
                .required("policy", .judged(PolicySchema.schema), "The policy."),
                .optional(
                    "from", AsOfMoment.schema,
                    "The first position, or the time or day behind which it begins; the beginning of the log, if "
                        + "nothing is said."),
                .optional(
                    "to", AsOfMoment.schema,
                    "The last position, time or day; now, if nothing is said."),
                .optional(
                    "filter", filter,
                    "Which sign-ins are counted, in the language of docs/analysts/filters.md."))),
        example: ["policy": policy, "from": "1"])

    static let schema = Schema.named(
        "WhatIf",
        .object(
            .required("id", Fields.id, "The what-if's id."),
            .required(
                "state", .oneOf(JobState.allCases.map(\.rawValue)),
                "How far it is; the result of one that is ready can be had for a day."),
            .required("from", Fields.position, "The first position that is looked at."),
            .required(
                "to", .integer(0...281_474_976_710_655), "The last position that is looked at."),
            .required("policy", PolicySchema.schema, "The policy."),
            .optional("filter", filter, "Which sign-ins are counted."),
            .required("asker", .text(1...300), "Who asked."),
            .required("asked_at", Fields.time, "When it was asked for."),
            .required(
                "scanned_to", .integer(0...281_474_976_710_655), "How far it is looked by now."),
            .optional(
                "fault", .oneOf(WhatIfKind.Fault.allCases.map(\.rawValue)),
                "Why there is no result."),
            .optional("finished_at", Fields.time, "When it was ready, failed or was cancelled.")))

    static let example: JSON = [
        "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a31", "state": "waiting", "from": 1, "to": 48_211,
        "policy": policy, "asker": "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12",
        "asked_at": "2026-11-21T01:23:45.123456Z", "scanned_to": 0,
    ]

    static func json(_ job: WhatIfJob) -> JSON {
        let question = job.question
        var members: JSONObject = [
            "id": .string(job.id.description), "state": .string(job.state.rawValue),
            "from": .integer(question.after + 1), "to": .integer(question.until),
            "policy": question.policy, "asker": .string(job.asker),
            "asked_at": .string(job.askedAt.description),
            "scanned_to": .integer(job.progress.scanned),
        ]
        members["filter"] = question.filter.map { .string($0) }
        members["fault"] = job.fault.map { .string($0.rawValue) }
        members["finished_at"] = job.finishedAt.map { .string($0.description) }
        return .object(members)
    }

    // MARK: - The result

    private static let count = Schema.integer(0...281_474_976_710_655)

    private static func counts(_ names: [String], _ more: [Member] = []) -> Schema {
        .object(
            names.map { .required($0, count, "How many.") }
                + [.required("total", count, "All of them.")] + more)
    }

    private static let outcomes = PolicyOutcome.allCases.map(\.rawValue)
    private static let signIns = Schema.named("WhatIfSignIns", counts(outcomes))
    private static let refreshes = Schema.named(
        "WhatIfRefreshes",
        counts(
            RefreshOutcome.names,
            [.optional("sessions_ended", count, "Sessions that would have ended.")]))

    private static let named = Schema.list(
        of: .object(
            .required("name", .text(1...255), "As it stands in the policy."),
            .required("sign_ins", count, "Sign-ins of it that are counted.")),
        0...PolicyReader.mostValues)

    private static let accounts = Schema.object(
        .required("total", count, "Accounts with a sign-in that is counted."),
        .required("refused", count, "Those with one that would be refused."),
        .required("locked_out", count, "Those of which every one would be refused."),
        .required(
            "perhaps_locked_out", count,
            "Those of which each would be refused, or is unknown, and not all would be refused."),
        .required("left_out", count, "Those that the table has no room for."))

    static let result = Schema.named(
        "WhatIfResult",
        .object(
            .required("format", .oneOf([WhatIfEngine.format]), "The form of the result."),
            .required("realm", Fields.realm, "The realm."),
            .required("from", Fields.position, "The first position that was looked at."),
            .required("to", count, "The last position that was looked at."),
            .required("policy", PolicySchema.schema, "The policy."),
            .optional("filter", filter, "Which sign-ins are counted."),
            .required("sign_ins", signIns, "What would have become of sign-ins."),
            .optional(
                "second_factor_of",
                .object(
                    .optional("clients", named, "The clients of `require_second_factor`."),
                    .optional("roles", named, "The roles of it.")),
                "How many of these sign-ins were of what the policy names: of a name that was mistyped, none."
            ),
            .optional("refreshes", refreshes, "What would have become of sessions."),
            .required(
                "rules",
                .object(
                    PolicyRule.allCases.map { rule in
                        .optional(
                            rule.rawValue,
                            PolicyRule.lifetimes.contains(rule) ? refreshes : signIns,
                            "What this rule says.")
                    }), "What each rule says."),
            .required(
                "days",
                .list(
                    of: counts(
                        outcomes,
                        [
                            .required("day", .text(10...12), "The day, in UTC."),
                            .optional(
                                "sessions_would_have_ended", count,
                                "Refreshes of sessions that would have ended."),
                        ]), 0...1_000_000), "Sign-ins by day."),
            .required("accounts", accounts, "How many accounts."),
            .required(
                "refused_accounts",
                .list(
                    of: counts(
                        outcomes,
                        [
                            .required("account", Fields.id, "The account."),
                            .required(
                                "locked_out", .boolean, "Whether every sign-in would be refused."),
                            .required(
                                "rules",
                                .list(
                                    of: .oneOf(PolicyRule.allCases.map(\.rawValue)),
                                    1...PolicyRule.allCases.count),
                                "The rules that would refuse."),
                            .required("first_position", count, "The first that would be refused."),
                            .required("last_position", count, "The last that would be refused."),
                        ]), 0...WhatIfEngine.mostAccounts),
                "Accounts with sign-ins that would be refused: those locked out first.")))

    private static let none: JSON = [
        "would_refuse": 0, "would_interrupt": 1, "satisfied": 2, "not_applicable": 0, "unknown": 0,
        "total": 3,
    ]

    static let resultExample: JSON = [
        "format": .string(WhatIfEngine.format), "realm": "acme", "from": 1, "to": 48_211,
        "policy": policy, "sign_ins": none,
        "rules": ["require_second_factor": none, "lock_after": none], "days": [],
        "accounts": [
            "total": 2, "refused": 0, "locked_out": 0, "perhaps_locked_out": 0, "left_out": 0,
        ], "refused_accounts": [],
    ]
}
