import Glibc
import HTTP
import Testing

@testable import HTTPServer

/// Clients that hold a connection as long as they can.
@Suite struct `A slow client is closed` {
    private func closes(
        _ server: Server, saying bytes: String = "", trickle: String = ""
    ) async throws -> Bool {
        try await offPool {
            let client = try Client(server.port)
            try client.send(bytes)
            let drops = Array(trickle.utf8)
            // Far longer than the limit below, and far shorter than the client's own patience.
            for turn in 0..<200 {
                if !drops.isEmpty {
                    do { try client.send([drops[turn % drops.count]]) } catch { return true }
                }
                var waiting = pollfd(
                    fd: client.descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&waiting, 1, 25) > 0 { return client.isClosedByServer() }
            }
            return false
        }
    }

    private let quick = configured {
        $0.idleTimeout = .milliseconds(300)
        $0.transferTimeout = .milliseconds(300)
    }

    @Test func `a slow client is closed when it says nothing`() async throws {
        try await withServer(quick) { server in
            let isClosed = try await closes(server)
            #expect(isClosed)
            #expect(await eventually { server.statistics.closedSlow == 1 })
        }
    }

    @Test func `a slow client is closed when its first line trickles`() async throws {
        try await withServer(quick) { server in
            let isClosed = try await closes(server, saying: "GET /", trickle: "a")
            #expect(isClosed)
        }
    }

    @Test func `a slow client is closed when its headers trickle`() async throws {
        try await withServer(quick) { server in
            let isClosed = try await closes(
                server, saying: "GET / HTTP/1.1\r\n", trickle: "A: b\r\n")
            #expect(isClosed)
        }
    }

    @Test func `a slow client is closed when its body trickles`() async throws {
        try await withServer(quick) { server in
            let isClosed = try await closes(
                server, saying: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n",
                trickle: "x")
            #expect(isClosed)
            let isClosedToo = try await closes(
                server, saying: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                trickle: "1\r\nx\r\n")
            #expect(isClosedToo)
        }
    }

    @Test func `a slow client is closed when it keeps its connection and asks nothing more`()
        async throws
    {
        try await withServer(quick) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send(get("/"))
                #expect(try client.receive().status == 200)
                #expect(client.isClosedByServer())
            }
        }
    }

    @Test func `a slow client is closed when it does not take its response`() async throws {
        let handler: Handler = { _ in
            Response(status: .ok, body: [UInt8](repeating: 120, count: 20_000_000))
        }
        try await withServer(quick, handler: handler) { server in
            try await offPool {
                let client = try Client(server.port, receiveBuffer: 4096)
                try client.send(get("/"))
                let deadline = monotonicNow() + 10_000_000_000
                while server.statistics.closedSlow == 0, monotonicNow() < deadline {
                    usleep(10_000)
                }
                #expect(server.statistics.closedSlow == 1)
            }
        }
    }

    @Test func `a slow client is not closed while its handler works`() async throws {
        let handler: Handler = { request in
            try? await Task.sleep(for: .seconds(2))
            return await hello(request)
        }
        let configuration = configured {
            $0.idleTimeout = .seconds(1)
            $0.transferTimeout = .seconds(1)
        }
        try await withServer(configuration, handler: handler) { server in
            let status = try await ask(server.port, get("/")).status
            #expect(status == 200)
        }
    }
}
