import Glibc
import HTTP
import Testing

@testable import HTTPServer

/// Asks until nobody listens any more; how many responses began and were not whole.
private func load(_ port: UInt16, _ answered: Tally) -> Int {
    var cut = 0
    while let client = try? Client(port) {
        var isOpen = true
        while isOpen {
            do {
                try client.send(get("/"))
                let reply = try client.receive()
                if reply.text != "Hello" { cut += 1 }
                answered.add()
                isOpen = reply["Connection"] != "close"
            } catch {
                // Not answered at all is honest: it was not handled.
                if client.hasBegunReply { cut += 1 }
                isOpen = false
            }
        }
    }
    return cut
}

@Suite struct `A server stops` {
    @Test func `a server stops after the requests in flight and takes no more`() async throws {
        let latch = Latch()
        let server = try Server(Configuration()) { request in
            await latch.wait()
            return await hello(request)
        }
        let port = server.port
        let replies = Task {
            try await offPool {
                let clients = try (0..<20).map { _ in try Client(port) }
                for client in clients { try client.send(get("/")) }
                return try clients.map { client in
                    let reply = try client.receive()
                    return (reply.text, reply["Connection"], client.isClosedByServer())
                }
            }
        }
        #expect(await eventually { latch.arrived == 20 })
        let stopped = Task { await server.stop(drain: .seconds(20)) }
        let refused = await eventually {
            await (try? offPool { _ = try Client(port) }) == nil
        }
        #expect(refused)
        #expect(server.statistics.liveRequests == 20)
        latch.open()
        for (text, connection, isClosed) in try await replies.value {
            #expect(text == "Hello")
            #expect(connection == "close")
            #expect(isClosed)
        }
        await stopped.value
        #expect(server.statistics.connections == 0)
    }

    @Test func `a server that stops answers 503 to what does not finish within the drain time`()
        async throws
    {
        let latch = Latch()
        let cancelled = Tally()
        let server = try Server(Configuration()) { request in
            await withTaskCancellationHandler {
                await latch.wait()
            } onCancel: {
                cancelled.add()
            }
            return await hello(request)
        }
        let port = server.port
        let statuses = Task {
            try await offPool {
                let clients = try (0..<20).map { _ in try Client(port) }
                for client in clients { try client.send(get("/")) }
                return try clients.map { try $0.receive().status }
            }
        }
        #expect(await eventually { latch.arrived == 20 })
        await server.stop(drain: .milliseconds(50))
        #expect(try await statuses.value == Array(repeating: 503, count: 20))
        #expect(cancelled.count == 20)
        #expect(server.statistics.liveRequests == 0)
        // Handlers that return now find nobody, and harm nobody.
        latch.open()
    }

    @Test func `a server that stops answers in the surface's own words`() async throws {
        let latch = Latch()
        let server = try Server(Configuration(), unanswered: apology) { request in
            await latch.wait()
            return await hello(request)
        }
        let port = server.port
        let reply = Task { try await ask(port, get("/polite")) }
        #expect(await eventually { latch.arrived == 1 })
        await server.stop(drain: .milliseconds(50))
        #expect(try await reply.value.text == "The server is stopping.")
        latch.open()
    }

    @Test func `a server stops under load without cutting a response`() async throws {
        for _ in 0..<5 {
            let server = try Server(Configuration()) { request in
                await Task.yield()
                return await hello(request)
            }
            let port = server.port
            let answered = Tally()
            let loads = (0..<8).map { _ in
                Task { try await offPool { load(port, answered) } }
            }
            #expect(await eventually { answered.count > 300 })
            await server.stop(drain: .seconds(10))
            for load in loads { #expect(try await load.value == 0) }
            let statistics = server.statistics
            #expect(statistics.requests == answered.count)
            #expect(statistics.liveRequests == 0 && statistics.connections == 0)
        }
    }

    @Test func `a server that is idle stops soon, and once when told twice`() async throws {
        let server = try Server(Configuration(), handler: hello)
        let port = server.port
        let closed = Task {
            try await offPool {
                let clients = try (0..<10).map { _ in try Client(port) }
                return clients.map { $0.isClosedByServer() }
            }
        }
        #expect(await eventually { server.statistics.connections == 10 })
        async let first: Void = server.stop(drain: .seconds(30))
        async let second: Void = server.stop(drain: .zero)
        _ = await (first, second)
        #expect(try await closed.value == Array(repeating: true, count: 10))
    }

    @Test func `a server that stopped leaves nothing behind`() async throws {
        let core = Weak<Core>()
        try await withServer { server in
            core.object = server.core
            _ = try await ask(server.port, get("/"))
        }
        #expect(await eventually { core.object == nil })
    }

    @Test func `a server stops when its last reference is dropped`() async throws {
        let port = try Server(Configuration(), handler: hello).port
        let refused = await eventually { await (try? offPool { _ = try Client(port) }) == nil }
        #expect(refused)
    }
}

@Suite struct `A server listens` {
    @Test func `a server listens on IPv6 and names sources plainly`() async throws {
        try await withServer(configured { $0.address = "::" }, handler: echo) { server in
            for (address, source) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1")] {
                let text = try await offPool {
                    let client = try Client(server.port, address: address)
                    try client.send(get("/"))
                    return try client.receive().text
                }
                #expect(text.contains("\nfrom \(source)\n"))
            }
        }
    }

    @Test func `a server listens on a socket that was handed in`() async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(listen(descriptor, 10) == 0)
        // As systemd does, somebody else keeps the socket open.
        let keeper = dup(descriptor)
        defer { close(keeper) }
        for _ in 0..<2 {
            try await withServer(configured { $0.listeningSocket = dup(keeper) }) { server in
                #expect(server.port != 0)
                let text = try await ask(server.port, get("/")).text
                #expect(text == "Hello")
            }
        }
        close(descriptor)
    }

    @Test func `a server does not listen on a port in use`() async throws {
        try await withServer { server in
            var configuration = Configuration()
            configuration.port = server.port
            #expect(refusal(configuration)?.code == .socket)
        }
    }

    @Test func `a server does not listen with a configuration that cannot work`() {
        let changes: [@Sendable (inout Configuration) -> Void] = [
            { $0.threads = 0 }, { $0.maximumConnections = 0 }, { $0.maximumHeaderBytes = 10 },
            { $0.maximumBodyBytes = -1 }, { $0.idleTimeout = .zero },
            { $0.maximumConnectionsPerSource = 0 },
        ]
        for change in changes {
            var configuration = Configuration()
            change(&configuration)
            #expect(refusal(configuration)?.code == .configuration)
        }
        for address in ["", "localhost", "127.0.0", "::g"] {
            var configuration = Configuration()
            configuration.address = address
            #expect(refusal(configuration)?.code == .address)
        }
    }

    private func refusal(_ configuration: Configuration) -> Failure? {
        do throws(Failure) {
            _ = try Server(configuration, handler: hello)
            return nil
        } catch {
            return error
        }
    }
}
