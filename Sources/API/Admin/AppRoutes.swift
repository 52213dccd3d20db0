internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The faces of a realm.
enum AppRoutes {
    static let table: [Route<AdminContext>] = [create, list, get, update, delete]

    private static let slug = Schema.text(1...63, Names.label)
    private static let name = Schema.text(1...200, Names.showable(200))
    private static let appID = Parameter(
        "app_id", in: .path, Fields.id, "The app's id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/apps", id: "createApp",
        commandLine: .urd("app create", examples: "urd app create --slug shop --name \"Web shop\""),
        tag: "Apps",
        summary: "Create an app: its own sub-domain, branding and rules.", right: .realm,
        parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewApp",
                .object(
                    .required("slug", slug, "Sub-domain of the app.", example: "shop"),
                    .required("name", name, "Display name of the app.", example: "Web shop"))),
            example: ["slug": "shop", "name": "Web shop"]),
        answer: .created("The app.", shape),
        refusals: [.noSuchRealm, .realmDisabled, .appExists]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let command = AppChange.create(
            write.newID("app"), slug: call.body["slug"]?.string ?? "",
            name: call.body["name"]?.string ?? "")
        let done = try await call.run(command, as: write)
        return try await call.answer(.created, command.stream, done)
            .located("/api/admin/realms/\(write.realm)/apps/\(command.stream)")
    }

    private static let list = Route.list(
        "/api/admin/realms/{realm}/apps", id: "listApps",
        commandLine: .urd("app list", examples: "urd app list"), tag: "Apps",
        summary: "List the apps of a realm.", of: shape, by: .id(\.id), page: AppView.page)

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/apps/{app_id}", id: "getApp",
        commandLine: .urd("app show", examples: "urd app show APP"),
        tag: "Apps",
        summary: "Show an app.", right: .realm, parameters: [.realm, appID],
        answer: .ok("The app.", shape),
        refusals: [.noSuchRealm, .noSuchApp]
    ) { call throws(Problem) in
        let id = try call.requiredID("app_id")
        let app = try await call.found(AppView.byID, id, or: .noSuchApp)
        return .json(.ok, shape.json(app))
    }

    private static let update = Route<AdminContext>(
        .patch, "/api/admin/realms/{realm}/apps/{app_id}", id: "updateApp",
        commandLine: .urd(
            "app update", examples: "urd app update APP --settings '{\"registration\":\"off\"}'"),
        tag: "Apps",
        summary: "Update an app.",
        detail: """
            What is not named stays as it is. A setting that is null is the realm's again.
            """,
        right: .realm, parameters: [.realm, appID, .idempotencyKey],
        body: Body(
            schema: .named(
                "AppChange",
                .object(
                    .optional("slug", slug, "Sub-domain of the app."),
                    .optional("name", name, "Display name of the app."),
                    .optional(
                        "settings", SettingSchema.appChanges,
                        "Settings of the app, in place of the realm's."))),
            example: ["name": "Shop", "settings": ["registration": "off"]]),
        answer: .written(.ok, "The app.", shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchApp, .appExists]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        try MailWords.check(call.body["settings"]?["mail_words"])
        let command = AppChange.update(
            try call.requiredID("app_id"), slug: call.body["slug"]?.string,
            name: call.body["name"]?.string, settings: call.body["settings"]?.object ?? [:])
        return try await call.answer(.ok, command.stream, try await call.run(command, as: write))
    }

    private static let delete = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/apps/{app_id}", id: "deleteApp",
        commandLine: .urd("app delete", examples: "urd app delete APP"), tag: "Apps",
        summary: "Delete an app.",
        detail: """
            Its sub-domain is free again. It is refused while clients belong to the app: what is \
            set for it alone would hold for them no more. Delete them or update them first.
            """, right: .realm,
        parameters: [.realm, appID, .idempotencyKey], answer: .gone("The app is gone."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchApp, .appInUse]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let app = try call.requiredID("app_id")
        try await call.requireNoClients(of: app, in: write.realm)
        let done = try await call.run(AppChange.delete(app), as: write)
        return Response(status: .noContent).at(done)
    }

    fileprivate static let shape = Shape<AppView>(
        "App",
        .required("id", "App id, which never changes.", \.id),
        .required("slug", slug, "Sub-domain of the app.", \.slug, example: "shop"),
        .required("name", .text(1...200), "Display name of the app.", \.name, example: "Web shop"),
        .required(
            "settings", SettingSchema.app, "Settings of the app, in place of the realm's.",
            \.settings, example: [:]),
        .required("created_at", "Creation time.", \.createdAt))
}

extension Call<AdminContext> {
    fileprivate func requireNoClients(of app: UUID, in realm: RealmID) async throws(Problem) {
        let (shown, most) = (3, 100)
        let clients = try await context.ask(ClientView.ofApp, (app, limit: most + 1), in: realm)
        let left = try await stillOf(app, clients, in: realm)
        guard !left.isEmpty else { return }
        var names = left.prefix(shown).map(\.clientID).joined(separator: ", ")
        if left.count > shown { names += ", …" }
        let many =
            left.count > most
            ? "More than \(most) clients are"
            : left.count == 1 ? "1 client is" : "\(left.count) clients are"
        throw Problem(
            .appInUse,
            "\(many) left (\(names)): each has to be deleted, or updated with another app or none.")
    }

    /// Those whose streams say so: in a trial a client may have gone that the list still has.
    private func stillOf(
        _ app: UUID, _ clients: [ClientView], in realm: RealmID
    ) async throws(Problem) -> [ClientView] {
        var left: [ClientView] = []
        for client in clients {
            let state = try await state(Client.self, of: client.id, in: realm).state
            if !state.isDeleted, state.metadata?.appID == app { left.append(client) }
        }
        return left
    }

    fileprivate func answer(
        _ status: Status, _ id: UUID, _ done: WriteReceipt
    ) async throws(Problem) -> Response {
        let app = try await state(App.self, of: id, after: done)
        let view = AppView(
            id: id, slug: app.state.slug, name: app.state.name,
            settings: app.state.settings.overrides, createdAt: app.createdAt)
        return Response.json(status, AppRoutes.shape.json(view)).at(done)
    }
}

extension AppChange.CreateRejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.appExists)
        case .slugTaken: Problem(.appExists, field: "slug")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension AppChange.UpdateRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchApp)
        case .slugTaken: Problem(.appExists, field: "slug")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
