import JSON

/// The demo realm of the verify profile, with one tenant. It is at 127.0.0.1: clients of the profile know an
/// address and no host header, and not every machine finds names below `localhost`.
extension DemoData {
    static let verifyRealm = "verify"
    static let verifyHost = "127.0.0.1"
    private static let tenant = "Demo tenant"

    /// - Returns: the tenant's API key and its secret.
    func prepareVerify(_ previous: DemoTenant?) async throws -> DemoTenant {
        let realm: JSONObject = ["realm": .string(Self.verifyRealm)]
        try await prepareRealm(
            Self.verifyRealm, "Verify demo", at: Self.verifyHost,
            [
                "profile": "verify", "phone_sign_in": true,
                // The tenants' SDKs as they are published.
                "tokens_unasked": true, "short_event_numbers": true,
            ],
            atFirst: [
                "phone_countries": ["CH", "DE", "AT", "US", "GB", "FR"],
                "phone_channels": ["sms", "whatsapp"],
                // A developer signs in again and again, always from the same machine.
                "rate_limits": [
                    "verify-code": ["source": .null, "target": .null],
                    "verify-browser": ["target": .null],
                    "phone-code": ["source": .null, "target": .null],
                    "native-otp": ["sign-ups": .null],
                ],
            ])
        if let previous, try await isTenant(previous, in: realm) { return previous }
        let made = try await ask(
            "registerClient",
            [
                "realm": .string(Self.verifyRealm), "client_name": .string(Self.tenant),
                "profile": "verify", "grant_types": ["authorization_code", "refresh_token"],
            ])
        guard let key = made?["client_id"]?.string, let secret = made?["client_secret"]?.string
        else {
            throw CommandFailure("The demo tenant could not be made", remedy: "Start with --fresh.")
        }
        return DemoTenant(apiKey: key, secret: secret)
    }

    /// What the last run wrote down may be of data that are gone.
    private func isTenant(_ known: DemoTenant, in realm: JSONObject) async throws -> Bool {
        try await ask(
            "getClient", realm.merging(["client_id": .string(known.apiKey)]) { own, _ in own },
            unless: "no-such-client") != nil
    }
}

/// By which an app and its server show whose they are.
struct DemoTenant: Equatable, Sendable {
    let apiKey: String
    let secret: String
}
