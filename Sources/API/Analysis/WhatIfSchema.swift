internal import EventSourcing
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// How what-ifs are spoken of.
enum WhatIfSchema {
    static let id = Parameter(
        "what_if_id", in: .path, Fields.id, "What-if id.",
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
                .required("policy", .judged(PolicySchema.schema), "Policy to evaluate."),
                .optional(
                    "from", AsOfMoment.schema,
                    "First position, or the time or day behind which the range begins; the "
                        + "beginning of the log by default."),
                .optional(
                    "to", AsOfMoment.schema,
                    "Last position, time or day of the range; now by default."),
                .optional(
                    "filter", filter,
                    "Filter for the counted sign-ins, in the language of "
                        + "docs/analysts/filters.md."))),
        example: ["policy": policy, "from": "1"])

    static let shape = Shape<WhatIfJob>(
        "WhatIf",
        .required("id", "What-if id.", \.id, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a31"),
        .required(
            "state", .oneOf(JobState.allCases.map(\.rawValue)),
            "State of the what-if; its result is kept for a day.", \.state.rawValue,
            example: "waiting"),
        .required(
            "from", Fields.position, "First position of the range.", { $0.question.after + 1 },
            example: 1),
        .required(
            "to", .integer(0...281_474_976_710_655), "Last position of the range.",
            \.question.until, example: 48_211),
        .required(
            "policy", PolicySchema.schema, "Evaluated policy.", \.question.policy, example: policy),
        .optional("filter", filter, "Filter for the counted sign-ins.", \.question.filter),
        .required(
            "asker", .text(1...300), "Actor that requested the what-if.", \.asker,
            example: "admin:0193a0e7-5e0c-8000-9000-2f6b1c1d9a12"),
        .required("asked_at", "Time of the request.", \.askedAt),
        .required(
            "scanned_to", .integer(0...281_474_976_710_655), "Last position that was read so far.",
            \.progress.scanned, example: 0),
        .optional(
            "fault", .oneOf(WhatIfKind.Fault.allCases.map(\.rawValue)),
            "Fault for which there is no result.", \.fault?.rawValue),
        .optional(
            "finished_at", "Time at which the what-if was ready, failed or was cancelled.",
            \.finishedAt))

    // MARK: - The result

    private static let count = Schema.integer(0...281_474_976_710_655)

    private static func counts(_ names: [String], _ more: [Member] = []) -> Schema {
        .object(
            names.map { .required($0, count, "Number with this outcome.") }
                + [.required("total", count, "Total number.")] + more)
    }

    private static let outcomes = PolicyOutcome.allCases.map(\.rawValue)
    private static let signIns = Schema.named("WhatIfSignIns", counts(outcomes))
    private static let refreshes = Schema.named(
        "WhatIfRefreshes",
        counts(
            RefreshOutcome.names,
            [
                .optional(
                    "sessions_ended", count, "Number of sessions that the policy would have ended.")
            ]))

    private static let named = Schema.list(
        of: .object(
            .required("name", .text(1...255), "Name of the client or role in the policy."),
            .required("sign_ins", count, "Number of counted sign-ins of the client or role.")),
        0...PolicyReader.mostValues)

    private static let accounts = Schema.object(
        .required("total", count, "Number of accounts with a counted sign-in."),
        .required("refused", count, "Number of accounts with a refused sign-in."),
        .required("locked_out", count, "Number of accounts whose sign-ins are all refused."),
        .required(
            "perhaps_locked_out", count,
            "Number of accounts whose sign-ins are all refused or undecided, and not "
                + "all refused."),
        .required("left_out", count, "Number of accounts that the table has no room for."))

    static let result = Schema.named(
        "WhatIfResult",
        .object(
            .required("format", .oneOf([WhatIfEngine.format]), "Format of the result."),
            .required("realm", Fields.realm, "Realm name."),
            .required("from", Fields.position, "First position of the range."),
            .required("to", count, "Last position of the range."),
            .required("policy", PolicySchema.schema, "Evaluated policy."),
            .optional("filter", filter, "Filter for the counted sign-ins."),
            .required("sign_ins", signIns, "Outcomes of the sign-ins under the policy."),
            .optional(
                "second_factor_of",
                .object(
                    .optional("clients", named, "Clients of `require_second_factor`."),
                    .optional("roles", named, "Roles of `require_second_factor`.")),
                "Number of these sign-ins by name in `require_second_factor`; 0 for a "
                    + "mistyped name."
            ),
            .optional("refreshes", refreshes, "Outcomes of the token refreshes under the policy."),
            .required(
                "rules",
                .object(
                    PolicyRule.allCases.map { rule in
                        .optional(
                            rule.rawValue,
                            PolicyRule.lifetimes.contains(rule) ? refreshes : signIns,
                            "Outcomes of this rule.")
                    }), "Outcomes of each rule of the policy."),
            .required(
                "days",
                .list(
                    of: counts(
                        outcomes,
                        [
                            .required("day", .text(10...12), "Day in UTC."),
                            .optional(
                                "sessions_would_have_ended", count,
                                "Number of refreshes of sessions that would have ended."),
                        ]), 0...1_000_000), "Outcomes of the sign-ins by day."),
            .required("accounts", accounts, "Number of accounts by outcome."),
            .required(
                "refused_accounts",
                .list(
                    of: counts(
                        outcomes,
                        [
                            .required("account", Fields.id, "Account id."),
                            .required(
                                "locked_out", .boolean,
                                "Whether every sign-in of the account is refused."),
                            .required(
                                "rules",
                                .list(
                                    of: .oneOf(PolicyRule.allCases.map(\.rawValue)),
                                    1...PolicyRule.allCases.count),
                                "Rules that refuse the sign-ins."),
                            .required(
                                "first_position", count, "Position of the first refused sign-in."),
                            .required(
                                "last_position", count, "Position of the last refused sign-in."),
                        ]), 0...WhatIfEngine.mostAccounts),
                "Accounts with refused sign-ins, those locked out first.")))

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
