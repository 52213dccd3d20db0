import EventStore

extension DatabaseChecks {
    /// What one node at a time does. Nil where the schema has no leases yet, or no node has ever run.
    func leases(_ facts: [String: String]) async -> Diagnosis? {
        let check = "leases"
        guard hasLeases(facts),
            let found = try? await tools.query(address, Self.text(Standstill.leaseQuestion, 2)),
            let nodes = try? await tools.query(address, Self.nodes), !found.isEmpty
        else { return nil }
        guard nodes.first?.first != "0" else { return .fine(check, "no node runs") }
        let unheld = found.compactMap { row -> Standstill.Lease? in
            guard row.count == 2, let name = row[0], let age = row[1].flatMap({ Double($0) })
            else { return nil }
            return Standstill.Lease(name: name, seconds: age / 1000)
        }.filter { $0.seconds > Standstill.patience }
        guard !unheld.isEmpty else { return .fine(check, "each is held") }
        return .wrong(
            check, unheld.map(\.words).joined(separator: ", "),
            mend:
                "Its work waits. See whether a session locks the row (pg_locks, pg_stat_activity: relation "
                + "urd.lease), and whether a node runs that does it: one without smtp-host sends no mail."
        )
    }

    /// Nil where the schema does not tell.
    func seals(_ facts: [String: String]) async -> Diagnosis? {
        let check = "seals"
        guard hasLeases(facts),
            let found = try? await tools.query(address, Self.text(Standstill.sealQuestion, 3))
        else { return nil }
        guard let row = found.first, row.count == 3, let realm = row[0],
            let age = row[1].flatMap({ Double($0) }), age / 1000 > Standstill.patience
        else { return .fine(check, "the logs are sealed up to their ends") }
        let seal = Standstill.Seal(
            realm: realm, seconds: age / 1000, realms: row[2].flatMap { Int64($0) } ?? 1)
        return .wrong(
            check, seal.words,
            mend:
                "See that a node runs and what its log says of the sealer (sealer.halted, sealer.failed), and "
                + "whether a session locks the row (pg_locks, pg_stat_activity: relation urd.seal)."
        )
    }

    private func hasLeases(_ facts: [String: String]) -> Bool {
        facts["log"]?.isEmpty == false && facts["schema"].flatMap { Int($0) } ?? 0 >= 34
    }

    /// The columns of a question as text.
    private static func text(_ question: String, _ columns: Int) -> String {
        let names = (1...columns).map { "c\($0)" }
        return "select \(names.map { $0 + "::text" }.joined(separator: ", ")) "
            + "from (\(question)) q (\(names.joined(separator: ", ")))"
    }

    private static let nodes =
        "select count(*)::text from pg_stat_activity where application_name = 'urd leases' "
        + "and usename = current_user"
}
