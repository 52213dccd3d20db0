internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Where people are signed in.
enum AccountSessionRoutes {
    static let table: [Route<AdminContext>] = [list, end]

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/accounts/{account_id}/sessions", id: "listSessions",
        tag: "Accounts", summary: "Where an account is signed in, newest first.",
        detail: "Sessions that are over are in the login history.", right: .realm,
        parameters: [
            .realm, AccountRoutes.accountID, Lists.limit, Lists.after(Cursor.uuid),
        ],
        answer: Lists.answer("SessionList", of: schema, next: Cursor.uuid, example: example),
        refusals: [.noSuchRealm, .noSuchAccount]
    ) { call throws(Problem) in
        let account = try await call.knownAccount().id
        let realm = try call.realm
        let after = call.text("after").flatMap(Cursor.uuid)
        let items = try await reading { () throws(LogFailure) in
            try await call.context.queries.sessions(
                of: account, in: realm, at: call.context.now(), after: after,
                limit: call.limit + 1)
        }
        return Lists.page(call.limit, of: items, item: json) { Cursor.encode($0.id) }
    }

    private static let end = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/accounts/{account_id}/sessions/{session_id}",
        id: "endSession", tag: "Accounts", summary: "Ends a session and all its tokens.",
        right: .realm,
        parameters: [
            .realm, AccountRoutes.accountID,
            Parameter(
                "session_id", in: .path, Fields.id, "The session's id.",
                example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15"), .idempotencyKey,
        ],
        answer: .gone("The session is over."), refusals: [.noSuchRealm, .noSuchSession]
    ) { call throws(Problem) in
        try await call.knownRealm()
        let command = EndSession(
            session: try call.requiredID("session_id"), reason: .administrator,
            of: try call.requiredID("account_id"), notice: NoticeOrder(id: call.newID()))
        let done = try await call.run(command, as: call.write(in: try call.realm))
        return Response(status: .noContent).at(done)
    }

    private static let schema = Schema.named(
        "Session",
        .object(
            .required("id", Fields.id, "Its id."),
            .required("client_id", .text(1...255), "The client that has its tokens."),
            .optional("app", .text(1...200), "The app that it was opened for."),
            .optional("device", .text(1...100), "The kind of device."),
            .optional("source", .text(1...100), "Where from, as a pseudonym."),
            .required("scope", .text(0...2048), "What its tokens are good for, by spaces."),
            .required("created_at", Fields.time, "When somebody signed in."),
            .required("last_used_at", Fields.time, "When a token of it was last refreshed."),
            .required("expires_at", Fields.time, "When it ends at the latest.")))

    private static let example: JSON = [
        "id": "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15", "client_id": "phone", "device": "iPhone",
        "scope": "openid offline_access", "created_at": "2026-11-21T01:23:45.123456Z",
        "last_used_at": "2026-11-21T01:23:45.123456Z",
        "expires_at": "2027-11-21T01:23:45.000000Z",
    ]

    private static func json(_ session: OpenSessionView) -> JSON {
        var members: JSONObject = [
            "id": .string(session.id.description), "client_id": .string(session.terms.clientID),
            "scope": .string(session.terms.scope.joined(separator: " ")),
            "created_at": .string(session.openedAt.description),
            "last_used_at": .string(session.lastUsedAt.description),
            "expires_at": .string(session.terms.expiresAt.description),
        ]
        members["app"] = session.app.map { .string($0) }
        members["device"] = session.terms.from.device.map { .string($0) }
        members["source"] = session.terms.from.source.map { .string($0) }
        return .object(members)
    }
}
