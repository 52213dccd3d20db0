/// What ends the sessions of an account at a client or on a device: the account's removals of access.
enum AccessRule {
    /// Whether a session goes on by them, as SQL.
    /// - Parameters:
    ///   - account: the alias of the row of its account.
    ///   - terms: of the session, as JSON.
    static func keeps(_ account: String, _ terms: String) -> String {
        """
        (\(account).removed is null or coalesce(greatest(
            (\(account).removed ->> (\(terms) ->> 'client'))::bigint,
            (\(account).removed ->> (\(terms) ->> 'federated_device'))::bigint), 0)
            <= coalesce((\(terms) ->> 'removals')::bigint, 0))
        """
    }
}
