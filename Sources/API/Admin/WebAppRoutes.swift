internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The web apps and konnectors that a realm of the flagship profile knows.
enum WebAppRoutes {
    static let table: [Route<AdminContext>] = [create, list, get, update, delete]

    private static let name = Schema.text(1...200, Names.showable(200))
    private static let address = Schema.text(1...2000, Names.webAddress)
    private static let webAppID = Parameter(
        "web_app_id", in: .path, Fields.id, "Web app id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")

    private static let optional: [(name: String, schema: Schema, about: String)] = [
        ("name_prefix", name, "Prefix of the display name, such as the vendor."),
        ("editor", name, "Vendor of the web app."),
        ("icon", .text(1...2000), "Path of the icon among the web app's files, or a URL."),
        (
            "permissions", .list(of: .text(1...128), 0...WebAppCard.mostPermissions),
            "Permissions of the web app's tokens; never all."
        ),
        ("origin", address, "Origin of the web app's pages; its sub-domain by default."),
        ("start_url", address, "URL at which users connect a konnector."),
        ("reconnect_url", address, "URL at which users connect a konnector again."),
        ("manage_url", address, "URL at which users manage a konnector's connection."),
        ("flags", .openObject, "Feature flags of the web app's pages."),
        (
            "notifications", .openObject,
            "Notification categories of the web app, by name."
        ),
    ]

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/web-apps", id: "registerWebApp",
        commandLine: .urd(
            "web-app register",
            examples: "urd web-app register --realm flagship --kind app --slug drive --name Drive"),
        tag: "Flagship",
        summary: "Register a web app or a konnector.", right: .realm,
        parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "NewWebApp",
                .object(
                    [
                        .required("kind", kind, "Kind of web app."),
                        .required(
                            "slug", .text(1...63, Names.label), "Slug of the web app in addresses."),
                        .required("name", name, "Display name of the web app."),
                    ] + optional.map { .optional($0.name, $0.schema, $0.about) })),
            example: ["kind": "app", "slug": "drive", "name": "Drive"]),
        answer: .created("The web app is registered.", shape),
        refusals: [.noSuchRealm, .realmDisabled, .appExists]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        try await call.requireForeignOrigin(in: write.realm)
        let command = WebAppChange.register(
            write.newID("web app"), members: call.body.object ?? [:])
        let done = try await call.run(command, as: write)
        return try await call.answer(.created, command.stream, done)
            .located("/api/admin/realms/\(write.realm)/web-apps/\(command.stream)")
    }

    private static let kind = Schema.oneOf(WebAppKind.allCases.map(\.rawValue))

    private static let list = Route.list(
        "/api/admin/realms/{realm}/web-apps", id: "listWebApps",
        commandLine: .urd("web-app list", examples: "urd web-app list --realm flagship"),
        tag: "Flagship", summary: "List the web apps and konnectors of a realm.", of: shape,
        by: .id(\.id), page: WebAppView.page)

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/web-apps/{web_app_id}", id: "getWebApp",
        commandLine: .urd("web-app show", examples: "urd web-app show WEBAPP --realm flagship"),
        tag: "Flagship", summary: "Show a web app or a konnector.", right: .realm,
        parameters: [.realm, webAppID],
        answer: .ok("It.", shape), refusals: [.noSuchRealm, .noSuchApp]
    ) { call throws(Problem) in
        let id = try call.requiredID("web_app_id")
        let app = try await call.found(WebAppView.byID, id, or: .noSuchApp)
        return .json(.ok, shape.json(app))
    }

    private static let update = Route<AdminContext>(
        .patch, "/api/admin/realms/{realm}/web-apps/{web_app_id}", id: "updateWebApp",
        commandLine: .urd(
            "web-app update", examples: "urd web-app update WEBAPP --realm flagship --name Files"),
        tag: "Flagship", summary: "Update a web app or a konnector.",
        detail: "Members that are not named stay as they are; null removes a value.",
        right: .realm, parameters: [.realm, webAppID, .idempotencyKey],
        body: Body(
            schema: .named(
                "WebAppChange",
                .object(
                    [.optional("name", name, "Display name of the web app.")]
                        + optional.map { .optional($0.name, .nullable($0.schema), $0.about) })),
            example: ["name": "Files"]),
        answer: .written(.ok, "It.", shape),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchApp, .appExists]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        try await call.requireForeignOrigin(in: write.realm)
        let command = WebAppChange.update(
            try call.requiredID("web_app_id"), changes: call.body.object ?? [:])
        return try await call.answer(.ok, command.stream, try await call.run(command, as: write))
    }

    private static let delete = Route<AdminContext>(
        .delete, "/api/admin/realms/{realm}/web-apps/{web_app_id}", id: "removeWebApp",
        commandLine: .urd("web-app remove", examples: "urd web-app remove WEBAPP --realm flagship"),
        tag: "Flagship", summary: "Remove a web app or a konnector.",
        detail: "Its tokens are revoked, and its name is free.", right: .realm,
        parameters: [.realm, webAppID, .idempotencyKey], answer: .gone("The web app is deleted."),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchApp]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let done = try await call.run(
            WebAppChange.remove(try call.requiredID("web_app_id")), as: write)
        return Response(status: .noContent).at(done)
    }

    fileprivate static let shape = Shape<WebAppView>(
        "WebApp",
        of: [
            .required("id", "Web app id, which never changes.", \.id),
            .added(.required("kind", kind, "Kind of web app."), example: "app"),
            .added(
                .required("slug", .text(1...63), "Slug of the web app in addresses."),
                example: "drive"),
            .added(
                .required("name", .text(1...200), "Display name of the web app."), example: "Drive"),
            .required("created_at", "Registration time.", \.createdAt),
        ]
            + optional.map {
                .added(
                    .optional($0.name, $0.schema, $0.about),
                    example: $0.name == "permissions" ? ["files"] : nil)
            }, over: \.card.fields)
}

extension Call<AdminContext> {
    fileprivate func answer(
        _ status: Status, _ id: UUID, _ done: WriteReceipt
    ) async throws(Problem) -> Response {
        let app = try await state(WebApp.self, of: id, after: done)
        guard let card = app.state.card else { throw Problem(.internalError) }
        let view = WebAppView(id: id, card: card, createdAt: app.createdAt)
        return Response.json(status, WebAppRoutes.shape.json(view)).at(done)
    }

    /// Where an app's pages are, nothing else of the realm is: it must not take the place where people
    /// sign in.
    fileprivate func requireForeignOrigin(in realm: RealmID) async throws(Problem) {
        guard let origin = body["origin"]?.string, let host = URLParts.parse(origin)?.host else {
            return
        }
        let (hosts, settings) = try await reading { () throws(LogFailure) in
            (
                try await context.queries.ask(HostView.page, (after: nil, limit: 1_000), in: realm),
                Settings(
                    overrides: try await context.queries.ask(RealmView.byName, in: realm)?.settings
                        ?? [:])
            )
        }
        let own = [
            settings[SettingCatalogue.primaryDomain],
            settings[SettingCatalogue.linksBaseURL].flatMap { URLParts.parse($0)?.host },
        ]
        let isOnly = !hosts.isEmpty && hosts.allSatisfy { RequestHost($0.host)?.name == host }
        guard !isOnly, !own.contains(where: { $0.flatMap { RequestHost($0)?.name } == host }) else {
            throw Problem(of: FieldFault("origin", .reserved))
        }
    }
}

extension WebAppChange.RegisterRejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.appExists)
        case .slugTaken: Problem(.appExists, field: "slug")
        case .originTaken: Problem(.appExists, field: "origin")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension WebAppChange.UpdateRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchApp)
        case .originTaken: Problem(.appExists, field: "origin")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
