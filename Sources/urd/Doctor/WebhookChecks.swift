extension DatabaseChecks {
    /// Nil as long as all webhooks are delivered to, or nothing can be said of them.
    func webhooks(_ facts: [String: String]) async -> Diagnosis? {
        guard facts["log"]?.isEmpty == false, facts["schema"].flatMap({ Int($0) }) ?? 0 >= 18,
            let found = try? await tools.query(address, Self.troubledWebhooks),
            let first = found.first, first.count == 3
        else { return nil }
        let told = found.map { row in
            let words = row.map { $0 ?? "?" }
            return "\(words[1]) in \(words[0]): \(words[2])"
        }
        return .warning(
            "webhooks", told.joined(separator: ", "),
            mend:
                "`urd webhook attempts \((first[1]) ?? "?") --realm \((first[0]) ?? "?")` shows the "
                + "last answers; `urd webhook resume` lets a disabled one go on where it stopped.")
    }

    /// Disabled, halted, without a yes for an hour, or with an older event that was not delivered.
    private static let troubledWebhooks = """
        select s.realm, s.subscription::text,
            case when s.state = 'disabled' then 'disabled (' || s.reason || ')'
                when c.halted is not null then 'halted, ' || c.halted
                when c.blocked_since is not null then
                    'nothing was taken since ' || to_char(c.blocked_since at time zone 'UTC',
                        'YYYY-MM-DD HH24:MI "UTC"')
                else 'lags behind, ' || (h.position - c.position) || ' events wait' end
        from urd.subscriptions s left join urd.subscription_cursor c
            on c.realm = s.realm and c.subscription = s.subscription
            left join urd.realm_log h on h.realm = s.realm
        where s.kind = 'webhook' and (s.state = 'disabled' or s.state = 'active'
            and (c.halted is not null or c.blocked_since < now() - interval '1 hour'
                or (select e.at from urd.event e
                    where e.realm = c.realm and e.position = c.position + 1)
                    < now() - interval '1 hour'))
        order by s.realm, s.subscription limit 20
        """
}
