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
        voice: .federation,
        answer: .ok(
            "The devices.", .list(of: FederatedDeviceView.schema, 0...200),
            example: [FederatedDeviceView.example]),
        refusals: FederationPaths.refusals
    ) { call throws(Problem) in
        let caller = try await RequestAuthorization(call).caller(.person)
        let devices = try await FederatedDevices(call.context).list(of: try caller.account)
        return .json(.ok, .array(devices.map { $0.json(isOwn: $0.device == caller.token.device) }))
    }

    private static let disconnect = Route<RealmContext>(
        .delete, "/eduid/devices/{device}", id: "disconnectFederatedDevice", tag: "Federation",
        summary: "Signs the person out on one of their devices.",
        detail: "The person's token there ends, and all tokens that came of it.", right: .nothing,
        voice: .federation,
        parameters: [
            Parameter(
                "device", in: .path, .text(36...36, Names.uuid), "The device.",
                example: "0193a0e7-5e0c-8000-9000-2f6b1c1d9a10")
        ],
        answer: Answer(status: .noContent, description: "It is over.", content: .nothing),
        refusals: FederationPaths.refusals + [.noSuchSession]
    ) { call throws(Problem) in
        let caller = try await RequestAuthorization(call).caller(.person)
        let device = try call.requiredID("device")
        let account = try caller.account
        let devices = try await FederatedDevices(call.context).list(of: account)
        guard let found = devices.first(where: { $0.device == device }) else {
            throw Problem(.noSuchSession, "The person is not signed in on this device.")
        }
        for session in found.sessions {
            // One that is not found is over.
            _ = try await Commands(call).attempt(
                EndSession(session: session, reason: .revoked, of: account),
                as: caller.commandCaller)
        }
        return Response(status: .noContent)
    }
}

/// A device as its person sees it.
struct FederatedDeviceView: Sendable {
    let device: UUID
    /// The person's sessions on it.
    var sessions: [UUID]
    let version: String
    let name: String?
    let type: String?
    let system: String?
    let signedInAt: Timestamp
    var lastUsedAt: Timestamp

    static let schema = Schema.object(
        .required("id", .text(36...36), "Names the device."),
        .optional("name", .text(0...200), "What it calls itself."),
        .optional("type", .text(0...200), "What kind it is."),
        .optional("os", .text(0...200), "What it runs on."),
        .required("client_id", .text(1...255), "The app's version."),
        .required("signed_in_at", .integer(0...(1 << 53 - 1)), "Since when."),
        .required("last_used_at", .integer(0...(1 << 53 - 1)), "When a token was last refreshed."),
        .required("current", .boolean, "Whether it is the one that asks."))

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
        members["name"] = name.map { .string($0) }
        members["type"] = type.map { .string($0) }
        members["os"] = system.map { .string($0) }
        return .object(members)
    }
}

/// Looks up the devices of people.
struct FederatedDevices {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// Those on which a person is signed in, as the sessions say that are alive.
    func list(of account: UUID) async throws(Problem) -> [FederatedDeviceView] {
        var found: [FederatedDeviceView] = []
        for session in try await sessions(of: account, .person) {
            guard let device = session.terms.federation?.device else { continue }
            if let index = found.firstIndex(where: { $0.device == device }) {
                found[index].sessions.append(session.id)
                found[index].lastUsedAt = max(found[index].lastUsedAt, session.lastUsedAt)
                continue
            }
            let terms = try await terms(of: device, account)
            found.append(
                FederatedDeviceView(
                    device: device, sessions: [session.id],
                    version: session.terms.clientID, name: terms?.name, type: terms?.type,
                    system: terms?.system, signedInAt: session.openedAt,
                    lastUsedAt: session.lastUsedAt))
        }
        return found
    }

    /// The living sessions of a person that such tokens are of.
    func sessions(
        of account: UUID, _ holder: FederatedHolder
    ) async throws(Problem) -> [OpenSessionView] {
        try await RealmLookups(context).openSessions(of: account).filter {
            $0.terms.federation?.holder == holder
        }
    }

    /// What the device said of itself when the person signed in on it last.
    private func terms(
        of device: UUID, _ account: UUID
    ) async throws(Problem) -> FederatedDeviceTerms? {
        for event in try await RealmLookups(context).events(of: device).reversed() {
            if case .signedIn(account, _, _, let terms) = FederatedDeviceEvent(event) {
                return terms
            }
        }
        return nil
    }
}
