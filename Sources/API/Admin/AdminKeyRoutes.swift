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
            "The key.", shape.adding("FreshAdminKey", .added(secret, example: exampleKey)))
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
        var view = shape.object(made)
        view["key"] = .string(given.adminKey(id, of: write.command).text)
        return Response.json(.created, .object(view)).at(done)
            .located("/api/admin/keys/\(id)")
    }

    private static let list = Route.list(
        "/api/admin/keys", id: "listAdminKeys",
        commandLine: .urd("admin key list", examples: "urd admin key list"), tag: "Admin keys",
        summary: "List the admin keys, revoked ones included.", right: .everything, of: shape,
        by: .id(\.id), page: AdminKeyView.page)

    private static let get = Route<AdminContext>(
        .get, "/api/admin/keys/{key_id}", id: "getAdminKey",
        commandLine: .urd("admin key show", examples: "urd admin key show KEY"),
        tag: "Admin keys",
        summary: "Show an admin key.", right: .everything, parameters: [keyID],
        answer: .ok("The key.", shape),
        refusals: [.noSuchKey]
    ) { call throws(Problem) in
        let id = try call.requiredID("key_id")
        let found = try await call.context.ask(AdminKeyView.byID, id, in: .system)
        guard let found else { throw Problem(.noSuchKey) }
        return .json(.ok, shape.json(found))
    }

    private static let revoke = Route<AdminContext>(
        .post, "/api/admin/keys/{key_id}/revoke", id: "revokeAdminKey",
        commandLine: .urd("admin key revoke", examples: "urd admin key revoke KEY"),
        tag: "Admin keys",
        summary: "Revoke an admin key for ever.", right: .everything,
        parameters: [keyID, .idempotencyKey],
        answer: .written(.ok, "The key.", shape), refusals: [.noSuchKey]
    ) { call throws(Problem) in
        let id = try call.requiredID("key_id")
        let done = try await call.run(AdminKeyChange.revoke(id), as: call.write(in: .system))
        return Response.json(.ok, shape.json(try await call.view(id, done))).at(done)
    }

    private static let shape = Shape<AdminKeyView>(
        "AdminKey",
        .required("id", "Key id.", \.id, example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a12"),
        .required(
            "name", .text(1...200), "Name of the key's holder.", \.name, example: "deployment"),
        .nullable(
            "realms", realms, "Realms that the key gives access to; null for all.", \.scope.listed,
            example: ["demo"]),
        .nullable(
            "permissions", permissions, "Permissions of the key; null for all.",
            \.permissions.names, example: ["events.read"]),
        .required("created_at", "Creation time.", \.createdAt),
        .nullable("revoked_at", "Revocation time; null for a valid key.", \.revokedAt))

    private static let secret = Member.required(
        "key",
        .text(
            73...73,
            .sequence([
                .text(BearerKey.prefix), .some(Characters("-a-zA-Z0-9_"), 22...22), .text("_"),
                .some(Characters("-a-zA-Z0-9_"), 43...43),
            ])),
        "Admin key, to be sent as bearer token. It is not shown again.")

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
}

extension AdminScope {
    /// Nil for all realms.
    fileprivate var listed: [String]? {
        switch self {
        case .all: nil
        case .only(let realms): realms.map(\.name)
        }
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
            let found = try await context.ask(RealmView.byName, (), in: realm)
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
