internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where people are signed in: apps and other clients that have tokens, and browsers.
enum AccountSessionRoutes {
    static let table: [Route<AdminContext>] = [list, end]

    private static let list = Route.list(
        "/api/admin/realms/{realm}/accounts/{account_id}/sessions", id: "listSessions",
        commandLine: .urd("account sessions", examples: "urd account sessions ann@example.org"),
        tag: "Accounts", summary: "List the sessions of an account, newest first.",
        detail: """
            Clients that have tokens, and browsers. Sessions that are over are in the login history.
            """,
        parameters: [AccountRoutes.accountID], of: shape, by: .id(\.id),
        refusals: [.noSuchAccount]
    ) { call, page throws(Problem) in
        let account = try await call.knownAccount().id
        let now = call.context.time.now(in: page.realm)
        let standing = try await call.standing()
        let items = try await reading { () throws(LogFailure) in
            let clients = try await call.context.queries.livingSessions(
                of: account, in: page.realm, at: now, after: page.after, limit: page.limit)
            let browsers = try await call.context.queries.ask(
                BrowserSessionView.ofAccount, (account, now, page.after, page.limit), in: page.realm
            )
            return (clients.map { ListedSession($0) } + browsers.map { ListedSession($0) })
                .sorted { $1.id < $0.id }
        }
        return ListPage(items, at: standing)
    }

    private static let end = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/accounts/{account_id}/sessions/{session_id}",
        id: "endSession",
        commandLine: .urd(
            "account end-session", examples: "urd account end-session ann@example.org SESSION"),
        tag: "Accounts",
        summary: "End a session and all its tokens.",
        detail: """
            With a browser's session end those of clients that came of it, as if its person had logged \
            out; those with `offline_access` stay, unless the realm has `logout_ends_offline_access`.
            """,
        right: .realm,
        parameters: [
            .realm, AccountRoutes.accountID,
            Parameter(
                "session_id", in: .path, Fields.id, "The session's id.",
                example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15"), .idempotencyKey,
        ],
        answer: .gone("The session has ended."), refusals: [.noSuchRealm, .noSuchSession]
    ) { call throws(Problem) in
        let realm = try await call.knownRealm()
        let session = try call.requiredID("session_id")
        let browser = try await call.context.ask(BrowserSessionView.byID, session, in: realm.realm)
        if let browser { return try await call.end(browser, in: realm) }
        let command = EndSession(
            session: session, reason: .administrator, of: try call.requiredID("account_id"),
            notice: NoticeOrder(id: call.newID()))
        let done = try await call.run(command, as: call.write(in: realm.realm))
        return Response(status: .noContent).at(done)
    }

    private static let shape = Shape<ListedSession>(
        "Session",
        .required("id", "Session id.", \.id, example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15"),
        .required(
            "kind", .oneOf(["client", "browser"]),
            "Kind of session: of an OAuth client, or of a browser at the realm's pages.",
            { $0.client == nil ? "browser" : "client" }, example: "client"),
        .optional(
            "client_id", .text(1...255), "OAuth client id of the session's tokens.",
            \.client?.terms.clientID, example: "phone"),
        .optional("app", .text(1...200), "Name of the app that the session was opened for.", \.app),
        .optional("device", .text(1...100), "Kind of device.", \.from.device, example: "iPhone"),
        .optional(
            "source", .text(1...100), "Pseudonym of the network that the account signed in from.",
            \.from.source),
        .optional(
            "scope", .text(0...2048), "Scopes of the session's tokens, separated by spaces.",
            { $0.client?.terms.scope.joined(separator: " ") }, example: "openid offline_access"),
        .required("created_at", "Time of the sign-in.", \.createdAt),
        .optional(
            "last_used_at",
            "Time of the last token refresh; page views of a browser are not on record.",
            \.client?.lastUsedAt, example: Timestamp.example),
        .required(
            "expires_at", "Time at which the session ends at the latest.", \.expiresAt,
            example: "2027-11-21T01:23:45.000000Z"))
}

/// One of the places where the user is signed in: through a client, or in a browser.
private struct ListedSession: Sendable {
    let id: UUID
    let client: OpenSessionView?
    let app: String?
    let from: SignInPlace
    let createdAt: Timestamp
    let expiresAt: Timestamp

    init(_ session: OpenSessionView) {
        (id, client, app, from) = (session.id, session, session.app, session.terms.from)
        (createdAt, expiresAt) = (session.openedAt, session.terms.expiresAt)
    }

    init(_ session: BrowserSessionView) {
        (id, client, app, from) = (session.id, nil, session.app, session.terms.from)
        (createdAt, expiresAt) = (session.terms.openedAt, session.terms.expiresAt)
    }
}

extension Call<AdminContext> {
    /// Signs a browser out; what came of its session ends with it.
    fileprivate func end(
        _ browser: BrowserSessionView, in realm: RealmView
    ) async throws(Problem) -> Response {
        let account = try requiredID("account_id")
        let write = write(in: realm.realm)
        let line = browser.terms.line ?? browser.id
        // First, so that a request that breaks off half-way leaves a browser that is found again.
        try await endClients(of: account, from: line, in: realm, as: write)
        let done = try await run(
            EndBrowserSession(session: browser.id, reason: .administrator, of: account), as: write)
        // What took its place by now: who ends one that was there a moment ago means the browser.
        let open = try await reading { () throws(LogFailure) in
            try await context.queries.browserSessions(
                of: account, in: realm.realm, at: write.origin.at)
        }
        for other in open where other.id != browser.id && (other.terms.line ?? other.id) == line {
            let command = EndBrowserSession(
                session: other.id, reason: .administrator, of: account)
            _ = try await run(command, as: write.another(newID()))
        }
        // A code may have been redeemed meanwhile; from now on none is.
        try await endClients(of: account, from: line, in: realm, as: write)
        return Response(status: .noContent).at(done)
    }

    /// What came of a browser's sessions.
    private func endClients(
        of account: UUID, from line: UUID, in realm: RealmView, as write: Write
    ) async throws(Problem) {
        let settings = Settings(overrides: realm.settings)
        let found = try await reading { () throws(LogFailure) in
            try await context.queries.dependents(
                of: account, from: line, in: realm.realm, at: write.origin.at,
                endsOffline: settings[SettingCatalogue.logoutEndsOffline])
        }
        for some in found.ends({ NoticeOrder(id: newID()) }) {
            _ = try await run(some, as: write.another(newID()))
        }
    }
}
