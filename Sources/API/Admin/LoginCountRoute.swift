internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels

/// How many people signed in or tried to, by hour, client, way or outcome.
enum LoginCountRoute {
    /// As many groups an answer has.
    private static let most = 1000
    private static let standard = LoginGroup.day

    static let route = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/login-history/counts", id: "countLogins",
        commandLine: .urd(
            "history count",
            examples: "urd history count --group-by day --since 7d",
            "urd history count --group-by reason --outcome refused"), tag: "Accounts",
        summary: "Count sign-ins and failed attempts by hour, client or outcome.",
        detail: """
            Hours and days (UTC) come in their order, all else with the most first; at most \(most) are \
            told, of hours and days the latest. What there is no time to count is `more`: add the counts \
            of the next pages. This list follows the log: with `min_position` it waits until it holds \
            everything up to there.
            """, right: .realm, permission: .historyRead,
        parameters: [
            .realm,
            Parameter(
                "group_by", in: .query, .oneOf(LoginGroup.allCases.map(\.rawValue)),
                "Property to group the sign-ins by; \(standard.rawValue) by default.",
                example: "hour"),
            LogLists.after, .minimumPosition,
            Parameter(
                "outcome", in: .query, .oneOf(["signed_in", "refused"]),
                "Outcome of the sign-ins."), Lists.since, Lists.until,
        ] + LoginColumns.parameters,
        answer: .ok(
            "Number of sign-ins by group.",
            .named(
                "LoginCounts",
                .object(
                    [
                        .required(
                            "items", .list(of: count.schema, 0...most), "Counts, one per group."),
                        .required(
                            "next", LogLists.cursor, "Cursor of the next page, if there is more."),
                        .required(
                            "more", .boolean, "Whether sign-ins of the range are not counted yet."),
                    ] + ListStanding.schema)),
            example: .object(LogLists.example.merging(["items": [count.example]]) { $1 })),
        refusals: [
            .noSuchRealm, .positionNotReached, .positionLost, .invalidFilter, .tooWide,
        ]
    ) { call throws(Problem) in
        let realm = try call.realm
        let group = call.text("group_by").flatMap(LoginGroup.init) ?? standard
        let standing = try await call.wait(for: .loginHistory)
        let asked = try await call.loginSelection()
        let place = try await call.logPlace(in: standing)
        let found = try await call.context.ask(
            LoginCount.counts, (asked, group, after: place.login), in: realm)
        if found.items.isEmpty {
            try await call.knownLog()
            try await call.knownLoginClient()
        }
        let shown = group.isTime ? found.items.suffix(most) : found.items.prefix(most)
        return try place.page(
            most, of: ScannedPage(Array(shown), stoppedAt: found.stoppedAt), item: count.json,
            position: { _ in place.position }, stop: \.position)
    }

    private static let number = Schema.integer(0...281_474_976_710_655)

    private static let count = Shape<LoginCount>(
        "LoginCount",
        .nullable(
            "value", .text(0...300),
            "Value of the group, such as the hour or the client; null for sign-ins without one.",
            \.value, example: "2026-11-21T01:00:00Z"),
        .required("count", number, "Number of sign-ins.", \.count, example: 42),
        .required(
            "signed_in", number, "Number of successful sign-ins.", { $0.count - $0.refused },
            example: 40),
        .required("refused", number, "Number of refused sign-ins.", \.refused, example: 2))
}
