internal import EventSourcing

extension SessionTerms {
    static func method(_ meaning: String) -> EventField {
        EventField(
            "method",
            .choice(
                GrantType.allCases.map(\.rawValue) + AppSignInMethod.allCases.map(\.rawValue)),
            meaning)
    }

    static let eventFields: [EventField] =
        [
            .uuid("account", "Account of the person; missing where the client acts for itself.")
                .optional,
            .stamp, .moves, .removals, .client, .clientID, .app, .scope, .resources, .factors,
            .time("opened_at", "When the session was opened."), .expiresAt,
            .flag("offline", "Whether it can be refreshed."),
            method("Grant that opened it, or way within a tenant's app.").optional,
            .text("key", "Thumbprint of the key that its tokens are bound to (RFC 9449).").optional,
            .uuid("exchanged", "Session of the token that was exchanged (RFC 8693).").optional,
            .texts("actors", "Clients that act for the person, the latest first.").optional,
            .text("impersonator", "Client that acts as the person.").optional,
            .time("auth_time", "When the person signed in, if before.").optional,
            .uuid("browser", "Browser session that it came of.").optional,
            .text("sector", "Sector that knows the person by a sub of its own.").optional,
            .texts("claims", "Claims of user info beside those of its scopes.").optional,
            .text("issuer", "Issuer identifier in its tokens.").optional,
            .text("assertion_issuer", "Issuer of the assertion that opened it (RFC 7523).")
                .optional,
            .webApp,
            .choice(
                "holder", FederatedHolder.self, "What holds the token, in the federation profile."
            )
            .optional,
            .text("kid", "Identifier of the token's key.").optional,
            .uuid("federated_device", "Device that the token is on.").optional,
            .uuids("superiors", "Sessions that it ends with, the device's first.").optional,
            .text("application", "What a third party's app calls itself.").optional,
            .object("confirmation", "Public key of the app that signs assertions, as a JWK.")
                .optional,
        ] + Opener.eventFields.prefix(2)
}
