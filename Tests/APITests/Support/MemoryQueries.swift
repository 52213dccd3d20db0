import API
import EventSourcing
import Identity
import JSON
import ReadModels
import Values

/// The queries of the admin API, answered by folding the log each time.
struct MemoryQueries: AdminQueries, LogProofQueries, Folding {
    let log: WatchedLog

    func adminKey(_ id: UUID) async throws(LogFailure) -> AdminKeyView? {
        try await adminKeys(after: nil, limit: .max).first { $0.id == id }
    }

    func adminKeys(after: UUID?, limit: Int) async throws(LogFailure) -> ListPage<AdminKeyView> {
        let folded = try await streams(AdminKey.self, named: "admin_key.created", in: .system)
        let views = folded.map { key in
            AdminKeyView(
                id: key.stream, name: key.state.name, digest: key.state.digest?.bytes ?? [],
                scope: key.state.scope, permissions: key.state.permissions, createdAt: key.first,
                revokedAt: key.state.isRevoked ? key.last : nil)
        }
        return try await page(views, of: .system, after: after, limit: limit, id: \.id)
    }

    func realm(_ realm: RealmID) async throws(LogFailure) -> RealmView? {
        let folded = try await streams(Realm.self, named: "realm.created", in: realm)
        return folded.first.map { found in
            RealmView(
                realm: realm, isDisabled: found.state.isDisabled,
                settings: found.state.settings.overrides, createdAt: found.first)
        }
    }

    func realms(after: String?, limit: Int) async throws(LogFailure) -> ListPage<RealmView> {
        var views: [RealmView] = []
        for id in log.realms where after.map({ id.name > $0 }) ?? true {
            if let view = try await realm(id) { views.append(view) }
        }
        return try await listed(Array(views.prefix(limit)), of: .system)
    }

    func hosts(
        of realm: RealmID, after: String?, limit: Int
    ) async throws(LogFailure) -> ListPage<HostView> {
        let folded = try await streams(Host.self, named: "host.assigned", in: .system)
        let views = folded.filter { $0.state.realm == realm }.map { host in
            HostView(host: host.state.name, realm: realm, assignedAt: host.last)
        }
        return try await page(views, of: .system, after: after, limit: limit, id: \.host)
    }

    func app(_ app: UUID, in realm: RealmID) async throws(LogFailure) -> AppView? {
        try await apps(in: realm, after: nil, limit: .max).first { $0.id == app }
    }

    func apps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<AppView> {
        let folded = try await streams(App.self, named: "app.created", in: realm)
        let views = folded.filter { !$0.state.isDeleted }.map { app in
            AppView(
                id: app.stream, slug: app.state.slug, name: app.state.name,
                settings: app.state.settings.overrides, createdAt: app.first)
        }
        return try await page(views, of: realm, after: after, limit: limit, id: \.id)
    }

    func installations(in realm: RealmID) async throws(LogFailure) -> [UUID] {
        try await FoldedQueries(log: log).installations(in: realm)
    }

    func history(
        of installation: UUID, certifiedBy attestation: UUID?, in realm: RealmID,
        after position: Int64, limit: Int
    ) async throws(LogFailure) -> [AuditEntry] {
        let clientID = Installation.clientID(of: installation)
        let actor = "client:\(clientID)"
        let streams = [installation, AppKey.stream(of: installation), attestation]
        return Array(
            try await log.events(from: position + 1, limit: .max, in: realm).filter {
                streams.contains($0.stream) || $0.actor == actor
                    || ($0.name.hasPrefix("session.") && $0.open["client_id"] == .string(clientID))
            }.prefix(limit).map {
                AuditEntry(
                    position: $0.position, at: $0.at, type: $0.name, stream: $0.stream,
                    actor: $0.actor, fields: $0.open)
            })
    }

    func webApp(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> WebAppView? {
        try await webApps(in: realm, after: nil, limit: .max).first { $0.id == id }
    }

    func webApp(
        slug: String, kind: WebAppKind, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView? {
        try await webApps(in: realm, after: nil, limit: .max).first {
            $0.card.slug == slug && $0.card.kind == kind
        }
    }

    func webApp(
        originHost host: String, in realm: RealmID
    ) async throws(LogFailure) -> WebAppView? {
        try await webApps(in: realm, after: nil, limit: .max).first {
            $0.card.originHost == host
        }
    }

    func webApps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<WebAppView> {
        let folded = try await streams(WebApp.self, named: "web_app.registered", in: realm)
        var views: [WebAppView] = []
        for app in folded where !app.state.isRemoved {
            guard let card = app.state.card else { continue }
            views.append(WebAppView(id: app.stream, card: card, createdAt: app.first))
        }
        return try await page(views, of: realm, after: after, limit: limit, id: \.id)
    }

    func subscription(
        _ id: UUID, in realm: RealmID
    ) async throws(LogFailure) -> SubscriptionView? {
        try await allSubscriptions(in: realm).first { $0.id == id }
    }

    func subscriptions(
        of kind: Subscription.Kind, in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<SubscriptionView> {
        try await page(
            try await allSubscriptions(in: realm).filter { $0.kind == kind }, of: realm,
            after: after, limit: limit, id: \.id)
    }

    private func allSubscriptions(
        in realm: RealmID
    ) async throws(LogFailure) -> [SubscriptionView] {
        let folded = try await streams(
            Subscription.self, named: "subscription.created", in: realm)
        return folded.filter { $0.state.standing != .deleted }.map { one in
            SubscriptionView(
                id: one.stream, kind: one.state.kind, terms: one.state.terms,
                headerNames: one.state.terms.headers.keys.sorted(), standing: one.state.standing,
                createdAt: one.first, changedAt: one.last, version: 1, slot: one.state.slot)
        }
    }

    func client(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> ClientView? {
        try await clients(in: realm, after: nil, limit: .max).first { $0.clientID == clientID }
    }

    func clients(
        ofApp app: UUID, in realm: RealmID, limit: Int
    ) async throws(LogFailure) -> [ClientView] {
        let all = try await clients(in: realm, after: nil, limit: .max)
        return Array(
            all.filter { $0.metadata["app_id"] == .string(app.description) }.prefix(limit))
    }

    func clients(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<ClientView> {
        let folded = try await streams(Client.self, named: "client.registered", in: realm)
        let views = folded.filter { !$0.state.isDeleted }.map { client in
            var metadata = client.state.metadata?.members ?? [:]
            metadata["contacts"] = nil
            return ClientView(
                id: client.stream, clientID: client.state.clientID, metadata: metadata,
                isDisabled: client.state.isDisabled, issuedAt: client.first)
        }
        return try await page(views, of: realm, after: after, limit: limit, id: \.id)
    }

    func invites(
        in realm: RealmID, app: UUID?, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<InviteView> {
        let folded = try await streams(Invite.self, named: "invite.created", in: realm)
        var views: [InviteView] = []
        for invite in folded where !invite.state.isRevoked {
            guard let terms = invite.state.terms, app == nil || terms.app == app else { continue }
            views.append(
                InviteView(
                    id: invite.stream, terms: terms, createdAt: invite.first,
                    usedAt: invite.state.usedAt))
        }
        return try await page(views, of: realm, after: after, limit: limit, id: \.id)
    }

    func registrationTokens(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> ListPage<RegistrationTokenView> {
        let folded = try await streams(
            RegistrationToken.self, named: "registration_token.created", in: realm)
        var views: [RegistrationTokenView] = []
        for token in folded where !token.state.isRevoked {
            guard let terms = token.state.terms else { continue }
            views.append(
                RegistrationTokenView(
                    id: token.stream, terms: terms, used: token.state.used,
                    createdAt: token.first))
        }
        return try await page(views, of: realm, after: after, limit: limit, id: \.id)
    }

    func auditTrail(
        of realm: RealmID, _ selection: AuditSelection, after position: Int64?, limit: Int
    ) async throws(LogFailure) -> [AuditEntry] {
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

    private struct Stream<State: StreamState>: Sendable {
        let stream: UUID
        var state = State()
        let first: Timestamp
        var last: Timestamp
    }

    private func streams<State: StreamState>(
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

    private func page<Item: Sendable, ID: Comparable>(
        _ items: [Item], of realm: RealmID, after: ID?, limit: Int, id: (Item) -> ID
    ) async throws(LogFailure) -> ListPage<Item> {
        let sorted = items.sorted { id($0) < id($1) }
        let wanted = after.map { after in sorted.filter { id($0) > after } } ?? sorted
        return try await listed(Array(wanted.prefix(limit)), of: realm)
    }
}
