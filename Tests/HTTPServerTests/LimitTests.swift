import Glibc
import HTTP
import Testing

@testable import HTTPServer

@Suite struct `A server's limits` {
    /// A request whose first line and headers have just that many bytes.
    private func headed(_ bytes: Int) -> String {
        let frame = "GET / HTTP/1.1\r\nHost: a\r\nA: \r\n\r\n"
        let fill = String(repeating: "x", count: bytes - frame.utf8.count)
        return "GET / HTTP/1.1\r\nHost: a\r\nA: \(fill)\r\n\r\n"
    }

    @Test(arguments: [256, 1024, 32 * 1024])
    func `headers up to the limit are accepted, and refused above it`(limit: Int) async throws {
        try await withServer(configured { $0.maximumHeaderBytes = limit }) { server in
            let fits = try await ask(server.port, headed(limit))
            #expect(fits.status == 200)
            for excess in [1, 2, limit, limit * 8] {
                let reply = try await ask(server.port, headed(limit + excess))
                #expect(reply.status == 431)
            }
        }
    }

    @Test func `many small headers and a long path are refused as too large`() async throws {
        try await withServer { server in
            let small = String(repeating: "b:c\r\n", count: 12_000)
            let many = try await ask(server.port, "GET / HTTP/1.1\r\nHost: a\r\n\(small)\r\n")
            #expect(many.status == 431)
            let path = String(repeating: "a", count: 40_000)
            let long = try await ask(server.port, get("/\(path)"))
            #expect(long.status == 431)
            // Beyond what the library can hold it answers by itself.
            let longer = try await ask(server.port, get("/\(path + path + path + path)"))
            #expect(longer.status == 414)
        }
    }

    @Test(arguments: [200, 600, 5_000, 14_000])
    func `a query of more than two hundred parameters is refused with its reason`(
        _ count: Int
    ) async throws {
        let configuration = configured { $0.idleTimeout = .seconds(60) }
        try await withServer(configuration) { server in
            let query = String(repeating: "a&", count: count - 1) + "a"
            let start = ContinuousClock.now
            let reply = try await ask(server.port, get("/?" + query))
            #expect(reply.status == (count > 200 ? 400 : 200))
            #expect(ContinuousClock.now - start < .seconds(8))
            // However long they are.
            guard count == 200 else { return }
            let fill = String(repeating: "x", count: 32 * 1024 - 4 * count - 64)
            let long = try await ask(server.port, get("/?" + query + fill))
            #expect(long.status == 200)
        }
    }

    @Test func `a body up to the limit is accepted, and refused above it`() async throws {
        try await withServer(configured { $0.maximumBodyBytes = 1000 }, handler: echo) { server in
            let fits = try await ask(server.port, post(String(repeating: "x", count: 1000)))
            #expect(fits.status == 200)
            let reply = try await offPool {
                let client = try Client(server.port)
                try client.send(post(String(repeating: "x", count: 1001)))
                return try client.receive()
            }
            #expect(reply.status == 413)
            #expect(reply["Connection"] == "close")
        }
    }

    @Test func `all bodies together have a limit that frees up again`() async throws {
        let small = configured {
            $0.maximumBufferedBytes = 4000
            $0.uncountedBodyBytes = 0
        }
        try await withServer(small, handler: echo) { server in
            for _ in 0..<3 {
                let reply = try await offPool {
                    let client = try Client(server.port)
                    try client.send(post(String(repeating: "x", count: 5000)))
                    return try client.receive()
                }
                #expect(reply.status == 503)
                #expect(reply["Retry-After"] == "1")
                let fits = try await ask(server.port, post(String(repeating: "x", count: 3000)))
                #expect(fits.status == 200)
            }
        }
    }

    @Test func `large bodies that never end keep no short one from being read`() async throws {
        let small = configured {
            $0.maximumBufferedBytes = 4000
            $0.uncountedBodyBytes = 1000
        }
        try await withServer(small, handler: echo) { server in
            // Until the server has read what a slow client sent: one that comes after a long body is refused itself.
            var slow: Client?
            var long = 200
            while long == 200 {
                slow = nil
                let next = try Client(server.port)
                try next.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n"
                        + String(repeating: "x", count: 4900))
                slow = next
                long = try await ask(server.port, post(String(repeating: "x", count: 1500))).status
            }
            #expect(long == 503)
            let short = try await ask(server.port, post(String(repeating: "x", count: 1000)))
            #expect(short.status == 200)
            withExtendedLifetime(slow) {}
        }
    }

    @Test func `a body that is announced too large is refused before it is read`() async throws {
        try await withServer { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        + "Content-Length: 1048577\r\n\r\n")
                #expect(try client.receive().status == 413)
                #expect(client.isClosedByServer())
            }
        }
    }

    @Test func `a chunked body is refused where it passes the limit`() async throws {
        try await withServer(configured { $0.maximumBodyBytes = 1000 }, handler: echo) { server in
            let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            let chunk = "64\r\n" + String(repeating: "x", count: 100) + "\r\n"
            let whole = String(repeating: chunk, count: 10)
            let fits = try await ask(server.port, head + whole + "0\r\n\r\n")
            #expect(fits.status == 200)
            try await offPool {
                let client = try Client(server.port)
                // No end in sight: the answer comes while the client still sends.
                try client.send(head + whole + "1\r\nx\r\n")
                let reply = try client.receive()
                #expect(reply.status == 413)
                #expect(reply["Connection"] == "close")
                #expect(client.isClosedByServer())
            }
            #expect(server.statistics.refused == 1)
        }
    }

    @Test func `bytes after the announced length are the next request`() async throws {
        try await withServer(handler: echo) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nabX / HTTP/1.1\r\nHost: a\r\n\r\n"
                )
                #expect(try client.receive().text.hasSuffix("\nab"))
                #expect(try client.receive().status == 501)
            }
        }
    }

    @Test func `an idle connection is evicted for a new one when the server is full`() async throws
    {
        try await withServer(configured { $0.maximumConnections = 5 }) { server in
            try await offPool {
                let first = try Client(server.port)
                try first.send(get("/"))
                #expect(try first.receive().status == 200)
                let slow = try Client(server.port)
                try slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx")
                let silent = try (0..<40).map { _ in try Client(server.port) }
                for _ in 0..<10 {
                    let late = try Client(server.port)
                    try late.send(get("/"))
                    #expect(try late.receive().status == 200)
                }
                #expect(first.isClosedByServer() && slow.isClosedByServer())
                #expect(silent[0].isClosedByServer())
            }
            #expect(await eventually { server.statistics.connections <= 5 })
        }
    }

    @Test func `a connection with a request in progress is not evicted`() async throws {
        let latch = Latch()
        let handler: Handler = { request in
            await latch.wait()
            return await hello(request)
        }
        let configuration = configured { $0.maximumConnections = 5 }
        try await withServer(configuration, handler: handler) { server in
            try await offPool {
                let served = try (0..<5).map { _ in try Client(server.port) }
                for client in served { try client.send(get("/")) }
                while latch.arrived < 5 { usleep(1_000) }
                let turnedAway = try Client(server.port)
                try? turnedAway.send(get("/"))
                #expect(turnedAway.isClosedByServer())
                latch.open()
                for client in served { #expect(try client.receive().status == 200) }
            }
            #expect(server.statistics.turnedAway == 1)
            let status = try await ask(server.port, get("/")).status
            #expect(status == 200)
        }
    }

    @Test func `connections are counted by source`() async throws {
        let configuration = configured {
            $0.maximumConnectionsPerSource = 2
            $0.address = "::"
        }
        try await withServer(configuration) { server in
            try await offPool {
                let mine = try (0..<2).map { _ in try Client(server.port, address: "127.0.0.1") }
                for client in mine {
                    try client.send(get("/"))
                    #expect(try client.receive().status == 200)
                }
                let third = try Client(server.port, address: "127.0.0.1")
                try? third.send(get("/"))
                #expect(third.isClosedByServer())
                for other in [
                    try Client(server.port, from: "127.0.0.2"),
                    try Client(server.port, address: "::1"),
                ] {
                    try other.send(get("/"))
                    #expect(try other.receive().status == 200)
                }
            }
        }
    }

    @Test func `a handler is cancelled at its deadline`() async throws {
        let cancelled = Tally()
        let handler: Handler = { request in
            guard request.path == "/slow" else { return await hello(request) }
            do { try await Task.sleep(for: .seconds(60)) } catch {
                cancelled.add()
            }
            return Response(status: .ok, body: Array("too late".utf8))
        }
        let configuration = configured { $0.requestDeadline = .milliseconds(200) }
        try await withServer(configuration, handler: handler) { server in
            try await offPool {
                let clients = try (0..<20).map { _ in try Client(server.port) }
                for client in clients { try client.send(get("/slow") + get("/")) }
                for client in clients {
                    let reply = try client.receive()
                    #expect(reply.status == 503)
                    #expect(reply["Retry-After"] == "1")
                    // The connection lives on, and what comes late goes to nobody.
                    #expect(try client.receive().text == "Hello")
                }
            }
            #expect(await eventually { cancelled.count == 20 })
            #expect(server.statistics.overdue == 20)
        }
    }

    @Test func `a request over its deadline may be answered in its surface's own words`()
        async throws
    {
        let latch = Latch()
        let handler: Handler = { request in
            await latch.wait()
            return await hello(request)
        }
        let configuration = configured { $0.requestDeadline = .milliseconds(100) }
        try await withServer(configuration, unanswered: apology, handler: handler) { server in
            let polite = try await ask(server.port, get("/polite"))
            #expect(polite.status == 503 && polite["Retry-After"] == "7")
            #expect(polite.text == "The request took too long.")
            let plain = try await ask(server.port, get("/"))
            #expect(plain.status == 503 && plain["Content-Type"] == "application/problem+json")
            latch.open()
        }
    }

    @Test func `a handler that ignores its cancellation cannot hold its client`() async throws {
        let latch = Latch()
        let handler: Handler = { request in
            await latch.wait()
            return await hello(request)
        }
        let configuration = configured { $0.requestDeadline = .milliseconds(100) }
        try await withServer(configuration, handler: handler) { server in
            let status = try await ask(server.port, get("/")).status
            #expect(status == 503)
            latch.open()
        }
    }
}
