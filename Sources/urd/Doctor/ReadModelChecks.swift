import ReadModels

extension DatabaseChecks {
    private func hasReadModels(_ facts: [String: String]) -> Bool {
        facts["log"]?.isEmpty == false && facts["schema"].flatMap { Int($0) } ?? 0 >= 4
    }

    /// Nil while there are no read models.
    func readModels(_ facts: [String: String]) async -> Diagnosis? {
        let check = "read models"
        guard hasReadModels(facts) else { return nil }
        do {
            if let halted = try await haltedReadModel() { return halted }
            if let lost = try await lostPosition() { return lost }
            let standing = try await tools.query(
                address, ProjectionStandstill.question(at: "clock_timestamp()"))
            let found = standing.compactMap(Self.standstill)
            guard let first = found.first else { return .fine(check, "none has halted") }
            return .wrong(
                check, found.map { "\($0.projection): \($0.words)" }.joined(separator: "; "),
                mend: "See that a node runs, and whether a session locks what it needs (pg_locks, "
                    + "pg_stat_activity: relations urd.projection_position and urd.\(first.projection)_…). "
                    + "PostgreSQL's log has the statement that fails; it goes on by itself.")
        } catch {
            return .warning(
                check, "cannot be looked at: \(error)", mend: "Run: urd projections status")
        }
    }

    private func haltedReadModel() async throws -> Diagnosis? {
        let halted = try await tools.query(
            address,
            "select p.projection, p.realm, p.halted_at::text, p.halted_why "
                + "from urd.projection_position p where p.halted_at is not null "
                + "order by p.halted_since limit 1")
        guard let first = halted.first else { return nil }
        let words = first.map { $0 ?? "?" } + Array(repeating: "?", count: 4)
        return .wrong(
            "read models",
            "\(words[0]) halted in \(words[1]) at position \(words[2]): \(words[3])",
            mend: "Mend what the code names (SQLSTATE, constraint, function); it goes on by "
                + "itself. `urd events show \(words[2]) --realm \(words[1])` shows the event. Where the "
                + "read model itself is damaged: `urd projections rebuild \(words[0])`.")
    }

    private func lostPosition() async throws -> Diagnosis? {
        let lost = try await tools.query(
            address,
            """
            select b.projection, h.realm from urd.projection_build b cross join urd.realm_log h
            where b.status = 'live' and h.position > 0 and not exists (
                select from urd.projection_position p
                where p.realm = h.realm and p.projection = b.projection and p.build = b.build)
            order by 1, 2 limit 1
            """)
        guard let first = lost.first, first.count == 2, let projection = first[0],
            let realm = first[1]
        else { return nil }
        return .wrong(
            "read models", "the position of \(projection) in \(realm) is lost",
            mend:
                "A node that runs finds out within a minute, or fills it anew there. If none does: "
                + "`urd projections rebuild \(projection)`.")
    }

    private static func standstill(_ row: [String?]) -> ProjectionStandstill? {
        guard row.count == 5, let projection = row[0], let realm = row[1],
            let milliseconds = row[2].flatMap({ Double($0) }),
            let events = row[3].flatMap({ Int64($0) }), let realms = row[4].flatMap({ Int64($0) })
        else { return nil }
        return ProjectionStandstill(
            projection: projection, realm: realm, seconds: milliseconds / 1000, events: events,
            realms: realms)
    }

    /// Nil as long as there is no read model to look at.
    func mails(_ facts: [String: String]) async -> Diagnosis? {
        let check = "mails"
        guard hasReadModels(facts),
            let failed = try? await tools.query(
                address,
                "select m.realm, count(*)::text from urd.mails m where m.failed "
                    + "group by m.realm order by m.realm")
        else { return nil }
        let rows = try? await tools.query(address, WaitingMails.question(at: "clock_timestamp()"))
        let waiting = (rows ?? []).compactMap { WaitingMails($0) }
        guard waiting.isEmpty else {
            return .wrong(
                check, waiting.map(\.words).joined(separator: "; "),
                mend:
                    "See that the mail server (smtp-host), or the realm's gateway, answers, and that a node "
                    + "runs that has one. They are tried again by themselves until they are too late: `urd mail list "
                    + "--realm \(waiting[0].realm)` shows them.")
        }
        guard let first = failed.first else { return .fine(check, "none was given up") }
        let counts = failed.map { row in
            row.reversed().map { $0 ?? "?" }.joined(separator: " in ")
        }
        return .warning(
            check, "given up: " + counts.joined(separator: ", "),
            mend: "`urd mail list --failed --realm \((first.first ?? nil) ?? "?")` shows them, and "
                + "`urd mail resend` tries one again once the reason is mended.")
    }
}
