public import EventSourcing
public import Identity
internal import JSON
internal import ReadModels
public import Values

/// Brings a notification to the devices of its reader: to apps of their own first, then to the one app
/// that has everything. What becomes of it where none takes it is not decided here.
public struct NotificationDelivery: Sendable {
    private let events: any EventLog
    private let queries: any RealmQueries
    private let courier: PushCourier
    private let now: @Sendable () -> Timestamp

    /// Devices that are asked by one route.
    static let most = 10

    public init(
        events: any EventLog, queries: any RealmQueries, courier: PushCourier,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.events = events
        self.queries = queries
        self.courier = courier
        self.now = now
    }

    /// What is to be put on record.
    public struct Attempt: Sendable {
        public let outcome: RecordNotification.Outcome
        /// Devices that are unknown to their provider.
        public let gone: [DropDeviceToken]
    }

    /// Nil where the notification needs no attempt any more.
    public func attempt(
        _ id: UUID, in realm: RealmID
    ) async throws(LogFailure) -> Attempt? {
        let notification = try await fold(Notification.self, id, realm)
        guard let terms = notification.terms, notification.status == .due else { return nil }
        let account = try await fold(Account.self, terms.account, realm)
        guard let content = notification.content, !account.isDisabled, !account.isDeleted,
            !(try await fold(Realm.self, Realm.stream, realm).isDisabled)
        else { return Attempt(outcome: .pointless, gone: []) }
        guard terms.wantsPush else {
            return Attempt(outcome: .refusedForGood(code: 0), gone: [])
        }
        let providers = try await fold(PushProviders.self, PushProviders.stream, realm)
        let message = PushMessage(id, terms, content, now: now())
        var round = Round(providers: providers, realm: realm)
        for (route, devices) in try await devices(of: terms.account, realm) {
            let shown = route == .flagship ? message.amongOthers(terms) : message
            let took = await push(shown, to: devices, &round)
            guard took.isEmpty else {
                return Attempt(outcome: .pushed(route, took), gone: round.gone)
            }
        }
        return Attempt(outcome: round.outcome, gone: round.gone)
    }

    /// What was heard of the devices of all routes.
    private struct Round {
        let providers: PushProviders
        let realm: RealmID
        var asked: Set<String> = []
        var gone: [DropDeviceToken] = []
        var code = 0
        var mayTryAgain = false
        var pause: Int64?

        var outcome: RecordNotification.Outcome {
            mayTryAgain ? .refusedForNow(code: code, pause: pause) : .refusedForGood(code: code)
        }

        mutating func note(_ verdict: PushVerdict, of device: PushDevice) {
            switch verdict {
            case .taken: break
            case .gone(let code):
                self.code = code
                gone.append(
                    DropDeviceToken(
                        installation: device.client, token: device.token,
                        consequence: device.kind == .firebase ? .installationGoes : .tokenGoes))
            case .refused(let code): self.code = code
            case .later(let code, let pause):
                self.code = code
                mayTryAgain = true
                self.pause = max(self.pause ?? 0, pause ?? 0)
            }
        }
    }

    /// The installations that accepted the notification.
    private func push(
        _ message: PushMessage, to devices: [PushDevice], _ round: inout Round
    ) async -> [UUID] {
        var took: [UUID] = []
        var left = Self.most
        for device in devices where left > 0 && !round.asked.contains(device.token) {
            round.asked.insert(device.token)
            left -= 1
            let verdict = await courier.push(
                message, to: device, by: round.providers, in: round.realm)
            round.note(verdict, of: device)
            if verdict == .taken { took.append(device.client) }
        }
        return took
    }

    /// Newest first: of many devices of one person the oldest lie in a drawer.
    private func devices(
        of account: UUID, _ realm: RealmID
    ) async throws(LogFailure) -> [(NotificationRoute, [PushDevice])] {
        var (dedicated, flagship): ([PushDevice], [PushDevice]) = ([], [])
        let open = try await openThings(of: account, realm)
        for id in try await queries.ask(ClientView.installations, in: realm).map(\.id).reversed() {
            let client = try await fold(Client.self, id, realm)
            guard client.isAdopted, !client.isDisabled, !client.isDeleted,
                let metadata = client.metadata, metadata.isInstallation,
                let device = PushDevice(id, metadata), try await isStanding(open[id], realm)
            else { continue }
            if client.certification == nil {
                dedicated.append(device)
            } else {
                flagship.append(device)
            }
        }
        return [(.dedicated, dedicated), (.flagship, flagship)]
    }

    /// What a person has open in each installation: sessions of it, and web views that it opened. What a web
    /// app of it was given says nothing of the installation.
    private func openThings(
        of account: UUID, _ realm: RealmID
    ) async throws(LogFailure) -> [UUID: [Opener]] {
        var open: [UUID: [Opener]] = [:]
        let sessions = try await queries.sessions(of: account, in: realm, at: now()) {
            $0.terms.exchange == nil
        }
        for session in sessions {
            open[session.terms.client, default: []].append(Opener(session: session.id))
        }
        for view in try await queries.browserSessions(of: account, in: realm, at: now()) {
            guard let id = view.terms.opener?.installation else { continue }
            open[id, default: []].append(Opener(browser: view.id))
        }
        return open
    }

    /// Whether any of it is good still, as at every request that shows a token or a cookie of it.
    private func isStanding(_ open: [Opener]?, _ realm: RealmID) async throws(LogFailure) -> Bool {
        let streams = LogStreams(events: events, realm: realm)
        for thing in open ?? [] {
            if try await thing.isStanding(at: now(), from: streams) { return true }
        }
        return false
    }

    private func fold<State: StreamState>(
        _ type: State.Type, _ stream: UUID, _ realm: RealmID
    ) async throws(LogFailure) -> State {
        try await LogStreams(events: events, realm: realm).read(type, stream).state
    }
}

/// Streams as they are now, for who decides nothing.
private struct LogStreams: StreamReader {
    let events: any EventLog
    let realm: RealmID

    func read<State: StreamState>(
        _ type: State.Type, _ stream: UUID
    ) async throws(LogFailure) -> Versioned<State> {
        var (state, version) = (State(), 0)
        for recorded in try await events.stream(stream, after: 0, in: realm) {
            guard let event = State.Event(recorded) else { throw .damaged }
            state.apply(event)
            version = recorded.version
        }
        return Versioned(stream: stream, version: version, state: state)
    }
}
