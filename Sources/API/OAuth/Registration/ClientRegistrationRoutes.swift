internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Clients that register themselves (RFC 7591) and look after what they said (RFC 7592).
enum ClientRegistrationRoutes {
    static let table: [Route<RealmContext>] = [register, get, update, delete]

    static let path = "/connect/register"

    private static let clientID = Parameter(
        "client_id", in: .path, ClientSchema.clientID, "OAuth client id.",
        example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")

    private static let faults: [ProblemKind] = [
        .invalidRedirectURI, .invalidClientMetadata, .malformedJSON, .rateLimited,
        .unauthenticated, .invalidToken,
    ]

    private static let register = Route<RealmContext>(
        .post, PathTemplate(stringLiteral: path), id: "registerOwnClient",
        tag: "Client registration", summary: "Registers a client by itself (RFC 7591).",
        detail: """
            As far as the realm is open to it: not at all, with a token from an administrator, \
            with a statement of its maker, or as it likes. What only an administrator may give is \
            refused; unknown members are ignored.
            """,
        right: .nothing, voice: .oauth, body: body,
        answer: Answer(
            status: .created, description: "The client, as it is from now on.",
            content: .json(information, example: example)),
        refusals: Place.refusals + faults + [
            .registrationClosed, .invalidSoftwareStatement, .unapprovedSoftwareStatement,
        ], traits: .forScripts
    ) { call throws(Problem) in
        try RateCounter(call).count(.clientRegistration)
        let metadata = call.body.object ?? [:]
        let token = try call.initialAccessToken()
        let statement = try await call.softwareStatement(in: metadata)
        let id = call.context.newID()
        let secret = ClientSecret(call.context.mint.derive(.clientSecret, id.bytes))
        let asked = SoftwareStatement.lay(statement, over: metadata)
        let method = ClientMetadata.authenticationMethod(askedFor: asked)
        let command = RegisterOwnClient(
            id: id, clientID: id.description, metadata: metadata,
            secret: method?.usesSecret == true ? secret?.digest : nil,
            app: call.context.place.app, token: token, statement: statement,
            sectorPlaces: await call.sectorPlaces(asked["sector_identifier_uri"]),
            now: call.context.clock.now())
        try await Commands(call).dispatch(
            command, as: .init(token.map { "registration-token:\($0)" } ?? "client:\(id)"),
            orThrow: OwnClientProblems.problem)
        return .json(.created, .object(try await call.registration(of: id, secret)))
    }

    private static let get = Route<RealmContext>(
        .get, "/connect/register/{client_id}", id: "getOwnClient", tag: "Client registration",
        summary: "Shows the metadata of a client (RFC 7592).", right: .nothing,
        voice: .oauth, parameters: [clientID],
        answer: .ok("The client.", information, example: example),
        refusals: Place.refusals + faults
    ) { call throws(Problem) in
        let id = try await call.registeredClient()
        return .json(.ok, .object(try await call.registration(of: id, nil)))
    }

    private static let update = Route<RealmContext>(
        .put, "/connect/register/{client_id}", id: "updateOwnClient",
        tag: "Client registration",
        summary: "Replaces the metadata of a client (RFC 7592).",
        detail: """
            What an administrator has given it stays; but people are asked again (`consent`) once it \
            has a redirect URI that it did not have before. A client that came by a statement of its \
            maker needs one that is good now, which goes before what it says itself.
            """,
        right: .nothing, voice: .oauth, parameters: [clientID], body: body,
        answer: .ok("The client.", information, example: example),
        refusals: Place.refusals + faults + [
            .invalidRequest, .invalidSoftwareStatement, .unapprovedSoftwareStatement,
        ]
    ) { call throws(Problem) in
        let id = try await call.registeredClient()
        let metadata = call.body.object ?? [:]
        guard metadata["client_id"]?.string == (try call.required("client_id")) else {
            throw Problem(.invalidRequest, "client_id must be the client's own.")
        }
        for name in [
            "registration_access_token", "registration_client_uri", "client_secret_expires_at",
            "client_id_issued_at",
        ] where metadata[name] != nil {
            throw Problem(.invalidRequest, "\(name) is not for the client to say.")
        }
        let client = try await call.client(id)
        try call.requireOwnSecret(metadata["client_secret"], of: client.state)
        let secret = ClientSecret(
            call.context.mint.derive(.clientSecret, call.context.newID().bytes))
        let statement = try await call.softwareStatement(in: metadata)
        let asked = SoftwareStatement.lay(statement, over: metadata)
        var command = UpdateOwnClient(
            id: id, metadata: metadata, statement: statement,
            sectorPlaces: await call.sectorPlaces(asked["sector_identifier_uri"]))
        if ClientMetadata.authenticationMethod(askedFor: asked)?.usesSecret == true,
            client.state.secret == nil
        {
            command.secret = secret?.digest
        }
        try await Commands(call).dispatch(
            command, as: .init("client:\(client.state.clientID)"),
            orThrow: OwnClientProblems.problem)
        return .json(.ok, .object(try await call.registration(of: id, secret)))
    }

    private static let delete = Route<RealmContext>(
        .delete, "/connect/register/{client_id}", id: "deleteOwnClient",
        tag: "Client registration", summary: "Removes a client by itself (RFC 7592).",
        detail: "All its tokens are over.", right: .nothing, voice: .oauth,
        parameters: [clientID],
        answer: .done("The client is deleted."),
        refusals: Place.refusals + faults
    ) { call throws(Problem) in
        let id = try await call.registeredClient()
        try await Commands(call).dispatch(
            DeleteClient(id: id), as: .init("client:\(try call.required("client_id"))"),
            orThrow: OwnClientProblems.problem)
        return Response(status: .noContent)
    }

    /// Open, because unknown members are ignored and not rejected.
    private static let body = Body(
        schema: .openObject, example: ClientSchema.exampleMetadata, maximumBytes: 64 * 1024)

    private static let information = Schema.named(
        "ClientInformation",
        .object(
            [
                .required("client_id", ClientSchema.clientID, "OAuth client id."),
                .required(
                    "client_id_issued_at", .integer(0...JSON.exactIntegers.upperBound),
                    "Registration time, in seconds since 1970."),
                .optional(
                    "client_secret", ClientSchema.clientSecret,
                    "Client secret, shown in this response only."),
                .optional(
                    "client_secret_expires_at", .integer(0...0),
                    "Expiry time of the secret; always 0: it does not expire."),
                .required(
                    "registration_access_token", .text(50...100),
                    "Access token for the client configuration endpoint (RFC 7592)."),
                .required(
                    "registration_client_uri", .text(1...2048),
                    "URL of the client configuration endpoint (RFC 7592)."),
            ]
                + MetadataField.all.map {
                    .optional($0.name, ClientSchema.schema(of: $0), $0.about)
                }))

    private static let example: JSON = [
        "client_id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "client_id_issued_at": 1_795_224_225,
        "client_name": "Web shop", "redirect_uris": ["https://shop.example.com/signed-in"],
        "token_endpoint_auth_method": "none",
        "registration_access_token": .string(
            String(repeating: "A", count: 62)),
        "registration_client_uri":
            "https://id.example.com/connect/register/0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
    ]
}
