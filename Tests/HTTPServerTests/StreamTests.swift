import Glibc
import HTTP
import Testing

@testable import HTTPServer

@Suite struct `A stream` {
    @Test func `a streamed response begins before its first piece and ends with its producer`()
        async throws
    {
        let latch = Latch()
        let handler = streams([
            "/": { writer in
                await latch.wait()
                try await writer.write(Array("one".utf8))
                try await writer.write([])
                try await writer.write(Array("two".utf8))
            },
            "/empty": { _ in },
        ])
        try await withServer(handler: handler) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send(get("/"))
                let head = try client.receiveHead()
                #expect(head["Transfer-Encoding"] == "chunked")
                #expect(head["Content-Type"] == "text/event-stream")
                #expect(head["Content-Length"] == nil && head["X-Request-Id"] != nil)
                latch.open()
                #expect(try client.receiveChunks() == ("onetwo", true))
                // The connection is as good as new.
                try client.send(get("/empty") + get("/plain"))
                #expect(try client.receiveHead().status == 200)
                #expect(try client.receiveChunks() == ("", true))
                #expect(try client.receive().text == "Hello")
            }
            #expect(await eventually { server.statistics.streams == 0 })
        }
    }

    @Test func `a streamed response of a sequence has its elements`() async throws {
        let handler: Handler = { _ in
            let pieces = AsyncStream { continuation in
                for number in 0..<5 { continuation.yield(Array("\(number) ".utf8)) }
                continuation.finish()
            }
            return Response(status: .ok, stream: BodyStream(pieces))
        }
        try await withServer(handler: handler) { server in
            let body = try await follow(server.port, "/")
            #expect(body == ("0 1 2 3 4 ", true))
        }
    }

    @Test func `a streamed response is whole and in order for a slow reader`() async throws {
        let written = Tally()
        let pieces = 8000
        let handler = streams([
            "/": { writer in
                for number in 0..<pieces {
                    try await writer.write(
                        Array("\(number) \(String(repeating: "x", count: 1000))\n".utf8))
                    written.add()
                }
            }
        ])
        try await withServer(handler: handler) { server in
            let text = try await offPool {
                let client = try Client(server.port, receiveBuffer: 4096)
                try client.send(get("/"))
                // It waits when 64 KiB are with the server, and some with the system.
                var before = -1
                while written.count != before {
                    before = written.count
                    usleep(300_000)
                }
                #expect(before > 10 && before < 200)
                _ = try client.receiveHead()
                var body: [UInt8] = []
                while true {
                    let chunk = try client.receiveChunk()
                    if chunk.isEmpty { return String(decoding: body, as: UTF8.self) }
                    body += chunk
                    usleep(2_000)
                }
            }
            let numbers = text.split(separator: "\n").map { $0.prefix { $0 != " " } }
            #expect(numbers.elementsEqual((0..<pieces).map { Substring(String($0)) }))
        }
    }

    @Test func `a streamed response of one piece may be larger than the buffer`() async throws {
        let handler = streams([
            "/": { writer in
                try await writer.write([UInt8](repeating: 120, count: 3_000_000))
                try await writer.write([UInt8](repeating: 121, count: 1))
            }
        ])
        try await withServer(handler: handler) { server in
            let (text, isWhole) = try await follow(server.port, "/")
            #expect(isWhole && text.utf8.count == 3_000_001 && text.utf8.last == 121)
        }
    }

    @Test func `a streamed response is cut where its producer throws`() async throws {
        struct Trouble: Error {}
        let handler = streams([
            "/": { writer in
                try await writer.write(Array("all I know".utf8))
                throw Trouble()
            },
            "/later": { writer in
                try await writer.write(Array("all I know".utf8))
                try await Task.sleep(for: .milliseconds(50))
                throw Trouble()
            },
        ])
        try await withServer(handler: handler) { server in
            for path in ["/", "/later"] {
                let body = try await follow(server.port, path)
                #expect(body == ("all I know", false))
            }
        }
    }

    @Test func `a streamed response has no chunks in HTTP 1_0`() async throws {
        let handler = streams([
            "/": { writer in
                for number in 0..<3 {
                    try await writer.write(Array("\(number)".utf8))
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
        ])
        try await withServer(handler: handler) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send("GET / HTTP/1.0\r\n\r\n")
                let head = try client.receiveHead()
                #expect(head["Transfer-Encoding"] == nil && head["Connection"] == "close")
                #expect(client.receiveAll() == Array("012".utf8))
            }
        }
    }

    @Test(arguments: ["1.0", "1.1"])
    func `a streamed response to HEAD is a head alone`(version: String) async throws {
        let handler = streams(["/": silent])
        try await withServer(handler: handler) { server in
            try await offPool {
                let client = try Client(server.port)
                try client.send("HEAD / HTTP/\(version)\r\nHost: test\r\n\r\n")
                let head = try client.receiveHead()
                #expect(head.status == 200 && head["Content-Type"] == "text/event-stream")
                #expect(head["Content-Length"] == nil)
                #expect(client.receiveAll() == [])
            }
            #expect(server.statistics.streams == 0)
        }
    }

    @Test func `a streamed response is empty where the status has no body`() async throws {
        let handler: Handler = { _ in Response(status: .noContent, stream: BodyStream(silent)) }
        try await withServer(handler: handler) { server in
            let status = try await ask(server.port, get("/")).status
            #expect(status == 204)
            #expect(server.statistics.streams == 0)
        }
    }
}

@Suite struct `Streams` {
    @Test func `streamed responses end whole when the server stops`() async throws {
        let begun = Tally()
        let handler = streams([
            "/": { writer in
                try await writer.write(Array("here\n".utf8))
                begun.add()
                try await Task.sleep(for: .seconds(3600))
            }
        ])
        let server = try Server(Configuration(), handler: handler)
        let port = server.port
        let replies = Task {
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 { group.addTask { try await follow(port, "/") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(await eventually { begun.count == 50 })
        let start = monotonicNow()
        await server.stop(drain: .seconds(20))
        #expect(monotonicNow() - start < 10_000_000_000)
        let ended = try await replies.value
        #expect(ended.count == 50)
        for reply in ended { #expect(reply == ("here\n", true)) }
        #expect(server.statistics.streams == 0 && server.statistics.connections == 0)
    }

    @Test func `streamed responses that begin while the server stops end whole`() async throws {
        for _ in 0..<5 {
            let server = try Server(Configuration(), handler: streams(["/": silent]))
            let port = server.port
            let begun = Tally()
            let loads = (0..<8).map { _ in
                Task {
                    try await offPool {
                        var clients: [Client] = []
                        while clients.count < 100, let client = try? Client(port) {
                            do {
                                try client.send(get("/"))
                                // Not answered at all is honest.
                                guard try client.receiveHead().status == 200 else { continue }
                                clients.append(client)
                                begun.add()
                            } catch {}
                        }
                        return try clients.count { try !$0.receiveChunks().isWhole }
                    }
                }
            }
            #expect(await eventually { begun.count > 50 })
            await server.stop(drain: .seconds(10))
            for load in loads { #expect(try await load.value == 0) }
            #expect(server.statistics.streams == 0 && server.statistics.connections == 0)
        }
    }

    @Test(.enabled(if: OpenFiles.raise() > 12_000))
    func `streamed responses occupy a bounded share of the connections`() async throws {
        try await withServer(handler: streams(["/stream": silent])) { server in
            try await offPool {
                let clients = try (0..<1024).map { _ in try Client(server.port) }
                for client in clients { try client.send(get("/stream")) }
                for client in clients {
                    #expect(try client.receiveHead().status == 200)
                    #expect(try client.receiveChunk() == Array("here\n".utf8))
                }
                #expect(server.statistics.streams == 1024)
                let further = try Client(server.port)
                for _ in 0..<3 {
                    try further.send(get("/stream"))
                    let refused = try further.receive()
                    #expect(refused.status == 503 && refused["Retry-After"] == "1")
                    #expect(refused.text.contains("streams"))
                }
                for _ in 0..<200 {
                    try further.send(get("/"))
                    #expect(try further.receive().text == "Hello")
                }
                clients[0].close()
                while server.statistics.streams == 1024 { usleep(1000) }
                try further.send(get("/stream"))
                #expect(try further.receiveHead().status == 200)
            }
            #expect(await eventually { server.statistics.streams == 0 })
            #expect(server.statistics.refused == 3)
        }
    }

    @Test func `streamed responses leave no descriptor behind`() async throws {
        struct Trouble: Error {}
        let handler = streams([
            "/0": silent, "/1": { _ in throw Trouble() }, "/2": { _ in },
            "/3": { writer in
                while true { try await writer.write([UInt8](repeating: 120, count: 10_000)) }
            },
        ])
        try await withServer(handler: handler) { server in
            try await offPool {
                for number in 0..<400 {
                    let client = try Client(server.port)
                    try client.send(get("/\(number % 4)"))
                    #expect(try client.receiveHead().status == 200)
                    if number % 8 < 4 { client.vanish() } else { client.close() }
                }
            }
            #expect(await eventually { server.statistics.connections == 0 })
            #expect(server.statistics.streams == 0)
            let left = try await offPool { sockets(at: server.port) }
            #expect(left == 0)
        }
    }

    /// Those of a port that are open and do not listen.
    private func sockets(at port: UInt16) -> Int {
        let file = fopen("/proc/net/tcp", "r")
        defer { if let file { fclose(file) } }
        var line = [CChar](repeating: 0, count: 512)
        let digits = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        var found = 0
        while let file, fgets(&line, 512, file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let fields = text.split(separator: " ")
            guard fields.count > 9, fields[1].hasSuffix(suffix), fields[3] != "0A" else { continue }
            if fields[9] != "0" { found += 1 }
        }
        return found
    }
}
