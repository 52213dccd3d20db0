import Foundation
import HTTP
import Synchronization
import Testing

@testable import HTTPClient

@Suite struct `Calls within a limit` {
    private let server: ChildServer

    init() throws { server = try ChildServer("http_server.py") }

    private func request(_ path: String) -> OutgoingRequest {
        OutgoingRequest(url: "http://127.0.0.1:\(server.port)\(path)")
    }

    private func client(
        threads: Int = 16, timeout: Duration = .seconds(20)
    ) throws -> WebClient {
        var configuration = Configuration()
        configuration.threads = threads
        configuration.timeout = timeout
        return try WebClient(configuration)
    }

    /// How many calls came, and how many at once.
    private func seen(_ client: WebClient) async throws -> (all: Int, most: Int) {
        let body = try await client.send(request("/slow")).body
        let numbers = String(decoding: body, as: UTF8.self).split(separator: " ").compactMap {
            Int($0)
        }
        try #require(numbers.count == 2)
        return (numbers[0], numbers[1])
    }

    private func end(
        _ client: WebClient, _ path: String, _ limit: RequestLimit,
        begins: @escaping @Sendable () -> Bool = { true }
    ) async -> String {
        do throws(Failure) {
            let response = try await client.send(request(path), within: limit, begins: begins)
            return "\(response.status.code)"
        } catch {
            return error.code.rawValue
        }
    }

    private func ends(
        _ client: WebClient, _ path: String, _ count: Int, _ limit: RequestLimit
    ) async -> [String] {
        await withTaskGroup { group in
            for _ in 0..<count { group.addTask { await self.end(client, path, limit) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `calls within a limit are so many at once, and all are answered`() async throws {
        let client = try client()
        let limit = RequestLimit(4)
        for _ in 0..<3 {
            let ends = await ends(client, "/slow/20/204", 40, limit)
            #expect(ends == Array(repeating: "204", count: 40))
        }
        let seen = try await seen(client)
        #expect(seen.all == 120)
        #expect(seen.most == 4)
        #expect(client.queueLength == 0)
    }

    @Test(arguments: [
        ("/slow/50/400", 12), ("/slow/50/404", 12), ("/slow/50/302", 12), ("/slow/50/503", 3),
        ("/slow/50/500", 3), ("/slow/50/429", 3), ("/slow/50/410", 3), ("/slow/50/none", 3),
    ])
    func `what waits is cancelled where the server does not want more`(
        path: String, answered: Int
    ) async throws {
        let client = try client()
        let limit = RequestLimit(3)
        let ends = await ends(client, path, 12, limit)
        #expect(ends.filter { $0 != "cancelled" }.count == answered)
        // What comes later has its turn.
        let later = await self.ends(client, "/slow/1/204", 12, limit)
        #expect(later == Array(repeating: "204", count: 12))
        #expect(try await seen(client).most == 3)
    }

    @Test func `the time of a call within a limit counts from its turn`() async throws {
        let client = try client(timeout: .seconds(2))
        let ends = await ends(client, "/slow/700/204", 5, RequestLimit(1))
        #expect(ends == Array(repeating: "204", count: 5))
    }

    @Test func `a call within a limit is asked for again when its turn comes`() async throws {
        let client = try client()
        let limit = RequestLimit(1)
        let isWanted = Counter()
        async let first = end(client, "/slow/300/204", limit) {
            isWanted.add()
            return true
        }
        while isWanted.count == 0 { await Task.yield() }
        async let second = end(client, "/slow/1/204", limit) { false }
        async let third = end(client, "/slow/1/204", limit)
        let ends = await [first, second, third]
        #expect(ends.prefix(2) == ["204", "cancelled"])
        #expect(try await seen(client).all <= 2)
        #expect(await end(client, "/slow/1/204", limit) == "204")
    }

    @Test func `calls within a limit keep no thread from others`() async throws {
        let client = try client(threads: 1)
        let limit = RequestLimit(1)
        let many = Task { await ends(client, "/slow/100/204", 20, limit) }
        while try await seen(client).all == 0 { await Task.yield() }
        #expect(try await seen(client).all < 10)
        #expect(await many.value == Array(repeating: "204", count: 20))
    }

    @Test func `a cancelled call within a limit is not sent, and those behind it are`()
        async throws
    {
        let client = try client()
        let limit = RequestLimit(1)
        let begun = Counter()
        async let first = end(client, "/slow/400/204", limit) {
            begun.add()
            return true
        }
        while begun.count == 0 { await Task.yield() }
        let second = Task { await end(client, "/slow/1/204", limit) }
        second.cancel()
        #expect(await second.value == "cancelled")
        async let third = end(client, "/slow/1/204", limit)
        #expect(await [first, third] == ["204", "204"])
        #expect(try await seen(client).all == 2)
    }

    @Test func `what waits within a limit is refused by a closed client`() async throws {
        let client = try client()
        let limit = RequestLimit(2)
        let begun = Counter()
        let many = (0..<8).map { _ in
            Task {
                await end(client, "/slow/500/204", limit) {
                    begun.add()
                    return true
                }
            }
        }
        while begun.count < 2 { await Task.yield() }
        client.close()
        var ends: [String] = []
        for one in many { ends.append(await one.value) }
        #expect(ends.filter { $0 == "204" }.count == 2)
        #expect(ends.filter { $0 == "closed" }.count == 6)
    }
}

private final class Counter: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .relaxed) }

    func add() { number.add(1, ordering: .relaxed) }
}
