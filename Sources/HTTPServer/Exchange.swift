internal import CMicroHTTPD
internal import HTTP
internal import Synchronization

/// One request and its response: created when the first line has arrived, released when
/// libmicrohttpd says that the exchange is over.
///
/// The connection's own thread drives it. Two others may answer it: the handler's task, and the
/// deadline. Whoever is first counts, and resumes the connection, exactly once.
final class Exchange: Sendable {
    enum Stage {
        /// The first line is there: where it lay, to check that nothing was hidden in it.
        case began
        case receiving
        case handling(Task<Void, Never>?)
        case answered(Response)
        /// A response is queued; what else the client sends is not looked at.
        case done
    }

    struct State {
        var stage = Stage.began
        let target: [UInt8]
        let targetAddress: UInt
        var head: RequestHead?
        var body: [UInt8] = []
    }

    let connection: Connection
    let id: String
    let state: Mutex<State>
    /// Valid from suspending to resuming, which is exactly once: libmicrohttpd never ends an
    /// exchange in between.
    private let handle: Handle

    init(connection: Connection, handle: Handle, target: [UInt8], targetAddress: UInt) {
        self.connection = connection
        self.handle = handle
        self.id = randomIdentifier()
        state = Mutex(State(target: target, targetAddress: targetAddress))
    }

    /// Suspends the connection and lets the handler work on the request in a task of its own.
    func start(
        _ request: Request, _ server: Core,
    ) {
        state.withLock { $0.stage = .handling(nil) }
        connection.enter(.handling(self), at: monotonicNow())
        handle.suspend()
        let task = Task {
            let response = await server.handler(request)
            answer(response, server)
        }
        state.withLock { state in
            if case .handling = state.stage { state.stage = .handling(task) }
        }
    }

    /// Answers unless somebody else already has.
    @discardableResult
    func answer(_ response: Response, _ server: Core) -> Bool {
        let task: Task<Void, Never>?? = state.withLock { state in
            guard case .handling(let task) = state.stage else { return nil }
            state.stage = .answered(response)
            return .some(task)
        }
        guard let task else { return false }
        // From here on the connection's thread may end the exchange at any time.
        handle.resume()
        server.gate.leave()
        // Harmless to a handler that has returned.
        task?.cancel()
        return true
    }
}

/// A connection of libmicrohttpd, to be suspended and resumed from wherever we are: both calls lock
/// by themselves.
@safe struct Handle: @unchecked Sendable {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    func suspend() { unsafe MHD_suspend_connection(pointer) }
    func resume() { unsafe MHD_resume_connection(pointer) }
}

/// 64 random bits in hexadecimal digits.
private func randomIdentifier() -> String {
    var bits = UInt64.random(in: 0 ... .max)
    return unsafe String(unsafeUninitializedCapacity: 16) { buffer in
        for index in buffer.indices {
            let digit = UInt8(truncatingIfNeeded: bits & 0xF)
            unsafe buffer[index] = digit < 10 ? 48 + digit : 87 + digit
            bits >>= 4
        }
        return 16
    }
}
