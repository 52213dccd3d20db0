import API
import EventSourcing
import Identity
import JSON
import ReadModels
import Values

/// The read models, folded from the log for each question.
struct MemoryQueries: RealmQueries, LogProofQueries {
    let log: WatchedLog
    let signals = MemorySignals()

    func ask<Input, Answer>(
        _ question: Question<Input, Answer>, _ input: Input, in realm: RealmID
    ) async throws(LogFailure) -> Answer {
        try await Self.answers.ask(question, input, in: realm, self)
    }

    func advance(
        _ token: UUID, to sequence: Int64, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        throw .unavailable
    }

    func remember(
        _ digest: [UInt8], of token: UUID, most: Int32, lasts: Bool, in realm: RealmID
    ) async throws(LogFailure) -> Bool {
        throw .unavailable
    }

    /// There is no replay guard.
    func line(
        of session: UUID, signing sequence: Int64, in realm: RealmID,
        isRight: @escaping @Sendable (SessionView) -> Bool
    ) async throws(LogFailure) -> SessionLine? {
        throw .unavailable
    }
}

extension MemoryQueries {
    func adminKeys() async throws(LogFailure) -> [AdminKeyView] {
        try await streams(AdminKey.self, named: "admin_key.created", in: .system).map { key in
            AdminKeyView(
                id: key.stream, name: key.state.name, digest: key.state.digest?.bytes ?? [],
                scope: key.state.scope, permissions: key.state.permissions, createdAt: key.first,
                revokedAt: key.state.isRevoked ? key.last : nil)
        }
    }

    func realm(_ realm: RealmID) async throws(LogFailure) -> RealmView? {
        let folded = try await streams(Realm.self, named: "realm.created", in: realm)
        return folded.first.map { found in
            RealmView(
                realm: realm, isDisabled: found.state.isDisabled,
                settings: found.state.settings.overrides, createdAt: found.first)
        }
    }

    func hosts(of realm: RealmID) async throws(LogFailure) -> [HostView] {
        let folded = try await streams(Host.self, named: "host.assigned", in: .system)
        return folded.filter { $0.state.realm == realm }.map { host in
            HostView(host: host.state.name, realm: realm, assignedAt: host.last)
        }
    }

    func apps(_ realm: RealmID) async throws(LogFailure) -> [AppView] {
        let folded = try await streams(App.self, named: "app.created", in: realm)
        return folded.filter { !$0.state.isDeleted }.map { app in
            AppView(
                id: app.stream, slug: app.state.slug, name: app.state.name,
                settings: app.state.settings.overrides, createdAt: app.first)
        }
    }

    func settings(
        ofApp app: UUID, in realm: RealmID
    ) async throws(LogFailure) -> Settings? {
        let settings = try await fold(Realm.self, Realm.stream, realm).settings
        let face = try await fold(App.self, app, realm)
        return face.isDeleted ? settings : settings.overlaid(by: face.settings)
    }

    func history(
        of asked: (installation: UUID, attestation: UUID?, after: Int64, limit: Int),
        in realm: RealmID
    ) async throws(LogFailure) -> [AuditEntry] {
        let clientID = Installation.clientID(of: asked.installation)
        let actor = "client:\(clientID)"
        let streams = [
            asked.installation, AppKey.stream(of: asked.installation), asked.attestation,
        ]
        return Array(
            try await log.events(from: asked.after + 1, limit: .max, in: realm).filter {
                streams.contains($0.stream) || $0.actor == actor
                    || ($0.name.hasPrefix("session.") && $0.open["client_id"] == .string(clientID))
            }.prefix(asked.limit).map {
                AuditEntry(
                    position: $0.position, at: $0.at, type: $0.name, stream: $0.stream,
                    actor: $0.actor, fields: $0.open)
            })
    }

    func webApps(_ realm: RealmID) async throws(LogFailure) -> [WebAppView] {
        try await streams(WebApp.self, named: "web_app.registered", in: realm).compactMap { app in
            guard !app.state.isRemoved, let card = app.state.card else { return nil }
            return WebAppView(id: app.stream, card: card, createdAt: app.first)
        }
    }

    func subscriptions(_ realm: RealmID) async throws(LogFailure) -> [SubscriptionView] {
        let folded = try await streams(
            Subscription.self, named: "subscription.created", in: realm)
        return folded.filter { $0.state.standing != .deleted }.map { one in
            SubscriptionView(
                id: one.stream, kind: one.state.kind, terms: one.state.terms,
                headerNames: one.state.terms.headers.keys.sorted(), standing: one.state.standing,
                createdAt: one.first, changedAt: one.last, version: 1, slot: one.state.slot)
        }
    }

    func clients(_ realm: RealmID) async throws(LogFailure) -> [ClientView] {
        let folded = try await streams(Client.self, named: "client.registered", in: realm)
        return folded.filter { !$0.state.isDeleted }.map { client in
            var metadata = client.state.metadata?.members ?? [:]
            metadata["contacts"] = nil
            return ClientView(
                id: client.stream, clientID: client.state.clientID, metadata: metadata,
                isDisabled: client.state.isDisabled, issuedAt: client.first)
        }
    }

    func knownClient(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> KnownClient? {
        log.countLookup()
        for event in try await log.events(from: 1, limit: .max, in: realm)
        where event.open["client_id"]?.string == clientID && event.name == "client.registered" {
            let client = try await fold(Client.self, event.stream, realm)
            guard let metadata = client.metadata, !client.isDeleted else { continue }
            return KnownClient(
                id: event.stream, metadata: metadata, secret: client.secret,
                isDisabled: client.isDisabled)
        }
        return nil
    }

    func invites(_ realm: RealmID) async throws(LogFailure) -> [InviteView] {
        try await streams(Invite.self, named: "invite.created", in: realm).compactMap { invite in
            guard !invite.state.isRevoked, let terms = invite.state.terms else { return nil }
            return InviteView(
                id: invite.stream, terms: terms, createdAt: invite.first,
                usedAt: invite.state.usedAt)
        }
    }

    func registrationTokens(
        _ realm: RealmID
    ) async throws(LogFailure) -> [RegistrationTokenView] {
        try await streams(
            RegistrationToken.self, named: "registration_token.created", in: realm
        ).compactMap { token in
            guard !token.state.isRevoked, let terms = token.state.terms else { return nil }
            return RegistrationTokenView(
                id: token.stream, terms: terms, used: token.state.used, createdAt: token.first)
        }
    }

    func auditTrail(
        of realm: RealmID, _ asked: AuditPage
    ) async throws(LogFailure) -> [AuditEntry] {
        let (selection, position, limit) = asked
        let isNewest = selection.isNewestFirst
        let from = isNewest ? 1 : (position ?? 0) + 1
        let found = try await log.events(from: from, limit: .max, in: realm).filter { event in
            (!isNewest || event.position < position ?? .max)
                && selection.actor.map { $0 == event.actor } ?? true
                && selection.stream.map { $0 == event.stream } ?? true
                && selection.type.map { event.name == $0 || event.name.hasPrefix($0 + ".") } ?? true
                && selection.since.map { event.at >= $0 } ?? true
                && selection.until.map { event.at < $0 } ?? true
        }
        return (isNewest ? found.reversed() : found).prefix(limit).map { event in
            AuditEntry(
                position: event.position, at: event.at, type: event.name, stream: event.stream,
                actor: event.actor, client: event.client, correlation: event.correlation,
                fields: event.open)
        }
    }

    func appMethods(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [AppMethodView] {
        let events = try await log.events(from: 1, limit: .max, in: realm)
        var found: [AppMethodView] = []
        for owner in Set(events.filter { $0.name.hasPrefix("app_method.") }.map(\.stream)) {
            for event in events where event.stream == owner {
                switch TenantMethodEvent(event) {
                case .keyEnrolled(let key, account, let client, _)?:
                    found.append(
                        AppMethodView(
                            owner: owner, key: key.id, account: account, client: client,
                            method: key.method, enrolledAt: key.enrolledAt))
                case .pinSet(_, account, let client, let at, _)?:
                    found.removeAll { $0.owner == owner && $0.key == nil }
                    found.append(
                        AppMethodView(
                            owner: owner, key: nil, account: account, client: client, method: .pin,
                            enrolledAt: at))
                case .keyRemoved(let key, account, _)?: found.removeAll { $0.key == key }
                case .pinRemoved(account, _)?:
                    found.removeAll { $0.owner == owner && $0.key == nil }
                default: break
                }
            }
        }
        return found
    }

    func consent(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> ConsentView? {
        try await fold(Consent.self, id, realm).given.map { ConsentView(id: id, given: $0) }
    }

    func consents(
        of account: UUID, in realm: RealmID
    ) async throws(LogFailure) -> [ConsentView] {
        var found: [ConsentView] = []
        let events = try await log.events(from: 1, limit: .max, in: realm)
        for id in Set(events.filter { $0.name == "consent.given" }.map(\.stream)) {
            guard let view = try await consent(id, in: realm), view.given.account == account
            else { continue }
            found.append(view)
        }
        return found.sorted { $0.id < $1.id }
    }
}

/// The log of the server, as far as the routes have to know.
extension MemoryQueries {
    func checkpoint(of realm: RealmID) async throws(LogFailure) -> [UInt8]? {
        let head = try await log.head(of: realm)
        return head.position == 0 ? nil : Array("urd.example/\(realm)\n\(head.position)\n".utf8)
    }

    func inclusionProof(
        of position: Int64, in realm: RealmID
    ) async throws(LogFailure) -> InclusionView? {
        let head = try await log.head(of: realm)
        guard head.position >= position, let note = try await checkpoint(of: realm) else {
            return nil
        }
        return InclusionView(
            position: position, record: Array("{}".utf8),
            path: [Array(repeating: 9, count: 32)], checkpoint: note)
    }

    func records(
        at positions: ClosedRange<Int64>, of realm: RealmID
    ) async throws(LogFailure) -> [[UInt8]] {
        try log.check()
        return positions.map { Array("{\"record\":\($0)}".utf8) }
    }

    func tile(
        level: Int, index: Int64, width: Int, of realm: RealmID
    ) async throws(LogFailure) -> [UInt8]? {
        try log.check()
        guard level == 0, index == 0 else { return nil }
        return Array(repeating: 1, count: 32 * width)
    }
}

extension MemoryQueries {
    struct Stream<State: StreamState>: Sendable {
        let stream: UUID
        var state = State()
        let first: Timestamp
        var last: Timestamp
    }

    func streams<State: StreamState>(
        _ type: State.Type, named first: String, in realm: RealmID
    ) async throws(LogFailure) -> [Stream<State>] {
        var found: [UUID: Stream<State>] = [:]
        for event in try await log.events(from: 1, limit: .max, in: realm) {
            if event.name == first, found[event.stream] == nil {
                found[event.stream] = Stream(
                    stream: event.stream, first: event.at, last: event.at)
            }
            guard found[event.stream] != nil else { continue }
            guard let known = State.Event(event) else { throw .damaged }
            found[event.stream]?.state.apply(known)
            found[event.stream]?.last = event.at
        }
        return found.values.sorted { $0.stream < $1.stream }
    }

    func page<Item: Sendable, ID: Comparable>(
        _ items: [Item], of realm: RealmID, _ asked: (after: ID?, limit: Int), id: (Item) -> ID
    ) async throws(LogFailure) -> ListPage<Item> {
        let sorted = items.sorted { id($0) < id($1) }
        let wanted = asked.after.map { after in sorted.filter { id($0) > after } } ?? sorted
        return try await listed(Array(wanted.prefix(asked.limit)), of: realm)
    }
}
