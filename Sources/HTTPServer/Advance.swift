internal import CMicroHTTPD
internal import HTTP
internal import Synchronization

/// What libmicrohttpd brings at one step of an exchange. Lives for the length of the call.
@unsafe struct Arrival {
    let handle: OpaquePointer?
    let method: UnsafePointer<CChar>?
    let version: UnsafePointer<CChar>?
    let data: UnsafePointer<CChar>?
    let count: Int
}

/// The next step of a request.
enum Step {
    case goOn
    case reply(Response, closing: Bool)
    /// The connection is closed without a word, or with one that was already said.
    case giveUp
}

extension Exchange {
    /// libmicrohttpd calls with the headers, then with each piece of the body, then without data
    /// when all is there, and again without data after the connection was resumed.
    func advance(_ arrival: Arrival, _ server: Core) -> Step {
        enum Now {
            case head, body, whole
            case reply(Response)
            case nothing
        }
        let now: Now = state.withLock { state in
            switch state.stage {
            case .began:
                state.stage = .receiving
                return .head
            case .receiving: return unsafe arrival.count > 0 ? .body : .whole
            case .answered(let response):
                state.stage = .done
                return .reply(response)
            case .starting, .handling, .done: return .nothing
            }
        }
        switch now {
        case .head: return unsafe takeHead(arrival, server)
        case .body: return unsafe takeBody(arrival, server)
        case .whole: return handle(server)
        case .reply(let response): return .reply(response, closing: false)
        case .nothing: return .goOn
        }
    }

    private func takeHead(_ arrival: Arrival, _ server: Core) -> Step {
        let (target, targetAddress) = state.withLock { ($0.target, $0.targetAddress) }
        let head = unsafe readHead(
            arrival, target: target, targetAddress: targetAddress, server.configuration)
        switch head {
        case .failure(let refusal):
            state.withLock { $0.stage = .done }
            server.refused(refusal)
            return .reply(refusal.response, closing: true)
        case .success(let head):
            state.withLock { state in
                state.head = head
                // libmicrohttpd takes a bare line feed for the end of a line between chunks, and can't be
                // told not to: where another server saw the body end elsewhere, nothing follows here.
                state.isLast = head.isChunked
                // A client's word alone does not get it much memory.
                state.body.reserveCapacity(min(head.contentLength ?? 0, 16 * 1024))
            }
            return .goOn
        }
    }

    private func takeBody(_ arrival: Arrival, _ server: Core) -> Step {
        let data = unsafe UnsafeRawBufferPointer(start: arrival.data, count: arrival.count)
        let refusal: Refusal? = state.withLock { state in
            let share = state.share ?? BodyBudget.Share(of: server.bodies)
            state.share = share
            let fits = data.count <= server.configuration.maximumBodyBytes - state.body.count
            guard fits, share.take(data.count) else {
                state.stage = .done
                state.body = []
                return fits ? .bodiesTooMany : .bodyTooLarge
            }
            unsafe state.body.append(contentsOf: data)
            return nil
        }
        guard let refusal else { return .goOn }
        // In the middle of a body libmicrohttpd takes no response, and reading on would let a
        // client send for ever.
        server.refused(refusal)
        connection.sendLast(refusal.message)
        return .giveUp
    }

    private func handle(_ server: Core) -> Step {
        let request: Request? = state.withLock { state in
            guard let head = state.head else { return nil }
            let body = state.body
            state.body = []
            state.head = nil
            return Request(
                method: head.method, path: head.path, query: head.query, headers: head.headers,
                body: body, source: connection.source.text, id: id)
        }
        guard let request else { return .giveUp }
        guard server.gate.enter() else {
            state.withLock { $0.stage = .done }
            server.refused(.stopping)
            return .reply(server.response(to: request, refusing: .stopping), closing: true)
        }
        if let response = server.ready(request) {
            server.gate.leave()
            state.withLock { $0.stage = .done }
            return .reply(response, closing: false)
        }
        guard let response = start(request, server) else { return .goOn }
        return .reply(response, closing: false)
    }
}
