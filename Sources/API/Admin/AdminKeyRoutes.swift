internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The keys of this very API.
enum AdminKeyRoutes {
    static let table: [Route<AdminContext>] = [create, list, get, revoke]

    private static let name = Schema.text(1...200, Names.showable(200))
    private static let realms = Schema.list(of: Fields.realm, 1...100, unique: true)
    private static let permissions = Schema.list(
        of: .oneOf(AdminPermission.allCases.map(\.rawValue)), 1...AdminPermission.allCases.count,
        unique: true)
    private static let keyID = Parameter(
        "key_id", in: .path, Fields.id, "The key's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a12")

    private static let create = Route<AdminContext>(
        .post, "/api/admin/keys", id: "createAdminKey",
        commandLine: .urd(
            "admin key create", examples: "urd admin key create --name deployment --realms demo",
            "urd admin key create --name siem --realms demo --may events.read,audit.read"),
        tag: "Admin keys",
        summary: "Create an admin key.",
        detail: """
            The key itself is in this answer, and in repeats of it, and nowhere else. A key with \
            `permissions` can do what these permit and nothing else; they never change.
            """,
        right: .everything, parameters: [.idempotencyKey],
        body: Body(
            schema: .named(
                "NewAdminKey",
                .object(
                    .required("name", name, "Name of the key's holder.", example: "deployment"),
                    .optional(
                        "realms", .nullable(realms),
                        "Realms that the key gives access to; all if it is left out.",
                        example: ["demo"]),
                    .optional(
                        "permissions", permissions,
                        "Permissions of the key; all if it is left out.",
                        example: ["events.read"]))),
            example: ["name": "deployment", "realms": ["demo"]]),
        answer: .created(
            "The key.",
            .named("FreshAdminKey", .object(members + [secret])),
            example: .object((example.object ?? [:]).merging(["key": exampleKey]) { $1 }))
    ) { call throws(Problem) in
        let write = call.write(in: .system)
        let id = write.newID("admin key")
        let mint = try await call.mint(of: .system)
        let key = mint.adminKey(id, of: write.command)
        let permissions = try permissions(of: call.body)
        guard let digest = SecretDigest(key.digest(limitedTo: permissions)) else {
            throw Problem(.internalError)
        }
        let listed = call.body["realms"]?.array?.compactMap { $0.string.flatMap { RealmID($0) } }
        try await call.requireRealms(listed ?? [])
        let command = AdminKeyChange.create(
            id, name: call.body["name"]?.string ?? "", digest: digest,
            scope: listed.map { .only($0) } ?? .all, permissions: permissions)
        let done = try await call.run(command, as: write)
        let made = try await call.view(id, done)
        // A repeat gives what was given first, which may follow from an older version of the realm's key.
        let given = mint.version {
            $0.adminKey(id, of: write.command).digest(limitedTo: made.permissions) == made.digest
        }
        guard let given else { throw Problem.secretRetired }
        var view = json(made).object ?? [:]
        view["key"] = .string(given.adminKey(id, of: write.command).text)
        return Response.json(.created, .object(view)).at(done)
            .located("/api/admin/keys/\(id)")
    }

    private static let list = Route<AdminContext>(
        .get, "/api/admin/keys", id: "listAdminKeys",
        commandLine: .urd("admin key list", examples: "urd admin key list"),
        tag: "Admin keys",
        summary: "List the admin keys, revoked ones included.", right: .everything,
        parameters: [Lists.limit, Lists.after(Cursor.uuid)],
        answer: Lists.answer("AdminKeyList", of: schema, next: Cursor.uuid, example: example)
    ) { call throws(Problem) in
        let after = call.text("after").flatMap(Cursor.uuid)
        let items = try await reading { () throws(LogFailure) in
            try await call.context.queries.adminKeys(after: after, limit: call.limit + 1)
        }
        return Lists.page(call.limit, of: items, item: json) { Cursor.encode($0.id) }
    }

    private static let get = Route<AdminContext>(
        .get, "/api/admin/keys/{key_id}", id: "getAdminKey",
        commandLine: .urd("admin key show", examples: "urd admin key show KEY"),
        tag: "Admin keys",
        summary: "Show an admin key.", right: .everything, parameters: [keyID],
        answer: .ok("The key.", schema, example: example),
        refusals: [.noSuchKey]
    ) { call throws(Problem) in
        let id = try call.requiredID("key_id")
        let found = try await reading { () throws(LogFailure) in
            try await call.context.queries.adminKey(id)
        }
        guard let found else { throw Problem(.noSuchKey) }
        return .json(.ok, json(found))
    }

    private static let revoke = Route<AdminContext>(
        .post, "/api/admin/keys/{key_id}/revoke", id: "revokeAdminKey",
        commandLine: .urd("admin key revoke", examples: "urd admin key revoke KEY"),
        tag: "Admin keys",
        summary: "Revoke an admin key for ever.", right: .everything,
        parameters: [keyID, .idempotencyKey],
        answer: .written(.ok, "The key.", schema, example: example), refusals: [.noSuchKey]
    ) { call throws(Problem) in
        let id = try call.requiredID("key_id")
        let done = try await call.run(AdminKeyChange.revoke(id), as: call.write(in: .system))
        return Response.json(.ok, json(try await call.view(id, done))).at(done)
    }

    private static let members: [Member] = [
        .required("id", Fields.id, "Key id."),
        .required("name", .text(1...200), "Name of the key's holder."),
        .required(
            "realms", .nullable(realms), "Realms that the key gives access to; null for all."),
        .required(
            "permissions", .nullable(permissions), "Permissions of the key; null for all."),
        .required("created_at", Fields.time, "Creation time."),
        .required("revoked_at", .nullable(Fields.time), "Revocation time; null for a valid key."),
    ]

    private static let schema = Schema.named("AdminKey", .object(members))

    private static let secret = Member.required(
        "key",
        .text(
            73...73,
            .sequence([
                .text(BearerKey.prefix), .some(Characters("-a-zA-Z0-9_"), 22...22), .text("_"),
                .some(Characters("-a-zA-Z0-9_"), 43...43),
            ])),
        "Admin key, to be sent as bearer token. It is not shown again.")

    private static let example: JSON = [
        "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a12", "name": "deployment", "realms": ["demo"],
        "permissions": ["events.read"], "created_at": "2026-11-21T01:23:45.123456Z",
        "revoked_at": .null,
    ]

    /// All zeros: an example that opens nothing.
    private static let exampleKey = JSON.string(
        BearerKey(id: .zero, secret: Array(repeating: 0, count: BearerKey.secretLength)).text)

    private static func permissions(of body: JSON) throws(Problem) -> AdminPermissions {
        guard let listed = body["permissions"]?.array else { return .all }
        guard let read = AdminPermissions(names: listed.map { $0.string ?? "" }) else {
            throw Problem(.internalError)
        }
        return read
    }

    private static func json(_ key: AdminKeyView) -> JSON {
        let realms: JSON =
            switch key.scope {
            case .all: .null
            case .only(let realms): .array(realms.map { .string($0.name) })
            }
        return [
            "id": .string(key.id.description), "name": .string(key.name), "realms": realms,
            "permissions": key.permissions.names.map { .array($0.map { .string($0) }) } ?? .null,
            "created_at": .string(key.createdAt.description),
            "revoked_at": key.revokedAt.map { .string($0.description) } ?? .null,
        ]
    }
}

extension TokenMint {
    fileprivate func adminKey(_ id: UUID, of command: UUID) -> BearerKey {
        BearerKey(id: id, secret: derive(.adminKey, command.bytes))
    }
}

extension Call<AdminContext> {
    /// A key of a realm that does not exist yet would open a realm created later by that name.
    fileprivate func requireRealms(_ realms: [RealmID]) async throws(Problem) {
        for (index, realm) in realms.enumerated() where realm != .system {
            let found = try await reading { () throws(LogFailure) in
                try await context.queries.realm(realm)
            }
            guard found == nil else { continue }
            throw Problem(
                .invalidField, "There is no realm '\(realm)'.", field: "realms/\(index)")
        }
    }

    fileprivate func view(_ id: UUID, _ done: WriteReceipt) async throws(Problem) -> AdminKeyView {
        let key = try await state(AdminKey.self, of: id, after: done)
        return AdminKeyView(
            id: id, name: key.state.name, digest: key.state.digest?.bytes ?? [],
            scope: key.state.scope, permissions: key.state.permissions, createdAt: key.createdAt,
            revokedAt: key.state.isRevoked ? key.changedAt : nil)
    }
}

extension AdminKeyChange.CreateRejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.internalError)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
