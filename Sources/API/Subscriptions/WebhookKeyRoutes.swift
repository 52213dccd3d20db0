internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON
internal import Values

/// What receivers of webhooks check the signatures `v1a` of a realm with, and where its calls come from.
struct WebhookKeySurface: RealmSurface {
    let routes: [Route<RealmContext>]

    init(_ source: WebhookSource?) {
        routes = [WebhookKeyRoutes.keys(source)]
    }
}

enum WebhookKeyRoutes {
    static func keys(_ source: WebhookSource?) -> Route<RealmContext> {
        Route(
            .get, "/.well-known/urd-webhook-keys.json", id: "getWebhookKeys", tag: "Discovery",
            summary: "Lists the public keys that verify messages of webhooks.",
            detail: """
                The key that will sign next and those that have signed lately are among them. `networks` is \
                where calls come from, where the operator says so.
                """,
            right: .nothing, answer: .ok("The keys, oldest first.", schema, example: example),
            refusals: Place.refusals, traits: [.forScripts, .sameForEveryone]
        ) { call throws(Problem) in
            let webhooks = try source.present
            let entries = try await reading { () throws(LogFailure) in
                try await webhooks.keys.shown(in: call.context.place.realm)
            }
            let document: JSON = [
                "keys": .array(try entries.map { entry throws(Problem) in try json(entry) }),
                "networks": .array(webhooks.networks.map { .string($0) }),
            ]
            var response = Response.json(.ok, document)
            response.headers["Cache-Control"] = "public, max-age=300"
            return response
        }
    }

    private static func json(_ entry: SigningKeys.Entry) throws(Problem) -> JSON {
        guard let point = entry.key.published["x"]?.string.flatMap({ Base64URL.decode($0) }) else {
            throw Problem(.logDamaged)
        }
        return [
            "kid": .string(entry.key.id), "phase": .string(entry.phase.word),
            "public_key": .string(WebhookSignature.publicKeyPrefix + Base64.encode(point)),
            "jwk": entry.key.published,
        ]
    }

    private static let schema = Schema.object(
        .required(
            "keys",
            .list(
                of: .object(
                    .required("kid", .text(43...43), "Key id."),
                    .required(
                        "phase", .oneOf(["published", "active", "retired"]),
                        "Phase of the key: published before its use, signing, or retired."),
                    .required(
                        "public_key", .text(49...49),
                        "Public key in the form of Standard Webhooks: whpk_."),
                    .required("jwk", .openObject, "Public key as a JWK.")), 0...100),
            "Public keys of webhook signatures."),
        .required(
            "networks", .list(of: .text(1...50), 0...1000),
            "Networks that webhook requests come from."))

    private static let example: JSON = [
        "keys": [
            [
                "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "phase": "active",
                "public_key": "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
                "jwk": [
                    "kty": "OKP", "crv": "Ed25519", "alg": "Ed25519", "use": "sig",
                    "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
                    "x": "1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4",
                ],
            ]
        ], "networks": ["198.51.100.0/28"],
    ]
}
