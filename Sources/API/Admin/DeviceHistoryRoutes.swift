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

    private static let list = Route.list(
        "/api/admin/realms/{realm}/devices", id: "listDevices",
        commandLine: .urd("device list", examples: "urd device list --realm flagship"),
        tag: "Flagship", summary: "List the apps on devices that registered themselves.",
        permission: .historyRead, parameters: [], of: device, by: .id(\.id)
    ) { call, page throws(Problem) in
        let standing = try await call.standing()
        let ids = try await call.context.ask(ClientView.installations, (), in: page.realm).map(\.id)
        var devices: [KnownDevice] = []
        for id in ids.sorted() where id > page.after ?? .zero && devices.count < page.limit {
            devices.append((id, try await call.state(Client.self, of: id, in: page.realm)))
        }
        return ListPage(devices, at: standing)
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
        answer: LogLists.answer("DeviceHistory", of: entry),
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
        let items = try await call.context.ask(
            AuditEntry.ofInstallation, (id, client.attestation, place.position, call.limit + 1),
            in: realm)
        return place.page(call.limit, of: items, item: entry.json, position: \.position)
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
        answer: .written(.ok, "The app.", device),
        refusals: [.noSuchRealm, .realmDisabled, .noSuchClient]
    ) { call throws(Problem) in
        let write = call.write(in: try call.realm)
        let id = try installation(of: call)
        let done = try await call.run(
            InstallationChange.revokeCertification(id, now: write.origin.at), as: write)
        let client = try await call.state(Client.self, of: id, after: done)
        return .json(.ok, device.json((id, client))).at(done)
    }

    private static func installation(of call: Call<AdminContext>) throws(Problem) -> UUID {
        guard let id = Hex.decode(try call.required("installation")).flatMap({ UUID(bytes: $0) })
        else { throw Problem(.noSuchClient) }
        return id
    }
}

extension DeviceHistoryRoutes {
    private typealias KnownDevice = (id: UUID, client: StreamSnapshot<Client>)

    private static let device = Shape<KnownDevice>(
        "Device",
        .required(
            "client_id", .text(1...128), "OAuth client id.", \.client.state.clientID,
            example: "0193a0e75e0c800090002f6b1c1d9a10"),
        .required(
            "client_name", .text(0...200), "Display name of the installation.",
            { $0.client.state.metadata?.clientName ?? "" }, example: "Phone"),
        .required("registered_at", "Registration time.", \.client.createdAt),
        .required(
            "let_in", "Whether the owner confirmed the installation.", \.client.state.isAdopted),
        .optional(
            "certified_by", .oneOf(Certification.allCases.map(\.rawValue)),
            "Evidence that certified the app as genuine: an attestation service, or a mailed code.",
            \.client.state.certification?.rawValue, example: "app_attest"),
        .optional(
            "certified_at", "Certification time.", \.client.state.certifiedAt,
            example: "2026-11-21T01:23:45.000000Z"),
        .optional(
            "attestation", "Stream id of the attestation.",
            { $0.client.state.certification == nil ? nil : $0.client.state.attestation },
            example: UUID.example))

    private static let entry = Shape<AuditEntry>(
        "DeviceHistoryEntry",
        .required(
            "position", Fields.position, "Position of the event in the realm's log.", \.position,
            example: 42),
        .required("at", "Time of the event.", \.at),
        .required(
            "type", .text(1...100), "Event type.", \.type,
            example: .string(ClientEvent.Form.certified.name)),
        .required("stream", "Stream of the event.", \.stream),
        .required(
            "actor", .text(1...1000), "Actor that caused the event.", \.actor,
            example: "client:0193a0e75e0c800090002f6b1c1d9a10"),
        .required(
            "fields", .openObject, "Fields of the event, without personal data.",
            { EventVisibility.open($0.fields, of: $0.type) },
            example: ["by": "app_attest", "certified_at": 1_795_224_225]))
}
