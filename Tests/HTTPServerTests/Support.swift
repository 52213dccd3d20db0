import Glibc
import HTTP
import Synchronization
import Testing

@testable import HTTPServer

/// Runs blocking calls on a thread of their own.
func offPool<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let box = Box { continuation.resume(with: Swift.Result { try work() }) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(box).toOpaque()
        let failed = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().work() }
                return nil
            }, context)
        precondition(failed == 0, "a thread can be made")
        pthread_detach(thread)
    }
}

private final class Box: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// Holds handlers until a test lets them go.
final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var arrived = 0
    }

    private let state = Mutex(State())

    var arrived: Int { state.withLock { $0.arrived } }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.arrived += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Counts what happens on several threads.
final class Tally: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .sequentiallyConsistent) }
    func add() { value.add(1, ordering: .sequentiallyConsistent) }
}

/// Looks at an object without keeping it.
final class Weak<Object: AnyObject & Sendable>: Sendable {
    private struct Reference { weak var object: Object? }
    private let reference = Mutex(Reference())
    var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}

/// Waits for something that other threads bring about; false when it takes longer than it ever may.
func eventually(_ condition: @Sendable () async -> Bool) async -> Bool {
    for _ in 0..<3000 {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return await condition()
}

typealias Handler = @Sendable (Request) async -> Response

/// Patient, because a machine that tests may be a busy one.
func configured(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
    var configuration = Configuration()
    configuration.requestDeadline = .seconds(30)
    change(&configuration)
    return configuration
}

/// A server on a free port for the length of a test, which ends with no request left over.
func withServer<Result>(
    _ configuration: Configuration = configured(),
    ready: @escaping @Sendable (Request) -> Response? = { _ in nil },
    unanswered: @escaping @Sendable (Request, String) -> Response? = { _, _ in nil },
    handler: @escaping Handler = hello, _ body: (Server) async throws -> Result
) async throws -> Result {
    let server = try Server(
        configuration, ready: ready, unanswered: unanswered, handler: handler)
    let result: Result
    do { result = try await body(server) } catch {
        await server.stop(drain: .seconds(2))
        throw error
    }
    #expect(await eventually { server.statistics.liveRequests == 0 })
    await server.stop(drain: .seconds(2))
    #expect(server.statistics.liveRequests == 0)
    #expect(server.statistics.connections == 0)
    return result
}

let hello: Handler = { _ in
    Response(status: .ok, headers: ["Content-Type": "text/plain"], body: Array("Hello".utf8))
}

/// Says why no handler answers, at one path.
let apology: @Sendable (Request, String) -> Response? = { request, detail in
    guard request.path == "/polite" else { return nil }
    return Response(
        status: .serviceUnavailable, headers: ["Retry-After": "7"], body: Array(detail.utf8))
}

/// Says what it was asked, a line for each part.
let echo: Handler = { request in
    var lines = [
        "\(request.method.rawValue) \(request.path) ?\(request.query ?? "-")",
        "from \(request.source)", "id \(request.id)",
    ]
    lines += request.headers.map { "\($0.name)=\($0.value)" }
    return Response(
        status: .ok, body: Array(lines.joined(separator: "\n").utf8) + [10] + request.body)
}

/// Sends bytes on a connection of their own and gives the first response.
func ask(_ port: UInt16, _ bytes: [UInt8]) async throws -> Client.Reply {
    try await offPool {
        let client = try Client(port)
        try client.send(bytes)
        return try client.receive()
    }
}

func ask(_ port: UInt16, _ text: String) async throws -> Client.Reply {
    try await ask(port, Array(text.utf8))
}

func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: test\r\n\r\n" }

func post(_ body: String) -> String {
    "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
}

/// Answers each path with the stream that is given for it.
func streams(_ producers: [String: BodyStream.Producer]) -> Handler {
    { request in
        guard let producer = producers[request.path] else { return await hello(request) }
        return Response(
            status: .ok, headers: ["Content-Type": "text/event-stream"],
            stream: BodyStream(producer))
    }
}

/// Says that it is there, and then nothing until it is cancelled.
let silent: BodyStream.Producer = { writer in
    try await writer.write(Array("here\n".utf8))
    try await Task.sleep(for: .seconds(3600))
}

/// Sends bytes on a connection of their own, and reads a body in chunks.
func follow(_ port: UInt16, _ path: String) async throws -> (text: String, isWhole: Bool) {
    try await offPool {
        let client = try Client(port)
        try client.send(get(path))
        #expect(try client.receiveHead().status == 200)
        return try client.receiveChunks()
    }
}
