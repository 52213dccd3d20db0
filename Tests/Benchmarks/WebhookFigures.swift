import Glibc
import HTTP
import HTTPClient
import HTTPServer
import JSON
import Synchronization

/// What it takes to send a log to webhooks, beside calls by libcurl alone.
enum WebhookFigures {
    static let all: [Figures.Entry] = [
        Figures.Entry(
            name: "webhook-none",
            summary: "a log to one webhook in no order, beside the same calls by libcurl",
            isLong: true, measure: unordered),
        Figures.Entry(
            name: "webhook-hanging",
            summary: "a log to 99 webhooks beside one that never answers", isLong: true,
            measure: hanging),
    ]

    private static let connections = 32

    private static func unordered(_ workshop: Workshop) async throws -> [Figure] {
        let server = try await DevelopmentServer(number: 5)
        defer { server.end() }
        let receiver = try WebhookReceiver()
        let events = workshop.size(short: 3000, full: 20_000)
        try await register(events, server)
        let count = workshop.size(short: 5, full: 9)
        workshop.progress.begin("webhook-none", rounds: count)
        let rounds = try await Rounds.run(count, workshop.progress) {
            receiver.expect(events)
            let webhook = try create(receiver.url("none"), "none", server)
            let rate = try await receiver.rate()
            _ = try server.administer("DELETE", "/webhooks/\(webhook)", "")
            return rate
        } limit: {
            receiver.expect(events)
            let body = receiver.body
            try await calls(events, body, to: receiver.url("bare"))
            return try await receiver.rate()
        }
        await receiver.stop()
        return [
            Figure(
                "webhook-none", "events to a webhook in no order, \(connections) at once",
                rounds.median.value, "events/s",
                limit: .init(
                    name: "the same bodies by libcurl, as many connections",
                    value: rounds.median.limit), bar: .ratioAtLeast(0.5))
        ]
    }

    /// In two realms, for a realm has fifty webhooks at most.
    private static func hanging(_ workshop: Workshop) async throws -> [Figure] {
        let server = try await DevelopmentServer(number: 5)
        defer { server.end() }
        let receiver = try WebhookReceiver()
        let silent = try SilentListener()
        defer { silent.close() }
        _ = try server.administer(
            "POST", "", #"{"realm": "other", "display_name": "Other"}"#, realm: nil)
        let events = workshop.size(short: 100, full: 300)
        for realm in ["demo", "other"] { try await register(events, server, realm) }
        let count = workshop.size(short: 3, full: 7)
        workshop.progress.begin("webhook-hanging", rounds: count)
        func round(with url: String?) async throws -> Double {
            receiver.expect(99 * events)
            var made: [(realm: String, id: String)] = []
            if let url { made.append(("demo", try create(url, "stream", server))) }
            for number in 0..<99 {
                let realm = number < 49 ? "demo" : "other"
                let id = try create(receiver.url("\(number)"), "stream", server, realm)
                made.append((realm, id))
            }
            let rate = try await receiver.rate()
            for (realm, id) in made {
                _ = try server.administer("DELETE", "/webhooks/\(id)", "", realm: realm)
            }
            return rate
        }
        let rounds = try await Rounds.run(count, workshop.progress) {
            try await round(with: "http://127.0.0.1:\(silent.port)/")
        } limit: {
            try await round(with: nil)
        }
        await receiver.stop()
        return [
            Figure(
                "webhook-hanging", "events to 99 webhooks while another one never answers",
                rounds.median.value, "events/s",
                limit: .init(name: "without it", value: rounds.median.limit),
                bar: .ratioAtLeast(0.95))
        ]
    }

    private static func create(
        _ url: String, _ order: String, _ server: DevelopmentServer, _ realm: String = "demo"
    ) throws -> String {
        let made = try server.administer(
            "POST", "/webhooks",
            """
            {"url": "\(url)", "name": "bench", "types": ["account.registered"],
                "order": "\(order)", "starts_after": 0}
            """, realm: realm)
        guard let id = made["id"]?.string else { throw BenchmarkFailure("No webhook was made.") }
        return id
    }

    /// As many accounts as events are wanted, beside those that are there.
    private static func register(
        _ count: Int, _ server: DevelopmentServer, _ realm: String = "demo"
    ) async throws {
        let there = try server.ask(
            "select count(*) from urd.event where realm = '\(realm)' and type = 'account.registered'"
        )
        let missing = count - (Int(there) ?? 0)
        guard missing > 0 else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<8 {
                group.addTask {
                    for number in stride(from: lane, to: missing, by: 8) {
                        _ = try server.administer(
                            "POST", "/accounts", #"{"email": "w\#(number)@example.org"}"#,
                            realm: realm)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func calls(_ count: Int, _ body: [UInt8], to url: String) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.threads = connections
        configuration.maximumWaiting = 4096
        configuration.destinations = .any
        configuration.allowsHTTP = true
        let client = try WebClient(configuration)
        defer { client.close() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<connections {
                group.addTask {
                    for _ in stride(from: lane, to: count, by: connections) {
                        var request = OutgoingRequest(method: .post, url: url, body: body)
                        request.headers["Content-Type"] = "application/json"
                        _ = try await client.send(request)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Takes whatever comes, and says how fast it came.
final class WebhookReceiver: Sendable {
    private struct State {
        var expected = 0
        var count = 0
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        var body: [UInt8] = []
    }

    private let state: Shared
    private let server: Server

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    init() throws {
        let shared = Shared()
        state = shared
        server = try Server(HTTPServer.Configuration()) { request in
            shared.state.withLock { state in
                let now = ContinuousClock.now
                state.first = state.first ?? now
                state.count += 1
                state.last = now
                if state.body.isEmpty { state.body = request.body }
            }
            return Response(status: .noContent)
        }
    }

    func url(_ name: String) -> String { "http://127.0.0.1:\(server.port)/\(name)" }

    /// Of the first message that came.
    var body: [UInt8] { state.state.withLock { $0.body } }

    func expect(_ count: Int) {
        state.state.withLock { state in
            (state.expected, state.count) = (count, 0)
            (state.first, state.last) = (nil, nil)
        }
    }

    /// Messages a second, once all have come.
    func rate() async throws -> Double {
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            let (isThere, rate) = state.state.withLock { state -> (Bool, Double) in
                guard state.count >= state.expected, let first = state.first,
                    let last = state.last, last > first
                else { return (false, 0) }
                return (true, Double(state.count - 1) / ((last - first) / .seconds(1)))
            }
            if isThere { return rate }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw BenchmarkFailure("Not all messages came.")
    }

    func stop() async { await server.stop(drain: .seconds(1)) }
}

/// Connections are made and nothing is ever said.
private struct SilentListener {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = PlainHTTP.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 256) == 0
                    && getsockname(descriptor, $0, &length) == 0
            } ? UInt16(bigEndian: pointer.pointee.sin_port) : nil
        }
        guard let port else { throw BenchmarkFailure("No port to listen on.") }
        self.descriptor = descriptor
        self.port = port
    }

    func close() { Glibc.close(descriptor) }
}
