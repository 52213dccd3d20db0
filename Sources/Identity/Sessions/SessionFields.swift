internal import EventSourcing
internal import JSON
internal import Values

extension Field<SessionTerms> {
    static let terms = mapped(
        .members, write: { $0.piece.parts }, read: { SessionTerms($0) })
}

extension Field<SessionTerms.Members> {
    fileprivate static let members = record(
        .optional(
            .uuid("account", "Account of the person; missing where the client acts for itself.")),
        .stamp, .client, .clientID, .optional(.app), .scope, .resources, .factors,
        .time("opened_at", "Time at which the session was opened."), .expiresAt,
        .flag("offline", "Whether the session has offline access."), .opened,
        .optional(.way("Grant that opened it, or way within a tenant's app.")),
        .optional(
            .text("key", "Thumbprint of the key that its tokens are bound to (RFC 9449).")),
        .optional(.exchange),
        .optional(.time("auth_time", "Time of the sign-in, if it was earlier.")),
        .optional(.uuid("browser", "Browser session that it came of.")),
        .optional(.text("sector", "Sector that knows the person by a sub of its own.")),
        .unless([], .texts("claims", "Claims of user info beside those of its scopes.")),
        .optional(.text("issuer", "Issuer identifier in its tokens.")),
        .optional(
            .text("assertion_issuer", "Issuer of the assertion that opened it (RFC 7523).")),
        .optional(.webApp), .optional(.federation), .webView,
        make: {
            SessionTerms.Members(
                account: $0, stamp: $1, client: $2, clientID: $3, app: $4, scope: $5,
                resources: $6, factors: $7, openedAt: $8, expiresAt: $9, isOffline: $10,
                from: $11, method: $12?.0, appMethod: $12?.1, key: $13, exchange: $14,
                authenticatedAt: $15, browser: $16, sector: $17, claims: $18, issuer: $19,
                assertionIssuer: $20, webApp: $21, federation: $22, opener: $23)
        },
        take: { terms in
            (
                terms.account, terms.stamp, terms.client, terms.clientID, terms.app, terms.scope,
                terms.resources, terms.factors, terms.openedAt, terms.expiresAt, terms.isOffline,
                terms.from, terms.method.map { ($0, terms.appMethod) }, terms.key, terms.exchange,
                terms.authenticatedAt, terms.browser, terms.sector, terms.claims, terms.issuer,
                terms.assertionIssuer, terms.webApp, terms.federation, terms.opener
            )
        })
}

extension Field<(GrantType, AppSignInMethod?)> {
    /// Where another way stands on record in its place, the grant is the one of that way.
    fileprivate static func way(_ meaning: String) -> Field {
        let ways = GrantType.allCases.map(\.rawValue) + AppSignInMethod.allCases.map(\.rawValue)
        return Field(
            EventField("method", .choice(ways), meaning),
            write: { .string($0.1?.rawValue ?? $0.0.rawValue) },
            read: { json in
                let other: AppSignInMethod? = json.string.flatMap { AppSignInMethod(rawValue: $0) }
                let grant: GrantType? = json.string.flatMap { GrantType(rawValue: $0) }
                return (grant ?? other?.grant).map { ($0, other) }
            })
    }
}

extension Field<Opener?> {
    /// Nothing but a web view's opener opens a client's session.
    fileprivate static let webView = Field(
        Array(opener.columns.prefix(2)), write: opener.write, read: opener.read)
}

extension Field<RefusedSignIn> {
    static let refused = record(
        .way("Grant that was refused, or way within a tenant's app."),
        .text("reason", "Reason of the refusal."), .optional(.account), .client, .clientID,
        .optional(.app), .opened,
        .unless(1, .number("count", "Number of summarised refusals, if several.")),
        make: {
            var refused = RefusedSignIn(
                method: $0.0, reason: $1, account: $2, client: $3, clientID: $4, app: $5, from: $6,
                count: $7)
            refused.appMethod = $0.1
            return refused
        },
        take: {
            (
                ($0.method, $0.appMethod), $0.reason, $0.account, $0.client, $0.clientID, $0.app,
                $0.from, $0.count
            )
        })
}
