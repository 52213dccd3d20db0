/// The columns that a list shows unless `--columns` or `--wide` says otherwise: those that name a thing and
/// tell it from the others. A list that is not here shows all its short columns.
enum ListColumns {
    static let defaults: [String: [String]] = [
        "listClients": [
            "client_id", "client_name", "enabled", "grant_types", "token_endpoint_auth_method",
        ],
        "listAccounts": [
            "id", "email", "phone", "first_name", "last_name", "confirmed", "enabled",
            "registered_at",
            "deletion_due",
        ],
        "listLoginHistory": history, "listLoginHistoryOfAccount": history,
        "listLoginHistoryOfClient": history,
        "listEvents": ["position", "at", "type", "actor", "stream"],
        "listAuditTrail": ["position", "at", "type", "actor", "client", "stream"],
        "listSessions": ["id", "kind", "client_id", "device", "created_at", "last_used_at"],
        "listApps": ["id", "slug", "name", "created_at"],
        "listDevices": [
            "client_id", "client_name", "certified_by", "certified_at", "registered_at",
        ],
        "listDeviceHistory": ["position", "at", "type", "actor", "stream"],
        "listProviders": ["provider", "name", "issuer", "client_id", "has_secret"],
        "listWebApps": ["id", "slug", "name", "kind", "editor", "created_at"],
        "listSubscriptions": ["id", "name", "types", "to", "created_at"],
        "listWebhooks": ["id", "name", "url", "state", "reason", "order", "created_at"],
        "listRolesAsOf": ["account", "enabled", "roles"],
        "listFindings": ["id", "rule", "level", "state", "raised_at"],
        "listFindingRules": ["rule", "enabled", "level", "thresholds"],
        "listRegistrationTokens": ["id", "label", "used", "uses", "created_at", "expires_at"],
    ]

    /// Where a sign-in came from is sealed, and there only with `--open`.
    private static let history = [
        "at", "account", "client", "method", "channel", "outcome", "reason", "address",
        "user_agent",
    ]
}
