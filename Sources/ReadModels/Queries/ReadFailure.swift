public import EventSourcing
import Postgres
import Values

/// Why a read model gave no answer.
public enum ReadFailure: Error, Equatable, Sendable {
    /// It is not at the end of the log, and the question must not be answered from the past.
    case behind
    /// Too many are waiting: try again soon.
    case busy
    /// The database cannot be reached or failed.
    case unavailable

    /// The same in the words of the log: a model that is behind is not available.
    public var asLogFailure: LogFailure {
        switch self {
        case .busy: .busy
        case .behind, .unavailable: .unavailable
        }
    }
}

/// Asks a read model for many keys at once.
typealias LookUp<Key: Hashable & Sendable, Value: Sendable> = QueryCoalescing<
    RealmID, Key, Value, Connection, ReadFailure
>

extension QueryCoalescing where Source == Connection, Fault == ReadFailure {
    convenience init(_ database: Database, ask: @escaping Ask) {
        self.init(database, busy: .busy, unavailable: .unavailable, ask: ask)
    }
}

extension Database {
    /// Asks a read model.
    func read<Value: Sendable>(
        _ work:
            @escaping @Sendable (Connection) throws(Postgres.Failure) -> Result<Value, ReadFailure>
    ) async throws(ReadFailure) -> Value {
        let result: Result<Value, ReadFailure>
        do {
            result = try await run(work)
        } catch is Database.Busy {
            throw .busy
        } catch {
            throw .unavailable
        }
        return try result.get()
    }
}

/// The rule of every question that a decision hangs on: the statement begins at the view that says
/// how far the live build is (`<name>_position`) and left-joins the rows, so that both are of one
/// snapshot. Its first column is whether the build is at the end of the log.
///
/// No row at all: nothing ever happened in the realm, and nothing is what there is to find.
struct CurrentRows {
    let rows: Rows
    /// The rows that hold something beside the first column.
    let found: [Int]

    init?(_ rows: Rows, keyColumn: Int = 1) {
        for row in 0..<rows.count where !rows.bool(row, 0) { return nil }
        self.rows = rows
        found = (0..<rows.count).filter { !rows.isNull($0, keyColumn) }
    }

    static func read<Value: Sendable>(
        _ statement: Statement, _ parameters: Parameters, from database: Database,
        _ row: @escaping @Sendable (Rows, Int) -> Value?
    ) async throws(ReadFailure) -> [Value] {
        try await database.read { connection throws(Postgres.Failure) in
            guard let current = CurrentRows(try connection.execute(statement, parameters)) else {
                return .failure(.behind)
            }
            var values: [Value] = []
            for index in current.found {
                // A row that can't be read is as good as a model that is behind: no answer.
                guard let value = row(current.rows, index) else { return .failure(.unavailable) }
                values.append(value)
            }
            return .success(values)
        }
    }

    /// Rows by a key that stands in them; one that can't be read is a failure of its key alone.
    static func read<Key: Hashable, Value>(
        _ statement: Statement, _ parameters: Parameters, over connection: Connection,
        key: (Rows, Int) -> Key, _ row: (Rows, Int) -> Value?
    ) -> Result<[Key: Result<Value, ReadFailure>], ReadFailure> {
        guard let rows = try? connection.execute(statement, parameters) else {
            return .failure(.unavailable)
        }
        guard let current = CurrentRows(rows) else { return .failure(.behind) }
        var values: [Key: Result<Value, ReadFailure>] = [:]
        for index in current.found {
            values[key(current.rows, index)] =
                row(current.rows, index).map { .success($0) } ?? .failure(.unavailable)
        }
        return .success(values)
    }
}
