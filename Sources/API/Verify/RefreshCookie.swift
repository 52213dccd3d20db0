internal import HTTP
internal import Identity
internal import Values

/// The refresh token in a browser: scripts cannot read it, and it is sent nowhere but to the one address where
/// its tenant refreshes. It belongs to the site that shows the tenant's page (CHIPS), so that no other site's
/// requests carry it.
enum RefreshCookie {
    static let name = "__Secure-urd-refresh"

    static func line(
        _ token: String, _ granted: GrantedTokens, _ tenant: Tenant, _ now: Timestamp
    ) -> String {
        line(token, tenant, seconds: max(0, granted.terms.expiresAt.seconds - now.seconds))
    }

    static func removal(_ tenant: Tenant) -> String { line("", tenant, seconds: 0) }

    private static func line(_ value: String, _ tenant: Tenant, seconds: Int64) -> String {
        "\(name)=\(value); Path=\(ExchangeRoutes.prefix)/token/\(tenant.apiKey); Max-Age=\(seconds); "
            + "Secure; HttpOnly; SameSite=None; Partitioned"
    }
}
