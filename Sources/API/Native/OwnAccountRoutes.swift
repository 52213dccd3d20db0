internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// What people do with their own account, from an app that they are signed in to.
enum OwnAccountRoutes {
    static let table: [Route<RealmContext>] = [sessions, end, logOut, delete]

    private static let refusals = Place.refusals + [.invalidToken]

    private static let sessions = Route<RealmContext>(
        .get, "/api/account/sessions", id: "listOwnSessions", tag: "Own account",
        summary: "Lists the caller's sessions, newest first.",
        detail: "200 at most; those that are older are listed with the last one's id as `after`.",
        right: .account, voice: .native,
        parameters: [
            Parameter(
                "after", in: .query, Fields.id, "Id of the last session of the previous page.",
                example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15")
        ],
        answer: .ok(
            "The sessions.", .list(of: session.schema, 0...200), example: [session.example]),
        refusals: refusals
    ) { call throws(Problem) in
        let (account, current) = try call.caller.signedIn
        let found = try await call.context.ask(
            OpenSessionView.ofAccount,
            (account, call.context.clock.now(), call.text("after").flatMap { UUID($0) }, 200))
        return .native(
            .ok, .array(found.map { session.json(($0, isCurrent: $0.id == current.id)) }))
    }

    private static let end = Route<RealmContext>(
        .delete, "/api/account/sessions/{session_id}", id: "endOwnSession", tag: "Own account",
        summary: "Ends a session of the caller.", right: .account, voice: .native,
        parameters: [
            Parameter(
                "session_id", in: .path, Fields.id, "Session id.",
                example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15")
        ],
        answer: .done("The session has ended."),
        refusals: refusals + [.noSuchSession]
    ) { call throws(Problem) in
        let (account, session) = try call.caller.signedIn
        try await Commands(call).dispatch(
            EndSession(
                session: try call.requiredID("session_id"), reason: .revoked, of: account,
                notice: SessionEnds(call).noticeOrder()),
            as: .user(account, client: session.terms.clientID))
        return Response(status: .noContent)
    }

    private static let logOut = Route<RealmContext>(
        .post, "/api/account/logout-everywhere", id: "logOutEverywhere", tag: "Own account",
        summary: "Ends all sessions of the caller, this one included.", right: .account,
        voice: .native,
        answer: .done("The sessions have ended."),
        refusals: refusals + [.noSuchAccount]
    ) { call throws(Problem) in
        let (account, session) = try call.caller.signedIn
        try await Commands(call).dispatch(
            RotateSecurityStamp(account: account, mail: call.context.newID()),
            as: .user(account, client: session.terms.clientID))
        return Response(status: .noContent)
    }

    private static let delete = Route<RealmContext>(
        .delete, "/api/account", id: "deleteOwnAccount", tag: "Own account",
        summary: "Schedules the deletion of the caller's account.",
        detail: """
            All sessions are over, and signing in is refused. Until `DueAt` the link in the \
            mail that tells of it cancels it, and so can an administrator of the realm; then all \
            that is personal is erased. A token alone is not enough: it must come of a sign-in a \
            short while ago (RFC 9470).
            """,
        right: .account, voice: .native,
        answer: .ok(
            "Time of the scheduled deletion.",
            .object(
                .required("DueAt", Fields.time, "Time from which the deletion cannot be cancelled.")
            ),
            example: ["DueAt": "2026-12-21T01:23:45.000000Z"]),
        refusals: refusals + [.reauthenticationRequired, .noSuchAccount]
    ) { call throws(Problem) in
        let (account, session) = try call.caller.signedIn
        try call.requireRecentSignIn(session)
        let now = call.context.clock.now()
        try await Commands(call).dispatch(
            AccountChange.scheduleDeletion(
                account, mail: call.context.newID(), keepBase: call.context.place.keepBase,
                now: now),
            as: .user(account, client: session.terms.clientID))
        let events = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.stream(
                account, after: 0, in: call.context.place.realm)
        }
        for case .deletionScheduled(let due, _, _, _) in events.reversed().map(AccountEvent.init) {
            return .native(.ok, ["DueAt": .string(due.description)])
        }
        throw Problem(.internalError)
    }

    private static let session = Shape<(view: OpenSessionView, isCurrent: Bool)>(
        .required("Id", "Session id.", \.view.id, example: "0193a0e7-5e0c-7000-9000-2f6b1c1d9a15"),
        .required(
            "Client", .text(1...255), "OAuth client id of the session's tokens.",
            \.view.terms.clientID, example: "phone"),
        .optional(
            "App", .text(1...200), "Name of the app that the session was opened for.", \.view.app),
        .required("CreatedAt", "Time of the sign-in.", \.view.openedAt),
        .required("LastUsedAt", "Time of the last token refresh.", \.view.lastUsedAt),
        .optional(
            "Device", .text(1...100), "Kind of device.", \.view.terms.from.device, example: "iPhone"
        ),
        .required("Current", "Whether it is the calling session.", \.isCurrent))
}

extension Call<RealmContext> {
    /// A thief has a stolen token until it expires; only its owner can sign in again.
    func requireRecentSignIn(_ session: SessionView) throws(Problem) {
        let signedIn = SignedIn(
            client: session.terms.client, app: session.terms.app, at: session.terms.signedInAt)
        if let limit = signedIn.isTooOld(at: context.clock.now(), context.place.settings) {
            throw .signInTooOld(limit)
        }
    }
}
