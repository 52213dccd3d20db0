internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Tokens by which clients register themselves, where the realm asks for one.
enum RegistrationTokenRoutes {
    static let table: [Route<AdminContext>] = [create, list, revoke]

    private static let tokenID = Parameter(
        "token_id", in: .path, Fields.id, "The token's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a30")

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/registration-tokens", id: "createRegistrationToken",
        commandLine: .urd(
            "registration-token create",
            examples: "urd registration-token create --label Partners --uses 5"),
        tag: "Registration tokens",
        summary: "Create a token with which clients register themselves.",
        detail: "Its text is shown this once.", right: .realm,
        parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewRegistrationToken",
                .object(
                    .required(
                        "label", .text(1...100, Names.showable(100)),
                        "Label that names the developer or team of the token."),
                    .optional(
                        "uses", .integer(1...RegistrationTokenChange.mostUses),
                        "Number of clients that may register with the token; one by default."),
                    .optional(
                        "scope", .text(0...2048, Names.scope),
                        "Scopes that these clients may request beside the usual ones."),
                    .optional(
                        "expires_in_days", .integer(1...RegistrationTokenChange.mostDays),
                        "Lifetime of the token in days; seven by default."))),
            example: ["label": "Partners", "uses": 5, "expires_in_days": 7]),
        answer: .written(
            .created, "The token.",
            shape.adding(
                "FreshRegistrationToken",
                .added(
                    .required(
                        "token", .text(50...100), "Registration token, shown in this response only."
                    ),
                    example: .string(String(repeating: "A", count: 62))))),
        refusals: [.noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let mint = try await reading { () throws(LogFailure) in
            try await call.context.mint(write.realm)
        }
        let id = write.newID("registration token")
        let done = try await call.run(
            RegistrationTokenChange.create(
                id, label: call.body["label"]?.string ?? "",
                uses: call.body["uses"]?.integer ?? 1, scope: call.body["scope"]?.string ?? "",
                days: call.body["expires_in_days"]?.integer ?? 7, now: write.origin.at),
            as: write)
        let token = try await call.state(RegistrationToken.self, of: id, after: done)
        guard let terms = token.state.terms else { throw Problem(.internalError) }
        let view = RegistrationTokenView(
            id: id, terms: terms, used: token.state.used, createdAt: token.createdAt)
        var members = shape.object(view)
        members["token"] = .string(mint.initialAccessToken(id))
        return Response.json(.created, .object(members)).at(done)
    }

    private static let list = Route.list(
        "/api/admin/realms/{realm}/registration-tokens", id: "listRegistrationTokens",
        commandLine: .urd("registration-token list", examples: "urd registration-token list"),
        tag: "Registration tokens", summary: "List the registration tokens that are not revoked.",
        of: shape, by: .id(\.id), page: RegistrationTokenView.page)

    private static let revoke = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/registration-tokens/{token_id}",
        id: "revokeRegistrationToken",
        commandLine: .urd(
            "registration-token revoke", examples: "urd registration-token revoke TOKEN"),
        tag: "Registration tokens",
        summary: "Revoke a registration token.", right: .realm,
        parameters: [.realm, tokenID, .idempotencyKey],
        answer: .gone("The registration token is revoked."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchRegistrationToken]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let done = try await call.run(
            RegistrationTokenChange.revoke(try call.requiredID("token_id")), as: write)
        return Response(status: .noContent).at(done)
    }

    private static let shape = Shape<RegistrationTokenView>(
        "RegistrationToken",
        .required(
            "id", "Registration token id.", \.id, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a30"),
        .required(
            "label", .text(1...100), "Label that names the developer or team of the token.",
            \.terms.label, example: "Partners"),
        .required(
            "uses", .integer(1...RegistrationTokenChange.mostUses),
            "Number of clients that may register with the token.", { Int64($0.terms.uses) },
            example: 5),
        .required(
            "used", .integer(0...RegistrationTokenChange.mostUses),
            "Number of clients that have registered with the token.", { Int64($0.used) }, example: 1
        ),
        .required(
            "scope", .text(0...2048),
            "Scopes that these clients may request beside the usual ones.",
            { $0.terms.scope.joined(separator: " ") }, example: ""),
        .required("created_at", "Creation time.", \.createdAt),
        .required(
            "expires_at", "Expiry time.", \.terms.expiresAt, example: "2026-11-28T01:23:45Z"))
}

extension RegistrationTokenChange.CreateRejection: Refusal {
    var problem: Problem {
        switch self {
        // A name that follows from a new id is of nothing that was there before.
        case .idTaken: Problem(.internalError)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
