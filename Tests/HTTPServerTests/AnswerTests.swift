import HTTP
import Testing

@testable import HTTPServer

@Suite struct `A server answers` {
    @Test func `a server passes the request as sent and answers with the handler's response`()
        async throws
    {
        try await withServer(handler: echo) { server in
            let reply = try await ask(
                server.port,
                "POST /a%2Fb;c/%zz+d?x=%zz&&y HTTP/1.1\r\nHost: example.test:8080\r\nX-One:  1 \r\n"
                    + "x-one:\t2\r\nEmpty:\r\nContent-Length: 3\r\n\r\nabc")
            #expect(reply.status == 200)
            let lines = reply.text.split(separator: "\n")
            #expect(lines[0] == "POST /a%2Fb;c/%zz+d ?x=%zz&&y")
            #expect(lines[1] == "from 127.0.0.1")
            #expect(
                lines[3...] == [
                    "Host=example.test:8080", "X-One=1", "x-one=2", "Empty=", "Content-Length=3",
                    "abc",
                ])
        }
    }

    @Test func `a server's answer has the request's id, its own date and no server name`()
        async throws
    {
        try await withServer(handler: echo) { server in
            let first = try await ask(server.port, get("/"))
            let second = try await ask(
                server.port, "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n\r\n")
            let id = try #require(first["X-Request-Id"])
            #expect(first.text.contains("id \(id)\n"))
            #expect(id.utf8.count == 16 && id.allSatisfy { "0123456789abcdef".contains($0) })
            #expect(second["X-Request-Id"] != "mine" && second["X-Request-Id"] != id)
            #expect(first["Date"]?.hasSuffix(" GMT") == true)
            #expect(first["Server"] == nil)
        }
        try await withServer(configured { $0.serverName = "urd" }) { server in
            let reply = try await ask(server.port, get("/"))
            #expect(reply["Server"] == "urd")
        }
    }

    @Test func `a server answers many requests on one connection, one after the other`()
        async throws
    {
        try await withServer(handler: echo) { server in
            try await offPool {
                let client = try Client(server.port)
                for number in 0..<50 {
                    try client.send(get("/\(number)"))
                    #expect(try client.receive().text.hasPrefix("GET /\(number) ?-\n"))
                    try client.send(post("body \(number)"))
                    #expect(try client.receive().text.hasSuffix("\nbody \(number)"))
                }
            }
            #expect(server.statistics.requests == 100)
        }
    }

    @Test func `a server answers prepared responses at once and others by the handler`()
        async throws
    {
        let asked = Tally()
        let ready: @Sendable (Request) -> Response? = { request in
            guard request.path == "/ready" else { return nil }
            return Response(
                status: .ok, headers: ["X-Request-Id": "another's"], body: request.body)
        }
        let handler: Handler = { request in
            asked.add()
            return await echo(request)
        }
        try await withServer(ready: ready, handler: handler) { server in
            let ids = try await offPool {
                let client = try Client(server.port)
                let ready = "POST /ready HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n"
                try client.send((10..<60).map { ready + "\($0)" + get("/\($0)") }.joined())
                var ids: Set<String> = []
                for number in 10..<60 {
                    let reply = try client.receive()
                    #expect(reply.text == "\(number)")
                    ids.insert(reply["X-Request-Id"] ?? "")
                    #expect(try client.receive().text.hasPrefix("GET /\(number) ?-\n"))
                }
                return ids
            }
            #expect(asked.count == 50 && ids.count == 50 && !ids.contains("another's"))
            #expect(server.core.gate.inside == 0)
        }
    }

    @Test func `a server answers pipelined requests in their order`() async throws {
        try await withServer(handler: echo) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send((0..<100).map { get("/\($0)") + post("body \($0)") }.joined())
                for number in 0..<100 {
                    #expect(try client.receive().text.hasPrefix("GET /\(number) ?-\n"))
                    #expect(try client.receive().text.hasSuffix("\nbody \(number)"))
                }
            }
        }
    }

    @Test func `a server answers a request that comes byte by byte`() async throws {
        try await withServer(handler: echo) { server in
            let reply = try await offPool {
                let client = try Client(server.port)
                for byte in post("slowly").utf8 { try client.send([byte]) }
                return try client.receive()
            }
            #expect(reply.text.hasSuffix("\nslowly"))
        }
    }

    @Test func `a server answers HEAD without a body but with its length`() async throws {
        try await withServer { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get("/"))
                let head = try client.receive(head: true)
                #expect(head.status == 200)
                #expect(head["Content-Length"] == "5")
                #expect(try client.receive().text == "Hello")
            }
        }
    }

    @Test func `a server answers 204 and 304 without a body`() async throws {
        for status in [Status.noContent, .notModified] {
            let handler: Handler = { _ in Response(status: status, body: Array("no".utf8)) }
            try await withServer(handler: handler) { server in
                try await offPool {
                    let client = try Client(server.port)
                    try client.send(get("/") + get("/"))
                    #expect(try client.receive().status == status.code)
                    #expect(try client.receive().status == status.code)
                }
            }
        }
    }

    @Test func `a server answers a chunked body as a whole`() async throws {
        try await withServer(handler: echo) { server in
            let reply = try await ask(
                server.port,
                "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                    + "3;extension=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n")
            #expect(reply.text.hasSuffix("\nabc0123456789"))
            #expect(!reply.text.contains("Trailer=x"))
        }
    }

    @Test func `a server answers a client that waits for 100 Continue`() async throws {
        try await withServer(handler: echo) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
                )
                #expect(try client.receive().status == 100)
                try client.send("ok")
                #expect(try client.receive().text.hasSuffix("\nok"))
            }
        }
    }

    @Test func `a server answers an HTTP 1.0 client and then closes`() async throws {
        try await withServer { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send("GET / HTTP/1.0\r\n\r\n")
                let reply = try client.receive()
                #expect(reply.text == "Hello")
                #expect(client.isClosedByServer())
            }
        }
    }

    @Test func `a server answers with bodies of every size`() async throws {
        let handler: Handler = { request in
            let size = request.query.flatMap { Int($0) } ?? 0
            return Response(status: .ok, body: (0..<size).map { UInt8(truncatingIfNeeded: $0) })
        }
        try await withServer(handler: handler) { server in
            for size in [0, 1, 1023, 65_536, 1_000_000] {
                let reply = try await ask(server.port, get("/?\(size)"))
                #expect(reply.body.count == size)
                #expect(
                    reply.body.indices.allSatisfy {
                        reply.body[$0] == UInt8(truncatingIfNeeded: $0)
                    })
            }
        }
    }

    @Test func `a server frames the response itself, whatever headers the handler sets`()
        async throws
    {
        let handler: Handler = { _ in
            var headers: Headers = [
                "Content-Length": "3", "content-length": "1", "Transfer-Encoding": "chunked",
                "Connection": "close", "Date": "never", "X-Request-Id": "forged", "Upgrade": "h2",
                "Keep-Alive": "no", "Trailer": "x",
            ]
            headers.append("X-Split", "a\r\nX-Evil: 1\r\n\r\nbody\u{0}")
            headers.append("X-Name\r\nX-Evil", "1")
            return Response(status: .ok, headers: headers, body: Array("Hello".utf8))
        }
        try await withServer(handler: handler) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send(get("/") + get("/"))
                for _ in 0..<2 {
                    let reply = try client.receive()
                    #expect(reply.text == "Hello")
                    #expect(reply["Content-Length"] == "5")
                    #expect(reply["X-Request-Id"]?.utf8.count == 16)
                    #expect(
                        reply.headers.map { $0.name.lowercased() }.sorted()
                            == ["content-length", "date", "x-request-id", "x-split"])
                    #expect(reply["X-Split"] == "aX-Evil: 1body")
                }
            }
        }
    }

    @Test func `a server answers 500 where the handler's status is invalid`() async throws {
        for code in [-1, 0, 100, 101, 199, 600, .max] {
            let handler: Handler = { _ in Response(status: Status(code: code, reason: "")) }
            try await withServer(handler: handler) { server in
                let status = try await ask(server.port, get("/")).status
                #expect(status == 500)
            }
        }
    }
}
