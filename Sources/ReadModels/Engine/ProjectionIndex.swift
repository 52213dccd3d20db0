extension Projection {
    /// Every read model that this binary knows.
    public static let all: [Projection] = [
        embedded("accounts", PackageResources.accounts_sql),
        embedded("admin_keys", PackageResources.admin_keys_sql),
        embedded("app_methods", PackageResources.app_methods_sql),
        embedded("apps", PackageResources.apps_sql),
        embedded("audit_trail", PackageResources.audit_trail_sql),
        embedded("browser_sessions", PackageResources.browser_sessions_sql),
        embedded("clients", PackageResources.clients_sql),
        embedded("configurations", PackageResources.configurations_sql),
        embedded("consents", PackageResources.consents_sql),
        embedded("credentials", PackageResources.credentials_sql),
        embedded("daily_counts", PackageResources.daily_counts_sql),
        embedded("deletions", PackageResources.deletions_sql),
        embedded("event_index", PackageResources.event_index_sql),
        embedded("findings", PackageResources.findings_sql),
        embedded("hosts", PackageResources.hosts_sql),
        embedded("invites", PackageResources.invites_sql),
        embedded("login_history", PackageResources.login_history_sql),
        embedded("logout_notices", PackageResources.logout_notices_sql),
        embedded("mails", PackageResources.mails_sql),
        embedded("notifications", PackageResources.notifications_sql),
        embedded("passkeys", PackageResources.passkeys_sql),
        embedded("pending_installations", PackageResources.pending_installations_sql),
        embedded("realms", PackageResources.realms_sql),
        embedded("registration_tokens", PackageResources.registration_tokens_sql),
        embedded("sessions", PackageResources.sessions_sql),
        embedded("ssf_streams", PackageResources.ssf_streams_sql),
        embedded("subscriptions", PackageResources.subscriptions_sql),
        embedded("web_apps", PackageResources.web_apps_sql),
    ]

    private static func embedded(_ name: String, _ bytes: [UInt8]) -> Projection {
        let file = String(decoding: bytes, as: UTF8.self)
        guard let projection = Projection(name: name, file: file) else {
            preconditionFailure("A projection's file must have its kind and its sections.")
        }
        return projection
    }
}
