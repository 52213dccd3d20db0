import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// A request that is refused before what it shows is on record as used, or with it.
enum SingleUseRefusal: String, CaseIterable, CustomTestStringConvertible {
    case refreshOfOtherClient = "refresh token, of another client"
    case refreshOfWiderScope = "refresh token, with a wider scope"
    case refreshWithFaultyProof = "refresh token, with a proof that is none"
    case codeOfOtherClient = "code of a browser, of another client"
    case codeWithOtherRedirect = "code of a browser, with another redirect URI"
    case codeWithOtherVerifier = "code of a browser, with another verifier"
    case codeWithOtherKey = "code of a browser, with another key"
    case codeWithImpossibleVerifier = "code of a browser, with a verifier that can be none"
    case codeWithFaultyResource = "code of a browser, with a resource that is none"
    case codeWithFaultyProof = "code of a browser, with a proof that is none"
    case deviceCodeOfOtherClient = "device code, of another client"
    case deviceCodeForFaultyResource = "device code, for a resource that is none"
    case mailedCodeForFaultyScope = "mailed code, for a scope that there is not"
    case mailedCodeForFaultyResource = "mailed code, for a resource that is none"
    case mailedCodeThatIsWrong = "mailed code, behind a wrong guess"
    case mailedCodeWithoutSecondFactor = "mailed code, without the second factor"
    case linkForFaultyScope = "link, for a scope that there is not"
    case ceremonyWithGarbage = "passkey ceremony, with garbage"
    case factorBehindWrongCode = "code of an authenticator app, behind a wrong first factor"

    var testDescription: String { rawValue }

    var leavesItGood: Bool {
        switch self {
        case .codeOfOtherClient, .codeWithOtherRedirect, .codeWithOtherVerifier, .codeWithOtherKey,
            .ceremonyWithGarbage:
            false
        case .refreshOfOtherClient, .refreshOfWiderScope, .refreshWithFaultyProof,
            .codeWithImpossibleVerifier, .codeWithFaultyResource, .codeWithFaultyProof,
            .deviceCodeOfOtherClient, .deviceCodeForFaultyResource, .mailedCodeForFaultyScope,
            .mailedCodeForFaultyResource, .mailedCodeThatIsWrong, .mailedCodeWithoutSecondFactor,
            .linkForFaultyScope, .factorBehindWrongCode:
            true
        }
    }

    typealias Answers = (refused: Answered, later: Answered)

    /// The refused request, and the right one behind it.
    func walk() async throws -> Answers {
        switch self {
        case .refreshOfOtherClient: try await refresh([("client_id", "other")])
        case .refreshOfWiderScope: try await refresh([("scope", "jobs")])
        case .refreshWithFaultyProof: try await refresh([], ["x"])
        case .codeOfOtherClient: try await code([("client_id", "second")])
        case .codeWithOtherRedirect: try await code([("redirect_uri", "https://evil.example")])
        case .codeWithOtherVerifier:
            try await code([("code_verifier", String(repeating: "v", count: 43))])
        case .codeWithOtherKey: try await boundCode()
        case .codeWithImpossibleVerifier: try await code([("code_verifier", "short")])
        case .codeWithFaultyResource: try await code([("resource", "x")])
        case .codeWithFaultyProof: try await code([], ["x"])
        case .deviceCodeOfOtherClient: try await deviceCode([("client_id", "radio")])
        case .deviceCodeForFaultyResource: try await deviceCode([("resource", "x")])
        case .mailedCodeForFaultyScope: try await mailedCode([("scope", "nothing")])
        case .mailedCodeForFaultyResource: try await mailedCode([("resource", "x")])
        case .mailedCodeThatIsWrong: try await mailedCode([("otp_code", "wrong")])
        case .mailedCodeWithoutSecondFactor: try await secondFactor(isCodeWrong: false)
        case .linkForFaultyScope: try await link()
        case .ceremonyWithGarbage: try await ceremony()
        case .factorBehindWrongCode: try await secondFactor(isCodeWrong: true)
        }
    }

    /// The same form with other fields.
    private func form(_ usual: Pairs, _ more: Pairs) -> Pairs {
        let names = Set(more.map(\.name))
        return usual.filter { !names.contains($0.name) } + more
    }

    private func both(
        _ client: KeyedClient, _ usual: Pairs, _ more: Pairs, _ proofs: [String] = []
    ) async -> Answers {
        (
            await client.ask(form(usual, more), proofs),
            await client.ask(usual, [], at: client.nodes.count - 1)
        )
    }

    private func refresh(_ more: Pairs, _ proofs: [String] = []) async throws -> Answers {
        let client = try await KeyedClient()
        try await client.world.registerPhone("other", [:])
        let token = try await client.signIn(nil)
        return await both(
            client,
            [("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", token)],
            more, proofs)
    }

    private func code(_ more: Pairs, _ proofs: [String] = []) async throws -> Answers {
        let site = try await AuthorizeWorld()
        try await site.register("second", [:])
        try await site.signIn()
        let usual: Pairs = [
            ("grant_type", "authorization_code"), ("code", try await site.code()),
            ("client_id", "web"), ("client_secret", SignInWorld.secret),
            ("redirect_uri", AuthorizeWorld.back), ("code_verifier", AuthorizeWorld.verifier),
        ]
        return await both(KeyedClient(of: site.world), usual, more, proofs)
    }

    private func boundCode() async throws -> Answers {
        let site = try await AuthorizeWorld()
        try await site.signIn()
        let (client, key) = (KeyedClient(of: site.world), try ProofKey())
        let request = AuthorizeWorld.request([("dpop_jkt", key.thumbprint)])
        let usual: Pairs = [
            ("grant_type", "authorization_code"), ("code", try await site.code(request)),
            ("client_id", "web"), ("client_secret", SignInWorld.secret),
            ("redirect_uri", AuthorizeWorld.back), ("code_verifier", AuthorizeWorld.verifier),
        ]
        return (
            await client.ask(usual, try client.proof(try ProofKey())),
            await client.ask(usual, try client.proof(key))
        )
    }

    private func deviceCode(_ more: Pairs) async throws -> Answers {
        let grant = "urn:ietf:params:oauth:grant-type:device_code"
        let client = try await KeyedClient()
        let world = client.world
        for name in ["television", "radio"] {
            try await world.register(
                name,
                [
                    "client_name": "Television", "token_endpoint_auth_method": "none",
                    "grant_types": [.string(grant), "refresh_token"],
                ])
        }
        let token = try #require(try await world.signIn("app").json["access_token"]?.string)
        let device = try await world.post(
            "/connect/deviceauthorization",
            form: [("client_id", "television"), ("scope", "openid")]
        ).json
        _ = try await world.call(
            .post, "/api/account/device", bearer: token,
            ["UserCode": device["user_code"] ?? .null, "Approve": true])
        let usual: Pairs = [
            ("grant_type", grant), ("client_id", "television"),
            ("device_code", try #require(device["device_code"]?.string)),
        ]
        let refused = await client.ask(form(usual, more), [])
        world.clock.advance(seconds: 20)
        return (refused, await client.ask(usual, []))
    }

    private func mailedCode(_ more: Pairs) async throws -> Answers {
        let client = try await KeyedClient()
        _ = try await client.world.requestCode(["Email": "ann@example.org"])
        let usual: Pairs = [
            ("grant_type", "urn:cocoar:otp"), ("client_id", "app"),
            ("username", "ann@example.org"), ("otp_code", try await client.world.mailedCode()),
            ("scope", "openid"),
        ]
        return await both(client, usual, more)
    }

    private func link() async throws -> Answers {
        let world = try await SignInWorld()
        _ = try await world.join()
        _ = try await world.requestLink(["Email": "ann@example.org"])
        let link = try await world.mailedLink()
        let usual: Pairs = [
            ("grant_type", "urn:cocoar:magic"), ("client_id", "phone"),
            ("user_id", link["userId"] ?? ""), ("magic_token", link["token"] ?? ""),
            ("scope", "openid"),
        ]
        return await both(KeyedClient(of: world), usual, [("scope", "nothing")])
    }

    private func ceremony() async throws -> Answers {
        let passkeys = try await PasskeyWorld()
        let key = try SoftKey(of: passkeys.account)
        #expect(try await passkeys.enroll(key).status.code < 300)
        let begun = try await passkeys.begin()
        let garbage = try await passkeys.redeem(begun.id, "{}")
        return (garbage, try await passkeys.redeem(begun.id, try key.assertion(begun)))
    }

    private func secondFactor(isCodeWrong: Bool) async throws -> Answers {
        let world = try await SignInWorld()
        let (app, _) = try await world.enroll(try await world.token())
        let code = try await world.mailCode()
        let second = try app.code(at: world.clock)
        let refused =
            isCodeWrong
            ? try await world.redeem(code: "wrong", totp: second)
            : try await world.redeem(code: code, totp: nil)
        return (refused, try await world.redeem(code: code, totp: second))
    }
}
