import Glibc
import JSON
import Synchronization
import Testing
import Values

@testable import Telemetry

/// Keeps the lines of a log for a test to read.
private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    var sink: Log.Sink {
        Log.Sink { line, _ in
            self.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        }
    }
}

@Suite struct `A log` {
    private let lines = Lines()

    private func log(_ threshold: Log.Level = .info) -> Log {
        Log(threshold: threshold, sink: lines.sink, now: { .init(microseconds: 1) })
    }

    @Test func `a log line is one JSON object with its fields in order`() {
        log().info("server.started", ["port": 8080, "address": "::1", "tls": false])
        #expect(
            lines.all == [
                #"{"time":"1970-01-01T00:00:00.000001Z","level":"info","event":"server.started""#
                    + #","address":"::1","port":8080,"tls":false}"# + "\n"
            ])
    }

    @Test func `a log line carries the request's id`() {
        log().forRequest("0123456789abcdef").warning("request.refused")
        #expect(lines.all.first?.contains(#","request":"0123456789abcdef"}"#) == true)
    }

    @Test func `a log line below the level is not written and its fields are not made`() {
        var made = 0
        func fields() -> JSONObject {
            made += 1
            return [:]
        }
        log(.warning).debug("a", fields())
        log(.warning).notice("a", fields())
        #expect(lines.all.isEmpty)
        #expect(made == 0)
        log(.warning).error("a", fields())
        #expect(lines.all.count == 1)
        #expect(made == 1)
    }

    @Test func `a log line's fields cannot replace its own names`() {
        log().info("x", ["level": "debug", "time": "never"])
        #expect(lines.all.first?.hasSuffix(#","level_":"debug","time_":"never"}"# + "\n") == true)
    }

    @Test func `a log line stays one line for any field`() {
        log().info("x", ["a": "one\ntwo\u{0}", "b\n": "c"])
        #expect(lines.all.first?.filter { $0 == "\n" }.count == 1)
    }

    @Test func `a log line that is too long drops its fields`() {
        log().info("x", ["a": .string(String(repeating: "y", count: 100_000))])
        #expect(lines.all.first?.hasSuffix(#""event":"x","truncated":true}"# + "\n") == true)
    }

    @Test func `a log's levels are known by name and by priority`() {
        for level in Log.Level.allCases { #expect(Log.Level(level.name) == level) }
        #expect(Log.Level("loud") == nil)
        #expect(Log.Level.allCases.map(\.priority) == [7, 6, 5, 4, 3])
    }

    @Test func `a log writes whole lines from many tasks at once`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let log = Log(sink: .descriptor(ends[0]), now: { .init(microseconds: 1) })
        await withTaskGroup { group in
            for number in 0..<50 {
                group.addTask { log.info("x", ["number": .integer(Int64(number))]) }
            }
        }
        // A seqpacket socket keeps the bounds of each write: one record is one write(2).
        for _ in 0..<50 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(ends[1], &buffer, buffer.count)
            try #require(count > 0)
            #expect(buffer[..<count].first == UInt8(ascii: "{"))
            #expect(buffer[..<count].last == UInt8(ascii: "\n"))
            #expect(buffer[..<count].count { $0 == UInt8(ascii: "\n") } == 1)
        }
    }

    @Test func `a log survives a descriptor that nobody reads`() {
        Log(sink: .descriptor(-1)).error("x")
        #expect(Log.systemTime().microseconds > 1_700_000_000_000_000)
    }
}
