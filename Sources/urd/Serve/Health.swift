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
            return [ComponentState(name: "database", isReady: true)] + projections(status)
                + [sealing, store.clockState]
        } catch {
            return [
                ComponentState(name: "database", isReady: false, detail: "\(error)"), sealing,
            ]
        }
    }

    /// Nil when the database says nothing for this long: whoever asks must hear of a server that
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

    private var sealing: ComponentState {
        let halted = sealer.states.filter { $0.value.halt != nil }.min { $0.key < $1.key }
        guard let (realm, state) = halted, let halt = state.halt else {
            return ComponentState(name: "sealer", isReady: true)
        }
        return ComponentState(
            name: "sealer", isReady: false, detail: "halted in \(realm): \(halt.code)")
    }
}
