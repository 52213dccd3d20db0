import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

private typealias Site = AuthorizeWorld

/// What is asked for has one limit wherever it is asked: that of the token endpoint.
@Suite struct `A scope of more than 2048 characters` {
    /// Of a name that every client may have, so that nothing but the length is wrong.
    private static func scope(_ length: Int) -> String {
        "openid" + String(repeating: " ", count: length - 6)
    }

    /// The same of names, as they are kept.
    private static func names(_ length: Int) -> String {
        var names: [String] = []
        var left = length
        while left > 128 {
            let name = "s\(names.count)-"
            names.append(name + String(repeating: "x", count: 127 - name.utf8.count))
            left -= 128
        }
        return (names + [String(repeating: "y", count: left)]).joined(separator: " ")
    }

    enum Place: String, CaseIterable, Sendable {
        case authorize, authorizeByForm, push, requestObject, pushedObject, device, challenge, token
        case registration, administration
    }

    private func world(_ key: SigningKey) async throws -> AuthorizeWorld {
        let keys: JSON = ["keys": [key.verificationKey.jwk]]
        let site = try await Site(
            ["client_registration": "open", "registration": "jit_on_otp"], web: ["jwks": keys])
        try await site.world.registerPhone(
            "own",
            [
                "grant_types": [
                    "urn:cocoar:otp", "authorization_code",
                    "urn:ietf:params:oauth:grant-type:device_code",
                ], "consent": "none", "redirect_uris": ["http://127.0.0.1/back"],
            ])
        try await site.signIn()
        return site
    }

    @Test(arguments: Place.allCases)
    func `a scope of 2048 characters is accepted everywhere, and a longer one nowhere`(place: Place)
        async throws
    {
        let key = try SigningKey.pooled(.es256, id: "k")
        let site = try await world(key)
        for (length, isTaken) in [(2048, true), (2049, false), (50_000, false)] {
            let answer = try await ask(place, Self.scope(length), site, key)
            #expect((answer == nil) == isTaken, "\(place) \(length): \(answer ?? "taken")")
            if let answer {
                #expect(
                    [
                        "invalid_scope", "invalid_request", "invalid_client_metadata",
                        "invalid_request_object",
                    ].contains(answer))
            }
        }
    }

    /// Nil where it was taken, else the error.
    private func ask(
        _ place: Place, _ scope: String, _ site: AuthorizeWorld, _ key: SigningKey
    ) async throws -> String? {
        let world = site.world
        let request = Site.request([("scope", scope)])
        switch place {
        case .authorize: return try site.sent(try await site.authorize(request)).with["error"]
        case .authorizeByForm:
            return try site.sent(try await site.authorize(request, method: .post)).with["error"]
        case .push: return try await push(request.filter { $0.name != "client_id" }, world)
        case .requestObject:
            let pairs: Pairs = [("client_id", "web"), ("request", try object(request, world, key))]
            let answer = try await site.authorize(pairs + [("redirect_uri", Site.back)])
            // What is too long to be read goes nowhere.
            if answer.status == .badRequest { return "invalid_request" }
            return try site.sent(answer).with["error"]
        case .pushedObject:
            return try await push([("request", try object(request, world, key))], world)
        case .device:
            return try await world.post(
                DeviceRoutes.path, form: [("client_id", "own"), ("scope", scope)]
            ).json["error"]?.string
        case .challenge:
            let answer = try await world.post(
                "/connect/challenge",
                form: [
                    ("client_id", "own"), ("scope", scope), ("code_challenge", Site.challenge),
                    ("code_challenge_method", "S256"),
                ]
            ).json["error"]?.string
            return answer == "insufficient_authorization" ? nil : answer
        case .token:
            _ = try await world.requestCode(["Email": "ann@example.org"])
            return try await world.redeem(try await world.mailedCode(), scope: scope)
                .json["error"]?.string
        case .registration:
            return try await world.registerItself(["scope": .string(scope)]).json["error"]?.string
        case .administration:
            do {
                try await world.register(
                    "client-\(scope.utf8.count)",
                    [
                        "scope": .string(Self.names(scope.utf8.count)),
                        "token_endpoint_auth_method": "none",
                        "redirect_uris": ["https://x.example/back"],
                    ])
                return nil
            } catch let refusal as RegisterClient.Rejection {
                guard case .invalid(let fault) = refusal, fault.field == "scope" else {
                    return "\(refusal)"
                }
                return "invalid_client_metadata"
            }
        }
    }

    private func push(_ pairs: Pairs, _ world: SignInWorld) async throws -> String? {
        try await world.post(
            "/connect/par",
            form: pairs + [("client_id", "web"), ("client_secret", SignInWorld.secret)]
        ).json["error"]?.string
    }

    private func object(
        _ request: Pairs, _ world: SignInWorld, _ key: SigningKey
    ) throws -> String {
        let now = world.clock.next()
        var claims: JSONObject = [
            "iss": "web", "aud": .string(Site.issuer), "exp": .integer(now.seconds + 300),
            "nbf": .integer(now.seconds),
        ]
        for (name, value) in request { claims[name] = .string(value) }
        return try JWS.sign(
            JSON.object(claims).canonical(), by: key, type: "oauth-authz-req+jwt")
    }

    /// Its name would be too long to be read again.
    @Test(arguments: ["acr_values", "resource"])
    func `a pushed request may be too long for other reasons than its scope`(name: String)
        async throws
    {
        let site = try await world(try SigningKey.pooled(.es256, id: "k"))
        let long = (0..<8).map { "https://\($0).example/" + String(repeating: "x", count: 2000) }
        let more: Pairs =
            name == "resource"
            ? long.map { (name: name, value: $0) } : [(name, long.joined(separator: " "))]
        let pairs = Site.request(more).filter { $0.name != "client_id" }
        #expect(try await push(pairs, site.world) == "invalid_request")
    }
}
