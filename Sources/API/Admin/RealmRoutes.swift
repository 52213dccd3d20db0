internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// Tenants.
enum RealmRoutes {
    static let table: [Route<AdminContext>] = [
        create, list, get, getSettings, setSettings, disable, enable,
    ]

    private static let create = Route<AdminContext>(
        .post, "/api/admin/realms", id: "createRealm",
        commandLine: .urd(
            "realm create", examples: "urd realm create --realm acme --display-name \"Acme Ltd\""),
        tag: "Realms",
        summary: "Create a realm: a tenant with people, clients and keys of its own.",
        right: .everything, parameters: [.idempotencyKey],
        body: Body(
            schema: .named(
                "NewRealm",
                .object(
                    .required(
                        "realm", Fields.realm, "Realm name, which never changes.", example: "demo"),
                    .required(
                        "display_name", .text(1...200, Names.showable(200)),
                        "Display name of the realm; it can be changed.", example: "Demo"))),
            example: ["realm": "demo", "display_name": "Demo"]),
        answer: .created("The realm.", shape),
        refusals: [.realmExists, .reservedRealm]
    ) { call throws(Problem) in
        guard let realm = RealmID(call.body["realm"]?.string ?? ""),
            let displayName = call.body["display_name"]?.string
        else { throw Problem(.internalError) }
        guard realm != .system else { throw Problem(.reservedRealm, field: "realm") }
        let done = try await call.run(
            RealmChange.create(displayName: displayName), as: call.write(in: realm))
        return try await call.answer(.created, done)
            .located("/api/admin/realms/\(realm)")
    }

    private static let list = Route.list(
        "/api/admin/realms", id: "listRealms",
        commandLine: .urd("realm list", examples: "urd realm list"), tag: "Realms",
        summary: "List the realms.", right: .everything, of: shape, by: .name(\.realm.name),
        page: RealmView.page)

    private static let get = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}", id: "getRealm",
        commandLine: .urd("realm show", examples: "urd realm show demo"), tag: "Realms",
        summary: "Show a realm.", right: .realm, parameters: [.realm],
        answer: .ok("The realm.", shape),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        .json(.ok, shape.json(try await call.knownRealm()))
    }

    private static let getSettings = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/settings", id: "getRealmSettings",
        commandLine: .urd("realm settings", examples: "urd realm settings demo"), tag: "Realms",
        summary: "Show the settings of a realm, defaults included.", right: .realm,
        parameters: [.realm],
        answer: .ok("The settings.", SettingSchema.realm, example: exampleSettings),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        .json(
            .ok,
            .object(
                Settings(overrides: try await call.knownRealm().settings).all))
    }

    private static let setSettings = Route<AdminContext>(
        .patch, "/api/admin/realms/{realm}/settings", id: "setRealmSettings",
        commandLine: .urd(
            "realm set", examples: "urd realm set demo --otp-lifetime 300",
            "urd realm set demo --unset otp_lifetime"), tag: "Realms",
        summary: "Change settings of a realm.",
        detail: """
            What is not named stays as it is; null (on the command line `--unset` and the \
            setting's name) returns a setting to its default (RFC 7396 without depth).
            """,
        right: .realm, parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: SettingSchema.realmChanges,
            example: ["access_token_lifetime": 900, "links_base_url": .null]),
        answer: .written(
            .ok, "The settings that hold now.", SettingSchema.realm, example: exampleSettings),
        refusals: [.noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        try MailWords.check(call.body["mail_words"])
        try KeySettings.check(call.body.object ?? [:])
        let write = call.write(in: try call.realm)
        let done = try await call.run(RealmChange.setSettings(call.body.object ?? [:]), as: write)
        let realm = try await call.state(Realm.self, of: Realm.stream, after: done)
        return Response.json(.ok, .object(realm.state.settings.all)).at(done)
    }

    private static let disable = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/disable", id: "disableRealm",
        commandLine: .urd("realm disable", examples: "urd realm disable acme"), tag: "Realms",
        summary: "Disable a realm until it is enabled again.",
        detail: "No account signs in, and nothing in the realm changes.", right: .everything,
        parameters: [.realm, .idempotencyKey],
        answer: .written(.ok, "The realm.", shape),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        return try await call.answer(.ok, try await call.run(RealmChange.disable(), as: write))
    }

    private static let enable = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/enable", id: "enableRealm",
        commandLine: .urd("realm enable", examples: "urd realm enable acme"),
        tag: "Realms",
        summary: "Enable a disabled realm.", right: .everything,
        parameters: [.realm, .idempotencyKey],
        answer: .written(.ok, "The realm.", shape),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        return try await call.answer(.ok, try await call.run(RealmChange.enable(), as: write))
    }

    fileprivate static let shape = Shape<RealmView>(
        "Realm",
        .required("realm", Fields.realm, "Realm name.", \.realm.name, example: "demo"),
        .required(
            "display_name", .text(1...200), "Display name of the realm.",
            { $0.settings[SettingCatalogue.displayName.name] ?? "" }, example: "Demo"),
        .required(
            "enabled", "Whether the realm is enabled: people can sign in.", { !$0.isDisabled }),
        .required("created_at", "Creation time.", \.createdAt))

    private static let exampleSettings = JSON.object(
        Settings(overrides: ["display_name": "Demo", "access_token_lifetime": 900]).all)
}

extension Call<AdminContext> {
    fileprivate func answer(_ status: Status, _ done: WriteReceipt) async throws(Problem)
        -> Response
    {
        let realm = try await state(Realm.self, of: Realm.stream, after: done)
        let view = RealmView(
            realm: done.write.realm, isDisabled: realm.state.isDisabled,
            settings: realm.state.settings.overrides, createdAt: realm.createdAt)
        return Response.json(status, RealmRoutes.shape.json(view)).at(done)
    }

    /// The realm that the path names, if it is there.
    @discardableResult
    func knownRealm() async throws(Problem) -> RealmView {
        let id = try realm
        let found = try await context.ask(RealmView.byName, (), in: id)
        guard let found else { throw Problem(.noSuchRealm) }
        return found
    }
}

extension RealmChange.CreateRejection: Refusal {
    var problem: Problem {
        switch self {
        case .alreadyExists: Problem(.realmExists, field: "realm")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension RealmChange.SetSettingsRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchRealm)
        case .disabled: Problem(.realmDisabled)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}
