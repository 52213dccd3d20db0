internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import OneTimeCodes
internal import ReadModels
internal import Values

/// Where a service invites people to its own app, by a token that it has for itself.
enum InviteCodeRoutes {
    static let table: [Route<RealmContext>] = [create, list, revoke]

    private static let appID = Parameter(
        "app_id", in: .path, Fields.id, "App id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
    private static let inviteID = Parameter(
        "invite_id", in: .path, Fields.id, "Invite id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a20")

    private static let create = Route<RealmContext>(
        .post, "/api/app/{app_id}/invite-codes", id: "createInviteCodes", tag: "Invites",
        summary: "Creates invites to the app.",
        detail: "Their codes are shown this once. Needs the scope `invite:write`.",
        right: .service, voice: .native, parameters: [appID, .idempotencyKey],
        body: Body(
            schema: .object(
                .required(
                    "Count", .integer(1...Int64(CreateInvites.mostAtOnce)), "Number of invites."),
                .optional(
                    "BoundEmail", .text(0...320), "Mail address that the invites are bound to."),
                .optional(
                    "ExpiresInDays", .integer(1...CreateInvites.mostDays),
                    "Lifetime of the invites in days; the realm's setting by default.")),
            example: ["Count": 1]),
        answer: .ok(
            "The invites, with their codes.",
            .object(
                .required(
                    "InviteCodes",
                    .list(
                        of: .object(
                            .required("Id", Fields.id, "Invite id."),
                            .required(
                                "Code", .text(14...14), "Invite code to be typed at registration."),
                            .required("ExpiresAt", Fields.time, "Expiry time.")),
                        1...CreateInvites.mostAtOnce), "Invites with their codes.")),
            example: [
                "InviteCodes": [
                    [
                        "Id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a20", "Code": "0123-4567-89AB",
                        "ExpiresAt": "2026-12-05T01:23:45Z",
                    ]
                ]
            ]),
        refusals: Place.refusals + refusals
    ) { call throws(Problem) in
        let app = try call.appOfService("invite:write")
        let (mint, now) = (call.context.mint, call.context.clock.now())
        let write = try call.serviceWrite()
        let earlier = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.earlier(write)
        }
        let batch = try InviteBatch(
            Int(clamping: call.body["Count"]?.integer ?? 1), of: write.command, mint,
            earlier: earlier?.stream)
        try await call.serve(
            try batch.command(
                app: app, email: call.given("BoundEmail"), "BoundEmail",
                days: call.body["ExpiresInDays"]?.integer, now: now, mint), as: write)
        var made: [JSON] = []
        for invite in batch.invites {
            let state = try await call.invite(invite.id)
            made.append([
                "Id": .string(invite.id.description), "Code": .string(invite.code.text),
                "ExpiresAt": .string((state.terms?.expiresAt ?? now).description),
            ])
        }
        return .native(.ok, ["InviteCodes": .array(made)])
    }

    private static let list = Route<RealmContext>(
        .get, "/api/app/{app_id}/invite-codes", id: "listInviteCodes", tag: "Invites",
        summary: "Lists the app's invites, used ones included.",
        detail: "In the order of their ids; `after` is the last one seen. Needs `invite:read`.",
        right: .service, voice: .native,
        parameters: [
            appID, Lists.limit,
            Parameter(
                "after", in: .query, Fields.id, "Id of the last invite of the previous page."),
        ],
        answer: .ok("Invites.", .list(of: shape.schema, 0...200), example: []),
        refusals: Place.refusals + refusals
    ) { call throws(Problem) in
        let app = try call.appOfService("invite:read")
        let after = call.text("after").flatMap { UUID($0) }
        let invites = try await call.context.ask(InviteView.ofApp, (app, after, call.limit))
        return .native(.ok, .array(invites.map(shape.json)))
    }

    private static let shape = Shape<InviteView>(
        .required("Id", "Invite id.", \.id),
        .required(
            "IsBound", "Whether the invite is bound to a mail address.", { $0.terms.mailbox != nil }
        ),
        .required("CreatedAt", "Creation time.", \.createdAt),
        .required("ExpiresAt", "Expiry time.", \.terms.expiresAt),
        .optional("UsedAt", "Time of use.", \.usedAt))

    private static let revoke = Route<RealmContext>(
        .delete, "/api/app/{app_id}/invite-codes/{invite_id}", id: "revokeInviteCode",
        tag: "Invites", summary: "Revokes an unused invite.",
        detail: "Needs the scope `invite:write`.", right: .service, voice: .native,
        parameters: [appID, inviteID, .idempotencyKey],
        answer: .done("The invite is revoked."),
        refusals: Place.refusals + refusals + [.noSuchInvite, .inviteUsed]
    ) { call throws(Problem) in
        let app = try call.appOfService("invite:write")
        try await call.serve(
            InviteChange.revoke(try call.requiredID("invite_id"), app: app),
            as: try call.serviceWrite())
        return Response(status: .noContent)
    }

    private static let refusals: [ProblemKind] = [.insufficientScope, .forbidden, .noSuchApp]
}

extension Call<RealmContext> {
    /// The app that the path names, where the token reaches that far. A client that belongs to no app
    /// serves all of them.
    fileprivate func appOfService(_ scope: String) throws(Problem) -> UUID {
        guard case .service(let session, let scopes, _) = caller else {
            throw Problem(.unauthenticated)
        }
        guard scopes.contains(scope) else { throw Problem(.insufficientScope) }
        let app = try requiredID("app_id")
        guard (session.terms.app ?? app) == app else {
            throw Problem(.forbidden, "The client belongs to another app.")
        }
        return app
    }

    /// The write that a service asks for: with an `Idempotency-Key` as administrators do it.
    fileprivate func serviceWrite() throws(Problem) -> Write {
        guard case .service(let session, _, _) = caller else { throw Problem(.unauthenticated) }
        let client = session.terms.clientID
        let origin = context.origin("client:\(client)", client: client, of: request)
        return Write(
            realm: context.place.realm,
            command: text("Idempotency-Key").map {
                Write.command(of: origin.actor, in: context.place.realm, key: $0)
            } ?? context.newID(), digest: Write.digest(of: request, body), origin: origin)
    }

    fileprivate func serve<C: Command>(_ command: C, as write: Write) async throws(Problem)
    where C.Rejection: Refusal {
        let result = try await context.commands.attempt(
            command, in: write.realm, id: write.command, digest: write.digest, by: write.origin)
        if case .failure(let refusal) = result { throw refusal.problem }
    }

    fileprivate func invite(_ id: UUID) async throws(Problem) -> Invite {
        let events = try await reading { () throws(LogFailure) in
            try await context.commands.events.stream(id, after: 0, in: context.place.realm)
        }
        var invite = Invite()
        for event in events {
            guard let event = InviteEvent(event) else { throw Problem(.logDamaged) }
            invite.apply(event)
        }
        return invite
    }
}
