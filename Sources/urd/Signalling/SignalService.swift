import API
import EventSourcing
import EventStore
import HTTP
import HTTPClient
import Identity
import JSON
import Postgres
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
    private let outcomes: Family<Counter>

    init(_ store: Store, _ queries: ReadModelQueries, web: WebClient) {
        self.store = store
        self.queries = queries
        self.web = web
        feed = SignalReader(store, queries)
        leadership = Leadership(
            of: "signals", at: store.database.address, fence: store.database.fence)
        outcomes = store.metrics.counter(
            "urd_signals_pushed_total", help: "Attempts to push a security signal, by outcome.",
            labels: ["outcome"])
    }

    /// Receivers are strangers: none of their addresses may lead into the own network.
    static func configuration(_ options: Service.Options) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.destinations = options.destinations
        configuration.caFile = options.authorities
        configuration.allowsHTTP = false
        configuration.threads = 16
        configuration.timeout = .seconds(15)
        configuration.connectTimeout = .seconds(3)
        configuration.maximumBodyBytes = 16 << 10
        configuration.userAgent = "Urd"
        return configuration
    }

    /// Runs until it is cancelled: a task for each stream, which ends with it.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var round = 0
            while true {
                try Task.checkCancellation()
                if await leadership.isHeld() {
                    for entry in await streams(all: round % 60 == 0) {
                        guard underWay.withLock({ $0.insert(entry).inserted }) else { continue }
                        group.addTask {
                            await self.follow(entry)
                            _ = self.underWay.withLock { $0.remove(entry) }
                        }
                    }
                    round += 1
                }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Now and then those that are polled as well, to find the forsaken ones.
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
                case .wait(let position, let time):
                    await wait(past: position, until: time, in: entry.realm)
                case .post(let posts): try await push(posts, entry)
                case .pause(let reason):
                    try await pause(entry, because: reason)
                    return
                }
            } catch {
                store.lines.warning(
                    "signals.not_sent",
                    [
                        "stream": .string(entry.stream.description),
                        "why": .string("\(error)"),
                    ])
                let isLasting = (error as? LogFailure)?.isLasting == true
                try? await Task.sleep(for: isLasting ? .seconds(60) : .seconds(1))
            }
        }
    }

    /// A verification that is asked for is no event, and a stream may be changed on another node.
    private func wait(past position: Int64, until time: Timestamp?, in realm: RealmID) async {
        var longest = Duration.seconds(1)
        if let time {
            longest = min(
                longest, .microseconds(max(1_000, time.microseconds(since: store.clock.now()))))
        }
        guard position < .max else {
            try? await Task.sleep(for: longest)
            return
        }
        await queries.waitForCommit(past: position, in: realm, atMost: longest)
        // Where much happens at once, it is looked at together.
        try? await Task.sleep(for: .milliseconds(20))
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
        var rest: [(post: SignalPost, receipt: SignalReceipt?)] = []
        for (post, receipt) in zip(posts, answers) {
            let isSettled = try await feed.settle(
                post, by: receipt, of: entry.stream, in: entry.realm)
            outcomes[isSettled ? "settled" : "failed"].add()
            if !isSettled { rest.append((post, receipt)) }
        }
        try Task.checkCancellation()
        let reason = try await feed.postpone(
            rest, othersSettled: rest.count < posts.count, of: entry.stream, in: entry.realm)
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
            retryAfter: response.headers["Retry-After"].flatMap { Int64($0) })
    }

    private func pause(_ entry: SignalStreamEntry, because reason: String) async throws {
        let now = store.clock.now()
        var random = SystemRandomNumberGenerator()
        store.lines.warning(
            "signals.paused",
            ["stream": .string(entry.stream.description), "why": .string(reason)])
        do {
            _ = try await store.dispatcher.dispatch(
                SetSignalStatus(id: entry.stream, client: nil, status: .paused, reason: reason),
                in: entry.realm, id: .v7(at: now, using: &random), digest: [],
                origin: Origin(actor: "signals", at: now))
        } catch is SetSignalStatus.Rejection {
            return
        }
    }
}

extension SignalReader {
    init(_ store: Store, _ queries: ReadModelQueries) {
        let start = ContinuousClock.now
        let clock = RealmContext.Clock(
            now: store.clock.now, passed: { ContinuousClock.now - start })
        self.init(
            mint: store.mint,
            keys: TokenKeys(
                commands: store.dispatcher, clock: clock,
                revision: { queries.revision(of: $0) }, generate: newSigningKey),
            events: store.log, queries: queries, clock: clock)
    }
}
