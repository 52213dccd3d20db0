internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The device grant: devices without a keyboard, which a user approves from elsewhere (RFC 8628).
enum DeviceRoutes {
    static let table: [Route<RealmContext>] = [
        request(path, id: "requestDevice"), request(longPath, id: "requestDeviceByLongName"),
        verify, show, decide,
    ]

    static let path = "/connect/device"
    /// The same endpoint under another path.
    static let longPath = "/connect/deviceauthorization"

    /// The page goes by a name beside the endpoints as well.
    private static let verify = Route<RealmContext>(
        .get, "/connect/verify", id: "verifyDevice", tag: "Pages",
        summary: "Redirects to the page where users type the code.", right: .nothing, voice: .page,
        parameters: [Parameter("user_code", in: .query, .text(0...64), "User code.")],
        answer: Answer(
            status: .seeOther, description: "To the page.", content: .nothing,
            headers: [("Location", "URL of the redirect.")]), refusals: Place.refusals
    ) { call throws(Problem) in
        let code = call.text("user_code") ?? ""
        return .seeOther(
            code.isEmpty
                ? WaitingDevice.page : "\(WaitingDevice.page)?\(Form.encode([("user_code", code)]))"
        )
    }

    private static func request(_ path: String, id: String) -> Route<RealmContext> {
        Route(
            .post, PathTemplate(stringLiteral: path), id: id, tag: "OAuth",
            summary: "Issues a device code, which the user enters elsewhere (RFC 8628).",
            right: .client, voice: .oauth,
            body: .form(
                .object(
                    ClientCredentials.members + [
                        .optional(
                            "scope", .text(1...2048), "Requested scopes, separated by spaces."),
                        .optional(
                            "resource", .list(of: .text(1...2048), 0...8),
                            "Resource servers of the tokens (RFC 8707)."),
                    ]), example: ["client_id": "television", "scope": "openid"]),
            answer: .ok(
                "The codes.",
                .object(
                    .required(
                        "device_code", .text(1...255),
                        "Device code that the device polls the token endpoint with."),
                    .required("user_code", .text(9...9), "User code that the person types."),
                    .required(
                        "verification_uri", .text(1...2048),
                        "URL at which the person types the user code."),
                    .required(
                        "verification_uri_complete", .text(1...2048),
                        "URL with the user code in it."),
                    .required(
                        "expires_in", .integer(1...3600), "Lifetime of the codes in seconds."),
                    .required(
                        "interval", .integer(1...60), "Minimum number of seconds between two polls."
                    )),
                example: [
                    "device_code": "urd_dc_…", "user_code": "WDJB-MJHT",
                    "verification_uri": "https://id.example.com/device",
                    "verification_uri_complete":
                        "https://id.example.com/device?user_code=WDJB-MJHT",
                    "expires_in": 600, "interval": 5,
                ]),
            refusals: Place.refusals + [
                .unauthorizedClient, .invalidScope, .invalidTarget, .rateLimited, .invalidProof,
                .nonceNeeded,
            ], traits: .consumesAssertion
        ) { call throws(Problem) in
            let client = try call.caller.client
            let counter = RateCounter(call)
            try counter.count(.deviceCode, client: counter.name(of: client))
            let request = try call.grantRequest(of: client)
            let (code, terms) = try await WaitingDevices(call).request(request)
            let address = call.context.place.issuer + WaitingDevice.page
            return .json(
                .ok,
                [
                    "device_code": .string(
                        call.context.mint.deviceCode(call.context.mint.device(code))),
                    "user_code": .string(code.text), "verification_uri": .string(address),
                    "verification_uri_complete": .string("\(address)?user_code=\(code.text)"),
                    "expires_in": .integer(terms.expiresAt.seconds - request.now.seconds),
                    "interval": .integer(DevicePolls.interval),
                ])
        }
    }

    private static let show = Route<RealmContext>(
        .get, "/api/account/device", id: "getWaitingDevice", tag: "Own account",
        summary: "Shows what a waiting device asks for.",
        detail: "For apps that sign people in themselves: no other token lets a device in.",
        right: .account, voice: .native,
        parameters: [
            Parameter(
                "user_code", in: .query, .text(1...64), required: true,
                "User code, as it was typed.",
                example: "WDJB-MJHT")
        ],
        answer: .ok("The device.", shape), refusals: refusals
    ) { call throws(Problem) in
        let (account, _) = try call.caller.signedIn
        let device = try await WaitingDevices(call).find(call.required("user_code"), for: account)
        return .native(.ok, shape.json(device))
    }

    private static let decide = Route<RealmContext>(
        .post, "/api/account/device", id: "decideWaitingDevice", tag: "Own account",
        summary: "Approves or denies a device.", right: .account, voice: .native,
        body: Body(
            schema: .object(
                .required("UserCode", .text(1...64), "User code, as it was typed."),
                .required("Approve", .boolean, "Whether the person approves the device.")),
            example: ["UserCode": "WDJB-MJHT", "Approve": true]),
        answer: .done("The decision is stored."),
        refusals: refusals
    ) { call throws(Problem) in
        let (account, session) = try call.caller.signedIn
        try await WaitingDevices(call).decide(
            call.body["UserCode"]?.string ?? "", isApproved: call.body["Approve"] == true,
            by: account, factors: session.terms.factors,
            signedInAt: session.terms.signedInAt, in: .session(session.id))
        return Response(status: .noContent)
    }

    private static let refusals =
        Place.refusals + [.noSuchDevice, .rateLimited, .invalidToken]

    private static let shape = Shape<WaitingDevice>(
        .required(
            "ClientId", .text(1...255), "OAuth client id.", \.terms.clientID, example: "television"),
        .optional(
            "ClientName", .text(1...200), "Display name of the client.", \.client?.clientName,
            example: "Television"),
        .optional("LogoUri", .text(1...2000), "URL of the client's logo.", \.client?.logoURI),
        .required(
            "Scopes", .list(of: .text(1...128), 0...100), "Scopes that the device requests.",
            \.terms.scope, example: ["openid"]),
        .required(
            "ExpiresAt", "Expiry time of the user code.", \.terms.expiresAt,
            example: "2026-11-21T01:33:45Z"))
}
