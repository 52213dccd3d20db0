import EventSourcing
import Postgres
import Values

/// The statement of a question that decisions hang on, and how a row of its answer is read.
///
/// It begins at the view that says how far the live build is (`<name>_position`) and
/// left-joins the rows, so that both are of one snapshot. The first column is whether the build is at
/// the end of the log, the second is null where there is no row.
///
/// No row at all: nothing ever happened in the realm, and nothing is what there is to find.
struct RowQuery<Row: Sendable>: Sendable {
    let name: String
    private let statement: Statement
    private let read: @Sendable (Rows, Int) -> Row?

    init(_ name: String, _ sql: String, _ read: @escaping @Sendable (Rows, Int) -> Row?) {
        self.name = name
        statement = Statement(name, sql)
        self.read = read
    }

    func rows(
        _ parameters: Parameters, from database: Database
    ) async throws(ReadFailure) -> [Row] {
        try await database.read { connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement, parameters)
            guard let found = Self.found(in: rows) else { return .failure(.behind) }
            var values: [Row] = []
            for row in found {
                // A row that can't be read is no answer, and asking again gives none.
                guard let value = read(rows, row) else { return .failure(.damaged) }
                values.append(value)
            }
            return .success(values)
        }
    }

    /// A page of a list: the last two columns of its statement say where the model is, and where the log ends.
    func list(
        _ parameters: Parameters, from database: Database
    ) async throws(ReadFailure) -> ListPage<Row> {
        try await database.read { connection throws(Postgres.Failure) in
            let rows = try connection.execute(statement, parameters)
            // Nothing ever happened there.
            guard !rows.isEmpty else { return .success(.empty) }
            guard let found = Self.found(in: rows) else { return .failure(.behind) }
            let values = found.compactMap { read(rows, $0) }
            guard values.count == found.count else { return .failure(.damaged) }
            return .success(
                ListPage(
                    values, position: rows.int64(0, rows.width - 2),
                    head: rows.int64(0, rows.width - 1)))
        }
    }

    /// Rows by a key that stands in them; one that can't be read is a failure of its key alone.
    func rows<Key: Hashable>(
        _ parameters: Parameters, over connection: Connection, key: (Rows, Int) -> Key
    ) -> Result<[Key: Result<Row, ReadFailure>], ReadFailure> {
        guard let rows = try? connection.execute(statement, parameters) else {
            return .failure(.unavailable)
        }
        guard let found = Self.found(in: rows) else { return .failure(.behind) }
        var values: [Key: Result<Row, ReadFailure>] = [:]
        for row in found {
            values[key(rows, row)] = read(rows, row).map { .success($0) } ?? .failure(.damaged)
        }
        return .success(values)
    }

    /// All rows of each key, in the order of the answer; one that can't be read is a failure of its key alone.
    func lists<Key: Hashable>(
        _ parameters: Parameters, over connection: Connection, key: (Rows, Int) -> Key
    ) -> Result<[Key: Result<[Row], ReadFailure>], ReadFailure> {
        guard let rows = try? connection.execute(statement, parameters) else {
            return .failure(.unavailable)
        }
        guard let found = Self.found(in: rows) else { return .failure(.behind) }
        var lists: [Key: Result<[Row], ReadFailure>] = [:]
        for row in found {
            let key = key(rows, row)
            lists[key] = (lists[key] ?? .success([])).flatMap { list in
                read(rows, row).map { .success(list + [$0]) } ?? .failure(.damaged)
            }
        }
        return .success(lists)
    }

    /// The rows that hold something beside the first column; nil if the model is behind.
    private static func found(in rows: Rows) -> [Int]? {
        for row in 0..<rows.count where !rows.bool(row, 0) { return nil }
        return (0..<rows.count).filter { !rows.isNull($0, 1) }
    }
}

/// The columns of a read model that become a value: most questions to it differ in their condition
/// alone. In conditions `m` is the model and `$1` the realm.
struct Columns<Row: Sendable>: Sendable {
    private let model: String
    private let key: String
    private let list: String
    private let read: @Sendable (Rows, Int) -> Row?

    /// - Parameters:
    ///   - key: the first column, in whose order lists stand.
    ///   - others: what follows it, each of `m`.
    init(
        of model: String, key: String, _ others: String,
        _ read: @escaping @Sendable (Rows, Int) -> Row?
    ) {
        self.model = model
        self.key = "m.\(key)"
        list = "m.\(key), \(others)"
        self.read = read
    }

    /// The rows for which a condition holds: one, or those of many keys.
    func find(_ name: String, where condition: String) -> RowQuery<Row> {
        query(name, "urd.\(model) m on m.realm = $1 and \(condition)")
    }

    /// All rows for which a condition holds.
    func all(_ name: String, where condition: String, descending: Bool = false) -> RowQuery<Row> {
        query(
            name, "urd.\(model) m on m.realm = $1 and \(condition)",
            " order by \(key)\(descending ? " desc" : "")")
    }

    /// A page: from behind the key `$2` on, at most `$3`, unless a condition says otherwise.
    func page(
        _ name: String, where condition: String? = nil, limit: String = "$3",
        descending: Bool = false
    ) -> RowQuery<Row> {
        let order = "order by \(key)\(descending ? " desc" : "")"
        return query(
            name,
            """
            lateral (
                select * from urd.\(model) m where m.realm = $1 and \(condition ?? "\(key) > $2")
                \(order) limit \(limit)
            ) m on true
            """, " \(order)")
    }

    /// At most `$3` behind the first `$2`, the newest first.
    func newest(_ name: String, by time: String) -> RowQuery<Row> {
        let order = "order by m.\(time) desc, \(key) desc"
        return query(
            name,
            "lateral (select * from urd.\(model) m where m.realm = $1 \(order) limit $3 offset $2) m on true",
            " \(order)")
    }

    private func query(_ name: String, _ join: String, _ order: String = "") -> RowQuery<Row> {
        RowQuery(
            name,
            """
            select p.current, \(list), p.position, p.head
            from urd.\(model)_position p left join \(join)
            where p.realm = $1\(order)
            """, read)
    }
}
