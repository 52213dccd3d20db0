import API
import EventSourcing
import EventStore
import ReadModels
import Synchronization

/// What stands in the way of serving: the database, the schema, read models, the sealer.
final class Health: Sendable {
    private let store: Store
    private let models: Models
    private let sealer: Sealer
    private let readyLag: Int64
    private let isSchemaRight = Mutex(false)

    init(store: Store, models: Models, sealer: Sealer, readyLag: Int) {
        self.store = store
        self.models = models
        self.sealer = sealer
        self.readyLag = Int64(readyLag)
    }

    func schemaIsRight() { isSchemaRight.withLock { $0 = true } }

    func components() async -> [ComponentState] {
        guard isSchemaRight.withLock({ $0 }) else {
            return [
                ComponentState(
                    name: "database", isReady: false, detail: "waiting for it or its schema")
            ]
        }
        do {
            guard let status = try await status(within: .seconds(2)) else {
                return [
                    ComponentState(
                        name: "database", isReady: false, detail: "it does not answer"), sealing,
                ]
            }
            return [database, commits] + projections(status) + [sealing, store.clockState]
        } catch {
            return [
                ComponentState(name: "database", isReady: false, detail: "\(error)"), sealing,
            ]
        }
    }

    /// Nil when the database says nothing for this long: a health check must report a server that
    /// hangs, and not hang with it.
    private func status(within patience: Duration) async throws -> [ProjectionStatus]? {
        let (answers, report) = AsyncStream.makeStream(
            of: Result<[ProjectionStatus], any Error>?.self)
        let asking = Task {
            do {
                report.yield(.success(try await models.status()))
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

    /// One line for each read model, of the realm where it is worst off.
    private func projections(_ status: [ProjectionStatus]) -> [ComponentState] {
        let live = status.filter { $0.state != .building && $0.state != .previous }
        return Dictionary(grouping: live, by: \.projection).sorted { $0.key < $1.key }.map {
            name, states in
            if let halted = states.first(where: { $0.halt != nil }), let halt = halted.halt {
                return ComponentState(
                    name: "projection.\(name)", isReady: false,
                    detail: "halted at \(halted.realm):\(halt.position): \(halt.why)")
            }
            // An inline one is where the log is, or its readers refuse to answer.
            let late = states.filter { $0.state == .behind || $0.lag > readyLag }
            if let behind = late.max(by: { $0.lag < $1.lag }) {
                return ComponentState(
                    name: "projection.\(name)", isReady: false,
                    detail: behind.position > behind.head
                        ? "ahead of the log in \(behind.realm)"
                        : "\(behind.lag) events behind in \(behind.realm)")
            }
            return ComponentState(name: "projection.\(name)", isReady: true)
        }
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
        let fault = store.log.commitFault
        return ComponentState(name: "commits", isReady: fault == nil, detail: fault)
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
}
