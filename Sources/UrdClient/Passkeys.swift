public import Foundation

/// Makes passkeys and signs with them: the system's own service on a phone or in a browser, a key in
/// software in a test. What goes in and comes out is WebAuthn's JSON.
public protocol Authenticator: Sendable {
    /// `PublicKeyCredentialCreationOptionsJSON` in, `RegistrationResponseJSON` out.
    func create(_ options: Data) async throws -> Data
    /// `PublicKeyCredentialRequestOptionsJSON` in, `AuthenticationResponseJSON` out.
    func sign(_ options: Data) async throws -> Data
}

public struct Passkey: Sendable, Equatable, Decodable {
    public let id: String
    public let displayName: String
    public let createdAt: String
    public let lastUsedAt: String?

    private enum CodingKeys: String, CodingKey {
        case id = "Id"
        case displayName = "DisplayName"
        case createdAt = "CreatedAt"
        case lastUsedAt = "LastUsedAt"
    }
}

extension UrdClient {
    /// Signs in with a passkey that the authenticator has for this realm.
    public func signIn(
        with authenticator: any Authenticator, scope: [String] = UrdClient.usualScope
    ) async throws {
        let ceremony = try Ceremony(
            await wire.post("/connect/passkey/begin", form: ["client_id": clientID]))
        let assertion = try await authenticator.sign(ceremony.options)
        try await redeem(
            "urn:cocoar:passkey",
            [
                "ceremony_id": ceremony.id,
                "assertion": String(decoding: assertion, as: UTF8.self),
            ], nil, scope)
    }

    /// Makes a passkey for the signed-in person.
    public func enrolPasskey(with authenticator: any Authenticator) async throws {
        let token = try await accessToken()
        let ceremony = try Ceremony(
            await wire.post("/connect/passkey/enroll/begin", form: [:], token: token))
        let attestation = try await authenticator.create(ceremony.options)
        let body = try JSONSerialization.data(withJSONObject: [
            "ceremonyId": ceremony.id,
            "attestation": try JSONSerialization.jsonObject(with: attestation),
        ])
        _ = try await wire.post("/connect/passkey/enroll", body: body, token: token)
    }

    public func passkeys() async throws -> [Passkey] {
        try decoded(await wire.get("/connect/passkey", token: accessToken()))
    }

    public func removePasskey(_ id: String) async throws {
        try await wire.delete("/connect/passkey/\(id)", token: accessToken())
    }
}

/// What a ceremony begins with.
private struct Ceremony {
    let id: String
    let options: Data

    init(_ answer: Data) throws {
        guard
            let members = try JSONSerialization.jsonObject(with: answer) as? [String: Any],
            let id = members["ceremonyId"] as? String, let options = members["options"]
        else { throw UrdError.unexpectedAnswer("a ceremony without id or options") }
        self.id = id
        self.options = try JSONSerialization.data(withJSONObject: options)
    }
}
