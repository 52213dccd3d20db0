internal import EventSourcing
internal import Identity
internal import ReadModels
internal import Values

/// A device as its person sees it.
struct FederatedDeviceView: Sendable {
    let device: UUID
    let version: String
    let name: String?
    let type: String?
    let system: String?
    let signedInAt: Timestamp
    var lastUsedAt: Timestamp
    /// No token there is good now, and some may be again.
    var rests: Bool
}

/// Looks up the devices of people.
struct FederatedDevices {
    private let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// Those on which a person is signed in, as the sessions say that are not over: a page of them, those first on
    /// which the person signed in last. One with more sign-ins than one may come again on a later page.
    func list(
        of account: UUID, _ page: FederatedPage
    ) async throws(Problem) -> FederatedPage.Items<FederatedDeviceView> {
        let held = try await RealmLookups(context).heldSessions(of: account, page) { session in
            session.terms.federation?.holder == .person
                && session.terms.federation?.device != nil
        }
        var order: [UUID] = []
        var found: [UUID: [OpenSessionView]] = [:]
        for session in held.items {
            guard let device = session.terms.federation?.device else { continue }
            if found[device] == nil { order.append(device) }
            found[device, default: []].append(session)
        }
        let all = found
        let views = try await RealmLookups(context).each(order) {
            device throws(Problem) -> FederatedDeviceView? in
            let sessions = try await RealmLookups(context).lasting(all[device] ?? [])
            guard let first = sessions.first else { return nil }
            var rests = true
            for session in sessions where rests {
                rests = try await context.live(session.id) == nil
            }
            let terms = try await terms(of: device, account)
            return FederatedDeviceView(
                device: device, version: first.terms.clientID, name: terms?.name,
                type: terms?.type, system: terms?.system, signedInAt: first.openedAt,
                lastUsedAt: sessions.map(\.lastUsedAt).max() ?? first.lastUsedAt, rests: rests)
        }
        return FederatedPage.Items(items: views.compactMap { $0 }, next: held.next)
    }

    /// The sessions of a person that such tokens are of, and that are not over.
    func sessions(
        of account: UUID, _ holder: FederatedHolder, on device: UUID? = nil
    ) async throws(Problem) -> [OpenSessionView] {
        try await RealmLookups(context).openSessions(of: account) { session in
            session.terms.federation?.holder == holder
                && (device == nil || session.terms.federation?.device == device)
        }
    }

    /// Signs the person out on one of them. False where the person is not signed in on the device.
    func disconnect(
        _ device: UUID, of account: UUID, by commands: Commands, as caller: Commands.Caller
    ) async throws(Problem) -> Bool {
        guard try await !sessions(of: account, .person, on: device).isEmpty else { return false }
        // An account that is gone has no session any more.
        _ = try await commands.attempt(RemoveAccess(of: account, at: .device(device)), as: caller)
        return true
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
