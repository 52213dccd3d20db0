import API
import EventSourcing
import EventStore
import Identity
import JSON
import Postgres
import ReadModels
import Synchronization
import Telemetry
import Threads
import Values

/// Sends the events of each realm to its webhooks. One node does so at a time; when it goes, another takes
/// its place. A receiver may be sent the same event twice where a node dies between its yes and the
/// record of it, and never not at all.
final class WebhookService: Sendable {
    let store: Store
    let deliveries: DeliveryStore
    let sender: WebhookSender
    let metrics: SubscriptionMetrics
    let queries: ReadModelQueries
    private let leadership: Leadership

    private struct Key: Hashable {
        let realm: RealmID
        let id: UUID
    }

    private struct Running {
        /// The subscription's version; nil once the runner only finishes the attempts under way.
        var version: Int?
        let runner: WebhookRunner
        let task: Task<Void, Never>

        /// An administrator changed the subscription, or paused it.
        mutating func end() {
            version = nil
            if !runner.end() { task.cancel() }
        }
    }

    static let actor = "webhooks"
    /// A delivery is many short steps, and a hand-over from thread to thread takes longer than each of them.
    private static let thread = JobThread()
    /// The furthest that was sent from here, by subscription: it outlives a runner, and a database that
    /// went back does not take it along.
    private let furthest = Mutex<[Key: LogCursor]>([:])
    /// By realm, how many are disabled.
    private let disabled = Mutex<[RealmID: Int]>([:])

    private static let keptDays: Int64 = 30

    init(_ store: Store, _ queries: ReadModelQueries, sender: WebhookSender) {
        self.store = store
        self.queries = queries
        self.sender = sender
        deliveries = DeliveryStore(store.database)
        metrics = SubscriptionMetrics(store.metrics, of: .webhook)
        leadership = Leadership(of: "webhooks", in: store.leases)
    }

    /// Whether this node still does it, to be looked at before what shall not happen twice.
    var isOurs: Bool { leadership.isCertain }

    /// Runs until it is cancelled, and until what was answered by then is on record.
    func run() async throws {
        var running: [Key: Running] = [:]
        do {
            try await run(&running)
        } catch {
            for one in running.values { one.task.cancel() }
            for one in running.values { await one.task.value }
            throw error
        }
    }

    private func run(_ running: inout [Key: Running]) async throws {
        var seen: [RealmID: Int64] = [:]
        var pruned = ContinuousClock.now
        while true {
            try Task.checkCancellation()
            guard await leadership.isHeld() else {
                for one in running.values { one.task.cancel() }
                running = [:]
                seen = [:]
                disabled.withLock { $0 = [:] }
                measure(running)
                try await Task.sleep(for: .seconds(1))
                continue
            }
            for realm in store.log.hub.realms {
                let revision = store.log.hub.configuration(of: realm)
                guard seen[realm] != revision else { continue }
                if await reconcile(realm, &running) { seen[realm] = revision }
            }
            measure(running)
            if ContinuousClock.now - pruned > .seconds(3600) {
                pruned = .now
                await prune()
            }
            try await store.log.hub.rest(.milliseconds(50), longest: .seconds(1))
        }
    }

    /// Starts runners of new webhooks and ends runners of removed ones.
    private func reconcile(_ realm: RealmID, _ running: inout [Key: Running]) async -> Bool {
        guard
            let wanted = try? await queries.ask(
                SubscriptionView.page, (after: nil, limit: 1000), in: realm)
        else { return false }
        let active = wanted.filter { $0.kind == .webhook && $0.standing == .active }
        disabled.withLock {
            $0[realm] = wanted.count { if case .disabled = $0.standing { true } else { false } }
        }
        let (ids, kept) = (Set(active.map(\.id)), Set(wanted.map(\.id)))
        for key in running.keys where key.realm == realm && !ids.contains(key.id) {
            if kept.contains(key.id) {
                running[key]?.end()
            } else {
                running.removeValue(forKey: key)?.task.cancel()
            }
        }
        for subscription in active {
            let key = Key(realm: realm, id: subscription.id)
            if running[key]?.version == subscription.version { continue }
            running[key]?.end()
            let former = running[key]?.task
            let runner = WebhookRunner(self, subscription.id, in: realm)
            running[key] = Running(
                version: subscription.version, runner: runner,
                task: Task(executorPreference: Self.thread) {
                    // What it still puts on record counts for its successor.
                    await withTaskCancellationHandler {
                        await former?.value
                    } onCancel: {
                        former?.cancel()
                    }
                    await runner.run()
                })
        }
        do {
            try await deliveries.keepOnly(wanted.map(\.id), in: realm)
        } catch {
            return false
        }
        return true
    }

    private func measure(_ running: [Key: Running]) {
        var (events, seconds): (Int64, Int64) = (0, 0)
        for (key, one) in running where one.version != nil {
            let lag = one.runner.lag
            // Before its first step nothing is known of it.
            guard lag.position > 0 else { continue }
            let behind = max(0, store.log.hub.head(of: key.realm) - lag.position)
            events = max(events, behind + Int64(lag.waiting))
            guard behind > 0 || lag.waiting > 0, let since = lag.since else { continue }
            seconds = max(seconds, store.now(in: key.realm).microseconds(since: since) / 1_000_000)
        }
        metrics.lagEvents.set(Double(events))
        metrics.lagSeconds.set(Double(seconds))
        metrics.disabled.set(Double(disabled.withLock { $0.values.reduce(0, +) }))
    }

    private func prune() async {
        for realm in store.log.hub.realms {
            try? await deliveries.prune(
                before: store.now(in: realm).adding(seconds: -Self.keptDays * 86_400), in: realm)
        }
    }

    /// - Returns: whether anything was put on record.
    @discardableResult
    func dispatch<C: Command>(_ command: C, in realm: RealmID) async throws -> Bool {
        let now = store.clock.now()
        do {
            let done = try await store.dispatcher.dispatch(
                command, in: realm, id: newID(), digest: [],
                origin: Origin(actor: Self.actor, at: now))
            return done.positions.count > 0
        } catch is NotFound<Subscription> {
            // It was deleted meanwhile.
            return false
        } catch is RealmRejection {
            return false
        }
    }

    // MARK: - What runners ask

    func noteSent(_ cursor: LogCursor, to subscription: UUID, in realm: RealmID) {
        furthest.withLock { furthest in
            let key = Key(realm: realm, id: subscription)
            if let known = furthest[key], known.epoch == cursor.epoch,
                known.position >= cursor.position
            {
                return
            }
            furthest[key] = cursor
        }
    }

    func sent(to subscription: UUID, in realm: RealmID) -> LogCursor? {
        furthest.withLock { $0[Key(realm: realm, id: subscription)] }
    }

    func forgetSent(to subscription: UUID, in realm: RealmID) {
        furthest.withLock { $0[Key(realm: realm, id: subscription)] = nil }
    }

    /// What the realm's addresses begin with; empty where none is known.
    func issuer(of realm: RealmID) async -> String {
        if let links = await store.settings(of: realm, queries)[SettingCatalogue.linksBaseURL] {
            return links.hasSuffix("/") ? String(links.dropLast()) : links
        }
        let host = try? await queries.ask(HostView.page, (after: nil, limit: 1), in: realm).first
        return host.map { "https://\($0.host)" } ?? ""
    }

    /// The id of a mail to the realm's contact; nil where it has none.
    func mailToContact(of realm: RealmID) async -> UUID? {
        await store.mailToContact(of: realm, queries)
    }

    func newID() -> UUID { store.newID() }
}
