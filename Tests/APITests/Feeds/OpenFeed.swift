import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// A feed that is read frame by frame, as a client of Server-Sent Events reads it.
struct OpenFeed {
    struct Frame: Equatable {
        var id: String?
        var event: String?
        var data: String?
        var comment: String?
        var retry: String?

        var json: JSON { data.flatMap { try? JSON.parse(Array($0.utf8)) } ?? .null }
    }

    private let task: Task<Void, any Error>
    private var pieces: AsyncStream<[UInt8]>.Iterator
    private var lines: [String] = []
    private var rest: [UInt8] = []

    init(_ response: Response) throws {
        let body = try #require(response.stream)
        let (stream, pieces) = AsyncStream.makeStream(of: [UInt8].self)
        self.pieces = stream.makeAsyncIterator()
        task = Task {
            defer { pieces.finish() }
            try await body.produce(BodyStream.Writer { pieces.yield($0) })
        }
    }

    /// The next line; nil at the end.
    mutating func line() async -> String? {
        while lines.isEmpty {
            guard let piece = await pieces.next(isolation: #isolation) else { return nil }
            rest += piece
            while let end = rest.firstIndex(of: 0x0A) {
                lines.append(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeFirst(end + 1)
            }
        }
        return lines.removeFirst()
    }

    /// The next frame; nil at the end.
    mutating func next() async -> Frame? {
        var frame = Frame()
        while let line = await line(), !line.isEmpty {
            let parts = line.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = String(parts[1].dropFirst())
            switch parts[0] {
            case "id": frame.id = value
            case "event": frame.event = value
            case "data": frame.data = value
            case "retry": frame.retry = value
            case "": frame.comment = value
            default: Issue.record("\(line)")
            }
        }
        return frame == Frame() ? nil : frame
    }

    mutating func next(_ count: Int) async -> [Frame] {
        var frames: [Frame] = []
        while frames.count < count, let frame = await next() { frames.append(frame) }
        return frames
    }

    /// What a feed begins with: the place where it begins.
    mutating func begin() async throws -> Frame {
        #expect(await next()?.comment == "connected")
        let start = try #require(await next())
        #expect(start.retry == "2000")
        #expect(start.event == "urd.progress")
        return start
    }

    /// As if the client hung up.
    func close() async {
        task.cancel()
        _ = try? await task.value
    }
}

extension World {
    func ask(
        _ query: String? = nil, key: BearerKey? = nil, accept: String? = "text/event-stream",
        lastEventID: String? = nil
    ) async throws -> Answered {
        var headers: Headers = ["Authorization": "Bearer \((key ?? self.key).text)"]
        headers["Accept"] = accept
        headers["Last-Event-ID"] = lastEventID
        return try await send(
            Request(
                method: .get, path: "/api/admin/realms/acme/feed", query: query,
                headers: headers, source: "203.0.113.7", id: "request-1"))
    }

    func follow(
        _ query: String? = nil, key: BearerKey? = nil, accept: String? = "text/event-stream",
        lastEventID: String? = nil
    ) async throws -> OpenFeed {
        let answer = try await ask(
            query, key: key, accept: accept, lastEventID: lastEventID)
        #expect(answer.status == .ok, "\(answer.json)")
        return try OpenFeed(answer.response)
    }

    func logged() async throws -> [Recorded] {
        try await log.events(from: 1, limit: .max, in: try #require(RealmID("acme")))
    }

    /// One more event of a client, in a stream of its own.
    func register(_ name: String) async throws {
        try await make(
            "/api/admin/realms/acme/clients",
            ["client_name": .string(name), "grant_types": ["client_credentials"]])
    }

    /// Lets seconds pass until the feed says something.
    func passTime(_ seconds: Int) {
        for _ in 0..<seconds { feeds.rings.tick() }
    }
}
