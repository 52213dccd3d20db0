import API
import EventSourcing
import EventStore
import HTTP
import HTTPClient
import Identity
import JSON
import ReadModels
import Synchronization
import Telemetry
import Values

/// Pushes security signals to their receivers (RFC 8935). One node does so at a time. A receiver may get
/// the same signal twice, under the same name, where a node dies between its answer and the record of
/// it, and never not at all.
final class SignalService: Sendable {
    private let store: Store
    private let feed: SignalReader
    private let queries: ReadModelQueries
    private let web: WebClient
    private let leadership: Leadership
    private let underWay = Mutex<Set<SignalStreamEntry>>([])
    private let metrics: SubscriptionMetrics

    init(_ store: Store, _ queries: ReadModelQueries, web: WebClient) {
        self.store = store
        self.queries = queries
        self.web = web
        feed = SignalReader(store, queries)
        leadership = Leadership(of: "signals", in: store.leases)
        metrics = SubscriptionMetrics(store.metrics, of: .ssf)
    }

    static func configuration(_ options: ServeOptions) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.toClients(options)
        configuration.allowsHTTP = false
        // One that hangs keeps eight of them waiting.
        configuration.threads = 64
        configuration.maximumWaiting = 4096
        configuration.timeout = .seconds(15)
        return configuration
    }

    /// Runs until it is cancelled: a task for each stream, which ends with it.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var round = 0
            while true {
                try Task.checkCancellation()
                if await leadership.isHeld() {
                    for entry in await streams(all: round % 15 == 0) {
                        guard underWay.withLock({ $0.insert(entry).inserted }) else { continue }
                        group.addTask {
                            await self.follow(entry)
                            _ = self.underWay.withLock { $0.remove(entry) }
                        }
                    }
                    if round % 3 == 0, let lag = try? await queries.signalLag() {
                        show(lag)
                    }
                    round += 1
                } else {
                    show(.none)
                }
                try await store.log.hub.rest(.seconds(1), longest: .seconds(4))
            }
        }
    }

    /// Now and then also the polled streams, to find the abandoned ones.
    private func streams(all: Bool) async -> [SignalStreamEntry] {
        if all {
            try? await queries.forgetRefusedSignals()
            for entry in (try? await queries.forgottenSignalStreams()) ?? [] {
                try? await queries.forgetSignals(of: entry.stream, in: entry.realm)
            }
        }
        let found = (try? await queries.enabledSignalStreams()) ?? []
        return all ? found : found.filter(\.isPushed)
    }

    private func follow(_ entry: SignalStreamEntry) async {
        while !Task.isCancelled, await leadership.isHeld() {
            do {
                switch try await feed.work(for: entry.stream, in: entry.realm) {
                case .none: return
                case .wait(let rest):
                    try await feed.wait(rest)
                    // Where much happens at once, it is looked at together.
                    try await Task.sleep(for: .milliseconds(5))
                case .post(let posts): try await push(posts, entry)
                case .pause(let reason):
                    try await pause(entry, because: reason)
                    return
                }
            } catch LogFailure.damaged {
                // Nothing is passed over: it goes on once the log is whole.
                metrics.halted.add()
                store.lines.error(
                    "signals.halted", ["stream": .string(entry.stream.description)])
                try? await Task.sleep(for: .seconds(60))
            } catch {
                store.lines.warning(
                    "signals.not_sent",
                    [
                        "stream": .string(entry.stream.description),
                        "why": .string("\(error)"),
                    ])
                try? await Task.sleep(for: Store.rest(after: error))
            }
        }
    }

    private func show(_ lag: SignalLag) {
        metrics.lagEvents.set(lag.events)
        metrics.lagSeconds.set(lag.seconds)
        metrics.disabled.set(lag.paused)
    }

    private func push(_ posts: [SignalPost], _ entry: SignalStreamEntry) async throws {
        // A node that was frozen may not lead any more: another one pushes them.
        guard leadership.isCertain else { return }
        let answers = await withTaskGroup { group in
            for (index, post) in posts.enumerated() {
                group.addTask { (index, await self.send(post)) }
            }
            var answers = [SignalReceipt?](repeating: nil, count: posts.count)
            for await (index, answer) in group { answers[index] = answer }
            return answers
        }
        let all = Array(zip(posts, answers))
        let settled = try await feed.settle(all, of: entry.stream, in: entry.realm)
        metrics.count("delivered", settled.taken)
        metrics.count("refused", settled.refused)
        metrics.count("failed", settled.rest.count)
        metrics.dead.add(settled.refused)
        try Task.checkCancellation()
        let reason = try await feed.postpone(
            settled.rest, othersSettled: settled.rest.count < posts.count, of: entry.stream,
            in: entry.realm)
        if let reason { try await pause(entry, because: reason) }
    }

    private func send(_ post: SignalPost) async -> SignalReceipt? {
        var request = OutgoingRequest(
            method: .post, url: post.endpoint,
            headers: ["Content-Type": "application/secevent+jwt", "Accept": "application/json"],
            body: Array(post.token.utf8))
        request.headers["Authorization"] = post.authorization
        guard let response = try? await web.send(request) else { return nil }
        return SignalReceipt(
            status: response.status.code, body: response.body,
            retryAfter: response.headers["Retry-After"].flatMap {
                RetryAfter.seconds($0, at: store.clock.now())
            })
    }

    private func pause(_ entry: SignalStreamEntry, because reason: String) async throws {
        guard leadership.isCertain else { return }
        store.lines.warning(
            "signals.paused",
            ["stream": .string(entry.stream.description), "why": .string(reason)])
        metrics.ended.add()
        do {
            try await store.dispatch(
                SignalStreamChange.setStatus(
                    entry.stream, client: nil, status: .paused, reason: reason,
                    mail: await store.mailToContact(of: entry.realm, queries)), in: entry.realm,
                by: "signals")
        } catch is SignalStreamChange.SetStatusRejection {
            return
        }
    }
}

extension SignalReader {
    init(_ store: Store, _ queries: ReadModelQueries) {
        let clock = store.realmClock
        self.init(
            mint: store.mint, keys: store.tokenKeys(queries, clock), events: store.log,
            queries: queries, pages: store.signalPages, clock: clock)
    }
}
