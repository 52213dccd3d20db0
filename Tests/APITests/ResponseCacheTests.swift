import EventSourcing
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

@Suite struct `Prepared answers` {
    private let configuration = "/.well-known/openid-configuration"

    private func ask(
        _ world: SignInWorld, _ path: String, _ headers: Headers = [:]
    ) async -> Answered {
        var headers = headers
        if headers["Host"] == nil { headers["Host"] = "id.acme.example" }
        return Answered(
            await world.router.respond(
                to: Request(
                    method: .get, path: path, headers: headers, source: "203.0.113.7",
                    id: "request-1")))
    }

    /// What is asked first after a change goes its whole way: what it leaves behind is told to the next. The first
    /// question for keys makes them, which is a change as well.
    private func askAgain(_ world: SignInWorld, _ path: String) async -> Answered {
        for _ in 0..<3 { _ = await ask(world, path) }
        return await ask(world, path)
    }

    @Test func `a prepared answer is made once and contains nothing of a request`() async throws {
        let world = try await SignInWorld()
        let first = await ask(world, configuration)
        let asked = world.directory.asked
        let second = await ask(world, configuration)
        #expect(world.directory.asked == asked)
        #expect(first.response == second.response && first.status == .ok)
        #expect(first.response.headers["X-Request-Id"] == nil)
    }

    @Test func `a prepared answer is discarded when its configuration changes`() async throws {
        let world = try await SignInWorld()
        func grants() async -> [JSON] {
            await askAgain(world, configuration).json["grant_types_supported"]?.array ?? []
        }
        #expect(await grants().contains("urn:cocoar:otp"))
        world.directory.add(world.realm, hosts: [], ["native_grants": false])
        let closed = await grants()
        #expect(!closed.contains("urn:cocoar:otp") && !closed.isEmpty)
        world.directory.add(world.realm, hosts: [], isDisabled: true)
        #expect(await askAgain(world, configuration).status != .ok)
        world.directory.add(world.realm, hosts: [], isDisabled: false)
        #expect(await askAgain(world, configuration).status == .ok)
        world.directory.change(.system) { $0.hosts = [:] }
        #expect(await askAgain(world, configuration).status == .notFound)
    }

    @Test func `a prepared key set shows a new key at once`() async throws {
        let world = try await SignInWorld()
        func keys() async -> Int {
            await askAgain(world, "/.well-known/jwks").json["keys"]?.array?.count ?? 0
        }
        let before = await keys()
        try await world.carryOut(
            SigningKeyChange.rotate(
                next: try NewSigningKey(.pooled(.es256)), now: world.clock.next()))
        #expect(await keys() == before + 1)
    }

    @Test func `a prepared answer is served at its own issuer alone`() async throws {
        let world = try await SignInWorld(
            forwarding: Forwarding(trusted: [try #require(Network("203.0.113.0/24"))]))
        world.directory.change(.system) { $0.hosts["other.example"] = world.realm }
        func issuer(_ headers: Headers) async -> JSON? {
            await ask(world, configuration, headers).json["issuer"]
        }
        for _ in 0..<2 {
            #expect(await issuer([:]) == "http://id.acme.example")
            #expect(await issuer(["X-Forwarded-Proto": "https"]) == "https://id.acme.example")
            #expect(await issuer(["Host": "other.example"]) == "http://other.example")
            #expect(
                await issuer(["X-Forwarded-Host": "other.example"]) == "http://other.example")
            #expect(await ask(world, configuration, ["Host": "nobody.example"]).status == .notFound)
        }
        let unfounded = await ask(
            world, configuration, ["Modgud-Forwarded-For": "198.51.100.1"])
        #expect(unfounded.status != .ok)
    }
}
