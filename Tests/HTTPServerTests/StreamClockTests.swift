import Glibc
import HTTP
import Testing

@testable import HTTPServer

@Suite struct `A stream's clocks` {
    private let quick = configured {
        $0.idleTimeout = .milliseconds(300)
        $0.transferTimeout = .milliseconds(300)
        $0.requestDeadline = .milliseconds(300)
        $0.streamStallTimeout = .milliseconds(300)
    }

    @Test func `a stream's clock closes the connection of a client that takes nothing`()
        async throws
    {
        let cancelled = Tally()
        let handler = streams([
            "/": { writer in
                do {
                    while true { try await writer.write([UInt8](repeating: 120, count: 1000)) }
                } catch {
                    if error is CancellationError { cancelled.add() }
                    throw error
                }
            }
        ])
        try await withServer(quick, handler: handler) { server in
            let isWhole = try await offPool {
                let client = try Client(server.port, receiveBuffer: 4096)
                try client.send(get("/"))
                let deadline = monotonicNow() + 10_000_000_000
                while server.statistics.closedSlow == 0, monotonicNow() < deadline {
                    usleep(10_000)
                }
                _ = try client.receiveHead()
                return try client.receiveChunks().isWhole
            }
            #expect(server.statistics.closedSlow == 1)
            #expect(await eventually { cancelled.count == 1 })
            #expect(!isWhole)
        }
    }

    @Test func `a stream's clock spares a silent stream and one that is taken slowly`() async throws
    {
        let handler = streams([
            "/silent": { writer in
                try await Task.sleep(for: .seconds(2))
                try await writer.write(Array("still here".utf8))
            },
            "/slow": { writer in
                for _ in 0..<30 { try await writer.write([UInt8](repeating: 120, count: 10_000)) }
            },
        ])
        // Both last longer than a stall may, and no pause of a busy machine lasts as long. What is left
        // when a producer is done has the time of any response.
        var patient = quick
        patient.streamStallTimeout = .milliseconds(1500)
        patient.transferTimeout = .seconds(10)
        try await withServer(patient, handler: handler) { server in
            async let silent = follow(server.port, "/silent")
            let count = try await offPool {
                let client = try Client(server.port, receiveBuffer: 4096)
                try client.send(get("/slow"))
                _ = try client.receiveHead()
                var count = 0
                while case let chunk = try client.receiveChunk(), !chunk.isEmpty {
                    count += chunk.count
                    usleep(100_000)
                }
                return count
            }
            #expect(count == 300_000)
            let body = try await silent
            #expect(body == ("still here", true))
            #expect(server.statistics.closedSlow == 0 && server.statistics.overdue == 0)
        }
    }

    @Test func `streamed responses end at their longest life with a last chunk`() async throws {
        let handler = streams([
            "/": silent,
            "/busy": { writer in
                while true {
                    try await writer.write(Array("line\n".utf8))
                    try await Task.sleep(for: .milliseconds(5))
                }
            },
        ])
        let configuration = configured { $0.maximumStreamLife = .milliseconds(500) }
        try await withServer(configuration, handler: handler) { server in
            for path in ["/", "/busy"] {
                let start = monotonicNow()
                let (text, isWhole) = try await follow(server.port, path)
                #expect(isWhole && text.hasSuffix("\n"))
                #expect(monotonicNow() - start >= 450_000_000)
            }
            #expect(server.statistics.closedSlow == 0)
        }
    }

    @Test func `a stream's clock spreads the ends of streams that began together`() {
        let limits = Connection.Limits(
            idle: 1, transfer: 1, deadline: 1, streamStall: 1_000_000, streamLife: 1000)
        let lives = (0..<200).map { _ in
            var clocks = StreamClocks(beginning: 0, limits)
            return (800...1200).first { clocks.check(at: $0, sent: 0, unsent: { 0 }) == .life }
        }.compactMap(\.self)
        #expect(lives.count == 200)
        #expect(lives.allSatisfy { (900...1100).contains($0) })
        #expect(Set(lives).count > 50)
    }
}

@Suite struct `A producer is cancelled` {
    private func waiting(_ begun: Tally, _ cancelled: Tally) -> Handler {
        streams([
            "/": { writer in
                try await withTaskCancellationHandler {
                    try await writer.write(Array("here\n".utf8))
                    begun.add()
                    try await Task.sleep(for: .seconds(3600))
                } onCancel: {
                    cancelled.add()
                }
            },
            "/busy": { writer in
                defer { cancelled.add() }
                begun.add()
                while true { try await writer.write([UInt8](repeating: 120, count: 10_000)) }
            },
        ])
    }

    @Test(arguments: [("/", true), ("/", false), ("/busy", true), ("/busy", false)])
    func `a producer is cancelled at once when its client hangs up`(path: String, vanishes: Bool)
        async throws
    {
        let begun = Tally()
        let cancelled = Tally()
        try await withServer(handler: waiting(begun, cancelled)) { server in
            let client = try Client(server.port)
            try client.send(get(path))
            #expect(await eventually { begun.count == 1 })
            if vanishes { client.vanish() } else { client.close() }
            let start = monotonicNow()
            #expect(await eventually { cancelled.count == 1 })
            #expect(await eventually { server.statistics.connections == 0 })
            // Long before any clock of the server.
            #expect(monotonicNow() - start < 10_000_000_000)
        }
    }

    @Test func `a producer is cancelled when the server stops, and may ignore it`() async throws {
        let latch = Latch()
        let handler = streams([
            "/": { writer in
                await latch.wait()
                try await writer.write(Array("late".utf8))
            }
        ])
        let server = try Server(Configuration(), handler: handler)
        let port = server.port
        let reply = Task { try await follow(port, "/") }
        #expect(await eventually { latch.arrived == 1 })
        await server.stop(drain: .seconds(5))
        #expect(try await reply.value == ("", true))
        latch.open()
    }
}
