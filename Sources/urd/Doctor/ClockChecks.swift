/// What decisions are made by: the database's clock, and never a time before what is on record.
extension DatabaseChecks {
    /// The latest of the realms' last events, in microseconds since 1970, and its realm.
    static let latestEvent = """
        select (extract(epoch from e.at) * 1000000)::bigint::text, h.realm
        from urd.realm_log h join urd.event e on e.realm = h.realm and e.position = h.position
        order by e.at desc limit 1
        """

    func clocks(_ facts: [String: String]) -> Diagnosis {
        let check = "clocks"
        guard let there = facts["now"].flatMap({ Int64($0) }) else {
            return .warning(check, "the database tells no time", mend: "Look at its log.")
        }
        if let latest = facts["latest"].flatMap({ Int64($0) }) {
            let (ahead, overflow) = latest.subtractingReportingOverflow(there)
            if !overflow, ahead > Clocks.allowed {
                return .warning(
                    check,
                    "the database's clock is \(ahead / 1000) ms behind the last event of "
                        + (facts["latest_realm"] ?? "?"),
                    mend: "Set the clock of the database's machine, and run chrony or "
                        + "systemd-timesyncd there. Until it has caught up, what is good for minutes "
                        + "is good for longer.")
            }
        }
        if let milliseconds = Clocks.difference(there, tools.now()) {
            return .warning(
                check, "the database's clock differs from ours by \(milliseconds) ms",
                mend: "Run chrony or systemd-timesyncd on both machines.")
        }
        return .fine(check, "the database's and ours agree")
    }
}
