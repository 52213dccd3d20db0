internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// What people may do at the realm's audiences.
enum RoleRoutes {
    static let table: [Route<AdminContext>] = [get, set]

    private static let path: PathTemplate =
        "/api/admin/realms/{realm}/accounts/{account_id}/roles"

    private static let get = Route<AdminContext>(
        .get, path, id: "getAccountRoles",
        commandLine: .urd("account roles", examples: "urd account roles ann@example.org"),
        tag: "Accounts",
        summary: "Show the roles of an account, by audience.", right: .realm,
        parameters: [.realm, AccountRoutes.accountID],
        answer: .ok("Its roles.", schema, example: example),
        refusals: [.noSuchRealm, .noSuchAccount]
    ) { call throws(Problem) in
        try await call.knownRealm()
        return .json(.ok, try await call.roles())
    }

    private static let set = Route<AdminContext>(
        .put, path, id: "setAccountRoles",
        commandLine: .urd(
            "account set-roles",
            examples:
                "urd account set-roles ann@example.org --roles '{\"https://api.example.org\":[\"editor\"]}'"
        ), tag: "Accounts",
        summary: "Replace the roles of an account.",
        detail: """
            The realm's setting `roles` says which there are. Tokens tell of them whose scope has \
            `roles` or `permissions`, for the audiences that they are good for: reference tokens \
            from now on, JWTs from the next refresh on.
            """,
        right: .realm, parameters: [.realm, AccountRoutes.accountID, .idempotencyKey],
        body: Body(schema: schema, example: example),
        answer: .written(.ok, "Its roles.", schema, example: example),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchAccount]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let command = AccountChange.giveRoles(
            try call.requiredID("account_id"),
            roles: GivenRoles(call.body["roles"]) ?? GivenRoles())
        let done = try await call.run(command, as: write)
        return Response.json(.ok, try await call.roles()).at(done)
    }

    private static let schema = Schema.named(
        "AccountRoles",
        .object(
            .required(
                "roles",
                .map(
                    of: .list(
                        of: .text(1...RealmRoles.longestName), 0...RealmRoles.mostRoles,
                        unique: true)),
                "Roles of the account, by audience.")))

    private static let example: JSON = ["roles": ["https://api.example.org": ["editor"]]]
}

extension Call<AdminContext> {
    fileprivate func roles() async throws(Problem) -> JSON {
        guard let known = KnownPerson(try await events(of: try requiredID("account_id"))) else {
            throw Problem(.noSuchAccount)
        }
        return ["roles": known.roles.json]
    }
}

extension AccountChange.GiveRolesRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchAccount)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
