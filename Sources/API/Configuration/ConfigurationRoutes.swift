internal import Cryptography
internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// A realm's configuration as one document: what it would change, to change it, and who changed something else since.
struct ConfigurationSurface: Surface {
    let routes = ConfigurationRoutes.table
}

enum ConfigurationRoutes {
    static let table: [Route<AdminContext>] = [plan, apply, drift, export, schema]

    private static let plan = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/configuration/plan", id: "planConfiguration",
        tag: "Configuration", summary: "Show what a configuration changes in a realm.",
        detail: """
            Nothing is changed. The realm need not exist. All that is wrong with the configuration is \
            in `errors`, with the path of each place.
            """,
        right: .realm, parameters: [.realm], body: body(adding: []),
        answer: .ok("What changes.", planSchema, example: planExample),
        refusals: [.reservedRealm, .realmDisabled]
    ) { call throws(Problem) in
        .json(.ok, try await call.planned().plan.json)
    }

    private static let apply = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/configuration/apply", id: "applyConfiguration",
        tag: "Configuration", summary: "Bring a realm in line with a configuration.",
        detail: """
            All of it is applied or nothing, in one commit of the realm; host names, which belong to no \
            realm's log, come in a second one. With `plan` it is refused where something else would \
            change than what was shown.
            """,
        right: .realm, parameters: [.realm],
        body: body(adding: [
            .optional(
                "file", digest, "SHA-256 of the file, for the log; of this document without it."),
            .optional("plan", digest, "The plan that was shown."),
        ]),
        answer: .written(.ok, "What was changed.", planSchema, example: planExample),
        refusals: [
            .reservedRealm, .realmDisabled, .configurationInvalid, .configurationChanged,
        ]
    ) { call throws(Problem) in
        try await call.applyConfiguration()
    }

    private static let drift = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/configuration/drift", id: "compareConfiguration",
        tag: "Configuration",
        summary: "Show what differs from a configuration, and who changed it since it was applied.",
        right: .realm, parameters: [.realm], body: body(adding: []),
        answer: .ok("What differs.", driftSchema, example: driftExample),
        refusals: [.reservedRealm, .noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        .json(.ok, try await call.drift())
    }

    private static let export = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/configuration", id: "exportConfiguration",
        tag: "Configuration", summary: "Show the configuration of a realm as a document.",
        detail:
            "Secrets are not in it: they are named by the environment variables to take them from.",
        right: .realm, parameters: [.realm],
        answer: .ok("The configuration.", .openObject, example: ["realms": ["demo": [:]]]),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        .json(.ok, try await call.exportedConfiguration())
    }

    private static let schema = Route<AdminContext>(
        .get, ConfigurationSchema.template, id: "getConfigurationSchema", tag: "About",
        summary: "Show the JSON Schema of configuration files.", right: .nothing,
        answer: Answer(
            status: .ok, description: "A JSON Schema (2020-12).",
            content: .bytes(EventSchema.mediaType))
    ) { _ throws(Problem) in
        var response = Response.bytes(.ok, ConfigurationSchema.document.canonical())
        response.headers["Content-Type"] = EventSchema.mediaType
        return response
    }

    // MARK: - Schemas

    static let digest = Schema.text(64...64, .some(Characters("0-9a-f"), 64...64))

    private static func body(adding members: [Member]) -> Body {
        Body(
            schema: .object(
                [
                    .required(
                        "configuration", .judged(.openObject),
                        "Configuration of the realm, as in /schemas/configuration."),
                    .optional(
                        "secrets", .map(of: .text(1...100_000)),
                        "Secrets by the places that the configuration names: env:NAME, file:/path."),
                    .optional(
                        "prune", .boolean,
                        "Whether things of the configuration's kinds that it does not name are removed."
                    ),
                ] + members),
            example: [
                "configuration": [
                    "clients": [
                        "shop": [
                            "client_name": "Web shop",
                            "redirect_uris": ["https://shop.example/callback"],
                        ]
                    ]
                ],
                "secrets": [:], "prune": false,
            ], maximumBytes: 4 << 20)
    }

    private static let change = Schema.object(
        .required(
            "action", .oneOf(ConfigurationPlan.Change.Action.allCases.map(\.rawValue)),
            "Action: create, change or remove."),
        .required(
            "kind", .text(1...100), "Member of the configuration that has things of this kind."),
        .required("noun", .text(1...100), "Kind of the thing in words."),
        .required("name", .text(0...300), "Name of the thing."),
        .required(
            "members",
            .list(
                of: .object(
                    .required("name", .text(1...300), "Name of the member."),
                    .optional("old", .anything, "Value of the realm."),
                    .optional("new", .anything, "Value of the configuration.")), 0...100_000),
            "Members that differ."),
        .required(
            "secrets",
            .list(
                of: .object(
                    .required("name", .text(1...300), "Name of the member."),
                    .required("from", .text(1...1_000), "Place of the secret.")), 0...1_000),
            "Secrets that are written with it."))

    private static let planSchema = Schema.named(
        "ConfigurationPlan",
        .object(
            .required("realm", Fields.realm, "Realm name."),
            .required("new_realm", .boolean, "Whether the realm is made."),
            .required("plan", digest, "Digest of the changes."),
            .required("changes", .list(of: change, 0...100_000), "Changes, in their order."),
            .required(
                "unnamed",
                .list(
                    of: .object(
                        .required(
                            "kind", .text(1...100),
                            "Member of the configuration that has things of this kind."),
                        .required("noun", .text(1...100), "Kind of the thing in words."),
                        .required("name", .text(0...300), "Name of the thing.")), 0...100_000),
                "Things that the configuration does not name; with `prune` they are removed."),
            .required(
                "errors", .list(of: ConfigurationFault.schema, 0...100_000),
                "Errors of the configuration: with any of them nothing is applied.")))

    private static let planExample: JSON = [
        "realm": "demo", "new_realm": false,
        "plan": .string(String(repeating: "0", count: 64)),
        "changes": [
            [
                "action": "change", "kind": "clients", "noun": "client", "name": "shop",
                "members": [["name": "client_name", "old": "Shop", "new": "Web shop"]],
                "secrets": [],
            ]
        ], "unnamed": [], "errors": [],
    ]

    private static let driftSchema = Schema.named(
        "ConfigurationDrift",
        .object(
            .required("realm", Fields.realm, "Realm name."),
            .required(
                "applied",
                .nullable(
                    .object(
                        .required("file", digest, "SHA-256 of the file."),
                        .required("by", .text(1...300), "Administrator who applied it."),
                        .required("position", Fields.position, "Position in the realm's log."),
                        .required("at", Fields.time, "Time at which it was applied."))),
                "The last file that was applied; null without one."),
            .required(
                "differences",
                .list(
                    of: .object(
                        .required("difference", change, "What an apply would change."),
                        .required(
                            "events",
                            .list(
                                of: .object(
                                    .required("realm", Fields.realm, "Realm of the log."),
                                    .required(
                                        "position", Fields.position, "Position of the event."),
                                    .required("at", Fields.time, "Time of the event."),
                                    .required("type", .text(1...100), "Event type."),
                                    .required("actor", .text(0...300), "Actor of the event.")),
                                0...100_000),
                            "Events since then; none where the configuration is ahead.")),
                    0...100_000), "Differences."),
            .required(
                "errors", .list(of: ConfigurationFault.schema, 0...100_000),
                "Errors of the configuration.")))

    private static let driftExample: JSON = [
        "realm": "demo", "applied": .null, "differences": [], "errors": [],
    ]
}
