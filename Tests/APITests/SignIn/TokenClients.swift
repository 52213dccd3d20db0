import Cryptography
import HTTP
import Identity
import JOSE
import JSON
import Testing
import Values

@testable import API

/// Clients of other kinds than those that every such realm has, and what they do.
extension SignInWorld {
    func register(
        _ clientID: String, _ metadata: JSONObject, secret: String? = nil
    ) async throws {
        try await carryOut(
            RegisterClient(
                id: UUID.random(), clientID: clientID, metadata: metadata,
                secret: secret.flatMap { SecretDigest(SHA256.hash(Array($0.utf8))) }))
    }

    /// A phone app with other tokens than the usual ones.
    func registerPhone(_ clientID: String, _ metadata: JSONObject) async throws {
        let usual: JSONObject = [
            "token_endpoint_auth_method": "none", "application_type": "native",
            "grant_types": ["urn:cocoar:otp", "refresh_token"],
        ]
        try await register(clientID, usual.merging(metadata) { _, own in own })
    }

    /// Has Ann sign in from the beginning.
    func signIn(
        _ clientID: String, scope: String = "openid email offline_access", resource: [String] = []
    ) async throws -> Answered {
        _ = try await requestCode(["Email": "ann@example.org"])
        var form: [(name: String, value: String)] = [
            ("grant_type", "urn:cocoar:otp"), ("client_id", clientID),
            ("username", "ann@example.org"), ("otp_code", try await mailedCode()),
            ("scope", scope),
        ]
        form += resource.map { ("resource", $0) }
        return try await post("/connect/token", form: form)
    }

    func refresh(
        _ tokens: JSON, _ clientID: String, _ more: [(name: String, value: String)] = []
    ) async throws -> Answered {
        try await post(
            "/connect/token",
            form: [
                ("grant_type", "refresh_token"), ("client_id", clientID),
                ("refresh_token", tokens["refresh_token"]?.string ?? ""),
            ] + more)
    }

    func get(_ path: String, host: String = "id.acme.example") async throws -> Answered {
        try await send(
            Request(
                method: .get, path: path, query: nil, headers: ["Host": host], body: [],
                source: "203.0.113.7", id: "request-4"))
    }

    /// What everybody verifies tokens with.
    func keySet() async throws -> KeySet {
        try KeySet(jwks: try await get("/.well-known/jwks").json)
    }

    static var serviceBasic: String { "service:\(secret)".replacing(" ", with: "+") }
}
