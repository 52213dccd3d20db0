import HTTP
import JSON
import Testing
import Values

@testable import API

/// The second table of docs/single-use.md: what a request may have wrong, and that it does not hide that what it
/// shows was used before.
@Suite struct `A faulty request that shows what was used before` {
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case nothing = "nothing"
        case noKey = "no proof of the key"
        case otherKey = "proof of another key"
        case malformedProof = "proof that is no JWT"
        case twoProofs = "two proofs"
        case oldProof = "proof that is over"
        case usedProof = "proof that was used before"
        case foreignProof = "proof for another address"
        case scope = "scope that is misspelt"
        case widerScope = "scope that it may not have"
        case resource = "resource that is none"
        case foreignResource = "resource of another"
        case redirect = "another redirect URI"
        case verifier = "another verifier"
        case malformedVerifier = "verifier that can be none"
        case noVerifier = "no verifier"
        case otherClient = "another client"

        var testDescription: String { rawValue }

        var isOfCodes: Bool {
            switch self {
            case .redirect, .verifier, .malformedVerifier, .noVerifier, .otherClient: true
            case .nothing, .noKey, .otherKey, .malformedProof, .twoProofs, .oldProof, .usedProof,
                .foreignProof, .scope, .widerScope, .resource, .foreignResource:
                false
            }
        }

        func proofs(_ client: KeyedClient, _ key: ProofKey) throws -> [String] {
            switch self {
            case .noKey: []
            case .otherKey: try client.proof(try ProofKey())
            case .malformedProof: ["x"]
            case .twoProofs: try client.proof(key) + client.proof(key)
            case .oldProof: try client.proof(key, ["iat": 1_000_000])
            case .usedProof: try client.proof(key, ["jti": "used"])
            case .foreignProof: try client.proof(key, ["htu": "http://id.acme.example/other"])
            case .nothing, .scope, .widerScope, .resource, .foreignResource, .redirect, .verifier,
                .malformedVerifier, .noVerifier, .otherClient:
                try client.proof(key)
            }
        }

        var pairs: Pairs {
            switch self {
            case .scope: [("scope", "\"\\")]
            case .widerScope: [("scope", "jobs")]
            case .resource: [("resource", "x")]
            case .foreignResource: [("resource", "https://bank.example")]
            case .redirect: [("redirect_uri", "https://evil.example")]
            case .verifier: [("code_verifier", String(repeating: "v", count: 43))]
            case .malformedVerifier: [("code_verifier", "short")]
            case .noVerifier: [("code_verifier", "")]
            case .otherClient: [("client_id", "other")]
            case .nothing, .noKey, .otherKey, .malformedProof, .twoProofs, .oldProof, .usedProof,
                .foreignProof:
                []
            }
        }
    }

    @Test func `docs/single-use.md lists what a faulty request does not hide`() throws {
        let said = try DocumentTable.rows(of: "single-use.md", under: "wrong in the request")
            .map { Array($0.prefix(2)) }
        #expect(
            said
                == Fault.allCases.map { [$0.rawValue, $0.isOfCodes ? "–" : "ends the session"] })
    }

    @Test(arguments: Fault.allCases.filter { !$0.isOfCodes })
    func `a used refresh token ends its session whatever else is wrong with the request`(
        fault: Fault
    ) async throws {
        for isBound in [false, true] {
            let client = try await KeyedClient()
            let key = try ProofKey()
            let first = try await client.signIn(isBound ? key : nil)
            let own = isBound ? key : nil
            let second = try #require(try await client.refresh(first, by: own))
            _ = try #require(try await client.refresh(second, by: own))
            // It is another client's request that used the proof, so that no proof but that one is used.
            if fault == .usedProof {
                _ = await client.ask(
                    [
                        ("grant_type", "refresh_token"), ("client_id", "app"),
                        ("refresh_token", second),
                    ],
                    try client.proof(key, ["jti": "used"]))
                #expect(try await client.end() == nil)
            }
            let shown = await client.ask(
                [("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", first)]
                    + fault.pairs, try fault.proofs(client, key), at: 1)
            #expect(shown.status == .badRequest, "\(shown.json)")
            #expect(try await client.end() == "reuse", "bound: \(isBound)")
        }
    }

    @Test(arguments: Fault.allCases)
    func `a used code ends its session whatever else is wrong with the request`(fault: Fault)
        async throws
    {
        let site = try await AuthorizeWorld()
        let client = KeyedClient(of: site.world)
        try await site.register("other", ["token_endpoint_auth_method": "none"])
        try await site.signIn()
        let key = try ProofKey()
        let form: Pairs = [
            ("grant_type", "authorization_code"), ("client_id", "app"),
            (
                "code",
                try await site.code(
                    AuthorizeWorld.request(
                        [("client_id", "app"), ("redirect_uri", "http://127.0.0.1/back")]))
            ),
            ("redirect_uri", "http://127.0.0.1/back"), ("code_verifier", AuthorizeWorld.verifier),
        ]
        let first = await client.ask(form, try client.proof(key, ["jti": "used"]))
        #expect(first.status == .ok, "\(first.json)")
        let names = Set(fault.pairs.map(\.name))
        let again = await client.ask(
            form.filter { !names.contains($0.name) } + fault.pairs.filter { $0.value != "" },
            try fault.proofs(client, key))
        #expect(again.status == .badRequest, "\(again.json)")
        #expect(try await client.end() == "code_reuse")
    }
}
