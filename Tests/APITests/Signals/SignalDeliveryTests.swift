import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import ReadModels
import Testing
import Values

@testable import API

@Suite struct `The signals of a stream` {
    private let ann = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0001)
    private let bob = UUID(high: 0x0193_a0e7_5e0c_7000, low: 0x9000_0000_0000_0002)

    @Test func `a session that ended is told as a signal of the session and its user`()
        async throws
    {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create([
            "events_requested": [.string(SignalKind.sessionRevoked.uri)]
        ])
        let session = try await ours.session(of: ann)
        try await ours.end(session, of: ann)
        let sets = try await ours.poll(stream)
        #expect(sets.count == 2)
        for token in sets.values {
            #expect(try JWTWorld.type(token) == "secevent+jwt")
            let claims = try JWTWorld.claims(token)
            #expect(claims["sub"] == nil)
            #expect(claims["exp"] == nil)
            #expect(claims["aud"] == "siem")
            #expect(claims["iss"] == "http://id.acme.example")
        }
        let claims = try sets.values.map { try JWTWorld.claims($0) }
        let revoked = try #require(
            claims.first { $0["events"]?[SignalKind.sessionRevoked.uri] != nil })
        #expect(
            revoked["sub_id"] == [
                "format": "complex",
                "user": [
                    "format": "iss_sub", "iss": "http://id.acme.example",
                    "sub": .string(ann.description),
                ],
                "session": ["format": "opaque", "id": .string(session.description)],
                "tenant": ["format": "opaque", "id": "acme"],
            ])
        let event = revoked["events"]?[SignalKind.sessionRevoked.uri]
        #expect(event?["initiating_entity"] == "user")
        #expect(event?["reason_admin"] == ["en": "session.ended: logged_out"])
    }

    @Test func `what is not confirmed comes again byte for byte, and what is does not`()
        async throws
    {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create()
        try await ours.end(try await ours.session(of: ann), of: ann)
        let first = try await ours.poll(stream)
        #expect(first.count == 3)
        #expect(try await ours.poll(stream) == first)
        let one = try #require(first.keys.sorted().first)
        let rest = try await ours.poll(stream, ["ack": [.string(one)]])
        #expect(rest == first.filter { $0.key != one })
        let refused = try #require(rest.keys.sorted().first)
        let errors: JSONObject = [
            refused: ["err": "invalid_request", "description": "No such user"]
        ]
        let wrong: [JSON] = [
            [], "no", 1, [.string(refused)], .object([refused: "invalid_request"]),
            .object([refused: ["description": "No such user"]]), .object([refused: ["err": 1]]),
        ]
        for errors in wrong {
            let answer = try await ours.call(
                .post, "/ssf/poll/\(stream)", ["returnImmediately": true, "setErrs": errors])
            #expect(answer.status == .badRequest, "\(errors)")
        }
        #expect(try await ours.poll(stream) == rest)
        #expect(try await ours.poll(stream, ["setErrs": .object(errors)]).count == 1)
        #expect(try await ours.poll(stream, ["maxEvents": 0]).isEmpty)
    }

    @Test func `a receiver with pairwise subjects hears of people by its own subjects`()
        async throws
    {
        let ours = try await SignalWorld(
            try await SignInWorld(),
            metadata: [
                "subject_type": "pairwise",
                "sector_identifier_uri": "https://siem.example/sector.json",
            ])
        let stream = try await ours.create()
        try await ours.end(try await ours.session(of: ann), of: ann)
        let subs = try await ours.take(stream).compactMap { $0["sub_id"]?["user"]?["sub"]?.string }
        #expect(
            subs == [String](repeating: ours.world.mint.subject(ann, in: "siem.example"), count: 2))
        #expect(!subs.contains(ann.description))
    }

    @Test func `a paused stream keeps everything, and a disabled one nothing`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create([
            "events_requested": [.string(SignalKind.sessionRevoked.uri)]
        ])
        #expect(SignalWorld.kinds(try await ours.take(stream)) == ["verification"])
        try await ours.set("paused", stream)
        try await ours.end(try await ours.session(of: ann), of: ann)
        #expect(try await ours.poll(stream).isEmpty)
        try await ours.set("enabled", stream)
        #expect(
            SignalWorld.kinds(try await ours.take(stream)) == ["session-revoked", "verification"])
        // Also what was waiting when it was disabled is gone.
        try await ours.end(try await ours.session(of: ann), of: ann)
        #expect(try await ours.poll(stream).count == 1)
        try await ours.set("disabled", stream)
        try await ours.end(try await ours.session(of: ann), of: ann)
        try await ours.set("paused", stream)
        try await ours.end(try await ours.session(of: bob), of: bob)
        try await ours.set("enabled", stream)
        let signals = try await ours.take(stream)
        #expect(SignalWorld.kinds(signals) == ["session-revoked", "verification"])
        #expect(
            signals.compactMap { $0["sub_id"]?["user"]?["sub"]?.string } == [bob.description])
    }

    @Test func `a stream has signals about the subjects that its receiver names`() async throws {
        let ours = try await SignalWorld(try await SignInWorld())
        let revoked: JSON = [.string(SignalKind.sessionRevoked.uri)]
        let none = try await ours.create([
            "default_subjects": "NONE", "events_requested": revoked,
        ])
        let all = try await ours.create(["events_requested": revoked])
        for stream in [none, all] { _ = try await ours.take(stream) }
        func name(_ account: UUID) -> JSON {
            [
                "format": "iss_sub", "iss": "http://id.acme.example",
                "sub": .string(account.description),
            ]
        }
        let added = try await ours.call(
            .post, "/ssf/subjects:add", ["stream_id": .string(none), "subject": name(ann)])
        #expect(added.status == .ok)
        let removed = try await ours.call(
            .post, "/ssf/subjects:remove", ["stream_id": .string(all), "subject": name(ann)])
        #expect(removed.status == .noContent)
        for account in [ann, bob] {
            try await ours.end(try await ours.session(of: account), of: account)
        }
        func subjects(_ stream: String) async throws -> [String] {
            try await ours.take(stream).compactMap { $0["sub_id"]?["user"]?["sub"]?.string }
        }
        #expect(try await subjects(none) == [ann.description])
        #expect(try await subjects(all) == [bob.description])
        let unknown = try await ours.call(
            .post, "/ssf/subjects:add",
            [
                "stream_id": .string(none),
                "subject": ["format": "phone_number", "phone_number": "+1"],
            ])
        #expect(unknown.status == .ok)
    }

    @Test func `a verification brings back its state, and can be asked for once a minute`()
        async throws
    {
        let ours = try await SignalWorld(try await SignInWorld())
        let stream = try await ours.create()
        _ = try await ours.take(stream)
        let wanted: JSON = ["stream_id": .string(stream), "state": "abc"]
        #expect(try await ours.call(.post, "/ssf/verify", wanted).status == .noContent)
        let again = try await ours.call(.post, "/ssf/verify", wanted)
        #expect(again.status == .tooManyRequests)
        #expect(again.response.headers["Retry-After"] == "60")
        let told = try await ours.take(stream)
        #expect(told.count == 1)
        #expect(told.first?["events"]?[SignalOffer.verification] == ["state": "abc"])
        #expect(told.first?["sub_id"] == ["format": "opaque", "id": .string(stream)])
    }
}
