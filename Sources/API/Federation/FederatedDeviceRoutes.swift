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
                .list(of: shape.schema, 0...FederatedPage.most), example: [shape.example]),
            headers: [("Link", "URL of the next page, if there is one.")]),
        refusals: FederationPaths.refusals
    ) { call throws(Problem) in
        let caller = try await RequestAuthorization(call).caller(.person)
        let page = FederatedPage(call)
        let devices = try await FederatedDevices(call.context).list(of: try caller.account, page)
        var response = Response.json(
            .ok,
            .array(
                devices.items.map { shape.json(($0, isOwn: $0.device == caller.token.device)) }))
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
        answer: .done("The device is signed out."),
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

    private static let shape = Shape<(device: FederatedDeviceView, isOwn: Bool)>(
        .required("id", .text(36...36), "Device id.", \.device.device, example: UUID.example),
        .optional(
            "name", .text(0...200), "Device name, as the device reports it.", \.device.name,
            example: "Ann's phone"),
        .optional("type", .text(0...200), "Type of device.", \.device.type),
        .optional("os", .text(0...200), "Operating system of the device.", \.device.system),
        .required(
            "client_id", .text(1...255), "Client id of the app's version.", \.device.version,
            example: "ch.eduid.app.1"),
        .required(
            "signed_in_at", .integer(0...(1 << 53 - 1)), "Sign-in time, in seconds since 1970.",
            \.device.signedInAt.seconds, example: 1_790_000_000),
        .required(
            "last_used_at", .integer(0...(1 << 53 - 1)),
            "Time of the last token refresh, in seconds since 1970.", \.device.lastUsedAt.seconds,
            example: 1_790_000_000),
        .required("current", "Whether it is the calling device.", \.isOwn),
        .optional(
            "resting", "Whether the tokens are suspended; they may become valid again.",
            { $0.device.rests ? true : nil }))
}
