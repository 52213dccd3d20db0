import Postgres

/// How the rows of two builds compare, at one position of each realm.
public enum Comparison: Sendable, Equatable {
    /// One row that is not the same in both.
    public struct Difference: Sendable, Equatable {
        public enum Kind: String, Sendable {
            /// The live build lacks a row that the log gives.
            case missing
            /// The live build has a row that the log does not give.
            case surplus
            case changed
        }

        public let table: String
        /// The row's primary key, as PostgreSQL writes it.
        public let key: String
        public let kind: Kind
    }

    case equal(rows: Int64)
    /// The first of them, in the order of their keys.
    case different([Difference])
    /// The live build has another definition, so that there is no build to compare with.
    case incomparable
}

extension BuildRun {
    /// Compares row for row where both builds are at the same position. A realm in which the live
    /// build is halted has nothing to compare.
    func compare(_ live: Int, _ new: Int) throws -> Comparison {
        switch projection.kind {
        case .inline:
            // Both move in the same transactions, so that any snapshot has them side by side.
            try connection.transaction("begin isolation level repeatable read read only") {
                connection throws(Postgres.Failure) in
                try compareRows(live, new, realm: nil)
            }
        case .following:
            try compareFollowing(live, new)
        }
    }

    /// The live build's driver stays away from a realm while its row is locked.
    private func compareFollowing(_ live: Int, _ new: Int) throws -> Comparison {
        let realms = try connection.executeOnce(
            """
            select p.realm from urd.projection_position p
            where p.projection = $1 and p.build = $2 order by p.realm
            """, key(new))
        var rows: Int64 = 0
        for row in 0..<realms.count {
            let realm = realms.text(row, 0)
            let comparison = try connection.transaction { connection throws(Postgres.Failure) in
                guard let head = try hold(realm, live, new) else {
                    return Comparison.equal(rows: 0)
                }
                for build in [live, new] {
                    while let step = try Step.project(
                        realm, projection.name, build, page: 50_000, until: head, connection),
                        step.halted == nil, step.position < head
                    {}
                }
                return try compareRows(live, new, realm: realm)
            }
            guard case .equal(let more) = comparison else { return comparison }
            rows += more
        }
        return .equal(rows: rows)
    }

    /// Locks both builds in a realm until the transaction ends.
    /// - Returns: the position to bring both to.
    private func hold(
        _ realm: String, _ live: Int, _ new: Int
    ) throws(Postgres.Failure) -> Int64? {
        var parameters = key(live)
        parameters.add(Int32(new))
        parameters.add(realm)
        let locked = try connection.executeOnce(
            """
            select 1 from urd.projection_position p
            where p.projection = $1 and p.build in ($2, $3) and p.realm = $4
            order by p.build for no key update
            """, parameters)
        guard locked.count == 2 else { return nil }
        var named = Parameters()
        named.add(realm)
        let head = try connection.executeOnce(
            "select h.position from urd.realm_log h where h.realm = $1", named)
        return head.isEmpty ? nil : head.int64(0, 0)
    }

    private func compareRows(
        _ live: Int, _ new: Int, realm: String?
    ) throws(Postgres.Failure) -> Comparison {
        var parameters = key(live)
        parameters.add(Int32(new))
        parameters.add(realm)
        var rows: Int64 = 0
        // Nothing but reading: several processes may do it.
        try connection.run("set local max_parallel_workers_per_gather = 2")
        let tables = zip(projection.tableNames(live), projection.tableNames(new))
        for (liveTable, newTable) in tables {
            let sums = try connection.executeOnce(Self.sums(liveTable, newTable), parameters)
            rows += sums.int64(0, 0)
            guard !sums.bool(0, 1) else { continue }
            let found = try connection.executeOnce(
                Self.differences(liveTable, newTable, keyColumns(newTable)), parameters)
            let differences = (0..<found.count).compactMap { row in
                Comparison.Difference.Kind(rawValue: found.text(row, 1)).map {
                    Comparison.Difference(
                        table: projection.name, key: found.text(row, 0), kind: $0)
                }
            }
            return .different(differences)
        }
        return .equal(rows: rows)
    }

    /// Realms in which both builds are at the same position.
    private static let settled = """
        select l.realm
        from urd.projection_progress l
        join urd.projection_progress n on n.realm = l.realm and n.projection = l.projection
            and n.build = $3 and n.position = l.position
        where l.projection = $1 and l.build = $2 and ($4::text is null or l.realm = $4)
        """

    /// Two 64-bit sums over the text of all rows: equal exactly when the rows are, in any
    /// order, but for a negligible chance.
    private static func sums(_ live: String, _ new: String) -> String {
        func sum(_ table: String) -> String {
            """
            select count(*) as rows, coalesce(sum(hashtextextended(c.text, 1)), 0) as one,
                coalesce(sum(hashtextextended(c.text, 2)), 0) as two
            from urd.\(table) t cross join lateral (select t::text offset 0) c (text)
            where t.realm in (\(settled))
            """
        }
        return """
            select n.rows, (l.rows, l.one, l.two) = (n.rows, n.one, n.two)
            from (\(sum(live))) l cross join (\(sum(new))) n
            """
    }

    private static func differences(_ live: String, _ new: String, _ key: String) -> String {
        """
        with l as (
            select row(\(key))::text as key, t::text as content
            from urd.\(live) t where t.realm in (\(settled))
        ), n as (
            select row(\(key))::text as key, t::text as content
            from urd.\(new) t where t.realm in (\(settled))
        )
        select coalesce(n.key, l.key), case
                when l.key is null then 'missing' when n.key is null then 'surplus'
                else 'changed' end
        from l full join n on l.key = n.key
        where l.content is distinct from n.content
        order by 1 limit 10
        """
    }

    private func keyColumns(_ table: String) throws(Postgres.Failure) -> String {
        var parameters = Parameters()
        parameters.add("urd.\(table)")
        let rows = try connection.executeOnce(
            """
            select string_agg(format('t.%I', a.attname), ', ' order by k.place)
            from pg_index i
            cross join unnest(i.indkey) with ordinality as k (number, place)
            join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
            where i.indrelid = $1::regclass and i.indisprimary
            """, parameters)
        return rows.text(0, 0)
    }
}
