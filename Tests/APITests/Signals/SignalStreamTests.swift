import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `The streams of a receiver of signals` {
    @Test func `the configuration of a transmitter names what works and has no empty list`()
        async throws
    {
        let world = try await SignInWorld()
        let answer = try await world.get("/.well-known/ssf-configuration")
        #expect(answer.status == .ok)
        #expect(answer.json["spec_version"] == "1_0")
        #expect(answer.json["issuer"] == "http://id.acme.example")
        #expect(answer.json["authorization_schemes"] == [["spec_urn": "urn:ietf:rfc:6749"]])
        #expect(answer.json.object?.values.contains([]) == false)
        #expect(try await world.get("/.well-known/ssf-configuration/auth").status == .notFound)
    }

    @Test func `a receiver sees and changes its own streams alone`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let other = try await SignalWorld(ours.world, clientID: "other")
        let stream = try await ours.create()
        let named: JSON = ["stream_id": .string(stream)]
        #expect(try await other.call(.get, "/ssf/streams").json == [])
        let query = "stream_id=\(stream)"
        #expect(try await other.call(.get, "/ssf/streams", query: query).status == .notFound)
        #expect(try await other.call(.patch, "/ssf/streams", named).status == .notFound)
        #expect(try await other.call(.delete, "/ssf/streams", query: query).status == .notFound)
        #expect(try await other.call(.get, "/ssf/status", query: query).status == .notFound)
        #expect(try await other.call(.post, "/ssf/verify", named).status == .notFound)
        #expect(try await other.call(.post, "/ssf/poll/\(stream)", [:]).status == .notFound)
        #expect(try await ours.call(.get, "/ssf/streams", query: query).status == .ok)
    }

    @Test func `a token without the scope, of a person or none at all manages no stream`()
        async throws
    {
        let world = try await SignInWorld()
        let ours = try await SignalWorld(world)
        let stream = try await ours.create()
        let reader = try await SignalWorld(world, clientID: "reader", scope: "ssf.read")
        #expect(try await reader.call(.get, "/ssf/streams").status == .ok)
        let denied = try await reader.call(.post, "/ssf/streams", [:])
        #expect(denied.status == .forbidden)
        #expect(denied.json["error"] == "insufficient_scope")
        let jobs = try await SignalWorld(world, clientID: "jobs", scope: "jobs")
        #expect(try await jobs.call(.get, "/ssf/streams").status == .forbidden)
        #expect(try await jobs.call(.post, "/ssf/poll/\(stream)", [:]).status == .forbidden)
        let wrong = try await ours.call(.get, "/ssf/streams", token: "invalid:token")
        #expect(wrong.status == .unauthorized)
        #expect(wrong.response.headers["WWW-Authenticate"]?.contains("Bearer") == true)
    }

    @Test func `a client has ten streams and no eleventh, also where many are asked for at once`()
        async throws
    {
        let ours = try await SignalWorld(try await SignInWorld())
        let answers = try await withThrowingTaskGroup { group in
            for _ in 0..<14 {
                group.addTask { try await ours.call(.post, "/ssf/streams", [:]).status.code }
            }
            var all: [Int] = []
            for try await code in group { all.append(code) }
            return all
        }
        #expect(answers.count { $0 == 201 } <= 10)
        var made = answers.count { $0 == 201 }
        while made < 10 {
            _ = try await ours.create()
            made += 1
        }
        #expect(try await ours.call(.post, "/ssf/streams", [:]).status == .conflict)
        let listed = try #require(try await ours.call(.get, "/ssf/streams").json.array)
        #expect(listed.count == 10)
        let first = try #require(listed.first?["stream_id"]?.string)
        let gone = try await ours.call(.delete, "/ssf/streams", query: "stream_id=\(first)")
        #expect(gone.status == .noContent)
        _ = try await ours.create()
    }

    @Test func `the header that signals are pushed with is kept and never shown`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let endpoint: JSON = "https://siem.example/signals"
        let stream = try await ours.create([
            "delivery": [
                "method": "urn:ietf:rfc:8935", "endpoint_url": endpoint,
                "authorization_header": "Bearer hidden",
            ]
        ])
        func header() async throws -> String? {
            let id = try #require(UUID(stream))
            let known = try await SignalWorld.folded(id, ours.world)
            guard case .push(_, let header) = known.settings.delivery else { return nil }
            return header
        }
        #expect(try await header() == "Bearer hidden")
        let read = try await ours.call(.get, "/ssf/streams", query: "stream_id=\(stream)")
        #expect(!String(decoding: read.response.body, as: UTF8.self).contains("hidden"))
        // Who changes something else keeps it; another endpoint never gets it.
        let delivery: JSON = ["method": "urn:ietf:rfc:8935", "endpoint_url": endpoint]
        let change: JSON = ["stream_id": .string(stream), "delivery": delivery]
        #expect(try await ours.call(.put, "/ssf/streams", change).status == .ok)
        #expect(try await header() == "Bearer hidden")
        let moved: JSON = [
            "stream_id": .string(stream),
            "delivery": [
                "method": "urn:ietf:rfc:8935", "endpoint_url": "https://evil.example/signals",
            ],
        ]
        #expect(try await ours.call(.patch, "/ssf/streams", moved).status == .ok)
        #expect(try await header() == nil)
        for event in try await ours.world.log.events(from: 1, limit: .max, in: ours.world.realm) {
            #expect(event.open["authorization"] == nil)
        }
    }

    @Test func `whose signals a stream has is said when it is made, and stays`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create(["default_subjects": "NONE"])
        for method in [Method.patch, .put] {
            let all: JSON = ["stream_id": .string(stream), "default_subjects": "ALL"]
            let answer = try await ours.call(method, "/ssf/streams", all)
            #expect(answer.status == .badRequest)
            let same: JSON = ["stream_id": .string(stream), "default_subjects": "NONE"]
            #expect(try await ours.call(method, "/ssf/streams", same).status == .ok)
        }
    }

    @Test func `a client that registers itself gets no scope of signals, with whichever token`()
        async throws
    {
        let world = try await SignInWorld(["client_registration": "open"])
        let answer = try await world.post(
            "/connect/register",
            json: [
                "redirect_uris": ["https://a.example/back"], "scope": "openid ssf.manage",
            ])
        #expect(answer.status == .created && answer.json["scope"] == "openid")
    }
}

extension SignalWorld {
    static func folded(_ id: UUID, _ world: SignInWorld) async throws -> SignalStream {
        var state = SignalStream()
        for recorded in try await world.log.stream(id, after: 0, in: world.realm) {
            state.apply(try #require(SignalStreamEvent(recorded)))
        }
        return state
    }
}
