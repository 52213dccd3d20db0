internal import Glibc
internal import HTTP
internal import Synchronization

/// The body of one response that is produced while its client takes it.
///
/// libmicrohttpd asks for bytes on the connection's own thread (`read`). Where there are none the
/// connection is suspended, and resumed by the producer's next piece or by the stream's end. The
/// first end counts; after it the connection is never suspended again.
final class ResponseStream: Sendable {
    enum End {
        /// What was written is sent, and then the body's end.
        case clean
        /// What was written is sent, and then the connection is closed without the body's end.
        case cut
    }

    private struct State {
        var hasBegun = false
        /// Written, and not yet handed to libmicrohttpd; of the first of them from `sent` on. Each is shared
        /// with the other streams that it goes to.
        var pieces: [[UInt8]] = []
        var sent = 0
        /// Number of unsent bytes.
        var unsent = 0
        var isSuspended = false
        var end: End?
        var producer: Task<Void, Never>?
        /// Producers that wait for room.
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// All that was handed to libmicrohttpd since the beginning.
        var total = 0
        /// Those of libmicrohttpd's buffer, while the connection is suspended.
        var idlePages: IdlePages?
        var clocks = StreamClocks()

        /// Moves as many bytes as fit into a buffer.
        mutating func move(_ count: Int, into buffer: UnsafeMutableRawBufferPointer) {
            var filled = 0
            while filled < count {
                let part = min(pieces[0].count - sent, count - filled)
                unsafe pieces[0].withUnsafeBytes { bytes in
                    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: bytes[sent..<(sent + part)]))
                }
                filled += part
                sent += part
                if sent == pieces[0].count {
                    pieces.removeFirst()
                    sent = 0
                }
            }
            unsent -= count
            total += count
        }
    }

    /// How far a producer may be ahead of `read`, but for its last piece. libmicrohttpd holds a chunk
    /// of this size beside it, or one as large as its own memory of a connection.
    static let room = 64 * 1024
    private static let endOfBody = -1
    static let failure = -2

    private let body: BodyStream
    private let connection: Connection
    private let handle: Handle
    private let server: Core
    private let state = Mutex(State())

    init(_ body: BodyStream, of exchange: Exchange, _ server: Core) {
        self.body = body
        connection = exchange.connection
        handle = exchange.handle
        self.server = server
    }

    /// Fills the buffer with what there is, or suspends the connection. On its worker's thread.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        if isFirst { begin() }
        let (count, waiting) = state.withLock { state in
            let count = unsafe take(&state, into: buffer)
            guard state.unsent < Self.room else {
                return (count, [CheckedContinuation<Void, Never>]())
            }
            defer { state.waiting = [] }
            return (count, state.waiting)
        }
        for producer in waiting { producer.resume() }
        return count
    }

    private func take(_ state: inout State, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(state.unsent, buffer.count, Self.room)
        guard count > 0 else {
            switch state.end {
            case .clean: return Self.endOfBody
            case .cut: return Self.failure
            case nil: break
            }
            handle.suspend()
            state.isSuspended = true
            state.idlePages = unsafe IdlePages(within: buffer, since: monotonicNow())
            return 0
        }
        unsafe state.move(count, into: buffer)
        return count
    }

    /// The head is sent. The producer begins on this thread, as handlers do.
    private func begin() {
        guard server.gate.enter() else {
            state.withLock { $0.end = .cut }
            return
        }
        let now = monotonicNow()
        state.withLock { $0.clocks = StreamClocks(beginning: now, server.limits) }
        connection.enter(.streaming(self), at: now)
        connection.limitUnsentBytes()
        handle.worker.watch(connection, self)
        // The server ends the streams that it finds: this may be one too late to be found.
        if server.isDraining { return finish(.clean) }
        let producer = Task.immediate(executorPreference: handle.worker) {
            do {
                try await body.produce(BodyStream.Writer { try await self.write($0) })
                finish(.clean)
            } catch {
                finish(.cut)
            }
        }
        let isOver = state.withLock { state in
            if state.end == nil { state.producer = producer }
            return state.end != nil
        }
        if isOver { producer.cancel() }
    }

    private func write(_ piece: [UInt8]) async throws {
        let (isOver, wasSuspended) = state.withLock { state in
            guard state.end == nil else { return (true, false) }
            guard !piece.isEmpty else { return (false, false) }
            state.pieces.append(piece)
            state.unsent += piece.count
            defer { state.isSuspended = false }
            return (false, state.isSuspended)
        }
        if isOver { throw CancellationError() }
        if wasSuspended { handle.resume() }
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                guard state.end == nil, state.unsent >= Self.room else { return false }
                state.waiting.append(continuation)
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    /// Ends the stream, unless it has ended: from here on the producer is not asked for more.
    func finish(_ end: End) {
        let ended: State? = state.withLock { state in
            guard state.end == nil else { return nil }
            state.end = end
            defer {
                state.isSuspended = false
                state.producer = nil
                state.waiting = []
            }
            return state
        }
        guard let ended else { return }
        ended.producer?.cancel()
        for producer in ended.waiting { producer.resume() }
        guard ended.hasBegun else { return }
        connection.endStream(self, at: monotonicNow())
        // From here on the connection's thread may end the exchange at any time.
        if ended.isSuspended { handle.resume() }
        server.gate.leave()
    }

    /// libmicrohttpd asks for nothing more. On the worker's thread, before the connection's descriptor
    /// is closed.
    func release() {
        handle.worker.forget(connection, self)
        finish(.cut)
        server.streamEnded()
    }

    /// Its client has gone.
    func hangUp() {
        // Also where libmicrohttpd waits for the client to take more.
        connection.hangUp()
        finish(.cut)
    }

    /// What is over for this stream. `unsent` tells how many bytes the client's system has not taken yet.
    func check(at now: Nanoseconds, unsent: () -> Int) -> StreamClocks.Overdue? {
        state.withLock { state in
            // Under the lock: no other thread resumes the connection in between.
            if state.isSuspended { state.idlePages?.release(at: now) }
            return state.clocks.check(at: now, sent: state.total, unsent: unsent)
        }
    }
}
