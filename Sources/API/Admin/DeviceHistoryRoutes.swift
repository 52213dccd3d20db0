internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The apps on an owner's devices: which was certified when and by what, and what it did since.
enum DeviceHistoryRoutes {
    static let table: [Route<AdminContext>] = [list, history, revokeCertification]

    private static let installation = Parameter(
        "installation", in: .path, .text(32...32, .some(Characters("0-9a-f"), 32...32)),
        "OAuth client id of the installed app.", example: "0193a0e75e0c800090002f6b1c1d9a10")

    private static let list = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/devices", id: "listDevices",
        commandLine: .urd("device list", examples: "urd device list --realm flagship"),
        tag: "Flagship",
        summary: "List the apps on devices that registered themselves.", right: .realm,
        permission: .historyRead,
        parameters: [.realm, Lists.limit, Lists.after(Cursor.uuid)],
        answer: Lists.answer("DeviceList", of: device, next: Cursor.uuid, example: exampleDevice),
        refusals: [.noSuchRealm]
    ) { call throws(Problem) in
        let realm = try call.realm
        let after = call.text("after").flatMap(Cursor.uuid) ?? .zero
        let standing = try await call.standing()
        let ids = try await reading { () throws(LogFailure) in
            try await call.context.queries.installations(in: realm)
        }
        if ids.isEmpty { try await call.knownRealm() }
        var devices: [StreamSnapshot<Client>] = []
        var chosen: [UUID] = []
        for id in ids.sorted() where id > after && devices.count <= call.limit {
            devices.append(try await call.state(Client.self, of: id, in: realm))
            chosen.append(id)
        }
        return Lists.page(
            call.limit, of: Array(zip(chosen, devices)), at: standing, item: { json($0.1) },
            next: { Cursor.encode($0.0) })
    }

    private static let history = Route<AdminContext>(
        .get, "/api/admin/realms/{realm}/devices/{installation}/history",
        id: "listDeviceHistory",
        commandLine: .urd(
            "device history", examples: "urd device history INSTALLATION --realm flagship"),
        tag: "Flagship",
        summary: "List what happened to an app on a device, and what it did.",
        detail: """
            How it was certified and by which evidence, the session codes, konnector tokens and apps \
            that it opened, its tokens. This list follows the log: with `min_position` it waits until \
            it holds everything up to there.
            """,
        right: .realm, permission: .historyRead,
        parameters: [
            .realm, installation, Lists.limit, LogLists.after, .minimumPosition,
        ],
        answer: LogLists.answer("DeviceHistory", of: entry, example: exampleEntry),
        refusals: [.noSuchRealm, .noSuchClient, .positionNotReached, .positionLost]
    ) { call throws(Problem) in
        let realm = try call.realm
        let id = try installation(of: call)
        let events = try await reading { () throws(LogFailure) in
            try await call.context.commands.events.stream(id, after: 0, in: realm)
        }
        guard !events.isEmpty else {
            try await call.knownRealm()
            throw Problem(.noSuchClient)
        }
        let client = try await call.state(Client.self, of: id, in: realm).state
        guard client.metadata?.isInstallation == true else { throw Problem(.noSuchClient) }
        let place = try await call.logPlace(in: call.wait(for: .auditTrail))
        let items = try await reading { () throws(LogFailure) in
            try await call.context.queries.history(
                of: id, certifiedBy: client.attestation, in: realm, after: place.position,
                limit: call.limit + 1)
        }
        return place.page(call.limit, of: items, item: json, position: \.position)
    }

    private static let revokeCertification = Route<AdminContext>(
        .post, "/api/admin/realms/{realm}/devices/{installation}/revoke-certification",
        id: "revokeDeviceCertification",
        commandLine: .urd(
            "device revoke-certification",
            examples: "urd device revoke-certification INSTALLATION --realm flagship"),
        tag: "Flagship",
        summary: "Revoke the certification of an app on a device.",
        detail: """
            Its tokens of scope `*`, and what was opened with them, do not work until it is certified \
            anew, by its store or by a mailed code. To end them for good, delete the client.
            """,
        right: .realm, parameters: [.realm, installation, .idempotencyKey],
        answer: .written(.ok, "The app.", device, example: exampleDevice),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchClient]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try installation(of: call)
        let done = try await call.run(
            InstallationChange.revokeCertification(id, now: write.origin.at), as: write)
        let device = try await call.state(Client.self, of: id, after: done)
        return .json(.ok, json(device)).at(done)
    }

    private static func installation(of call: Call<AdminContext>) throws(Problem) -> UUID {
        guard let id = Hex.decode(try call.required("installation")).flatMap({ UUID(bytes: $0) })
        else { throw Problem(.noSuchClient) }
        return id
    }
}

extension DeviceHistoryRoutes {
    private static let device = Schema.named(
        "Device",
        .object(
            .required("client_id", .text(1...128), "OAuth client id."),
            .required("client_name", .text(0...200), "Display name of the installation."),
            .required("registered_at", Fields.time, "Registration time."),
            .required("let_in", .boolean, "Whether the owner confirmed the installation."),
            .optional(
                "certified_by", .oneOf(Certification.allCases.map(\.rawValue)),
                "Evidence that certified the app as genuine: an attestation service, or a mailed code."
            ),
            .optional("certified_at", Fields.time, "Certification time."),
            .optional("attestation", Fields.id, "Stream id of the attestation.")))

    private static let exampleDevice: JSON = [
        "client_id": "0193a0e75e0c800090002f6b1c1d9a10", "client_name": "Phone",
        "registered_at": "2026-11-21T01:23:45.123456Z", "let_in": true,
        "certified_by": "app_attest", "certified_at": "2026-11-21T01:23:45.000000Z",
        "attestation": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
    ]

    private static let entry = Schema.named(
        "DeviceHistoryEntry",
        .object(
            .required("position", Fields.position, "Position of the event in the realm's log."),
            .required("at", Fields.time, "Time of the event."),
            .required("type", .text(1...100), "Event type."),
            .required("stream", Fields.id, "Stream of the event."),
            .required("actor", .text(1...1000), "Actor that caused the event."),
            .required("fields", .openObject, "Fields of the event, without personal data.")))

    private static let exampleEntry: JSON = [
        "position": 42, "at": "2026-11-21T01:23:45.123456Z", "type": "client.certified",
        "stream": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10",
        "actor": "client:0193a0e75e0c800090002f6b1c1d9a10",
        "fields": ["by": "app_attest", "certified_at": 1_795_224_225],
    ]

    private static func json(_ device: StreamSnapshot<Client>) -> JSON {
        let client = device.state
        var members: JSONObject = [
            "client_id": .string(client.clientID),
            "client_name": .string(client.metadata?.clientName ?? ""),
            "registered_at": .string(device.createdAt.description),
            "let_in": .bool(client.isAdopted),
        ]
        members["certified_by"] = client.certification.map { .string($0.rawValue) }
        members["certified_at"] = client.certifiedAt.map { .string($0.description) }
        if client.certification != nil {
            members["attestation"] = client.attestation.map { .string($0.description) }
        }
        return .object(members)
    }

    private static func json(_ entry: AuditEntry) -> JSON {
        [
            "position": .integer(entry.position), "at": .string(entry.at.description),
            "type": .string(entry.type), "stream": .string(entry.stream.description),
            "actor": .string(entry.actor),
            "fields": .object(EventVisibility.open(entry.fields, of: entry.type)),
        ]
    }
}
