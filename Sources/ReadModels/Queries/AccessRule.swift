/// What ends the sessions of an account at a client, on a device, of a browser or opened by an installation: the
/// account's removals of access, as `Account.keeps` has it.
enum AccessRule {
    /// Whether a session goes on by them, as SQL.
    /// - Parameters:
    ///   - removed: of the row of its account.
    ///   - terms: of the session, as JSON.
    static func keeps(_ removed: String, _ terms: String) -> String {
        """
        (\(removed) is null or coalesce(greatest(
            (\(removed) ->> (\(terms) ->> 'client'))::bigint,
            (\(removed) ->> (\(terms) ->> 'federated_device'))::bigint,
            (\(removed) ->> (\(terms) ->> 'opener_client'))::bigint,
            (\(removed) ->> concat(
                case when \(terms) ->> 'offline' = 'true' then 'offline ' end,
                \(terms) ->> 'browser'))::bigint), 0)
            <= coalesce((\(terms) ->> 'removals')::bigint, 0))
        """
    }
}
