import API
import EventSourcing
import EventStore
import Identity
import JSON
import ReadModels
import SecurityKeys
import Values

extension RealmPosture {
    /// From the read models and the log, of all realms or of one.
    static func read(_ settings: Settings, _ name: String?) async throws -> [RealmPosture] {
        let store = try Store(settings)
        defer { store.close() }
        try await store.checkSchema()
        let queries = try Models(store).queries
        let overlaps = try await store.keyring.deriveKeyOverlaps()
        var postures: [RealmPosture] = []
        for realm in try await realms(name, queries) where realm.realm != .system {
            var posture = RealmPosture(
                realm: realm.realm.name, settings: Identity.Settings(overrides: realm.settings))
            for app in try await pages(
                { after in
                    try await queries.ask(
                        AppView.page, (after: after, limit: pageSize), in: realm.realm
                    ).items
                }, next: { $0.id }) where !app.settings.isEmpty
            {
                posture.apps[app.slug] = posture.settings.overlaid(
                    by: Identity.Settings(overrides: app.settings))
                posture.disclosedKeys.inForce += names(app.settings).map {
                    "app \(app.slug): \($0)"
                }
            }
            for client in try await pages(
                { after in
                    try await queries.ask(
                        ClientView.page, (after: after, limit: pageSize), in: realm.realm
                    ).items
                }, next: { $0.id })
            {
                posture.disclosedKeys.inForce += names(client.metadata).map {
                    "client \(client.clientID): \($0)"
                }
                guard !client.isDisabled, let metadata = ClientMetadata(recorded: client.metadata)
                else { continue }
                posture.clients.append(
                    Client(
                        name: client.clientID, metadata: metadata,
                        secretSince: metadata.authenticationMethod.usesSecret
                            ? try await secretSince(client.id, realm.realm, store) : nil,
                        isNameMade: SubjectForm.isMade(client.clientID, for: client.id)))
            }
            posture.disclosedKeys.inForce += names(realm.settings)
            posture.disclosedKeys.onRecord = try await namesOnRecord(realm, store)
            posture.keys = try await signingKeys(realm.realm, store)
            posture.exposedPasskeys = try await exposedPasskeys(realm.realm, queries)
            posture.deriveKeyOverlap = overlaps.first { $0.realm == realm.realm }?.days
            postures.append(posture)
        }
        return postures
    }

    private static let pageSize = 200

    private static func realms(
        _ name: String?, _ queries: some QuestionPort
    ) async throws -> [RealmView] {
        if let name {
            guard let id = RealmID(name) else { return [] }
            return [try await queries.ask(RealmView.byName, in: id)].compactMap(\.self)
        }
        var all: [RealmView] = []
        while true {
            let page = try await queries.ask(
                RealmView.page, (after: all.last?.realm.name, limit: pageSize), in: .system)
            all += page
            if page.count < pageSize { return all }
        }
    }

    private static func pages<Item>(
        _ page: (UUID?) async throws -> [Item], next: (Item) -> UUID
    ) async throws -> [Item] {
        var all: [Item] = []
        while true {
            let items = try await page(all.last.map(next))
            all += items
            if items.count < pageSize { return all }
        }
    }

    /// What has a private key in it.
    private static func names(_ members: JSONObject) -> [String] {
        members.filter { DisclosedKey.isFound(in: $0.value) }.map(\.key).sorted()
    }

    /// Settings that had one in them once, and where the log says so.
    private static func namesOnRecord(
        _ realm: RealmView, _ store: Store
    ) async throws -> [String] {
        var found: [String] = []
        for recorded in try await store.log.stream(Realm.stream, after: 0, in: realm.realm) {
            guard case .settingsChanged(let changes)? = RealmEvent(recorded) else { continue }
            for name in names(changes) where changes[name] != realm.settings[name] {
                found.append("\(name) at position \(recorded.position)")
            }
        }
        return found
    }

    private static func secretSince(
        _ client: UUID, _ realm: RealmID, _ store: Store
    ) async throws -> Timestamp? {
        try await store.log.stream(client, after: 0, in: realm).last { recorded in
            recorded.open["secret_digest"] != nil
        }?.at
    }

    private static func exposedPasskeys(
        _ realm: RealmID, _ queries: ReadModelQueries
    ) async throws -> [String] {
        var last: UUID?
        var exposed: Set<String> = []
        while true {
            let page = try await queries.storedPublicKeys(
                in: realm, after: last, limit: pageSize)
            for (_, account, key) in page where StoredCredential.disclosesPrivateKey(key) {
                exposed.insert(account.description)
            }
            guard page.count == pageSize else { return exposed.sorted() }
            last = page.last?.passkey
        }
    }

    /// The signing keys, each with the time of its publication.
    private static func signingKeys(_ realm: RealmID, _ store: Store) async throws -> [Key] {
        var keys = SigningKeys()
        var since: [String: Timestamp] = [:]
        for recorded in try await store.log.stream(SigningKeys.stream, after: 0, in: realm) {
            guard let event = SigningKeyEvent(recorded) else { continue }
            keys.apply(event)
            if case .published(let key) = event { since[key.id] = recorded.at }
        }
        return keys.entries.compactMap { entry in
            guard entry.phase == .active, let at = since[entry.key.id] else { return nil }
            return Key(algorithm: entry.key.algorithm, since: at)
        }
    }
}
