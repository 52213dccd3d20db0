internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import Values

/// Apps of the flagship profile that register themselves, and look after that.
enum InstallationRoutes {
    static let table: [Route<RealmContext>] = [register, get, update, delete]

    static let clientID = Parameter(
        "client_id", in: .path, .text(1...128), "OAuth client id of the calling installation.",
        example: "0193a0e75e0c800090002f6b1c1d9a10")

    /// Metadata that an installation reads.
    static let told: Set<String> = [
        "redirect_uris", "client_name", "software_id", "software_version", "client_kind",
        "client_os", "client_uri", "logo_uri", "policy_uri", "notification_platform",
        "notification_device_token", "notifications",
    ]

    static let body = Body(
        schema: .openObject,
        example: [
            "redirect_uris": ["cozy://"], "client_name": "Phone", "software_id": "amiral",
        ], maximumBytes: 64 * 1024)

    static let example: JSON = [
        "client_id": "0193a0e75e0c800090002f6b1c1d9a10", "client_name": "Phone",
        "client_secret_expires_at": 0, "redirect_uris": ["cozy://"], "software_id": "amiral",
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
    ]

    private static let register = Route<RealmContext>(
        .post, "/auth/register", id: "registerInstallation", tag: "Flagship",
        summary: "Registers an app on a device.",
        detail: "An installation that no owner authorizes within an hour is removed.",
        right: .nothing,
        voice: .flagship, body: body,
        answer: Answer(
            status: .created, description: "The client.",
            content: .json(.openObject, example: example)),
        refusals: Place.refusals + [.invalidRequest, .invalidClient, .noSuchClient]
    ) { call throws(Problem) in
        guard (call.request.headers["Accept"] ?? "").contains("application/json") else {
            throw Problem.said(.invalidRequest, "bad_accept_header")
        }
        try call.countInstallation()
        if let asked = call.body["allow_login_scope"], asked == true || asked.string != nil {
            throw Problem.said(.invalidClient, "allow_login_scope is not for apps to ask")
        }
        let id = call.context.newID()
        guard let secret = call.installationSecret(id, rotations: 0) else {
            throw Problem(.internalError)
        }
        let members = call.body.object ?? [:]
        try call.requireForeignRedirects(members)
        if let software = members["software_id"]?.string, software.hasPrefix("registry://"),
            NotificationScope.slug(software) == nil
        {
            throw Problem.registration("unapproved_software_id", "software_id names no app")
        }
        let refusal = try await underFreeName(members, unless: .nameTaken) {
            (members) async throws(Problem) -> InstallationChange.RegisterRejection? in
            try await Commands(call).attempt(
                InstallationChange.register(id, metadata: members, secret: secret.digest),
                as: .installation(id))
        }
        if refusal == .nameTaken { throw Problem.said(.noSuchClient, "Not found") }
        if let refusal { throw refusal.problem }
        let client = try await RealmLookups(call.context).folded(Client.self, id)
        var document = call.document(of: id, client, secret: secret)
        document["registration_access_token"] = .string(
            call.context.mint.registrationAccessToken(ofClient: id))
        return .json(.created, .object(document))
    }

    /// The later of two installations with one name gets a number.
    private static func underFreeName<Rejection: Equatable>(
        _ members: JSONObject, unless taken: Rejection,
        _ attempt: (JSONObject) async throws(Problem) -> Rejection?
    ) async throws(Problem) -> Rejection? {
        var numbered = members
        let name = members["client_name"]?.string
        for number in 1...mostOfOneName {
            if let name, number > 1 { numbered["client_name"] = .string("\(name)-\(number)") }
            let refusal = try await attempt(numbered)
            guard refusal == taken else { return refusal }
        }
        return taken
    }

    private static let mostOfOneName = 100

    private static let get = Route<RealmContext>(
        .get, "/auth/register/{client_id}", id: "getInstallation", tag: "Flagship",
        summary: "Shows the metadata of an app on a device.", right: .nothing, voice: .flagship,
        parameters: [clientID], answer: .ok("The client.", .openObject, example: example),
        refusals: Place.refusals + [.invalidClient, .noSuchClient]
    ) { call throws(Problem) in
        let (id, client) = try await call.managedInstallation()
        return .json(
            .ok,
            .object(call.document(of: id, client, secret: call.secretInForce(of: id, client))))
    }

    private static let update = Route<RealmContext>(
        .put, "/auth/register/{client_id}", id: "updateInstallation", tag: "Flagship",
        summary: "Replaces the metadata of an app on a device.",
        detail: """
            A client that sends its secret along gets another one. The answer has the secret that is \
            in force from then on: clients replace what they know by it.
            """, right: .nothing,
        voice: .flagship, parameters: [clientID], body: body,
        answer: .ok("The client.", .openObject, example: example),
        refusals: Place.refusals + [.invalidRequest, .invalidClient, .noSuchClient]
    ) { call throws(Problem) in
        let (id, client) = try await call.managedInstallation()
        guard call.body["client_id"]?.string == client.clientID else {
            throw Problem.registration("invalid_client_id", "client_id is mandatory")
        }
        let members = call.body.object ?? [:]
        try call.requireForeignRedirects(members)
        let rotation = try call.secretRotation(of: id, client)
        let refusal = try await underFreeName(members, unless: .nameTaken) {
            (members) async throws(Problem) -> InstallationChange.UpdateRejection? in
            try await Commands(call).attempt(
                InstallationChange.update(
                    id, metadata: members, rotation: rotation, now: call.context.clock.now()),
                as: .installation(id))
        }
        if let refusal { throw refusal.problem }
        let updated = try await RealmLookups(call.context).folded(Client.self, id)
        return .json(
            .ok,
            .object(call.document(of: id, updated, secret: call.secretInForce(of: id, updated))))
    }

    private static let delete = Route<RealmContext>(
        .delete, "/auth/register/{client_id}", id: "deleteInstallation", tag: "Flagship",
        summary: "Removes an app by itself.", detail: "Also where there is none.",
        right: .nothing, voice: .flagship, parameters: [clientID],
        answer: .done("The installation is deleted."),
        refusals: Place.refusals + [.invalidClient]
    ) { call throws(Problem) in
        guard let (id, _) = try await call.installation(call.text("client_id")) else {
            return Response(status: .noContent)
        }
        try call.requireRegistrationToken(of: id)
        if try await Commands(call).attempt(DeleteClient(id: id), as: .installation(id)) == nil {
            try await call.endUpstreamSession(of: id)
        }
        return Response(status: .noContent)
    }
}

extension Call<RealmContext> {
    /// The secret that a client gets by an update: for its own, or because the one in force cannot be said
    /// again, which the answer would make the client forget.
    fileprivate func secretRotation(
        of id: UUID, _ client: Client
    ) throws(Problem) -> InstallationChange.SecretRotation? {
        let shown = body["client_secret"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        if let shown, SecretDigest.ofSecret(shown) != client.secret {
            throw Problem.registration("invalid_client_secret", "client_secret is wrong")
        }
        guard shown != nil || secretInForce(of: id, client) == nil, let replaced = client.secret,
            let secret = installationSecret(id, rotations: client.secretRotations &+ 1)
        else { return nil }
        return InstallationChange.SecretRotation(replaced: replaced, secret: secret.digest)
    }

    /// An answer that is sent to the realm itself reaches no app.
    fileprivate func requireForeignRedirects(_ members: JSONObject) throws(Problem) {
        for text in (members["redirect_uris"]?.array ?? []).compactMap(\.string) {
            guard URLParts.parse(text)?.host != context.place.host else {
                throw Problem.registration("invalid_redirect_uri", "redirect_uri is invalid")
            }
        }
    }
}

extension Problem {
    /// What is wrong with what an app says of itself.
    static func registration(_ code: String, _ sentence: String) -> Problem {
        var problem = Problem.said(.invalidRequest, code)
        problem.members = ["error_description": .string(sentence)]
        return problem
    }

    static func registration(_ fault: FieldFault) -> Problem {
        registration(
            fault.field == "redirect_uris" ? "invalid_redirect_uri" : "invalid_client_metadata",
            Problem(of: fault).detail)
    }
}

extension InstallationChange.RegisterRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notOffered: Problem(.unknownHost)
        // The id was made up for this one, and other names are tried.
        case .idTaken, .nameTaken: Problem(.internalError)
        case .invalid(let fault): .registration(fault)
        }
    }
}

extension InstallationChange.UpdateRejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: .said(.noSuchClient, "Client not found")
        case .nameTaken: .registration("invalid_client_metadata", "client_name is taken")
        case .secretReplaced: .registration("invalid_client_secret", "client_secret is wrong")
        case .invalid(let fault): .registration(fault)
        }
    }
}
