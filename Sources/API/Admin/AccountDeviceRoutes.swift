internal import EventSourcing
internal import HTTP
internal import Identity
internal import JSON
internal import ReadModels
internal import Values

/// The devices of the federation profile on which people are signed in.
enum AccountDeviceRoutes {
    static let table: [Route<AdminContext>] = [list]

    private static let list = Route.whole(
        "/api/admin/realms/{realm}/accounts/{account_id}/devices", id: "listAccountDevices",
        commandLine: .urd("account devices", examples: "urd account devices ann@example.org"),
        tag: "Accounts",
        summary:
            "List the devices on which a person is signed in, in a realm of the federation profile.",
        detail: """
            What people call their devices is theirs and not shown. To end one of the `sessions` \
            (`urd account end-session`) ends all that the device and its services have by it. Apps on \
            owners' devices are in another list (`urd device list`).
            """,
        parameters: [AccountRoutes.accountID], of: shape, 0...10_000, "The devices.",
        refusals: [.noSuchAccount]
    ) { call throws(Problem) in
        let account = try await call.knownAccount().id
        let realm = try call.realm
        let (queries, now) = (call.context.queries, call.context.time.now(in: realm))
        let sessions = try await reading { () throws(LogFailure) in
            try await queries.sessions(of: account, in: realm, at: now) {
                $0.terms.federation?.holder == .person
            }
        }
        var devices: [(id: UUID, sessions: [OpenSessionView])] = []
        for session in sessions {
            let isAlive = try await reading { () throws(LogFailure) in
                try await queries.isAlive(below: session.terms, in: realm, at: now)
            }
            guard isAlive, let device = session.terms.federation?.device else { continue }
            if let index = devices.firstIndex(where: { $0.id == device }) {
                devices[index].sessions.append(session)
            } else {
                devices.append((device, [session]))
            }
        }
        var items: [ShownDevice] = []
        for device in devices {
            let terms = try await call.state(FederatedDevice.self, of: device.id, in: realm).state
                .terms
            items.append((device.id, device.sessions, terms))
        }
        return items
    }

    private typealias ShownDevice = (
        id: UUID, sessions: [OpenSessionView], terms: FederatedDeviceTerms?
    )

    private static let shape = Shape<ShownDevice>(
        "AccountDevice",
        .required("id", "Device id.", \.id),
        .required(
            "client_id", .text(1...255), "Client id of the app's version on the device.",
            { $0.sessions.first?.terms.clientID ?? "" }, example: "ch.eduid.app.1"),
        .optional(
            "type", .text(0...200), "Type of device, as the app reported it.", \.terms?.type,
            example: "phone"),
        .optional(
            "os", .text(0...200), "Operating system, as the app reported it.", \.terms?.system,
            example: "iOS 19"),
        .required(
            "sessions", .list(of: Fields.id, 1...10_000),
            "Ids of the account's sessions on the device.", { $0.sessions.map(\.id) },
            example: ["0193a0e7-5e0c-7000-9000-2f6b1c1d9a15"]),
        .required(
            "signed_in_at", Fields.time, "Time of the sign-in on the device.",
            { $0.sessions.map(\.openedAt).min()?.json ?? .null }, example: Timestamp.example),
        .required(
            "last_used_at", Fields.time, "Time of the last token refresh.",
            { $0.sessions.map(\.lastUsedAt).max()?.json ?? .null }, example: Timestamp.example))
}

extension QuestionPort {
    /// The open sessions of an account. A token of the federation profile is over with any that it stands below,
    /// and has no event that says so.
    func livingSessions(
        of account: UUID, in realm: RealmID, at now: Timestamp, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [OpenSessionView] {
        var (found, last): ([OpenSessionView], UUID?) = ([], after)
        while found.count < limit {
            let page = try await ask(
                OpenSessionView.ofAccount, (account, now, last, limit), in: realm)
            for session in page {
                if try await isAlive(below: session.terms, in: realm, at: now) {
                    found.append(session)
                }
            }
            guard page.count == limit, let next = page.last?.id else { break }
            last = next
        }
        return Array(found.prefix(limit))
    }

    fileprivate func isAlive(
        below terms: SessionTerms, in realm: RealmID, at now: Timestamp
    ) async throws(LogFailure) -> Bool {
        for superior in terms.federation?.superiors ?? [] {
            guard
                let above = try await ask(SessionLine.bySession, superior, in: realm)?.session,
                !above.isOver,
                now < above.terms.expiresAt
            else { return false }
        }
        return true
    }
}
