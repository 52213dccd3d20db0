internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Mail
internal import OneTimeCodes
internal import ReadModels
internal import Values

/// Invites, where a realm or an app takes no sign-up without an invite.
enum InviteRoutes {
    static let table: [Route<AdminContext>] = [create, list, revoke]

    private static let inviteID = Parameter(
        "invite_id", in: .path, Fields.id, "The invite's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a20")

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/invites", id: "createInvites",
        commandLine: .urd(
            "invite create", examples: "urd invite create --count 2 --expires-in-days 7"),
        tag: "Invites",
        summary: "Create invites.",
        detail: "Their codes are shown this once. Each lets one person join.", right: .realm,
        parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewInvites",
                .object(
                    .optional(
                        "count", .integer(1...Int64(CreateInvites.mostAtOnce)),
                        "Number of invites; one by default."),
                    .optional("app_id", Fields.id, "App that the invites are for; all by default."),
                    .optional(
                        "email", .text(3...320),
                        "Mail address that the invites are bound to; unbound by default."),
                    .optional(
                        "expires_in_days", .integer(1...CreateInvites.mostDays),
                        "Lifetime of the invites in days; the realm's setting by default."))),
            example: ["count": 1, "expires_in_days": 7]),
        answer: Answer.written(
            .created, "The invites, with their codes.",
            .named(
                "InvitesWithCodes",
                .object(
                    .required(
                        "items",
                        .list(
                            of: .object(
                                .required("id", Fields.id, "Invite id."),
                                .required(
                                    "code", .text(14...14),
                                    "Invite code to be typed at registration.")),
                            1...CreateInvites.mostAtOnce), "Invites with their codes."),
                    .required("expires_at", Fields.time, "Expiry time of the invites."))),
            example: [
                "items": [
                    [
                        "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a20", "code": "0123-4567-89AB",
                    ]
                ], "expires_at": "2026-12-05T01:23:45Z",
            ]),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchApp]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let mint = try await call.mint(of: write.realm)
        let count = Int(clamping: call.body["count"]?.integer ?? 1)
        let batch = try InviteBatch(
            count, of: write.command, mint, earlier: try await call.earlier(write)?.stream)
        let done = try await call.run(
            try batch.command(
                app: call.body["app_id"]?.string.flatMap { UUID($0) },
                email: call.body["email"]?.string, "email",
                days: call.body["expires_in_days"]?.integer, now: write.origin.at, mint),
            as: write)
        guard let first = batch.invites.first else { throw Problem(.internalError) }
        let invite = try await call.state(Invite.self, of: first.id, after: done).state
        return Response.json(
            .created,
            [
                "items": .array(
                    batch.invites.map {
                        ["id": .string($0.id.description), "code": .string($0.code.text)]
                    }),
                "expires_at": .string((invite.terms?.expiresAt ?? write.origin.at).description),
            ]
        ).at(done)
    }

    private static let list = Route.list(
        "/api/admin/realms/{realm}/invites", id: "listInvites",
        commandLine: .urd("invite list", examples: "urd invite list"), tag: "Invites",
        summary: "List the invites of a realm, used ones included.", of: shape, by: .id(\.id),
        page: InviteView.page)

    private static let revoke = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/invites/{invite_id}", id: "revokeInvite",
        commandLine: .urd("invite revoke", examples: "urd invite revoke INVITE"),
        tag: "Invites", summary: "Revoke an invite that has not been used.", right: .realm,
        parameters: [.realm, inviteID, .idempotencyKey], answer: .gone("The invite is revoked."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchInvite, .inviteUsed]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let done = try await call.run(
            InviteChange.revoke(try call.requiredID("invite_id")), as: write)
        return Response(status: .noContent).at(done)
    }

    private static let shape = Shape<InviteView>(
        "Invite",
        .required("id", "Invite id.", \.id, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a20"),
        .nullable("app_id", "App that the invite is for; null for all.", \.terms.app),
        .required(
            "is_bound", "Whether the invite is bound to a mail address.",
            { $0.terms.mailbox != nil }, example: false),
        .required("created_at", "Creation time.", \.createdAt),
        .required("expires_at", "Expiry time.", \.terms.expiresAt, example: "2026-12-05T01:23:45Z"),
        .nullable("used_at", "Time of use; null for an unused invite.", \.usedAt))
}
