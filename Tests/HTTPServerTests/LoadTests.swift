import Glibc
import HTTP
import Testing

@testable import HTTPServer

@Suite struct `A server bears` {
    @Test(arguments: [(128, 1), (256, 1), (256, 2), (1000, 2)])
    func `a server under load answers many connections at once`(count: Int, threads: Int)
        async throws
    {
        try await withServer(configured { $0.idleTimeout = .seconds(60) }, handler: echo) {
            server in
            try await offPool {
                let clients = try (0..<count).map { _ in try Client(server.port) }
                for round in 0..<3 {
                    for (number, client) in clients.enumerated() {
                        try client.send(get("/\(round)/\(number)"))
                    }
                    for (number, client) in clients.enumerated() {
                        #expect(
                            try client.receive().text.hasPrefix("GET /\(round)/\(number) ?-\n"))
                    }
                }
                #expect(server.statistics.connections == count)
            }
            #expect(await eventually { server.statistics.connections == 0 })
            #expect(server.statistics.requests == count * 3)
        }
    }

    @Test func `a server under load runs many handlers at once`() async throws {
        let latch = Latch()
        let handler: Handler = { request in
            await latch.wait()
            return await hello(request)
        }
        let configuration = configured { $0.requestDeadline = .seconds(60) }
        try await withServer(configuration, handler: handler) { server in
            let done = Task {
                try await offPool {
                    let clients = try (0..<1000).map { _ in try Client(server.port) }
                    for client in clients { try client.send(get("/")) }
                    for client in clients { #expect(try client.receive().text == "Hello") }
                }
            }
            #expect(await eventually { latch.arrived == 1000 })
            #expect(server.statistics.liveRequests == 1000)
            latch.open()
            try await done.value
        }
    }

    @Test func `a server survives clients that vanish in the middle of a request`() async throws {
        try await withServer { server in
            let pieces = [
                "", "GET", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12",
            ]
            try await offPool {
                for number in 0..<1000 {
                    let client = try Client(server.port)
                    try client.send(pieces[number % pieces.count])
                    if number % 2 == 0 { client.vanish() } else { client.close() }
                }
            }
            #expect(await eventually { server.statistics.connections == 0 })
            #expect(server.statistics.liveRequests == 0)
            let text = try await ask(server.port, get("/")).text
            #expect(text == "Hello")
        }
    }

    @Test func `a server survives clients that vanish while their handlers work`() async throws {
        let latch = Latch()
        let handler: Handler = { request in
            if request.path == "/wait" { await latch.wait() }
            return await hello(request)
        }
        let configuration = configured { $0.requestDeadline = .seconds(60) }
        try await withServer(configuration, handler: handler) { server in
            try await offPool {
                for number in 0..<1000 {
                    let client = try Client(server.port)
                    try client.send(get("/wait") + get("/"))
                    if number % 2 == 0 {
                        // The handler is surely at work.
                        while latch.arrived <= number { usleep(100) }
                        client.vanish()
                    } else {
                        client.close()
                    }
                    while latch.arrived <= number { usleep(100) }
                }
            }
            latch.open()
            #expect(await eventually { server.statistics.connections == 0 })
            #expect(server.statistics.liveRequests == 0)
            let text = try await ask(server.port, get("/")).text
            #expect(text == "Hello")
        }
    }

    @Test func `a server survives clients that vanish in the middle of a response`() async throws {
        let handler: Handler = { _ in
            Response(status: .ok, body: [UInt8](repeating: 120, count: 3_000_000))
        }
        try await withServer(handler: handler) { server in
            try await offPool {
                for _ in 0..<100 {
                    let client = try Client(server.port, receiveBuffer: 4096)
                    try client.send(get("/"))
                    var bytes = [UInt8](repeating: 0, count: 1000)
                    #expect(recv(client.descriptor, &bytes, bytes.count, 0) > 0)
                    client.vanish()
                }
            }
            #expect(await eventually { server.statistics.connections == 0 })
        }
    }
}
