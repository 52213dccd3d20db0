internal import CMicroHTTPD
internal import HTTP
internal import Synchronization

/// One request and its response: created when the first line has arrived, released when
/// libmicrohttpd says that the exchange is over.
///
/// The connection's own thread drives it. Two others may answer it: the handler's task, and the
/// deadline. The first answer counts, and resumes the connection, exactly once.
final class Exchange: Sendable {
    enum Stage {
        /// The first line is there: where it lay, to check that nothing was hidden in it.
        case began
        case receiving
        /// The handler has begun; there is no answer yet, and the connection is not suspended.
        case starting(Request)
        /// The connection is suspended.
        case handling(Task<Void, Never>, Request)
        case answered(Response)
        /// A response is queued; what else the client sends is not looked at.
        case done

        /// What the handler is at.
        var request: Request? {
            switch self {
            case .starting(let request), .handling(_, let request): request
            case .began, .receiving, .answered, .done: nil
            }
        }
    }

    struct State {
        var stage = Stage.began
        let target: [UInt8]
        let targetAddress: UInt
        var head: RequestHead?
        var body: [UInt8] = []
        var share: BodyBudget.Share?
        /// The connection is closed behind its answer.
        var isLast = false
    }

    let connection: Connection
    let id: String
    let state: Mutex<State>
    /// Valid from suspending to resuming, which is exactly once: libmicrohttpd never ends an
    /// exchange in between.
    let handle: Handle

    init(
        identifier: String, connection: Connection, handle: Handle, target: [UInt8],
        targetAddress: UInt
    ) {
        self.connection = connection
        self.handle = handle
        self.id = identifier
        state = Mutex(State(target: target, targetAddress: targetAddress))
    }

    /// Lets the handler work on the request in a task of its own, which begins on this thread: an
    /// answer that needs no waiting is there when this returns, and costs no change of threads.
    /// Otherwise the connection is suspended until the handler or the deadline answers.
    func start(_ request: Request, _ server: Core) -> Response? {
        state.withLock { $0.stage = .starting(request) }
        connection.enter(.handling(self), at: monotonicNow())
        let task = Task.immediate(executorPreference: handle.worker) {
            let response = await server.handler(request)
            answer(response, server)
        }
        let response: Response? = state.withLock { state in
            if case .answered(let response) = state.stage {
                state.stage = .done
                return response
            }
            // Under the lock: the next answer finds the connection suspended.
            handle.suspend()
            state.stage = .handling(task, request)
            return nil
        }
        if response != nil {
            server.gate.leave()
            task.cancel()
        }
        return response
    }

    var isLast: Bool { state.withLock { $0.isLast } }

    /// Why the length that its client gives can't be read; nil where it can. While its head is being read,
    /// on its worker's thread.
    var unreadableLength: Refusal? { handle.unreadableLength }

    /// Sends the response, unless the exchange has one already.
    @discardableResult
    func answer(_ response: Response, _ server: Core) -> Bool {
        let (isFirst, task): (Bool, Task<Void, Never>?) = state.withLock { state in
            switch state.stage {
            case .starting:
                state.stage = .answered(response)
                return (true, nil)
            case .handling(let task, _):
                state.stage = .answered(response)
                return (true, task)
            case .began, .receiving, .answered, .done:
                return (false, nil)
            }
        }
        guard let task else { return isFirst }
        // Harmless to a handler that has returned. One that has not knows that it is given up before the
        // client hears of it, who may come again at once.
        task.cancel()
        // From here on the connection's thread may end the exchange at any time.
        handle.resume()
        server.gate.leave()
        return true
    }

    /// Answers in the handler's place.
    @discardableResult
    func refuse(_ refusal: Refusal, _ server: Core) -> Bool {
        guard let request = state.withLock({ $0.stage.request }) else { return false }
        return answer(server.response(to: request, refusing: refusal), server)
    }
}

/// A connection of libmicrohttpd, to be suspended by its worker's thread and resumed from wherever
/// we are: the calls lock by themselves.
@safe struct Handle: @unchecked Sendable {
    private let pointer: OpaquePointer
    let worker: Worker

    init(_ pointer: OpaquePointer, _ worker: Worker) {
        unsafe self.pointer = pointer
        self.worker = worker
    }

    var unreadableLength: Refusal? {
        let name: StaticString = "Content-Length"
        var value: UnsafePointer<CChar>?
        var count = 0
        let found = unsafe MHD_lookup_connection_value_n(
            pointer, .HEADER_KIND,
            UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
            name.utf8CodeUnitCount, &value, &count)
        guard found == .YES, let value = unsafe value else { return nil }
        guard let length = unsafe decimal(UnsafeRawBufferPointer(start: value, count: count))
        else { return .framing }
        return length == .max ? .bodyTooLarge : nil
    }

    func suspend() { unsafe MHD_suspend_connection(pointer) }

    func resume() {
        unsafe MHD_resume_connection(pointer)
        worker.ring()
    }
}
