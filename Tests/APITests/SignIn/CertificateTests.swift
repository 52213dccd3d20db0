import Cryptography
import HTTP
import Identity
import JSON
import Testing
import Values

@testable import API

/// Two certificates that clients made for themselves. Nobody has their keys.
private let first =
    "MIIBezCCASGgAwIBAgIURYAq3nr0DQMsbboEJGaXU+jbt+4wCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHY2xp"
    + "ZW50MTAgFw0yNjExMjExMTUzMjFaGA8yMTI2MTAyODExNTMyMVowEjEQMA4GA1UEAwwHY2xpZW50MTBZMBMG"
    + "ByqGSM49AgEGCCqGSM49AwEHA0IABLL9llNWeYgni7vnl0FoTLx2vGYvBOs0SBKwsrUM00b39F2JNxfcxe3q"
    + "AnVt9rwQCzgJZa23mQGwT3+oQW8cp6WjUzBRMB0GA1UdDgQWBBRn0PzRYQZuXg5oVPlWww3m7R+b4zAfBgNV"
    + "HSMEGDAWgBRn0PzRYQZuXg5oVPlWww3m7R+b4zAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUC"
    + "ICK2Lam7PFXEoLRbz05X9B14oLxNc1ztKBBvBHh7gShAAiEA1IjETHx3IRo+itG4b+8bbVMdO4Ty2m8ppBh7"
    + "zCZXDYo="
private let second =
    "MIIBfDCCASGgAwIBAgIUWKUCmPBMlnZCwzXObu3oe8QCTzAwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHY2xp"
    + "ZW50MjAgFw0yNjExMjExMTUzMjFaGA8yMTI2MTAyODExNTMyMVowEjEQMA4GA1UEAwwHY2xpZW50MjBZMBMG"
    + "ByqGSM49AgEGCCqGSM49AwEHA0IABBMVmIrUmwVxkUhgnEnTONnVrI0pBM3wEkej5UJZ6lu0KPoeP824iOas"
    + "Q682mXodyp3+T2Nt6iaDpLGsiozzHlGjUzBRMB0GA1UdDgQWBBQOWCGa/huLnq7QfoDCKEedUy7mHjAfBgNV"
    + "HSMEGDAWgBQOWCGa/huLnq7QfoDCKEedUy7mHjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYC"
    + "IQDykhxHb2IOX7HQb1fHOxV3a624VHbQLgVWq/x7EApv0wIhANKTzWkZG2JzQ7YylIt4cgC+HsbEfQ/b8pAA"
    + "GdlS2XPo"

private let metadata: JSONObject = [
    "grant_types": ["client_credentials"], "scope": "jobs",
    "token_endpoint_auth_method": "self_signed_tls_client_auth",
    "jwks": [
        "keys": [
            [
                "kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "x5c": [.string(first)],
            ]
        ]
    ],
]

private struct Proxied: Sendable {
    let world: SignInWorld

    init(header: String? = "Client-Cert", trusted: String = "203.0.113.0/24") async throws {
        world = try await SignInWorld(
            forwarding: Forwarding(
                trusted: try #require(Network.list(trusted)), certificateHeader: header))
        try await world.register("machine", metadata)
    }

    func ask(_ certificates: [String], secret: String? = nil) async throws -> Answered {
        var headers: Headers = [
            "Host": "id.acme.example", "Content-Type": "application/x-www-form-urlencoded",
        ]
        for certificate in certificates { headers.append("Client-Cert", certificate) }
        var form = [
            (name: "grant_type", value: "client_credentials"),
            (name: "client_id", value: "machine"),
        ]
        if let secret { form.append(("client_secret", secret)) }
        return try await world.send(
            Request(
                method: .post, path: "/connect/token", query: nil, headers: headers,
                body: Array(Form.encode(form).utf8), source: "203.0.113.7", id: "request-9"))
    }
}

@Suite struct `A client with a certificate of its own` {
    @Test func `a client certificate told by a trusted proxy authenticates the client`()
        async throws
    {
        let proxied = try await Proxied()
        let good = try await proxied.ask([":\(first):"])
        #expect(good.status == .ok && good.json["scope"] == "jobs")
        #expect(try await proxied.ask([":\(second):"]).json["error"] == "invalid_client")
        #expect(try await proxied.ask([]).json["error"] == "invalid_client")
        #expect(
            try await proxied.ask([":\(first):"], secret: "x").json["error"] == "invalid_client")
        let listed = try await proxied.world.get("/.well-known/openid-configuration")
        let methods = listed.json["token_endpoint_auth_methods_supported"]?.array ?? []
        #expect(methods.contains("self_signed_tls_client_auth"))
    }

    @Test func `a client certificate in a header of an untrusted address is ignored`() async throws
    {
        let stranger = try await Proxied(trusted: "192.0.2.0/24")
        #expect(try await stranger.ask([":\(first):"]).json["error"] == "invalid_client")
        let unset = try await Proxied(header: nil)
        #expect(try await unset.ask([":\(first):"]).json["error"] == "invalid_client")
        let listed = try await unset.world.get("/.well-known/openid-configuration")
        let methods = listed.json["token_endpoint_auth_methods_supported"]?.array ?? []
        #expect(!methods.contains("self_signed_tls_client_auth"))
    }

    @Test func `a client certificate in an unreadable or ambiguous header is refused`() async throws
    {
        let proxied = try await Proxied()
        for headers in [
            [":\(first):", ":\(second):"], [first], [":AAAA:"], ["::"], [":"],
            [":\(first)"], [":\(first):, :\(second):"],
        ] {
            let answer = try await proxied.ask(headers)
            #expect(answer.status == .badRequest, "\(headers)")
        }
    }

    @Test func `a client registers its keys with their certificates`() throws {
        #expect(throws: FieldFault("jwks", .needed(by: "token_endpoint_auth_method"))) {
            try ClientMetadata(
                metadata.merging([
                    "jwks": ["keys": [["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"]]]
                ]) { $1 })
        }
        #expect(throws: FieldFault("jwks", .needed(by: "token_endpoint_auth_method"))) {
            try ClientMetadata(metadata.merging(["jwks": .null]) { $1 })
        }
    }
}
