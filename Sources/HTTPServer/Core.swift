internal import Glibc
internal import HTTP
internal import Synchronization
internal import Threads

/// The server's state, shared by libmicrohttpd's threads, the handlers' tasks and the watch over
/// the deadlines. It lives until the daemon is stopped.
final class Core: Sendable {
    let configuration: Configuration
    let ready: @Sendable (Request) -> Response?
    private let unanswered: @Sendable (Request, String) -> Response?
    let handler: @Sendable (Request) async -> Response
    let port: UInt16
    let connections: Connections
    let gate = Gate()
    let identifiers = Identifiers()
    let bodies: BodyBudget
    private let maximumStreams: Int
    let limits: Connection.Limits
    private let running = Mutex(Running())
    private let draining = Atomic(false)
    private let stopped = Atomic(false)
    private let live = Atomic(0)
    private let streams = Atomic(0)
    private let requests = Atomic(0)
    private let refusals = Atomic(0)
    private let turnedAway = Atomic(0)
    private let overdue = Atomic(0)
    private let closedSlow = Atomic(0)

    private struct Running {
        var workers: [Worker] = []
        var stopping: Task<Void, Never>?
    }

    private init(
        _ configuration: Configuration, port: UInt16,
        ready: @escaping @Sendable (Request) -> Response?,
        unanswered: @escaping @Sendable (Request, String) -> Response?,
        handler: @escaping @Sendable (Request) async -> Response
    ) {
        self.configuration = configuration
        self.ready = ready
        self.unanswered = unanswered
        self.handler = handler
        self.port = port
        bodies = BodyBudget(
            configuration.maximumBufferedBytes, uncounted: configuration.uncountedBodyBytes)
        let maximumConnections = min(configuration.maximumConnections, OpenFiles.forConnections)
        maximumStreams = min(configuration.maximumStreams, max(1, maximumConnections / 4))
        connections = Connections(
            maximum: maximumConnections,
            maximumPerSource: configuration.maximumConnectionsPerSource)
        limits = Connection.Limits(
            idle: configuration.idleTimeout.nanoseconds,
            transfer: configuration.transferTimeout.nanoseconds,
            deadline: configuration.requestDeadline.nanoseconds,
            streamStall: configuration.streamStallTimeout.nanoseconds,
            streamLife: configuration.maximumStreamLife.nanoseconds)
    }

    static func start(
        _ configuration: Configuration, _ ready: @escaping @Sendable (Request) -> Response?,
        _ unanswered: @escaping @Sendable (Request, String) -> Response?,
        _ handler: @escaping @Sendable (Request) async -> Response
    ) throws(Failure) -> Core {
        if let fault = configuration.fault {
            throw Failure(code: .configuration, detail: fault)
        }
        let listener = try Listener(configuration)
        let core = Core(
            configuration, port: listener.port, ready: ready, unanswered: unanswered,
            handler: handler)
        do throws(Failure) {
            defer { close(listener.descriptor) }
            for _ in 0..<configuration.threads {
                try core.addWorker(listener)
            }
            try startThread(for: "the watch") { core.watch() }
        } catch {
            Task.detached { await core.stop(drain: .zero) }
            throw error
        }
        return core
    }

    /// The system's own stack size: answers that are ready are composed on these threads.
    static func startThread(
        for purpose: String, _ work: @escaping @Sendable () -> Void
    ) throws(Failure) {
        do throws(DedicatedThread.Failure) {
            try DedicatedThread.start(work)
        } catch {
            throw Failure(code: .library, detail: "no thread for \(purpose)")
        }
    }

    private func addWorker(_ listener: Listener) throws(Failure) {
        let worker = try Worker(self)
        let copy = fcntl(listener.descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw Failure(code: .socket, detail: "fcntl: errno \(errno)") }
        try worker.start(listeningSocket: copy)
        running.withLock { $0.workers.append(worker) }
    }

    var isDraining: Bool { draining.load(ordering: .relaxed) }

    var statistics: Statistics {
        Statistics(
            connections: connections.count,
            liveRequests: live.load(ordering: .acquiring),
            streams: streams.load(ordering: .relaxed),
            requests: requests.load(ordering: .relaxed),
            refused: refusals.load(ordering: .relaxed),
            turnedAway: turnedAway.load(ordering: .relaxed),
            overdue: overdue.load(ordering: .relaxed),
            closedSlow: closedSlow.load(ordering: .relaxed))
    }

    func accepts(_ source: Source) -> Bool {
        if connections.hasRoom(for: source) { return true }
        turnedAway.wrappingAdd(1, ordering: .relaxed)
        return false
    }

    /// False where there are as many streams as may be. Otherwise one more, until `streamEnded`.
    func streamBegan() -> Bool {
        let before = streams.wrappingAdd(1, ordering: .relaxed).oldValue
        if before < maximumStreams { return true }
        streamEnded()
        return false
    }

    func streamEnded() { streams.wrappingSubtract(1, ordering: .relaxed) }

    func exchangeBegan() {
        live.wrappingAdd(1, ordering: .relaxed)
        requests.wrappingAdd(1, ordering: .relaxed)
    }

    func exchangeEnded() { live.wrappingSubtract(1, ordering: .releasing) }

    func refused(_ refusal: Refusal) { refusals.wrappingAdd(1, ordering: .relaxed) }

    /// What a whole request is told that no handler answers.
    func response(to request: Request, refusing refusal: Refusal) -> Response {
        unanswered(request, refusal.detail) ?? refusal.response
    }

    /// Looks through the connections a few times within the shortest limit: the deadlines of all
    /// requests cost one thread, and no request pays for a timer. It is a thread of its own because
    /// limits must hold also when handlers keep the cooperative pool busy.
    private func watch() {
        while !stopped.load(ordering: .acquiring) {
            usleep(UInt32(limits.pause / 1000))
            let now = monotonicNow()
            for connection in connections.all {
                switch connection.check(at: now, limits) {
                case nil: break
                case .closed: closedSlow.wrappingAdd(1, ordering: .relaxed)
                case .handler(let exchange):
                    if exchange.refuse(.overdue, self) {
                        overdue.wrappingAdd(1, ordering: .relaxed)
                    }
                case .stream(let stream, let end):
                    if end == .cut { closedSlow.wrappingAdd(1, ordering: .relaxed) }
                    stream.finish(end)
                }
            }
        }
    }
}

// MARK: - Stopping

extension Core {
    /// The first call stops; further ones wait for it.
    func stop(drain: Duration) async {
        let stopping = running.withLock { running in
            if let stopping = running.stopping { return stopping }
            let stopping = Task { await shutDown(drain: drain) }
            running.stopping = stopping
            return stopping
        }
        await stopping.value
    }

    private func shutDown(drain: Duration) async {
        let workers = running.withLock { $0.workers }
        draining.store(true, ordering: .relaxed)
        for worker in workers { worker.stopAccepting() }
        // Their clients come again, and find another server or this one's successor.
        for connection in connections.all { connection.stream?.finish(.clean) }
        await settle(for: drain)
        gate.close()
        // Until no thread is inside: one may have entered just before and not be seen at first.
        while gate.inside > 0 {
            for connection in connections.all {
                connection.exchange?.refuse(.stopping, self)
            }
            await pause()
        }
        // What was answered just now still has to reach its clients, but not for ever.
        await wait(for: .seconds(1)) { self.live.load(ordering: .acquiring) == 0 }
        stopped.store(true, ordering: .releasing)
        for worker in workers { await worker.stop() }
        running.withLock { $0.workers = [] }
    }

    /// Until no request is in flight, and none has come for a moment: a connection that was
    /// accepted just before may have sent one that is not read yet.
    private func settle(for drain: Duration) async {
        var quietSince: Nanoseconds?
        await wait(for: drain) {
            guard self.live.load(ordering: .acquiring) == 0 else {
                quietSince = nil
                return false
            }
            if self.connections.count == 0 { return true }
            let since = quietSince ?? monotonicNow()
            quietSince = since
            return monotonicNow() &- since > 50_000_000
        }
    }

    private func wait(for time: Duration, until isDone: () -> Bool) async {
        let start = monotonicNow()
        while !isDone(), monotonicNow() &- start < time.nanoseconds { await pause() }
    }

    /// Stopping goes on when the task that asked for it is cancelled.
    private func pause() async {
        await Task.detached { try? await Task.sleep(for: .milliseconds(5)) }.value
    }
}
