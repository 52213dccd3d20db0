import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import ReadModels
import Synchronization
import Telemetry
import Values

/// Sends the events of each realm to its webhooks. One node does so at a time; when it goes, another takes
/// its place. A receiver may be sent the same event twice where a node dies between its yes and the
/// record of it, and never not at all.
final class WebhookService: Sendable {
    let store: Store
    let deliveries: DeliveryStore
    let sender: WebhookSender
    let metrics: WebhookMetrics
    private let queries: ReadModelQueries
    private let leadership: Leadership

    private struct Key: Hashable {
        let realm: RealmID
        let id: UUID
    }

    private struct Running {
        let version: Int
        let task: Task<Void, Never>
    }

    private static let keptDays: Int64 = 30

    init(_ store: Store, _ queries: ReadModelQueries, sender: WebhookSender) {
        self.store = store
        self.queries = queries
        self.sender = sender
        deliveries = DeliveryStore(store.database)
        metrics = WebhookMetrics(store.metrics)
        leadership = Leadership(
            of: "webhooks", at: store.database.address, fence: store.database.fence)
    }

    /// Whether this node still does it, to be looked at before what shall not happen twice.
    var isOurs: Bool { leadership.isCertain }

    /// Runs until it is cancelled.
    func run() async throws {
        var running: [Key: Running] = [:]
        var seen: [RealmID: Int64] = [:]
        var pruned = ContinuousClock.now
        defer { for one in running.values { one.task.cancel() } }
        while true {
            try Task.checkCancellation()
            guard await leadership.isHeld() else {
                for one in running.values { one.task.cancel() }
                running = [:]
                seen = [:]
                try await Task.sleep(for: .seconds(1))
                continue
            }
            for realm in store.log.hub.realms {
                let revision = store.log.hub.configuration(of: realm)
                guard seen[realm] != revision else { continue }
                if await reconcile(realm, &running) { seen[realm] = revision }
            }
            if ContinuousClock.now - pruned > .seconds(3600) {
                pruned = .now
                await prune()
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Begins what is to be delivered and ends what is not any more.
    private func reconcile(_ realm: RealmID, _ running: inout [Key: Running]) async -> Bool {
        guard
            let wanted = try? await queries.subscriptions(in: realm, after: nil, limit: 1000)
        else { return false }
        let active = wanted.filter { $0.kind == .webhook && $0.standing == .active }
        let ids = Set(active.map(\.id))
        for (key, one) in running where key.realm == realm && !ids.contains(key.id) {
            one.task.cancel()
            running[key] = nil
        }
        for subscription in active {
            let key = Key(realm: realm, id: subscription.id)
            if running[key]?.version == subscription.version { continue }
            running[key]?.task.cancel()
            let runner = WebhookRunner(self, subscription.id, in: realm)
            running[key] = Running(version: subscription.version, task: Task { await runner.run() })
        }
        do {
            try await deliveries.keepOnly(wanted.map(\.id), in: realm)
        } catch {
            return false
        }
        return true
    }

    private func prune() async {
        for realm in store.log.hub.realms {
            try? await deliveries.prune(
                before: store.now(in: realm).adding(seconds: -Self.keptDays * 86_400), in: realm)
        }
    }

    func dispatch<C: Command>(_ command: C, in realm: RealmID) async throws {
        let now = store.clock.now()
        do {
            _ = try await store.dispatcher.dispatch(
                command, in: realm, id: newID(), digest: [],
                origin: Origin(actor: "webhooks", at: now))
        } catch is NotFound<Subscription> {
            // It was deleted meanwhile.
            return
        } catch is RealmRejection {
            return
        }
    }

    func newID() -> UUID {
        var random = SystemRandomNumberGenerator()
        return .v7(at: store.clock.now(), using: &random)
    }
}
