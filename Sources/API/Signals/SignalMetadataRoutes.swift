internal import HTTP
internal import Identity
internal import JSON

/// Where receivers find what a realm transmits (SSF 1.0 section 7).
enum SignalMetadataRoutes {
    static let table: [Route<RealmContext>] = [
        route("/.well-known/ssf-configuration", id: "getSignalConfiguration"),
        route(
            "/.well-known/ssf-configuration/{path}", id: "getSignalConfigurationOfPath",
            parameters: [
                Parameter("path", in: .path, .text(1...255), "Path of the realm's issuer.")
            ]),
    ]

    static let streams = "/ssf/streams"
    static let status = "/ssf/status"
    static let addSubject = "/ssf/subjects:add"
    static let removeSubject = "/ssf/subjects:remove"
    static let verification = "/ssf/verify"
    static let poll = "/ssf/poll/"
    static let replay = "/ssf/replay"

    private static func route(
        _ path: PathTemplate, id: String, parameters: [Parameter] = []
    ) -> Route<RealmContext> {
        Route(
            .get, path, id: id, tag: SignalAnswers.tag,
            summary: "What the realm transmits of security signals (SSF 1.0).",
            detail: """
                An issuer that has a path is found with its path behind this one. `POST \(replay)` is an \
                extension of Urd and has no member here.
                """,
            right: .nothing, voice: .oauth, parameters: parameters,
            answer: .ok(
                "Metadata of the transmitter.", schema, example: document("https://id.example.com")),
            refusals: Place.refusals + [.noSuchRoute],
            traits: parameters.isEmpty ? .sameForEveryone : []
        ) { call throws(Problem) in
            let issuer = call.context.place.issuer
            if let path = call.text("path"), URLParts.parse(issuer)?.path != "/\(path)" {
                throw Problem(.noSuchRoute)
            }
            var response = Response.json(.ok, document(issuer))
            response.headers["Cache-Control"] = "public, max-age=300"
            return response
        }
    }

    private static func document(_ issuer: String) -> JSON {
        [
            "spec_version": "1_0", "issuer": .string(issuer),
            "jwks_uri": .string("\(issuer)/.well-known/jwks"),
            "delivery_methods_supported": [
                .string(SignalDelivery.pushMethod), .string(SignalDelivery.pollMethod),
            ],
            "configuration_endpoint": .string(issuer + streams),
            "status_endpoint": .string(issuer + status),
            "add_subject_endpoint": .string(issuer + addSubject),
            "remove_subject_endpoint": .string(issuer + removeSubject),
            "verification_endpoint": .string(issuer + verification),
            "critical_subject_members": ["user", "session"],
            "authorization_schemes": [["spec_urn": "urn:ietf:rfc:6749"]],
            "default_subjects": .string(DefaultSubjects.all.rawValue),
        ]
    }

    private static let schema = Schema.named(
        "SignalTransmitter",
        .object(
            .required("spec_version", .text(1...10), "Version of the Shared Signals Framework."),
            .required("issuer", .text(1...2048), "Issuer of all security event tokens."),
            .required(
                "jwks_uri", .text(1...2048),
                "URL of the JWK set that verifies security event tokens."),
            .required(
                "delivery_methods_supported", .list(of: .text(1...255), 1...5),
                "Delivery methods: push (RFC 8935) or poll (RFC 8936)."),
            .required(
                "configuration_endpoint", .text(1...2048),
                "URL of the configuration endpoint, where streams are created."),
            .required(
                "status_endpoint", .text(1...2048),
                "URL of the status endpoint, where streams are paused and resumed."),
            .required(
                "add_subject_endpoint", .text(1...2048), "URL of the endpoint that adds subjects."),
            .required(
                "remove_subject_endpoint", .text(1...2048),
                "URL of the endpoint that removes subjects."),
            .required(
                "verification_endpoint", .text(1...2048),
                "URL of the verification endpoint, which sends a test signal."),
            .required(
                "critical_subject_members", .list(of: .text(1...50), 1...10),
                "Members of a subject that a receiver must not ignore."),
            .required(
                "authorization_schemes", .list(of: .openObject, 1...5),
                "Authentication schemes for receivers."),
            .required(
                "default_subjects", .oneOf(DefaultSubjects.allCases.map(\.rawValue)),
                "Subjects of a stream before its receiver adds any.")))
}
