internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// One client's connection and how long it has been in its present phase.
///
/// libmicrohttpd's own timeout starts anew with every byte, so that a client that sends one byte a
/// second holds its connection for ever. Here the clock starts with the phase.
final class Connection: Sendable {
    enum Phase {
        /// For the first line of the next request.
        case waiting
        /// The rest of a request.
        case receiving
        case handling(Exchange)
        case sending
        /// A response whose body has its own clocks.
        case streaming(ResponseStream)
        /// Shut down, or about to be closed by libmicrohttpd: no longer ours to touch.
        case closed
    }

    private struct State {
        var phase = Phase.waiting
        var since: Nanoseconds
        /// In this phase everything that came was read, and the client was still there after it.
        var isQuiet = false
    }

    let source: Source
    let descriptor: Int32
    private let state: Mutex<State>

    init(descriptor: Int32, source: Source, at now: Nanoseconds) {
        self.descriptor = descriptor
        self.source = source
        state = Mutex(State(since: now))
    }

    func enter(_ phase: Phase, at now: Nanoseconds) {
        state.withLock { $0 = State(phase: phase, since: now) }
    }

    /// Closes the connection of a client that is too slow or gone, which its thread sees as the
    /// client's own hanging up; tells what was overdue.
    func check(at now: Nanoseconds, _ limits: Limits) -> Overdue? {
        // All under the lock: `closed` cannot come between, so the descriptor is still ours.
        state.withLock { state in
            let age = now &- state.since
            switch state.phase {
            case .waiting where age > limits.idle, .receiving where age > limits.transfer,
                .sending where age > limits.transfer:
                shutdown(descriptor, Int32(SHUT_RDWR))
                state.phase = .closed
                return .closed
            case .handling(let exchange) where age > limits.deadline:
                return .handler(exchange)
            case .streaming(let stream):
                return check(stream, &state, at: now)
            case .waiting where age > limits.pause && !state.isQuiet,
                .receiving where age > limits.pause:
                look(&state)
                return nil
            case .waiting, .receiving, .handling, .sending, .closed:
                return nil
            }
        }
    }

    private func check(
        _ stream: ResponseStream, _ state: inout State, at now: Nanoseconds
    ) -> Overdue? {
        switch stream.check(at: now, unsent: { unsentBytes }) {
        case nil: return nil
        case .life: return .stream(stream, .clean)
        case .stall:
            shutdown(descriptor, Int32(SHUT_RDWR))
            state.phase = .closed
            return .stream(stream, .cut)
        }
    }

    /// What the client's system has not taken yet.
    private var unsentBytes: Int {
        var count: Int32 = 0
        return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }

    /// Since when the client owes us a request, or the rest of one.
    var waitingSince: Nanoseconds? {
        state.withLock { state in
            switch state.phase {
            case .waiting, .receiving: state.since
            case .handling, .sending, .streaming, .closed: nil
            }
        }
    }

    /// Closes the connection for others to come in, if the client still owes us something.
    func giveWay() -> Bool {
        state.withLock { state in
            switch state.phase {
            case .waiting, .receiving:
                shutdown(descriptor, Int32(SHUT_RDWR))
                state.phase = .closed
                return true
            case .handling, .sending, .streaming, .closed: return false
            }
        }
    }

    /// libmicrohttpd 0.9.75 does not see a hanging up that arrives together with the last bytes,
    /// and would keep the connection until its time is over. One that comes later it sees, so that
    /// connections at rest need no looking.
    private func look(_ state: inout State) {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count == 0 {
            shutdown(descriptor, Int32(SHUT_RDWR))
            state.phase = .closed
        } else if count < 0 {
            state.isQuiet = true
        }
    }

    /// The request that is being handled.
    var exchange: Exchange? {
        state.withLock { state in
            guard case .handling(let exchange) = state.phase else { return nil }
            return exchange
        }
    }

    /// The body that is being produced.
    var stream: ResponseStream? {
        state.withLock { state in
            guard case .streaming(let stream) = state.phase else { return nil }
            return stream
        }
    }

    /// Has the system keep little of what a client is slow to read: the rest stays with its producer.
    func limitUnsentBytes() {
        var count = Int32(ResponseStream.room)
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), Int32(TCP_NOTSENT_LOWAT), &count,
            socklen_t(MemoryLayout<Int32>.size))
    }

    /// What is left of the stream is to be taken like any other response.
    func endStream(_ stream: ResponseStream, at now: Nanoseconds) {
        state.withLock { state in
            guard case .streaming(let present) = state.phase, present === stream else { return }
            state = State(phase: .sending, since: now)
        }
    }

    /// Closes the connection of a stream's client that has hung up.
    func hangUp() {
        state.withLock { state in
            switch state.phase {
            case .streaming, .sending:
                shutdown(descriptor, Int32(SHUT_RDWR))
                state.phase = .closed
            case .waiting, .receiving, .handling, .closed: break
            }
        }
    }

    /// Says something that libmicrohttpd cannot say in the middle of a body. The connection is
    /// given up right after, so what the socket does not take at once is lost.
    func sendLast(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes { buffer in
            unsafe send(
                descriptor, buffer.baseAddress, buffer.count,
                Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
    }

    /// Says no where libmicrohttpd would not, and closes the connection.
    func refuse(_ refusal: Refusal) {
        state.withLock { state in
            sendLast(refusal.message)
            shutdown(descriptor, Int32(SHUT_RDWR))
            state.phase = .closed
        }
    }

    struct Limits {
        let idle: Nanoseconds
        let transfer: Nanoseconds
        let deadline: Nanoseconds
        let streamStall: Nanoseconds
        let streamLife: Nanoseconds

        /// Between two looks at a connection: short against the limits, and never busy.
        var pause: Nanoseconds {
            let shortest = min(idle, transfer, deadline, streamStall, streamLife)
            return min(max(shortest / 8, 5_000_000), 250_000_000)
        }
    }

    enum Overdue {
        case closed
        case handler(Exchange)
        case stream(ResponseStream, ResponseStream.End)
    }
}

/// Since the machine started; never set back.
typealias Nanoseconds = Int64

func monotonicNow() -> Nanoseconds {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}

extension Duration {
    /// Saturates at some three hundred years.
    var nanoseconds: Nanoseconds {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, again) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || again ? (seconds < 0 ? .min : .max) : sum
    }
}
