import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

/// The module of the certification that looks at a provider's configuration, check by check.
@Suite struct `OIDC config` {
    private func realm(_ path: String = "/.well-known/openid-configuration") async throws -> (
        SignInWorld, Answered
    ) {
        let world = try await SignInWorld([
            "links_base_url": "https://id.acme.example", "client_registration": "open",
        ])
        return (world, try await world.get(path))
    }

    @Test func `OIDC config 01: the metadata are JSON under the issuer that they name`()
        async throws
    {
        let (_, answer) = try await realm()
        #expect(answer.status == .ok)
        #expect(answer.response.headers["Content-Type"] == "application/json")
        #expect(answer.json["issuer"] == "https://id.acme.example")
    }

    @Test(arguments: [
        ("response_types_supported", ["code"]),
        ("subject_types_supported", ["public", "pairwise"]),
        ("id_token_signing_alg_values_supported", ["RS256", "ES256"]),
        ("scopes_supported", ["openid"]),
        ("code_challenge_methods_supported", ["S256"]),
        ("grant_types_supported", ["authorization_code", "refresh_token"]),
        ("claims_supported", ["sub", "iss", "auth_time", "acr", "email", "name"]),
        ("response_modes_supported", ["query", "form_post", "fragment"]),
        (
            "token_endpoint_auth_methods_supported",
            [
                "client_secret_basic", "client_secret_post", "private_key_jwt", "none",
            ]
        ),
        ("prompt_values_supported", ["none", "login", "consent", "select_account"]),
        ("acr_values_supported", ["urn:modgud:acr:single", "urn:modgud:acr:multi"]),
    ])
    func `OIDC config 02: the metadata list what is supported`(name: String, values: [String])
        async throws
    {
        let listed = try #require(try await realm().1.json[name]?.array).compactMap(\.string)
        for value in values { #expect(listed.contains(value), "\(name): \(value)") }
        #expect(Set(listed).count == listed.count)
        // What is not listed here is not to be had there.
        if !Self.open.contains(name) { #expect(Set(listed) == Set(values), "\(name)") }
        #expect(!listed.contains("plain") && !listed.contains("password"))
    }

    /// Lists of which other tests say what else may stand there.
    private static let open = ["scopes_supported", "grant_types_supported", "claims_supported"]

    @Test(arguments: [
        "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri",
        "registration_endpoint", "introspection_endpoint", "revocation_endpoint",
        "pushed_authorization_request_endpoint", "end_session_endpoint",
        "device_authorization_endpoint",
    ])
    func `OIDC config 03: the metadata name their endpoints by https`(name: String) async throws {
        let address = try #require(try await realm().1.json[name]?.string)
        #expect(address.hasPrefix("https://id.acme.example/"))
    }

    @Test(arguments: [
        ("authorization_response_iss_parameter_supported", true),
        ("require_pushed_authorization_requests", false),
        ("backchannel_logout_supported", true), ("backchannel_logout_session_supported", true),
        ("claims_parameter_supported", true), ("request_parameter_supported", true),
        ("request_uri_parameter_supported", false),
    ])
    func `OIDC config 04: the metadata name the supported algorithms and methods`(
        name: String, value: Bool
    ) async throws {
        let said = try await realm().1.json[name]
        #expect(said == .bool(value) || said == nil && !value, "\(name)")
    }

    @Test func `OIDC config 05: the key set has distinct names and no private parts`() async throws
    {
        let (world, _) = try await realm()
        let keys = try #require(try await world.get("/.well-known/jwks").json["keys"]?.array)
        let names = keys.compactMap { $0["kid"]?.string }
        #expect(names.count == keys.count && Set(names).count == names.count)
        for key in keys {
            for part in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] { #expect(key[part] == nil) }
            #expect(key["use"] == "sig" && key["alg"] != nil)
            let isLarge = (key["n"]?.string.flatMap { Base64URL.decode($0) }?.count ?? 256) >= 256
            #expect(isLarge && ["RSA", "EC"].contains(key["kty"]?.string))
        }
    }

    @Test func `OIDC config 06: the metadata of RFC 8414 are the same`() async throws {
        let (world, answer) = try await realm()
        let other = try await world.get("/.well-known/oauth-authorization-server")
        #expect(other.status == .ok && other.json["issuer"] == answer.json["issuer"])
        for (name, value) in other.json.object ?? [:] where answer.json[name] != nil {
            #expect(answer.json[name] == value, "\(name)")
        }
    }
}
