import API
import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import ReadModels
import Threads
import Values

/// The read models of one process: who keeps them up, and who asks them.
struct Models: Sendable {
    let queries: ReadModelQueries
    private let store: Store
    private let follower: ProjectionFollower
    private let configurations: Configurations

    init(_ store: Store) throws {
        self.store = store
        queries = ReadModelQueries(store)
        configurations = Configurations(store.database, hub: store.log.hub)
        follower = ProjectionFollower(
            store.database, hub: store.log.hub, metrics: store.metrics, log: store.lines)
    }

    /// Moves what follows the log, and looks for what other nodes changed, until the task is cancelled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await follower.run() }
            group.addTask { try await configurations.poll() }
        }
    }

    /// How far each build is in each realm.
    func status() async throws -> [ProjectionStatus] {
        try await store.database.run { connection throws(Postgres.Failure) in
            try ProjectionStatus.read(connection)
        }
    }

    /// Builds what is missing or reads differently now.
    static func migrate(owner address: String, console: Console) async throws -> [String] {
        let built = try await DedicatedThread.run {
            // What was told of one, and when, is kept from step to step.
            var reports: [String: ProjectionReport] = [:]
            return try ProjectionEngine(address).migrate { name, progress in
                let report = reports[name] ?? ProjectionReport(name, console)
                reports[name] = report
                report.show(progress)
            }
        }
        return built.map { "projection \($0)" }
    }
}

/// Answers the admin API from the read models, and from the log where it is asked for the log.
struct ReadModelQueries: AdminQueries {
    let database: Database
    private let log: PostgresLog
    private let proofs: LogProofs
    private let keys: AdminKeys
    private let realmModel: Realms
    private let hostModel: ReadModels.Hosts
    private let appModel: Apps
    private let clientModel: Clients
    private let sessionModel: Sessions
    let passkeyModel: Passkeys
    private let trail: AuditTrail
    let inviteModel: Invites
    let registrationTokenModel: RegistrationTokens
    let consentModel: Consents
    let browserModel: BrowserSessions

    /// How long a list may wait for the position that it was asked for.
    static let patience: Duration = .seconds(3)

    init(_ store: Store) {
        database = store.database
        log = store.log
        proofs = LogProofs(store.database, keyring: store.keyring)
        keys = AdminKeys(store.database)
        realmModel = Realms(store.database)
        hostModel = ReadModels.Hosts(store.database)
        appModel = Apps(store.database)
        clientModel = Clients(store.database)
        sessionModel = Sessions(store.database, hub: store.log.hub)
        passkeyModel = Passkeys(store.database)
        trail = AuditTrail(store.database)
        inviteModel = Invites(store.database)
        registrationTokenModel = RegistrationTokens(store.database)
        consentModel = Consents(store.database)
        browserModel = BrowserSessions(store.database)
    }

    func adminKey(_ id: UUID) async throws(LogFailure) -> AdminKeyView? {
        try await asking { () throws(ReadFailure) in try await keys.find(id) }.map(view)
    }

    func adminKeys(after: UUID?, limit: Int) async throws(LogFailure) -> [AdminKeyView] {
        try await asking { () throws(ReadFailure) in
            try await keys.page(after: after, limit: limit)
        }.map(view)
    }

    func realm(_ realm: RealmID) async throws(LogFailure) -> RealmView? {
        try await asking { () throws(ReadFailure) in try await realmModel.find(realm) }.map(view)
    }

    func realms(after: String?, limit: Int) async throws(LogFailure) -> [RealmView] {
        try await asking { () throws(ReadFailure) in
            try await realmModel.page(after: after, limit: limit)
        }.map(view)
    }

    func hosts(
        of realm: RealmID, after: String?, limit: Int
    ) async throws(LogFailure) -> [HostView] {
        try await asking { () throws(ReadFailure) in
            try await hostModel.page(of: realm, after: after, limit: limit)
        }.map { HostView(host: $0.host, realm: $0.realm, assignedAt: $0.assignedAt) }
    }

    func app(_ app: UUID, in realm: RealmID) async throws(LogFailure) -> AppView? {
        try await asking { () throws(ReadFailure) in
            try await appModel.find(app, in: realm)
        }.map(view)
    }

    func apps(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [AppView] {
        try await asking { () throws(ReadFailure) in
            try await appModel.page(in: realm, after: after, limit: limit)
        }.map(view)
    }

    func client(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> ClientView? {
        try await asking { () throws(ReadFailure) in
            try await clientModel.find(clientID, in: realm)
        }.map(view)
    }

    func clients(
        in realm: RealmID, after: UUID?, limit: Int
    ) async throws(LogFailure) -> [ClientView] {
        try await asking { () throws(ReadFailure) in
            try await clientModel.page(in: realm, after: after, limit: limit)
        }.map(view)
    }

    func clients(
        ofApp app: UUID, in realm: RealmID, limit: Int
    ) async throws(LogFailure) -> [ClientView] {
        try await asking { () throws(ReadFailure) in
            try await clientModel.page(ofApp: app, in: realm, limit: limit)
        }.map(view)
    }

    func installations(in realm: RealmID) async throws(LogFailure) -> [UUID] {
        try await asking { () throws(ReadFailure) in
            try await clientModel.page(
                withGrant: GrantType.flagship.rawValue, in: realm, limit: 1_000)
        }.map(\.id)
    }

    func auditTrail(
        of realm: RealmID, _ asked: AuditSelection, after position: Int64?, limit: Int
    ) async throws(LogFailure) -> [AuditEntry] {
        var selection = AuditTrail.Selection(actor: asked.actor, stream: asked.stream)
        selection.type = asked.type
        selection.since = asked.since
        selection.until = asked.until
        selection.isNewestFirst = asked.isNewestFirst
        let wanted = selection
        return try await asking { () throws(ReadFailure) in
            try await trail.page(of: realm, wanted, after: position, limit: limit)
        }.map {
            AuditEntry(
                position: $0.position, at: $0.at, type: $0.type, stream: $0.stream,
                actor: $0.actor, client: $0.client, correlation: $0.correlation)
        }
    }

    func auditTrail(
        of realm: RealmID, reaches position: Int64, epoch: Int
    ) async throws(LogFailure) -> Reached {
        let reached = try await asking { () throws(ReadFailure) in
            try await trail.reaches(
                position, epoch: epoch, of: realm, within: Self.patience)
        }
        return switch reached {
        case .yes: .yes
        case .notYet: .notYet
        case .never: .never
        }
    }

    func events(
        of realm: RealmID, from position: Int64, limit: Int
    ) async throws(LogFailure) -> [Recorded] {
        try await log.events(from: position, limit: limit, in: realm)
    }

    func checkpoint(of realm: RealmID) async throws(LogFailure) -> [UInt8]? {
        try await proving { try await proofs.checkpoint(of: realm)?.note }
    }

    func inclusionProof(
        of position: Int64, in realm: RealmID
    ) async throws(LogFailure) -> InclusionView? {
        guard
            let proof = try await proving({
                try await proofs.inclusion(of: position, in: realm)
            })
        else { return nil }
        return InclusionView(
            position: position, record: proof.record, path: proof.path.map(\.bytes),
            checkpoint: proof.checkpoint.note)
    }

    func tile(
        level: Int, index: Int64, width: Int, of realm: RealmID
    ) async throws(LogFailure) -> [UInt8]? {
        guard let address = TileAddress(.hashes(level: level), index: index, width: width) else {
            return nil
        }
        return try await proving { try await proofs.content(of: address, in: realm) }
    }
}

extension ReadModelQueries: RealmQueries {
    func knownClient(
        _ clientID: String, in realm: RealmID
    ) async throws(LogFailure) -> KnownClient? {
        let found = try await asking { () throws(ReadFailure) in
            try await clientModel.find(clientID, in: realm)
        }
        guard let found else { return nil }
        guard let metadata = ClientMetadata(recorded: found.metadata) else { throw .damaged }
        return KnownClient(
            id: found.id, metadata: metadata, secret: found.secret,
            isDisabled: found.isDisabled)
    }

    func session(_ id: UUID, in realm: RealmID) async throws(LogFailure) -> SessionView? {
        try await asking { () throws(ReadFailure) in
            try await sessionModel.find(id, in: realm)
        }.map {
            SessionView(
                id: $0.id, terms: $0.terms, generation: $0.generation,
                refreshedAt: $0.refreshedAt, isOver: $0.isOver)
        }
    }
}

extension ReadModelQueries: HostQueries {
    func realm(ofHost host: String) async throws(LogFailure) -> RealmID? {
        try await asking { () throws(ReadFailure) in try await hostModel.find(host) }?.realm
    }

    func app(slug: String, in realm: RealmID) async throws(LogFailure) -> AppView? {
        try await asking { () throws(ReadFailure) in
            try await appModel.find(slug: slug, in: realm)
        }.map(view)
    }

    func revision(of realm: RealmID) -> Int64 { log.hub.configuration(of: realm) }
}

extension ReadModelQueries {
    /// What is not sealed yet is nothing to show, and no failure.
    private func proving<Value: Sendable>(
        _ read: () async throws -> Value?
    ) async throws(LogFailure) -> Value? {
        do {
            return try await read()
        } catch ProofFailure.damaged {
            throw .damaged
        } catch is ProofFailure {
            return nil
        } catch let failure as LogFailure {
            throw failure
        } catch is Database.Busy {
            throw .busy
        } catch {
            throw .unavailable
        }
    }

    func asking<Value: Sendable>(
        _ read: () async throws(ReadFailure) -> Value
    ) async throws(LogFailure) -> Value {
        do {
            return try await read()
        } catch {
            throw error.asLogFailure
        }
    }

    private func view(_ key: AdminKeys.Entry) -> AdminKeyView {
        AdminKeyView(
            id: key.id, name: key.name, digest: key.digest.bytes, scope: key.scope,
            createdAt: key.createdAt, revokedAt: key.revokedAt)
    }

    private func view(_ realm: Realms.Entry) -> RealmView {
        RealmView(
            realm: realm.realm, isDisabled: realm.isDisabled, settings: realm.settings,
            createdAt: realm.createdAt)
    }

    private func view(_ app: Apps.Entry) -> AppView {
        AppView(
            id: app.id, slug: app.slug, name: app.name, settings: app.settings,
            createdAt: app.createdAt)
    }

    private func view(_ client: Clients.Entry) -> ClientView {
        var metadata = client.metadata
        // It stands beside the metadata, for the log.
        metadata["vouched_for"] = nil
        return ClientView(
            id: client.id, clientID: client.clientID, metadata: metadata,
            isDisabled: client.isDisabled, issuedAt: client.registeredAt)
    }
}
