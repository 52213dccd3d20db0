import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

extension World {
    /// Asks a route of the configuration of `acme`.
    func configure(
        _ word: String, _ configuration: JSON, secrets: JSON = [:], prune: Bool = false,
        plan: JSON? = nil, realm: String = "acme", key: BearerKey? = nil
    ) async throws -> Answered {
        var body: JSONObject = [
            "configuration": configuration, "secrets": secrets, "prune": .bool(prune),
        ]
        body["plan"] = plan
        return try await send(
            .post, "/api/admin/realms/\(realm)/configuration/\(word)", body: .object(body), key: key
        )
    }
}

extension Answered {
    fileprivate var changes: [JSON] { json["changes"]?.array ?? [] }

    /// Such as `change client shop`.
    fileprivate var words: [String] {
        changes.map {
            "\($0["action"]?.string ?? "") \($0["noun"]?.string ?? "") \($0["name"]?.string ?? "")"
        }
    }

    fileprivate var errors: [String] {
        (json["errors"]?.array ?? []).map {
            "\($0["path"]?.string ?? ""): \($0["what"]?.string ?? "")"
                + ($0["hint"]?.string.map { ": \($0)" } ?? "")
        }
    }
}

@Suite struct `The configuration of a realm` {
    private static let shop: JSON = [
        "settings": ["otp_lifetime": 300],
        "hosts": ["id.acme.example", "shop.acme.example"],
        "apps": ["shop": ["name": "Web shop", "settings": ["registration": "off"]]],
        "clients": [
            "shop": [
                "client_name": "Web shop", "redirect_uris": ["https://shop.acme.example/in"],
                "app": "shop",
            ],
            "reports": ["client_name": "Reports", "grant_types": ["client_credentials"]],
        ],
    ]

    @Test func `a plan names each change and makes none`() async throws {
        let world = try await World()
        let acme = try #require(RealmID("acme"))
        let before = try await world.log.head(of: acme)
        let plan = try await world.configure("plan", Self.shop)
        #expect(plan.status == .ok)
        #expect(plan.errors == [])
        #expect(
            plan.words == [
                "change settings ", "create host shop.acme.example", "create app shop",
                "create client reports", "create client shop",
            ])
        #expect(
            plan.changes[0]["members"] == [["name": "otp_lifetime", "old": 600, "new": 300]])
        #expect(try await world.log.head(of: acme) == before)
    }

    @Test func `what is applied is one commit of one actor, and a second time it is nothing`()
        async throws
    {
        let world = try await World()
        let acme = try #require(RealmID("acme"))
        let before = try await world.log.head(of: acme)
        let applied = try await world.configure("apply", Self.shop)
        #expect(applied.status == .ok)
        #expect(applied.words.count == 5)
        let events = try await world.log.events(
            from: before.position + 1, limit: 100, in: acme)
        #expect(Set(events.map(\.command)).count == 1)
        #expect(Set(events.map(\.actor)).count == 1)
        #expect(events.allSatisfy { $0.actor.hasPrefix("apply:") })
        #expect(Set(events.compactMap(\.correlation)).count == 1)
        let ofSystem = try await world.log.events(from: 1, limit: 1_000, in: .system)
        #expect(ofSystem.last?.correlation == events.first?.correlation)
        #expect(
            events.map(\.name).sorted() == [
                "app.created", "app.updated", "client.registered", "client.registered",
                "configuration.applied", "realm.settings_changed",
            ])
        let again = try await world.configure("plan", Self.shop)
        #expect(again.words == [])
        let head = try await world.log.head(of: acme)
        #expect(try await world.configure("apply", Self.shop).status == .ok)
        #expect(try await world.log.head(of: acme) == head)
    }

    @Test func `a new realm is made with all that the configuration has`() async throws {
        let world = try await World()
        let plan = try await world.configure("plan", Self.new, realm: "fresh")
        #expect(plan.errors == [])
        #expect(plan.json["new_realm"] == true)
        #expect(try await world.send(.get, "/api/admin/realms/fresh").status == .notFound)
        #expect(try await world.configure("apply", Self.new, realm: "fresh").status == .ok)
        let clients = try await world.send(.get, "/api/admin/realms/fresh/clients")
        #expect(clients.json["items"]?.array?.count == 1)
        #expect(try await world.configure("plan", Self.new, realm: "fresh").words == [])
    }

    private static let new: JSON = [
        "settings": ["display_name": "Fresh"], "hosts": ["fresh.example"],
        "apps": ["desk": ["name": "Desk"]],
        "clients": ["web": ["app": "desk", "redirect_uris": ["https://fresh.example/in"]]],
    ]

    @Test func `a key of one realm makes no realm and assigns no host`() async throws {
        let world = try await World()
        let plan = try await world.configure(
            "plan", ["hosts": ["other.example"]], key: world.narrowKey)
        #expect(plan.errors.count == 1)
        let settings = try await world.configure(
            "apply", ["settings": ["otp_lifetime": 300]], key: world.narrowKey)
        #expect(settings.status == .ok)
        let fresh = try await world.configure(
            "apply", Self.new, realm: "fresh", key: world.narrowKey)
        #expect(fresh.status == .forbidden)
    }

    @Test func `a realm without the file's things keeps them unless the file prunes`() async throws
    {
        let world = try await World()
        _ = try await world.configure("apply", Self.shop)
        let less: JSON = [
            "clients": [
                "shop": [
                    "client_name": "Shop", "redirect_uris": ["https://shop.acme.example/in"],
                ]
            ]
        ]
        let plan = try await world.configure("plan", less)
        #expect(plan.words == ["change client shop"])
        let unnamed = (plan.json["unnamed"]?.array ?? []).compactMap { $0["name"]?.string }
        #expect(unnamed.contains("reports"))
        let pruned = try await world.configure("apply", less, prune: true)
        #expect(pruned.status == .ok)
        #expect(pruned.words.contains("remove client reports"))
        #expect(try await world.configure("plan", less, prune: true).words == [])
        // A kind that the file does not name is left alone.
        let apps = try await world.send(.get, "/api/admin/realms/acme/apps")
        #expect(apps.json["items"]?.array?.count == 2)
        let installation = world.names["installation"] ?? ""
        let device = try await world.send(.get, "/api/admin/realms/acme/clients/\(installation)")
        #expect(device.status == .ok)
    }

    @Test func `an app and its clients go together`() async throws {
        let world = try await World()
        _ = try await world.configure("apply", Self.shop)
        let none: JSON = ["apps": [:], "clients": [:]]
        let pruned = try await world.configure("apply", none, prune: true)
        #expect(pruned.status == .ok)
        #expect(pruned.words.contains("remove app shop"))
        #expect(try await world.configure("plan", none, prune: true).words == [])
    }

    struct Wrong: Sendable, CustomTestStringConvertible {
        let configuration: JSON
        let sentence: String

        init(_ configuration: JSON, _ sentence: String) {
            self.configuration = configuration
            self.sentence = sentence
        }

        /// A provider with this in the place of its secret.
        init(secret: JSON, _ sentence: String) {
            let provider: JSON = [
                "name": "Corp", "issuer": "https://a.example", "client_id": "u",
                "client_secret": secret,
            ]
            self.init(
                ["providers": ["corp": provider]], "providers/corp/client_secret: \(sentence)")
        }

        var testDescription: String { sentence }
    }

    private static let wrong: [Wrong] = [
        Wrong(
            ["clients": ["web": ["redirct_uris": []]]],
            "clients/web/redirct_uris: unknown member `redirct_uris`: did you mean `redirect_uris`?"
        ),
        Wrong(["client": [:]], "client: unknown member `client`: did you mean `clients`?"),
        Wrong(
            ["accounts": []],
            "accounts: unknown member `accounts`: people and their data are in no configuration"),
        Wrong(
            ["settings": ["otp_lifetime": "300"]],
            "settings/otp_lifetime: `otp_lifetime` must be an integer"),
        Wrong(
            ["clients": ["web": ["client_name": 7]]],
            "clients/web/client_name: `client_name` must be a string: put it in quotes"),
        Wrong(
            ["hosts": ["a.example", "a.example"]], "hosts/1: `1` stands in the list twice"),
        Wrong(["apps": ["shop": [:]]], "apps/shop: the member `name` is missing"),
        Wrong(
            ["clients": ["web": ["app": "dsk"]]],
            "clients/web/app: there is no app `dsk`; did you mean desk?"),
        Wrong(
            secret: "hunter2",
            "the secret `client_secret` is written in the clear: keep it in the environment or in a "
                + "file, and write `client_secret: env:NAME` or `client_secret: file:/path` here"),
        Wrong(secret: "env:NONE", "nothing stands at `env:NONE`"),
        Wrong(
            ["clients": ["web": ["redirect_uris": ["https://a.example/#x"]]]],
            "clients/web/redirect_uris/0: redirect_uris/0 must have no fragment"),
    ]

    @Test(arguments: wrong)
    func `an error is told with its place and changes nothing`(
        wrong: Wrong
    ) async throws {
        let (configuration, sentence) = (wrong.configuration, wrong.sentence)
        let world = try await World()
        let acme = try #require(RealmID("acme"))
        let before = try await world.log.head(of: acme)
        var members = configuration.object ?? [:]
        if members["settings"] == nil { members["settings"] = ["otp_lifetime": 301] }
        let plan = try await world.configure("plan", configuration)
        #expect(plan.errors.contains(sentence), "\(plan.errors)")
        let applied = try await world.configure("apply", .object(members))
        #expect(applied.status == .badRequest)
        #expect(try await world.log.head(of: acme) == before)
    }

    @Test func `a secret is written where it is another one, and shown nowhere`() async throws {
        let world = try await World()
        let corp: JSON = [
            "providers": [
                "corp": [
                    "name": "Corp", "issuer": "https://a.example", "client_id": "urd",
                    "client_secret": "env:CORP",
                ]
            ],
            "webhooks": [
                "Billing": [
                    "url": "https://billing.example/urd", "headers": ["X-Key": "file:/run/key"],
                ]
            ],
        ]
        let secrets: JSON = ["env:CORP": "hunter2secret", "file:/run/key": "anothersecret"]
        let plan = try await world.configure("plan", corp, secrets: secrets)
        #expect(plan.words == ["create provider corp", "create webhook Billing"])
        let applied = try await world.configure("apply", corp, secrets: secrets)
        #expect(applied.status == .ok)
        for answer in [plan, applied] {
            let text = String(decoding: answer.json.canonical(), as: UTF8.self)
            #expect(!text.contains("hunter2secret") && !text.contains("anothersecret"))
            #expect(text.contains("env:CORP"))
        }
        #expect(try await world.configure("plan", corp, secrets: secrets).words == [])
        let other: JSON = ["env:CORP": "hunter3secret", "file:/run/key": "anothersecret"]
        #expect(
            try await world.configure("plan", corp, secrets: other).words
                == ["change provider corp"])
    }

    @Test
    func `an apply does what its plan showed, and is refused where something else would change`()
        async throws
    {
        let world = try await World()
        let plan = try await world.configure("plan", Self.shop)
        let other: JSON = ["settings": ["otp_lifetime": 300]]
        #expect(try await world.configure("apply", other).status == .ok)
        let refused = try await world.configure("apply", Self.shop, plan: plan.json["plan"])
        #expect(refused.status == .conflict)
        #expect(refused.json["detail"]?.string?.contains("apply:") == true)
        let again = try await world.configure("plan", Self.shop)
        let applied = try await world.configure("apply", Self.shop, plan: again.json["plan"])
        #expect(applied.status == .ok)
    }

    @Test func `of many that apply at once each is told, and the realm is as one of them says`()
        async throws
    {
        let world = try await World()
        let answers = try await withThrowingTaskGroup(of: Status.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await world.configure(
                        "apply",
                        [
                            "clients": [
                                "web": [
                                    "client_name": .string("Name \(number)"),
                                    "grant_types": ["client_credentials"],
                                ]
                            ]
                        ]
                    ).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.contains(.ok))
        #expect(answers.allSatisfy { $0 == .ok || $0 == .serviceUnavailable || $0 == .conflict })
        let clients = try await world.send(.get, "/api/admin/realms/acme/clients")
        let web = clients.json["items"]?.array?.filter { $0["client_id"] == "web" } ?? []
        #expect(web.count == 1)
    }

    @Test func `an export changes nothing, and names no secret`() async throws {
        let world = try await World()
        _ = try await world.configure("apply", Self.shop)
        let exported = try await world.send(.get, "/api/admin/realms/acme/configuration")
        #expect(exported.status == .ok)
        let configuration = try #require(exported.json["realms"]?["acme"])
        #expect(configuration["clients"]?["shop"]?["app"] == "shop")
        #expect(
            configuration["providers"]?["corporate"]?["client_secret"]
                == "env:ACME_PROVIDERS_CORPORATE_CLIENT_SECRET")
        var members = configuration.object ?? [:]
        // Their secrets were made for the log of this test alone.
        for kind in ["providers", "message_gateways", "push_apns", "push_fcm"] {
            members[kind] = nil
        }
        let plan = try await world.configure("plan", .object(members), prune: true)
        #expect(plan.errors == [])
        #expect(plan.words == [])
    }

    @Test func `drift names the event, its actor and its position`() async throws {
        let world = try await World()
        _ = try await world.configure("apply", Self.shop)
        let none = try await world.configure("drift", Self.shop)
        #expect(none.json["differences"] == [])
        let changed = try await world.send(
            .patch, "/api/admin/realms/acme/clients/shop", body: ["client_name": "Mine"])
        #expect(changed.status == .ok)
        _ = try await world.send(.delete, "/api/admin/realms/acme/clients/reports")
        try await world.make(
            "/api/admin/realms/acme/clients",
            [
                "client_id": "extra", "grant_types": ["client_credentials"],
            ])
        let drift = try await world.configure("drift", Self.shop)
        let events = (drift.json["differences"]?.array ?? []).map { difference in
            let event = difference["events"]?.array?.last
            return "\(difference["difference"]?["name"]?.string ?? ""): "
                + "\(event?["type"]?.string ?? "none") \(event?["actor"]?.string ?? "")"
        }
        let actor = "admin:\(world.key.id)"
        #expect(events.contains("shop: client.updated \(actor)"), "\(events)")
        #expect(events.contains("reports: client.deleted \(actor)"), "\(events)")
        #expect(events.contains("extra: client.registered \(actor)"), "\(events)")
    }

    @Test func `the schema of files names every member that is taken`() async throws {
        let world = try await World()
        let schema = try await world.send(.get, "/schemas/configuration")
        #expect(schema.status == .ok)
        let realm = ConfigurationSchema.document["properties"]?["realms"]?["additionalProperties"]
        for kind in ConfigurationCatalogue.kinds {
            #expect(realm?["properties"]?[kind.name] != nil)
        }
        let text = String(decoding: ConfigurationSchema.document.canonical(), as: UTF8.self)
        #expect(!text.contains("$ref"))
    }
}
