import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

private let ann = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0001)
private let bob = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0002)

@Suite struct `Signals that are sent once more` {
    private func replay(
        _ stream: String, from: JSON, of ours: SignalWorld, token: String? = nil
    ) async throws -> Answered {
        try await ours.call(
            .post, "/ssf/replay", ["stream_id": .string(stream), "from": from], token: token)
    }

    @Test func `what came after a transaction comes again by the same names`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create([
            "events_requested": [.string(SignalKind.sessionRevoked.uri)]
        ])
        _ = try await ours.take(stream)
        for account in [ann, bob, ann] {
            try await ours.end(try await ours.session(of: account), of: account)
        }
        let told = try await ours.take(stream)
        let places = told.compactMap { $0["txn"]?.string }.compactMap { LogCursor($0) }
            .map(\.position).sorted()
        #expect(places.count == 3)
        let answer = try await replay(stream, from: .string("1:\(places[0])"), of: ours)
        #expect(answer.status == .ok)
        #expect(answer.json["from"] == .string("1:\(places[0])"))
        let again = try await ours.take(stream)
        func names(_ signals: [JSONObject], after position: Int64) -> [String] {
            signals.filter { signal in
                signal["txn"]?.string.flatMap { LogCursor($0) }.map { $0.position > position }
                    ?? false
            }.compactMap { $0["jti"]?.string }.sorted()
        }
        #expect(names(again, after: 0) == names(told, after: places[0]))
        #expect(again.count == 2)
        // From the very start: as far as the stream goes back.
        let whole = try await replay(stream, from: "0:0", of: ours)
        let begin = try #require(whole.json["from"]?.string.flatMap { LogCursor($0) })
        #expect(begin.position > 0 && begin.position < places[0])
        #expect(names(try await ours.take(stream), after: 0) == names(told, after: 0))
    }

    @Test func `what a receiver refused comes again when it asks for it`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create([
            "events_requested": [.string(SignalKind.sessionRevoked.uri)]
        ])
        _ = try await ours.take(stream)
        try await ours.end(try await ours.session(of: ann), of: ann)
        let first = try await ours.poll(stream)
        let name = try #require(first.keys.first)
        let errors: JSONObject = [name: ["err": "invalid_key", "description": "Old key"]]
        #expect(try await ours.poll(stream, ["setErrs": .object(errors)]).isEmpty)
        #expect(try await replay(stream, from: "0:0", of: ours).status == .ok)
        #expect(try await ours.poll(stream).keys.sorted() == [name])
    }

    @Test func `a place that is none is refused, and so are strangers and readers`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create()
        for wrong: JSON in ["now", "1", "1:01", 7, .null, "1:9999999"] {
            let answer = try await replay(stream, from: wrong, of: ours)
            #expect(answer.status == .badRequest, "\(wrong)")
        }
        #expect(try await replay(stream, from: "7:1", of: ours).status == .conflict)
        let other = try await SignalWorld(ours.world, clientID: "other")
        #expect(try await replay(stream, from: "0:0", of: other).status == .notFound)
        let reader = try await SignalWorld(ours.world, clientID: "reader", scope: "ssf.read")
        #expect(try await replay(stream, from: "0:0", of: reader).status == .forbidden)
    }
}
