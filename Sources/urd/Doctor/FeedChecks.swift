extension DatabaseChecks {
    /// Nil as long as all readers of kept cursors keep up, or nothing can be said of them.
    func feedCursors(_ facts: [String: String]) async -> Diagnosis? {
        guard facts["log"]?.isEmpty == false, facts["schema"].flatMap({ Int($0) }) ?? 0 >= 20,
            let found = try? await tools.query(address, Self.laggingCursors),
            let first = found.first, first.count == 4
        else { return nil }
        let told = found.map { row in
            let words = row.map { $0 ?? "?" }
            return "\(words[1]) in \(words[0]) is \(words[2]) events behind, since \(words[3])"
        }
        return .warning(
            "feed subscriptions", told.joined(separator: ", "),
            mend:
                "`urd subscription show \((first[1]) ?? "?") --realm \((first[0]) ?? "?")` says whether "
                + "a reader is there; one that is needed no more can be deleted.")
    }

    /// Subscriptions without a confirmation for a day, though they had events to confirm.
    private static let laggingCursors = """
        select s.realm, s.subscription::text, (h.position - c.position)::text,
            to_char(coalesce(c.last_at, s.created_at) at time zone 'UTC',
                'YYYY-MM-DD HH24:MI "UTC"')
        from urd.subscriptions s
        join urd.subscription_cursor c
            on c.realm = s.realm and c.subscription = s.subscription
        join urd.realm_log h on h.realm = s.realm
        where s.kind = 'feed' and s.state <> 'deleted' and c.position < h.position
            and coalesce(c.last_at, s.created_at) < now() - interval '1 day'
        order by s.realm, s.subscription limit 20
        """
}
