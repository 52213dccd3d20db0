import EventSourcing
import EventStore
import Foundation
import Glibc
import JSON
import Postgres

/// What feeds cost over sockets: `urd dev` as a process, and readers that do nothing but read.
enum FeedSocketFigures {
    private static let counts = [1, 100, 1000]
    /// So many of the newest are in the ring.
    private static let burst = 3800

    /// The same bytes to as many sockets, from the ring.
    static func fanOut(_ workshop: Workshop) async throws -> [Figure] {
        let bed = try await FeedBed(number: 40)
        defer { bed.close() }
        let keeper = try bed.readers(1, from: "now")
        defer { keeper.close() }
        try await keeper.wait(for: 200)
        let head = try await bed.append(burst + 200)
        let start = "1:\(head - Int64(burst))"
        let whole = try bed.readers(1, from: start)
        try await Task.sleep(for: .seconds(2))
        let bytes = whole.bytes
        whole.close()
        try await bed.settle(at: 1)
        var figures: [Figure] = []
        for count in counts {
            let rounds = workshop.size(short: 3, full: 5)
            let repeats = count == 1 ? 20 : 1
            workshop.progress.begin("feed-fan-out", rounds: rounds)
            let measured = try await Rounds.run(rounds, workshop.progress) {
                try await rate(bytes, count, repeats) {
                    try await bed.settle(at: 1)
                    // The first key is the keeper's.
                    return try bed.readers(count, from: start, skipping: 8)
                }
            } limit: {
                try await rate(bytes, count, repeats) {
                    let bare = try BareWriter(
                        [UInt8](repeating: 0x61, count: bytes), to: count)
                    return try FeedReaders(
                        port: bare.port, requests: Array(repeating: [0x0A], count: count))
                }
            }
            figures.append(
                Figure(
                    "feed-fan-out-\(count)",
                    "the newest \(burst) events to \(count) readers over sockets",
                    measured.median.value, "MB/s",
                    limit: .init(
                        name: "a bare writer of the same bytes", value: measured.median.limit),
                    bar: .ratioAtLeast(0.5)))
        }
        return figures
    }

    /// From the first byte on: what a request takes until then is no matter of how many it goes to.
    private static func rate(
        _ bytes: Int, _ count: Int, _ repeats: Int, _ open: () async throws -> FeedReaders
    ) async throws -> Double {
        var (read, seconds) = (0, 0.0)
        for _ in 0..<repeats {
            let readers = try await open()
            defer { readers.close() }
            // Heads of responses differ by a few bytes.
            try await readers.wait(for: (bytes - 200) * count)
            let flow = readers.flow
            read += flow.bytes
            seconds += flow.seconds
        }
        return Double(read) / seconds / 1e6
    }

    /// From a command's answer to its event at every reader, at about half of what this machine bears.
    static func latency(_ workshop: Workshop) async throws -> [Figure] {
        let bed = try await FeedBed(number: 41)
        defer { bed.close() }
        var figures: [Figure] = []
        for (count, bar, rate) in [(1, 5.0, 100), (100, 10, 50), (1000, 50, 8)] {
            try await bed.settle(at: 0)
            let readers = try bed.readers(count, from: "now", looksForPositions: true)
            defer { readers.close() }
            try await readers.wait(for: 150 * count)
            let seconds = workshop.size(short: 5, full: 20)
            workshop.progress.begin("feed-latency", rounds: seconds)
            var delays: [Double] = []
            for number in 0..<(rate * seconds) {
                let begun = ContinuousClock.now
                let position = try bed.register()
                let answered = ContinuousClock.now
                while (readers.arrival(of: position)?.count ?? 0) < count {
                    guard ContinuousClock.now - answered < .seconds(5) else {
                        throw BenchmarkFailure("Position \(position) is not at all readers.")
                    }
                    try await Task.sleep(for: .microseconds(200))
                }
                if let at = readers.arrival(of: position)?.at {
                    delays.append(max(0, (at - answered) / .milliseconds(1)))
                }
                if number % rate == 0 { workshop.progress.advance(spoken(delays.median)) }
                try await Task.sleep(until: begun + .seconds(1) / rate)
            }
            figures.append(
                Figure(
                    "feed-latency-\(count)",
                    "from a command's answer to its event at \(count) readers over sockets: "
                        + "99 of 100 within", delays.percentile(0.99), "ms", bar: .atMost(bar),
                    note: "\(rate * count) frames/s; half within \(spoken(delays.median)) ms"))
        }
        return figures
    }

    /// Memory of the server for each feed that has nothing to say; not the program's own pages, of which more
    /// come in with time.
    static func memory(_ workshop: Workshop) async throws -> [Figure] {
        let bed = try await FeedBed(number: 42)
        defer { bed.close() }
        // What the first ones bring with them is not theirs.
        let first = try bed.readers(100, from: "now", query: "&type=mail.failed")
        try await first.wait(for: 100 * 150)
        try await Task.sleep(for: .seconds(4))
        let before = try bed.residentKilobytes()
        let readers = try bed.readers(900, from: "now", query: "&type=mail.failed", skipping: 100)
        try await readers.wait(for: 900 * 150)
        try await Task.sleep(for: .seconds(4))
        let after = try bed.residentKilobytes()
        readers.close()
        first.close()
        return [
            Figure(
                "feed-memory", "memory of each silent feed, of 1,000",
                (after - before) / 900, "KiB", bar: .atMost(16),
                note: "\(spoken(before / 1024)) MiB before, \(spoken(after / 1024)) MiB after")
        ]
    }

    /// A long log to one reader over a socket.
    static func catchUp(_ workshop: Workshop) async throws -> [Figure] {
        let bed = try await FeedBed(number: 43)
        defer { bed.close() }
        let size = workshop.size(short: 100_000, full: 1_000_000)
        let head = try await bed.append(size)
        let count = workshop.size(short: 3, full: 5)
        workshop.progress.begin("feed-catch-up-socket", rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await bed.settle(at: 0)
            let readers = try bed.readers(1, from: "start", looksForPositions: true)
            defer { readers.close() }
            let started = ContinuousClock.now
            while readers.arrival(of: head) == nil {
                guard ContinuousClock.now - started < .seconds(120) else {
                    throw BenchmarkFailure("The reader has not come to the end.")
                }
                try await Task.sleep(for: .milliseconds(1))
            }
            return Double(head) / ((ContinuousClock.now - started) / .seconds(1))
        } limit: {
            Double(head) / (try bed.copySeconds())
        }
        return [
            Figure(
                "feed-catch-up-socket",
                "\(spoken(Double(size))) events as JSON over a socket, from the start",
                rounds.medians.value, "events/s",
                limit: .init(name: "COPY of the same rows to nowhere", value: rounds.medians.limit),
                bar: .ratioAtLeast(0.15))
        ]
    }
}

/// A server with keys enough for a thousand readers, and its log within reach.
final class FeedBed {
    private let server: DevelopmentServer
    private let pool: Database
    private let log: PostgresLog
    private let realm: RealmID
    private let keys: [String]
    private let line: Line

    convenience init(number: Int) async throws {
        // A key may have eight feeds.
        try self.init(try await DevelopmentServer(number: number), keys: 126)
    }

    init(_ server: DevelopmentServer, keys count: Int) throws {
        self.server = server
        guard let realm = RealmID("demo") else { throw BenchmarkFailure("There is no realm.") }
        self.realm = realm
        pool = Database(server.values["URD_DATABASE_URL"] ?? "", session: PostgresLog.session)
        log = PostgresLog(
            pool, keyring: Keyring(pool, master: try server.masterKey()), hub: CommitHub())
        line = try Line(port: server.port)
        var keys: [String] = []
        for number in 0..<count {
            let body = #"{"name": "reader-\#(number)", "realms": ["demo"]}"#
            let answer = try line.send(
                Self.request("POST", "/api/admin/keys", body, server.values["URD_ADMIN_KEY"] ?? ""))
            guard let key = answer.json?["key"]?.string else {
                throw BenchmarkFailure("No key: \(String(decoding: answer.body, as: UTF8.self))")
            }
            keys.append(key)
        }
        self.keys = keys
    }

    private static func request(
        _ method: String, _ path: String, _ body: String, _ key: String
    ) -> [UInt8] {
        Array(
            """
            \(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(key)\r\n\
            Accept: text/event-stream\r\nContent-Type: application/json\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """.utf8)
    }

    func readers(
        _ count: Int, from: String, query: String = "", skipping: Int = 0,
        looksForPositions: Bool = false
    ) throws -> FeedReaders {
        let path = "/api/admin/realms/demo/feed?from=\(from)\(query)"
        return try FeedReaders(
            port: server.port,
            requests: (skipping..<(skipping + count)).map {
                let key = keys[$0 / 8]
                return Array(
                    """
                    GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(key)\r\n\
                    Accept: text/event-stream\r\n\r\n
                    """.utf8)
            }, looksForPositions: looksForPositions)
    }

    /// The server has noticed that the readers of before are gone: their keys have room again.
    func settle(at count: Int) async throws {
        let inner = try Line(port: server.innerPort)
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            let answer = try inner.send(
                Array("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
            let text = String(decoding: answer.body, as: UTF8.self)
            if text.contains("\nurd_feed_connections \(count)\n") { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw BenchmarkFailure("Readers that hung up are still followed.")
    }

    /// Where the log ends then.
    func append(_ count: Int) async throws -> Int64 {
        let load = AppendLoad(log: log, realm: realm)
        var events = 0
        while events < count { events += try await load.run(seconds: 0.2).events }
        return try await log.head(of: realm).position
    }

    /// One event, committed by the server itself.
    func register() throws -> Int64 {
        let answer = try line.send(
            Self.request(
                "POST", "/api/admin/realms/demo/clients",
                #"{"grant_types": ["client_credentials"], "client_name": "Sample"}"#,
                server.values["URD_ADMIN_KEY"] ?? ""))
        guard answer.status == 201 else {
            throw BenchmarkFailure(String(decoding: answer.body, as: UTF8.self))
        }
        let told = answer.fields("Urd-Position: ").first?.split(separator: ":").last
        guard let position = told.flatMap({ Int64($0) }) else {
            throw BenchmarkFailure("The answer does not say where it stands.")
        }
        return position
    }

    func residentKilobytes() throws -> Double {
        let status = try Program(["cat", "/proc/\(server.id)/status"]).run()
            .replacingOccurrences(of: "\t", with: " ")
        return status.number(after: "RssAnon:") ?? 0
    }

    func copySeconds() throws -> Double {
        let url = (server.values["URD_DATABASE_OWNER_URL"] ?? "")
            .replacingOccurrences(of: "//urd_owner@", with: "//postgres@")
        let started = ContinuousClock.now
        try Connection(url).copyOut(
            """
            copy (select position, at, command, data, meta, revision, sealed, stream, subject, type,
                version, leaf, mac from urd.event where realm = 'demo' order by position)
                to stdout (format binary)
            """
        ) { _ in }
        return (ContinuousClock.now - started) / .seconds(1)
    }

    func close() {
        log.close()
        pool.close()
        server.end()
    }
}
