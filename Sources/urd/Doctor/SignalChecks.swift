extension DatabaseChecks {
    /// Nil as long as all streams of security signals get on, or nothing can be said of them.
    func signals(_ facts: [String: String]) async -> Diagnosis? {
        guard facts["log"]?.isEmpty == false, facts["schema"].flatMap({ Int($0) }) ?? 0 >= 19,
            let found = try? await tools.query(address, Self.troubledSignals), !found.isEmpty
        else { return nil }
        let told = found.filter { $0.count == 4 }.map { row in
            let words = row.map { $0 ?? "?" }
            return "\(words[1]) of \(words[2]) in \(words[0]): \(words[3])"
        }
        return .warning(
            "shared signals", told.joined(separator: ", "),
            mend:
                "Look at the receiver: nothing is lost meanwhile. Its client enables a paused stream "
                + "with POST /ssf/status; docs/subscribe/shared-signals.md says when streams are paused."
        )
    }

    /// Paused by the transmitter, without a yes for an hour, or far behind.
    private static let troubledSignals = """
        select s.realm, s.stream::text, (
                select e.data ->> 'client_id' from urd.event e
                where e.realm = s.realm and e.stream = s.stream and e.version = 1),
            case when s.status = 'paused' then 'paused (' || coalesce(p.reason, '') || ')'
                when c.failing_since is not null then 'nothing was taken since '
                    || to_char(c.failing_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
                else h.position - c.position || ' events behind' end
        from urd.ssf_streams s
        join urd.realm_log h on h.realm = s.realm
        left join urd.ssf_cursor c on c.realm = s.realm and c.stream = s.stream
        left join lateral (
            select e.data ->> 'by' as by, e.data ->> 'reason' as reason from urd.event e
            where e.realm = s.realm and e.stream = s.stream
                and e.type = 'ssf_stream.status_changed'
            order by e.version desc limit 1) p on true
        where s.status = 'paused' and p.by = 'transmitter'
            or s.status = 'enabled' and (c.failing_since < now() - interval '1 hour'
                or h.position - c.position > 10000)
        order by s.realm, s.stream limit 20
        """
}
