internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The devices on which a person is signed in.
enum FederatedDeviceRoutes {
    static let table: [Route<RealmContext>] = [list, disconnect]

    private static let list = Route<RealmContext>(
        .get, "/eduid/devices", id: "listFederatedDevices", tag: "Federation",
        summary: "Lists the devices on which the person is signed in.", right: .nothing,
        voice: .federation, parameters: FederatedPage.parameters,
        answer: Answer(
            status: .ok, description: "The devices.",
            content: .json(
                .list(of: FederatedDeviceView.schema, 0...FederatedPage.most),
                example: [FederatedDeviceView.example]),
            headers: [("Link", "URL of the next page, if there is one.")]),
        refusals: FederationPaths.refusals
    ) { call throws(Problem) in
        let caller = try await RequestAuthorization(call).caller(.person)
        let page = FederatedPage(call)
        let devices = try await FederatedDevices(call.context).list(of: try caller.account, page)
        var response = Response.json(
            .ok, .array(devices.items.map { $0.json(isOwn: $0.device == caller.token.device) }))
        if let (name, value) = page.link("/eduid/devices", to: devices.next) {
            response.headers.append(name, value)
        }
        return response
    }

    private static let disconnect = Route<RealmContext>(
        .delete, "/eduid/devices/{device}", id: "disconnectFederatedDevice", tag: "Federation",
        summary: "Signs the person out on one of their devices.",
        detail: "The person's token there ends, and all tokens that came of it.", right: .nothing,
        voice: .federation,
        parameters: [
            Parameter(
                "device", in: .path, .text(36...36, Names.uuid), "Device id.",
                example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
        ],
        answer: Answer(
            status: .noContent, description: "The device is signed out.", content: .nothing),
        refusals: FederationPaths.refusals + [.noSuchSession]
    ) { call throws(Problem) in
        let caller = try await RequestAuthorization(call).caller(.person)
        let device = try call.requiredID("device")
        guard
            try await FederatedDevices(call.context).disconnect(
                device, of: try caller.account, by: Commands(call), as: caller.commandCaller)
        else { throw Problem(.noSuchSession, "The person is not signed in on this device.") }
        return Response(status: .noContent)
    }
}

extension FederatedDeviceView {
    static let schema = Schema.object(
        .required("id", .text(36...36), "Device id."),
        .optional("name", .text(0...200), "Device name, as the device reports it."),
        .optional("type", .text(0...200), "Type of device."),
        .optional("os", .text(0...200), "Operating system of the device."),
        .required("client_id", .text(1...255), "Client id of the app's version."),
        .required(
            "signed_in_at", .integer(0...(1 << 53 - 1)), "Sign-in time, in seconds since 1970."),
        .required(
            "last_used_at", .integer(0...(1 << 53 - 1)),
            "Time of the last token refresh, in seconds since 1970."),
        .required("current", .boolean, "Whether it is the calling device."),
        .optional(
            "resting", .boolean, "Whether the tokens are suspended; they may become valid again."))

    static let example: JSON = [
        "id": "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10", "name": "Ann's phone",
        "client_id": "ch.eduid.app.1", "signed_in_at": 1_790_000_000,
        "last_used_at": 1_790_000_000, "current": true,
    ]

    func json(isOwn: Bool) -> JSON {
        var members: JSONObject = [
            "id": .string(device.description), "client_id": .string(version),
            "signed_in_at": .integer(signedInAt.seconds),
            "last_used_at": .integer(lastUsedAt.seconds), "current": .bool(isOwn),
        ]
        if rests { members["resting"] = true }
        members["name"] = name.map { .string($0) }
        members["type"] = type.map { .string($0) }
        members["os"] = system.map { .string($0) }
        return .object(members)
    }
}
