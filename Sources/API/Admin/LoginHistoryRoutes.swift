internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Who signed in or tried to, and how it went.
enum LoginHistoryRoutes {
    static let table: [Route<AdminContext>] = [list, ofAccount, ofClient]

    private static let list = route(
        "login-history", id: "listLoginHistory",
        commandLine: .urd(
            "history list", examples: "urd history list --since yesterday --outcome signed_in"),
        "List sign-ins and failed attempts, newest first."
    ) { call throws(Problem) in
        try await call.logins(LoginSelection()) { () throws(Problem) in }
    }

    /// Also of an account that is gone: what happened stays.
    private static let ofAccount = route(
        "accounts/{account_id}/login-history", id: "listLoginHistoryOfAccount",
        commandLine: .urd(
            "history user", examples: "urd history user ann@example.org --since 7d --open"),
        "List an account's sign-ins and failed attempts, newest first.", [AccountRoutes.accountID]
    ) { call throws(Problem) in
        let account = try call.requiredID("account_id")
        return try await call.logins(LoginSelection(account: account)) { () throws(Problem) in }
    }

    private static let ofClient = route(
        "clients/{client_id}/login-history", id: "listLoginHistoryOfClient",
        commandLine: .urd(
            "history client", examples: "urd history client demo-native --since \"2 hours ago\""),
        "List sign-ins and failed attempts through a client, newest first.",
        [
            Parameter(
                "client_id", in: .path, ClientSchema.clientID, "The client's name in OAuth.",
                example: "phone")
        ], refusals: [.noSuchClient]
    ) { call throws(Problem) in
        let name = try call.required("client_id")
        return try await call.logins(LoginSelection(clientID: name)) { () throws(Problem) in
            let realm = try call.realm
            let found = try await reading { () throws(LogFailure) in
                try await call.context.queries.client(name, in: realm)
            }
            if found == nil { throw Problem(.noSuchClient) }
        }
    }

    private static func route(
        _ path: String, id: String, commandLine: CommandWords, _ summary: String,
        _ parameters: [Parameter] = [],
        refusals: [ProblemKind] = [], handler: @escaping Route<AdminContext>.Handler
    ) -> Route<AdminContext> {
        Route<AdminContext>(
            .get, PathTemplate(stringLiteral: "/api/admin/realms/{realm}/\(path)"), id: id,
            commandLine: commandLine,
            tag: "Accounts", summary: summary,
            detail: """
                `open` unseals the address and the user agent of each attempt; that is recorded \
                with the caller's name. This list follows the log: with `min_position` it waits until \
                it holds everything up to there.
                """,
            right: .realm, permission: .historyRead,
            parameters: [.realm] + parameters + [
                Lists.limit, LogLists.after, .minimumPosition,
                Parameter(
                    "outcome", in: .query, .oneOf(["signed_in", "refused"]),
                    "Only sign-ins with this outcome."),
                Lists.since, Lists.until,
                Parameter(
                    "open", in: .query, .boolean,
                    "Whether to show addresses and browsers, too; that they were shown is on record.",
                    permission: .eventsOpen),
            ],
            answer: LogLists.answer(
                "LoginHistory", of: LoginView.schema, example: LoginView.example),
            refusals: [.noSuchRealm, .positionNotReached, .positionLost, .contended] + refusals,
            handler: handler)
    }
}

extension Call<AdminContext> {
    /// A page of what is selected; where there is nothing, `missing` may say why.
    fileprivate func logins(
        _ selection: LoginSelection, missing: () async throws(Problem) -> Void
    ) async throws(Problem) -> Response {
        let realm = try realm
        try await wait(for: .loginHistory)
        var selection = selection
        selection.isRefused = text("outcome").map { $0 == "refused" }
        selection.since = try moment("since")
        selection.until = try moment("until")
        let (asked, place) = (selection, try await logPlace())
        // Nothing is older than what is before the first event.
        let after = place.after.map {
            LoginPlace(at: place.event?.at ?? Timestamp(seconds: 0), position: $0.position)
        }
        let items = try await reading { () throws(LogFailure) in
            try await context.queries.loginHistory(
                of: realm, asked, after: after, limit: limit + 1)
        }
        if items.isEmpty {
            try await knownLog()
            try await missing()
        }
        let opened =
            parameters["open"]?.bool == true
            ? try await places(of: Array(items.prefix(limit))) : [:]
        return place.page(
            limit, of: items,
            item: { login in
                .object(login.members.merging(opened[login.position] ?? [:]) { $1 })
            }, position: \.position)
    }

    /// Where each attempt came from, by position. Those that are erased are not in it.
    fileprivate func places(
        of logins: [LoginView]
    ) async throws(Problem) -> [Int64: JSONObject] {
        guard !logins.isEmpty else { return [:] }
        let realm = try realm
        let accounts = Set(logins.compactMap(\.account)).sorted()
        try await disclose(.loginHistory, of: accounts)
        var places: [Int64: JSONObject] = [:]
        for login in logins {
            let found = try await reading { () throws(LogFailure) in
                try await context.commands.events.events(
                    from: login.position, limit: 1, in: realm)
            }
            guard let event = found.first, event.position == login.position,
                case .opened(let personal) = event.personal
            else { continue }
            var members: JSONObject = [:]
            members["address"] = personal["$address"]
            members["user_agent"] = personal["$userAgent"]
            places[login.position] = members
        }
        return places
    }
}

extension LoginView {
    static let schema = Schema.named(
        "Login",
        .object(
            .required("position", Fields.position, "Where it stands in the realm's log."),
            .required("at", Fields.time, "When it was."),
            .optional("account", Fields.id, "Whose account, where that is known."),
            .optional("app", Fields.id, "Through which app."),
            .optional("client", .text(1...255), "Through which client; none: on a page."),
            .optional("method", .text(1...255), "The grant, or the way, that was tried."),
            .required("outcome", .oneOf(["signed_in", "refused"]), "How it went."),
            .optional("reason", .text(1...100), "Why it was refused."),
            .optional("session", Fields.id, "The session that came of it."),
            .optional("source", .text(1...100), "Where from, as a pseudonym of the network."),
            .optional("device", .text(1...100), "The kind of device."),
            .optional("channel", .text(1...20), "By what a code came, if to a phone."),
            .optional("ended_at", Fields.time, "When the session ended before its time."),
            .optional("end_reason", .text(1...100), "Why it did."),
            .optional("address", .text(0...300), "With `open`: the address."),
            .optional("user_agent", .text(0...512), "With `open`: the user agent.")))

    static let example: JSON = [
        "position": 42, "at": "2026-11-21T01:23:45.123456Z",
        "account": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "client": "phone",
        "method": "urn:cocoar:otp", "outcome": "signed_in",
        "session": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15", "source": "q3Jx0a7bTn0y",
        "device": "iPhone",
    ]

    var members: JSONObject {
        var members: JSONObject = [
            "position": .integer(position), "at": .string(at.description),
            "outcome": isRefused ? "refused" : "signed_in",
        ]
        members["client"] = clientID.map { .string($0) }
        members["account"] = account.map { .string($0.description) }
        members["app"] = app.map { .string($0.description) }
        members["method"] = method.map { .string($0) }
        members["reason"] = reason.map { .string($0) }
        members["session"] = session.map { .string($0.description) }
        members["source"] = source.map { .string($0) }
        members["device"] = device.map { .string($0) }
        members["channel"] = channel.map { .string($0) }
        members["ended_at"] = endedAt.map { .string($0.description) }
        members["end_reason"] = endReason.map { .string($0) }
        return members
    }
}
