internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// Who brings a realm's notifications to devices.
enum PushProviderRoutes {
    static let table: [Route<AdminContext>] = [
        list, setFirebase, setApple,
        removal(
            of: .firebase, id: "removeFirebaseProvider",
            commandLine: .urd(
                "push-provider remove fcm",
                examples: "urd push-provider remove fcm --realm flagship"),
            "/api/admin/realms/{realm}/push-providers/fcm"),
        removal(
            of: .apple, id: "removeAppleProvider",
            commandLine: .urd(
                "push-provider remove apns",
                examples: "urd push-provider remove apns --realm flagship"),
            "/api/admin/realms/{realm}/push-providers/apns"),
    ]

    private static let list = Route.whole(
        "/api/admin/realms/{realm}/push-providers", id: "listPushProviders",
        commandLine: .urd(
            "push-provider show", examples: "urd push-provider show --realm flagship"),
        tag: "Flagship", summary: "Show the services that deliver notifications to devices.",
        detail: "Without the keys, which are never shown again.", of: shape, 0...2,
        "Push providers, one of each kind."
    ) { call throws(Problem) in
        let known = try await call.configuration(PushProviders.self, of: PushProviders.stream)
        let shown = [
            known.apple.map { ShownProvider($0) }, known.firebase.map { ShownProvider($0) },
        ]
        return shown.compactMap { $0 }
    }

    private static let setFirebase = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/push-providers/fcm", id: "setFirebaseProvider",
        commandLine: .urd(
            "push-provider set fcm",
            examples:
                "urd push-provider set fcm --realm flagship --service-account \"$(cat account.json)\""
        ),
        tag: "Flagship",
        summary: "Set Firebase Cloud Messaging as a service that delivers notifications.",
        right: .realm, parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "FirebaseProvider",
                .object(
                    .required(
                        "service_account", .openObject,
                        "Key file (JSON) of a Google service account."),
                    address)),
            example: [
                "service_account": [
                    "project_id": "demo", "private_key_id": "k1", "private_key": exampleKey,
                    "client_email": "push@demo.iam.gserviceaccount.com",
                ]
            ], maximumBytes: 32 * 1024),
        answer: .gone("The push provider is stored."), refusals: [.noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        let account = call.body["service_account"] ?? .null
        func text(_ name: String) -> String { account[name]?.string ?? "" }
        var provider = FirebaseProvider(
            project: text("project_id"), email: text("client_email"),
            keyID: text("private_key_id"),
            privateKey: try PushKey.read(text("private_key"), for: .rs256))
        if !text("token_uri").isEmpty { provider.tokenAddress = text("token_uri") }
        if let address = call.body["address"]?.string { provider.address = address }
        return try await call.set(.firebase(provider))
    }

    private static let setApple = Route<AdminContext>(
        .put, "/api/admin/realms/{realm}/push-providers/apns", id: "setAppleProvider",
        commandLine: .urd(
            "push-provider set apns",
            examples: "urd push-provider set apns --realm flagship --team-id TEAM000001 \\\n"
                + "      --key-id KEY0000001 --topic io.example.app --private-key=\"$(cat apns.p8)\""
        ),
        tag: "Flagship",
        summary: "Set Apple as the service that delivers notifications to its devices.",
        right: .realm, parameters: [.realm, .idempotencyKey],
        body: Body(
            schema: .named(
                "AppleProvider",
                .object(
                    .required("team_id", .text(1...20), "Apple team id of the key."),
                    .required("key_id", .text(1...20), "Apple key id."),
                    .required(
                        "private_key", .text(1...10_000), "Private key file (.p8) from Apple."),
                    .required("topic", .text(1...200), "Bundle id of the app."), address)),
            example: [
                "team_id": "TEAM000001", "key_id": "KEY0000001", "private_key": exampleKey,
                "topic": "io.example.flagship",
            ], maximumBytes: 32 * 1024),
        answer: .gone("The push provider is stored."), refusals: [.noSuchRealm, .realmDisabled]
    ) { call throws(Problem) in
        func text(_ name: String) -> String { call.body[name]?.string ?? "" }
        var provider = AppleProvider(
            team: text("team_id"), keyID: text("key_id"),
            privateKey: try PushKey.read(text("private_key"), for: .es256), topic: text("topic"))
        if let address = call.body["address"]?.string { provider.address = address }
        return try await call.set(.apple(provider))
    }

    private static func removal(
        of kind: PushProvider.Kind, id: String, commandLine: CommandWords, _ path: PathTemplate
    ) -> Route<AdminContext> {
        Route<AdminContext>(
            .delete, path, id: id, commandLine: commandLine, tag: "Flagship",
            summary: "Remove the keys of a push service: its devices get no notifications.",
            right: .realm, parameters: [.realm, .idempotencyKey],
            answer: .gone("The push provider is deleted."),
            refusals: [.noSuchRealm, .realmDisabled, .noSuchPushProvider]
        ) { call throws(Problem) in
            let done = try await call.run(
                PushProviderChange.remove(kind), as: call.write(in: try call.realm))
            return Response(status: .noContent).at(done)
        }
    }

    private static let address = Member.optional(
        "address", .text(1...2_000),
        "URL of the provider (https), if it is not the usual one.")

    /// What stands where a key stands.
    static let exampleKey: JSON = "-----BEGIN PRIVATE KEY----- … -----END PRIVATE KEY-----"

    private static let shape = Shape<ShownProvider>(
        "PushProvider",
        .required(
            "provider", .oneOf(PushProvider.Kind.allCases.map(\.rawValue)),
            "Kind of push provider.", \.kind.rawValue, example: "apns"),
        .required(
            "address", .text(1...2_000), "URL of the provider.", \.address,
            example: "https://api.push.apple.com"),
        .required(
            "key_id", .text(1...100), "Key id at the provider.", \.keyID, example: "KEY0000001"),
        .required("usable", "Whether the key can be decrypted.", \.hasKey),
        .optional("project_id", .text(1...63), "Firebase project id.", \.firebase?.project),
        .optional(
            "client_email", .text(1...254), "Mail address of the Firebase service account.",
            \.firebase?.email),
        .optional(
            "token_uri", .text(1...2_000), "URL of the Firebase token endpoint.",
            \.firebase?.tokenAddress),
        .optional("team_id", .text(1...20), "Apple team id.", \.apple?.team, example: "TEAM000001"),
        .optional(
            "topic", .text(1...200), "Bundle id of the Apple app.", \.apple?.topic,
            example: "io.example.flagship"))
}

/// A push provider of either kind.
private struct ShownProvider {
    let kind: PushProvider.Kind
    let address: String
    let keyID: String
    let hasKey: Bool
    var firebase: FirebaseProvider?
    var apple: AppleProvider?

    init(_ provider: AppleProvider) {
        (kind, address, keyID) = (.apple, provider.address, provider.keyID)
        (hasKey, apple) = (provider.privateKey != nil, provider)
    }

    init(_ provider: FirebaseProvider) {
        (kind, address, keyID) = (.firebase, provider.address, provider.keyID)
        (hasKey, firebase) = (provider.privateKey != nil, provider)
    }
}

extension Call<AdminContext> {
    fileprivate func set(_ provider: PushProvider) async throws(Problem) -> Response {
        let done = try await run(PushProviderChange.set(provider), as: write(in: try realm))
        return Response(status: .noContent).at(done)
    }
}

extension PushProviderChange.SetRejection: Refusal {
    var problem: Problem {
        switch self {
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension PushProviderChange.RemoveRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notSet: Problem(.noSuchPushProvider)
        }
    }
}

extension NotificationChange.RequeueRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchNotification)
        case .notFailed: Problem(.notificationNotFailed)
        }
    }
}
