import API
import EventSourcing
import EventStore
import Postgres
import ReadModels
import Synchronization

/// What stands in the way of serving: the database, the schema, read models, the sealer.
final class Health: Sendable {
    private let store: Store
    private let models: Models
    private let sealer: Sealer
    private let watch: RealmsWatch
    private let blocks: BlockWatch
    private let isSchemaRight = Mutex(false)

    init(store: Store, models: Models, sealer: Sealer, watch: RealmsWatch) {
        self.store = store
        self.models = models
        self.sealer = sealer
        self.watch = watch
        blocks = BlockWatch(store)
    }

    func schemaIsRight() { isSchemaRight.withLock { $0 = true } }

    /// Sees to it that it is known whether writes get through, until the task is cancelled.
    func tryWrites() async throws {
        async let commits: Void = store.log.tryCommits()
        try await blocks.run()
        try await commits
    }

    func components() async -> [ComponentState] {
        guard isSchemaRight.withLock({ $0 }) else {
            return [
                ComponentState(
                    name: "database", isReady: false, detail: "waiting for it or its schema")
            ]
        }
        do {
            guard let asked = try await ask(within: .seconds(2)) else {
                return [
                    ComponentState(
                        name: "database", isReady: false, detail: "it does not answer"), commits,
                    locks, sealing,
                ]
            }
            let standstill = Standstill(leases: asked.leases, seal: asked.realms.standstill.seal)
            return [database, commits, locks] + projections(asked.realms)
                + [sealing, Self.seals(standstill), Self.leases(standstill)]
                + [Self.mails(asked.realms), Self.realms(asked.realms), store.clockState]
        } catch {
            return [
                ComponentState(name: "database", isReady: false, detail: "\(error)"), sealing,
            ]
        }
    }

    /// Nil when the database says nothing for this long: a health check must report a server that
    /// hangs, and not hang with it.
    private func ask(within patience: Duration) async throws -> Asked? {
        let (answers, report) = AsyncStream.makeStream(
            of: Result<Asked, any Error>?.self)
        let asking = Task {
            do {
                report.yield(.success(try await question()))
            } catch {
                report.yield(.failure(error))
            }
        }
        let waiting = Task {
            try? await Task.sleep(for: patience)
            report.yield(nil)
        }
        defer {
            asking.cancel()
            waiting.cancel()
        }
        for await answer in answers { return try answer?.get() }
        return nil
    }

    private struct Asked: Sendable {
        let leases: [Standstill.Lease]
        let realms: RealmsWatch.Reading
    }

    /// The database is asked for the same few rows each time, however many realms there are.
    private func question() async throws -> Asked {
        Asked(
            leases: try await store.database.run { connection throws(Postgres.Failure) in
                try Standstill.leases(connection)
            }, realms: try await watch.reading())
    }

    /// What is said of all realms is a little older than the rest.
    private static func realms(_ reading: RealmsWatch.Reading) -> ComponentState {
        let age = ContinuousClock.now - reading.at
        let isOld = age > RealmsWatch.mostAge
        return ComponentState(
            name: "realms", isReady: true,
            detail: isOld ? "could not be looked at for \(age.components.seconds) s" : nil,
            needsAttention: isOld)
    }

    /// One line for each read model, of the realm where it is worst off. Where it stands still is in the database: no other
    /// node does any better, and none would after a restart (decision 0088).
    private func projections(_ reading: RealmsWatch.Reading) -> [ComponentState] {
        reading.projections.map { one in
            let detail: String? =
                switch one.trouble {
                case .halted(let realm, let position, let why):
                    "halted at \(realm):\(position): \(why)"
                case .behind(let realm, let events) where events < 0:
                    "\(-events) events ahead of the log in \(realm)"
                case .behind(let realm, let events): "\(events) events behind in \(realm)"
                case nil: reading.followers.first { $0.projection == one.projection }?.words
                }
            return ComponentState(
                name: "projection.\(one.projection)", isReady: true, detail: detail,
                needsAttention: detail != nil)
        }
    }

    /// The server that takes them is silent, or refuses: another node would hear the same.
    private static func mails(_ reading: RealmsWatch.Reading) -> ComponentState {
        ComponentState(
            name: "mails", isReady: true,
            detail: reading.mails.isEmpty
                ? nil : reading.mails.map(\.words).joined(separator: "; "),
            needsAttention: !reading.mails.isEmpty)
    }

    /// It answered just now; but what is asked all the time may be refused, behind a pooler of the wrong
    /// kind.
    private var database: ComponentState {
        let fault = store.log.readFault
        return ComponentState(name: "database", isReady: fault == nil, detail: fault)
    }

    /// Reads say nothing of writes: a standby that commits wait for may be frozen, a pooler may be of the
    /// wrong kind, the server may take no more connections.
    private var commits: ComponentState {
        let fault = store.log.commitFault ?? blocks.standing.first(where: \.isOfAll)?.words
        // Some are taken: where it is known of none that they are not, requests go on.
        let refusal = store.log.appendRefusal
        return ComponentState(
            name: "commits", isReady: fault == nil, detail: fault ?? refusal,
            needsAttention: refusal != nil)
    }

    /// Who keeps some writes out keeps them out at every node.
    private var locks: ComponentState {
        let standing = blocks.standing.prefix(5)
        return ComponentState(
            name: "locks", isReady: true,
            detail: standing.isEmpty ? nil : standing.map(\.words).joined(separator: "; "),
            needsAttention: !standing.isEmpty)
    }

    /// A log that was altered is served by every node as it is, and by none any better: an operator
    /// must look, and the load balancer must not drop the node.
    private var sealing: ComponentState {
        let halted = sealer.states.filter { $0.value.halt != nil }.min { $0.key < $1.key }
        guard let (realm, state) = halted, let halt = state.halt else {
            return ComponentState(name: "sealer", isReady: true)
        }
        // Whose own realm's keys this node cannot open has the wrong master key: others may have it.
        let isOurs = sealer.states[.system]?.halt == .otherMasterKey
        return ComponentState(
            name: "sealer", isReady: !isOurs, detail: "halted in \(realm): \(halt.code)",
            needsAttention: true)
    }

    /// The seals as the database has them, not as the nodes' sealers remember them. They keep no request from being served,
    /// and all nodes say the same: as with a halt, the load balancer must not drop them.
    private static func seals(_ standstill: Standstill) -> ComponentState {
        ComponentState(
            name: "seals", isReady: true, detail: standstill.unsealed?.words,
            needsAttention: standstill.unsealed != nil)
    }

    private static func leases(_ standstill: Standstill) -> ComponentState {
        let unheld = standstill.unheld.map(\.words)
        return ComponentState(
            name: "leases", isReady: true,
            detail: unheld.isEmpty ? nil : unheld.joined(separator: ", "),
            needsAttention: !unheld.isEmpty)
    }
}
