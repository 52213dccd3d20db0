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
            let status = try await models.status()
            return [ComponentState(name: "database", isReady: true)] + projections(status)
                + [sealing]
        } catch {
            return [
                ComponentState(name: "database", isReady: false, detail: "\(error)"), sealing,
            ]
        }
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
            // An inline one may never be behind: its readers refuse to answer until it has caught up.
            let late = states.filter { $0.lag > ($0.kind == .inline ? 0 : readyLag) }
            if let behind = late.max(by: { $0.lag < $1.lag }) {
                return ComponentState(
                    name: "projection.\(name)", isReady: false,
                    detail: "\(behind.lag) events behind in \(behind.realm)")
            }
            return ComponentState(name: "projection.\(name)", isReady: true)
        }
    }

    private var sealing: ComponentState {
        let halted = sealer.states.filter { $0.value.halt != nil }.min { $0.key < $1.key }
        guard let (realm, state) = halted, let halt = state.halt else {
            return ComponentState(name: "sealer", isReady: true)
        }
        return ComponentState(
            name: "sealer", isReady: false, detail: "halted in \(realm): \(halt.code)")
    }
}
