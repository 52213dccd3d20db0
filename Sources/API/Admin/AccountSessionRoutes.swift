internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Where people are signed in: apps and other clients that have tokens, and browsers.
enum AccountSessionRoutes {
    static let table: [Route<AdminContext>] = [list, end]

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/accounts/{account_id}/sessions", id: "listSessions",
        commandLine: .urd("account sessions", examples: "urd account sessions ann@example.org"),
        tag: "Accounts", summary: "List the sessions of an account, newest first.",
        detail: """
            Clients that have tokens, and browsers. Sessions that are over are in the login history.
            """,
        right: .realm,
        parameters: [
            .realm, AccountRoutes.accountID, Lists.limit, Lists.after(Cursor.uuid),
        ],
        answer: Lists.answer("SessionList", of: schema, next: Cursor.uuid, example: example),
        refusals: [.noSuchRealm, .noSuchAccount]
    ) { call throws(Problem) in
        let account = try await call.knownAccount().id
        let realm = try call.realm
        let now = call.context.time.now(in: realm)
        let after = call.text("after").flatMap(Cursor.uuid)
        let standing = try await call.standing()
        let items = try await reading { () throws(LogFailure) in
            let clients = try await call.context.queries.livingSessions(
                of: account, in: realm, at: now, after: after, limit: call.limit + 1)
            let browsers = try await call.context.queries.browserSessions(
                of: account, in: realm, at: now, after: after, limit: call.limit + 1)
            return (clients.map(ListedSession.client) + browsers.map(ListedSession.browser))
                .sorted { $1.id < $0.id }
        }
        return Lists.page(call.limit, of: items, at: standing, item: \.json) {
            Cursor.encode($0.id)
        }
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
        let browser = try await reading { () throws(LogFailure) in
            try await call.context.queries.browserSession(session, in: realm.realm)
        }
        if let browser { return try await call.end(browser, in: realm) }
        let command = EndSession(
            session: session, reason: .administrator, of: try call.requiredID("account_id"),
            notice: NoticeOrder(id: call.newID()))
        let done = try await call.run(command, as: call.write(in: realm.realm))
        return Response(status: .noContent).at(done)
    }

    private static let schema = Schema.named(
        "Session",
        .object(
            .required("id", Fields.id, "Session id."),
            .required(
                "kind", .oneOf(["client", "browser"]),
                "Kind of session: of an OAuth client, or of a browser at the realm's pages."),
            .optional("client_id", .text(1...255), "OAuth client id of the session's tokens."),
            .optional("app", .text(1...200), "Name of the app that the session was opened for."),
            .optional("device", .text(1...100), "Kind of device."),
            .optional(
                "source", .text(1...100),
                "Pseudonym of the network that the account signed in from."),
            .optional(
                "scope", .text(0...2048), "Scopes of the session's tokens, separated by spaces."),
            .required("created_at", Fields.time, "Time of the sign-in."),
            .optional(
                "last_used_at", Fields.time,
                "Time of the last token refresh; page views of a browser are not on record."),
            .required("expires_at", Fields.time, "Time at which the session ends at the latest.")))

    private static let example: JSON = [
        "id": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15", "kind": "client", "client_id": "phone",
        "device": "iPhone", "scope": "openid offline_access",
        "created_at": "2026-11-21T01:23:45.123456Z",
        "last_used_at": "2026-11-21T01:23:45.123456Z",
        "expires_at": "2027-11-21T01:23:45.000000Z",
    ]
}

/// One of the places where the user is signed in.
private enum ListedSession {
    case client(OpenSessionView)
    case browser(BrowserSessionView)

    var id: UUID {
        switch self {
        case .client(let session): session.id
        case .browser(let session): session.id
        }
    }

    var json: JSON {
        var members: JSONObject = ["id": .string(id.description)]
        let (app, from): (String?, SignInPlace)
        switch self {
        case .client(let session):
            members["kind"] = "client"
            members["client_id"] = .string(session.terms.clientID)
            members["scope"] = .string(session.terms.scope.joined(separator: " "))
            members["created_at"] = .string(session.openedAt.description)
            members["last_used_at"] = .string(session.lastUsedAt.description)
            members["expires_at"] = .string(session.terms.expiresAt.description)
            (app, from) = (session.app, session.terms.from)
        case .browser(let session):
            members["kind"] = "browser"
            members["created_at"] = .string(session.terms.openedAt.description)
            members["expires_at"] = .string(session.terms.expiresAt.description)
            (app, from) = (session.app, session.terms.from)
        }
        members["app"] = app.map { .string($0) }
        members["device"] = from.device.map { .string($0) }
        members["source"] = from.source.map { .string($0) }
        return .object(members)
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
