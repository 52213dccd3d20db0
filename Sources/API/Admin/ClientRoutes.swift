internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// OAuth clients, under the names of RFC 7591.
enum ClientRoutes {
    static let table: [Route<AdminContext>] = [
        register, list, get, update, change, rotateSecret, disable, enable, delete,
    ]

    private static let clientID = Parameter(
        "client_id", in: .path, ClientSchema.clientID, "OAuth client id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")

    private static let register = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/clients", id: "registerClient",
        commandLine: .urd(
            "client register",
            examples: "urd client register --client-id shop --client-name \"Web shop\" \\\n"
                + "      --redirect-uris https://shop.example.org/signed-in",
            "urd client register --client-id reports --grant-types client_credentials"),
        tag: "Clients",
        summary: "Register an OAuth client.",
        detail: """
            A client that authenticates by a secret gets one in the answer, once; a repeat under \
            the same Idempotency-Key gets the same one.
            """,
        right: .realm, parameters: [.realm, .idempotencyKey],
        body: Body(schema: ClientSchema.registration, example: ClientSchema.exampleMetadata),
        answer: .created("The client.", ClientSchema.freshShape),
        refusals: [.noSuchRealm, .realmDisabled, .clientExists]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        var metadata = call.body.object ?? [:]
        let id = write.newID("client")
        let secret = try await call.secret(
            of: id, rotation: 0,
            hasSharedKey: ClientMetadata.hasSharedKey(askedFor: metadata), write)
        let chosen = metadata.removeValue(forKey: "client_id")?.string
        let usesSecret =
            ClientMetadata.authenticationMethod(askedFor: metadata)?.usesSecret ?? false
        let command = RegisterClient(
            id: id, clientID: chosen ?? id.description, metadata: metadata,
            secret: usesSecret ? secret.digest : nil)
        let done = try await call.run(command, as: write)
        return try await call.answer(.created, id, done, givesSecret: true)
            .located("/api/admin/realms/\(write.realm)/clients/\(command.clientID)")
    }

    private static let list = Route.list(
        "/api/admin/realms/{realm}/clients", id: "listClients",
        commandLine: .urd(
            "client list", examples: "urd client list",
            "urd client list --columns client_id,redirect_uris"), tag: "Clients",
        summary: "List the OAuth clients of a realm.",
        detail: "Contacts are personal and stand only in the client's own answer.",
        of: ClientSchema.shape, by: .id(\.id), page: ClientView.page)

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/clients/{client_id}", id: "getClient",
        commandLine: .urd("client show", examples: "urd client show shop"), tag: "Clients",
        summary: "Show an OAuth client.", right: .realm, parameters: [.realm, clientID],
        answer: .ok("The client.", ClientSchema.shape),
        refusals: [.noSuchRealm, .noSuchClient]
    ) { call throws(Problem) in
        let name = try call.required("client_id")
        let found = try await call.found(ClientView.byClientID, name, or: .noSuchClient)
        // From its stream, because what is personal stands nowhere else.
        let client = try await call.state(Client.self, of: found.id, in: try call.realm)
        return .json(.ok, ClientSchema.shape.json(view(found.id, client)))
    }

    private static let update = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/clients/{client_id}", id: "updateClient",
        commandLine: .urd(
            "client update",
            examples: "urd client update shop --redirect-uris https://shop.example.org/back"),
        tag: "Clients", summary: "Replace all metadata of a client.",
        detail: """
            What is left out returns to its default. A client that had no secret and shall \
            authenticate by one gets it in the answer.
            """,
        right: .realm, parameters: [.realm, clientID, .idempotencyKey],
        body: Body(schema: ClientSchema.metadata, example: ClientSchema.exampleMetadata),
        answer: .written(.ok, "The client.", ClientSchema.freshShape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchClient]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try await call.client(for: write)
        let secret = try await call.clientSecret(of: write)
        let metadata = call.body.object ?? [:]
        let usesSecret =
            ClientMetadata.authenticationMethod(askedFor: metadata)?.usesSecret ?? false
        var command = UpdateClient(id: id, metadata: metadata)
        if usesSecret {
            let client = try await call.state(Client.self, of: id, in: write.realm)
            if client.state.secret == nil { command.secret = secret.digest }
        }
        let done = try await call.run(command, as: write)
        return try await call.answer(.ok, id, done, givesSecret: true, isChange: true)
    }

    private static let change = Route<AdminContext>(
        .patch, "/api/admin/realms/{realm}/clients/{client_id}", id: "changeClient",
        commandLine: .urd("client change", examples: "urd client change shop --consent none"),
        tag: "Clients", summary: "Change some metadata of a client.",
        detail: """
            What is not named stays as it is; null (on the command line `--unset` and the member's \
            name) returns a member to its default (RFC 7396 without depth). A client that had no \
            secret and shall authenticate by one gets it in the answer.
            """,
        right: .realm, parameters: [.realm, clientID, .idempotencyKey],
        body: Body(
            schema: ClientSchema.metadata, example: ["consent": "none", "logo_uri": .null]),
        answer: .written(.ok, "The client.", ClientSchema.freshShape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchClient]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try await call.client(for: write)
        let secret = try await call.clientSecret(of: write)
        let command = ChangeClient(
            id: id, changes: call.body.object ?? [:], secret: secret.digest)
        let done = try await call.run(command, as: write)
        return try await call.answer(.ok, id, done, givesSecret: true, isChange: true)
    }

    private static let rotateSecret = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/clients/{client_id}/rotate-secret",
        id: "rotateClientSecret",
        commandLine: .urd("client rotate-secret", examples: "urd client rotate-secret shop"),
        tag: "Clients",
        summary: "Replace the secret of a client.",
        detail: "The old one stops working at once.", right: .realm,
        parameters: [.realm, clientID, .idempotencyKey],
        answer: .written(.ok, "The client.", ClientSchema.freshShape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchClient, .clientHasNoSecret]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try await call.client(for: write)
        let client = try await call.state(Client.self, of: id, in: write.realm).state
        let secret = try await call.secret(
            of: id, rotation: client.secretRotations &+ 1,
            hasSharedKey: client.metadata?.rules.hasSharedKey == true, write)
        let done = try await call.run(
            ClientChange.rotateSecret(id, secret: secret.digest), as: write)
        return try await call.answer(.ok, id, done, givesSecret: true)
    }

    private static let disable = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/clients/{client_id}/disable", id: "disableClient",
        commandLine: .urd("client disable", examples: "urd client disable shop"),
        tag: "Clients", summary: "Disable a client until it is enabled again.", right: .realm,
        parameters: [.realm, clientID, .idempotencyKey],
        answer: .written(.ok, "The client.", ClientSchema.shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchClient]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try await call.client(for: write)
        return try await call.answer(
            .ok, id, try await call.run(ClientChange.disable(id), as: write))
    }

    private static let enable = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/clients/{client_id}/enable", id: "enableClient",
        commandLine: .urd("client enable", examples: "urd client enable shop"),
        tag: "Clients", summary: "Enable a disabled client.", right: .realm,
        parameters: [.realm, clientID, .idempotencyKey],
        answer: .written(.ok, "The client.", ClientSchema.shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchClient]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try await call.client(for: write)
        return try await call.answer(
            .ok, id, try await call.run(ClientChange.enable(id), as: write))
    }

    private static let delete = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/clients/{client_id}", id: "deleteClient",
        commandLine: .urd(
            "client delete", examples: "urd client delete shop --dry-run", "urd client delete shop"),
        tag: "Clients", summary: "Delete a client for good.",
        detail: "Its client id is free again.", right: .realm,
        parameters: [.realm, clientID, .idempotencyKey], answer: .gone("The client is gone."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchClient]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try await call.client(for: write)
        let done = try await call.run(DeleteClient(id: id), as: write)
        return Response(status: .noContent).at(done)
    }
}

extension RegisterClient.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.clientExists)
        case .clientIDTaken: Problem(.clientExists, field: "client_id")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension UpdateClient.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchClient)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension ClientChange.RotateSecretRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchClient)
        case .usesNoSecret: Problem(.clientHasNoSecret)
        }
    }
}
