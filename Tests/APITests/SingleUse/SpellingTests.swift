import Cryptography
import HTTP
import Identity
import JSON
import Synchronization
import Testing
import Values

@testable import API

/// What is used once is known by what it says, and no other spelling of it is another one.
@Suite struct `Another spelling of what was used` {
    /// The same bytes in other letters, as far as lenient readers take them.
    static func spellings(of text: String) -> [String] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var all = [
            text + "=", text + "==", text + ".", text + "\n", " " + text,
            text.replacing("-", with: "+").replacing("_", with: "/"),
        ]
        // Bits behind the last byte, which a lenient reader drops.
        if let last = text.last.flatMap(alphabet.firstIndex) {
            for bit in [1, 2, 3] { all.append(text.dropLast() + String(alphabet[last ^ bit])) }
        }
        return all.filter { $0 != text }
    }

    @Test func `a tenant's code in another spelling is none, before and after its use`()
        async throws
    {
        let site = try await AuthorizeWorld(["profile": "verify"])
        try await site.registerTenant()
        try await site.signIn()
        let right = try await site.tenantExchange()
        func send(_ code: String) async throws -> Answered {
            var request = right
            var members = try #require(try JSON.parse(right.body).object)
            members["authorization_code"] = .string(code)
            request.body = JSON.object(members).canonical()
            return Answered(await site.world.router.respond(to: request))
        }
        let code = try #require(try JSON.parse(right.body)["authorization_code"]?.string)
        for other in Self.spellings(of: code) {
            #expect(try await send(other).status != .ok, "\(other.suffix(4))")
        }
        #expect(try await send(code).status == .ok)
        let opened = try await site.world.events().count { $0 == "session.opened" }
        for other in Self.spellings(of: code) {
            #expect(try await send(other).status != .ok, "\(other.suffix(4))")
        }
        #expect(try await send(code).status != .ok)
        #expect(try await site.world.events().count { $0 == "session.opened" } == opened)
        #expect(try await KeyedClient(of: site.world).end() == "code_reuse")
    }

    /// The order of P-256. With s, n - s is a signature of the same by the same key.
    private static let order =
        Hex.decode(
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") ?? []

    private static func twin(of token: String) throws -> String {
        let mark = try #require(token.lastIndex(of: "."))
        let signature = try #require(Base64URL.decode(String(token[mark...].dropFirst())))
        try #require(signature.count == 64)
        var (difference, borrow) = ([UInt8](repeating: 0, count: 32), 0)
        for index in (0..<32).reversed() {
            let left = Int(order[index]) - Int(signature[32 + index]) - borrow
            borrow = left < 0 ? 1 : 0
            difference[index] = UInt8(left + borrow * 256)
        }
        return token[...mark] + Base64URL.encode(Array(signature.prefix(32)) + difference)
    }

    @Test func `a provider's ID token signs an owner in once, in whichever spelling`() async throws
    {
        let provider = StandIn()
        let flagship = try await FlagshipWorld(callProviders: provider.calls)
        provider.clock.withLock { $0 = flagship.world.clock }
        try await flagship.world.carryOut(ProviderChange.configure(.standIn()))
        try await flagship.world.link(flagship.account)
        let app = try await flagship.certified()
        _ = try await flagship.onboard(app)
        func ask(_ token: String) async throws -> Answered {
            try await flagship.send(
                .post, "/oidc/access_token",
                json: app.members(["scope": "*", "id_token": .string(token)]))
        }
        // The other signature is as good as the first one.
        #expect(try await ask(try Self.twin(of: provider.idToken())).status == .ok)
        flagship.world.clock.advance(seconds: 1)
        let token = provider.idToken()
        #expect(try await ask(token).status == .ok)
        let twin = try Self.twin(of: token)
        for other in [token, twin] + Self.spellings(of: token) + Self.spellings(of: twin) {
            #expect(try await ask(other).json["error"] == "invalid token", "\(other.suffix(4))")
        }
    }
}
