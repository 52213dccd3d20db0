internal import EventSourcing
internal import HTTP
internal import Identity
internal import JOSE
internal import JSON

/// A realm's public metadata: where its endpoints are, what they can do, and the keys that its
/// tokens are verified with.
enum MetadataRoutes {
    static func table(_ grants: GrantForms) -> [Route<RealmContext>] {
        [
            configuration(
                "/.well-known/openid-configuration", id: "getOpenIDConfiguration",
                "What the realm offers (OpenID Connect Discovery).", grants),
            configuration(
                "/.well-known/oauth-authorization-server", id: "getServerMetadata",
                "What the realm offers (RFC 8414).", grants),
            keys("/.well-known/jwks", id: "getKeySet"),
            keys("/.well-known/jwks.json", id: "getKeySetFile"),
        ]
    }

    /// Cache lifetime: long enough that clients do not ask for each token, short enough that a
    /// change is soon known.
    private static let shelfLife = "public, max-age=300"

    private static func configuration(
        _ path: PathTemplate, id: String, _ summary: String, _ grants: GrantForms
    ) -> Route<RealmContext> {
        Route(
            .get, path, id: id, tag: "Discovery", summary: summary,
            detail: "Only what works now, and for native apps only where the realm lets them.",
            right: .nothing, voice: .oauth,
            answer: .ok(
                "Metadata of the authorization server (RFC 8414).", ServerMetadata.schema,
                example: ServerMetadata.example(grants)),
            refusals: Place.refusals, traits: [.forScripts, .sameForEveryone]
        ) { call throws(Problem) in
            published(ServerMetadata.document(of: call.context.place, grants))
        }
    }

    private static func keys(_ path: PathTemplate, id: String) -> Route<RealmContext> {
        Route(
            .get, path, id: id, tag: "Discovery",
            summary: "Lists the public keys that verify the realm's tokens (RFC 7517).",
            detail: "Keys that will sign next and keys that have signed lately are among them.",
            right: .nothing, voice: .oauth,
            answer: .ok(
                "The keys.",
                .object(.required("keys", .list(of: .openObject, 1...32), "Public keys as JWKs.")),
                example: ["keys": [["kty": "EC", "crv": "P-256", "alg": "ES256"]]]),
            refusals: Place.refusals, traits: [.forScripts, .sameForEveryone]
        ) { call throws(Problem) in
            let keys = try await reading { () throws(LogFailure) in
                try await call.context.keys.keys(of: call.context.place.realm)
            }
            guard call.context.place.settings.rules.servesFederation else {
                return published(keys.document)
            }
            let encryption = try await reading { () throws(LogFailure) in
                try await call.context.keys.encryptionKeys(of: call.context.place.realm)
            }
            let all = (keys.set.document["keys"]?.array ?? []) + encryption.published
            return published(JSON.object(["keys": .array(all)]).canonical())
        }
    }

    private static func published(_ document: [UInt8]) -> Response {
        Response(status: .ok, headers: heading, body: document)
    }

    private static let heading: Headers = [
        "Content-Type": "application/json", "Cache-Control": shelfLife,
    ]
}
