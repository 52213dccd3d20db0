import EventSourcing
import Foundation
import HTTP
import Identity
import JSON
import LogTesting
import Testing
import Values

@testable import API

/// Who asks at two nodes for tokens, with a key or without one.
struct KeyedClient: Sendable {
    let world: SignInWorld
    let nodes: [Router]
    static let url = "http://id.acme.example/connect/token"

    init(_ settings: JSONObject = [:], _ metadata: JSONObject = [:]) async throws {
        let limits: JSONObject = ["oauth-token": ["source": .null, "client": .null]]
        world = try await SignInWorld(
            settings.merging(["registration": "jit_on_otp", "rate_limits": .object(limits)]) {
                own, _ in own
            })
        try await world.registerPhone("app", metadata)
        nodes = [world.router, world.otherNode()]
    }

    init(of world: SignInWorld) {
        self.world = world
        nodes = [world.router]
    }

    func proof(_ key: ProofKey?, _ claims: JSONObject = [:]) throws -> [String] {
        guard let key else { return [] }
        let usual: JSONObject = [
            "jti": .string("\(UUID.random())"), "htm": "POST", "htu": .string(Self.url),
            "iat": .integer(world.clock.next().seconds),
        ]
        return [try key.proof(usual.merging(claims) { $1 })]
    }

    func ask(_ form: Pairs, _ proofs: [String], at node: Int = 0) async -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
        ]
        for proof in proofs { headers.append("DPoP", proof) }
        return Answered(
            await nodes[node].respond(
                to: Request(
                    method: .post, path: "/connect/token", query: nil, headers: headers,
                    body: Array(Form.encode(form).utf8), source: "203.0.113.7",
                    id: "request-\(UUID.random())")))
    }

    func signIn(_ key: ProofKey?) async throws -> String {
        _ = try await world.requestCode(["Email": "ann@example.org"])
        let answer = await ask(
            [
                ("grant_type", "urn:cocoar:otp"), ("client_id", "app"),
                ("username", "ann@example.org"), ("otp_code", try await world.mailedCode()),
                ("scope", "openid offline_access"),
            ], try proof(key))
        return try #require(answer.json["refresh_token"]?.string, "\(answer.json)")
    }

    /// The next token; nil where none is given.
    func refresh(
        _ token: String, by key: ProofKey?, at node: Int = 0, _ more: Pairs = []
    ) async throws -> String? {
        let answer = await ask(
            [("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", token)]
                + more,
            try proof(key), at: node)
        if answer.status == .ok { return answer.json["refresh_token"]?.string }
        #expect(answer.json["error"] == "invalid_grant", "\(answer.json)")
        return nil
    }

    /// How the session ended; nil while it goes on.
    func end() async throws -> String? {
        try await world.log.events(from: 1, limit: .max, in: world.realm)
            .last { $0.name == "session.ended" }?.open["reason"]?.string
    }
}

/// Random histories of an owner and a thief at the token endpoints of two nodes.
@Suite struct `A walk of an owner and a thief` {
    /// 3,000 where long tests are wanted.
    private static let walks = getenv("URD_LONG_TESTS") == nil ? 60 : 3000
    private static let keys = Result { try (0..<2).map { _ in try ProofKey() } }

    private struct Sightings {
        var quiet = 0
        var seen = 0
        var cut = 0
        var useless = 0
    }

    private func pause(_ random: inout SeededRandom) -> Int64 {
        let longest: [Int64] = [1, 9, 10, 12, 60, 7200]
        return Int64.random(in: 0...(longest.randomElement(using: &random) ?? 1), using: &random)
    }

    @Test func `no walk loses an honest session, and each theft is seen at the next refresh`()
        async throws
    {
        var sightings = Sightings()
        for seed in 0..<Self.walks { try await walk(UInt64(seed), &sightings) }
        for count in [sightings.quiet, sightings.seen, sightings.cut, sightings.useless] {
            #expect(count > Self.walks / 60, "\(sightings)")
        }
    }

    private func walk(_ seed: UInt64, _ sightings: inout Sightings) async throws {
        var random = SeededRandom(seed: seed)
        let client = try await KeyedClient()
        let (own, other) = (try Self.keys.get()[0], try Self.keys.get()[1])
        // The owner's client has a key from the start, later or never; the thief has none, one or the owner's.
        var key = Bool.random(using: &random) ? own : nil
        let mayBegin = Bool.random(using: &random)
        let thiefs = [nil, other, other, own].randomElement(using: &random) ?? nil
        let hasThief = seed % 3 != 0
        var token = try await client.signIn(key)
        var (given, stolen): ([String], [String]) = ([token], [])
        var isSpoilt = false
        var madeAt = client.world.clock.next()
        func why(_ what: String) -> Testing.Comment { "seed \(seed): \(what)" }
        func note(_ next: String) {
            if given.contains(next) { return }
            given.append(next)
            madeAt = client.world.clock.next()
        }
        for _ in 0..<Int.random(in: 4...14, using: &random) {
            client.world.clock.advance(seconds: pause(&random))
            let node = Int.random(in: 0...1, using: &random)
            if mayBegin, Int.random(in: 0..<5, using: &random) == 0 { key = own }
            if hasThief, Bool.random(using: &random) {
                if stolen.isEmpty {
                    stolen = [given.suffix(2).randomElement(using: &random) ?? token]
                }
                let shown = stolen.randomElement(using: &random) ?? token
                let proved = Bool.random(using: &random) ? thiefs : nil
                guard let next = try await client.refresh(shown, by: proved, at: node) else {
                    if try await client.end() != nil { break }
                    sightings.useless += 1
                    continue
                }
                isSpoilt = isSpoilt || !given.contains(next)
                stolen.append(next)
                note(next)
                continue
            }
            guard let next = try await client.refresh(token, by: key, at: node) else {
                let end = try await client.end()
                try #require(end == "reuse", why("an owner is refused, and nothing is over"))
                try #require(isSpoilt, why("an honest session is lost"))
                sightings.seen += 1
                break
            }
            if isSpoilt, !stolen.contains(next) {
                sightings.cut += 1
                token = next
                break
            }
            // Both have the living token for the moment of the leeway alone.
            let isMoment = client.world.clock.next() < madeAt.adding(seconds: 22)
            try #require(!isSpoilt || isMoment, why("both have the living token"))
            note(next)
            // The answer may be lost: the same is asked again.
            if Int.random(in: 0..<100, using: &random) < 60 { token = next }
        }
        if !hasThief {
            let end = try await client.end()
            try #require(end == nil, why("an honest session is lost"))
            sightings.quiet += 1
        }
        guard isSpoilt else { return }
        try await comeAgain(client, token, by: key, stolen, by: [nil, thiefs], why)
    }

    /// Seen or cut off: when the owner has come again, the thief has nothing any more.
    private func comeAgain(
        _ client: KeyedClient, _ token: String, by key: ProofKey?, _ stolen: [String],
        by thiefs: [ProofKey?], _ why: (String) -> Testing.Comment
    ) async throws {
        var token = token
        for _ in 0..<2 {
            client.world.clock.advance(seconds: 60)
            guard let next = try await client.refresh(token, by: key) else { break }
            token = next
        }
        for shown in stolen {
            for proved in thiefs {
                let next = try await client.refresh(shown, by: proved)
                try #require(next == nil, why("a thief goes on"))
            }
        }
        let end = try await client.end()
        try #require(end == "reuse", why("nobody noticed the theft"))
    }
}
