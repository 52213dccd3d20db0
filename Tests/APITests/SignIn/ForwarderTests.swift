import EventSourcing
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

@Suite struct `MOD-15: A forwarding server` {
    private let world: SignInWorld

    init() async throws {
        world = try await SignInWorld([
            "registration": "jit_on_otp",
            "rate_limits": [
                "native-otp": ["source": ["amount": 1, "seconds": 3600]],
                "oauth-token": ["source": ["amount": 1, "seconds": 3600]],
            ],
        ])
        for (name, isTrusted) in [("gateway", true), ("other", false)] {
            try await world.register(
                name,
                [
                    "client_name": "Gateway", "token_endpoint_auth_method": "client_secret_basic",
                    "grant_types": ["urn:cocoar:otp"], "forwards_addresses": .bool(isTrusted),
                ], secret: SignInWorld.secret)
        }
    }

    private func ask(
        _ email: String, as client: String? = "gateway", secret: String = SignInWorld.secret,
        for addresses: [String]
    ) async throws -> Answered {
        try await send(
            "/api/account/native/otp/request", "application/json",
            JSON.object(["Email": .string(email)]).canonical(), client, secret, addresses)
    }

    private func send(
        _ path: String, _ type: String, _ body: [UInt8], _ client: String?, _ secret: String,
        _ addresses: [String]
    ) async throws -> Answered {
        var headers: Headers = ["Host": "id.acme.example", "Content-Type": type]
        headers["Authorization"] = client.map {
            "Basic \(Base64.encode(Array("\($0):\(secret)".utf8)))"
        }
        for address in addresses { headers.append("Modgud-Forwarded-For", address) }
        return try await world.send(
            Request(
                method: .post, path: path, query: nil, headers: headers, body: body,
                source: "203.0.113.7", id: "request-3"))
    }

    @Test func `MOD-15: a forwarding server's requests count by the forwarded address`()
        async throws
    {
        for address in ["198.51.100.1", " 198.51.100.2 ", "2001:db8::1", "2001:db8:0:1::1"] {
            #expect(try await ask("ann@example.org", for: [address]).status == .ok, "\(address)")
        }
        let again = try await ask("eve@example.org", for: ["2001:db8::2"])
        #expect(again.status == .tooManyRequests && again.json["dimension"] == "source")
        let all = try await world.log.events(from: 1, limit: .max, in: world.realm)
        let issued = try #require(all.last { $0.name == "otp.issued" })
        let opened = try await world.log.stream(issued.stream, after: 0, in: world.realm)
        guard case .opened(let told)? = opened.first?.personal else {
            Issue.record("Nothing is told.")
            return
        }
        #expect(told["$address"] == "198.51.100.1")
    }

    @Test func `MOD-15: a forwarding server's token requests count by the forwarded address`()
        async throws
    {
        let body = Array(Form.encode([("grant_type", "urn:cocoar:otp")]).utf8)
        for (address, status) in [
            ("198.51.100.1", Status.badRequest), ("198.51.100.2", .badRequest),
            ("198.51.100.1", .tooManyRequests),
        ] {
            let answer = try await send(
                "/connect/token", "application/x-www-form-urlencoded", body, "gateway",
                SignInWorld.secret, [address])
            #expect(answer.status == status)
        }
    }

    @Test func `MOD-15: a forwarded address is believed only of an authenticated, trusted server`()
        async throws
    {
        for (client, secret) in [
            (nil, ""), ("other", SignInWorld.secret), ("gateway", "wrong"), ("nobody", "x"),
        ] as [(String?, String)] {
            let world = try await Self()
            let answer = try await world.ask(
                "ann@example.org", as: client, secret: secret, for: ["198.51.100.1"])
            #expect(answer.status == .badRequest)
            #expect(answer.json["title"] == "Auth.ForwarderNotTrusted")
        }
    }

    @Test(arguments: [[], [""], ["here"], ["198.51.100.1, 198.51.100.2"], ["::1", "::2"]])
    func `MOD-15: a forwarding server must send exactly one address`(addresses: [String])
        async throws
    {
        let answer = try await ask("ann@example.org", for: addresses)
        #expect(answer.status == .badRequest)
        #expect(answer.json["title"] == "Auth.ForwardedAddressRequired")
    }

    @Test func `MOD-15: a forwarding server's own secret is guessed within a limit`() async throws {
        _ = try await ask("ann@example.org", secret: "wrong", for: ["198.51.100.1"])
        let second = try await ask("ann@example.org", secret: "wrong", for: ["198.51.100.1"])
        #expect(second.status == .tooManyRequests)
    }
}
