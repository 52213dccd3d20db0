internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The routes of the login history: sign-ins and refusals.
enum LoginHistoryRoutes {
    static let table: [Route<AdminContext>] = [list, ofAccount, ofClient, LoginCountRoute.route]

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
            "history user", examples: "urd history user ann@example.org --since 7d"),
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
                "client_id", in: .path, ClientSchema.clientID, "OAuth client id.",
                example: "phone")
        ], refusals: [.noSuchClient]
    ) { call throws(Problem) in
        let name = try call.required("client_id")
        return try await call.logins(LoginSelection(clientID: name)) { () throws(Problem) in
            let realm = try call.realm
            let found = try await call.context.ask(ClientView.byClientID, name, in: realm)
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
                Of several conditions all hold; `filter` has all that is not a parameter. `open` unseals \
                the address, the user agent, the city and the coordinates of each attempt; that is recorded with the caller's \
                name and the `open_reason`. This list follows the log: with `min_position` it waits until \
                it holds everything up to there.
                """,
            right: .realm, permission: .historyRead,
            parameters: [.realm] + parameters + [
                Lists.limit, LogLists.after, .minimumPosition,
                Parameter(
                    "outcome", in: .query, .oneOf(["signed_in", "refused"]),
                    "Outcome of the sign-ins."),
                Lists.since, Lists.until,
            ] + LoginColumns.parameters + [
                OpenRequest.parameter(
                    "Whether to show addresses and browsers, too; needs an `open_reason`."),
                OpenRequest.reason("open_reason"),
            ],
            answer: LogLists.answer("LoginHistory", of: LoginView.shape),
            refusals: [
                .noSuchRealm, .positionNotReached, .positionLost, .contended, .invalidFilter,
                .tooWide, .missingParameter,
            ] + refusals,
            handler: handler)
    }
}

extension Call<AdminContext> {
    /// A page of what is selected; where there is nothing, `missing` may say why.
    fileprivate func logins(
        _ selection: LoginSelection, missing: () async throws(Problem) -> Void
    ) async throws(Problem) -> Response {
        let realm = try realm
        let isOpen = try isOpening(for: "open_reason")
        let standing = try await wait(for: .loginHistory)
        let asked = try await loginSelection(over: selection)
        let place = try await logPlace(in: standing)
        let found = try await reading { () throws(LogFailure) in
            try await context.queries.page(
                of: realm, asked, after: place.login, limit: limit + 1)
        }
        if found.items.isEmpty {
            try await knownLog()
            try await missing()
            try await knownLoginClient()
        }
        let opened =
            isOpen ? try await places(of: Array(found.items.prefix(limit))) : [:]
        return try place.page(
            limit, of: found,
            item: { login in
                .object(
                    LoginView.shape.object(login).merging(opened[login.position] ?? [:]) { $1 })
            }, position: \.position, stop: \.position)
    }

    /// What the parameters select, of what the path names.
    func loginSelection(
        over selection: LoginSelection = LoginSelection()
    ) async throws(Problem) -> LoginSelection {
        var selection = selection
        selection.isRefused = text("outcome").map { $0 == "refused" }
        (selection.since, selection.until) = try period()
        selection.filter = try await filter(
            LoginColumns.parameters, EventAttributes.ofSignIns)
        return selection
    }

    /// Where each attempt came from, by position. Erased accounts are not in it.
    private func places(of logins: [LoginView]) async throws(Problem) -> [Int64: JSONObject] {
        guard !logins.isEmpty else { return [:] }
        let realm = try realm
        let accounts = Set(logins.compactMap(\.account)).sorted()
        try await disclose(.loginHistory, of: accounts, for: text("open_reason"))
        let events = try await reading { () throws(LogFailure) in
            try await context.commands.events.events(at: logins.map(\.position), in: realm)
        }
        var places: [Int64: JSONObject] = [:]
        for event in events {
            guard case .opened(let personal) = event.personal else { continue }
            var members: JSONObject = [:]
            members["address"] = personal["$address"]
            members["user_agent"] = personal["$userAgent"]
            members["city"] = personal["city"]
            members["coordinates"] = personal["coordinates"]
            places[event.position] = members
        }
        return places
    }
}

extension LogPlace {
    /// The same place in the order of time. Nothing is older than what is before the first event.
    var login: LoginPlace? {
        after.map {
            LoginPlace(at: event?.at ?? Timestamp(seconds: 0), position: $0.position)
        }
    }
}

extension QuestionPort {
    /// The login history with a filter or without one.
    fileprivate func page(
        of realm: RealmID, _ selection: LoginSelection, after place: LoginPlace?, limit: Int
    ) async throws(LogFailure) -> ScannedPage<LoginView, LoginPlace> {
        guard selection.filter == nil else {
            return try await ask(
                LoginView.filteredHistory, (selection, after: place, limit: limit), in: realm)
        }
        return ScannedPage(
            try await ask(LoginView.history, (selection, after: place, limit: limit), in: realm))
    }
}
