import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// Whose requests a limit counts: those of strangers are nobody else's.
@Suite struct `Budgets of people and of strangers` {
    private enum From: CaseIterable { case oneNetwork, manyNetworks, theSameNetwork }

    /// Nine hundred people refresh within five minutes, each once, half of them behind one address; the
    /// stranger sends four requests a second.
    @Test(arguments: From.allCases)
    private func `no stranger's request uses up what an app's people need to stay signed in`(
        stranger: From
    ) async throws {
        let app = try await AppWithPeople(people: 900)
        var (honest, strange) = ([Int: Int](), [Int: Int]())
        for second in 0..<300 {
            app.world.clock.advance(seconds: 1)
            for number in second * 4..<second * 4 + 4 {
                let source =
                    switch stranger {
                    case .oneNetwork: "203.0.113.66"
                    case .theSameNetwork: "198.51.100.1"
                    case .manyNetworks: "10.\(number / 250).\(number % 250).1"
                    }
                let answer = try await app.guess(number, from: source)
                strange[answer.status.code, default: 0] += 1
            }
            for person in second * 3..<second * 3 + 3 {
                let isBehindOneAddress = person.isMultiple(of: 2)
                let answer = try await app.refresh(
                    person,
                    from: isBehindOneAddress
                        ? "198.51.100.1" : "172.\(16 + person / 250).\(person % 250).9")
                honest[answer.status.code, default: 0] += 1
            }
        }
        #expect(honest == [200: 900])
        #expect(strange[200] == nil)
        // One network alone is told to stop.
        #expect((strange[429] != nil) == (stranger != .manyNetworks))
    }

    @Test func `people behind one address may all refresh at once`() async throws {
        let app = try await AppWithPeople(people: 900)
        for person in 0..<900 {
            #expect(try await app.refresh(person, from: "198.51.100.1").status == .ok)
        }
    }

    @Test func `the holder of one refresh token is limited alone`() async throws {
        let app = try await AppWithPeople(people: 2)
        var refused: Answered?
        for _ in 0..<70 where refused == nil {
            let answer = try await app.refresh(0, from: "203.0.113.66")
            if answer.status != .ok { refused = answer }
        }
        #expect(refused?.status == .tooManyRequests)
        #expect(refused?.json["dimension"] == "target")
        #expect(try await app.refresh(1, from: "203.0.113.66").status == .ok)
        app.world.clock.advance(seconds: 1)
        #expect(try await app.refresh(0, from: "203.0.113.66").status == .ok)
    }

    /// A hundred and fifty sign in within a minute from one address, which fails at nothing.
    @Test func `sign-ins that succeed use up nothing of an app's limit`() async throws {
        let world = try await SignInWorld([
            "registration": "jit_on_otp",
            "rate_limits": ["native-otp": ["source": .null, "sign-ups": .null]],
        ])
        for person in 0..<150 {
            let name = "p\(person)@example.org"
            #expect(try await world.requestCode(["Email": .string(name)]).status == .ok)
            let answer = try await world.post(
                "/connect/token",
                form: [
                    ("grant_type", "urn:cocoar:otp"), ("client_id", "phone"), ("username", name),
                    ("otp_code", try await world.mailedCode()), ("scope", "openid"),
                ])
            #expect(answer.status == .ok, "\(person): \(answer.json)")
        }
    }

    @Test func `a client that authenticates has a limit of its own, at any network`() async throws {
        let app = try await AppWithPeople(people: 0)
        for turn in 0..<300 { _ = try await app.guess(turn, from: "203.0.113.7") }
        let stranger = try await app.guess(0, from: "203.0.113.7")
        #expect(stranger.status == .tooManyRequests)
        let own = try await app.world.post(
            "/connect/token", form: [("grant_type", "client_credentials")],
            basic: SignInWorld.serviceBasic)
        #expect(own.status == .ok)
    }

    @Test func `a passkey sign-in is begun whatever strangers at other networks begin`()
        async throws
    {
        let world = try await SignInWorld(["primary_domain": "acme.example"])
        func begin(_ source: String) async throws -> Status {
            try await world.send(
                Request(
                    method: .post, path: "/connect/passkey/begin", query: nil,
                    headers: [
                        "Host": "id.acme.example",
                        "Content-Type": "application/x-www-form-urlencoded",
                    ], body: Array("client_id=phone".utf8), source: source, id: "request-8")
            ).status
        }
        for turn in 0..<1_250 { _ = try await begin("10.0.\(turn % 250).1") }
        #expect(try await begin("198.51.100.1") == .ok)
    }
}
