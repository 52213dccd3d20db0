import EventSourcing
import HTTP
import Identity
import JSON
import ReadModels
import Testing
import Values

@testable import API

/// What the people of an app share. The limits are a hundredth here of what they are, so that few networks
/// fill them: how many it takes otherwise is computed.
enum AppBudgets {
    private static func world(_ rates: JSON, _ more: JSONObject = [:]) async throws -> SignInWorld {
        let settings: JSONObject = [
            "registration": "jit_on_otp", "primary_domain": "id.acme.example",
            "rate_limits": rates,
        ]
        let world = try await SignInWorld(settings.merging(more) { $1 })
        let id = UUID.random()
        try await world.carryOut(AppChange.create(id, slug: "desk", name: "Desk"))
        world.directory.change(world.realm) {
            $0.apps[world.realm] = [
                AppView(
                    id: id, slug: "desk", name: "Desk", settings: [:],
                    createdAt: Timestamp(microseconds: 1))
            ]
        }
        return world
    }

    private static func codes(_ world: SignInWorld) async throws -> Int {
        try await world.events().count { $0 == "otp.issued" }
    }

    static func joins() async throws {
        let world = try await world(["native-otp": ["app": ["amount": 30, "seconds": 3600]]])
        func join(_ name: String, from source: String, at host: String) async throws -> Bool {
            let before = try await codes(world)
            let answer = await world.askForCode(
                ["Email": .string("\(name)@example.org")], from: source, at: host)
            // Nobody is told.
            #expect(answer.status == .ok, "\(answer.json)")
            return try await codes(world) > before
        }
        // Ann has an account.
        let (desk, plain) = (SignInWorld.appHost, "id.acme.example")
        #expect(try await join("ann", from: network(9), at: plain))
        _ = await world.redeem(
            "ann@example.org", try await world.mailedCode(), from: network(9))
        for turn in 0..<30 {
            #expect(try await join("s\(turn)", from: network(turn / 10), at: desk), "\(turn)")
        }
        // A network has ten; then strangers at three have used up all.
        #expect(try await !join("s30", from: network(0), at: desk))
        #expect(try await !join("new", from: network(50), at: desk))
        #expect(try await join("ann", from: network(50), at: desk))
        #expect(try await join("new", from: network(50), at: plain))
    }

    static func phones() async throws {
        let world = try await world(
            ["phone-code": ["app": ["amount": 20, "seconds": 3600]]],
            ["phone_sign_in": true, "phone_countries": ["CH"]])
        func request(
            _ number: Int, from source: String, at host: String = SignInWorld.appHost
        ) async -> Answered {
            await world.askForCode(["Phone": .string("+41\(number)")], from: source, at: host)
        }
        for turn in 0..<20 {
            // Of another block each.
            let number = 780_000_000 + turn * 10_000
            #expect(await request(number, from: network(turn / 10)).status == .ok)
        }
        let person = await request(791_234_567, from: network(50))
        #expect(person.status == .tooManyRequests && person.json["dimension"] == "app")
        #expect(await request(791_234_567, from: network(50), at: "id.acme.example").status == .ok)
        let mail = await world.askForCode(
            ["Email": "ann@example.org"], from: network(50), at: SignInWorld.appHost)
        #expect(mail.status == .ok)
        try await blocks(world, request)
    }

    /// One network is enough for numbers that begin alike.
    private static func blocks(
        _ world: SignInWorld, _ request: (Int, String, String) async -> Answered
    ) async throws {
        let plain = "id.acme.example"
        world.clock.advance(seconds: 3600)
        var refused: Answered?
        for turn in 0..<80 where refused == nil {
            world.clock.advance(seconds: 30)
            let answer = await request(782_220_000 + turn, network(60), plain)
            if answer.json["policy"] == "phone-block" { refused = answer }
        }
        #expect(refused?.json["dimension"] == "target")
        let alike = await request(782_229_999, network(70), plain)
        #expect(alike.status == .tooManyRequests && alike.json["policy"] == "phone-block")
        #expect(await request(782_230_000, network(70), plain).status == .ok)
    }

    static func registrations() async throws {
        let world = try await world(
            ["client-registration": ["app": ["amount": 80, "seconds": 3600]]],
            ["client_registration": "open"])
        func register(from source: String, at host: String = SignInWorld.appHost) async -> Answered
        {
            await world.ask(
                "/connect/register",
                json: ["client_name": "Mine", "redirect_uris": ["https://mine.example/back"]],
                from: source, host: host)
        }
        for turn in 0..<80 {
            #expect(await register(from: network(turn / 40)).status == .created)
        }
        let honest = await register(from: network(50))
        #expect(honest.status == .tooManyRequests && honest.json["dimension"] == "app")
        #expect(await register(from: network(50), at: "id.acme.example").status == .created)
        // People are not hurt.
        let mail = await world.askForCode(
            ["Email": "ann@example.org"], from: network(50), at: SignInWorld.appHost)
        #expect(mail.status == .ok)
    }

    /// As many as anybody likes: nothing of them is kept.
    static func sealed() async throws {
        let site = try await AuthorizeWorld(["primary_domain": "acme.example"])
        try await site.signIn()
        let world = site.world
        _ = try await site.code()
        let before = world.log.revision
        for turn in 0..<200 {
            let pushed = await world.ask(
                "/connect/par",
                AuthorizeWorld.request() + [("client_secret", SignInWorld.secret)],
                from: network(turn))
            #expect(pushed.status == .created)
            let begun = await world.ask(
                "/connect/passkey/begin", [("client_id", "phone")], from: network(turn))
            #expect(begun.status == .ok)
            _ = try await site.code()
        }
        #expect(world.log.revision == before)
    }
}
