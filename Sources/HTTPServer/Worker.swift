internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// A daemon and the thread that drives it. All workers take clients from one listening socket.
///
/// libmicrohttpd has threads of its own for this, but in 0.9.75 each of them may fall asleep with
/// work at hand: after exactly as many events as it takes at a time (128) it waits for one more
/// before it looks at any. 256 clients that wait for their answers were enough.
///
/// It is also where the handlers of its connections go on after they have waited: what wakes them wakes
/// the thread that then sends their answers, and many that are woken at once cost one waking.
final class Worker: TaskExecutor {
    private struct Orders {
        var stopsAccepting = false
        var stopped: CheckedContinuation<Void, Never>?
    }

    let server: Core
    /// A pair of connected sockets: what is written to one wakes the thread, which waits for the
    /// other.
    private let bell: (reader: Int32, writer: Int32)
    private let hangUps: HangUps
    private let isRung = Atomic(false)
    private let orders = Mutex(Orders())
    /// Exchanges whose first line is there, and not all of their head: seldom more than the one that is
    /// being read.
    private let headless = Mutex<[Exchange]>([])
    /// Nil once the thread is gone.
    private let jobs = Mutex<[UnownedJob]?>([])
    /// The thread, by its number in the system.
    private let thread = Atomic<UInt>(0)

    init(_ server: Core) throws(Failure) {
        self.server = server
        hangUps = try HangUps()
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else {
            throw Failure(code: .library, detail: "socketpair: errno \(errno)")
        }
        bell = (ends[0], ends[1])
    }

    deinit {
        close(bell.reader)
        close(bell.writer)
    }

    /// Takes over the listening socket, also when it fails.
    func start(listeningSocket: Int32) throws(Failure) {
        let daemon = try Daemon(listeningSocket: listeningSocket, self)
        do throws(Failure) {
            try Core.startThread(for: "a worker") { self.run(daemon) }
        } catch {
            daemon.stop()
            throw error
        }
    }

    func awaitHead(of exchange: Exchange) {
        headless.withLock { $0.append(exchange) }
    }

    func tookHead(of exchange: Exchange) {
        headless.withLock { headless in
            guard let index = headless.lastIndex(where: { $0 === exchange }) else { return }
            headless.remove(at: index)
        }
    }

    func watch(_ connection: Connection, _ stream: ResponseStream) {
        hangUps.watch(connection.descriptor, stream)
    }

    func forget(_ connection: Connection, _ stream: ResponseStream) {
        hangUps.forget(connection.descriptor, stream)
    }

    /// Answers those in our own words, once, and closes their connections: what libmicrohttpd says
    /// then reaches no client.
    func refuseUnreadableLengths() {
        for exchange in headless.withLock({ $0 }) where exchange.connection.waitingSince != nil {
            guard let refusal = exchange.unreadableLength else { continue }
            server.refused(refusal)
            exchange.connection.refuse(refusal)
        }
    }

    /// Something was changed that the thread has to see: a connection resumed, or an order. Many
    /// such changes before it looks cost one ringing.
    func ring() {
        guard !isRung.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var byte: UInt8 = 0
        _ = unsafe write(bell.writer, &byte, 1)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let before = jobs.withLock { jobs in
            defer { jobs?.append(job) }
            return jobs?.count
        }
        switch before {
        // The thread itself looks before it rests.
        case 0: if thread.load(ordering: .relaxed) != UInt(pthread_self()) { ring() }
        case nil: globalConcurrentExecutor.enqueue(ExecutorJob(job))
        default: break
        }
    }

    /// Those that come of them wait for the next round, so that connections have their turn.
    private func runJobs(isLast: Bool = false) {
        let waiting = jobs.withLock { jobs in
            defer { jobs = isLast ? nil : [] }
            return jobs
        }
        for job in waiting ?? [] { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private var hasJobs: Bool { jobs.withLock { $0?.isEmpty == false } }

    func stopAccepting() {
        orders.withLock { $0.stopsAccepting = true }
        ring()
    }

    /// Returns when the daemon is gone. Once.
    func stop() async {
        await withCheckedContinuation { continuation in
            orders.withLock { $0.stopped = continuation }
            ring()
        }
    }

    /// Milliseconds after which the daemon is run though nothing happened: where there were no
    /// descriptors left, libmicrohttpd 0.9.75 stops listening, and begins again only in the run after
    /// the one in which its last connection went. Nothing else would ever bring that about.
    private static let longestRest: Int32 = 1_000

    private func run(_ daemon: Daemon) {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        var accepts = true
        var sources = [
            pollfd(fd: daemon.events, events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell.reader, events: Int16(POLLIN), revents: 0),
            pollfd(fd: hangUps.events, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            _ = unsafe poll(&sources, 3, daemon.isBusy || hasJobs ? 0 : Self.longestRest)
            if sources[1].revents != 0 {
                hear()
                let orders = orders.withLock { $0 }
                if accepts && orders.stopsAccepting {
                    daemon.stopAccepting()
                    accepts = false
                }
                if let stopped = orders.stopped {
                    runJobs(isLast: true)
                    daemon.stop()
                    stopped.resume()
                    return
                }
            }
            if sources[2].revents != 0 {
                while let stream = hangUps.next() { stream.hangUp() }
            }
            runJobs()
            daemon.run()
        }
    }

    /// Rearms the bell: later changes ring again; earlier ones are seen after this call.
    private func hear() {
        var byte: UInt8 = 0
        _ = unsafe read(bell.reader, &byte, 1)
        isRung.store(false, ordering: .sequentiallyConsistent)
    }
}
